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
use super::value::{Kind, Value};
use tickwire_state::Vec3;

/// One state: its place in its schema is its number in bundles.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// What errors and traces call it.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// The states that every object has, in the order of [`BasicState`].
pub const BASIC: [Field; 5] = [
    Field {
        name: "translation",
        kind: Kind::Vec3,
    },
    Field {
        name: "rotation",
        kind: Kind::Quat,
    },
    Field {
        name: "scale",
        kind: Kind::Vec3,
    },
    Field {
        name: "visibility",
        kind: Kind::Bool,
    },
    Field {
        name: "running",
        kind: Kind::Bool,
    },
];

/// A basic state, by its number in bundles.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum BasicState {
    Translation = 0,
    Rotation = 1,
    Scale = 2,
    Visibility = 3,
    Running = 4,
}

impl BasicState {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; BASIC.len()] = [
        Self::Translation,
        Self::Rotation,
        Self::Scale,
        Self::Visibility,
        Self::Running,
    ];
}

/// The basic states of an object that nobody touched.
pub(super) const UNTOUCHED: [Value; 5] = [
    Kind::Vec3.zero(),
    Kind::Quat.zero(),
    Value::Vec3(Vec3::ONE),
    Value::Bool(true),
    Value::Bool(false),
];

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
