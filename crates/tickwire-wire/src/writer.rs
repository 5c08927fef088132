//! Writing whole bytes, never more than allowed.
//!
//! A writer appends to a buffer that may already hold other datagrams, and counts only its own
//! bytes against its limit. [`Writer::whole`] writes a message entirely or not at all, which is how
//! a packet is filled: try the next message, stop at the first that does not fit.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use crate::Endian;

/// Appends fields of byte order `E`, up to a limit.
#[derive(Debug)]
pub struct Writer<'a, E> {
    out: &'a mut Vec<u8>,
    /// The buffer may not grow beyond this length.
    end: usize,
    start: usize,
    overflowed: bool,
    order: PhantomData<E>,
}

/// The limit does not allow what was to be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no room left for the whole message")
    }
}

impl core::error::Error for Full {}

impl<'a, E: Endian> Writer<'a, E> {
    /// Appends at most `limit` bytes to `out`.
    pub const fn new(out: &'a mut Vec<u8>, limit: usize) -> Self {
        let start = out.len();
        let end = start.saturating_add(limit);
        Self {
            out,
            end,
            start,
            overflowed: false,
            order: PhantomData,
        }
    }

    /// How many bytes this writer has written.
    pub const fn written(&self) -> usize {
        self.out.len() - self.start
    }

    /// How many more bytes fit.
    pub const fn room(&self) -> usize {
        self.end - self.out.len()
    }

    /// Writes everything that `write` writes, or nothing.
    pub fn whole(&mut self, write: impl FnOnce(&mut Self)) -> Result<(), Full> {
        let before = self.out.len();
        write(self);
        if core::mem::take(&mut self.overflowed) {
            self.out.truncate(before);
            return Err(Full);
        }
        Ok(())
    }

    /// Whether everything written so far fitted; what did not was left out.
    pub const fn finish(self) -> Result<(), Full> {
        if self.overflowed { Err(Full) } else { Ok(()) }
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > self.room() {
            self.overflowed = true;
            return;
        }
        self.out.extend_from_slice(bytes);
    }

    /// Appends a `u8`.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }

    /// Appends a `u16`.
    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.bytes(&E::bytes16(value));
    }

    /// Appends a `u32`.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.bytes(&E::bytes32(value));
    }

    /// Appends a `u64`.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.bytes(&E::bytes64(value));
    }

    /// Appends a `u32` as [`Reader::varint`](crate::Reader::varint) reads it.
    #[inline]
    pub fn varint(&mut self, value: u32) {
        let mut rest = value;
        while rest >= 0x80 {
            self.u8(0x80 | rest.to_le_bytes()[0]);
            rest >>= 7;
        }
        self.u8(rest.to_le_bytes()[0]);
    }

    /// Appends an `i8`.
    #[inline]
    pub fn i8(&mut self, value: i8) {
        self.u8(value.cast_unsigned());
    }

    /// Appends an `i16`.
    #[inline]
    pub fn i16(&mut self, value: i16) {
        self.u16(value.cast_unsigned());
    }

    /// Appends an `i32`.
    #[inline]
    pub fn i32(&mut self, value: i32) {
        self.u32(value.cast_unsigned());
    }

    /// Appends the bits of an `f32`.
    #[inline]
    pub fn f32(&mut self, value: f32) {
        self.u32(value.to_bits());
    }

    /// Appends the bits of an `f64`.
    #[inline]
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Overwrites a byte written earlier, such as a count that is known only afterwards; `at` counts
    /// from this writer's start. Outside of what was written nothing happens.
    pub fn patch_u8(&mut self, at: usize, value: u8) {
        if let Some(byte) = self
            .start
            .checked_add(at)
            .and_then(|at| self.out.get_mut(at))
        {
            *byte = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigEndian, LittleEndian};
    use alloc::vec;

    #[test]
    fn a_message_that_does_not_fit_leaves_nothing_behind() {
        let mut out = vec![0xaa];
        let mut w = Writer::<BigEndian>::new(&mut out, 6);
        assert_eq!(w.whole(|w| w.u32(1)), Ok(()));
        assert_eq!(
            w.whole(|w| {
                w.u8(9);
                w.u32(2);
            }),
            Err(Full)
        );
        assert_eq!(w.whole(|w| w.u16(3)), Ok(()));
        assert_eq!((w.written(), w.room()), (6, 0));
        assert_eq!(w.finish(), Ok(()));
        assert_eq!(out, [0xaa, 0, 0, 0, 1, 0, 3]);
    }

    #[test]
    fn varints_are_read_as_they_were_written() {
        for value in (0..32).flat_map(|bit| [(1_u32 << bit) - 1, 1 << bit, u32::MAX >> bit]) {
            let mut out = vec![];
            Writer::<LittleEndian>::new(&mut out, 5).varint(value);
            let read = crate::Reader::<LittleEndian>::read_all(&out, |r| r.varint("n"));
            assert_eq!(read, Ok(value));
        }
    }

    #[test]
    fn the_limit_holds_outside_of_whole_too() {
        let mut out = vec![];
        let mut w = Writer::<LittleEndian>::new(&mut out, 3);
        w.u16(0x0102);
        w.u16(0x0304);
        assert_eq!(w.finish(), Err(Full));
        assert_eq!(out, [2, 1]);
    }

    #[test]
    fn patching_reaches_only_what_this_writer_wrote() {
        let mut out = vec![7];
        let mut w = Writer::<BigEndian>::new(&mut out, 8);
        w.u8(0);
        w.patch_u8(0, 5);
        w.patch_u8(1, 6);
        assert_eq!(out, [7, 5]);
    }
}
