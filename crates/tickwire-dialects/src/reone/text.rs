//! Strings: UTF-8 up to a zero byte.
//!
//! All of them end up before people sooner or later, as names, messages or lines of a log, so none
//! holds a control character, and none is longer than [`STRING_MAX`]. A [`Text`] was found to be so,
//! whether it came from a peer or from our caller; whoever writes one need not look again.

use core::fmt;

use tickwire_wire::DecodeError;

use super::limits::STRING_MAX;
use super::{Reader, Writer};

/// A string that the wire can carry.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Text<'a>(&'a str);

/// Why a string cannot be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadText {
    /// It has more bytes than allowed.
    TooLong,
    /// It holds a control character.
    Character,
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
        let ahead = r.peek(limit + 1);
        let at_bit = bit(r.position());
        let Some(length) = ahead.iter().position(|byte| *byte == 0) else {
            return Err(if ahead.len() > limit {
                DecodeError::TooLong {
                    field,
                    at_bit,
                    length: ahead.len() as u64,
                    limit: limit as u64,
                }
            } else {
                DecodeError::Truncated { field, at_bit }
            });
        };
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

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for BadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a string must have at most {STRING_MAX} bytes"),
            Self::Character => f.write_str("a string must not hold a control character"),
        }
    }
}

impl core::error::Error for BadText {}

/// The bit at which byte `at` begins.
pub(super) fn bit(at: usize) -> u32 {
    u32::try_from(at.saturating_mul(8)).unwrap_or(u32::MAX)
}
