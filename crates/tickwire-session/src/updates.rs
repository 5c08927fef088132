//! When states of the world cross the network.
//!
//! In: the moment of each. Out: how many there were, how old the newest is, and the moments of the last few, so that
//! whoever looks once a frame sees every gap between them.

use core::time::Duration;

use crate::Instant;

/// Moments that are kept: more than arrive between two looks, even after a stall.
pub const UPDATES_KEPT: usize = 64;

/// The states of the world that came from a peer, or went to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Updates {
    count: u64,
    /// The newest of all is at `count - 1`, modulo their number.
    moments: [Instant; UPDATES_KEPT],
}

impl Updates {
    /// None yet.
    pub const NONE: Self = Self {
        count: 0,
        moments: [Instant::ZERO; UPDATES_KEPT],
    };

    /// One came, or went.
    pub const fn add(&mut self, now: Instant) {
        let place = self.count % UPDATES_KEPT as u64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::indexing_slicing,
            reason = "below the array's length"
        )]
        {
            self.moments[place as usize] = now;
        }
        self.count += 1;
    }

    /// How many so far.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// When the newest came.
    pub fn newest(&self) -> Option<Instant> {
        self.since(self.count.saturating_sub(1)).next()
    }

    /// How long ago the newest came.
    pub fn age(&self, now: Instant) -> Option<Duration> {
        self.newest().map(|newest| now.since(newest))
    }

    /// The share that was held back, if so many were beside these.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn choke(&self, held_back: u64) -> f32 {
        held_back as f32 / (held_back + self.count).max(1) as f32
    }

    /// The moments of all after the first `seen`, as far as they are kept, the oldest first.
    pub fn since(&self, seen: u64) -> impl Iterator<Item = Instant> {
        let kept = self.count.saturating_sub(UPDATES_KEPT as u64);
        let numbers = seen.max(kept)..self.count;
        numbers.filter_map(|number| {
            let place = usize::try_from(number % UPDATES_KEPT as u64).ok()?;
            self.moments.get(place).copied()
        })
    }
}

impl Default for Updates {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn whoever_looks_sees_what_came_since() {
        let mut updates = Updates::NONE;
        assert_eq!((updates.newest(), updates.age(Instant::ZERO)), (None, None));
        let moment = |n: u64| Instant::from_millis(n * 10);
        for n in 0..100 {
            updates.add(moment(n));
            assert_eq!(
                (updates.count(), updates.newest()),
                (n + 1, Some(moment(n)))
            );
        }
        let since = |seen| updates.since(seen).collect::<Vec<_>>();
        assert_eq!(since(98), [moment(98), moment(99)]);
        assert_eq!(since(100), []);
        assert_eq!(since(0).len(), UPDATES_KEPT);
        assert_eq!(since(0).first(), Some(&moment(36)));
        assert_eq!(updates.age(moment(101)), Some(Duration::from_millis(20)));
    }
}
