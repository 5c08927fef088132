//! Paths of databases and levels, relative to wherever the engine keeps its files.
//!
//! They come from a server and end in a client's file system, so they are held to what cannot leave
//! the folder: no absolute path, no way upwards, no second kind of separator.

use tickwire_wire::{DecodeError, display_enum};

use super::Reader;
use super::limits::PATH_MAX;

display_enum! {
    /// Why a path is refused.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum BadPath: Error {
        /// It has no bytes, or more than [`PATH_MAX`].
        Length => "a path must have 1 to {PATH_MAX} bytes",
        /// It begins at the root, or names a drive.
        Absolute => "a path must be relative",
        /// One of its parts is `..`.
        Upwards => "a path must not lead upwards",
        /// It holds a backslash or a control character.
        Character => "a path must not hold a backslash or a control character",
    }
}

/// Fails unless `path` stays below where it starts.
pub(super) fn validate(path: &str) -> Result<(), BadPath> {
    if path.is_empty() || path.len() > PATH_MAX {
        return Err(BadPath::Length);
    }
    if path.contains(|c: char| c == '\\' || c.is_control()) {
        return Err(BadPath::Character);
    }
    let mut parts = path.split('/');
    // `C:` begins at a root too, where drives have letters.
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with('/') || drive {
        return Err(BadPath::Absolute);
    }
    if parts.any(|part| part == "..") {
        return Err(BadPath::Upwards);
    }
    Ok(())
}

/// Reads a path of `length` bytes.
pub(super) fn decode<'a>(
    r: &mut Reader<'a>,
    field: &'static str,
    length: usize,
) -> Result<&'a str, DecodeError> {
    let path = r.text(field, length)?;
    let limit = PATH_MAX as u64;
    match validate(path) {
        Ok(()) => Ok(path),
        Err(BadPath::Length) if length > 0 => Err(r
            .limit(field, length as u64, limit)
            .expect_err("the length was above the limit")),
        Err(why) => {
            r.means(match why {
                BadPath::Length => "empty",
                BadPath::Absolute => "absolute",
                BadPath::Upwards => "leads upwards",
                BadPath::Character => "forbidden character",
            });
            Err(r.refuse(field, length as u64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Result<(), BadPath>) {
        assert_eq!(validate(path), expected, "{path:?}");
    }

    #[test]
    fn relative_paths_pass() {
        for path in ["a.db", "levels/a.lvl", "Ünïcode/x y", "a..b/...", "./a"] {
            check(path, Ok(()));
        }
    }

    #[test]
    fn whatever_leaves_the_folder_does_not() {
        check("", Err(BadPath::Length));
        check(&"a".repeat(PATH_MAX + 1), Err(BadPath::Length));
        check("/etc/passwd", Err(BadPath::Absolute));
        check("c:/windows", Err(BadPath::Absolute));
        for path in ["..", "../a", "a/..", "a/../../b"] {
            check(path, Err(BadPath::Upwards));
        }
        check("a\\b", Err(BadPath::Character));
        check("a\0b", Err(BadPath::Character));
    }
}
