//! Taking up an earlier run: planets go on from where they were, and ships come back to their pilots.
//!
//! In: what a gateway kept of that run, in whatever form. Out: which of the bodies goes on as which. Pilots are strangers to each other's runs but for their number,
//! so that is who a ship waits for: a bot finds its own, and so does whoever connects in the same order
//! as before. Shots and scores are not taken up.

use std::collections::BTreeMap;

use super::Arena;
use crate::entity::Role;
use crate::{EntityId, Heading, Kind, OwnerId, Vec2, limits};

/// A ship as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Berth {
    /// Where it was.
    pub position: Vec2,
    /// Where it pointed.
    pub heading: Heading,
    /// What was left of it, in percent.
    pub health: u8,
}

/// Something that was there in an earlier run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remembered {
    /// What it was.
    pub kind: Kind,
    /// Where it was, and what was left of it.
    pub berth: Berth,
    /// Whose it was.
    pub owner: Option<OwnerId>,
}

/// Ships that wait, by the number of their pilot.
pub(super) type Berths = BTreeMap<OwnerId, Berth>;

impl Arena {
    /// Takes up what was there in an earlier run, before the first step. Returns for each thing the entity
    /// that goes on as it: the sun and the planets do, in the order of their making. Ships wait for their
    /// pilots, and shots ended with their run.
    pub fn take_up(&mut self, things: &[Remembered]) -> Vec<Option<EntityId>> {
        let entities = self.entities().map(|(id, entity)| (id, entity.kind()));
        let mut bodies: Vec<_> = entities
            .filter(|(_, kind)| matches!(kind, Kind::Planet | Kind::Sun))
            .collect();
        let mut take_up = |thing: &Remembered| {
            if thing.kind == Kind::Ship && thing.berth.health > 0 {
                self.keep_ship(thing.owner?, thing.berth);
            }
            let first = bodies.iter().position(|(_, kind)| *kind == thing.kind)?;
            let (id, _) = bodies.remove(first);
            self.place_planet(id, thing.berth.position);
            Some(id)
        };
        things.iter().map(&mut take_up).collect()
    }

    /// Moves a planet along its orbit to where it is nearest to `place`, and lets it go on from there.
    /// What is no planet stays.
    fn place_planet(&mut self, id: EntityId, place: Vec2) {
        let Some(angle) = Heading::of(place) else {
            return;
        };
        let now = self.tick;
        if let Some(planet) = self.entities.get_mut(id.0)
            && let Role::Planet(orbit) = &mut planet.role
        {
            orbit.turn_to(angle, now);
        }
        self.move_planets();
    }

    /// Keeps a ship for whoever gets this number, until its first ship comes. It comes somewhere else
    /// if something is in the way by then.
    fn keep_ship(&mut self, pilot: OwnerId, berth: Berth) {
        let is_known = self.berths.contains_key(&pilot);
        if is_known || self.berths.len() < limits::PILOTS.into() {
            self.berths.insert(pilot, berth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loadout;

    fn planets(arena: &Arena) -> Vec<(EntityId, Vec2)> {
        let planets = arena
            .entities()
            .filter(|(_, entity)| entity.kind() == Kind::Planet);
        planets.map(|(id, planet)| (id, planet.position)).collect()
    }

    #[test]
    fn planets_go_on_from_where_they_were() {
        let (mut before, mut after) = (Arena::new(1), Arena::new(2));
        (0..1_000).for_each(|_| before.step());
        (0..77).for_each(|_| after.step());
        for ((_, place), (id, _)) in planets(&before).into_iter().zip(planets(&after)) {
            after.place_planet(id, place);
        }
        for _ in 0..500 {
            for ((_, place), (_, again)) in planets(&before).into_iter().zip(planets(&after)) {
                assert!(place.distance(again) < 1e-3, "{place:?} and {again:?}");
            }
            before.step();
            after.step();
        }
    }

    #[test]
    fn bodies_go_on_ships_wait_and_shots_are_over() {
        let mut arena = Arena::new(1);
        let thing = |kind, owner, health| Remembered {
            kind,
            berth: Berth {
                position: Vec2::new(0.0, 500.0),
                heading: Heading::EAST,
                health,
            },
            owner,
        };
        let things = [
            thing(Kind::Planet, None, 100),
            thing(Kind::Ship, Some(OwnerId(3)), 50),
            thing(Kind::Ship, Some(OwnerId(4)), 0),
            thing(Kind::Bullet, Some(OwnerId(3)), 100),
            thing(Kind::Sun, None, 100),
        ];
        let taken = arena.take_up(&things);
        let kinds = taken.iter().map(|id| Some(arena.entity((*id)?)?.kind()));
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(
            kinds,
            [Some(Kind::Planet), None, None, None, Some(Kind::Sun)]
        );
        assert_eq!(taken[0], Some(planets(&arena)[0].0));
        assert!(arena.berths.keys().eq([&OwnerId(3)]));
    }

    #[test]
    fn a_ship_waits_for_the_number_of_its_pilot() {
        let berth = Berth {
            position: Vec2::new(600.0, 1_500.0),
            heading: Heading::from_degrees(30.0),
            health: 40,
        };
        let mut arena = Arena::new(1);
        let enter = |arena: &mut Arena| {
            let pilot = arena.join("somebody").unwrap();
            arena.select(pilot, Loadout::STANDARD);
            arena.step();
            let ship = arena.pilot(pilot).and_then(|pilot| pilot.ship()).unwrap();
            (pilot, arena.entity(ship).unwrap().clone())
        };
        let (other, ship) = enter(&mut arena);
        assert!(ship.position.distance(berth.position) > 1.0);
        let next = OwnerId(OwnerId::from(other).0 + 1);
        arena.keep_ship(next, berth);
        let (pilot, ship) = enter(&mut arena);
        assert_eq!(OwnerId::from(pilot), next);
        assert!(ship.position.distance(berth.position) < 10.0);
        assert!(ship.heading.turn_to(berth.heading).abs() < 1e-6);
        assert_eq!(ship.health_percent(), 40);
        assert!(arena.berths.is_empty());
    }

    #[test]
    fn a_ship_whose_place_is_taken_comes_somewhere_else() {
        let mut arena = Arena::new(1);
        let pilot = arena.join("somebody").unwrap();
        let in_the_sun = Berth {
            position: Vec2::ZERO,
            heading: Heading::EAST,
            health: 100,
        };
        arena.keep_ship(pilot.into(), in_the_sun);
        arena.select(pilot, Loadout::STANDARD);
        arena.step();
        let ship = arena.pilot(pilot).and_then(|pilot| pilot.ship()).unwrap();
        assert!(arena.entity(ship).unwrap().position.length() > 1_000.0);
    }
}
