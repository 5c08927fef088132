//! Who is shown, as playback passes the versions of blocks.
//!
//! In: the history of blocks, and how far playback got. Out: for every entity where it is, and events
//! when one appears or is gone for good.
//!
//! An entity may be in several blocks at once, because the versions of two blocks need not be from the
//! same send: it moved, and only one of them has arrived. The newest version that holds it counts. It may
//! also be in none, because it has left one block and the other has not arrived. Then it stays as it was
//! last seen, until a send that is complete (or settled, which says as much of movers) tells that it
//! is nowhere, or patience ([`Cue`]) is over.
//!
//! Only the slots whose occupant changed are looked at, so what this costs is a matter of movers, not of
//! entities.

mod evaluate;
mod scan;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::EntityId;
use crate::number::SendIndex;
use crate::replica::history::History;
use crate::replica::{Event, Moment};

pub(super) use evaluate::Row;

#[derive(Debug)]
pub(super) struct Entities {
    by_archetype: Vec<BTreeMap<EntityId, Entity>>,
    /// Those whose state may change although their blocks' occupants do not.
    unsettled: Vec<Key>,
    /// What happened when playback went on last. At most two events an entity.
    events: VecDeque<Event>,
    rows: Vec<Row>,
}

/// How far playback got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cue {
    pub(super) now: Moment,
    /// The last send not after it.
    pub(super) reached: SendIndex,
    /// The last of those after which nothing that moved is missing.
    pub(super) settled: SendIndex,
    /// How long a missing entity is kept, in parts of a tick.
    pub(super) patience: u64,
}

/// An archetype and an id.
pub(super) type Key = (usize, EntityId);

/// An entity of which something was seen.
#[derive(Debug)]
pub(super) struct Entity {
    /// The slots that it is in, by the versions that playback has reached.
    occurrences: Vec<Occurrence>,
    /// The newest of those that it has left.
    seen: Sighting,
    /// The send at which it was not there any more.
    removed: SendIndex,
    /// Where it will be, if that is another slot.
    pub(super) ahead: Option<Sighting>,
    pub(super) state: State,
    is_unsettled: bool,
}

/// A slot.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Occurrence {
    /// Where the history has the block.
    pub(super) block: usize,
    pub(super) slot: u8,
}

/// A slot as it was at a send.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sighting {
    pub(super) send: SendIndex,
    pub(super) at: Occurrence,
}

#[derive(Debug)]
pub(super) enum State {
    /// In a block.
    Present(Occurrence),
    /// In none, but perhaps only because one is late.
    Missing { reached: Moment, row: Row },
    /// Not shown. It is in a block whose version is older than where it was seen last.
    Hidden,
}

impl Entities {
    pub(super) fn new(archetypes: usize) -> Self {
        Self {
            by_archetype: (0..archetypes).map(|_| BTreeMap::new()).collect(),
            unsettled: Vec::new(),
            events: VecDeque::new(),
            rows: Vec::new(),
        }
    }

    /// Takes note of all that playback has reached.
    pub(super) fn advance(&mut self, history: &mut History, cue: Cue) {
        for at in 0..history.len() {
            if let Some(block) = history.get_mut(at) {
                self.scan(at, block, cue.reached);
            }
        }
        self.evaluate(history, cue);
    }

    /// Forgets what happened when playback went on last.
    pub(super) fn clear_events(&mut self) {
        self.events.clear();
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Those of an archetype that are shown.
    pub(super) fn shown(&self, archetype: usize) -> impl Iterator<Item = (EntityId, &Entity)> {
        let all = self.by_archetype.get(archetype).into_iter().flatten();
        all.filter(|(_, entity)| !matches!(entity.state, State::Hidden))
            .map(|(id, entity)| (*id, entity))
    }

    /// One of them.
    pub(super) fn get(&self, archetype: usize, id: EntityId) -> Option<&Entity> {
        let entity = self.by_archetype.get(archetype)?.get(&id)?;
        (!matches!(entity.state, State::Hidden)).then_some(entity)
    }

    fn entity_mut(&mut self, (archetype, id): Key) -> Option<&mut Entity> {
        self.by_archetype.get_mut(archetype)?.get_mut(&id)
    }

    /// Has an entity's state found out when all blocks were looked at.
    fn unsettle(unsettled: &mut Vec<Key>, entity: &mut Entity, key: Key) {
        if !core::mem::replace(&mut entity.is_unsettled, true) {
            unsettled.push(key);
        }
    }
}
