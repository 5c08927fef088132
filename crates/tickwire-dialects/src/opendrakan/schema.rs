//! Which states an object has.
//!
//! Five basic states belong to every object. Extra states belong to its class, and both sides must
//! agree on them beforehand: nothing on the wire tells how many there are, or of what kind. The
//! [`Registry`] is that agreement.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::fmt;

use super::ClassId;
use super::limits::BUNDLE_MAX;
use super::value::Kind;

/// One state: its place in its schema is its number in bundles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// What errors and traces call it.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// The states that every object has, by their numbers in bundles.
pub const BASIC: [Field; 5] = [
    Field::new("translation", Kind::Vec3),
    Field::new("rotation", Kind::Quat),
    Field::new("scale", Kind::Vec3),
    Field::new("visibility", Kind::Bool),
    Field::new("running", Kind::Bool),
];

/// The number of the basic state that says where an object is.
pub const TRANSLATION: usize = 0;
/// How it is turned.
pub const ROTATION: usize = 1;
/// How large it is.
pub const SCALE: usize = 2;
/// Whether it is to be seen.
pub const VISIBILITY: usize = 3;
/// Whether it acts.
pub const RUNNING: usize = 4;

impl Field {
    /// A state of this name and kind.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }
}

/// The extra states of a class, in the order of their numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Schema {
    fields: Arc<[Field]>,
}

/// A schema whose states do not fit one bundle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLarge {
    /// Bytes of a bundle with all its states.
    pub bytes: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes } = self;
        write!(
            f,
            "all states together have {bytes} bytes, at most {BUNDLE_MAX} are allowed"
        )
    }
}

impl core::error::Error for TooLarge {}

impl Schema {
    /// A schema of these states.
    pub fn new(fields: &[Field]) -> Result<Self, TooLarge> {
        let pairs = fields.len().div_ceil(super::bundle::STATES_PER_PAIR).max(1);
        // Counting a byte for each boolean is more than they take.
        let bytes = pairs * 2 + fields.iter().map(|field| field.kind.size()).sum::<usize>();
        if bytes > BUNDLE_MAX {
            return Err(TooLarge { bytes });
        }
        Ok(Self {
            fields: fields.into(),
        })
    }

    /// The states.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}

/// The extra states of every class.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    classes: BTreeMap<ClassId, Schema>,
}

impl Registry {
    /// No class is known.
    pub const fn new() -> Self {
        Self {
            classes: BTreeMap::new(),
        }
    }

    /// Makes a class known, or changes it. Both sides must do the same before they talk.
    pub fn register(&mut self, class: ClassId, schema: Schema) {
        self.classes.insert(class, schema);
    }

    /// The extra states of a class; `None` if nobody registered it.
    pub fn schema(&self, class: ClassId) -> Option<&Schema> {
        self.classes.get(&class)
    }
}
