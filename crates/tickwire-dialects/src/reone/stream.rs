//! Frames on a stream: put together on arrival, held back while the path has no room.

use alloc::vec::Vec;
use core::marker::PhantomData;

use tickwire_session::{Backlog, Room};
use tickwire_wire::{DecodeError, Full};

use super::Reader;
use super::limits::STREAM_WAITING;
use super::message::{Direction, decode_arrived, encode_frame};

/// The beginning of a frame whose rest has not arrived: less than one frame. `D` is who sends.
#[derive(Clone, Debug)]
pub struct Inbox<D> {
    bytes: Vec<u8>,
    direction: PhantomData<D>,
}

impl<D: Direction> Inbox<D> {
    /// Nothing has arrived.
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            direction: PhantomData,
        }
    }

    /// Takes bytes, and hands every frame that is whole to `handle`. After an error the stream cannot be
    /// read any further.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        mut handle: impl FnMut(D::Frame<'_>),
    ) -> Result<(), DecodeError> {
        self.bytes.extend_from_slice(bytes);
        let mut r = Reader::new(&self.bytes);
        while let Some(frame) = decode_arrived::<D>(&mut r)? {
            handle(frame);
        }
        let read = r.position();
        self.bytes.drain(..read);
        Ok(())
    }
}

impl<D: Direction> Default for Inbox<D> {
    fn default() -> Self {
        Self::new()
    }
}

/// Frames that wait for the peer to read, as bytes. `D` is who sends.
#[derive(Clone, Debug)]
pub struct Outbox<D> {
    backlog: Backlog,
    direction: PhantomData<D>,
}

impl<D: Direction> Outbox<D> {
    /// Nothing waits, and there is no room yet.
    pub const fn new() -> Self {
        Self {
            backlog: Backlog::new(STREAM_WAITING),
            direction: PhantomData,
        }
    }

    /// Bytes that wait. Whoever has much to send adds to it only when it is short.
    pub const fn waiting(&self) -> usize {
        self.backlog.waiting()
    }

    /// Queues a frame, unless it is too long or too much waits already.
    pub fn push(&mut self, frame: &D::Frame<'_>) -> Result<(), Full> {
        self.backlog.push(|out| encode_frame::<D>(frame, out))
    }

    /// Moves up to `room` bytes to `out`; returns how many that is, if any.
    pub fn write(&mut self, room: u32, out: &mut Vec<u8>) -> Option<usize> {
        self.backlog.set_room(Room {
            bytes: room,
            ..Room::CLOSED
        });
        self.backlog.write(out)
    }
}

impl<D: Direction> Default for Outbox<D> {
    fn default() -> Self {
        Self::new()
    }
}
