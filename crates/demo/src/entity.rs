//! One thing in the arena.

use core::fmt;

use crate::arena::{PilotId, Tick};
use crate::flight::Flight;
use crate::orbit::Orbit;
use crate::slots::Slot;
use crate::view::SeenId;
use crate::{Heading, Kind, Vec2, rules};

/// Names one thing in the arena: no other gets the same within two days of heavy fire.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntityId(pub(crate) Slot);

impl EntityId {
    /// The place, below [`limits::ENTITIES`](crate::limits::ENTITIES); unique among what is there
    /// at the same time.
    pub const fn index(self) -> u16 {
        self.0.index
    }

    /// How often the place was used before.
    pub const fn generation(self) -> u16 {
        self.0.generation
    }
}

impl From<EntityId> for SeenId {
    fn from(id: EntityId) -> Self {
        Self(id.0.to_bits())
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index(), self.generation())
    }
}

/// One thing in the arena, as it is after the last step.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Its middle; the origin of a ray.
    pub position: Vec2,
    /// Its movement, in units a second.
    pub velocity: Vec2,
    /// Where it points; things that only move point where they go.
    pub heading: Heading,
    /// Who flies or fired it; nobody owns the sun and the planets.
    pub owner: Option<PilotId>,
    pub(crate) role: Role,
}

impl Entity {
    /// What it is.
    pub const fn kind(&self) -> Kind {
        match self.role {
            Role::Ship(_) => Kind::Ship,
            Role::Bullet { .. } => Kind::Bullet,
            Role::Rocket { .. } => Kind::Rocket,
            Role::Planet(_) => Kind::Planet,
            Role::Sun => Kind::Sun,
            Role::Ray { .. } => Kind::Ray,
            Role::Shockwave { .. } => Kind::Shockwave,
        }
    }

    /// What is left of it, from 0 to 100. What cannot be damaged has 100; what still exists never
    /// shows 0.
    pub fn health_percent(&self) -> u8 {
        let left = match self.role {
            Role::Ship(Ship { health, .. }) => health / rules::SHIP_HEALTH,
            Role::Rocket { health, .. } => health / rules::ROCKET_HEALTH,
            _ => 1.0,
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 1..=100 just before"
        )]
        let percent = (left * 100.0).ceil().clamp(1.0, 100.0) as u8;
        percent
    }

    /// How far it extends: the radius of a round thing or of a shockwave, the length of a ray.
    pub const fn reach(&self) -> f64 {
        match &self.role {
            Role::Planet(orbit) => orbit.planet_radius,
            Role::Ray { length, .. } => *length,
            Role::Shockwave { radius, .. } => *radius,
            _ => self.kind().usual_reach(),
        }
    }

    /// What its next step follows from, if it is a ship.
    pub(crate) fn flight(&self) -> Flight {
        Flight::new(self.position, self.velocity, self.heading)
    }

    /// Whether it was fired: what [`limits::SHOTS`](crate::limits::SHOTS) counts.
    pub(crate) const fn is_shot(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Bullet | Kind::Rocket | Kind::Ray | Kind::Shockwave
        )
    }
}

/// What only one kind of thing has.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    Ship(Ship),
    Bullet {
        ends: Tick,
    },
    Rocket {
        ends: Tick,
        health: f64,
    },
    Planet(Orbit),
    Sun,
    Ray {
        length: f64,
        /// What the beam ends at; a collision is told when this changes, not in every step.
        touching: Option<EntityId>,
    },
    Shockwave {
        radius: f64,
        /// What the rim has passed: it passes everything once, even what flies along with it.
        passed: Vec<EntityId>,
    },
}

/// What is particular to a ship.
#[derive(Clone, Debug)]
pub(crate) struct Ship {
    pub(crate) health: f64,
    pub(crate) mounts: [Option<Mount>; crate::limits::WEAPON_SLOTS],
    /// Who hit it last, and when.
    pub(crate) wound: Option<(PilotId, Tick)>,
}

/// A weapon in its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mount {
    pub(crate) weapon: crate::Weapon,
    /// When it may fire again.
    pub(crate) ready: Tick,
    /// What a phaser has left, in steps of fire times [`rules::PHASER_REST_PER_STEP`].
    pub(crate) charge: u32,
    /// The beam of a phaser that is firing.
    pub(crate) ray: Option<EntityId>,
    /// What is left to fire, of a weapon that runs out.
    pub(crate) left: Option<u16>,
}
