//! Whether an entity is shown, when it is not certain by its block alone.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::SLOTS;
use crate::number::SendIndex;
use crate::replica::Event;
use crate::replica::entities::{Cue, Entities, Entity, Key, Occurrence, Sighting, State};
use crate::replica::history::{History, Version};
use crate::row::RowReader;

/// The values of one entity, kept apart from its block.
#[derive(Debug, Default)]
pub(in crate::replica) struct Row {
    lanes: Vec<u32>,
    bytes: Vec<Arc<[u8]>>,
    send: SendIndex,
}

impl Row {
    pub(in crate::replica) fn reader(&self) -> RowReader<'_> {
        RowReader::new(&self.lanes, &self.bytes)
    }

    /// A row for another entity.
    fn emptied(mut self) -> Self {
        self.send = SendIndex::NONE;
        self
    }

    /// Takes the values of a later sighting.
    fn update(&mut self, history: &History, seen: Sighting) {
        let version = history
            .get(seen.at.block)
            .and_then(|block| block.at(seen.send));
        if let Some((_, block)) = version.and_then(Version::block)
            && self.send < seen.send
        {
            let slot = usize::from(seen.at.slot);
            self.lanes.clear();
            self.lanes
                .extend(block.lanes.iter().skip(slot).step_by(SLOTS));
            self.bytes.clear();
            self.bytes
                .extend(block.bytes.iter().skip(slot).step_by(SLOTS).cloned());
            self.send = seen.send;
        }
    }

    /// When these values were true.
    pub(in crate::replica) const fn send(&self) -> SendIndex {
        self.send
    }
}

impl Entities {
    /// Finds out the state of all entities for which it is not certain.
    pub(super) fn evaluate(&mut self, history: &History, cue: Cue) {
        let mut unsettled = core::mem::take(&mut self.unsettled);
        unsettled.retain(|key| {
            let present = self.by_archetype.get(key.0).and_then(|all| {
                let entity = all.get(&key.1)?;
                newest_occurrence(history, entity)
            });
            match present {
                Some(at) => self.show(*key, at),
                None => self.miss(*key, history, cue),
            }
            self.remains_unsettled(*key)
        });
        self.unsettled = unsettled;
    }

    fn show(&mut self, key: Key, at: Occurrence) {
        let Some(entity) = self.entity_mut(key) else {
            return;
        };
        let before = core::mem::replace(&mut entity.state, State::Present(at));
        match before {
            State::Present(_) => {}
            State::Missing { row, .. } => self.rows.push(row),
            State::Hidden => self.events.push_back(Event::Spawned {
                archetype: key.0,
                id: key.1,
            }),
        }
    }

    /// It is in no block that counts.
    fn miss(&mut self, key: Key, history: &History, cue: Cue) {
        let Self {
            by_archetype,
            events,
            rows,
            ..
        } = self;
        let all = by_archetype.get_mut(key.0);
        let Some(entity) = all.and_then(|all| all.get_mut(&key.1)) else {
            return;
        };
        let reached = match &entity.state {
            State::Hidden => return,
            State::Present(_) => cue.now,
            State::Missing { reached, .. } => *reached,
        };
        let (archetype, id) = key;
        let mut row = match core::mem::replace(&mut entity.state, State::Hidden) {
            State::Missing { row, .. } => row,
            State::Present(_) | State::Hidden => rows.pop().map_or_else(Row::default, Row::emptied),
        };
        if entity.removed <= cue.settled || cue.now.since(reached) >= cue.patience {
            rows.push(row);
            events.push_back(Event::Despawned { archetype, id });
            return;
        }
        // A late sighting shows it where it was later than what is kept.
        row.update(history, entity.seen);
        entity.state = State::Missing { reached, row };
    }

    /// Whether its state may change although its blocks' occupants do not. An entity of which nothing
    /// is left is dropped.
    fn remains_unsettled(&mut self, key: Key) -> bool {
        let Some(all) = self.by_archetype.get_mut(key.0) else {
            return false;
        };
        let Some(entity) = all.get_mut(&key.1) else {
            return false;
        };
        let remains = match entity.state {
            State::Present(_) => entity.occurrences.len() > 1,
            State::Missing { .. } => true,
            State::Hidden if entity.occurrences.is_empty() => {
                all.remove(&key.1);
                return false;
            }
            State::Hidden => true,
        };
        entity.is_unsettled = remains;
        remains
    }
}

/// Where an entity is: in the newest version that holds it, unless it was seen elsewhere since.
fn newest_occurrence(history: &History, entity: &Entity) -> Option<Occurrence> {
    let of = |at: &Occurrence| history.get(at.block).and_then(|block| block.shown);
    let newest = entity.occurrences.iter().copied().max_by_key(of)?;
    (of(&newest)? >= entity.seen.send).then_some(newest)
}
