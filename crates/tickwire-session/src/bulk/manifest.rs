//! The list of a server's resources.
//!
//! As text it has a line for each: SHA-256 in hexadecimal, size, name. A client reads it before it
//! fetches anything, so everything that a name could do to a file system, or a size to its memory, is
//! refused here, with the number of the line.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sha2::{Digest, Sha256};

use super::{CONTENT_MAX, RESOURCE_NAME_MAX, RESOURCES_MAX};

/// A SHA-256.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(digits: &str) -> Option<Self> {
        let mut hash = [0; 32];
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        if pairs.len() != hash.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Some(Self(hash))
    }
}

fn nibble(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One resource, as a manifest lists it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Listed {
    /// What it is fetched by: a relative path, `/` between its parts.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// What they hash to.
    pub hash: ContentHash,
}

/// All resources of a server.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Manifest {
    listed: Vec<Listed>,
}

/// A manifest is not one that a client follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ManifestError {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: ManifestFault,
}

/// What is wrong with a line of a manifest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ManifestFault {
    /// It is not text.
    NotText,
    /// It does not begin with 64 hexadecimal digits and a space.
    Hash,
    /// No number and a space follow, or the number is above [`CONTENT_MAX`].
    Size,
    /// The name is not a relative path of at most [`RESOURCE_NAME_MAX`] bytes, or has parts that lead
    /// elsewhere or characters that are not shown.
    Name,
    /// The name was there before.
    Twice,
    /// It is one more than [`RESOURCES_MAX`].
    TooMany,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the manifest: ", self.line)?;
        match self.fault {
            ManifestFault::NotText => f.write_str("not text"),
            ManifestFault::Hash => f.write_str("no SHA-256"),
            ManifestFault::Size => write!(f, "no size up to {CONTENT_MAX}"),
            ManifestFault::Name => f.write_str("not a name for a resource"),
            ManifestFault::Twice => f.write_str("a name that was there before"),
            ManifestFault::TooMany => write!(f, "more than {RESOURCES_MAX} resources"),
        }
    }
}

impl core::error::Error for ManifestError {}

impl Manifest {
    /// Reads the text of a manifest.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestError> {
        let mut manifest = Self::default();
        let mut names = BTreeSet::new();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if text.is_empty() {
            return Ok(manifest);
        }
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let wrong = |fault| ManifestError {
                line: number,
                fault,
            };
            let (hash, size, name) = parse_line(line).map_err(wrong)?;
            if manifest.listed.len() == RESOURCES_MAX {
                return Err(wrong(ManifestFault::TooMany));
            }
            if !names.insert(name) {
                return Err(wrong(ManifestFault::Twice));
            }
            let name = name.into();
            manifest.listed.push(Listed { name, size, hash });
        }
        Ok(manifest)
    }

    /// What it lists, in its order.
    pub fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// The same by value.
    pub fn into_listed(self) -> Vec<Listed> {
        self.listed
    }

    pub(super) fn push(&mut self, listed: Listed) {
        self.listed.push(listed);
    }
}

/// The text of the manifest.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listed
            .iter()
            .try_for_each(|Listed { name, size, hash }| writeln!(f, "{hash} {size} {name}"))
    }
}

fn parse_line(line: &[u8]) -> Result<(ContentHash, u64, &str), ManifestFault> {
    let line = core::str::from_utf8(line).map_err(|_| ManifestFault::NotText)?;
    let (digits, rest) = line.split_once(' ').ok_or(ManifestFault::Hash)?;
    let hash = ContentHash::parse(digits).ok_or(ManifestFault::Hash)?;
    let (size, name) = rest.split_once(' ').ok_or(ManifestFault::Size)?;
    let size = size.parse().map_err(|_| ManifestFault::Size)?;
    if size > CONTENT_MAX {
        return Err(ManifestFault::Size);
    }
    if !is_name(name) {
        return Err(ManifestFault::Name);
    }
    Ok((hash, size, name))
}

/// Whether something can be a resource's name: 1 to [`RESOURCE_NAME_MAX`] bytes that stay within the
/// folder they are put in, on any system, and that a terminal shows as they are.
pub(super) fn is_name(name: &str) -> bool {
    let length = 1..=RESOURCE_NAME_MAX;
    length.contains(&name.len())
        && !name.contains(|c: char| c.is_control() || c == '\\' || c == ':')
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
