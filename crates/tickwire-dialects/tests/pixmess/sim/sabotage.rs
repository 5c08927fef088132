//! pixmess's bugs for a saboteur.
//!
//! A message that a server forgets becomes as many pongs, which a client ignores, so that the stream keeps
//! its length. Only types without masks are forgotten: with the others the masks would be wrong too, and
//! that is another bug.

use std::collections::BTreeMap;

use tickwire_dialects::pixmess::Reader;
use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::FromServer;
use tickwire_session::{Addr, StreamId};

use crate::sabotage::{Spoil, Symptom};

/// What a bad server would forget to tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Forgotten {
    /// Nobody is told that an entity is gone.
    Destruction,
    /// Nobody is told where an entity is that took more than a step, or was put right.
    Position,
    /// Nobody is told that the train moves.
    Train,
}

impl Forgotten {
    /// The type of the packets that are missing.
    const fn kind(self) -> u8 {
        match self {
            Self::Destruction => 0x51,
            Self::Position => 0x50,
            Self::Train => 0x46,
        }
    }
}

impl Symptom for Forgotten {
    fn symptom(self) -> &'static str {
        match self {
            Self::Destruction => "is not there",
            Self::Position => "and it is at",
            Self::Train => "has the train at",
        }
    }
}

/// A bug, and what it has to remember of each stream.
#[derive(Debug)]
pub(crate) struct Planted {
    bug: Forgotten,
    streams: BTreeMap<StreamId, Progress>,
}

/// The packet that a stream is in the middle of.
#[derive(Debug, Default)]
struct Progress {
    masks: Masks,
    begun: Vec<u8>,
}

impl Planted {
    pub(crate) const fn new(bug: Forgotten) -> Self {
        Self {
            bug,
            streams: BTreeMap::new(),
        }
    }
}

impl Spoil for Planted {
    fn spoil_stream(&mut self, on: StreamId, bytes: &mut [u8]) {
        let Progress { masks, begun } = self.streams.entry(on).or_default();
        let mut from = begun.len();
        begun.extend_from_slice(bytes);
        let mut bytes = bytes.iter_mut();
        while !begun.is_empty() {
            let mut r = Reader::new(begun);
            let whole = FromServer::decode(&mut r, masks).is_ok();
            let length = if whole { r.position() } else { begun.len() };
            for byte in bytes.by_ref().take(length - from) {
                if begun[0] == self.bug.kind() {
                    *byte = PONG;
                }
            }
            from = 0;
            if !whole {
                return;
            }
            begun.drain(..length);
        }
    }

    fn spoil(&mut self, _: Addr, datagram: &[u8]) -> Vec<u8> {
        unreachable!("pixmess sends no datagram: {datagram:?}")
    }
}

const PONG: u8 = 0x7d;
