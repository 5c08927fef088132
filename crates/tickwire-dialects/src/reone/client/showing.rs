//! From snapshots to what is shown at a moment.
//!
//! In: whole snapshots as they become so, and at which pace the server makes them. Out: a [`View`] of
//! any moment, late by as much as the server asks for, so that the snapshots around it are usually here.
//! Nobody looks back: a moment before the last one shown is not shown again.

use alloc::sync::Arc;
use core::num::NonZeroU16;
use core::time::Duration;

use tickwire_session::Instant;
use tickwire_state::{RemoteClock, Timeline, TooLate};

use super::View;
use super::limits::{EXTRAPOLATION_MAX, TIMELINE};
use super::resref_cache::ResrefCache;
use super::snapshot::Snapshot;
use crate::reone::SnapshotSeq;
use crate::reone::message::Parameters;

#[derive(Debug)]
pub(super) struct Showing {
    /// What moves faster than this, in the game's units a second, jumped.
    speed_max: f32,
    timeline: Timeline<Arc<Snapshot>>,
    /// The server's clock, by the snapshots that came.
    clock: RemoteClock,
    /// The next whole snapshot begins another timeline.
    is_outdated: bool,
    /// The server's tick at the moment that was shown last; 0 before the first.
    tick: u32,
}

/// When snapshots are, on the server's clock, and how late they are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    tick_rate: NonZeroU16,
    pub(super) lerp: Duration,
}

impl Showing {
    /// Nothing is there to be shown.
    pub(super) const fn new(speed_max: f32) -> Self {
        Self {
            speed_max,
            timeline: Timeline::new(TIMELINE, EXTRAPOLATION_MAX),
            clock: RemoteClock::new(),
            is_outdated: false,
            tick: 0,
        }
    }

    /// Another module begins: there is nothing to be shown until it has a snapshot.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.speed_max);
    }

    /// What comes next does not follow what is here. The picture stays until it comes.
    pub(super) const fn restart(&mut self) {
        self.is_outdated = true;
    }

    /// Takes a whole snapshot. If none is newer, the server's clock has come as far as this.
    pub(super) fn add(
        &mut self,
        now: Instant,
        pace: Pace,
        snapshot: &Arc<Snapshot>,
        is_newest: bool,
    ) -> Result<(), TooLate> {
        if self.is_outdated {
            self.timeline.clear();
            self.clock = RemoteClock::new();
            self.is_outdated = false;
        }
        let time = pace.time_of(snapshot.sequence);
        if is_newest {
            self.clock.add_arrival(now, time);
        }
        self.timeline.insert(time, snapshot.clone())
    }

    /// The world as it is to be shown now.
    pub(super) fn sample<'a>(
        &'a mut self,
        now: Instant,
        pace: Pace,
        resrefs: &'a ResrefCache,
    ) -> Option<View<'a>> {
        let time = self.time_at(now, pace)?;
        let reach = self.speed_max * pace.interval().as_secs_f32();
        let view = View::new(self.timeline.sample(time)?, resrefs, reach);
        self.tick = view.tick();
        Some(view)
    }

    /// The moment of the server's clock that is to be shown now.
    pub(super) fn time_at(&self, now: Instant, pace: Pace) -> Option<Duration> {
        let reached = self.clock.time_at(now)?;
        Some(reached.saturating_sub(pace.lerp))
    }

    /// The server's tick at the moment that was shown last; 0 before the first.
    pub(super) const fn tick(&self) -> u32 {
        self.tick
    }
}

impl Pace {
    /// The pace that the server said.
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            tick_rate: parameters.tick_rate,
            lerp: Duration::from_millis(parameters.lerp_ms as u64),
        }
    }

    /// The moment of the server's clock that a snapshot shows.
    pub(super) fn time_of(self, sequence: SnapshotSeq) -> Duration {
        let rate = u64::from(self.tick_rate.get());
        Duration::from_nanos(u64::from(sequence.0) * 1_000_000_000 / rate)
    }

    /// The time from one snapshot to the next.
    pub(super) fn interval(self) -> Duration {
        self.time_of(SnapshotSeq(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_do_not_drift_at_a_rate_that_divides_no_second() {
        let pace = |tick_rate| Pace {
            tick_rate: NonZeroU16::new(tick_rate).expect("some snapshots come"),
            lerp: Duration::ZERO,
        };
        assert_eq!(pace(20).interval(), Duration::from_millis(50));
        let hour = SnapshotSeq(3 * 3_600);
        assert_eq!(pace(3).time_of(hour), Duration::from_secs(3_600));
    }
}
