//! reone's bugs for a saboteur.

use tickwire_dialects::reone::SnapshotSeq;
use tickwire_dialects::reone::limits::{DATAGRAM_MAX, HEADER};
use tickwire_dialects::reone::message::{Down, DownElement, Packet, PacketWriter};
use tickwire_session::Addr;

use crate::sabotage::{Spoil, Symptom};

/// A mistake that a server could make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bug {
    /// Says that a difference is one to the snapshot before its baseline.
    OtherBaseline,
    /// Acknowledges the event after the last one that was processed.
    AckAhead,
    /// Forgets to name the first object that did not change.
    NotKept,
    /// Says that one more lies in a slot than does.
    ItemMiscounted,
    /// Says of every sixteenth coded snapshot that it has a byte more or less than it has.
    Miscoded,
}

impl Bug {
    /// Whether it is a mistake in coded snapshots, or in plain ones.
    pub(super) fn is_coded(self) -> bool {
        self == Self::Miscoded
    }
}

impl Symptom for Bug {
    fn symptom(self) -> &'static str {
        match self {
            Self::OtherBaseline => "is not what was sent",
            Self::AckAhead => ", and shows ",
            Self::NotKept => "other objects than were sent",
            Self::ItemMiscounted => "other things than were sent",
            Self::Miscoded => "of undecodable",
        }
    }
}

impl Spoil for Bug {
    fn spoil(&mut self, _to: Addr, datagram: &[u8]) -> Vec<u8> {
        if self.is_coded() {
            return miscode(datagram);
        }
        let packet = Packet::<Down>::decode(datagram).expect("the server's packets decode");
        let mut header = packet.header;
        if *self == Self::OtherBaseline {
            header.acknowledged = SnapshotSeq(header.acknowledged.0.saturating_sub(1));
        }
        let mut spoilt = Vec::new();
        let mut writer = PacketWriter::<Down>::new(&mut spoilt, &header, DATAGRAM_MAX);
        let mut has_kept = *self != Self::NotKept;
        for element in packet.elements() {
            let element = match element {
                DownElement::EventAck(id) if *self == Self::AckAhead => {
                    DownElement::EventAck(id.next())
                }
                DownElement::InventoryDiff(mut diff) if *self == Self::ItemMiscounted => {
                    diff.item = diff
                        .item
                        .map(|(count, what)| (count.saturating_add(1), what));
                    DownElement::InventoryDiff(diff)
                }
                DownElement::KeepAlive { .. } if !has_kept => {
                    has_kept = true;
                    continue;
                }
                element => element,
            };
            writer.push(&element).expect("it fitted before");
        }
        writer.finish();
        spoilt
    }
}

fn miscode(datagram: &[u8]) -> Vec<u8> {
    let mut spoilt = datagram.to_vec();
    // Behind the header stand what tells coded from plain, and the plain length.
    let sequence = datagram[0];
    if sequence != 0 && sequence.is_multiple_of(16) && datagram.get(HEADER) == Some(&1) {
        spoilt[HEADER + 1] ^= 1;
    }
    spoilt
}
