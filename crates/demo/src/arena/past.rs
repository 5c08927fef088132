//! Where everybody was a moment ago, for those who see it late.
//!
//! A player sees the others as they were some time ago, and aims a ray at that. If its gateway says
//! how long ago, the ray is judged by where they were then. Whoever was hit is hurt now. While nobody
//! sees anything late, nothing is remembered.

use tickwire_state::Rewind;

use super::Arena;
use super::sweep::Target;
use crate::flight::narrow;
use crate::{EntityId, Kind, PilotId, STEP, Vec2};

/// Where ships and rockets were.
#[derive(Clone, Debug)]
pub(super) struct Past(Rewind<EntityId, tickwire_state::Vec2>);

impl Default for Past {
    fn default() -> Self {
        Self(Rewind::new(STEP))
    }
}

impl Arena {
    /// Remembers where everything is that a ray can hit.
    pub(super) fn remember(&mut self) {
        if self.pilots().all(|(_, pilot)| pilot.rewind.is_zero()) {
            self.past.0.clear();
            return;
        }
        let entities = self.entities.iter().map(|(slot, it)| (EntityId(slot), it));
        let targets = entities.filter(|(_, it)| matches!(it.kind(), Kind::Ship | Kind::Rocket));
        let places = targets.map(|(id, it)| {
            let place = tickwire_state::Vec2 {
                x: narrow(it.position.x),
                y: narrow(it.position.y),
            };
            (id, place)
        });
        self.past
            .0
            .record(tickwire_state::Tick(self.tick.0), places);
    }

    /// What a pilot sees that a ray can hit, and that is still there; `None` if it sees what is.
    pub(super) fn seen_targets(&self, pilot: Option<PilotId>) -> Option<Vec<Target>> {
        let rewind = self.pilot(pilot?)?.rewind;
        if rewind.is_zero() {
            return None;
        }
        let now = self.past.0.moment_of(tickwire_state::Tick(self.tick.0));
        let past = self.past.0.to(now.saturating_sub(rewind))?;
        let targets = past.iter().filter_map(|(id, place)| {
            let entity = self.entity(id)?;
            Some(Target {
                id,
                position: Vec2::new(place.x.into(), place.y.into()),
                radius: entity.reach(),
                owner: entity.owner,
                is_ship: entity.kind() == Kind::Ship,
            })
        });
        Some(targets.collect())
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::arena::tests::{arena_without_sky, hold, place, ship, ship_mut};
    use crate::{Loadout, Weapon, rules};

    /// A ship crosses in front of a phaser that points at where it was so many steps ago. What is left of
    /// it?
    fn health_when_seen(late: usize, rewind: Duration) -> u8 {
        let mut arena = arena_without_sky();
        let phaser = Loadout([Some(Weapon::Phaser), None, None, None]);
        let shooter = place(&mut arena, Vec2::ZERO, phaser);
        let target = place(&mut arena, Vec2::new(500.0, -600.0), Loadout::UNARMED);
        arena.set_rewind(shooter, rewind);
        let mut seen = Vec::new();
        for _ in 0..60 {
            ship_mut(&mut arena, target).velocity = Vec2::new(0.0, 900.0);
            arena.step();
            seen.push(ship(&arena, target).position);
            let Some(late) = seen.len().checked_sub(late) else {
                continue;
            };
            // The ray is fired in the next step.
            let aim = seen[late];
            hold(&mut arena, shooter, |intent| {
                intent.aim = aim;
                intent.fire[0] = true;
            });
        }
        ship(&arena, target).health_percent()
    }

    #[test]
    fn a_ray_hits_what_its_shooter_saw() {
        assert_eq!(health_when_seen(12, Duration::ZERO), 100);
        let health = health_when_seen(12, STEP * 12);
        let burnt = rules::PHASER_DAMAGE_PER_STEP * 40.0;
        assert!(f64::from(health) < 100.0 - burnt, "{health}");
    }

    #[test]
    fn nobody_sees_further_back_than_a_quarter_of_a_second() {
        assert_eq!(health_when_seen(30, STEP * 30), 100);
    }

    #[test]
    fn nothing_is_remembered_for_nobody() {
        let mut arena = arena_without_sky();
        let pilot = place(&mut arena, Vec2::ZERO, Loadout::UNARMED);
        arena.step();
        assert!(arena.past.0.to(Duration::ZERO).is_none());
        arena.set_rewind(pilot, STEP);
        arena.step();
        assert!(arena.past.0.to(Duration::ZERO).is_some());
    }
}
