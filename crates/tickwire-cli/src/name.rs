//! A player's name, as it is typed.
//!
//! One rule for every protocol, the narrowest one's, so that a name that works anywhere works everywhere and
//! none is cut on its way to others.

use tickwire_demo::is_printable;
use tickwire_demo::limits::NAME_BYTES;

/// The parser of every argument that takes a player's name. Whether somebody without one may watch is for the
/// game to know.
pub(crate) fn parse(typed: &str) -> Result<String, String> {
    if typed.len() > NAME_BYTES {
        return Err(format!(
            "a name has at most {NAME_BYTES} bytes, and this one has {}",
            typed.len()
        ));
    }
    if typed.contains(|letter| !is_printable(letter)) {
        return Err("a name has no control characters, and none that nobody sees".into());
    }
    Ok(typed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_can_be_seen() {
        assert_eq!(parse("Zoë 李白"), Ok("Zoë 李白".into()));
        let long = "é".repeat(17);
        assert!(parse(&long).unwrap_err().contains("this one has 34"));
        assert_eq!(parse(""), Ok(String::new()));
        for unseen in ["a\tb", "a\u{1b}[2J", "A\u{200b}da", "\u{202e}live"] {
            assert!(parse(unseen).unwrap_err().contains("control characters"));
        }
    }
}
