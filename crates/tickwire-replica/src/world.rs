//! The server's world: the game's state as it travels, and as it was.
//!
//! In: values as the game spawns, sets and despawns them. They are quantised once, compared with what is
//! there, and stored in columns. Out: values by id, as they are or as they were at a tick; and for
//! [`Clients`](crate::Clients), places and blocks with all versions that can be a baseline. A value that
//! does not fit changes nothing. When to end a tick is the game's to say: [`World::commit`].
//!
//! A version of a block takes 4 bytes for each slot's id and each of its lanes: 44 bytes an entity with ten
//! lanes. A block that did not change has one version, whatever the number of sends; one that changes all
//! the time has one for each of the last 64 sends and for each tick that can be rewound to.

mod audience;
mod block;
mod clock;
mod entity;
mod error;
mod past;
mod place;
mod set;
mod shape;
mod store;

pub use audience::{Audience, Groups, PlayerId};
pub use error::{ConfigError, WorldError};
pub use past::Past;
pub use place::Cell;
pub use shape::Plane;

pub(crate) use place::{HYSTERESIS, Head, Place, State};
pub(crate) use set::BlockSet;
pub(crate) use store::Store;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use tickwire_state::Tick;

use crate::block::BlockView;
use crate::limits::{ARCHETYPES_MAX, ENTITIES_MAX, WINDOW};
use crate::record::BlockName;
use crate::row::{RowReader, RowWriter};
use crate::{Archetype, Archetypes, EntityId, FieldError, PlaceNumber, SendIndex};
use block::Row;
use clock::Clock;
use entity::Location;
use shape::Shape;
use store::Whereabouts;

/// How a world is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldConfig {
    /// The side of a grid cell. Half of how far a client sees is a good one.
    pub side: f64,
    /// Which plane the grid lies on.
    pub plane: Plane,
    /// How many entities there may be at once, at most [`ENTITIES_MAX`].
    pub entities: u32,
    /// Ticks from one send to the next.
    pub ticks_per_send: u64,
    /// How many ticks back the world can be read, at most as many as 64 sends have.
    pub rewind: u64,
}

impl Default for WorldConfig {
    fn default() -> Self {
        Self {
            side: 32.0,
            plane: Plane::Xy,
            entities: 1 << 16,
            ticks_per_send: 3,
            // 250 ms of 60 ticks a second.
            rewind: 15,
        }
    }
}

/// Who may see a new entity, and whose it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spawn {
    /// Who may see it.
    pub audience: Audience,
    /// To whom it is always relevant, wherever it is, and first of all.
    pub owner: Option<PlayerId>,
    /// Whether it is relevant to its whole audience, wherever it is. What one player alone may see is.
    pub is_everywhere: bool,
}

/// The mirror of a game's state that is sent to clients.
pub struct World<A> {
    store: Store,
    /// Entities by owner, in the order in which they were spawned.
    owned: BTreeMap<PlayerId, Vec<EntityId>>,
    /// The value that is being written.
    row: Row,
    of: PhantomData<fn() -> A>,
}

impl<A: Archetypes> World<A> {
    /// An empty world.
    pub fn new(config: WorldConfig) -> Result<Self, ConfigError> {
        let WorldConfig { side, plane, .. } = config;
        let longest = config.ticks_per_send.saturating_mul(WINDOW);
        let settings = [
            ("side", side > 0.0 && side.is_finite()),
            ("entities", config.entities <= ENTITIES_MAX),
            ("ticks_per_send", config.ticks_per_send > 0),
            ("rewind", config.rewind <= longest),
        ];
        if let Some((name, _)) = settings.into_iter().find(|(_, fits)| !fits) {
            return Err(ConfigError::Setting { name });
        }
        let schema = A::schema();
        let count = schema.archetypes().len();
        if count > ARCHETYPES_MAX {
            return Err(ConfigError::TooManyArchetypes { count });
        }
        let shapes = schema.archetypes().iter();
        let shapes = shapes.map(|archetype| Shape::new(archetype, plane));
        let clock = Clock {
            tick: Tick::NONE,
            ticks_per_send: config.ticks_per_send,
            rewind: config.rewind,
        };
        let shapes = shapes.collect::<Result<_, _>>()?;
        Ok(Self {
            store: Store::new(clock, side, shapes, config.entities),
            owned: BTreeMap::new(),
            row: Row::default(),
            of: PhantomData,
        })
    }

    /// Adds an entity that everyone may see.
    pub fn spawn(&mut self, value: &A) -> Result<EntityId, WorldError> {
        self.spawn_with(value, Spawn::default())
    }

    /// Adds an entity.
    pub fn spawn_with(&mut self, value: &A, spawn: Spawn) -> Result<EntityId, WorldError> {
        let id = self.store.entities.next_id();
        if self.store.entities.is_full() {
            let limit = self.store.entities.len();
            return Err(WorldError::EntityLimit { limit });
        }
        let archetype = value.archetype();
        self.clear_row(archetype);
        self.store_row(archetype, id, |row| value.store(row))?;
        let Spawn {
            audience,
            owner,
            is_everywhere,
        } = spawn;
        let cell = self.cell_for(archetype, audience, is_everywhere);
        let at = self
            .store
            .insert(id, archetype, &self.row, Whereabouts { cell, audience })?;
        self.store.entities.add(at, owner, is_everywhere);
        if let Some(owner) = owner {
            self.owned.entry(owner).or_default().push(id);
        }
        Ok(id)
    }

    /// Gives an entity another value. Nothing happens if it is the same once quantised.
    #[inline]
    pub fn set<T: Archetype<A>>(&mut self, id: EntityId, value: &T) -> Result<(), WorldError> {
        let at = self.writable(id, T::INDEX)?;
        self.store_row(T::INDEX, id, |row| value.store(row))?;
        self.write(id, at)
    }

    /// Gives an entity another value of its type.
    pub fn set_any(&mut self, id: EntityId, value: &A) -> Result<(), WorldError> {
        let archetype = value.archetype();
        let at = self.writable(id, archetype)?;
        self.store_row(archetype, id, |row| value.store(row))?;
        self.write(id, at)
    }

    /// Lets others see an entity.
    pub fn set_audience(&mut self, id: EntityId, audience: Audience) -> Result<(), WorldError> {
        let found = self.store.entities.get(id);
        let (entity, at) = found.ok_or(WorldError::Absent { entity: id })?;
        if self.store.audience_of(at.block) == audience {
            return Ok(());
        }
        let is_everywhere = entity.is_everywhere;
        let block = self.store.block(at.block);
        let archetype = block.archetype;
        block.read(at.slot, &mut self.row);
        let cell = self.cell_for(archetype, audience, is_everywhere);
        self.relocate(id, archetype, at, Whereabouts { cell, audience })
    }

    /// Takes an entity away.
    pub fn despawn(&mut self, id: EntityId) -> Result<(), WorldError> {
        let (owner, at) = self.found(id)?;
        self.store.remove(at);
        self.store.entities.relocate(id, None, self.store.tick());
        if let Some(owner) = owner
            && let Some(owned) = self.owned.get_mut(&owner)
        {
            owned.retain(|other| *other != id);
            if owned.is_empty() {
                self.owned.remove(&owner);
            }
        }
        Ok(())
    }

    /// Takes all entities away: another map, another round. Clients are told with one notice.
    pub fn clear(&mut self) {
        let all: Vec<_> = self.store.entities.ids().collect();
        for id in all {
            // Every one of them is there.
            self.despawn(id).unwrap_or_default();
        }
        self.store.cleared = self.send().next();
    }

    /// Ends a tick. Every so many ticks it is a send.
    pub fn commit(&mut self) -> Tick {
        self.store.commit();
        self.store.tick()
    }

    /// The last tick that was committed.
    pub const fn tick(&self) -> Tick {
        self.store.tick()
    }

    /// The last send.
    pub const fn send(&self) -> SendIndex {
        self.store.send()
    }

    /// Whether the last tick is a send.
    pub const fn is_send(&self) -> bool {
        self.store.clock.is_send()
    }

    /// How many entities there are.
    pub const fn len(&self) -> u32 {
        self.store.entities.len()
    }

    /// Whether there is no entity.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entities.
    pub fn ids(&self) -> impl Iterator<Item = EntityId> {
        self.store.entities.ids()
    }

    /// An entity as it was last set, if it is there and is a `T`.
    pub fn get<T: Archetype<A>>(&self, id: EntityId) -> Option<T> {
        let (_, at) = self.store.entities.get(id)?;
        let block = self.store.block(at.block);
        let mut row = RowReader::slot(block.view(), usize::from(at.slot));
        (block.archetype == T::INDEX).then(|| T::load(&mut row))
    }

    /// An entity as it was last set, if it is there.
    pub fn get_any(&self, id: EntityId) -> Option<A> {
        let (_, at) = self.store.entities.get(id)?;
        let block = self.store.block(at.block);
        let mut row = RowReader::slot(block.view(), usize::from(at.slot));
        A::load(block.archetype, &mut row)
    }

    /// Who may see an entity, and where, if it is there.
    pub fn whereabouts(&self, id: EntityId) -> Option<(Audience, Option<Cell>)> {
        let (_, at) = self.store.entities.get(id)?;
        let audience = self.store.audience_of(at.block);
        Some((audience, self.store.cell_of(at.block)))
    }

    /// Where on the grid's plane an entity is, if it is there and has a position.
    pub fn position(&self, id: EntityId) -> Option<[f64; 2]> {
        let (_, at) = self.store.entities.get(id)?;
        let block = self.store.block(at.block);
        let lanes = block.view().lanes;
        let slot = usize::from(at.slot);
        self.shape(block.archetype)
            .position_of(|lane| lanes.get(lane * crate::SLOTS + slot).copied())
    }

    /// The world as it was at a tick, if that can still be read.
    pub fn past(&self, tick: Tick) -> Option<Past<'_, A>> {
        let now = self.tick();
        let oldest = self.store.clock.oldest_tick().max(Tick(1));
        let is_held = oldest <= tick && tick <= now;
        is_held.then(|| Past::new(&self.store, tick))
    }

    /// All blocks that hold anything as of the last send: their names, what their entities are, and
    /// themselves. A replica that holds such a version of a block holds the same.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockName, usize, BlockView<'_>)> {
        self.store.blocks_at_send()
    }

    /// What a player owns.
    pub fn owned(&self, player: PlayerId) -> &[EntityId] {
        self.owned.get(&player).map_or(&[], |owned| owned)
    }

    /// The place of an entity.
    pub(crate) fn place_of(&self, id: EntityId) -> Option<PlaceNumber> {
        let (_, at) = self.store.entities.get(id)?;
        Some(self.store.place_of(at.block))
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) const fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn found(&self, id: EntityId) -> Result<(Option<PlayerId>, Location), WorldError> {
        let found = self.store.entities.get(id);
        let found = found.map(|(entity, at)| (entity.owner, at));
        found.ok_or(WorldError::Absent { entity: id })
    }

    /// Where an entity is, if it is of this archetype, and its bytes in the row to compare with.
    #[inline]
    fn writable(&mut self, id: EntityId, archetype: usize) -> Result<Location, WorldError> {
        let (_, at) = self.found(id)?;
        let block = self.store.block(at.block);
        if block.archetype != archetype {
            return Err(self.other_archetype(id, block.archetype, archetype));
        }
        if self.shape(archetype).texts > 0 {
            block.read_bytes(usize::from(at.slot), &mut self.row);
        } else if !self.row.bytes.is_empty() {
            // A store of a length right before the list is read makes the read wait.
            self.row.bytes.clear();
        }
        Ok(at)
    }

    #[cold]
    fn other_archetype(&self, entity: EntityId, is: usize, given: usize) -> WorldError {
        let name = |archetype: usize| self.shape(archetype).name;
        WorldError::OtherArchetype {
            entity,
            is: name(is),
            given: name(given),
        }
    }

    #[inline]
    fn shape(&self, archetype: usize) -> &Shape {
        let shape = self.store.shapes.get(archetype);
        shape.expect("the schema has a shape for every archetype of the enum")
    }

    fn clear_row(&mut self, archetype: usize) {
        let texts = self.shape(archetype).texts;
        self.row.bytes.clear();
        self.row.bytes.resize(texts, Arc::default());
    }

    #[inline]
    fn store_row(
        &mut self,
        archetype: usize,
        entity: EntityId,
        store: impl FnOnce(&mut RowWriter<'_>) -> Result<(), FieldError>,
    ) -> Result<(), WorldError> {
        let shape = self.store.shapes.get(archetype);
        let shape = shape.expect("the schema has a shape for every archetype of the enum");
        let Row { lanes, bytes } = &mut self.row;
        if lanes.len() != shape.lanes {
            lanes.resize(shape.lanes, 0);
        }
        store(&mut RowWriter::new(&shape.fields, lanes, bytes))
            .map_err(|error| WorldError::Unfit { entity, error })
    }

    /// Writes the row, and moves the entity if it has left its cell.
    #[inline]
    fn write(&mut self, id: EntityId, at: Location) -> Result<(), WorldError> {
        let block = self.store.block(at.block);
        if !block.differs(at.slot, &self.row) {
            return Ok(());
        }
        let archetype = block.archetype;
        if let Some(cell) = self.store.cell_of(at.block)
            && let Some(point) = self.shape(archetype).position(&self.row)
            && !cell.keeps(point, self.store.side)
        {
            let cell = Some(Cell::of(point, self.store.side));
            let audience = self.store.audience_of(at.block);
            return self.relocate(id, archetype, at, Whereabouts { cell, audience });
        }
        self.store.touch(at.block).write(at.slot, &self.row);
        Ok(())
    }

    /// The cell for the row; none if it is relevant wherever it is, as private state is.
    fn cell_for(&self, archetype: usize, audience: Audience, everywhere: bool) -> Option<Cell> {
        if everywhere || matches!(audience, Audience::Player(_)) {
            return None;
        }
        let point = self.shape(archetype).position(&self.row)?;
        Some(Cell::of(point, self.store.side))
    }

    /// Puts an entity with the row's values into another place.
    fn relocate(
        &mut self,
        id: EntityId,
        archetype: usize,
        from: Location,
        to: Whereabouts,
    ) -> Result<(), WorldError> {
        let at = self.store.insert(id, archetype, &self.row, to)?;
        self.store.remove(from);
        self.store.mark_mover(at.block);
        self.store
            .entities
            .relocate(id, Some(at), self.store.tick());
        Ok(())
    }
}

impl<A> fmt::Debug for World<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("tick", &self.store.tick())
            .field("entities", &self.store.entities.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
