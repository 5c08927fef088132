//! How ships come, end and are counted, and when shots are over.

use super::{Arena, Berth, Event, PilotId};
use crate::entity::{Role, Ship};
use crate::{Entity, Heading, Kind, Vec2, rules};

impl Arena {
    /// Gives a ship to every pilot who chose one and waited long enough.
    pub(super) fn bring_ships_in(&mut self) {
        let now = self.tick;
        let waiting: Vec<_> = self
            .pilots()
            .filter(|(_, pilot)| pilot.ship.is_none() && pilot.enters <= now)
            .filter_map(|(id, pilot)| Some((id, pilot.loadout?)))
            .collect();
        for (id, loadout) in waiting {
            let Berth {
                position,
                heading,
                health,
            } = self.find_berth(id);
            let mut ship = Ship::new(loadout, now);
            ship.health *= f64::from(health) / 100.0;
            let ship = Entity {
                position,
                velocity: Vec2::ZERO,
                heading,
                owner: Some(id),
                role: Role::Ship(ship),
            };
            // Shots leave room for a ship of every pilot, so this never fails.
            let Some(ship) = self.add(ship) else { continue };
            self.events.push(Event::Entered { pilot: id, ship });
            if let Some(pilot) = self.pilots.get_mut(id.0) {
                pilot.ship = Some(ship);
            }
        }
    }

    /// Where the pilot's ship of an earlier run was, if that is free; else somewhere safe.
    fn find_berth(&mut self, pilot: PilotId) -> Berth {
        let kept = self.berths.remove(&pilot.into());
        if let Some(berth) = kept
            && (1..=100).contains(&berth.health)
            && berth.position.length() <= rules::WALL_RADIUS
            && self.clearance(berth.position) > rules::SHIP_RADIUS
        {
            return berth;
        }
        let position = self.safe_place();
        Berth {
            position,
            // Facing the middle, where the others are.
            heading: Heading::of(-position).unwrap_or_default(),
            health: 100,
        }
    }

    /// Of a handful of places, the one furthest from everything that could hurt.
    fn safe_place(&mut self) -> Vec2 {
        let mut best = (f64::NEG_INFINITY, Vec2::ZERO);
        for _ in 0..SPAWN_CANDIDATES {
            let angle = Heading::from_degrees(self.random.between(0.0, 360.0));
            let place = angle.unit() * self.random.between(SPAWN_NEAREST, SPAWN_FURTHEST);
            let clearance = self.clearance(place);
            if clearance > best.0 {
                best = (clearance, place);
            }
        }
        best.1
    }

    /// How far it is to the next thing that a ship would crash into.
    fn clearance(&self, place: Vec2) -> f64 {
        self.entities()
            .filter(|(_, entity)| matches!(entity.kind(), Kind::Ship | Kind::Planet | Kind::Sun))
            .map(|(_, entity)| entity.position.distance(place) - entity.reach())
            .fold(f64::INFINITY, f64::min)
    }

    pub(super) fn end_old_shots(&mut self) {
        let now = self.tick;
        let over = |entity: &Entity| match entity.role {
            Role::Bullet { ends } => ends <= now,
            Role::Rocket { ends, health } => ends <= now || health <= 0.0,
            Role::Shockwave { radius, .. } => radius >= rules::SHOCKWAVE_REACH,
            _ => false,
        };
        for id in self.ids(over) {
            self.remove(id);
        }
    }

    /// Removes destroyed ships, and counts whose merit it was.
    pub(super) fn bury_the_dead(&mut self) {
        let dead =
            self.ids(|entity| matches!(&entity.role, Role::Ship(ship) if ship.health <= 0.0));
        for id in dead {
            let Some(entity) = self.entities.get(id.0) else {
                continue;
            };
            let (Role::Ship(ship), Some(victim)) = (&entity.role, entity.owner) else {
                continue;
            };
            let at = entity.position;
            let rays = ship.mounts.map(|mount| mount.and_then(|mount| mount.ray));
            let by = ship
                .wound
                .filter(|&(_, when)| when.after(rules::BLAME_STEPS) >= self.tick)
                .map(|(by, _)| by)
                .filter(|&by| by != victim && self.pilot(by).is_some());
            for ray in rays.into_iter().flatten() {
                self.remove(ray);
            }
            self.remove(id);
            self.events.push(Event::Killed { victim, by, at });
            let enters = self.tick.after(rules::RESPAWN_STEPS);
            if let Some(pilot) = self.pilots.get_mut(victim.0) {
                pilot.lose_ship(enters);
            }
            if let Some(by) = by {
                self.reward(by);
            }
        }
    }

    fn reward(&mut self, pilot: PilotId) {
        let Some(pilot) = self.pilots.get_mut(pilot.0) else {
            return;
        };
        pilot.count_kill();
        let ship = pilot.ship.and_then(|ship| self.entities.get_mut(ship.0));
        if let Some(Role::Ship(ship)) = ship.map(|ship| &mut ship.role)
            // Two that destroy each other both die.
            && ship.health > 0.0
        {
            ship.health = (ship.health + rules::REPAIR_PER_KILL).min(rules::SHIP_HEALTH);
        }
    }
}

/// Places that are tried for a new ship: enough to find an empty quarter, few enough to be cheap.
const SPAWN_CANDIDATES: u32 = 12;
/// Ships appear no nearer to the sun.
const SPAWN_NEAREST: f64 = 1_400.0;
/// Ships appear no nearer to the boundary.
const SPAWN_FURTHEST: f64 = 4_500.0;
