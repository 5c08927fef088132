//! Bytes as people paste them: hexadecimal digits with this and that in between.

use std::fmt;

/// Bytes that were typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

/// Why something is no row of bytes. Places are characters, counted from 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BadHex {
    NotADigit { at: usize, found: char },
    HalfAByte { at: usize, found: char },
}

impl fmt::Display for BadHex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADigit { at, found } => {
                write!(f, "character {at}, {found:?}, is no hexadecimal digit")
            }
            Self::HalfAByte { at, found } => write!(
                f,
                "character {at}, {found:?}, stands alone: a byte has two digits"
            ),
        }
    }
}

impl std::error::Error for BadHex {}

/// Reads bytes of two digits each. Spaces and colons may stand between them, and `0x` before them.
pub(super) fn parse(text: &str) -> Result<Bytes, BadHex> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut characters = (1..).zip(text.chars()).peekable();
    let mut begins = true;
    while let Some((at, first)) = characters.next() {
        if first.is_whitespace() || first == ':' {
            begins = true;
            continue;
        }
        if begins
            && first == '0'
            && characters
                .next_if(|(_, x)| matches!(x, 'x' | 'X'))
                .is_some()
        {
            begins = false;
            continue;
        }
        begins = false;
        let high = digit(at, first)?;
        let half = BadHex::HalfAByte { at, found: first };
        let (at, second) = characters
            .next_if(|(_, next)| !next.is_whitespace() && *next != ':')
            .ok_or(half)?;
        bytes.push(high << 4 | digit(at, second)?);
    }
    Ok(Bytes(bytes))
}

fn digit(at: usize, found: char) -> Result<u8, BadHex> {
    let value = found
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok());
    value.ok_or(BadHex::NotADigit { at, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, bytes: &[u8]) {
        assert_eq!(parse(text), Ok(Bytes(bytes.into())), "{text:?}");
    }

    #[track_caller]
    fn check_refused(text: &str, sentence: &str) {
        assert_eq!(parse(text).unwrap_err().to_string(), sentence, "{text:?}");
    }

    #[test]
    fn what_stands_between_bytes_is_passed_over() {
        for text in [
            "f27087c5",
            "F27087C5",
            "0xf27087c5",
            "f2 70 87 c5",
            "f2:70:87:c5",
            "0xf2 0x70 0x87 0XC5",
            "\tf270\r\n  87c5\n",
        ] {
            check(text, &[0xf2, 0x70, 0x87, 0xc5]);
        }
        check("", &[]);
        check(" 0x ", &[]);
        check("00 0x00", &[0, 0]);
    }

    #[test]
    fn what_is_no_digit_is_pointed_at() {
        check_refused("f2g0", "character 3, 'g', is no hexadecimal digit");
        check_refused("f2 7é", "character 5, 'é', is no hexadecimal digit");
        check_refused("f20x70", "character 4, 'x', is no hexadecimal digit");
        check_refused("f2,70", "character 3, ',', is no hexadecimal digit");
    }

    #[test]
    fn half_a_byte_is_pointed_at() {
        let alone = "stands alone: a byte has two digits";
        check_refused("f27", &format!("character 3, '7', {alone}"));
        check_refused("f2:7:80", &format!("character 4, '7', {alone}"));
        check_refused("0xf", &format!("character 3, 'f', {alone}"));
    }
}
