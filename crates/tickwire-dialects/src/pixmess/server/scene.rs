//! What there is to be seen, and who watches where.
//!
//! Entities by number and by chunk; chunks with those who hold them, and which of their blocks changed;
//! movable sets with their corners.
//! Only bookkeeping: who is told what follows from it in [`news`](super::news).
//!
//! Every change has a [`Stamp`], which entity and chunk keep. A client that remembers the stamp of what
//! it was told can be told the difference at any later time, whatever happened in between.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use tickwire_session::PeerId;

use crate::pixmess::limits::TRAIL_STEPS;
use crate::pixmess::message::{BlockSet, FromServer, Look, Shared};
use crate::pixmess::{Block, BlockId, Cell, ChunkId, ChunkXy, Direction, EntityId, SetId};

use super::blocks::Changes;

/// A moment in the life of the scene, counted in changes.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Stamp(u64);

impl Stamp {
    /// Before everything.
    pub(super) const NEVER: Self = Self(0);

    /// The one after this.
    pub(super) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// An entity.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) at: Cell,
    pub(super) look: Look,
    pub(super) name: Shared,
    /// The connection whose player it is.
    pub(super) owner: Option<PeerId>,
    /// Whoever was told of this number before was told of another entity.
    pub(super) born: Stamp,
    /// The last steps, oldest first.
    trail: VecDeque<(Stamp, Direction)>,
    /// Whoever was told where it was at this moment or later can follow it along its trail.
    trail_begins: Stamp,
}

impl Entity {
    pub(super) fn new(at: Cell, look: Look, name: Shared, owner: Option<PeerId>) -> Self {
        Self {
            at,
            look,
            name,
            owner,
            born: Stamp::NEVER,
            trail: VecDeque::new(),
            trail_begins: Stamp::NEVER,
        }
    }

    /// The message that makes a client know it.
    pub(super) fn creation(&self, entity: EntityId) -> FromServer<Shared> {
        FromServer::EntityCreation {
            entity,
            at: self.at,
            look: self.look,
            name: self.name.clone(),
        }
    }

    /// The steps since a moment, if nothing but steps led here.
    pub(super) fn steps_since(
        &self,
        told: Stamp,
    ) -> Option<impl ExactSizeIterator<Item = Direction>> {
        let known = self.trail.partition_point(|(at, _)| *at <= told);
        let steps = self.trail.range(known..).map(|(_, direction)| *direction);
        (told >= self.trail_begins).then_some(steps)
    }

    fn follow(&mut self, now: Stamp, step: Option<Direction>) {
        match step {
            Some(direction) => self.trail.push_back((now, direction)),
            None => {
                self.trail.clear();
                self.trail_begins = now;
            }
        }
        if self.trail.len() > TRAIL_STEPS
            && let Some((forgotten, _)) = self.trail.pop_front()
        {
            self.trail_begins = forgotten;
        }
    }
}

/// Where an entity of a chunk is, and since when it is as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    pub(super) at: Cell,
    pub(super) changed: Stamp,
}

/// The entities of a chunk.
#[derive(Debug, Default)]
struct Crowd {
    stands: BTreeMap<EntityId, Stand>,
    changed: Stamp,
}

/// A chunk that somebody holds.
#[derive(Debug, Default)]
struct Watched {
    watchers: Vec<PeerId>,
    changes: Changes,
}

/// Everything there is.
#[derive(Debug, Default)]
pub(super) struct Scene {
    now: Stamp,
    entities: BTreeMap<EntityId, Entity>,
    /// The entities of each chunk that has any.
    crowds: BTreeMap<ChunkXy, Crowd>,
    /// Chunks in which something changed since that was last asked.
    changed: BTreeSet<ChunkId>,
    /// The chunks that anybody holds.
    watched: BTreeMap<ChunkId, Watched>,
    sets: BTreeMap<SetId, Cell>,
}

impl Scene {
    pub(super) fn insert(&mut self, id: EntityId, mut entity: Entity) {
        let now = self.tick();
        entity.born = now;
        entity.trail_begins = now;
        self.enter(id, entity.at);
        self.entities.insert(id, entity);
    }

    pub(super) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        let entity = self.entities.remove(&id)?;
        self.tick();
        self.leave(id, entity.at.chunk());
        Some(entity)
    }

    /// Puts an entity elsewhere, by a step or anyhow; where it was.
    pub(super) fn relocate(
        &mut self,
        id: EntityId,
        to: Cell,
        step: Option<Direction>,
    ) -> Option<Cell> {
        let now = self.tick();
        let entity = self.entities.get_mut(&id)?;
        let from = core::mem::replace(&mut entity.at, to);
        entity.follow(now, step);
        if from.chunk() != to.chunk() {
            self.leave(id, from.chunk());
        }
        self.enter(id, to);
        Some(from)
    }

    /// A block is another; of one in a chunk that nobody holds nobody is told.
    pub(super) fn set_block(&mut self, at: BlockId, block: Block) {
        let now = self.tick();
        if let Some(watched) = self.watched.get_mut(&at.chunk()) {
            watched.changes.insert(now, (at.cell, at.sublayer), block);
            self.changed.insert(at.chunk());
        }
    }

    /// The blocks of a chunk that changed after a moment, oldest change first.
    pub(super) fn blocks_since(
        &self,
        chunk: ChunkId,
        seen: Stamp,
    ) -> impl Iterator<Item = (Stamp, BlockSet)> {
        let changes = self.watched.get(&chunk).map(|it| it.changes.since(seen));
        changes
            .into_iter()
            .flatten()
            .map(|(stamp, (cell, sublayer), block)| {
                let cell = cell.low();
                let block_set = BlockSet {
                    sublayer,
                    cell,
                    block,
                };
                (stamp, block_set)
            })
    }

    const fn tick(&mut self) -> Stamp {
        self.now = self.now.next();
        self.now
    }

    fn enter(&mut self, id: EntityId, at: Cell) {
        let changed = self.now;
        let crowd = self.crowds.entry(at.chunk()).or_default();
        crowd.stands.insert(id, Stand { at, changed });
        crowd.changed = changed;
        self.changed.insert(ChunkId::root(at.chunk()));
    }

    fn leave(&mut self, id: EntityId, chunk: ChunkXy) {
        if let Some(crowd) = self.crowds.get_mut(&chunk) {
            crowd.stands.remove(&id);
            crowd.changed = self.now;
            if crowd.stands.is_empty() {
                self.crowds.remove(&chunk);
            }
        }
        self.changed.insert(ChunkId::root(chunk));
    }

    /// The stamp of the newest change.
    pub(super) const fn now(&self) -> Stamp {
        self.now
    }

    pub(super) fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id)
    }

    /// The entities that stand in a chunk, by number. In a movable set none does: they stand in the
    /// root.
    pub(super) fn crowd(&self, chunk: ChunkId) -> impl Iterator<Item = (EntityId, Stand)> {
        let crowd = self.crowds.get(&chunk.at);
        crowd
            .filter(|_| chunk.set == SetId::ROOT)
            .into_iter()
            .flat_map(|crowd| &crowd.stands)
            .map(|(&id, &stand)| (id, stand))
    }

    /// Whether somebody in a chunk moved, came or went since a moment. Of one that nobody is left in,
    /// it is not known when the last went.
    pub(super) fn changed_since(&self, chunk: ChunkId, seen: Stamp) -> bool {
        let crowd = self.crowds.get(&chunk.at);
        chunk.set == SetId::ROOT && crowd.is_none_or(|crowd| crowd.changed > seen)
    }

    /// A chunk in which something changed since it was last given out here.
    pub(super) fn pop_changed(&mut self) -> Option<ChunkId> {
        self.changed.pop_first()
    }

    pub(super) fn watch(&mut self, chunk: ChunkId, who: PeerId) {
        self.watched.entry(chunk).or_default().watchers.push(who);
    }

    pub(super) fn unwatch(&mut self, chunk: ChunkId, who: PeerId) {
        if let Some(watched) = self.watched.get_mut(&chunk) {
            watched.watchers.retain(|watcher| *watcher != who);
            if watched.watchers.is_empty() {
                self.watched.remove(&chunk);
            }
        }
    }

    /// Who holds a chunk.
    pub(super) fn watchers(&self, chunk: ChunkId) -> &[PeerId] {
        self.watched.get(&chunk).map_or(&[], |it| &it.watchers)
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
        self.watched.retain(|chunk, _| chunk.set != set);
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
