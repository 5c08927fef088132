//! What happened in a step.

use crate::{EntityId, PilotId, Vec2, limits};

/// Something that happened, for those who show it or pass it on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Something came into the arena; it may be gone again by the end of the same step.
    Added {
        /// What came.
        entity: EntityId,
    },
    /// Something is no longer in the arena.
    Removed {
        /// What went.
        entity: EntityId,
    },
    /// Two things touched. A beam that stays on one thing is told once.
    Collision {
        /// One of them; the order means nothing.
        a: EntityId,
        /// The other.
        b: EntityId,
        /// Where they touched.
        at: Vec2,
    },
    /// A pilot's ship came into the arena, for the first time or again.
    Entered {
        /// Whose it is.
        pilot: PilotId,
        /// The ship.
        ship: EntityId,
    },
    /// A ship was destroyed; its removal was told just before.
    Killed {
        /// Whose ship it was.
        victim: PilotId,
        /// Whose merit it was; nobody's, if the sun or a planet did it unaided.
        by: Option<PilotId>,
        /// Where it exploded.
        at: Vec2,
    },
}

/// The events of the last step, and those that have happened since.
///
/// Bounded by [`limits::COLLISIONS_PER_STEP`] and by what can come and go: nothing is added between
/// steps, so calls of any number can only remove what is there.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog {
    events: Vec<Event>,
    /// How many belong to the last step; the rest waits for the next.
    of_last_step: usize,
    collisions: usize,
}

impl EventLog {
    pub(super) fn begin_step(&mut self) {
        self.events.drain(..self.of_last_step);
        self.of_last_step = 0;
        self.collisions = 0;
    }

    pub(super) const fn end_step(&mut self) {
        self.of_last_step = self.events.len();
    }

    pub(super) fn push(&mut self, event: Event) {
        if let Event::Collision { .. } = event {
            if self.collisions == limits::COLLISIONS_PER_STEP {
                return;
            }
            self.collisions += 1;
        }
        self.events.push(event);
    }

    pub(super) fn of_last_step(&self) -> &[Event] {
        &self.events[..self.of_last_step]
    }
}
