//! Conversations with one side of C++evy: the script speaks for the other, object by object, and owns
//! the clock.
//!
//! [`ServerScript`] holds a server and speaks for any number of clients; [`ClientScript`] holds a
//! client and speaks for its server. Both obey the drain rule after every word, and hold every payload
//! that is sent to what all of them must keep: see [`Mail::decode`].

mod client;
mod server;

pub(crate) use client::{ClientScript, SERVER};
pub(crate) use server::{ServerScript, addr, stream};

use std::time::Duration;

use tickwire_dialects::cppevy::limits::PAYLOAD_MAX;
use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_session::Room;

use super::words::{decode, payload};

/// A payload that the side under test sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mail {
    pub(crate) timestamp: u32,
    pub(crate) objects: Vec<Object<'static>>,
    pub(crate) size: usize,
}

impl Mail {
    /// Reads a payload, and checks what holds for every one: at most 511 bytes, nothing that does not
    /// decode, and no other way to write it.
    #[track_caller]
    pub(crate) fn decode(bytes: Vec<u8>, sender: Sender) -> Self {
        let size = bytes.len();
        assert!(size <= PAYLOAD_MAX, "{size} bytes");
        let (timestamp, objects) = decode(bytes.clone(), sender);
        assert_eq!(payload(timestamp, &objects), bytes, "not canonical");
        Self {
            timestamp,
            objects,
            size,
        }
    }

    /// Takes the whole payloads from the front of a stream.
    #[track_caller]
    pub(crate) fn take_all(stream: &mut Vec<u8>, sender: Sender) -> Vec<Self> {
        let mut all = Vec::new();
        while let Some(&half) = stream.get(4) {
            let length = 5 + 2 * usize::from(half);
            if stream.len() < length {
                break;
            }
            let bytes = stream.drain(..length).collect();
            all.push(Self::decode(bytes, sender));
        }
        all
    }
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn room(bytes: u32) -> Room {
    Room {
        bytes,
        ..Room::CLOSED
    }
}
