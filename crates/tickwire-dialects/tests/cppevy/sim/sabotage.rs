//! C++evy's bugs for a saboteur.
//!
//! On a stream a bug changes bytes of objects and leaves their lengths: what a client is not told is told of
//! something that it does not know.

use std::collections::BTreeMap;

use tickwire_dialects::cppevy::message::{Object, Payload, Sender};
use tickwire_dialects::cppevy::{EventId, StateId};
use tickwire_session::{Addr, StreamId};

use crate::sabotage::{Spoil, Symptom};
use crate::words::{BUY, GONG, POSITION, payload, state};

/// A mistake that a server could make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bug {
    /// Says for ever where things were first, as if they were there now.
    OldState,
    /// Answers an action with what came of another.
    OtherAnswer,
    /// Does not tell of an assured event.
    EventForgotten,
    /// Does not tell that an entity is gone.
    DismissForgotten,
}

impl Symptom for Bug {
    fn symptom(self) -> &'static str {
        match self {
            Self::OldState => "is shown as it was",
            Self::OtherAnswer => "has the answer to another",
            Self::EventForgotten => " gongs",
            Self::DismissForgotten => "knows [",
        }
    }
}

impl Bug {
    /// The next byte of an object of which these came before.
    fn change(self, object: &[u8], byte: u8) -> u8 {
        let is = |kind: u8, descriptor: u16| {
            let [low, high] = descriptor.to_le_bytes();
            object.starts_with(&[kind, low, high])
        };
        let is_meant = match self {
            Self::OldState => false,
            // The second byte of the message, which counts actions.
            Self::OtherAnswer => is(SUCCESS, BUY.0) && object.len() == 5,
            // The upper byte of its kind.
            Self::EventForgotten => {
                let [low, high] = GONG.0.to_le_bytes();
                object == [EVENT, low] && byte == high
            }
            // The upper byte of the entity's number.
            Self::DismissForgotten => is(EVENT, EventId::DISMISS.0) && object.len() == 5,
        };
        if is_meant { byte ^ 2 } else { byte }
    }
}

const EVENT: u8 = 3;
const SUCCESS: u8 = 5;
const FAILURE: u8 = 6;
const PADDING: u8 = 0xff;

/// A bug, and what it has to remember.
#[derive(Debug)]
pub(super) struct Planted {
    bug: Bug,
    streams: BTreeMap<StreamId, Progress>,
    /// Where everything was first.
    first: BTreeMap<StateId, Vec<u8>>,
}

/// What of a stream's payload under way was passed.
#[derive(Debug, Default)]
struct Progress {
    header: Vec<u8>,
    /// Bytes of the payload that are to come.
    rest: usize,
    /// The object under way.
    object: Vec<u8>,
}

impl Planted {
    pub(super) const fn new(bug: Bug) -> Self {
        Self {
            bug,
            streams: BTreeMap::new(),
            first: BTreeMap::new(),
        }
    }

    fn stay(&mut self, object: Object<'static>) -> Object<'static> {
        let Object::State { state: of, value } = object else {
            return object;
        };
        if of.component != POSITION {
            return object;
        }
        let first = self.first.entry(of);
        state(of, first.or_insert_with(|| value.bytes().into()))
    }
}

impl Spoil for Planted {
    fn spoil(&mut self, _: Addr, datagram: &[u8]) -> Vec<u8> {
        if self.bug != Bug::OldState {
            return datagram.into();
        }
        let bytes = datagram.to_vec().leak();
        let sent = Payload::decode(bytes, Sender::Server).expect("a server's own payload");
        let objects: Vec<_> = sent.objects().map(|object| self.stay(object)).collect();
        payload(sent.timestamp, &objects)
    }

    fn spoil_stream(&mut self, on: StreamId, bytes: &mut [u8]) {
        let Progress {
            header,
            rest,
            object,
        } = self.streams.entry(on).or_default();
        for byte in bytes {
            if *rest == 0 {
                header.push(*byte);
                if header.len() == 5 {
                    *rest = 2 * usize::from(*byte);
                    header.clear();
                }
                continue;
            }
            *rest -= 1;
            // Padding is no object.
            if object.is_empty() && *byte == PADDING {
                continue;
            }
            let sent = *byte;
            *byte = self.bug.change(object, sent);
            object.push(sent);
            let is_whole = match **object {
                [FAILURE, _, _, _] => true,
                [FAILURE, ..] => false,
                [_, _, _, size, ..] => object.len() == 4 + usize::from(size),
                _ => false,
            };
            if is_whole {
                object.clear();
            }
        }
    }
}
