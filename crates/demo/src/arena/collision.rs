//! Who touches whom, and what it does to them.
//!
//! Ships bounce off each other and off the sky, shots hit ships and rockets, never their owner.
//! Bodies are circles and a step is short enough that nothing jumps over anything (asserted in
//! [`rules`]), so overlap at the end of a step is all that is looked at.

use super::sky::Celestial;
use super::sweep::Target;
use super::{Arena, Event, PilotId, Sweep};
use crate::entity::Role;
use crate::{EntityId, Kind, Vec2, rules};

impl Arena {
    /// Decides every contact of this step.
    pub(super) fn collide(&mut self) {
        self.bounce_off_sky();
        // Taken out so that hits can change the world while it is read. It is not changed by them:
        // a bounce moves a ship by less than anybody could see.
        let mut sweep = core::mem::take(&mut self.sweep);
        sweep.rebuild(self.entities());
        self.bounce_ships(&sweep);
        for id in self.ids(|entity| matches!(entity.kind(), Kind::Bullet | Kind::Rocket)) {
            self.strike(id, &sweep);
        }
        for id in self.ids(|entity| entity.kind() == Kind::Ray) {
            self.burn(id, &sweep);
        }
        for id in self.ids(|entity| entity.kind() == Kind::Shockwave) {
            self.grow(id, &sweep);
        }
        self.sweep = sweep;
    }

    fn bounce_off_sky(&mut self) {
        for id in self.ids(|entity| entity.kind() == Kind::Ship) {
            for n in 0..self.sky.len() {
                self.bounce_off(id, self.sky[n]);
            }
        }
    }

    /// Throws a ship back from the body of the sky that it touches.
    fn bounce_off(&mut self, id: EntityId, body: Celestial) {
        let Some(ship) = self.entities.get_mut(id.0) else {
            return;
        };
        let away = ship.position - body.position;
        let apart = body.radius + rules::SHIP_RADIUS;
        if away.length_squared() >= apart * apart {
            return;
        }
        let normal = away.unit().unwrap_or(Vec2::new(1.0, 0.0));
        ship.position = body.position + normal * apart;
        let approach = -(ship.velocity - body.velocity).dot(normal);
        let damage = if body.is_sun {
            let out = ship.velocity.dot(normal);
            ship.velocity += normal * ((approach * rules::BOUNCE).max(rules::SUN_BOUNCE) - out);
            rules::SUN_DAMAGE
        } else {
            ship.velocity += normal * (approach.max(0.0) * (1.0 + rules::BOUNCE));
            bump_damage(approach)
        };
        let at = body.position + normal * body.radius;
        self.hurt(id, damage, None);
        // A ship that gravity holds on a planet touches it in every step; only bumps are told.
        if approach > rules::SCRAPE {
            self.events.push(Event::Collision {
                a: id,
                b: body.id,
                at,
            });
        }
    }

    /// Lets ships that touch bounce off each other like balls of one weight.
    fn bounce_ships(&mut self, sweep: &Sweep) {
        let ships: Vec<_> = sweep.all().iter().filter(|it| it.is_ship).collect();
        let apart = 2.0 * rules::SHIP_RADIUS;
        for (n, a) in ships.iter().enumerate() {
            let right = a.position.x + apart;
            for b in ships[n + 1..].iter().take_while(|b| b.position.x < right) {
                if a.position.distance(b.position) < apart {
                    self.bounce_pair(a, b);
                }
            }
        }
    }

    fn bounce_pair(&mut self, a: &Target, b: &Target) {
        let normal = (b.position - a.position)
            .unit()
            .unwrap_or(Vec2::new(1.0, 0.0));
        let overlap = 2.0 * rules::SHIP_RADIUS - a.position.distance(b.position);
        let velocity = |id: EntityId| self.entity(id).map(|ship| ship.velocity);
        let (Some(of_a), Some(of_b)) = (velocity(a.id), velocity(b.id)) else {
            return;
        };
        let approach = (of_a - of_b).dot(normal);
        let kick = normal * (approach.max(0.0) * (1.0 + rules::BOUNCE) / 2.0);
        for (ship, away, other) in [(a, -1.0, b), (b, 1.0, a)] {
            if let Some(body) = self.entities.get_mut(ship.id.0) {
                body.position += normal * (away * overlap / 2.0);
                body.velocity += kick * away;
            }
            self.hurt(ship.id, bump_damage(approach), other.owner);
        }
        if approach > rules::SCRAPE {
            self.events.push(Event::Collision {
                a: a.id,
                b: b.id,
                at: (a.position + b.position) / 2.0,
            });
        }
    }

    /// Ends a bullet or rocket at what it touches.
    fn strike(&mut self, id: EntityId, sweep: &Sweep) {
        let Some(shot) = self.entities.get(id.0) else {
            return;
        };
        let (position, radius, owner) = (shot.position, shot.reach(), shot.owner);
        let heading = shot.heading.unit();
        let (damage, push) = match shot.kind() {
            Kind::Rocket => (rules::ROCKET_DAMAGE, rules::ROCKET_PUSH),
            _ => (rules::BULLET_DAMAGE, rules::BULLET_PUSH),
        };
        let touches = |at: Vec2, size: f64| {
            let apart = radius + size;
            (at - position).length_squared() < apart * apart
        };
        let ground = self.sky.iter().find(|it| touches(it.position, it.radius));
        let hit = if let Some(body) = ground {
            body.id
        } else {
            let span = position.x - radius..=position.x + radius;
            let target = sweep
                .near(span)
                .iter()
                .filter(|it| it.owner != owner && it.id != id)
                .filter(|it| touches(it.position, it.radius))
                // A rocket that struck before is gone, though the sweep still has it.
                .find(|it| self.entities.get(it.id.0).is_some());
            let Some(target) = target else { return };
            target.id
        };
        self.hurt(hit, damage, owner);
        self.push(hit, heading * push);
        self.events.push(Event::Collision {
            a: id,
            b: hit,
            at: position,
        });
        self.remove(id);
    }

    /// Ends a beam at the first thing in its way, and burns that.
    fn burn(&mut self, id: EntityId, sweep: &Sweep) {
        let Some(ray) = self.entities.get(id.0) else {
            return;
        };
        let owner = ray.owner;
        let beam = Beam {
            from: ray.position,
            way: ray.heading.unit(),
        };
        let (left, right) = (beam.from.x, beam.at(rules::PHASER_LENGTH).x);
        let span = left.min(right)..=left.max(right);
        let seen = self.seen_targets(owner);
        let targets = seen.as_deref().unwrap_or_else(|| sweep.near(span));
        let targets = targets
            .iter()
            .filter(|it| it.owner != owner && self.entities.get(it.id.0).is_some())
            .map(|it| (it.id, it.position, it.radius));
        let sky = self.sky.iter().map(|it| (it.id, it.position, it.radius));
        let first = sky
            .chain(targets)
            .filter_map(|(id, at, radius)| Some((beam.meets(at, radius)?, id)))
            .filter(|&(distance, _)| distance <= rules::PHASER_LENGTH)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let hit = first.map(|(_, id)| id);
        let reached = first.map_or(rules::PHASER_LENGTH, |(distance, _)| distance);
        let mut before = None;
        if let Some(Role::Ray { length, touching }) =
            self.entities.get_mut(id.0).map(|ray| &mut ray.role)
        {
            *length = reached;
            before = core::mem::replace(touching, hit);
        }
        let Some(hit) = hit else { return };
        self.hurt(hit, rules::PHASER_DAMAGE_PER_STEP, owner);
        if before != Some(hit) {
            let at = beam.at(reached);
            self.events.push(Event::Collision { a: id, b: hit, at });
        }
    }

    /// Widens a shockwave, and throws back what its rim passes.
    fn grow(&mut self, id: EntityId, sweep: &Sweep) {
        let Some(wave) = self.entities.get_mut(id.0) else {
            return;
        };
        let (middle, owner) = (wave.position, wave.owner);
        let Role::Shockwave { radius, passed } = &mut wave.role else {
            return;
        };
        *radius += rules::SHOCKWAVE_SPEED * rules::STEP_SECONDS;
        let reach = *radius;
        let reached: Vec<_> = sweep
            .near(middle.x - reach..=middle.x + reach)
            .iter()
            .filter(|it| it.owner != owner && !passed.contains(&it.id))
            .filter(|it| middle.distance(it.position) - it.radius <= reach)
            .copied()
            .collect();
        passed.extend(reached.iter().map(|it| it.id));
        for target in reached {
            let way = (target.position - middle).unit().unwrap_or_default();
            self.hurt(target.id, rules::SHOCKWAVE_DAMAGE, owner);
            self.push(target.id, way * rules::SHOCKWAVE_PUSH);
            self.events.push(Event::Collision {
                a: id,
                b: target.id,
                at: target.position - way * target.radius,
            });
        }
    }

    /// Takes health from a ship or rocket, and remembers whose doing it was.
    fn hurt(&mut self, id: EntityId, damage: f64, by: Option<PilotId>) {
        let now = self.tick;
        match self.entities.get_mut(id.0).map(|entity| &mut entity.role) {
            Some(Role::Ship(ship)) => {
                ship.health -= damage;
                if let Some(by) = by
                    && damage > 0.0
                {
                    ship.wound = Some((by, now));
                }
            }
            Some(Role::Rocket { health, .. }) => *health -= damage,
            _ => {}
        }
    }

    /// Adds to the speed of a ship; rockets fly on, and the sky does not care.
    fn push(&mut self, id: EntityId, velocity: Vec2) {
        if let Some(entity) = self.entities.get_mut(id.0)
            && entity.kind() == Kind::Ship
        {
            entity.velocity += velocity;
        }
    }
}

/// What a bounce costs.
fn bump_damage(approach: f64) -> f64 {
    (approach - rules::SOFT_BUMP).max(0.0) * rules::BUMP_DAMAGE
}

/// A straight line that begins somewhere.
#[derive(Clone, Copy)]
struct Beam {
    from: Vec2,
    /// Of length one.
    way: Vec2,
}

impl Beam {
    fn at(self, distance: f64) -> Vec2 {
        self.from + self.way * distance
    }

    /// At which distance it meets a circle; `None` if it misses. A beam that begins inside meets it
    /// at once.
    fn meets(self, middle: Vec2, radius: f64) -> Option<f64> {
        let to_middle = middle - self.from;
        let along = to_middle.dot(self.way);
        let aside_squared = to_middle.length_squared() - along * along;
        let half_chord_squared = radius * radius - aside_squared;
        if half_chord_squared < 0.0 {
            return None;
        }
        let half_chord = half_chord_squared.sqrt();
        (along + half_chord >= 0.0).then(|| (along - half_chord).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::tests::{arena_without_sky, health, place, run, ship_mut};
    use crate::{Arena, Heading, Loadout};

    const EAST: Beam = Beam {
        from: Vec2::new(100.0, 0.0),
        way: Vec2::new(1.0, 0.0),
    };

    #[test]
    fn a_beam_meets_what_is_ahead_of_it() {
        assert_eq!(EAST.meets(Vec2::new(200.0, 0.0), 10.0), Some(90.0));
        assert_eq!(EAST.meets(Vec2::new(200.0, 10.0), 10.0), Some(100.0));
        assert_eq!(EAST.meets(Vec2::new(200.0, 10.1), 10.0), None);
        assert_eq!(EAST.meets(Vec2::new(0.0, 0.0), 10.0), None);
        assert_eq!(EAST.meets(Vec2::new(95.0, 0.0), 10.0), Some(0.0));
    }

    #[test]
    fn ships_that_ram_each_other_bounce_and_both_suffer() {
        let mut arena = arena_without_sky();
        let left = place(&mut arena, Vec2::new(-200.0, 0.0), Loadout::UNARMED);
        let right = place(&mut arena, Vec2::new(200.0, 0.0), Loadout::UNARMED);
        ship_mut(&mut arena, left).velocity.x = 600.0;
        ship_mut(&mut arena, right).velocity.x = -600.0;
        run(&mut arena, 30);
        assert!(ship_mut(&mut arena, left).velocity.x < -50.0);
        assert!(ship_mut(&mut arena, right).velocity.x > 50.0);
        assert!(health(&arena, left) < 90.0);
        assert!((health(&arena, left) - health(&arena, right)).abs() < 1e-9);
    }

    #[test]
    fn a_gentle_touch_costs_nothing() {
        let mut arena = arena_without_sky();
        let left = place(&mut arena, Vec2::new(-100.0, 0.0), Loadout::UNARMED);
        let right = place(&mut arena, Vec2::new(100.0, 0.0), Loadout::UNARMED);
        ship_mut(&mut arena, left).velocity.x = 150.0;
        run(&mut arena, 60);
        assert!((health(&arena, left) - rules::SHIP_HEALTH).abs() < 1e-9);
        assert!((health(&arena, right) - rules::SHIP_HEALTH).abs() < 1e-9);
    }

    #[test]
    fn the_sun_burns_and_throws_back() {
        let mut arena = Arena::new(1);
        let pilot = place(&mut arena, Vec2::new(700.0, 0.0), Loadout::UNARMED);
        ship_mut(&mut arena, pilot).velocity.x = -800.0;
        run(&mut arena, 30);
        let burnt = rules::SHIP_HEALTH - rules::SUN_DAMAGE;
        assert!((health(&arena, pilot) - burnt).abs() < 1e-9);
        let ship = ship_mut(&mut arena, pilot);
        assert!(ship.velocity.x > 0.0 && ship.position.x > rules::SUN_RADIUS);
    }

    #[test]
    fn a_planet_costs_by_the_speed_of_the_impact() {
        let impact = |speed: f64| {
            let mut arena = Arena::new(1);
            let planet = arena.sky[2];
            let out = Heading::of(planet.position).unwrap().unit();
            let away = out * (planet.radius + rules::SHIP_RADIUS + 40.0);
            let pilot = place(&mut arena, planet.position + away, Loadout::UNARMED);
            ship_mut(&mut arena, pilot).velocity = planet.velocity - out * speed;
            run(&mut arena, 20);
            rules::SHIP_HEALTH - health(&arena, pilot)
        };
        assert!(impact(150.0) < 1e-9);
        assert!(impact(400.0) > 2.0);
        assert!(impact(700.0) > impact(400.0) + 4.0);
    }
}
