//! The fields that a decoder passed, with their values as they were.

use tickwire_wire::{Place, Trace, Value};

/// Every field and group, in the order of the bytes.
#[derive(Debug, Default)]
pub(super) struct Fields {
    entries: Vec<Entry>,
    depth: usize,
}

#[derive(Debug)]
pub(super) struct Entry {
    /// How many groups it stands in.
    pub(super) depth: usize,
    pub(super) name: &'static str,
    /// Where a field is and what it holds; `None` for the line that opens a group.
    pub(super) field: Option<(Place, Held)>,
    /// The protocol's word for the value, or empty.
    pub(super) meaning: &'static str,
}

/// A value that outlives the bytes.
#[derive(Debug)]
pub(super) enum Held {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Held {
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Unsigned(value) => Value::Unsigned(*value),
            Self::Signed(value) => Value::Signed(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

impl Fields {
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn push(&mut self, name: &'static str, field: Option<(Place, Held)>) {
        self.entries.push(Entry {
            depth: self.depth,
            name,
            field,
            meaning: "",
        });
    }
}

impl Trace for Fields {
    fn open(&mut self, group: &'static str) {
        self.push(group, None);
        self.depth += 1;
    }

    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>) {
        let held = match value {
            Value::Unsigned(value) => Held::Unsigned(value),
            Value::Signed(value) => Held::Signed(value),
            Value::Float(value) => Held::Float(value),
            Value::Text(text) => Held::Text(text.into()),
            Value::Bytes(bytes) => Held::Bytes(bytes.into()),
        };
        self.push(name, Some((place, held)));
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
