//! The name of an entity.

use core::fmt;

/// An entity of a world; the same number on the server and in every replica.
///
/// A field of this type is a reference. It may name what a replica does not hold (not yet, or no longer),
/// which then reads as absent.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntityId(pub u32);

impl EntityId {
    /// No entity.
    pub const NONE: Self = Self(0);

    /// Whether it names no entity.
    pub const fn is_none(self) -> bool {
        self.0 == Self::NONE.0
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
