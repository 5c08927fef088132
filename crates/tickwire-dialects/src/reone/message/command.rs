//! Commands: what begins at a moment and runs its course at the client.
//!
//! Each names its moment by the snapshot of that time. The same command comes more than once, at once
//! and in snapshots; telling copies from others is the receiver's.

use tickwire_state::Vec3;
use tickwire_wire::{LittleEndian, fields, number_fields};

use crate::reone::delta::Field;
use crate::reone::{ObjectId, SnapshotSeq, Text};

/// A shot. Its moment and place together tell it from others.
#[derive(Clone, Copy, Debug)]
pub struct Ballistics {
    /// What kind of shot; the game's number.
    pub kind: u8,
    /// Where it began.
    pub origin: Vec3,
    /// When it began.
    pub at: SnapshotSeq,
    /// Who shot.
    pub owner: ObjectId,
    /// Which way it flies, in radians.
    pub heading: f32,
}

/// An object begins an animation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PlayAnimation<'a> {
    /// Which object.
    pub id: ObjectId,
    /// When.
    pub at: SnapshotSeq,
    /// How; the game's bits.
    pub flags: u32,
    /// How fast.
    pub speed: Speed,
    /// Which animation.
    pub resref: Text<'a>,
}

/// An effect begins at an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VisualEffect<'a> {
    /// Which object.
    pub id: ObjectId,
    /// When.
    pub at: SnapshotSeq,
    /// Which effect.
    pub resref: Text<'a>,
}

/// How fast an animation plays, in parts of 65,536 of its own speed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Speed(pub u32);

impl Speed {
    /// The animation's own speed.
    pub const NORMAL: Self = Self(1 << 16);

    /// `factor` times as fast, as far as the number goes.
    #[must_use]
    pub const fn times(self, factor: u32) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

fields!(Ballistics in LittleEndian {
    kind: "kind", origin: "origin", at: "timestamp", owner: "owner", heading: "heading",
});
fields!(PlayAnimation<'a> in LittleEndian {
    id: "id", at: "timestamp", flags: "flags", speed: "speed", resref: "resref",
});
fields!(VisualEffect<'a> in LittleEndian { id: "id", at: "timestamp", resref: "resref" });
number_fields!(Speed(u32));

impl PartialEq for Ballistics {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.at, self.owner) == (other.kind, other.at, other.owner)
            && self.origin.is_same(&other.origin)
            && self.heading.is_same(&other.heading)
    }
}

impl Eq for Ballistics {}
