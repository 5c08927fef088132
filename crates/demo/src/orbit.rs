//! What pulls: the sun, the planets, and where they are at any moment.
//!
//! Planets are on rails, so whoever has the [`Chart`] and the time knows the whole sky to the bit,
//! without having seen it: the arena, and every client that works out where its ship will be.

use core::f64::consts::TAU;

use crate::arena::Tick;
use crate::{Heading, Vec2, rules};

/// The way of a planet: a circle around the sun, on rails, so that it is the same for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Orbit {
    pub(crate) radius: f64,
    /// Steps of a whole round; never 0.
    pub(crate) period_steps: u32,
    /// Angle at the first step, in radians.
    pub(crate) phase: f64,
    pub(crate) planet_radius: f64,
}

impl Orbit {
    /// Where the planet is, and how it moves.
    pub(crate) fn at(&self, tick: Tick) -> (Vec2, Vec2) {
        let period = u64::from(self.period_steps);
        // The remainder is far below what a double holds exactly, so an arena that runs for months
        // still has its planets in place.
        let round = (tick.0 % period) as f64 / period as f64;
        let out = Heading::from_radians(self.phase + TAU * round).unit();
        let speed = TAU * self.radius / (period as f64 * rules::STEP_SECONDS);
        (out * self.radius, out.left() * speed)
    }

    /// Has the planet at this angle at this moment, and on its way as ever.
    pub(crate) fn turn_to(&mut self, angle: Heading, tick: Tick) {
        let period = u64::from(self.period_steps);
        let round = (tick.0 % period) as f64 / period as f64;
        self.phase = angle.turned(-TAU * round).radians();
    }
}

/// Something that pulls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) position: Vec2,
    pub(crate) radius: f64,
    pub(crate) is_sun: bool,
}

impl Body {
    const SUN: Self = Self {
        position: Vec2::ZERO,
        radius: rules::SUN_RADIUS,
        is_sun: true,
    };

    /// How strongly something at `position` is accelerated towards it: as the inverse square of the
    /// distance, but inside no more than at the surface.
    fn pull(&self, position: Vec2) -> Vec2 {
        let away = self.position - position;
        let distance = away.length().max(self.radius);
        let surface = if self.is_sun {
            rules::SUN_PULL
        } else {
            rules::PLANET_PULL
        };
        let nearness = self.radius / distance;
        away / distance * (surface * nearness * nearness)
    }
}

/// The acceleration by all of them together. Their order is part of the outcome, to the bit.
pub(crate) fn gravity(bodies: impl IntoIterator<Item = Body>, position: Vec2) -> Vec2 {
    bodies
        .into_iter()
        .fold(Vec2::ZERO, |sum, body| sum + body.pull(position))
}

/// Where everything that pulls is, at any moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chart {
    /// In the arena's order.
    pub(crate) planets: Vec<Orbit>,
}

impl Chart {
    /// The sun and the planets, in the arena's order.
    pub(crate) fn bodies(&self, tick: Tick) -> impl Iterator<Item = Body> {
        let planets = self.planets.iter().map(move |orbit| Body {
            position: orbit.at(tick).0,
            radius: orbit.planet_radius,
            is_sun: false,
        });
        core::iter::once(Body::SUN).chain(planets)
    }
}
