//! The fields that a decoder passed: name, place and value, in order, nested in groups.
//!
//! A reader reports here if it was asked to; `inspect` prints the result. Because the decoder itself
//! reports, what is printed is what was decoded, also for bytes that turn out to be broken: the
//! fields before the fault are there.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Receives what a reader passes.
pub trait Trace {
    /// A group of fields (a message, a record) begins.
    fn open(&mut self, group: &'static str);
    /// A field was read.
    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>);
    /// The protocol's word for the value of the last field.
    fn meaning(&mut self, word: &'static str);
    /// The innermost open group ends.
    fn close(&mut self);
}

/// Where a field lies in the input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// First bit, counted from the start of the input.
    pub at_bit: u32,
    /// How many bits it takes.
    pub bits: u32,
}

/// What a field held.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Value<'a> {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Signed(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            // Debug form: a peer's control characters must not reach a terminal.
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// A trace kept as a list, as `inspect` prints it.
#[derive(Clone, Debug, Default)]
pub struct FieldLog {
    entries: Vec<Entry>,
    depth: usize,
}

/// One line of a [`FieldLog`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// How many groups it stands in.
    pub depth: usize,
    /// The field's or the group's name.
    pub name: &'static str,
    /// Place and printed value of a field; `None` for the line that opens a group.
    pub field: Option<(Place, String)>,
    /// The protocol's word for the value, or empty.
    pub meaning: &'static str,
}

impl FieldLog {
    /// The entries, in the order of the bytes.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl Trace for FieldLog {
    fn open(&mut self, group: &'static str) {
        self.entries.push(Entry {
            depth: self.depth,
            name: group,
            field: None,
            meaning: "",
        });
        self.depth += 1;
    }

    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>) {
        let field = Some((place, value.to_string()));
        self.entries.push(Entry {
            depth: self.depth,
            name,
            field,
            meaning: "",
        });
    }

    fn meaning(&mut self, word: &'static str) {
        if let Some(last) = self.entries.last_mut() {
            last.meaning = word;
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
