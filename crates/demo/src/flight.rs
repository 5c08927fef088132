//! How a ship flies: one step as a pure function.
//!
//! In: where a ship is, what its pilot wants, and what pulls at it. Out: where it is a sixtieth of a
//! second later, unless it touches something. The arena moves its ships by this, and a client that
//! predicts its own ship moves it by the same, so that both agree to the bit. That is why a flight has
//! the precision that protocols carry: whoever is told one can work out the next.

use crate::orbit::{Body, gravity};
use crate::{Heading, Intent, Vec2, rules};
use rules::STEP_SECONDS;

/// Where a ship is, how it moves and where it points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flight {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Units a second.
    pub(crate) speed_x: f32,
    pub(crate) speed_y: f32,
    /// Radians.
    pub(crate) heading: f32,
}

impl Flight {
    pub(crate) fn new(position: Vec2, velocity: Vec2, heading: Heading) -> Self {
        // Just below a whole turn, rounding arrives at one, which is another number for east.
        let turned = Heading::from_radians(narrow(heading.radians()).into());
        Self {
            x: narrow(position.x),
            y: narrow(position.y),
            speed_x: narrow(velocity.x),
            speed_y: narrow(velocity.y),
            heading: narrow(turned.radians()),
        }
    }

    pub(crate) fn position(&self) -> Vec2 {
        Vec2::new(self.x.into(), self.y.into())
    }

    pub(crate) fn velocity(&self) -> Vec2 {
        Vec2::new(self.speed_x.into(), self.speed_y.into())
    }

    pub(crate) fn heading(&self) -> Heading {
        Heading::from_radians(self.heading.into())
    }

    /// A sixtieth of a second later. `bodies` are where they are then.
    #[must_use]
    pub(crate) fn step(&self, intent: &Intent, bodies: impl IntoIterator<Item = Body>) -> Self {
        let turn = balance(intent.turn_left, intent.turn_right);
        let heading = self
            .heading()
            .turned(turn * rules::SHIP_TURN * STEP_SECONDS);
        let (mut position, mut velocity) = (self.position(), self.velocity());
        let drag = velocity * rules::SHIP_DRAG;
        velocity += (thrust(intent, heading) - drag) * STEP_SECONDS;
        let pull = gravity(bodies, position) + boundary_pull(position);
        velocity += pull * STEP_SECONDS;
        velocity = velocity.at_most(rules::SHIP_MAX_SPEED);
        position += velocity * STEP_SECONDS;
        keep_inside(&mut position, &mut velocity);
        Self::new(position, velocity, heading)
    }
}

/// Where a ship's shots begin, at its edge on the side of the aim, and where they go.
pub(crate) fn muzzle(ship: Vec2, heading: Heading, aim: Vec2) -> (Vec2, Heading) {
    // Who aims at itself, or nowhere, shoots ahead.
    let heading = Heading::of(aim - ship).unwrap_or(heading);
    (ship + heading.unit() * rules::SHIP_RADIUS, heading)
}

/// The acceleration that the engines of a ship give.
fn thrust(intent: &Intent, heading: Heading) -> Vec2 {
    let ahead = heading.unit();
    let along = match balance(intent.forward, intent.backward) {
        back if back < 0.0 => back * rules::SHIP_REVERSE,
        forth => forth * rules::SHIP_THRUST,
    };
    let aside = balance(intent.strafe_left, intent.strafe_right) * rules::SHIP_STRAFE;
    // Both together are no stronger than the stronger alone: flying askew must not be faster.
    (ahead * along + ahead.left() * aside).at_most(along.abs().max(aside.abs()))
}

/// Two opposite controls as one number.
fn balance(plus: bool, minus: bool) -> f64 {
    f64::from(i8::from(plus) - i8::from(minus))
}

/// The soft boundary: a spring that is slack inside the arena.
pub(crate) fn boundary_pull(position: Vec2) -> Vec2 {
    let outside = position.length() - rules::ARENA_RADIUS;
    match position.unit() {
        Some(out) if outside > 0.0 => -out * (outside * rules::BOUNDARY_PULL),
        _ => Vec2::ZERO,
    }
}

/// The wall: nothing is beyond it, nor goes on towards it.
pub(crate) fn keep_inside(position: &mut Vec2, velocity: &mut Vec2) {
    if let Some(out) = position.unit()
        && position.length() > rules::WALL_RADIUS
    {
        *position = out * rules::WALL_RADIUS;
        *velocity -= out * velocity.dot(out).max(0.0);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "24 bits are finer than a screen"
)]
pub(crate) const fn narrow(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, Loadout, Random};

    #[test]
    fn a_flight_that_was_told_goes_on_as_in_the_arena() {
        let mut arena = Arena::new(3);
        let pilot = arena.join("Ada").unwrap();
        arena.select(pilot, Loadout::UNARMED);
        arena.step();
        let chart = arena.chart();
        let ship = |arena: &Arena| {
            let ship = arena.pilot(pilot)?.ship()?;
            Some(arena.entity(ship)?.flight())
        };
        let mut random = Random::new(4);
        let mut told = ship(&arena).unwrap();
        // Until it bumps into a planet.
        for _ in 0..250 {
            let keys = random.bits();
            let intent = Intent {
                forward: keys & 3 != 0,
                turn_left: keys & 4 != 0,
                turn_right: keys & 8 != 0,
                strafe_left: keys & 48 == 0,
                ..Intent::default()
            };
            arena.set_intent(pilot, intent);
            arena.step();
            told = told.step(&intent, chart.bodies(arena.tick()));
            assert_eq!(ship(&arena), Some(told), "{}", arena.tick().0);
        }
    }

    #[test]
    fn flying_askew_is_not_faster() {
        let mut intent = Intent {
            forward: true,
            ..Intent::default()
        };
        let straight = thrust(&intent, Heading::EAST).length();
        intent.strafe_left = true;
        assert!(thrust(&intent, Heading::EAST).length() <= straight + 1e-9);
    }

    #[test]
    fn a_heading_just_below_a_turn_is_east() {
        let heading = Heading::from_radians(-1e-12);
        let flight = Flight::new(Vec2::ZERO, Vec2::ZERO, heading);
        assert_eq!(
            flight,
            Flight::new(Vec2::ZERO, Vec2::ZERO, flight.heading())
        );
    }
}
