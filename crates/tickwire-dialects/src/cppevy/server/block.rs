//! Objects of one moment that fit a payload together, encoded once for everybody.

use alloc::vec::Vec;

use crate::cppevy::Writer;
use crate::cppevy::limits::{HEADER, PAYLOAD_MAX};
use crate::cppevy::message::Object;
use tickwire_wire::Full;

/// Bytes that a payload has for objects.
const ROOM: usize = PAYLOAD_MAX - HEADER;

#[derive(Debug)]
pub(super) struct Block {
    pub(super) timestamp: u32,
    /// One behind the other.
    pub(super) objects: Vec<u8>,
    pub(super) count: u64,
}

impl Block {
    pub(super) fn new(timestamp: u32) -> Self {
        Self {
            timestamp,
            objects: Vec::with_capacity(ROOM),
            count: 0,
        }
    }

    /// Adds an object, or nothing if the whole of it does not fit.
    pub(super) fn push(&mut self, object: &Object<'_>) -> Result<(), Full> {
        let room = ROOM - self.objects.len();
        Writer::new(&mut self.objects, room).whole(|w| object.encode(w))?;
        self.count += 1;
        Ok(())
    }
}
