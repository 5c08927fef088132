//! Finding what is near, without asking everybody.

use core::ops::RangeInclusive;

use crate::{Entity, EntityId, PilotId, Vec2, rules};

/// What can be hit by shots, sorted from left to right.
///
/// Rebuilt in every step. With a few hundred targets in an arena a hundred ships wide, a slice of it
/// holds a handful, and sorting costs less than keeping a grid.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    targets: Vec<Target>,
}

/// A ship or a rocket, as it was when the sweep was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) id: EntityId,
    pub(super) position: Vec2,
    pub(super) radius: f64,
    pub(super) owner: Option<PilotId>,
    pub(super) is_ship: bool,
}

impl Sweep {
    pub(super) fn rebuild<'a>(&mut self, entities: impl Iterator<Item = (EntityId, &'a Entity)>) {
        self.targets.clear();
        self.targets.extend(entities.filter_map(|(id, entity)| {
            let is_ship = match entity.kind() {
                crate::Kind::Ship => true,
                crate::Kind::Rocket => false,
                _ => return None,
            };
            Some(Target {
                id,
                position: entity.position,
                radius: entity.reach(),
                owner: entity.owner,
                is_ship,
            })
        }));
        // A stable sort: equal positions stay in the order of their ids, and so does every replay.
        self.targets
            .sort_by(|a, b| a.position.x.total_cmp(&b.position.x));
    }

    /// All, from left to right.
    pub(super) fn all(&self) -> &[Target] {
        &self.targets
    }

    /// Those that may touch this span of `x`, and some that do not quite.
    pub(super) fn near(&self, span: RangeInclusive<f64>) -> &[Target] {
        let left = span.start() - rules::SHIP_RADIUS;
        let right = span.end() + rules::SHIP_RADIUS;
        let from = self.targets.partition_point(|it| it.position.x < left);
        let len = self.targets[from..].partition_point(|it| it.position.x <= right);
        &self.targets[from..from + len]
    }
}

// The margin of `near` must be the radius of the largest target.
const _: () = assert!(rules::SHIP_RADIUS >= rules::ROCKET_RADIUS);
