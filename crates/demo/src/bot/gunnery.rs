//! Aiming and firing.

use core::f64::consts::TAU;
use core::time::Duration;

use super::Plan;
use super::track::{Motion, Track};
use crate::{Intent, Loadout, Random, Seen, Vec2, Weapon, rules};

/// The one at the weapons: what it may fire, and how good it is.
#[derive(Clone, Debug)]
pub(super) struct Gunner {
    loadout: Loadout,
    /// How far the aim strays, in radians. It sways slowly, as hands do.
    sway: f64,
    /// Where in its sway it began, in radians.
    phase: f64,
    /// Length of a burst of bullets, and of the pause after it.
    burst: (Duration, Duration),
    /// Seconds of beam left by its own count.
    charge: f64,
    /// The beam is held.
    burning: bool,
    /// When the charge was last counted.
    last: Duration,
}

/// What the gunner is told before it fires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation<'a> {
    pub(super) now: Duration,
    pub(super) me: &'a Seen,
    pub(super) enemy: Option<Track>,
    /// A hostile rocket on its way here.
    pub(super) rocket: Option<&'a Seen>,
    pub(super) plan: Plan,
}

impl Gunner {
    pub(super) fn new(loadout: Loadout, sway: f64, random: &mut Random) -> Self {
        let mut seconds = |from, to| Duration::from_secs_f64(random.between(from, to));
        let burst = (seconds(0.6, 1.6), seconds(0.2, 0.7));
        Self {
            loadout,
            sway: sway * random.between(0.02, 0.07),
            phase: random.between(0.0, TAU),
            burst,
            charge: FULL_CHARGE,
            burning: false,
            last: Duration::ZERO,
        }
    }

    /// Sets the aim and the triggers.
    pub(super) fn fire(&mut self, intent: &mut Intent, situation: &Situation<'_>) {
        let Situation {
            now,
            me,
            enemy,
            rocket,
            plan,
        } = *situation;
        let seconds = now.saturating_sub(self.last).as_secs_f64().min(0.25);
        self.last = now;
        let distance = enemy.map_or(f64::INFINITY, |enemy| me.position.distance(enemy.position));
        self.mind_charge(seconds, plan.clear && distance < BEAM_DISTANCE);

        let mut gun = plan.clear && distance < GUN_DISTANCE && self.in_burst(now);
        if let Some(enemy) = enemy {
            let lead = enemy.motion().meets_bullet_from(me.position);
            // A beam is there at once, a bullet is not: while one burns, the other must wait,
            // unless the same aim serves both.
            let target = if self.burning { enemy.position } else { lead };
            gun &= target.distance(lead) < rules::SHIP_RADIUS;
            intent.aim = self.swayed(me, target, now);
        }
        if let Some(rocket) = rocket
            && !self.burning
        {
            let motion = Motion {
                position: rocket.position,
                velocity: rocket.heading.unit() * rules::ROCKET_MAX_SPEED,
            };
            intent.aim = motion.meets_bullet_from(me.position);
            gun = true;
        }
        let launch = plan.clear && ROCKET_DISTANCES.contains(&distance);
        for (fire, weapon) in intent.fire.iter_mut().zip(self.loadout.0) {
            *fire = match weapon {
                Some(Weapon::Gun) => gun,
                Some(Weapon::Phaser) => self.burning,
                Some(Weapon::Rocket) => launch,
                Some(Weapon::Shockwave) => plan.pressed,
                None => false,
            };
        }
    }

    /// Counts the charge of the phaser, and decides whether to hold it.
    fn mind_charge(&mut self, seconds: f64, wanted: bool) {
        self.charge += if self.burning {
            -seconds
        } else {
            seconds / f64::from(rules::PHASER_REST_PER_STEP)
        };
        self.charge = self.charge.clamp(0.0, FULL_CHARGE);
        let has_phaser = self.loadout.0.contains(&Some(Weapon::Phaser));
        let needed = if self.burning { 0.1 } else { 0.7 * FULL_CHARGE };
        self.burning = has_phaser && wanted && self.charge >= needed;
    }

    fn in_burst(&self, now: Duration) -> bool {
        let (burst, pause) = self.burst;
        now.as_millis() % (burst + pause).as_millis().max(1) < burst.as_millis()
    }

    fn swayed(&self, me: &Seen, target: Vec2, now: Duration) -> Vec2 {
        let way = target - me.position;
        let angle = self.phase + now.as_secs_f64() * SWAYS_PER_SECOND * TAU;
        target + way.left() * (self.sway * libm::sin(angle))
    }
}

impl Motion {
    /// Where a bullet meets this, if fired from there at once.
    fn meets_bullet_from(self, muzzle: Vec2) -> Vec2 {
        // Each round corrects the flight time of the round before; three are enough, because
        // bullets are faster than anything they are fired at.
        (0..3).fold(self.position, |meeting, _| {
            self.position + self.velocity * (muzzle.distance(meeting) / rules::BULLET_SPEED)
        })
    }
}

/// Seconds that a full phaser burns.
const FULL_CHARGE: f64 = rules::PHASER_CHARGE_STEPS as f64 * rules::STEP_SECONDS;
/// Nearer than this, a beam reaches.
const BEAM_DISTANCE: f64 = rules::PHASER_LENGTH + rules::SHIP_RADIUS;
/// Nearer than this, a bullet has a chance to hit what sees it come.
const GUN_DISTANCE: f64 = 2_000.0;
/// Nearer, a rocket has no time to turn; further, it is seen too early.
const ROCKET_DISTANCES: core::ops::Range<f64> = 450.0..2_300.0;
/// How often the aim sways to and fro.
const SWAYS_PER_SECOND: f64 = 0.4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_led_bullet_meets_its_target() {
        let target = Motion {
            position: Vec2::new(1_000.0, -400.0),
            velocity: Vec2::new(-250.0, 600.0),
        };
        let aim = target.meets_bullet_from(Vec2::ZERO);
        let flight = aim.length() / rules::BULLET_SPEED;
        let miss = aim.distance(target.position + target.velocity * flight);
        assert!(miss < rules::SHIP_RADIUS, "{miss}");
    }
}
