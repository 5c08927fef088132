//! Reading whole bytes, field by field.
//!
//! In: bytes from a peer that nobody trusts. Out: numbers, strings and slices of the input, or an
//! error that names the field. Nothing is copied or allocated. Every read names its field, which is
//! what errors and traces show.

use core::fmt;
use core::marker::PhantomData;

use crate::{DecodeError, Endian, Place, Trace, Value};

/// A cursor over bytes of byte order `E`.
pub struct Reader<'a, E> {
    bytes: &'a [u8],
    at: usize,
    /// Where the field read last begins: what [`Reader::refuse`] points at.
    last: usize,
    trace: Option<&'a mut dyn Trace>,
    order: PhantomData<E>,
}

impl<'a, E: Endian> Reader<'a, E> {
    /// Reads `bytes` from their start.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            last: 0,
            trace: None,
            order: PhantomData,
        }
    }

    /// Reads `bytes` and tells `trace` every field.
    pub const fn traced(bytes: &'a [u8], trace: &'a mut dyn Trace) -> Self {
        Self {
            bytes,
            at: 0,
            last: 0,
            trace: Some(trace),
            order: PhantomData,
        }
    }

    /// Reads all of `bytes`: what `fields` leaves over is an error.
    pub fn read_all<T>(
        bytes: &'a [u8],
        fields: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let mut r = Self::new(bytes);
        let value = fields(&mut r)?;
        r.finish()?;
        Ok(value)
    }

    /// How many bytes were read.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Whether every byte was read.
    pub const fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// Whether somebody watches, so that work done only for the trace can be spared.
    pub const fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// Up to `length` of the bytes to come, without reading them.
    pub fn peek(&self, length: usize) -> &'a [u8] {
        let ahead = self.bytes.get(self.at..).unwrap_or_default();
        ahead.get(..length).unwrap_or(ahead)
    }

    /// Fails unless every byte was read.
    pub const fn finish(&self) -> Result<(), DecodeError> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::Trailing {
                at_bit: bit(self.at),
            })
        }
    }

    /// Reads a `u8`.
    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        let [value] = self.array(field)?;
        self.note(field, 1, Value::Unsigned(value.into()));
        Ok(value)
    }

    /// Reads a `u16`.
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        let bytes: [u8; 2] = self.array(field)?;
        let value = E::u16(bytes);
        self.note(field, 2, Value::Unsigned(value.into()));
        Ok(value)
    }

    /// Reads a `u32`.
    #[inline]
    pub fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let bytes: [u8; 4] = self.array(field)?;
        let value = E::u32(bytes);
        self.note(field, 4, Value::Unsigned(value.into()));
        Ok(value)
    }

    /// Reads a `u64`.
    #[inline]
    pub fn u64(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        let bytes: [u8; 8] = self.array(field)?;
        let value = E::u64(bytes);
        self.note(field, 8, Value::Unsigned(value));
        Ok(value)
    }

    /// Reads a `u32` of 1 to 5 bytes: 7 bits a byte, the lowest first, the high bit set in all but the
    /// last. A number has one form: a last byte of 0 after others is refused.
    #[inline]
    pub fn varint(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let (mut value, mut length) = (0_u64, 0);
        loop {
            let Some(&byte) = self.bytes.get(self.at + length) else {
                return Err(self.truncated(field));
            };
            value |= u64::from(byte & 0x7f) << (7 * length);
            length += 1;
            if byte & 0x80 == 0 || length == VARINT_BYTES {
                self.last = self.at;
                // A fifth byte above 15 makes it too large, its high bit included.
                let fits = u32::try_from(value).ok().filter(|_| byte & 0x80 == 0);
                let value = match fits {
                    Some(value) if byte != 0 || length == 1 => value,
                    _ => return Err(self.refuse(field, value)),
                };
                self.at += length;
                self.note(field, length, Value::Unsigned(value.into()));
                return Ok(value);
            }
        }
    }

    /// Reads an `i8`.
    #[inline]
    pub fn i8(&mut self, field: &'static str) -> Result<i8, DecodeError> {
        let [byte] = self.array(field)?;
        let value = byte.cast_signed();
        self.note(field, 1, Value::Signed(value.into()));
        Ok(value)
    }

    /// Reads an `i16`.
    #[inline]
    pub fn i16(&mut self, field: &'static str) -> Result<i16, DecodeError> {
        let bytes: [u8; 2] = self.array(field)?;
        let value = E::u16(bytes).cast_signed();
        self.note(field, 2, Value::Signed(value.into()));
        Ok(value)
    }

    /// Reads an `i32`.
    #[inline]
    pub fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        let bytes: [u8; 4] = self.array(field)?;
        let value = E::u32(bytes).cast_signed();
        self.note(field, 4, Value::Signed(value.into()));
        Ok(value)
    }

    /// Reads an `f32`, whatever its bits: NaN is the protocol's to refuse.
    #[inline]
    pub fn f32(&mut self, field: &'static str) -> Result<f32, DecodeError> {
        let bytes: [u8; 4] = self.array(field)?;
        let value = f32::from_bits(E::u32(bytes));
        self.note(field, 4, Value::Float(value.into()));
        Ok(value)
    }

    /// Reads an `f64`, whatever its bits.
    #[inline]
    pub fn f64(&mut self, field: &'static str) -> Result<f64, DecodeError> {
        let bytes: [u8; 8] = self.array(field)?;
        let value = f64::from_bits(E::u64(bytes));
        self.note(field, 8, Value::Float(value));
        Ok(value)
    }

    /// Takes the next `length` bytes.
    #[inline]
    pub fn bytes(&mut self, field: &'static str, length: usize) -> Result<&'a [u8], DecodeError> {
        let taken = self.take(field, length)?;
        self.note(field, length, Value::Bytes(taken));
        Ok(taken)
    }

    /// Takes the next `length` bytes as UTF-8.
    pub fn text(&mut self, field: &'static str, length: usize) -> Result<&'a str, DecodeError> {
        let taken = self.take(field, length)?;
        let Ok(text) = core::str::from_utf8(taken) else {
            self.note(field, length, Value::Bytes(taken));
            return Err(DecodeError::NotUtf8 {
                field,
                at_bit: bit(self.last),
            });
        };
        self.note(field, length, Value::Text(text));
        Ok(text)
    }

    /// Takes `count` records of `size` bytes each as one slice, after checking that they are all
    /// there: the bound to check before anything is allocated for them.
    ///
    /// Nothing is traced; a traced reader's caller walks the records itself.
    #[inline]
    pub fn records(
        &mut self,
        field: &'static str,
        count: u8,
        size: usize,
    ) -> Result<&'a [u8], DecodeError> {
        self.take(field, usize::from(count) * size)
    }

    /// Fails if `length`, which was read last, is above `limit`.
    pub const fn limit(
        &self,
        field: &'static str,
        length: u64,
        limit: u64,
    ) -> Result<(), DecodeError> {
        if length > limit {
            return Err(DecodeError::TooLong {
                field,
                at_bit: bit(self.last),
                length,
                limit,
            });
        }
        Ok(())
    }

    /// The error for a forbidden `value` in the field that was read last.
    pub const fn refuse(&self, field: &'static str, value: u64) -> DecodeError {
        DecodeError::Forbidden {
            field,
            at_bit: bit(self.last),
            value,
        }
    }

    /// Tells the trace what the value read last is called.
    #[inline]
    pub fn means(&mut self, word: &'static str) {
        if let Some(trace) = &mut self.trace {
            trace.meaning(word);
        }
    }

    /// Reads with `read` inside a group that the trace shows.
    #[inline]
    pub fn group<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if let Some(trace) = &mut self.trace {
            trace.open(name);
        }
        let result = read(self);
        if let Some(trace) = &mut self.trace {
            trace.close();
        }
        result
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let array = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>);
        let Some(&array) = array else {
            return Err(self.truncated(field));
        };
        self.last = self.at;
        self.at += N;
        Ok(array)
    }

    #[inline]
    fn take(&mut self, field: &'static str, length: usize) -> Result<&'a [u8], DecodeError> {
        let taken = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.get(..length));
        let Some(taken) = taken else {
            return Err(self.truncated(field));
        };
        self.last = self.at;
        self.at += length;
        Ok(taken)
    }

    #[cold]
    const fn truncated(&self, field: &'static str) -> DecodeError {
        DecodeError::Truncated {
            field,
            at_bit: bit(self.at),
        }
    }

    /// Reports the field that ends at the cursor.
    #[inline]
    fn note(&mut self, field: &'static str, length: usize, value: Value<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.field(
                field,
                Place {
                    at_bit: bit(self.last),
                    bits: bit(length),
                },
                value,
            );
        }
    }
}

impl<E> fmt::Debug for Reader<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("at", &self.at)
            .field("length", &self.bytes.len())
            .field("traced", &self.trace.is_some())
            .finish()
    }
}

/// The longest a `u32` gets at 7 bits a byte.
const VARINT_BYTES: usize = 5;

/// The bit at which byte `at` begins; inputs above 512 MiB all read as the last bit.
#[expect(clippy::cast_possible_truncation, reason = "clamped to u32::MAX")]
const fn bit(at: usize) -> u32 {
    let bit = at.saturating_mul(8);
    if bit > u32::MAX as usize {
        u32::MAX
    } else {
        bit as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigEndian, FieldLog, LittleEndian};

    #[test]
    fn byte_order_is_the_type() {
        assert_eq!(
            Reader::<BigEndian>::new(&[1, 2, 3, 4]).u32("n"),
            Ok(0x0102_0304)
        );
        assert_eq!(
            Reader::<LittleEndian>::new(&[1, 2, 3, 4]).u32("n"),
            Ok(0x0403_0201)
        );
        assert_eq!(Reader::<BigEndian>::new(&[0xff, 0xfe]).i16("n"), Ok(-2));
    }

    #[test]
    fn a_failed_read_moves_nothing() {
        let mut r = Reader::<BigEndian>::new(&[1, 2, 3]);
        assert!(r.u32("wide").is_err());
        assert_eq!(r.bytes("rest", 3), Ok(&[1, 2, 3][..]));
        assert_eq!(r.finish(), Ok(()));
    }

    #[test]
    fn an_absurd_length_is_truncation_not_overflow() {
        let mut r = Reader::<BigEndian>::new(&[1, 2, 3]);
        r.u8("one").unwrap();
        assert_eq!(
            r.bytes("blob", usize::MAX),
            Err(DecodeError::Truncated {
                field: "blob",
                at_bit: 8
            })
        );
    }

    #[test]
    fn a_varint_has_one_form() {
        let varint = |bytes| Reader::<LittleEndian>::read_all(bytes, |r| r.varint("n"));
        assert_eq!(varint(&[0]), Ok(0));
        assert_eq!(varint(&[0xac, 0x02]), Ok(300));
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
        for refused in [
            &[0x80, 0x00][..],
            &[0xff, 0xff, 0xff, 0xff, 0x10],
            &[0x80, 0x80, 0x80, 0x80, 0x81, 0x00],
        ] {
            let got = varint(refused);
            assert!(
                matches!(
                    got,
                    Err(DecodeError::Forbidden {
                        field: "n",
                        at_bit: 0,
                        ..
                    })
                ),
                "{got:?}"
            );
        }
        assert!(matches!(
            varint(&[0x80]),
            Err(DecodeError::Truncated { .. })
        ));
    }

    #[test]
    fn surplus_bytes_are_pointed_at() {
        let mut r = Reader::<BigEndian>::new(&[1, 2]);
        r.u8("one").unwrap();
        assert_eq!(r.finish(), Err(DecodeError::Trailing { at_bit: 8 }));
        let one = |bytes| Reader::<BigEndian>::read_all(bytes, |r| r.u8("one"));
        assert_eq!(one(&[1, 2]), Err(DecodeError::Trailing { at_bit: 8 }));
        assert_eq!(one(&[1]), Ok(1));
    }

    #[test]
    fn the_trace_shows_what_was_read_before_the_fault() {
        let mut log = FieldLog::default();
        let mut r = Reader::<BigEndian>::traced(&[7, b'h', 0xff, 9], &mut log);
        let failed = r.group("Chat", |r| {
            r.u8("id")?;
            r.means("seven");
            r.text("text", 2)
        });
        assert_eq!(
            failed,
            Err(DecodeError::NotUtf8 {
                field: "text",
                at_bit: 8
            })
        );
        let lines: alloc::vec::Vec<_> = log
            .entries()
            .iter()
            .map(|e| {
                (
                    e.depth,
                    e.name,
                    e.field.as_ref().map(|f| f.1.as_str()),
                    e.meaning,
                )
            })
            .collect();
        assert_eq!(
            lines,
            [
                (0, "Chat", None, ""),
                (1, "id", Some("7"), "seven"),
                (1, "text", Some("68ff"), "")
            ]
        );
    }
}
