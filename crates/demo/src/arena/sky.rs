//! The sun and its planets.

use core::f64::consts::TAU;

use super::Arena;
use crate::entity::Role;
use crate::orbit::{Body, Chart, Orbit};
use crate::{Entity, EntityId, Heading, Vec2, rules};

/// The sun or a planet, with what everybody near it needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Celestial {
    pub(super) id: EntityId,
    pub(super) position: Vec2,
    pub(super) velocity: Vec2,
    pub(super) radius: f64,
    pub(super) is_sun: bool,
}

impl Celestial {
    pub(super) const fn body(&self) -> Body {
        Body {
            position: self.position,
            radius: self.radius,
            is_sun: self.is_sun,
        }
    }
}

impl Arena {
    /// Puts the sun and the planets up, each planet somewhere on its way.
    pub(super) fn make_sky(&mut self) {
        self.hang(Role::Sun);
        for (radius, planet_radius, period_seconds) in PLANETS {
            let phase = self.random.between(0.0, TAU);
            self.hang(Role::Planet(Orbit {
                radius,
                period_steps: period_seconds * rules::STEPS_PER_SECOND,
                phase,
                planet_radius,
            }));
        }
        self.move_planets();
    }

    fn hang(&mut self, role: Role) {
        let is_sun = matches!(role, Role::Sun);
        let entity = Entity {
            position: Vec2::ZERO,
            velocity: Vec2::ZERO,
            heading: Heading::EAST,
            owner: None,
            role,
        };
        let radius = entity.reach();
        // The arena is empty and has room for `limits::CELESTIALS`.
        if let Some(id) = self.add(entity) {
            self.sky.push(Celestial {
                id,
                position: Vec2::ZERO,
                velocity: Vec2::ZERO,
                radius,
                is_sun,
            });
        }
    }

    /// Where the sun and the planets are, at any tick.
    pub(crate) fn chart(&self) -> Chart {
        let entities = self.sky.iter().filter_map(|body| self.entity(body.id));
        let orbits = entities.filter_map(|entity| match entity.role {
            Role::Planet(orbit) => Some(orbit),
            _ => None,
        });
        Chart {
            planets: orbits.collect(),
        }
    }

    pub(super) fn move_planets(&mut self) {
        for body in &mut self.sky {
            let Some(planet) = self.entities.get_mut(body.id.0) else {
                continue;
            };
            let Role::Planet(orbit) = &planet.role else {
                continue;
            };
            let (position, velocity) = orbit.at(self.tick);
            (planet.position, planet.velocity) = (position, velocity);
            planet.heading = Heading::of(velocity).unwrap_or_default();
            (body.position, body.velocity) = (position, velocity);
        }
    }
}

/// Distance from the sun, size, and seconds of a round. Inner ones are quicker, as they should be,
/// and no two rounds have a short common multiple, so that the sky does not repeat.
const PLANETS: [(f64, f64, u32); 4] = [
    (1_250.0, 110.0, 41),
    (2_150.0, 190.0, 67),
    (3_150.0, rules::LARGEST_PLANET_RADIUS, 103),
    (4_250.0, 150.0, 149),
];

const _: () = assert!(PLANETS.len() < crate::limits::CELESTIALS as usize);
