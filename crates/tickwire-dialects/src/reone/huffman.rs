//! Huffman coding of a packet's lists, with codes that adapt to what was sent: Vitter's algorithm Λ.
//!
//! A packet starts from a tree that knows the bytes 0 to 100 once each; those are what lists mostly
//! consist of. Every one that is coded makes its code shorter. Any other byte is written behind an
//! escape and changes nothing. Nothing is remembered from one packet to the next, so a lost packet
//! costs itself alone.
//!
//! Whether a packet is coded says the byte between its header and its lists.

mod tree;

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use super::Reader;
use super::limits::PLAIN_RECEIVE_MAX;
use super::text::bit;
use tree::{Step, Tree};

/// The byte that says that the lists follow as they are.
pub(super) const PLAIN: u8 = 0;
/// The byte that says that they are coded: their length follows, then the bits.
const CODED: u8 = 1;
/// Bytes of the length.
const LENGTH: usize = 2;

/// What a packet holds behind its header.
#[derive(Debug)]
pub(super) enum Lists<'a> {
    Plain(&'a [u8]),
    Coded(Coded<'a>),
}

/// Coded lists.
#[derive(Debug)]
pub(super) struct Coded<'a> {
    /// Bytes of the plain lists.
    length: usize,
    bits: &'a [u8],
    /// Where `bits` begin in the packet, for errors.
    start: usize,
}

/// Reads what tells plain lists from coded ones. The lists themselves are not read.
pub(super) fn open<'a>(r: &mut Reader<'a>) -> Result<Lists<'a>, DecodeError> {
    match r.u8("coding")? {
        PLAIN => {
            r.means("plain");
            Ok(Lists::Plain(r.peek(usize::MAX)))
        }
        CODED => {
            r.means("Huffman");
            let length = r.u16("plain length")?;
            r.limit("plain length", length.into(), PLAIN_RECEIVE_MAX as u64)?;
            Ok(Lists::Coded(Coded {
                length: length.into(),
                bits: r.peek(usize::MAX),
                start: r.position(),
            }))
        }
        other => Err(r.refuse("coding", other.into())),
    }
}

impl Coded<'_> {
    /// Appends the plain lists to `out`.
    pub(super) fn unfold(self, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.unfold_with(|byte, _| out.push(byte))
    }

    /// Hands every plain byte to `handle`, with the bit of the packet at which its code begins.
    pub(super) fn unfold_with(self, mut handle: impl FnMut(u8, u32)) -> Result<(), DecodeError> {
        let mut decoder = Decoder {
            tree: Tree::START,
            bytes: self.bits,
            at: 0,
            start: self.start,
        };
        for _ in 0..self.length {
            let at_bit = decoder.at_bit();
            handle(decoder.byte()?, at_bit);
        }
        decoder.finish()
    }
}

/// Codes the lists that `out` ends with, from `lists` on, if that makes them shorter. The byte before
/// them is [`PLAIN`].
pub(super) fn fold(out: &mut Vec<u8>, lists: usize) {
    let end = out.len();
    let plain = end.saturating_sub(lists);
    let (Ok(length), Some(envelope)) = (u16::try_from(plain), lists.checked_sub(1)) else {
        return;
    };
    out.push(CODED);
    out.extend_from_slice(&length.to_le_bytes());
    let mut encoder = Encoder::new();
    for at in lists..end {
        if let Some(&byte) = out.get(at) {
            encoder.byte(byte, out);
        }
    }
    encoder.finish(out);
    let coded = out.len() - end - 1 - LENGTH;
    if LENGTH + coded < plain {
        out.drain(envelope..end);
    } else {
        out.truncate(end);
    }
}

/// Appends the code of `plain` to `out`, from its first bit on in whole bytes.
pub fn encode(plain: &[u8], out: &mut Vec<u8>) {
    let mut encoder = Encoder::new();
    for &byte in plain {
        encoder.byte(byte, out);
    }
    encoder.finish(out);
}

/// Appends the `length` bytes that `coded` stands for to `out`. Fails if it stands for fewer or more.
pub fn decode(coded: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let (bits, start) = (coded, 0);
    Coded {
        length,
        bits,
        start,
    }
    .unfold(out)
}

/// Bits on their way to bytes.
#[derive(Debug)]
struct Encoder {
    tree: Tree,
    /// The last `waiting` bits have not been written; there are always fewer than 8 between two bytes.
    bits: u64,
    waiting: u32,
}

impl Encoder {
    fn new() -> Self {
        Self {
            tree: Tree::START,
            bits: 0,
            waiting: 0,
        }
    }

    #[inline]
    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if Tree::has(byte) {
            let (code, length) = self.tree.code(byte);
            self.write(code, length, out);
            self.tree.update(byte);
        } else {
            let (code, length) = self.tree.escape_code();
            self.write(code, length, out);
            self.write(byte.into(), 8, out);
        }
    }

    #[inline]
    fn write(&mut self, code: u64, length: u32, out: &mut Vec<u8>) {
        self.bits = self.bits << length | code;
        self.waiting += length;
        while self.waiting >= 8 {
            self.waiting -= 8;
            #[expect(clippy::cast_possible_truncation, reason = "the next eight bits")]
            out.push((self.bits >> self.waiting) as u8);
        }
    }

    fn finish(self, out: &mut Vec<u8>) {
        if self.waiting > 0 {
            #[expect(clippy::cast_possible_truncation, reason = "fewer than eight bits")]
            out.push((self.bits << (8 - self.waiting)) as u8);
        }
    }
}

/// Bits on their way back.
#[derive(Debug)]
struct Decoder<'a> {
    tree: Tree,
    bytes: &'a [u8],
    /// The next bit of `bytes`.
    at: usize,
    /// Where `bytes` begin in the packet, for errors.
    start: usize,
}

impl Decoder<'_> {
    #[inline]
    fn byte(&mut self) -> Result<u8, DecodeError> {
        let mut place = Tree::ROOT;
        loop {
            let bit = self.bit("code")?;
            place = self.tree.child(place, bit);
            match self.tree.step(place) {
                Step::Inner => {}
                Step::Byte(byte) => {
                    self.tree.update(byte);
                    return Ok(byte);
                }
                Step::Escape => return self.escaped(),
            }
        }
    }

    fn escaped(&mut self) -> Result<u8, DecodeError> {
        let at_bit = self.at_bit();
        let mut byte = 0;
        for _ in 0..8 {
            byte = byte << 1 | self.bit("escaped byte")?;
        }
        if Tree::has(byte) {
            return Err(DecodeError::Forbidden {
                field: "escaped byte",
                at_bit,
                value: byte.into(),
            });
        }
        Ok(byte)
    }

    #[inline]
    fn bit(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        let Some(byte) = self.bytes.get(self.at / 8) else {
            let at_bit = self.at_bit();
            return Err(DecodeError::Truncated { field, at_bit });
        };
        let bit = byte >> (7 - self.at % 8) & 1;
        self.at += 1;
        Ok(bit)
    }

    fn at_bit(&self) -> u32 {
        bit(self.start).saturating_add(u32::try_from(self.at).unwrap_or(u32::MAX))
    }

    /// Fails unless nothing is left but the zeros that fill the last byte.
    fn finish(mut self) -> Result<(), DecodeError> {
        while !self.at.is_multiple_of(8) {
            let at_bit = self.at_bit();
            if self.bit("spare bits")? != 0 {
                return Err(DecodeError::Forbidden {
                    field: "spare bits",
                    at_bit,
                    value: 1,
                });
            }
        }
        if self.at / 8 < self.bytes.len() {
            return Err(DecodeError::Trailing {
                at_bit: self.at_bit(),
            });
        }
        Ok(())
    }
}
