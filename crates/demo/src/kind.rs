//! What there is in the arena.

use crate::rules;

/// What a thing in the arena is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Flown by a pilot.
    Ship,
    /// Fired by a gun.
    Bullet,
    /// Follows the nearest enemy ahead of it; can be shot down.
    Rocket,
    /// Circles the sun and pulls what flies by.
    Planet,
    /// Stands in the middle, pulls harder than a planet and burns what touches it.
    Sun,
    /// The beam of a phaser, there while it is fired.
    Ray,
    /// A circle that grows from the ship that set it off.
    Shockwave,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Ship,
        Self::Bullet,
        Self::Rocket,
        Self::Planet,
        Self::Sun,
        Self::Ray,
        Self::Shockwave,
    ];

    /// A size to assume where a protocol does not tell one: the radius of a round thing (of the
    /// largest planet), zero for rays and shockwaves, which always tell theirs.
    pub const fn usual_reach(self) -> f64 {
        match self {
            Self::Ship => rules::SHIP_RADIUS,
            Self::Bullet => rules::BULLET_RADIUS,
            Self::Rocket => rules::ROCKET_RADIUS,
            Self::Planet => rules::LARGEST_PLANET_RADIUS,
            Self::Sun => rules::SUN_RADIUS,
            Self::Ray | Self::Shockwave => 0.0,
        }
    }
}
