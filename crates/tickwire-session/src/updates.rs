//! When states of the world cross the network.
//!
//! In: the moment of each, and those that a server held back. Out: how many there were, how old the newest is, what
//! share was held back, and the moments of the last few, so that whoever looks once a frame sees every gap between them.

use core::time::Duration;

use crate::{Instant, Loss};

/// Moments that are kept: more than arrive between two looks, even after a stall.
pub const UPDATES_KEPT: usize = 64;

/// The states of the world that came from a peer, or went to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Updates {
    count: u64,
    held_back: Loss,
    /// The newest of all is at `count - 1`, modulo their number.
    moments: [Instant; UPDATES_KEPT],
}

impl Updates {
    /// None yet.
    pub const NONE: Self = Self {
        count: 0,
        held_back: Loss::new(),
        moments: [Instant::ZERO; UPDATES_KEPT],
    };

    /// One came, or went.
    pub fn add(&mut self, now: Instant) {
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
        self.held_back.add_arrival(0);
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

    /// One was due and did not go: the path had no room, or the one before it was not through.
    pub fn hold_back(&mut self) {
        self.held_back.add_missing();
    }

    /// The share of the last hundred or so that was held back, 0 to 1.
    pub const fn choke(&self) -> Option<f32> {
        self.held_back.share()
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

    #[test]
    fn what_is_held_back_is_a_share_that_fades() {
        let mut updates = Updates::NONE;
        assert_eq!(updates.choke(), None);
        updates.add(Instant::ZERO);
        assert_eq!(updates.choke(), Some(0.0));
        for _ in 0..500 {
            updates.hold_back();
            updates.add(Instant::ZERO);
        }
        let choke = updates.choke().unwrap();
        assert!((choke - 0.5).abs() < 0.02, "{choke}");
        assert_eq!(updates.count(), 501, "what is held back did not go");
        (0..1_000).for_each(|_| updates.add(Instant::ZERO));
        assert!(updates.choke().unwrap() < 0.01);
    }
}
