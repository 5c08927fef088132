//! The tile world: a plane of cells without end in sight, to walk, to build and to ride in.
//!
//! In: who joins, where they walk, what they build. Out: chunks, entities, and the events of each
//! step. [`TileWorld`] has no clock and no randomness but its seed: the same calls in the same order
//! give the same world, whether it is kept on a disk or in memory alone. Its cells, blocks and directions
//! are those of pixmess, whose game it is; of clients, sessions and bytes it knows nothing.
//!
//! Every cell has two blocks: what one walks on, and what one cannot walk into. A walker who meets
//! something pushable pushes it on, if it has somewhere to go. A train crosses the middle of the
//! world, whoever stands in it rides, and animals wander about.
//!
//! The parts: `terrain` makes chunks from the seed, `edits` holds what differs from it, `land` keeps
//! chunks ready, `store` puts edits on a disk. [`Bot`] plays from what a client knows.
//!
//! ```
//! use tickwire_demo::tiles::{Direction, Look, TileWorld};
//!
//! let mut world = TileWorld::new(7);
//! let ada = world.join("Ada", Look::default())?;
//! let before = world.entity(ada).unwrap().position();
//! let after = world.walk(ada, Direction::South)?;
//! assert_eq!(before.distance(after), 1);
//! world.step();
//! assert!(!world.events().is_empty());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod bot;
mod chunk;
mod critter;
mod dice;
mod digest;
mod edits;
mod entity;
mod event;
mod land;
pub mod limits;
mod palette;
mod refusal;
mod rules;
mod store;
mod terrain;
mod train;
mod view;

use core::time::Duration;
use std::path::Path;

use crate::{Random, Tick};
use digest::Digest;
use edits::Edits;
use entity::Crowd;
use event::EventLog;
use land::Land;
use store::Store;

pub use bot::{Act, Bot};
pub use chunk::{Chunk, Tile, Version};
pub use entity::{Entity, EntityId};
pub use event::{Cause, Event, Motion};
pub use refusal::{EditRefusal, JoinRefusal, WalkRefusal};
pub use store::{Storage, StoreError};
pub use tickwire_dialects::pixmess::message::Look;
pub use tickwire_dialects::pixmess::{
    Block, BlockId, Cell, ChunkId, ChunkXy, Direction, SetId, Spot, Sublayer,
};
pub use train::Train;
pub use view::{Neighbour, Sight, TileView};

/// Between two steps.
pub const STEP: Duration = Duration::from_millis(50);

/// The world and everybody in it.
///
/// Walking and building take effect at once, since a client waits for the answer; others learn of
/// them with the next step. A call for somebody who has left does nothing.
#[derive(Debug)]
pub struct TileWorld {
    tick: Tick,
    random: Random,
    land: Land,
    edits: Edits,
    train: Train,
    crowd: Crowd,
    events: EventLog,
    /// None if the world is in memory alone.
    store: Option<Store>,
}

impl TileWorld {
    /// A world in memory: what is built in it ends with it.
    pub fn new(seed: u64) -> Self {
        Self::with_edits(seed, Edits::default(), None)
    }

    /// The world in a folder, which is made if it is not there.
    ///
    /// What is built survives the death of the process from the moment at which it is built. It is on
    /// the disk, and so survives a power cut, within a second, as long as the world is stepped 20 times a
    /// second and the disk takes a third of one to write; the world never waits for it. However the
    /// process ends, what the folder holds is the world as it was after some action.
    ///
    /// One process at a time can have a folder open. A folder remembers its seed.
    pub fn open(folder: &Path, seed: u64) -> Result<Self, StoreError> {
        let (store, edits) = Store::open(folder, seed)?;
        Ok(Self::with_edits(seed, edits, Some(store)))
    }

    /// Stores what is not stored yet, which takes as long as the disk does, and ends.
    ///
    /// Dropping a world does the same, but cannot tell whether it went well.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.finish()
    }

    fn with_edits(seed: u64, edits: Edits, store: Option<Store>) -> Self {
        let mut train = Train::new(TRAIN);
        edits.apply_to(train.chunk_id(), &mut train.cells);
        let mut world = Self {
            tick: Tick(0),
            random: Random::new(seed),
            land: Land::new(seed),
            edits,
            train,
            crowd: Crowd::new(),
            events: EventLog::default(),
            store,
        };
        world.populate();
        world
    }

    /// Lets somebody in, on the plaza beside the middle station. The name is cut to
    /// [`limits::NAME_BYTES`]; control characters are left out.
    pub fn join(&mut self, name: &str, look: Look) -> Result<EntityId, JoinRefusal> {
        if !self.events.has_room() {
            return Err(JoinRefusal::Busy);
        }
        if self.crowd.players() == limits::PLAYERS {
            return Err(JoinRefusal::Crowded);
        }
        let at = self.spawn_cell(SPAWN_REACH);
        let entity = self
            .crowd
            .insert(Entity::new(name, look, at))
            .ok_or(JoinRefusal::Crowded)?;
        self.events.push(Event::EntityCreated { entity, at });
        Ok(entity)
    }

    /// Takes a player out.
    pub fn leave(&mut self, player: EntityId) {
        if let Some(gone) = self.crowd.remove(player) {
            self.events.push(Event::EntityRemoved {
                entity: player,
                at: gone.position(),
            });
        }
    }

    /// Advances the world by 1/20 s.
    pub fn step(&mut self) {
        self.events.begin_step();
        self.tick = self.tick.after(1);
        self.run_train();
        self.wander();
        self.events.end_step();
        if self.tick.0.is_multiple_of(SAVE_STEPS)
            && let Some(store) = &mut self.store
        {
            store.save(&self.edits);
        }
    }

    /// How many steps the world has taken.
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// What happened in the last step, and between it and the one before, in order.
    pub fn events(&self) -> &[Event] {
        self.events.of_last_step()
    }

    /// What has happened since the last step, in order, for those who cannot wait. With the next step
    /// it becomes the first part of [`events`](Self::events).
    pub fn events_since_step(&self) -> &[Event] {
        self.events.since_step()
    }

    /// A chunk, made if nobody has been there lately; `None` if the set has none there.
    pub fn chunk(&mut self, id: ChunkId) -> Option<&Chunk> {
        if id.set == SetId::ROOT {
            let exists = id.at.exists();
            exists.then(|| &*self.land.chunk(id.at, &self.edits))
        } else {
            let is_there = id == self.train.chunk_id() && !self.train.is_away();
            is_there.then_some(&self.train.cells)
        }
    }

    /// One block; `None` if there is no such cell.
    pub fn block(&mut self, at: BlockId) -> Option<Block> {
        let spot = at.cell.spot();
        Some(self.chunk(at.chunk())?.block(at.sublayer, spot))
    }

    /// What somebody at a cell of the ground stands on and meets there: the train, where it is.
    pub fn tile(&mut self, cell: Cell) -> Option<Tile> {
        if let Some(local) = self.train.cell_above(cell) {
            return Some(self.train.tile(local));
        }
        let exists = cell.exists();
        exists.then(|| self.land.chunk(cell.chunk(), &self.edits).tile(cell.spot()))
    }

    /// The train.
    pub const fn train(&self) -> &Train {
        &self.train
    }

    /// Everybody, critters included, in an order that does not change while they stay.
    pub fn entities(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.crowd.iter()
    }

    /// Everybody who is played.
    pub fn players(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.crowd.iter().filter(|(_, entity)| entity.is_player())
    }

    /// Somebody, until it leaves.
    pub fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.crowd.get(id)
    }

    /// How many blocks differ from the terrain.
    pub const fn edited_blocks(&self) -> usize {
        self.edits.blocks()
    }

    /// How many chunks are in memory.
    pub fn chunks_ready(&self) -> usize {
        self.land.count_ready()
    }

    /// How safe what was built is.
    pub fn storage(&self) -> Storage {
        self.store.as_ref().map_or(Storage::MemoryOnly, |store| {
            store.state(self.edits.latest())
        })
    }

    /// A fingerprint of everything but the terrain, to compare two runs of the same world.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        digest.add(self.tick.0);
        digest.add(self.random.clone().bits());
        let place = |cell: Cell| {
            u64::from(cell.x.cast_unsigned()) << 32 | u64::from(cell.y.cast_unsigned())
        };
        digest.add(place(self.train.origin()));
        digest.add(self.train.is_away().into());
        for (id, entity) in self.entities() {
            digest.add(u64::from(id.0.to_bits()));
            digest.add(place(entity.position()));
        }
        self.edits.add_to(&mut digest);
        digest.0
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        let store = self.store.take();
        store.map_or(Ok(()), |store| store.close(&self.edits))
    }
}

impl Drop for TileWorld {
    fn drop(&mut self) {
        // Whoever wants to know calls `close`.
        drop(self.finish());
    }
}

/// The train's layer set.
const TRAIN: SetId = SetId(1);

/// How far from the plaza's middle players appear: on the plaza, in its corners too.
const SPAWN_REACH: u8 = 7;

/// Steps between two jobs for the store: 300 ms. An edit waits for the next job, then perhaps for one that is
/// being done; so it is safe within a second if the disk takes 350 ms for a job.
const SAVE_STEPS: u64 = 6;

#[cfg(test)]
mod tests;
