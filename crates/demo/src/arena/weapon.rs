//! Firing.

use super::{Arena, PilotId, Tick};
use crate::entity::{Mount, Role, Ship};
use crate::flight::muzzle;
use crate::{Entity, EntityId, Heading, Intent, Kind, Loadout, Vec2, Weapon, rules};

impl Ship {
    /// A whole ship with everything loaded.
    pub(super) fn new(loadout: Loadout, now: Tick) -> Self {
        Self {
            health: rules::SHIP_HEALTH,
            mounts: loadout.0.map(|weapon| {
                Some(Mount {
                    weapon: weapon?,
                    ready: now,
                    charge: FULL_CHARGE,
                    ray: None,
                    left: (weapon? == Weapon::Rocket).then_some(rules::ROCKETS_CARRIED),
                })
            }),
            wound: None,
        }
    }
}

/// Where a shot begins, and where it goes.
#[derive(Clone, Copy)]
struct Muzzle {
    owner: PilotId,
    /// The middle of the ship.
    ship: Vec2,
    /// The edge of the ship, on the side of the aim.
    position: Vec2,
    heading: Heading,
}

impl Muzzle {
    fn new(owner: PilotId, ship: &Entity, intent: &Intent) -> Self {
        let (position, heading) = muzzle(ship.position, ship.heading, intent.aim);
        Self {
            owner,
            ship: ship.position,
            position,
            heading,
        }
    }

    /// Something that starts here. Shots do not inherit the speed of the ship: they go where the
    /// pilot points.
    fn shot(&self, speed: f64, role: Role) -> Entity {
        Entity {
            position: self.position,
            velocity: self.heading.unit() * speed,
            heading: self.heading,
            owner: Some(self.owner),
            role,
        }
    }
}

impl Arena {
    /// Fires what the pilots want fired and what is loaded.
    pub(super) fn fire_weapons(&mut self) {
        let mut ships = self.ids(|entity| entity.kind() == Kind::Ship);
        // At the limit of shots the first ones fire and the last do not, so the first place goes
        // round.
        if !ships.is_empty() {
            let ahead = self.tick.0 % ships.len() as u64;
            ships.rotate_left(usize::try_from(ahead).unwrap_or(0));
        }
        for id in ships {
            self.fire_ship(id);
        }
    }

    /// Lets ships find what they ran out of: near planets, one at a time.
    pub(super) fn resupply(&mut self) {
        if !self.tick.0.is_multiple_of(rules::SUPPLY_STEPS.into()) {
            return;
        }
        let planets = self.entities().filter(|(_, it)| it.kind() == Kind::Planet);
        let planets: Vec<_> = planets
            .map(|(_, planet)| (planet.position, planet.reach() + rules::SUPPLY_REACH))
            .collect();
        let is_near = |place: Vec2| {
            let mut planets = planets.iter();
            planets.any(|(planet, reach)| planet.distance(place) < *reach)
        };
        for id in self.ids(|it| it.kind() == Kind::Ship && is_near(it.position)) {
            let Some(Role::Ship(ship)) = self.entities.get_mut(id.0).map(|it| &mut it.role) else {
                continue;
            };
            for mount in ship.mounts.iter_mut().flatten() {
                mount.left = mount.left.map(|left| rules::ROCKETS_CARRIED.min(left + 1));
            }
        }
    }

    fn fire_ship(&mut self, id: EntityId) {
        let Some(entity) = self.entities.get(id.0) else {
            return;
        };
        let (Role::Ship(ship), Some(owner)) = (&entity.role, entity.owner) else {
            return;
        };
        let Some(pilot) = self.pilots.get(owner.0) else {
            return;
        };
        let muzzle = Muzzle::new(owner, entity, &pilot.intent);
        let fire = pilot.intent.fire;
        let mut mounts = ship.mounts;
        for (mount, fire) in mounts.iter_mut().zip(fire) {
            let Some(mount) = mount else { continue };
            if mount.weapon == Weapon::Phaser {
                self.fire_phaser(mount, fire, muzzle);
            } else if fire && mount.ready <= self.tick && mount.left != Some(0) {
                self.fire_shot(mount, muzzle);
            }
        }
        if let Some(Role::Ship(ship)) = self.entities.get_mut(id.0).map(|it| &mut it.role) {
            ship.mounts = mounts;
        }
    }

    /// Fires a weapon that shoots once and then reloads.
    fn fire_shot(&mut self, mount: &mut Mount, muzzle: Muzzle) {
        let now = self.tick;
        let (shot, reload_steps) = match mount.weapon {
            Weapon::Gun => {
                let ends = now.after(rules::BULLET_LIFE_STEPS);
                let bullet = muzzle.shot(rules::BULLET_SPEED, Role::Bullet { ends });
                (bullet, rules::GUN_RELOAD_STEPS)
            }
            Weapon::Rocket => {
                let ends = now.after(rules::ROCKET_LIFE_STEPS);
                let health = rules::ROCKET_HEALTH;
                let rocket = muzzle.shot(rules::ROCKET_LAUNCH_SPEED, Role::Rocket { ends, health });
                (rocket, rules::ROCKET_RELOAD_STEPS)
            }
            Weapon::Shockwave => {
                let radius = rules::SHIP_RADIUS;
                let passed = Vec::new();
                let mut wave = muzzle.shot(0.0, Role::Shockwave { radius, passed });
                wave.position = muzzle.ship;
                (wave, rules::SHOCKWAVE_RELOAD_STEPS)
            }
            Weapon::Phaser => return,
        };
        if self.add(shot).is_some() {
            mount.ready = now.after(reload_steps);
            mount.left = mount.left.map(|left| left - 1);
        }
    }

    /// Lights, moves or puts out the beam of a phaser. How long it is, and what it burns, is decided
    /// when everything has moved.
    fn fire_phaser(&mut self, mount: &mut Mount, fire: bool, muzzle: Muzzle) {
        let needed = match mount.ray {
            Some(_) => STEP_CHARGE,
            None => rules::PHASER_RELIGHT_STEPS * STEP_CHARGE,
        };
        if !fire || mount.charge < needed {
            if let Some(ray) = mount.ray.take() {
                self.remove(ray);
            }
            mount.charge = FULL_CHARGE.min(mount.charge + 1);
            return;
        }
        let beam = muzzle.shot(
            0.0,
            Role::Ray {
                length: rules::PHASER_LENGTH,
                touching: None,
            },
        );
        match mount.ray.and_then(|ray| self.entities.get_mut(ray.0)) {
            Some(ray) => (ray.position, ray.heading) = (beam.position, beam.heading),
            None => mount.ray = self.add(beam),
        }
        if mount.ray.is_some() {
            mount.charge -= STEP_CHARGE;
        }
    }
}

/// What a step of fire takes from the charge; a step of rest gives one.
const STEP_CHARGE: u32 = rules::PHASER_REST_PER_STEP;
const FULL_CHARGE: u32 = rules::PHASER_CHARGE_STEPS * STEP_CHARGE;

#[cfg(test)]
mod tests;
