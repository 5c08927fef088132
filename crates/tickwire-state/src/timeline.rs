//! The world at any moment, from snapshots of some.
//!
//! In: snapshots with the moments they show, in any order, and the moment wanted. Out: the two
//! snapshots around it and how far it is between them, from which each object is blended on its own.
//! Beyond the newest snapshot objects move on for a stated time, then stand still.
//!
//! Time never runs backwards here: who asks for an earlier moment than before sees the same one again,
//! and a snapshot older than what was shown is not taken. How late to show the world, so that most
//! snapshots are there in time, is the caller's.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use crate::Blend;

/// Snapshots around the moment that is shown. Moments are spans since the server's clock began.
#[derive(Clone, Debug)]
pub struct Timeline<S> {
    capacity: usize,
    extrapolation: Duration,
    /// Ascending, no moment twice.
    snapshots: VecDeque<(Duration, S)>,
    /// The last moment sampled.
    shown: Duration,
}

/// A snapshot lies before what was shown already, or shows a moment that is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLate;

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the snapshot is older than what was shown")
    }
}

impl core::error::Error for TooLate {}

/// Beyond the newest snapshot, objects move on by at most so many times their last movement: two
/// snapshots almost at the same moment say nothing about speed.
const SHARE_MAX: f32 = 16.0;

impl<S> Timeline<S> {
    /// A timeline that keeps up to `capacity` snapshots, and shows the world up to `extrapolation`
    /// beyond the newest.
    ///
    /// # Panics
    /// If `capacity` is below 2: between fewer there is nothing to show.
    pub const fn new(capacity: usize, extrapolation: Duration) -> Self {
        assert!(capacity >= 2, "a timeline holds at least two snapshots");
        Self {
            capacity,
            extrapolation,
            snapshots: VecDeque::new(),
            shown: Duration::ZERO,
        }
    }

    /// Takes the snapshot of a moment. With too many, the oldest is dropped.
    pub fn insert(&mut self, time: Duration, snapshot: S) -> Result<(), TooLate> {
        let at = self.snapshots.partition_point(|(held, _)| *held < time);
        let is_there = self
            .snapshots
            .get(at)
            .is_some_and(|(held, _)| *held == time);
        // The newest one that was reached is what blending starts from; before it is the past.
        let is_past = self
            .snapshots
            .get(at)
            .is_some_and(|(held, _)| *held <= self.shown);
        if is_there || is_past {
            return Err(TooLate);
        }
        self.snapshots.insert(at, (time, snapshot));
        if self.snapshots.len() > self.capacity {
            self.snapshots.pop_front();
        }
        Ok(())
    }

    /// The world at a moment; `None` while there is no snapshot.
    ///
    /// Before the oldest snapshot it shows the oldest; later than the bound after the newest, what
    /// that bound shows; of a single snapshot, that; and never an earlier moment than the last time.
    pub fn sample(&mut self, time: Duration) -> Option<Sample<'_, S>> {
        let &(oldest, _) = self.snapshots.front()?;
        let &(newest, _) = self.snapshots.back()?;
        // One snapshot alone says nothing about movement: its moment stands still with it.
        let latest = match self.snapshots.len() {
            1 => newest,
            _ => newest.saturating_add(self.extrapolation),
        };
        let time = time.max(oldest).min(latest).max(self.shown);
        self.shown = time;
        // One before the base is kept: its movement goes on when nothing follows.
        let reached = self.snapshots.partition_point(|(held, _)| *held <= time);
        self.snapshots.drain(..reached.saturating_sub(2));
        let base = reached.min(2).saturating_sub(1);

        let (base_time, shown) = self.snapshots.get(base)?;
        let blend = match self.snapshots.get(base + 1) {
            Some((next_time, next)) => {
                let share = share(time - *base_time, *next_time - *base_time);
                Some((shown, next, share))
            }
            None => self
                .snapshots
                .get(base.wrapping_sub(1))
                .map(|(before, previous)| {
                    let beyond = share(time - *base_time, *base_time - *before);
                    (previous, shown, 1.0 + beyond.min(SHARE_MAX))
                }),
        };
        Some(Sample { time, shown, blend })
    }

    /// The newest snapshot and its moment.
    pub fn newest(&self) -> Option<(Duration, &S)> {
        self.snapshots
            .back()
            .map(|(time, snapshot)| (*time, snapshot))
    }

    /// Forgets everything, the last moment shown included: another world begins.
    pub fn clear(&mut self) {
        self.snapshots.clear();
        self.shown = Duration::ZERO;
    }
}

/// The world at one moment.
#[derive(Debug)]
pub struct Sample<'a, S> {
    time: Duration,
    shown: &'a S,
    blend: Option<(&'a S, &'a S, f32)>,
}

impl<'a, S> Sample<'a, S> {
    /// The moment that is shown.
    pub const fn time(&self) -> Duration {
        self.time
    }

    /// The last snapshot at or before that moment: what is there, and what does not blend.
    pub const fn snapshot(&self) -> &'a S {
        self.shown
    }

    /// An object at this moment, blended from its states in the two snapshots around it. `find` is
    /// how a snapshot finds the object; one that is in only one of them is shown as it is in
    /// [`snapshot`](Self::snapshot), or not at all.
    pub fn show<T: Blend + Clone + 'a>(&self, find: impl Fn(&'a S) -> Option<&'a T>) -> Option<T> {
        let shown = find(self.shown)?;
        let blended = self
            .blend
            .and_then(|(from, next, share)| Some(find(from)?.blend(find(next)?, share)));
        Some(blended.unwrap_or_else(|| shown.clone()))
    }

    /// The two snapshots to blend and how far to go from the first to the second, for states that
    /// [`show`](Self::show) cannot find as one value. Above 1, the movement goes on beyond the second.
    pub const fn blend(&self) -> Option<(&'a S, &'a S, f32)> {
        self.blend
    }
}

fn share(part: Duration, whole: Duration) -> f32 {
    if part.is_zero() {
        return 0.0;
    }
    part.div_duration_f32(whole)
}

#[cfg(test)]
mod tests;
