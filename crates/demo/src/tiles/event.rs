//! What happened in a step.

use super::{Block, BlockId, Cell, Direction, EntityId, SetId, limits};

/// Something that happened, for those who show it or pass it on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A block is another one, by somebody's hand or because it was pushed.
    BlockChanged {
        /// Which.
        at: BlockId,
        /// What is there instead.
        block: Block,
        /// How that came.
        cause: Cause,
    },
    /// Somebody came into the world.
    EntityCreated {
        /// Who.
        entity: EntityId,
        /// Where.
        at: Cell,
    },
    /// Somebody is somewhere else.
    EntityMoved {
        /// Who.
        entity: EntityId,
        /// Where, on the ground, also for one who rides.
        to: Cell,
        /// How it came there.
        how: Motion,
    },
    /// Somebody is no longer in the world.
    EntityRemoved {
        /// Who it was.
        entity: EntityId,
        /// Where it was.
        at: Cell,
    },
    /// The train is one cell further; those who ride on it are told of after it.
    TrainMoved {
        /// Its layer set.
        set: SetId,
        /// Where the set's cell (0, 0) lies now.
        to: Cell,
    },
    /// The train has left the world; those who were in it are told of after it.
    TrainLeft {
        /// Its layer set.
        set: SetId,
    },
    /// The train is in the world again.
    TrainCame {
        /// Its layer set.
        set: SetId,
        /// Where the set's cell (0, 0) lies.
        at: Cell,
    },
}

/// Why a block is another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// Somebody wanted it.
    Built(EntityId),
    /// Somebody walked into it, or into what has come here.
    Pushed(EntityId),
    /// Newcomers had to have some place to stand.
    Cleared,
}

/// How somebody came to another place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Motion {
    /// One step, by its own wish.
    Walked(Direction),
    /// One cell, by the train's.
    Carried(Direction),
    /// Out of the train's way, or by magic: any distance.
    Displaced,
}

/// The events of the last step, and those that have happened since.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog {
    events: Vec<Event>,
    /// How many belong to the last step; the rest waits for the next.
    of_last_step: usize,
}

impl EventLog {
    pub(super) fn begin_step(&mut self) {
        self.events.drain(..self.of_last_step);
        self.of_last_step = 0;
    }

    pub(super) const fn end_step(&mut self) {
        self.of_last_step = self.events.len();
    }

    /// Whether what somebody wants may still be told with the next step.
    pub(super) const fn has_room(&self) -> bool {
        self.events.len() - self.of_last_step < limits::EVENTS
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(super) fn since_step(&self) -> &[Event] {
        &self.events[self.of_last_step..]
    }

    pub(super) fn of_last_step(&self) -> &[Event] {
        &self.events[..self.of_last_step]
    }
}
