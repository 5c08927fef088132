//! Mistakes that a server, a client or a game could make, planted between them: a checker that does not notice
//! them checks nothing.

use tickwire_native::message::{DatagramDown, DatagramUp, Inputs};
use tickwire_session::{Addr, StreamId};

use crate::sabotage::{Spoil, Symptom};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bug {
    /// The server says of a record that it is relative to the send before the one it is relative to.
    StaleBaseline,
    /// The server takes a player for one of a group to which it does not belong.
    InterestLeak,
    /// A client leaves every sixteenth input out of all datagrams.
    LostInput,
    /// A client that comes back says that it has processed one message less than it has.
    EventTwice,
}

impl Bug {
    pub(crate) const ALL: [Self; 4] = [
        Self::StaleBaseline,
        Self::InterestLeak,
        Self::LostInput,
        Self::EventTwice,
    ];
}

impl Symptom for Bug {
    fn symptom(self) -> &'static str {
        match self {
            Self::StaleBaseline => "differs at",
            Self::InterestLeak => "may not see",
            Self::LostInput => "come too late",
            Self::EventTwice => "after event",
        }
    }
}

impl Spoil for Bug {
    fn spoil(&mut self, _to: Addr, datagram: &[u8]) -> Vec<u8> {
        match self {
            Self::StaleBaseline => with_older_baseline(datagram),
            Self::LostInput => without_input(datagram),
            Self::InterestLeak | Self::EventTwice => datagram.to_vec(),
        }
    }

    fn spoil_stream(&mut self, _on: StreamId, bytes: &mut [u8]) {
        // A Hello is the first frame of its stream, and is sent whole: with what was processed at its end.
        if *self == Self::EventTwice
            && let [1, length, ..] = *bytes
            && length > HELLO_WITHOUT_TICKET
            && let Some(counted) = bytes.get_mut(2 + usize::from(length) - 4..)
            && let Some(count) = counted.first_chunk_mut()
        {
            *count = u32::from_le_bytes(*count).saturating_sub(1).to_le_bytes();
        }
    }
}

/// Version, schema, role, and the longest name with its length.
const HELLO_WITHOUT_TICKET: u8 = 2 + 8 + 1 + 1 + 8;

/// The age of the first record's baseline, one more.
fn with_older_baseline(datagram: &[u8]) -> Vec<u8> {
    let mut spoilt = datagram.to_vec();
    let Ok(DatagramDown::State { packet, .. }) = DatagramDown::decode(datagram) else {
        return spoilt;
    };
    let has_notices = packet.get(2).is_some_and(|send| send & 2 != 0);
    // Kind and margin, number and send; complete and settled in a send's last.
    let start = 2 + 6 + 2 * usize::from(packet[2] & 1);
    let place = spoilt.iter().skip(start).position(|byte| *byte < 0x80);
    let Some(place) = place.filter(|_| !has_notices) else {
        return spoilt;
    };
    let head = start + place + 1;
    let Some(low) = spoilt.get(head).copied() else {
        return spoilt;
    };
    let (baseline, previous) = (low >> 2, spoilt.get(head + 1).copied().unwrap_or(0));
    if baseline > 0 && baseline < 62 && (previous == 0 || previous > baseline + 1) {
        spoilt[head] += 1 << 2;
    }
    spoilt
}

/// No inputs in all four datagrams that would carry a sixteenth one.
fn without_input(datagram: &[u8]) -> Vec<u8> {
    let mut spoilt = Vec::new();
    match DatagramUp::decode(datagram) {
        Ok(DatagramUp::Play {
            acks,
            forget,
            inputs,
        }) if inputs.tick % 16 < 4 => {
            let inputs = Inputs::NONE;
            DatagramUp::Play {
                acks,
                forget,
                inputs,
            }
            .encode(&mut spoilt);
        }
        _ => spoilt.extend(datagram),
    }
    spoilt
}
