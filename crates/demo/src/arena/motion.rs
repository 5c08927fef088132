//! How ships, rockets and bullets move.

use super::Arena;
use super::sky::Celestial;
use crate::flight::{boundary_pull, keep_inside};
use crate::orbit::gravity;
use crate::{Heading, Kind, Vec2, rules};
use rules::STEP_SECONDS;

impl Arena {
    /// Turns every rocket towards the nearest enemy that it sees, and speeds it up.
    pub(super) fn steer_rockets(&mut self) {
        let ships: Vec<_> = self
            .entities
            .iter()
            .filter(|(_, entity)| entity.kind() == Kind::Ship)
            .map(|(_, entity)| (entity.owner, entity.position))
            .collect();
        for (_, rocket) in self.entities.iter_mut() {
            if rocket.kind() != Kind::Rocket {
                continue;
            }
            let (from, heading) = (rocket.position, rocket.heading);
            let goal = ships
                .iter()
                .filter(|(owner, _)| *owner != rocket.owner)
                .map(|&(_, ship)| (from.distance(ship), ship))
                .filter(|&(distance, ship)| {
                    distance < rules::ROCKET_SIGHT && is_ahead(heading, ship - from)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .and_then(|(_, ship)| Heading::of(ship - from));
            if let Some(goal) = goal {
                let most = rules::ROCKET_TURN * STEP_SECONDS;
                rocket.heading = heading.turned(heading.turn_to(goal).clamp(-most, most));
            }
            let speed = rocket.velocity.length() + rules::ROCKET_THRUST * STEP_SECONDS;
            rocket.velocity = rocket.heading.unit() * speed.min(rules::ROCKET_MAX_SPEED);
        }
    }

    /// Moves everything that flies: ships as their pilots want, shots on their way.
    pub(super) fn move_all(&mut self) {
        for (_, entity) in self.entities.iter_mut() {
            let bodies = self.sky.iter().map(Celestial::body);
            match entity.kind() {
                Kind::Ship => {
                    let pilot = entity.owner.and_then(|owner| self.pilots.get(owner.0));
                    let intent = pilot.map(|pilot| pilot.intent).unwrap_or_default();
                    let flight = entity.flight().step(&intent, bodies);
                    entity.position = flight.position();
                    entity.velocity = flight.velocity();
                    entity.heading = flight.heading();
                }
                Kind::Bullet | Kind::Rocket => {
                    let pull = gravity(bodies, entity.position) + boundary_pull(entity.position);
                    entity.velocity += pull * STEP_SECONDS;
                    entity.heading = Heading::of(entity.velocity).unwrap_or(entity.heading);
                    entity.position += entity.velocity * STEP_SECONDS;
                    keep_inside(&mut entity.position, &mut entity.velocity);
                }
                Kind::Planet | Kind::Sun | Kind::Ray | Kind::Shockwave => {}
            }
        }
    }
}

fn is_ahead(heading: Heading, way: Vec2) -> bool {
    Heading::of(way).is_some_and(|goal| heading.turn_to(goal).abs() < rules::ROCKET_CONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::tests::{arena_without_sky, hold, place, run, ship, ship_mut};
    use crate::{Arena, Loadout};

    /// A ship in the middle of nothing, facing east.
    fn lone_ship() -> (Arena, crate::PilotId) {
        let mut arena = arena_without_sky();
        let pilot = place(&mut arena, Vec2::ZERO, Loadout::UNARMED);
        ship_mut(&mut arena, pilot).heading = Heading::EAST;
        (arena, pilot)
    }

    #[test]
    fn thrust_settles_at_cruising_speed_and_drag_ends_it() {
        let (mut arena, pilot) = lone_ship();
        hold(&mut arena, pilot, |intent| intent.forward = true);
        run(&mut arena, 240);
        let speed = ship(&arena, pilot).velocity.x;
        assert!(
            (800.0..=rules::SHIP_THRUST / rules::SHIP_DRAG).contains(&speed),
            "{speed}"
        );
        hold(&mut arena, pilot, |_| {});
        run(&mut arena, 240);
        assert!(ship(&arena, pilot).velocity.length() < 10.0);
    }

    #[test]
    fn left_is_left_of_the_heading() {
        let (mut arena, pilot) = lone_ship();
        hold(&mut arena, pilot, |intent| intent.strafe_left = true);
        run(&mut arena, 10);
        assert!(ship(&arena, pilot).velocity.y > 50.0);
        hold(&mut arena, pilot, |intent| intent.turn_left = true);
        run(&mut arena, 30);
        let heading = ship(&arena, pilot).heading.radians();
        assert!((heading - rules::SHIP_TURN / 2.0).abs() < 1e-5, "{heading}");
    }

    #[test]
    fn opposite_controls_cancel() {
        let (mut arena, pilot) = lone_ship();
        hold(&mut arena, pilot, |intent| {
            (intent.forward, intent.backward) = (true, true);
            (intent.turn_left, intent.turn_right) = (true, true);
            (intent.strafe_left, intent.strafe_right) = (true, true);
        });
        run(&mut arena, 60);
        assert_eq!(ship(&arena, pilot).position, Vec2::ZERO);
        assert_eq!(ship(&arena, pilot).heading, Heading::EAST);
    }

    #[test]
    fn the_sun_pulls_and_weakens_with_distance() {
        let fall = |distance: f64| {
            let mut arena = Arena::new(1);
            arena.sky.truncate(1);
            let pilot = place(&mut arena, Vec2::new(0.0, distance), Loadout::UNARMED);
            run(&mut arena, 30);
            -ship(&arena, pilot).velocity.y
        };
        assert!(fall(1_000.0) > 20.0);
        assert!(fall(1_000.0) > 3.0 * fall(2_000.0));
        assert!(fall(4_000.0) > 0.0);
    }

    #[test]
    fn planets_circle_and_never_drift() {
        let mut arena = Arena::new(3);
        let planet = arena.sky[1];
        run(&mut arena, 41 * 60 / 2);
        assert!(arena.sky[1].position.distance(planet.position) > 2_000.0);
        run(&mut arena, 41 * 60 / 2);
        assert!(arena.sky[1].position.distance(planet.position) < 1e-6);
    }

    #[test]
    fn the_boundary_brings_back_what_flies_against_it() {
        let (mut arena, pilot) = lone_ship();
        hold(&mut arena, pilot, |intent| intent.forward = true);
        let mut furthest: f64 = 0.0;
        for _ in 0..1_800 {
            arena.step();
            furthest = furthest.max(ship(&arena, pilot).position.length());
        }
        assert!(
            (5_100.0..rules::WALL_RADIUS).contains(&furthest),
            "{furthest}"
        );
    }
}
