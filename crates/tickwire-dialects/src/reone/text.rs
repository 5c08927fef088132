//! Strings: UTF-8 up to a zero byte.
//!
//! All of them end up before people sooner or later, as names, messages or lines of a log, so none
//! holds a control character, and none is longer than [`STRING_MAX`]. A [`Text`] was found to be so,
//! whether it came from a peer or from our caller; whoever writes one need not look again. A [`Remark`]
//! is made harmless when it is shown: a reason is worth more than its punctuation.

use core::fmt;

use tickwire_wire::{DecodeError, Field, LittleEndian, display_enum};

use super::limits::STRING_MAX;
use super::{Reader, Writer};

/// A string that the wire can carry.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Text<'a>(&'a str);

display_enum! {
    /// Why a string cannot be sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum BadText: Error {
        /// It has more bytes than allowed.
        TooLong => "a string must have at most {STRING_MAX} bytes",
        /// It holds a control character.
        Character => "a string must not hold a control character",
    }
}

impl<'a> Text<'a> {
    /// No characters.
    pub const EMPTY: Self = Self("");

    /// Takes a string if it can be sent.
    pub fn new(text: &'a str) -> Result<Self, BadText> {
        if text.len() > STRING_MAX {
            return Err(BadText::TooLong);
        }
        if text.contains(char::is_control) {
            return Err(BadText::Character);
        }
        Ok(Self(text))
    }

    /// A string of the protocol's own.
    pub(super) const fn from_static(text: &'static str) -> Text<'static> {
        Text(text)
    }

    /// The string.
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// Bytes on the wire, with the end.
    pub const fn encoded(self) -> usize {
        self.0.len() + 1
    }

    /// Reads a string and its end.
    pub fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, DecodeError> {
        Self::decode_within(r, field, STRING_MAX)
    }

    /// Reads a string of at most `limit` bytes, and its end.
    pub(super) fn decode_within(
        r: &mut Reader<'a>,
        field: &'static str,
        limit: usize,
    ) -> Result<Self, DecodeError> {
        let length = string_ahead(r, field, limit)?.len();
        let text = r.text(field, length)?;
        if let Some(character) = text.chars().find(|c| c.is_control()) {
            return Err(r.refuse(field, u32::from(character).into()));
        }
        r.u8("end of string")?;
        Ok(Self(text))
    }

    /// Writes the string and its end.
    pub fn encode(self, w: &mut Writer<'_>) {
        w.bytes(self.0.as_bytes());
        w.u8(0);
    }
}

impl<'a> Field<'a, LittleEndian> for Text<'a> {
    fn read(r: &mut Reader<'a>, field: &'static str) -> Result<Self, DecodeError> {
        Self::decode(r, field)
    }

    fn write(&self, w: &mut Writer<'_>) {
        self.encode(w);
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Words for a person, as a peer wrote them: any bytes but zero.
///
/// Whoever shows them goes through [`Display`](fmt::Display), where control characters and what is not
/// UTF-8 become U+FFFD.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Remark<'a>(&'a [u8]);

impl<'a> Remark<'a> {
    /// Takes bytes if they can be sent.
    pub fn new(bytes: &'a [u8]) -> Result<Self, BadText> {
        match bytes {
            _ if bytes.len() > STRING_MAX => Err(BadText::TooLong),
            _ if bytes.contains(&0) => Err(BadText::Character),
            _ => Ok(Self(bytes)),
        }
    }

    /// A remark of the protocol's own.
    pub(super) const fn from_static(text: &'static str) -> Remark<'static> {
        Remark(text.as_bytes())
    }
}

impl<'a> Field<'a, LittleEndian> for Remark<'a> {
    fn read(r: &mut Reader<'a>, field: &'static str) -> Result<Self, DecodeError> {
        let bytes = string_ahead(r, field, STRING_MAX)?;
        // A trace shows text where it is text.
        match core::str::from_utf8(bytes) {
            Ok(_) => r.text(field, bytes.len()).map(|_| ())?,
            Err(_) => r.bytes(field, bytes.len()).map(|_| ())?,
        }
        r.u8("end of string")?;
        Ok(Self(bytes))
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.bytes(self.0);
        w.u8(0);
    }
}

impl<'a> From<Text<'a>> for Remark<'a> {
    fn from(text: Text<'a>) -> Self {
        Self(text.0.as_bytes())
    }
}

impl fmt::Display for Remark<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                f.write_char(match character.is_control() {
                    true => char::REPLACEMENT_CHARACTER,
                    false => character,
                })?;
            }
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

/// The bytes of the next string, without its end, which is not passed.
fn string_ahead<'a>(
    r: &Reader<'a>,
    field: &'static str,
    limit: usize,
) -> Result<&'a [u8], DecodeError> {
    let ahead = r.peek(limit + 1);
    let at_bit = bit(r.position());
    let end = ahead.iter().position(|byte| *byte == 0);
    end.and_then(|end| ahead.get(..end))
        .ok_or(if ahead.len() > limit {
            DecodeError::TooLong {
                field,
                at_bit,
                length: ahead.len() as u64,
                limit: limit as u64,
            }
        } else {
            DecodeError::Truncated { field, at_bit }
        })
}

/// The bit at which byte `at` begins.
pub(super) fn bit(at: usize) -> u32 {
    u32::try_from(at.saturating_mul(8)).unwrap_or(u32::MAX)
}
