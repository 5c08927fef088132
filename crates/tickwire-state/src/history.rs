//! The newest snapshots, by tick.
//!
//! In: snapshots in any order, each once. Out: the one of a tick, as long as it is held: a delta's
//! baseline. How many are held is the protocol's promise; what is older than the oldest of a full
//! history is not taken, since nothing may refer to it any more.

use alloc::collections::VecDeque;

use crate::Tick;

/// Up to so many snapshots, the newest ones.
#[derive(Clone, Debug)]
pub struct History<S> {
    capacity: usize,
    /// Ascending, no tick twice.
    held: VecDeque<(Tick, S)>,
}

impl<S> History<S> {
    /// An empty history that holds up to `capacity` snapshots.
    ///
    /// # Panics
    /// If `capacity` is 0: it is a constant of the protocol.
    pub const fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "a history holds something");
        Self {
            capacity,
            held: VecDeque::new(),
        }
    }

    /// Keeps a snapshot, and drops the oldest if there are too many. Returns whether it is held now:
    /// not if it is older than everything in a full history. One of a tick that is held replaces it.
    pub fn insert(&mut self, tick: Tick, snapshot: S) -> bool {
        let at = self.held.partition_point(|(held, _)| *held < tick);
        if let Some((held, there)) = self.held.get_mut(at)
            && *held == tick
        {
            *there = snapshot;
            return true;
        }
        if self.held.len() < self.capacity {
            self.held.insert(at, (tick, snapshot));
            return true;
        }
        let Some(at) = at.checked_sub(1) else {
            return false;
        };
        self.held.pop_front();
        self.held.insert(at, (tick, snapshot));
        true
    }

    /// The snapshot of a tick.
    pub fn get(&self, tick: Tick) -> Option<&S> {
        let at = self.held.binary_search_by_key(&tick, |(held, _)| *held);
        self.held.get(at.ok()?).map(|(_, snapshot)| snapshot)
    }

    /// Drops everything older than `tick`.
    pub fn drop_older(&mut self, tick: Tick) {
        let older = self.held.partition_point(|(held, _)| *held < tick);
        self.held.drain(..older);
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.held.clear();
    }

    /// The newest snapshot and its tick.
    pub fn newest(&self) -> Option<(Tick, &S)> {
        self.held.back().map(|(tick, snapshot)| (*tick, snapshot))
    }

    /// The oldest snapshot and its tick.
    pub fn oldest(&self) -> Option<(Tick, &S)> {
        self.held.front().map(|(tick, snapshot)| (*tick, snapshot))
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Tick, &S)> {
        self.held.iter().map(|(tick, snapshot)| (*tick, snapshot))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(history: &History<u64>, ticks: &[u64]) {
        let held: Vec<_> = history.iter().map(|(tick, _)| tick.0).collect();
        assert_eq!(held, ticks);
        for &tick in ticks {
            assert_eq!(history.get(Tick(tick)), Some(&tick));
        }
    }

    #[test]
    fn the_oldest_gives_way() {
        let mut history = History::new(3);
        for tick in [3, 9, 6, 12] {
            assert!(history.insert(Tick(tick), tick));
        }
        check(&history, &[6, 9, 12]);
        assert!(!history.insert(Tick(3), 3), "older than all of them");
        check(&history, &[6, 9, 12]);
        assert!(history.insert(Tick(7), 7));
        check(&history, &[7, 9, 12]);
        assert_eq!(history.get(Tick(8)), None);
    }

    #[test]
    fn a_tick_is_held_once() {
        let mut history = History::new(2);
        history.insert(Tick(1), 'a');
        history.insert(Tick(1), 'b');
        assert_eq!((history.len(), history.get(Tick(1))), (1, Some(&'b')));
    }

    #[test]
    fn older_ones_are_dropped_on_request() {
        let mut history = History::new(8);
        for tick in 1..=5 {
            history.insert(Tick(tick), tick);
        }
        history.drop_older(Tick(4));
        check(&history, &[4, 5]);
        history.drop_older(Tick(9));
        assert!(history.is_empty() && history.newest().is_none());
    }

    proptest! {
        #[test]
        fn it_holds_what_a_sorted_map_cut_to_size_holds(
            capacity in 1..6_usize,
            ticks in proptest::collection::vec(0..20_u64, 0..40),
        ) {
            let mut history = History::new(capacity);
            let mut model = BTreeMap::new();
            for (value, tick) in ticks.into_iter().enumerate() {
                let held = history.insert(Tick(tick), value);
                model.insert(tick, value);
                if model.len() > capacity {
                    model.pop_first();
                }
                prop_assert_eq!(held, model.contains_key(&tick));
            }
            let held: Vec<_> = history.iter().map(|(tick, value)| (tick.0, *value)).collect();
            prop_assert_eq!(held, model.into_iter().collect::<Vec<_>>());
        }
    }
}
