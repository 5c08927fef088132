//! A client's events: each once and in order, however often and in whatever order they arrive.

use super::limits::{EVENT_ACKS, EVENTS_AHEAD};
use crate::reone::EventId;

/// Which events came, and which the game has processed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventOrder {
    /// The newest that was handed to the game.
    newest: EventId,
    processed: EventId,
    /// The newest that the client knows to be processed: it has a snapshot that says so.
    settled: EventId,
    /// Snapshots that are still to carry an acknowledgement.
    acks_due: u8,
    /// The client begins again, and may count from 1 again.
    may_restart: bool,
}

/// What is to be done with an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arrived {
    /// The game is to have it.
    Next,
    /// The game has it already.
    Again,
    /// One before it is missing: it will come again.
    Early,
    /// The game has too many to process: it will come again.
    Ahead,
}

impl EventOrder {
    /// An event arrived, in a packet that is newer than all before or in one that was held up.
    pub(super) fn receive(&mut self, id: EventId, is_newest: bool) -> Arrived {
        if id == EventId::UNACKNOWLEDGED {
            return Arrived::Next;
        }
        self.acks_due = EVENT_ACKS;
        if self.may_restart && is_newest && id == EventId(1) {
            self.newest = EventId::default();
            self.processed = EventId::default();
            self.settled = EventId::default();
        }
        if id <= self.newest {
            return Arrived::Again;
        }
        if id != self.newest.next() {
            return Arrived::Early;
        }
        if self.newest.0 - self.processed.0 >= EVENTS_AHEAD {
            return Arrived::Ahead;
        }
        self.newest = id;
        self.may_restart = false;
        Arrived::Next
    }

    /// The game has processed every event up to this one.
    pub(super) fn process(&mut self, id: EventId) {
        self.processed = self.processed.max(id.min(self.newest));
    }

    /// The client has a snapshot that acknowledged this event.
    pub(super) fn settle(&mut self, id: EventId) {
        self.settled = self.settled.max(id);
    }

    /// The client was away, or is in another module. Whether it goes on counting or counts from 1 again,
    /// it is understood.
    pub(super) const fn resume(&mut self) {
        self.acks_due = 0;
        // One that does not know event 1 to be processed repeats it, and does not begin again.
        self.may_restart = self.settled.0 > 0;
    }

    /// What the next snapshot acknowledges, if anything.
    pub(super) const fn take_ack(&mut self) -> Option<EventId> {
        match self.acks_due.checked_sub(1) {
            Some(left) => {
                self.acks_due = left;
                Some(self.processed)
            }
            None => None,
        }
    }
}
