//! Conversations with one side of C++evy: the script speaks for the other, object by object, and owns
//! the clock.
//!
//! [`ServerScript`] holds a server and speaks for any number of clients; [`ClientScript`] holds a
//! client and speaks for its server. Every payload that is sent is held to what all of them must keep: see
//! [`Mail::decode`].

mod client;
mod server;

pub(crate) use client::{CLIENT_LICENCE, ClientScript, SERVER};
pub(crate) use server::{SERVER_LICENCE, ServerScript, addr, stream};

use std::collections::BTreeMap;

use tickwire_dialects::cppevy::limits::PAYLOAD_MAX;
use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_session::{Events, Path, StreamId, Transmit};

use super::words::{decode, payload};
use crate::driven::{Memory, Read, Window};

pub(crate) const STATES: &str = include_str!("../../src/cppevy/STATES.md");

/// Room that is used up by nothing, and given again.
pub(crate) const WIDE: Window = Window::Again(64 * 1_024);

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

/// What some payloads say.
pub(crate) fn objects(mail: Vec<Mail>) -> Vec<Object<'static>> {
    mail.into_iter().flat_map(|mail| mail.objects).collect()
}

/// Reads everything that is sent, whether somebody looks at it or not.
pub(crate) struct Reading {
    sender: Sender,
    /// The beginnings of payloads whose rest was not sent yet.
    begun: BTreeMap<StreamId, Vec<u8>>,
}

impl Reading {
    const fn new(sender: Sender) -> Self {
        let begun = BTreeMap::new();
        Self { sender, begun }
    }
}

impl<S: Events> Memory<S> for Reading {
    fn check_sent(&mut self, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { .. } => drop(Mail::decode(bytes.into(), self.sender)),
            Transmit::Stream { on } => {
                let begun = self.begun.entry(on).or_default();
                begun.extend(bytes);
                Mail::take_all(begun, self.sender);
            }
            _ => {}
        }
    }
}

impl Read for Reading {
    type Heard = Mail;

    fn read(&mut self, _from: Path, bytes: &mut Vec<u8>) -> Vec<Mail> {
        Mail::take_all(bytes, self.sender)
    }
}
