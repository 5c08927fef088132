//! Known bugs, planted on the wire: a checker that does not notice them checks nothing.

use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{Down, DownElement, Packet, PacketWriter};
use tickwire_dialects::reone::{Server, SnapshotSeq};
use tickwire_session::{Addr, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};

/// A mistake that a server could make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bug {
    /// Says that a difference is one to the snapshot before its baseline.
    OtherBaseline,
    /// Acknowledges the event after the last one that was processed.
    AckAhead,
    /// Forgets to name the first object that did not change.
    NotKept,
}

/// A server whose datagrams are wrong.
#[derive(Debug)]
pub(super) struct Saboteur {
    pub(super) server: Server,
    pub(super) bug: Option<Bug>,
}

impl Saboteur {
    fn spoil(bug: Bug, datagram: &[u8]) -> Vec<u8> {
        let packet = Packet::<Down>::decode(datagram).expect("the server's packets decode");
        let mut header = packet.header;
        if bug == Bug::OtherBaseline {
            header.acknowledged = SnapshotSeq(header.acknowledged.0.saturating_sub(1));
        }
        let mut spoilt = Vec::new();
        let mut writer = PacketWriter::<Down>::new(&mut spoilt, &header, DATAGRAM_MAX);
        let mut has_kept = bug != Bug::NotKept;
        for element in packet.elements() {
            let element = match element {
                DownElement::EventAck(id) if bug == Bug::AckAhead => {
                    DownElement::EventAck(id.next())
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

impl Session for Saboteur {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let transmit = self.server.poll_transmit(now, out)?;
        if let (Some(bug), Transmit::Datagram { .. }) = (self.bug, transmit) {
            let datagram = out.split_off(before);
            out.extend(Self::spoil(bug, &datagram));
        }
        Some(transmit)
    }

    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.server.handle_opened(now, on, peer);
    }
    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.server.handle_stream(now, on, bytes);
    }
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.server.handle_datagram(now, from, bytes);
    }
    fn handle_room(&mut self, now: Instant, path: Path, room: Room) {
        self.server.handle_room(now, path, room);
    }
    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        self.server.handle_closed(now, path, why);
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
    }
    fn poll_timeout(&self) -> Option<Instant> {
        self.server.poll_timeout()
    }
    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        self.server.visit_peers(visit);
    }
    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.server.visit_counters(visit);
    }
}
