//! What there is to be seen, and who watches where.
//!
//! Entities by number and by chunk; chunks with those who hold them; movable sets with their corners.
//! Only bookkeeping: who is told what follows from it in [`sight`](super::sight).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tickwire_session::StreamId;

use super::super::message::{FromServer, Look, Shared};
use super::super::{Cell, ChunkId, ChunkXy, EntityId, SetId};

/// An entity.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) at: Cell,
    pub(super) look: Look,
    pub(super) name: Shared,
    /// The connection whose player it is.
    pub(super) owner: Option<StreamId>,
}

impl Entity {
    /// The message that makes a client know it.
    pub(super) fn creation(&self, entity: EntityId) -> FromServer<Shared> {
        FromServer::EntityCreation {
            entity,
            at: self.at,
            look: self.look,
            name: self.name.clone(),
        }
    }
}

/// Everything there is.
#[derive(Debug, Default)]
pub(super) struct Scene {
    entities: BTreeMap<EntityId, Entity>,
    /// The entities of each chunk that has any.
    crowds: BTreeMap<ChunkXy, BTreeSet<EntityId>>,
    /// Who holds each chunk that anybody holds.
    watchers: BTreeMap<ChunkId, Vec<StreamId>>,
    sets: BTreeMap<SetId, Cell>,
}

impl Scene {
    pub(super) fn insert(&mut self, id: EntityId, entity: Entity) {
        self.crowds.entry(entity.at.chunk()).or_default().insert(id);
        self.entities.insert(id, entity);
    }

    pub(super) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        let entity = self.entities.remove(&id)?;
        self.leave_crowd(entity.at.chunk(), id);
        Some(entity)
    }

    /// Puts an entity elsewhere; where it was.
    pub(super) fn relocate(&mut self, id: EntityId, to: Cell) -> Option<Cell> {
        let entity = self.entities.get_mut(&id)?;
        let from = core::mem::replace(&mut entity.at, to);
        if from.chunk() != to.chunk() {
            self.leave_crowd(from.chunk(), id);
            self.crowds.entry(to.chunk()).or_default().insert(id);
        }
        Some(from)
    }

    fn leave_crowd(&mut self, chunk: ChunkXy, id: EntityId) {
        if let Some(crowd) = self.crowds.get_mut(&chunk) {
            crowd.remove(&id);
            if crowd.is_empty() {
                self.crowds.remove(&chunk);
            }
        }
    }

    pub(super) fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id)
    }

    pub(super) fn entities(&self) -> usize {
        self.entities.len()
    }

    /// The entities that stand in a chunk. In a movable set none does: they stand in the root.
    pub(super) fn crowd(&self, chunk: ChunkId) -> impl Iterator<Item = (EntityId, &Entity)> {
        let crowd = self.crowds.get(&chunk.at);
        crowd
            .filter(|_| chunk.set == SetId::ROOT)
            .into_iter()
            .flatten()
            .filter_map(|&id| Some((id, self.entities.get(&id)?)))
    }

    pub(super) fn watch(&mut self, chunk: ChunkId, who: StreamId) {
        self.watchers.entry(chunk).or_default().push(who);
    }

    pub(super) fn unwatch(&mut self, chunk: ChunkId, who: StreamId) {
        if let Some(watchers) = self.watchers.get_mut(&chunk) {
            watchers.retain(|watcher| *watcher != who);
            if watchers.is_empty() {
                self.watchers.remove(&chunk);
            }
        }
    }

    /// Who holds a chunk.
    pub(super) fn watchers(&self, chunk: ChunkId) -> &[StreamId] {
        self.watchers.get(&chunk).map_or(&[], |watchers| watchers)
    }

    /// Where a set's corner is; the root's is at zero.
    pub(super) fn corner(&self, set: SetId) -> Option<Cell> {
        if set == SetId::ROOT {
            return Some(Cell::default());
        }
        self.sets.get(&set).copied()
    }

    pub(super) fn sets(&self) -> impl ExactSizeIterator<Item = (SetId, Cell)> {
        self.sets.iter().map(|(&set, &at)| (set, at))
    }

    pub(super) fn set_corner(&mut self, set: SetId, at: Cell) {
        self.sets.insert(set, at);
    }

    pub(super) fn remove_set(&mut self, set: SetId) -> Option<Cell> {
        self.watchers.retain(|chunk, _| chunk.set != set);
        self.sets.remove(&set)
    }

    /// How far a chunk is from somebody at `from`, in chunks. A set's chunks count as where they lie
    /// in the root.
    pub(super) fn distance(&self, chunk: ChunkId, from: Cell) -> u32 {
        let corner = self.corner(chunk.set).unwrap_or_default();
        let first = chunk.at.corner();
        let in_root = Cell {
            x: corner.x.saturating_add(first.x),
            y: corner.y.saturating_add(first.y),
        };
        in_root.chunk().distance(from.chunk())
    }
}
