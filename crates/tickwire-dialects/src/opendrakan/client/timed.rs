//! Animations and sounds that wait for their moment.

use alloc::collections::BTreeMap;
use core::time::Duration;

use super::ClientEvent;
use crate::opendrakan::limits::TIMED_WAITING;

/// Events by their moment; of one moment, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Timed {
    waiting: BTreeMap<(Duration, u64), ClientEvent>,
    arrived: u64,
}

impl Timed {
    /// Keeps an event until its moment. Returns the earliest one if there are too many: it is better
    /// early than never.
    pub(super) fn push(&mut self, at: Duration, event: ClientEvent) -> Option<ClientEvent> {
        self.waiting.insert((at, self.arrived), event);
        self.arrived += 1;
        if self.waiting.len() <= TIMED_WAITING {
            return None;
        }
        self.waiting.pop_first().map(|(_, event)| event)
    }

    /// The next event whose moment has come.
    pub(super) fn pop(&mut self, shown: Duration) -> Option<ClientEvent> {
        let entry = self.waiting.first_entry()?;
        (entry.key().0 <= shown).then(|| entry.remove())
    }
}
