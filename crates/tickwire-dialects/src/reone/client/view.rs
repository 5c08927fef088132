//! The world at the moment that is shown.

use alloc::sync::Arc;
use core::time::Duration;

use tickwire_state::{Angle, Sample, Vec3, blend_unless};

use super::resref_cache::ResrefCache;
use super::snapshot::Snapshot;
use crate::reone::{AnyStatus, ObjectId, SnapshotSeq};

/// The world at one moment: what is there by the last snapshot before it, where things are blended
/// with the next. A creature is there once its resref is known.
#[derive(Debug)]
pub struct View<'a> {
    sample: Sample<'a, Arc<Snapshot>>,
    resrefs: &'a ResrefCache,
    /// The longest way that is a movement and no jump, from one snapshot to the next.
    reach: f32,
}

/// An object as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown<'a> {
    /// Where it is at this moment.
    pub pos: Vec3,
    /// Which way it looks at this moment, in radians.
    pub heading: f32,
    /// Everything else, as of the last snapshot.
    pub object: &'a AnyStatus,
    /// What it is made of: of every creature, and of no other object.
    pub resref: Option<&'a str>,
}

impl<'a> View<'a> {
    pub(super) const fn new(
        sample: Sample<'a, Arc<Snapshot>>,
        resrefs: &'a ResrefCache,
        reach: f32,
    ) -> Self {
        Self {
            sample,
            resrefs,
            reach,
        }
    }

    /// The moment, on the server's clock.
    pub const fn time(&self) -> Duration {
        self.sample.time()
    }

    /// The server's tick that is nearest to it.
    pub fn tick(&self) -> u32 {
        let Some((from, next, share)) = self.sample.blend() else {
            return self.sample.snapshot().tick;
        };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "snapshots are a handful of ticks apart, and what is out of range becomes the nearest"
        )]
        let ticks = (share * next.tick.wrapping_sub(from.tick) as f32 + 0.5) as u32;
        from.tick.wrapping_add(ticks)
    }

    /// The last snapshot before it.
    pub fn sequence(&self) -> SnapshotSeq {
        self.sample.snapshot().sequence
    }

    /// Everything that is there, by id.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, Shown<'a>)> {
        let objects = self.sample.snapshot().objects();
        objects.filter_map(|(id, object)| Some((id, self.show(id, object)?)))
    }

    /// One object.
    pub fn object(&self, id: ObjectId) -> Option<Shown<'a>> {
        self.show(id, self.sample.snapshot().object(id)?)
    }

    fn show(&self, id: ObjectId, object: &'a AnyStatus) -> Option<Shown<'a>> {
        let resref = match object {
            AnyStatus::Creature(_) => Some(self.resrefs.resref(id)?),
            AnyStatus::Spatial(_) => None,
        };
        let (pos, heading) = self
            .blend(id)
            .unwrap_or_else(|| (object.pos(), object.heading()));
        Some(Shown {
            pos,
            heading,
            object,
            resref,
        })
    }

    fn blend(&self, id: ObjectId) -> Option<(Vec3, f32)> {
        let (from, next, share) = self.sample.blend()?;
        let snapshots = next.sequence.since(from.sequence);
        #[expect(clippy::cast_precision_loss, reason = "a handful of snapshots")]
        let reach = self.reach * snapshots as f32;
        let (from, next) = (from.object(id)?, next.object(id)?);
        let (here, there) = (from.pos(), next.pos());
        let (turned, turning) = (Angle(from.heading()), Angle(next.heading()));
        // Whoever jumped did not turn on the way either.
        let has_jumped = !is_within(here, there, reach);
        let pos = blend_unless(has_jumped, &here, &there, share);
        let heading = blend_unless(has_jumped, &turned, &turning, share);
        Some((pos, heading.0))
    }
}

/// Whether two places are at most so far apart; never if one of them is none.
fn is_within(a: Vec3, b: Vec3, distance: f32) -> bool {
    let (x, y, z) = (b.x - a.x, b.y - a.y, b.z - a.z);
    x * x + y * y + z * z <= distance * distance
}
