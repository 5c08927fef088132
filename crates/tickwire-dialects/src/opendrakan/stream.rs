//! Messages on a stream: put together on arrival, held back while the path has no room.

use alloc::vec::Vec;

use tickwire_session::Backlog;
use tickwire_wire::{DecodeError, Full};

use super::limits::{HEADER, PAYLOAD_MAX, STREAM_WAITING};
use super::message::{Message, Way};
use super::{Reader, Writer};

/// The beginning of a message whose rest has not arrived: less than one message.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Takes bytes, and hands every message that is whole to `handle`.
    pub(super) fn receive(
        &mut self,
        way: Way,
        bytes: &[u8],
        mut handle: impl FnMut(Message<'_>),
    ) -> Result<(), DecodeError> {
        self.bytes.extend_from_slice(bytes);
        let mut r = Reader::new(&self.bytes);
        while let Some(message) = Message::decode_arrived(&mut r, way)? {
            handle(message);
        }
        let read = r.position();
        self.bytes.drain(..read);
        Ok(())
    }
}

/// Messages that wait for the peer to read, as bytes.
#[derive(Clone, Debug)]
pub(super) struct Outbox(Backlog);

impl Outbox {
    pub(super) const fn new() -> Self {
        Self(Backlog::new(STREAM_WAITING))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.waiting() == 0
    }

    /// Bytes that wait.
    pub(super) const fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// Queues a message, unless too much waits already.
    pub(super) fn push(&mut self, message: &Message<'_>) -> Result<(), Full> {
        let limit = HEADER + usize::from(PAYLOAD_MAX);
        self.0
            .push(|out| message.encode(&mut Writer::new(out, limit)))
    }

    /// Moves up to `room` bytes to `out`; returns how many that is, if any.
    pub(super) fn write(&mut self, room: u32, out: &mut Vec<u8>) -> Option<usize> {
        self.0.write_within(room, out)
    }
}
