//! Frames of a stream, put together as they arrive.

use alloc::vec::Vec;
use core::marker::PhantomData;

use tickwire_wire::DecodeError;

use super::Reader;
use super::message::{Direction, decode_arrived};

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
