//! Reading and writing fields that are not whole bytes.
//!
//! Bits fill a byte from its lowest place upwards, and a field's lowest bit comes first. A field may
//! cross bytes and has 0 to 64 bits. The unused bits of the last byte are written 0.

use alloc::vec::Vec;
use core::fmt;

use crate::{DecodeError, Place, Trace, Value};

/// A cursor over bits.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at_bit: usize,
    trace: Option<&'a mut dyn Trace>,
}

impl<'a> BitReader<'a> {
    /// Reads `bytes` from the lowest bit of the first.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at_bit: 0,
            trace: None,
        }
    }

    /// Reads `bytes` and tells `trace` every field.
    pub const fn traced(bytes: &'a [u8], trace: &'a mut dyn Trace) -> Self {
        Self {
            bytes,
            at_bit: 0,
            trace: Some(trace),
        }
    }

    /// How many bits are left.
    pub const fn remaining(&self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.at_bit)
    }

    /// Reads an unsigned field of `bits` bits.
    ///
    /// # Panics
    /// If `bits` is above 64: widths come from the protocol, never from the peer.
    #[inline]
    pub fn unsigned(&mut self, field: &'static str, bits: u32) -> Result<u64, DecodeError> {
        let value = self.take(field, bits)?;
        self.note(field, bits, Value::Unsigned(value));
        Ok(value)
    }

    /// Reads unsigned fields of `bits` bits each, side by side. What `values` holds after an error is of no
    /// use.
    ///
    /// # Panics
    /// If `bits` is above 32.
    pub fn unpack(
        &mut self,
        field: &'static str,
        bits: u32,
        values: &mut [u32],
    ) -> Result<(), DecodeError> {
        assert!(bits <= 32, "a packed field has at most 32 bits");
        let width = bits as usize;
        if values.len() * width > self.remaining() {
            // The first that is not whole.
            self.at_bit += self.remaining() / width * width;
            let at_bit = self.at_bit();
            return Err(DecodeError::Truncated { field, at_bit });
        }
        let start = self.at_bit;
        // As many at a time as surely lie in the word that begins with the first one's byte.
        let done = match bits {
            0..=14 => self.unpack_by::<4>(width, values),
            15..=28 => self.unpack_by::<2>(width, values),
            _ => self.unpack_by::<1>(width, values),
        };
        for value in values.iter_mut().skip(done) {
            *value = low_half(self.take_bytewise(width));
            self.at_bit += width;
        }
        if self.trace.is_some() {
            let end = core::mem::replace(&mut self.at_bit, start);
            for value in values {
                self.at_bit += width;
                self.note(field, bits, Value::Unsigned((*value).into()));
            }
            self.at_bit = end;
        }
        Ok(())
    }

    /// Reads a two's-complement field of `bits` bits.
    ///
    /// # Panics
    /// If `bits` is above 64.
    pub fn signed(&mut self, field: &'static str, bits: u32) -> Result<i64, DecodeError> {
        let raw = self.take(field, bits)?;
        let unused = 64 - bits;
        // Shifting by 64 is no shift at all; an empty field is zero.
        let value = if bits == 0 {
            0
        } else {
            (raw << unused).cast_signed() >> unused
        };
        self.note(field, bits, Value::Signed(value));
        Ok(value)
    }

    /// Reads one bit.
    pub fn flag(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        Ok(self.unsigned(field, 1)? == 1)
    }

    /// Moves to the next whole byte; what it skips must be 0.
    pub fn align(&mut self) -> Result<(), DecodeError> {
        let at_bit = self.at_bit();
        match self.take("padding", at_bit.wrapping_neg() % 8)? {
            0 => Ok(()),
            value => Err(DecodeError::Forbidden {
                field: "padding",
                at_bit,
                value,
            }),
        }
    }

    /// Fails unless fewer than 8 bits are left and all of them are 0.
    pub fn finish(&mut self) -> Result<(), DecodeError> {
        let at_bit = self.at_bit();
        match u32::try_from(self.remaining()) {
            Ok(spare @ 0..8) => match self.take("padding", spare)? {
                0 => Ok(()),
                value => Err(DecodeError::Forbidden {
                    field: "padding",
                    at_bit,
                    value,
                }),
            },
            _ => Err(DecodeError::Trailing { at_bit }),
        }
    }

    #[inline]
    fn take(&mut self, field: &'static str, bits: u32) -> Result<u64, DecodeError> {
        assert!(bits <= 64, "a field has at most 64 bits");
        let bits = bits as usize;
        if bits > self.remaining() {
            return Err(DecodeError::Truncated {
                field,
                at_bit: self.at_bit(),
            });
        }
        let (at, inside) = (self.at_bit / 8, self.at_bit % 8);
        let word = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
        let value = match word {
            Some(word) if inside + bits <= 64 => {
                let low = u64::from_le_bytes(*word) >> inside;
                if bits == 64 {
                    low
                } else {
                    low & ((1 << bits) - 1)
                }
            }
            _ => self.take_bytewise(bits),
        };
        self.at_bit += bits;
        Ok(value)
    }

    /// Reads values `N` at a time for as long as there are whole words, and says how many.
    #[inline]
    fn unpack_by<const N: usize>(&mut self, width: usize, values: &mut [u32]) -> usize {
        let mask = (1_u64 << width) - 1;
        let (chunks, _) = values.as_chunks_mut::<N>();
        let (bytes, mut at_bit) = (self.bytes, self.at_bit);
        let mut done = 0;
        for chunk in chunks {
            let word = bytes.get(at_bit / 8..).and_then(<[u8]>::first_chunk);
            let Some(word) = word else { break };
            let mut word = u64::from_le_bytes(*word) >> (at_bit % 8);
            for value in chunk {
                *value = low_half(word & mask);
                word >>= width;
            }
            at_bit += N * width;
            done += N;
        }
        self.at_bit = at_bit;
        done
    }

    /// The next `bits` bits where no whole word is left, or they cross one.
    fn take_bytewise(&self, bits: usize) -> u64 {
        let (mut value, mut got) = (0, 0);
        while got < bits {
            let at = self.at_bit + got;
            let inside = at % 8;
            let taken = (8 - inside).min(bits - got);
            let byte = self.bytes.get(at / 8).copied().unwrap_or_default();
            let part = u64::from(byte >> inside) & ((1 << taken) - 1);
            value |= part << got;
            got += taken;
        }
        value
    }

    /// How many bits were read.
    pub fn at_bit(&self) -> u32 {
        u32::try_from(self.at_bit).unwrap_or(u32::MAX)
    }

    /// Reports the field that ends at the cursor.
    fn note(&mut self, field: &'static str, bits: u32, value: Value<'_>) {
        let at_bit = self.at_bit().saturating_sub(bits);
        if let Some(trace) = &mut self.trace {
            trace.field(field, Place { at_bit, bits }, value);
        }
    }
}

impl fmt::Debug for BitReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitReader")
            .field("at_bit", &self.at_bit)
            .field("bits", &(self.bytes.len() * 8))
            .finish_non_exhaustive()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
const fn low_half(word: u64) -> u32 {
    word as u32
}

/// Appends bits.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// What `bytes` lacks, from the lowest bit up.
    pending: u64,
    /// How many bits are pending, below 64.
    used: u32,
}

impl BitWriter {
    /// An empty writer.
    pub const fn new() -> Self {
        Self::onto(Vec::new())
    }

    /// A writer that appends to `bytes`, beginning with a byte of its own.
    pub const fn onto(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            pending: 0,
            used: 0,
        }
    }

    /// How many bits there are, those of [`onto`](Self::onto) included.
    pub const fn bits(&self) -> usize {
        self.bytes.len() * 8 + self.used as usize
    }

    /// Appends the lowest `bits` bits of `value`.
    ///
    /// # Panics
    /// If `bits` is above 64, or `value` needs more.
    #[inline]
    pub fn unsigned(&mut self, value: u64, bits: u32) {
        assert!(
            bits == 64 || (bits < 64 && value >> bits == 0),
            "{value} does not fit {bits} bits"
        );
        self.push(value, bits);
    }

    /// Appends the lowest `bits` bits of each value, side by side.
    ///
    /// # Panics
    /// If `bits` is above 32, or a value needs more.
    pub fn pack(&mut self, values: &[u32], bits: u32) {
        let all = values.iter().fold(0, |all, value| all | u64::from(*value));
        assert!(
            bits <= 32 && all >> bits == 0,
            "a value does not fit {bits} bits"
        );
        let start = self.bytes.len();
        let words = (self.used as usize + values.len() * bits as usize) / 64;
        self.bytes.resize(start + words * 8, 0);
        let mut to = Words {
            words: self.bytes.get_mut(start..).unwrap_or_default(),
            pending: self.pending,
            used: self.used,
        };
        // The fewer steps wait for each other, the better: four at a time if they fit a word, or two.
        let (fours, rest) = if bits <= 16 {
            values.as_chunks()
        } else {
            (&[][..], values)
        };
        let pair = |[first, second]: [u32; 2]| u64::from(first) | u64::from(second) << bits;
        for [a, b, c, d] in fours {
            to.push(pair([*a, *b]) | pair([*c, *d]) << (2 * bits), 4 * bits);
        }
        let (pairs, last) = rest.as_chunks();
        for two in pairs {
            to.push(pair(*two), 2 * bits);
        }
        for value in last {
            to.push((*value).into(), bits);
        }
        (self.pending, self.used) = (to.pending, to.used);
    }

    /// Appends `value` in two's complement.
    ///
    /// # Panics
    /// If `bits` is above 64, or `value` needs more.
    pub fn signed(&mut self, value: i64, bits: u32) {
        let fits = match bits {
            0 => value == 0,
            1..64 => matches!(value >> (bits - 1), 0 | -1),
            _ => bits == 64,
        };
        assert!(fits, "{value} does not fit {bits} bits");
        let mask = if bits == 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        };
        self.push(value.cast_unsigned() & mask, bits);
    }

    /// Appends one bit.
    pub fn flag(&mut self, value: bool) {
        self.push(value.into(), 1);
    }

    /// The bytes, the spare bits of the last one 0.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let word = self.pending.to_le_bytes();
        let whole = self.used.div_ceil(8) as usize;
        self.bytes
            .extend_from_slice(word.get(..whole).unwrap_or_default());
        self.bytes
    }

    #[inline]
    fn push(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.used;
        let used = self.used + bits;
        if used < 64 {
            self.used = used;
        } else {
            self.bytes.extend_from_slice(&self.pending.to_le_bytes());
            // Nothing is left of `value` if it filled the word exactly from its beginning.
            self.pending = value.checked_shr(64 - self.used).unwrap_or_default();
            self.used = used - 64;
        }
    }
}

/// What [`BitWriter::pack`] fills. Everything in it stays in registers.
struct Words<'a> {
    /// Those to come.
    words: &'a mut [u8],
    pending: u64,
    used: u32,
}

impl Words<'_> {
    #[inline(always)]
    fn push(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.used;
        let used = self.used + bits;
        if used >= 64
            && let Some((word, rest)) = core::mem::take(&mut self.words).split_first_chunk_mut()
        {
            *word = self.pending.to_le_bytes();
            self.words = rest;
            // In two steps: a word that was empty has nothing of `value` left.
            self.pending = value >> 1 >> (63 - self.used);
        }
        self.used = used % 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_fields_are_the_fields_side_by_side() {
        for width in 0..=32_u32 {
            let top = u32::MAX.checked_shr(32 - width).unwrap_or(0);
            for lead in [0, 1, 7, 40, 63] {
                for count in [0, 1, 2, 5, 63, 64] {
                    let values: Vec<u32> = (0..count)
                        .map(|n: u32| n.wrapping_mul(0x9e37_79b9) & top)
                        .collect();
                    let (mut packed, mut single) = (BitWriter::new(), BitWriter::new());
                    for w in [&mut packed, &mut single] {
                        w.unsigned(0, lead);
                    }
                    packed.pack(&values, width);
                    values
                        .iter()
                        .for_each(|v| single.unsigned((*v).into(), width));
                    for w in [&mut packed, &mut single] {
                        w.flag(true);
                    }
                    let bytes = packed.into_bytes();
                    assert_eq!(bytes, single.into_bytes(), "{width} {lead} {count}");
                    let mut r = BitReader::new(&bytes);
                    let mut read = alloc::vec![0; values.len()];
                    assert_eq!(r.unsigned("lead", lead), Ok(0));
                    assert_eq!(r.unpack("values", width, &mut read), Ok(()));
                    assert_eq!((read, r.flag("end")), (values, Ok(true)));
                }
            }
        }
    }

    #[test]
    fn packed_fields_that_end_too_soon_name_the_first_that_is_cut() {
        let mut r = BitReader::new(&[0; 4]);
        assert_eq!(r.unsigned("lead", 3), Ok(0));
        let got = r.unpack("values", 10, &mut [0; 3]);
        let (field, at_bit) = ("values", 23);
        assert_eq!(got, Err(DecodeError::Truncated { field, at_bit }));
    }

    #[test]
    fn fields_of_every_width_survive() {
        for width in 0..=64_u32 {
            for lead in 0..8 {
                let top = if width == 0 {
                    0
                } else {
                    u64::MAX >> (64 - width)
                };
                for value in [0, top, top / 3, top ^ (top / 5)] {
                    let mut w = BitWriter::new();
                    w.unsigned(0, lead);
                    w.unsigned(value, width);
                    w.flag(true);
                    assert_eq!(w.bits(), (lead + width) as usize + 1);
                    let bytes = w.into_bytes();
                    let mut r = BitReader::new(&bytes);
                    assert_eq!(r.unsigned("lead", lead), Ok(0));
                    assert_eq!(r.unsigned("value", width), Ok(value), "width {width}");
                    assert_eq!(r.flag("end"), Ok(true));
                    assert_eq!(r.finish(), Ok(()));
                }
            }
        }
    }

    #[test]
    fn signed_fields_keep_their_sign() {
        for (value, bits) in [
            (-1, 1),
            (0, 1),
            (-4, 3),
            (3, 3),
            (i64::MIN, 64),
            (-70_000, 20),
        ] {
            let mut w = BitWriter::new();
            w.signed(value, bits);
            let bytes = w.into_bytes();
            assert_eq!(BitReader::new(&bytes).signed("v", bits), Ok(value));
        }
    }

    #[test]
    fn the_first_field_lies_lowest() {
        let mut w = BitWriter::new();
        w.unsigned(0b1, 1);
        w.unsigned(0b10, 2);
        w.unsigned(0b1_1111_1111, 9);
        assert_eq!(w.into_bytes(), [0b1111_1101, 0b0000_1111]);
    }

    #[test]
    fn a_cut_field_is_named_and_nothing_moves() {
        let mut r = BitReader::new(&[0xff]);
        assert_eq!(r.unsigned("a", 3), Ok(7));
        assert_eq!(
            r.unsigned("b", 6),
            Err(DecodeError::Truncated {
                field: "b",
                at_bit: 3
            })
        );
        assert_eq!(r.unsigned("c", 5), Ok(31));
    }

    #[test]
    fn aligning_skips_zeros_only() {
        let mut r = BitReader::new(&[0b0000_0001, 0b0000_0101]);
        r.unsigned("a", 2).unwrap();
        assert_eq!(r.align(), Ok(()));
        assert_eq!(r.align(), Ok(()));
        assert_eq!(r.unsigned("b", 1), Ok(1));
        assert_eq!(
            r.align(),
            Err(DecodeError::Forbidden {
                field: "padding",
                at_bit: 9,
                value: 2
            })
        );
    }

    #[test]
    fn a_writer_goes_on_behind_bytes() {
        let mut w = BitWriter::onto(alloc::vec![7]);
        w.unsigned(1, 1);
        assert_eq!(w.bits(), 9);
        assert_eq!(w.into_bytes(), [7, 1]);
    }

    #[test]
    fn padding_must_be_zero_and_short() {
        let mut r = BitReader::new(&[0b0000_0101]);
        r.unsigned("a", 2).unwrap();
        assert_eq!(
            r.finish(),
            Err(DecodeError::Forbidden {
                field: "padding",
                at_bit: 2,
                value: 1
            })
        );
        assert_eq!(
            BitReader::new(&[0, 0]).finish(),
            Err(DecodeError::Trailing { at_bit: 0 })
        );
    }
}
