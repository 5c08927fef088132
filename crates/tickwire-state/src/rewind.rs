//! Lag compensation: what a shooter saw, as the server remembers it.
//!
//! In: at every tick, where everything is; later, the moment that somebody's screen showed. Out: the
//! world of that moment, blended between the ticks around it in the way a
//! [`Timeline`](crate::Timeline) shows it, and only with what existed then. No one is believed who
//! claims to have seen something older than [`REWIND_MAX`].
//!
//! The past is a view to read: nothing of the present changes, and there is nothing to put back.
//! Whether what was hit then is still there now is for the game to decide. An id must not be
//! used again within [`REWIND_MAX`], or two things would be taken for one.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::{Blend, Tick};

/// How far back a shot may reach.
///
/// A screen is behind by half a round trip and the delay of interpolation, and what is done by it
/// arrives another half later: with 100 ms of interpolation, that is all of it up to a round trip of
/// 150 ms. Whoever is farther behind has to aim ahead by the rest, because everybody hit would have been
/// behind a wall for too long already.
pub const REWIND_MAX: Duration = Duration::from_millis(250);

/// Where everything was during the last [`REWIND_MAX`].
///
/// ```
/// use core::time::Duration;
/// use tickwire_state::{Rewind, Tick, Vec2};
///
/// let at = |x| Vec2 { x, y: 0.0 };
/// let mut rewind = Rewind::new(Duration::from_millis(50));
/// rewind.record(Tick(10), [('a', at(0.0))]);
/// rewind.record(Tick(11), [('a', at(10.0)), ('b', at(3.0))]);
///
/// let past = rewind.to(Duration::from_millis(525)).unwrap();
/// assert_eq!(past.get('a'), Some(at(5.0)));
/// assert_eq!(past.get('b'), None, "it was not there yet");
/// ```
#[derive(Clone, Debug)]
pub struct Rewind<I, P> {
    tick_length: Duration,
    /// Ascending by tick.
    ticks: VecDeque<Recorded<I, P>>,
    /// The memory of a tick that was dropped, for the next.
    spare: Vec<(I, P)>,
}

#[derive(Clone, Debug)]
struct Recorded<I, P> {
    tick: Tick,
    /// Ascending by id, no id twice.
    things: Vec<(I, P)>,
}

impl<I: Copy + Ord, P: Blend + Clone> Rewind<I, P> {
    /// Remembers nothing yet. A tick's moment is its number times `tick_length`.
    ///
    /// # Panics
    /// If a tick takes less than a millisecond, so that the past would be long: it is configuration.
    pub const fn new(tick_length: Duration) -> Self {
        assert!(
            tick_length.as_millis() > 0,
            "a tick takes a millisecond at least"
        );
        Self {
            tick_length,
            ticks: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Remembers where everything is at a tick. Only a tick after all others is taken; ticks may be
    /// left out. Of an id that comes twice, either may count.
    pub fn record(&mut self, tick: Tick, things: impl IntoIterator<Item = (I, P)>) {
        if self.ticks.back().is_some_and(|last| last.tick >= tick) {
            return;
        }
        self.drop_before(self.moment_of(tick).saturating_sub(REWIND_MAX));
        let mut kept = core::mem::take(&mut self.spare);
        kept.extend(things);
        kept.sort_unstable_by_key(|(id, _)| *id);
        kept.dedup_by_key(|(id, _)| *id);
        self.ticks.push_back(Recorded { tick, things: kept });
    }

    /// The world of a moment of the server's clock; `None` while nothing is recorded. A moment after
    /// the newest tick is that tick, one that is too long ago is the earliest that counts.
    pub fn to(&self, moment: Duration) -> Option<Past<'_, I, P>> {
        let newest = self.moment_of(self.ticks.back()?.tick);
        let oldest = self.moment_of(self.ticks.front()?.tick);
        let earliest = newest.saturating_sub(REWIND_MAX).max(oldest);
        let time = moment.clamp(earliest, newest);

        let after = self
            .ticks
            .partition_point(|recorded| self.moment_of(recorded.tick) <= time);
        let base = self.ticks.get(after.checked_sub(1)?)?;
        let next = self.ticks.get(after).map(|next| {
            let start = self.moment_of(base.tick);
            let share = (time - start).div_duration_f32(self.moment_of(next.tick) - start);
            (next.things.as_slice(), share)
        });
        Some(Past {
            time,
            base: &base.things,
            // On a tick itself there is nothing to blend, and its positions are exact.
            next: next.filter(|(_, share)| *share > 0.0),
        })
    }

    /// The moment of a tick.
    pub fn moment_of(&self, tick: Tick) -> Duration {
        let nanos = self.tick_length.as_nanos().saturating_mul(tick.0.into());
        Duration::from_nanos_u128(nanos.min(Duration::MAX.as_nanos()))
    }

    /// Forgets everything: another world begins.
    pub fn clear(&mut self) {
        self.ticks.clear();
    }

    /// Drops what nobody can ask for any more. The last tick at or before `earliest` stays, because
    /// blending starts from it.
    fn drop_before(&mut self, earliest: Duration) {
        while let Some(second) = self.ticks.get(1)
            && self.moment_of(second.tick) <= earliest
            && let Some(mut dropped) = self.ticks.pop_front()
        {
            dropped.things.clear();
            self.spare = dropped.things;
        }
    }
}

/// The world as it was.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a, I, P> {
    time: Duration,
    base: &'a [(I, P)],
    next: Option<(&'a [(I, P)], f32)>,
}

impl<'a, I: Copy + Ord, P: Blend + Clone> Past<'a, I, P> {
    /// The moment that it shows: the one asked for, or the nearest that counts.
    pub const fn time(&self) -> Duration {
        self.time
    }

    /// Where a thing was, if it existed.
    pub fn get(&self, id: I) -> Option<P> {
        find(self.base, id).map(|base| self.blend(id, base))
    }

    /// Everything that existed, ascending by id.
    pub fn iter(&self) -> impl Iterator<Item = (I, P)> {
        self.base
            .iter()
            .map(|(id, base)| (*id, self.blend(*id, base)))
    }

    /// What is gone at the next tick was still there until then.
    fn blend(&self, id: I, base: &P) -> P {
        self.next
            .and_then(|(next, share)| Some(base.blend(find(next, id)?, share)))
            .unwrap_or_else(|| base.clone())
    }
}

fn find<I: Copy + Ord, P>(things: &[(I, P)], id: I) -> Option<&P> {
    let at = things.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    things.get(at).map(|(_, thing)| thing)
}

#[cfg(test)]
mod tests;
