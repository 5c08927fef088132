//! A binary range coder: decisions of known probability, in as many bits as they are surprising.
//!
//! The encoder narrows an interval of numbers, decision by decision; the bytes are a number in the last
//! interval, cut off as soon as every continuation lies in it too. So the end needs one or two bytes, and
//! the decoder tells how many there were without being told. Of the byte strings that would do, only the
//! one that the encoder writes is accepted: no message is the beginning of another.
//!
//! Everything is integers of 32 bits, and one product of 48. Where the probabilities come from is the
//! caller's.

use alloc::vec::Vec;

use crate::DecodeError;

/// The probability that a bit is set, in units of 1/65536; 0 counts as 1.
pub type Chance = u16;

/// Below this the interval is widened by a byte.
const NARROW: u32 = 1 << 24;

/// The share of the interval that means a set bit. Neither it nor the rest is ever empty.
#[inline]
fn share(range: u32, one: Chance) -> u32 {
    let share = (u64::from(range) * u64::from(one | 1)) >> 16;
    u32::try_from(share).unwrap_or(u32::MAX)
}

/// Writes decisions.
#[derive(Debug)]
pub struct RangeEncoder<'a> {
    out: &'a mut Vec<u8>,
    low: u32,
    range: u32,
}

impl<'a> RangeEncoder<'a> {
    /// Appends to `out`. What is there already is not touched.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            low: 0,
            range: u32::MAX,
        }
    }

    /// How long the buffer is by now. The last few bytes are not certain before the end.
    pub const fn written(&self) -> usize {
        self.out.len()
    }

    /// Writes a bit that is set with probability `one`.
    #[inline]
    pub fn bit(&mut self, one: Chance, bit: bool) {
        let share = share(self.range, one);
        // No branch: what the bit is cannot be foretold.
        self.raise(if bit { 0 } else { share });
        self.range = if bit { share } else { self.range - share };
        self.widen();
    }

    /// Writes the lowest `bits` bits of a value, each as probable as not.
    ///
    /// # Panics
    /// If `bits` is above 16.
    #[inline]
    pub fn plain(&mut self, value: u32, bits: u32) {
        assert!(bits <= 16, "at most 16 plain bits at once");
        let last = (1 << bits) - 1;
        let (step, value) = (self.range >> bits, value & last);
        self.raise(step * value);
        // The last value takes the remainder too, so that every number means something.
        self.range = if value == last {
            self.range - step * last
        } else {
            step
        };
        self.widen();
    }

    /// Writes what is left: one byte or two.
    pub fn finish(mut self) {
        let End { pad, bytes } = End::of(self.low, self.range);
        self.raise(pad);
        let last = self.low.to_be_bytes();
        self.out.extend(last.iter().take(bytes));
    }

    #[inline]
    fn raise(&mut self, by: u32) {
        let (low, carry) = self.low.overflowing_add(by);
        self.low = low;
        if carry {
            self.carry();
        }
    }

    /// Adds one to the number that the bytes are so far. There is a first byte that takes it: the
    /// interval never reaches beyond the one that it began with.
    #[cold]
    fn carry(&mut self) {
        for byte in self.out.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    #[inline]
    fn widen(&mut self) {
        while self.range < NARROW {
            let [first, ..] = self.low.to_be_bytes();
            self.out.push(first);
            self.low <<= 8;
            self.range <<= 8;
        }
    }
}

/// Reads decisions. The caller knows when it has read the last.
#[derive(Clone, Debug)]
pub struct RangeDecoder<'a> {
    bytes: &'a [u8],
    /// Bytes taken, those after the end included: they are read as 0.
    taken: usize,
    /// The last four bytes taken.
    window: u32,
    /// How far the number lies above the interval's lower end.
    code: u32,
    range: u32,
}

impl<'a> RangeDecoder<'a> {
    /// Reads from the first of these bytes. More may follow than are read.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self {
            bytes,
            taken: 0,
            window: 0,
            code: 0,
            range: u32::MAX,
        };
        for _ in 0..WINDOW {
            decoder.take();
        }
        decoder.code = decoder.window;
        decoder
    }

    /// Reads a bit that is set with probability `one`.
    #[inline]
    pub fn bit(&mut self, one: Chance) -> bool {
        let share = share(self.range, one);
        let bit = self.code < share;
        // No branch: what the bit is cannot be foretold.
        self.code -= if bit { 0 } else { share };
        self.range = if bit { share } else { self.range - share };
        self.widen();
        bit
    }

    /// Reads `bits` bits, each as probable as not.
    ///
    /// # Panics
    /// If `bits` is above 16.
    #[inline]
    pub fn plain(&mut self, bits: u32) -> u32 {
        assert!(bits <= 16, "at most 16 plain bits at once");
        let last = (1 << bits) - 1;
        let step = self.range >> bits;
        let value = (self.code / step).min(last);
        self.code -= step * value;
        self.range = if value == last {
            self.range - step * last
        } else {
            step
        };
        self.widen();
        value
    }

    /// Where the next decision is read, in bits from the beginning.
    pub fn at_bit(&self) -> u32 {
        u32::try_from((self.taken - WINDOW) * 8).unwrap_or(u32::MAX)
    }

    /// Fails if the bytes cannot have held all that was read. Until then, nonsense comes out.
    #[inline]
    pub fn check(&self, field: &'static str) -> Result<(), DecodeError> {
        // At least one byte of the window belongs to the message.
        if self.taken - WINDOW >= self.bytes.len() {
            return Err(DecodeError::Truncated {
                field,
                at_bit: self.at_bit(),
            });
        }
        Ok(())
    }

    /// How many bytes the message has; fails if it is not as an encoder writes it.
    pub fn finish(self) -> Result<usize, DecodeError> {
        let (field, at_bit) = ("end", self.at_bit());
        let low = self.window.wrapping_sub(self.code);
        let End { pad, bytes } = End::of(low, self.range);
        let taken = self.taken - WINDOW + bytes;
        if taken > self.bytes.len() {
            return Err(DecodeError::Truncated { field, at_bit });
        }
        let free = u32::MAX >> (8 * bytes);
        match self.code.checked_sub(pad) {
            Some(0..) if self.code - pad <= free => Ok(taken),
            _ => Err(DecodeError::Forbidden {
                field,
                at_bit,
                value: self.window.into(),
            }),
        }
    }

    #[inline]
    fn widen(&mut self) {
        while self.range < NARROW {
            self.range <<= 8;
            self.code <<= 8;
            self.code |= self.take();
        }
    }

    #[inline]
    fn take(&mut self) -> u32 {
        let byte = self.bytes.get(self.taken).copied().unwrap_or_default();
        self.taken += 1;
        self.window = self.window << 8 | u32::from(byte);
        byte.into()
    }
}

/// Bytes that the decoder looks ahead.
const WINDOW: usize = 4;

/// How a message ends: the first number above `low` whose last bytes are 0, so many that whatever takes
/// their place, the number lies in the interval.
struct End {
    /// How far it is above `low`.
    pad: u32,
    /// How many bytes remain.
    bytes: usize,
}

impl End {
    fn of(low: u32, range: u32) -> Self {
        const SHORT: u32 = 1 << 24;
        const LONG: u32 = 1 << 16;
        let pad = low.wrapping_neg() % SHORT;
        if u64::from(pad) + u64::from(SHORT) <= u64::from(range) {
            return Self { pad, bytes: 1 };
        }
        // A range is at least 2^24.
        let pad = low.wrapping_neg() % LONG;
        Self { pad, bytes: 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities and bits that follow no pattern.
    fn decisions(seed: u32, count: u32) -> impl Iterator<Item = (Chance, bool)> {
        let random = move |n: u32| {
            let mut x = (seed ^ n).wrapping_mul(0x9e37_79b9);
            x ^= x >> 15;
            x = x.wrapping_mul(0x85eb_ca6b);
            x ^ x >> 13
        };
        (0..count).map(move |n| {
            let [_, _, low, high] = random(2 * n).to_be_bytes();
            let one = match low % 4 {
                0 => 0,
                1 => Chance::MAX,
                _ => Chance::from_be_bytes([high, low]),
            };
            (one, random(2 * n + 1) & 0xffff < one.into())
        })
    }

    fn encode(seed: u32, count: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = RangeEncoder::new(&mut bytes);
        for (one, bit) in decisions(seed, count) {
            encoder.bit(one, bit);
            encoder.plain(one.into(), 5);
        }
        encoder.finish();
        bytes
    }

    fn decode(seed: u32, count: u32, bytes: &[u8]) -> Result<(bool, usize), DecodeError> {
        let mut decoder = RangeDecoder::new(bytes);
        let mut is_equal = true;
        for (one, bit) in decisions(seed, count) {
            is_equal &= decoder.bit(one) == bit;
            is_equal &= decoder.plain(5) == u32::from(one % 32);
        }
        Ok((is_equal, decoder.finish()?))
    }

    #[test]
    fn what_goes_in_comes_out_whatever_follows() {
        for seed in 0..300 {
            let mut bytes = encode(seed, seed);
            let length = bytes.len();
            for after in [0, 0x55, 0xff] {
                bytes.resize(length, 0);
                bytes.extend([after; 5]);
                assert_eq!(decode(seed, seed, &bytes), Ok((true, length)), "{seed}");
            }
        }
    }

    #[test]
    fn no_message_begins_another() {
        for seed in 0..300 {
            let bytes = encode(seed, 20);
            for length in 0..bytes.len() {
                assert!(decode(seed, 20, &bytes[..length]).is_err(), "{seed}");
            }
        }
    }

    #[test]
    fn only_the_encoders_bytes_are_accepted() {
        for seed in 0..300 {
            let mut bytes = encode(seed, 20);
            for place in 0..bytes.len() * 8 {
                bytes[place / 8] ^= 1 << (place % 8);
                // Other bytes may be another message, of the same or another length.
                if let Ok((is_equal, _)) = decode(seed, 20, &bytes) {
                    assert!(!is_equal, "{seed}");
                }
                bytes[place / 8] ^= 1 << (place % 8);
            }
        }
    }

    #[test]
    fn the_end_takes_at_most_two_bytes() {
        let mut bytes = Vec::new();
        let mut encoder = RangeEncoder::new(&mut bytes);
        for _ in 0..100 {
            encoder.plain(0xab, 8);
        }
        encoder.finish();
        assert!((101..=102).contains(&bytes.len()), "{}", bytes.len());
        let mut none = Vec::new();
        RangeEncoder::new(&mut none).finish();
        assert_eq!(none, [0]);
    }

    #[test]
    fn probable_bits_cost_little() {
        let mut bytes = Vec::new();
        let mut encoder = RangeEncoder::new(&mut bytes);
        for _ in 0..10_000 {
            encoder.bit(65_000, true);
        }
        encoder.finish();
        // 10,000 × 0.0118 bits.
        assert!(bytes.len() <= 17, "{}", bytes.len());
    }

    #[test]
    fn input_past_its_end_is_noticed() {
        let mut decoder = RangeDecoder::new(&[7, 7]);
        let mut read = 0;
        while decoder.check("field").is_ok() {
            decoder.plain(8);
            read += 1;
        }
        assert_eq!(read, 2);
    }
}
