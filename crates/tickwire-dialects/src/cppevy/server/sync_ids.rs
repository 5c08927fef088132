//! Giving out the 1,024 sync ids.

use alloc::collections::{BTreeSet, VecDeque};

use tickwire_session::Instant;

use crate::cppevy::SyncId;
use crate::cppevy::limits::SYNC_ID_REST;

/// Gives out ids, lowest first, none twice before it has rested.
#[derive(Debug)]
pub(super) struct SyncIds {
    free: BTreeSet<SyncId>,
    /// Freed at these moments, oldest first.
    resting: VecDeque<(Instant, SyncId)>,
}

impl SyncIds {
    pub(super) fn new() -> Self {
        Self {
            free: (0..SyncId::COUNT).filter_map(SyncId::new).collect(),
            resting: VecDeque::new(),
        }
    }

    /// Whether there is one to give.
    pub(super) fn has_free(&mut self, now: Instant) -> bool {
        self.end_rests(now);
        !self.free.is_empty()
    }

    /// The next id, unless all are in use or resting.
    pub(super) fn give(&mut self, now: Instant) -> Option<SyncId> {
        self.end_rests(now);
        self.free.pop_first()
    }

    fn end_rests(&mut self, now: Instant) {
        while let Some((_, id)) = self
            .resting
            .pop_front_if(|(freed, _)| now.since(*freed) >= SYNC_ID_REST)
        {
            self.free.insert(id);
        }
    }

    /// Takes back an id that was given.
    pub(super) fn release(&mut self, now: Instant, id: SyncId) {
        self.resting.push_back((now, id));
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn a_freed_id_rests_and_then_comes_again() {
        let mut ids = SyncIds::new();
        let start = Instant::from_millis(100);
        for number in 0..SyncId::COUNT {
            assert_eq!(ids.give(start), SyncId::new(number));
        }
        assert_eq!(ids.give(start), None);
        let seven = SyncId::new(7).unwrap();
        ids.release(start, seven);
        let rested = start + SYNC_ID_REST;
        assert_eq!(ids.give(start + Duration::from_millis(4_999)), None);
        assert_eq!(ids.give(rested), Some(seven));
        assert_eq!(ids.give(rested), None);
    }
}
