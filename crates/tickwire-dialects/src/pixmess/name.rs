//! What a player may be called.
//!
//! Both sides ask here: a client before it connects, so that its user is told at once, and a server of
//! whatever it is sent.

use tickwire_wire::display_enum;

use super::Version;
use super::limits::NAME_MAX;

display_enum! {
    /// Why nobody can be called that.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum BadName: Error {
        /// It is empty, and version 1 has no spectators.
        Empty => "a name must not be empty",
        /// It has more than [`NAME_MAX`] bytes.
        TooLong => "a name has at most {NAME_MAX} bytes",
        /// There is a control character in it.
        Control => "a name has no control characters",
    }
}

impl BadName {
    /// Fails if a player of this version cannot have the name.
    pub(super) fn check(version: Version, name: &str) -> Result<(), Self> {
        if name.is_empty() && version == Version::One {
            Err(Self::Empty)
        } else if name.len() > NAME_MAX {
            Err(Self::TooLong)
        } else if name.chars().any(char::is_control) {
            Err(Self::Control)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: Version, name: &str, expected: Result<(), BadName>) {
        assert_eq!(BadName::check(version, name), expected, "{name:?}");
    }

    #[test]
    fn a_name_has_1_to_32_bytes_of_text() {
        for version in [Version::One, Version::Two] {
            check(version, "a", Ok(()));
            check(version, "n23456789 123456789 123456789 12", Ok(()));
            check(version, "éééééééééééééééé", Ok(()));
            check(version, "ééééééééééééééééé", Err(BadName::TooLong));
            for name in ["a\tb", "a\u{7f}b", "a\u{85}b"] {
                check(version, name, Err(BadName::Control));
            }
        }
    }

    #[test]
    fn only_version_2_has_spectators() {
        check(Version::One, "", Err(BadName::Empty));
        check(Version::Two, "", Ok(()));
    }
}
