//! What was wrong with a peer's bytes, and where.
//!
//! One small `Copy` value: a flood of bad datagrams costs no allocation. It is counted and dropped,
//! or ends a stream; a person sees it through `inspect` and the log.

use core::fmt;

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The input ended before the named field was complete.
    Truncated {
        /// The field that was cut.
        field: &'static str,
        /// Where the field begins.
        at_bit: u32,
    },
    /// A field holds a value that its specification forbids.
    Forbidden {
        /// The field.
        field: &'static str,
        /// Where it begins.
        at_bit: u32,
        /// What it held; signed values are sign-extended.
        value: u64,
    },
    /// A length or count is above its limit.
    TooLong {
        /// The field whose length it is.
        field: &'static str,
        /// Where the length stands.
        at_bit: u32,
        /// The length that was announced.
        length: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// A string is not UTF-8.
    NotUtf8 {
        /// The string.
        field: &'static str,
        /// Where its first byte stands.
        at_bit: u32,
    },
    /// Bytes follow where the message should end.
    Trailing {
        /// Where the surplus begins.
        at_bit: u32,
    },
}

impl DecodeError {
    /// Where in the input the trouble begins.
    pub const fn at_bit(self) -> u32 {
        match self {
            Self::Truncated { at_bit, .. }
            | Self::Forbidden { at_bit, .. }
            | Self::TooLong { at_bit, .. }
            | Self::NotUtf8 { at_bit, .. }
            | Self::Trailing { at_bit } => at_bit,
        }
    }

    /// The same trouble in a part that begins `bits` behind the start of the whole.
    #[must_use]
    pub const fn behind(mut self, bits: u32) -> Self {
        match &mut self {
            Self::Truncated { at_bit, .. }
            | Self::Forbidden { at_bit, .. }
            | Self::TooLong { at_bit, .. }
            | Self::NotUtf8 { at_bit, .. }
            | Self::Trailing { at_bit } => *at_bit = at_bit.saturating_add(bits),
        }
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { field, .. } => write!(f, "input ends inside {field}")?,
            Self::Forbidden { field, value, .. } => write!(f, "{field} may not be {value}")?,
            Self::TooLong {
                field,
                length,
                limit,
                ..
            } => {
                write!(f, "{field} announces {length}, at most {limit} is allowed")?;
            }
            Self::NotUtf8 { field, .. } => write!(f, "{field} is not UTF-8")?,
            Self::Trailing { .. } => write!(f, "bytes follow the end of the message")?,
        }
        match (self.at_bit() / 8, self.at_bit() % 8) {
            (byte, 0) => write!(f, " (at byte {byte})"),
            (byte, bit) => write!(f, " (at byte {byte}, bit {bit})"),
        }
    }
}

impl core::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_sentence_names_field_and_place() {
        let error = DecodeError::TooLong {
            field: "name",
            at_bit: 136,
            length: 40,
            limit: 32,
        };
        assert_eq!(
            error.to_string(),
            "name announces 40, at most 32 is allowed (at byte 17)"
        );
        let error = DecodeError::Truncated {
            field: "yaw",
            at_bit: 11,
        };
        assert_eq!(
            error.to_string(),
            "input ends inside yaw (at byte 1, bit 3)"
        );
    }
}
