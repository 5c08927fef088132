//! The one datagram that members and relays send each other.
//!
//! Every probe has twenty bytes, answers too, and a tag that only the two members and the server know how to
//! make. The first byte is neither STUN's nor QUIC's, so that all three share a socket.

use alloc::vec::Vec;
use core::hash::Hasher;

use siphasher::sip::SipHasher24;
use tickwire_wire::DecodeError;

use crate::message::{Reader, Writer};

/// Bytes of a probe.
pub const PROBE_LENGTH: usize = 20;

/// The first byte: below 0x40, which QUIC has set (RFC 9000, section 17), and above 3, where STUN ends
/// (RFC 7983).
const FIRST: u8 = 0x1d;

/// What two members of a pairing share.
pub type Key = [u8; 16];

/// Which of the two members.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Role {
    /// Whoever has the server.
    Host,
    /// Whoever joins it.
    Joiner,
}

impl Role {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Host => Self::Joiner,
            Self::Joiner => Self::Host,
        }
    }
}

/// What a probe says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Is this a path? The other member answers.
    Probe,
    /// It is: with the probe's number.
    Answer,
    /// To a relay: this is my address.
    Bind,
    /// From a relay: what you send goes to the other member, once that one is bound, too.
    Bound,
}

/// A probe or its answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Probe {
    /// What it says.
    pub kind: Kind,
    /// Who asks; an answer repeats it.
    pub role: Role,
    /// Between whom.
    pub pairing: u32,
    /// Chosen by whoever asks, repeated by whoever answers.
    pub number: u32,
}

impl Probe {
    /// Whether a datagram is meant to be a probe, by its first byte and length.
    pub fn is_probe(bytes: &[u8]) -> bool {
        bytes.len() == PROBE_LENGTH && bytes.first() == Some(&FIRST)
    }

    /// Which pairing a datagram says it belongs to.
    pub fn pairing_of(bytes: &[u8]) -> Option<u32> {
        let pairing = bytes.get(4..8)?.first_chunk()?;
        Self::is_probe(bytes).then(|| u32::from_le_bytes(*pairing))
    }

    /// Reads a probe whose tag is right.
    pub fn decode(bytes: &[u8], key: &Key) -> Result<Self, DecodeError> {
        Reader::read_all(bytes, |r| {
            let first = r.u8("first")?;
            if first != FIRST {
                return Err(r.refuse("first", first.into()));
            }
            let kind = match r.u8("kind")? {
                0 => Kind::Probe,
                1 => Kind::Answer,
                2 => Kind::Bind,
                3 => Kind::Bound,
                other => return Err(r.refuse("kind", other.into())),
            };
            let role = match r.u8("role")? {
                0 => Role::Host,
                1 => Role::Joiner,
                other => return Err(r.refuse("role", other.into())),
            };
            let reserved = r.u8("reserved")?;
            if reserved != 0 {
                return Err(r.refuse("reserved", reserved.into()));
            }
            let (pairing, number) = (r.u32("pairing")?, r.u32("number")?);
            let signed = bytes.get(..r.position()).unwrap_or_default();
            let tag = r.u64("tag")?;
            if tag != tag_of(signed, key) {
                return Err(r.refuse("tag", tag));
            }
            Ok(Self {
                kind,
                role,
                pairing,
                number,
            })
        })
    }

    /// Appends the probe.
    pub fn encode(&self, key: &Key, out: &mut Vec<u8>) {
        let start = out.len();
        let mut w = Writer::new(out, PROBE_LENGTH);
        w.u8(FIRST);
        w.u8(match self.kind {
            Kind::Probe => 0,
            Kind::Answer => 1,
            Kind::Bind => 2,
            Kind::Bound => 3,
        });
        w.u8(match self.role {
            Role::Host => 0,
            Role::Joiner => 1,
        });
        w.u8(0);
        w.u32(self.pairing);
        w.u32(self.number);
        let tag = tag_of(out.get(start..).unwrap_or_default(), key);
        out.extend_from_slice(&tag.to_le_bytes());
    }
}

fn tag_of(signed: &[u8], key: &Key) -> u64 {
    let mut hasher = SipHasher24::new_with_key(key);
    hasher.write(signed);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: Key = [9; 16];

    fn probe(kind: Kind) -> Probe {
        Probe {
            kind,
            role: Role::Joiner,
            pairing: 77,
            number: 3,
        }
    }

    #[test]
    fn every_kind_is_read_as_it_was_written() {
        for kind in [Kind::Probe, Kind::Answer, Kind::Bind, Kind::Bound] {
            let mut bytes = Vec::new();
            probe(kind).encode(&KEY, &mut bytes);
            assert!(Probe::is_probe(&bytes));
            assert_eq!(Probe::pairing_of(&bytes), Some(77));
            assert_eq!(Probe::decode(&bytes, &KEY), Ok(probe(kind)));
        }
    }

    #[test]
    fn a_changed_bit_or_another_key_is_refused() {
        let mut bytes = Vec::new();
        probe(Kind::Probe).encode(&KEY, &mut bytes);
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Probe::decode(&bytes, &KEY).is_err(), "bit {bit}");
        }
        assert!(Probe::decode(&bytes, &[8; 16]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            Probe::decode(&bytes, &KEY).ok();
            Probe::pairing_of(&bytes);
        }
    }
}
