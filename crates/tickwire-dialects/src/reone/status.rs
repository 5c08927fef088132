//! What is known of an object at one tick, and what a snapshot tells it by.
//!
//! Numbers with a point are compared and carried by their bits: what a game publishes comes out the
//! same, whatever it is.

use tickwire_state::Vec3;

use super::delta::Structure;
use super::structure;

/// A creature: where it is, what it does and what it wears.
#[derive(Clone, Copy, Debug, Default)]
pub struct CreatureStatus {
    /// Where.
    pub pos: Vec3,
    /// Which way it looks, in radians.
    pub heading: f32,
    /// Its animation.
    pub anim: u8,
    /// How far the animation is.
    pub animframe: u8,
    /// Whose side it is on.
    pub faction: u8,
    /// The model worn in the first place.
    pub equipment1: u16,
    /// The model worn in the second place.
    pub equipment2: u16,
    /// The model worn in the third place.
    pub equipment3: u16,
    /// The model worn in the fourth place.
    pub equipment4: u16,
    /// The model worn in the fifth place.
    pub equipment5: u16,
    /// The model worn in the sixth place.
    pub equipment6: u16,
}

structure!(CreatureStatus {
    pos: "pos",
    heading: "heading",
    anim: "anim",
    animframe: "animframe",
    faction: "faction",
    equipment1: "equipment1",
    equipment2: "equipment2",
    equipment3: "equipment3",
    equipment4: "equipment4",
    equipment5: "equipment5",
    equipment6: "equipment6",
});

/// A thing that has a place and can be broken: a door, a chest, a turret.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpatialStatus {
    /// Where.
    pub x: f32,
    /// Where.
    pub y: f32,
    /// Where.
    pub z: f32,
    /// Which way it faces, in radians.
    pub facing: f32,
    /// Hit points when whole.
    pub max_hit_points: u32,
    /// Hit points left.
    pub hit_points: u32,
}

structure!(SpatialStatus {
    x: "x",
    y: "y",
    z: "z",
    facing: "facing",
    max_hit_points: "max hit points",
    hit_points: "hit points",
});

/// What is known of an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AnyStatus {
    /// It is a creature.
    Creature(CreatureStatus),
    /// It is something else.
    Spatial(SpatialStatus),
}

impl AnyStatus {
    /// Where it is.
    pub const fn pos(&self) -> Vec3 {
        match self {
            Self::Creature(creature) => creature.pos,
            Self::Spatial(spatial) => Vec3 {
                x: spatial.x,
                y: spatial.y,
                z: spatial.z,
            },
        }
    }

    /// Which way it looks, in radians.
    pub const fn heading(&self) -> f32 {
        match self {
            Self::Creature(creature) => creature.heading,
            Self::Spatial(spatial) => spatial.facing,
        }
    }
}

/// What a snapshot is the difference to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// A snapshot that the client acknowledged.
    Performant,
    /// The base.
    Fallback,
}

impl PartialEq for CreatureStatus {
    fn eq(&self, other: &Self) -> bool {
        self.changed_since(other) == 0
    }
}

impl Eq for CreatureStatus {}

impl PartialEq for SpatialStatus {
    fn eq(&self, other: &Self) -> bool {
        self.changed_since(other) == 0
    }
}

impl Eq for SpatialStatus {}
