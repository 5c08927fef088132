//! The manifest: which resources a module has, with the size and the hash of each.
//!
//! It is text, a line for each resource: 64 hexadecimal digits of its SHA-256, its size in decimal, its
//! name, with one space between. Names end in a client's file system, so none can lead out of the
//! folder that it is put into.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt;

use tickwire_wire::DecodeError;

use super::Reader;
use super::limits::{MANIFEST_ENTRIES, MANIFEST_MAX, STRING_MAX};
use super::text::bit;

/// The name that the manifest itself is fetched by; it lists everything but itself.
pub const MANIFEST: &str = "manifest";

/// The name of the base.
pub const BASE: &str = "base";

/// The resources of a module, by name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Manifest {
    resources: BTreeMap<Box<str>, Resource>,
}

/// What is known of a resource besides its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resource {
    /// The SHA-256 of its bytes.
    pub hash: [u8; 32],
    /// How many bytes it has.
    pub size: u64,
}

/// Why a resource cannot be listed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadName {
    /// It has no bytes, or more than [`STRING_MAX`].
    Length,
    /// It begins at the root, or names a drive.
    Absolute,
    /// One of its parts is `..`.
    Upwards,
    /// It holds a backslash or a control character.
    Character,
    /// It is the manifest's own.
    Reserved,
    /// It is listed already.
    Twice,
    /// The manifest is full.
    TooMany,
}

impl Manifest {
    /// Adds a resource.
    pub fn insert(&mut self, name: &str, resource: Resource) -> Result<(), BadName> {
        check_name(name)?;
        if self.resources.contains_key(name) {
            return Err(BadName::Twice);
        }
        if self.resources.len() == MANIFEST_ENTRIES {
            return Err(BadName::TooMany);
        }
        self.resources.insert(name.into(), resource);
        Ok(())
    }

    /// The resource of this name.
    pub fn find(&self, name: &str) -> Option<&Resource> {
        self.resources.get(name)
    }

    /// The resources, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Resource)> {
        self.resources
            .iter()
            .map(|(name, resource)| (&**name, resource))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The text, in the order of the names.
    pub fn encode(&self) -> String {
        let line = |(name, resource): (&str, &Resource)| {
            let digit = |digit| char::from_digit(u32::from(digit), 16);
            let hash = resource.hash.iter();
            let hash = hash.flat_map(|byte| [byte >> 4, byte & 15]);
            let hash: String = hash.filter_map(digit).collect();
            format!("{hash} {} {name}\n", resource.size)
        };
        self.iter().map(line).collect()
    }

    /// Reads the text.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::decode_from(&mut Reader::new(bytes))
    }

    /// Reads the text to its end.
    pub(super) fn decode_from(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = r.remaining();
        r.limit("manifest", length as u64, MANIFEST_MAX as u64)?;
        let mut manifest = Self::default();
        while !r.is_empty() {
            r.group("resource", |r| manifest.decode_line(r))?;
        }
        Ok(manifest)
    }

    fn decode_line(&mut self, r: &mut Reader<'_>) -> Result<(), DecodeError> {
        let hash = hash(r.text("sha256", 64)?).ok_or_else(|| r.refuse("sha256", 0))?;
        separator(r, b' ')?;
        let digits = up_to(r, "size", b' ', SIZE_DIGITS)?;
        // `parse` would also take a sign.
        let size = digits.bytes().all(|digit| digit.is_ascii_digit());
        let size = digits.parse().ok().filter(|_| size);
        let size = size.ok_or_else(|| r.refuse("size", 0))?;
        separator(r, b' ')?;
        let name = up_to(r, "name", b'\n', STRING_MAX)?;
        self.insert(name, Resource { hash, size }).map_err(|why| {
            r.means(why.name());
            r.refuse("name", name.len() as u64)
        })?;
        separator(r, b'\n')
    }
}

/// Digits of the largest size.
const SIZE_DIGITS: usize = 20;

/// Fails unless a file of this name stays in its folder.
fn check_name(name: &str) -> Result<(), BadName> {
    if name.is_empty() || name.len() > STRING_MAX {
        return Err(BadName::Length);
    }
    if name.contains(|c: char| c == '\\' || c.is_control()) {
        return Err(BadName::Character);
    }
    // `C:` begins at a root too, where drives have letters.
    if name.starts_with('/') || name.as_bytes().get(1) == Some(&b':') {
        return Err(BadName::Absolute);
    }
    if name.split('/').any(|part| part == "..") {
        return Err(BadName::Upwards);
    }
    if name == MANIFEST {
        return Err(BadName::Reserved);
    }
    Ok(())
}

fn hash(digits: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    let digit = |digit: u8| char::from(digit).to_digit(16);
    for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().as_chunks().0) {
        let [high, low] = *pair;
        *byte = u8::try_from(digit(high)? << 4 | digit(low)?).ok()?;
    }
    Some(hash)
}

/// The text before the next `end`, of at most `limit` bytes.
fn up_to<'a>(
    r: &mut Reader<'a>,
    field: &'static str,
    end: u8,
    limit: usize,
) -> Result<&'a str, DecodeError> {
    let ahead = r.peek(limit + 1);
    let at_bit = bit(r.position());
    match ahead.iter().position(|byte| *byte == end) {
        Some(length) => r.text(field, length),
        None if ahead.len() > limit => Err(DecodeError::TooLong {
            field,
            at_bit,
            length: ahead.len() as u64,
            limit: limit as u64,
        }),
        None => Err(DecodeError::Truncated { field, at_bit }),
    }
}

fn separator(r: &mut Reader<'_>, expected: u8) -> Result<(), DecodeError> {
    match r.u8("separator")? {
        byte if byte == expected => Ok(()),
        other => Err(r.refuse("separator", other.into())),
    }
}

impl BadName {
    const fn name(self) -> &'static str {
        match self {
            Self::Length => "empty or too long",
            Self::Absolute => "absolute",
            Self::Upwards => "leads upwards",
            Self::Character => "forbidden character",
            Self::Reserved => "the manifest itself",
            Self::Twice => "listed twice",
            Self::TooMany => "too many resources",
        }
    }
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the resource cannot be listed: {}", self.name())
    }
}

impl core::error::Error for BadName {}
