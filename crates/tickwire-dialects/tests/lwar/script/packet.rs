//! A datagram that the side under test sent.

use tickwire_dialects::lwar::Header;
use tickwire_dialects::lwar::limits::PACKET_MAX;
use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};

use crate::words::{datagram, decode};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packet {
    pub(crate) header: Header,
    /// Number of the first reliable message, if there is one; the others follow without gaps.
    pub(crate) first: Option<u32>,
    pub(crate) reliable: Vec<Reliable<'static>>,
    pub(crate) unreliable: Vec<Unreliable<'static>>,
    pub(crate) size: usize,
}

impl Packet {
    /// Reads a datagram, and checks what holds for every one: at most 512 bytes, nothing that does
    /// not decode, reliable messages first and numbered without gaps, and no other way to write it.
    ///
    /// Its bytes live as long as the test process, so that a packet is a plain value.
    #[track_caller]
    pub(crate) fn decode(bytes: Vec<u8>) -> Self {
        let bytes: &'static [u8] = bytes.leak();
        assert!(bytes.len() <= PACKET_MAX, "{} bytes", bytes.len());
        let (header, messages) = decode(bytes);
        assert_eq!(datagram(header, &messages), bytes, "not canonical");
        let (mut first, mut reliable, mut unreliable) = (None, Vec::new(), Vec::new());
        for (position, message) in (0..).zip(messages) {
            match message {
                Framed::Reliable { seq, content } => {
                    assert_eq!(unreliable, [], "reliable behind unreliable");
                    let first = *first.get_or_insert(seq);
                    assert_eq!(seq, first + position, "a gap in the numbers");
                    reliable.push(content.expect("checked by `decode`"));
                }
                Framed::Unreliable(message) => unreliable.push(message),
            }
        }
        Self {
            header,
            first,
            reliable,
            unreliable,
            size: bytes.len(),
        }
    }

    /// Number of the last reliable message, or 0.
    pub(crate) fn last(&self) -> u32 {
        let count = u32::try_from(self.reliable.len()).expect("a packet is short");
        self.first.map_or(0, |first| first + count - 1)
    }

    /// Whether the header is all there is.
    pub(crate) fn is_bare(&self) -> bool {
        self.reliable.is_empty() && self.unreliable.is_empty()
    }
}
