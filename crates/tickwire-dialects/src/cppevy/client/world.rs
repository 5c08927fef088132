//! The client's copy of the server's entities and their states.
//!
//! States lie by component, and within one by entity: the order in which the server sends them. A
//! client is told of thousands in a row, and so walks through its memory instead of jumping about.

use alloc::vec::Vec;

use tickwire_wire::Serial;

use super::super::message::{Data, Summon};
use super::super::{Archetype, Bytes, Component, StateId, SyncId};

/// An entity as the server tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Entity {
    /// What it is.
    pub archetype: Archetype,
    /// Whether it is somebody who plays.
    pub is_actor: bool,
    /// Timestamp of its Summon.
    summoned: u32,
    /// A bit for every component that was told.
    told: u64,
}

impl Entity {
    /// The components that were ever told.
    pub fn components(&self) -> impl Iterator<Item = Component> {
        (0..Component::COUNT)
            .filter(|number| self.told >> number & 1 == 1)
            .filter_map(Component::new)
    }

    const fn knows(&self, component: Component) -> bool {
        self.told >> component.number() & 1 == 1
    }
}

/// A state, if its entity's bit says that it was told; otherwise what was there before.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) timestamp: u32,
    pub(super) value: Bytes<SHORT>,
}

/// A timestamp and so many bytes lie in half a line of the processor's cache.
const SHORT: usize = 22;

/// Why a state is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ignored {
    UnknownEntity,
    /// A newer one was there before, or the entity is younger.
    Stale,
}

/// Everything that is there. Sync ids bound it: 1,024 entities of 64 states of 255 bytes, 18 MiB.
#[derive(Debug, Default)]
pub(super) struct World {
    /// By number.
    entities: Vec<Option<Entity>>,
    /// By component, then by entity.
    states: Vec<Vec<State>>,
}

impl World {
    /// An entity is there; of one that had this id nothing is left.
    pub(super) fn summon(&mut self, timestamp: u32, summon: Summon) {
        let entity = Entity {
            archetype: summon.archetype,
            is_actor: false,
            summoned: timestamp,
            told: 0,
        };
        *place(&mut self.entities, summon.entity.number()) = Some(entity);
    }

    pub(super) fn dismiss(&mut self, id: SyncId) -> Option<Entity> {
        self.entities.get_mut(usize::from(id.number()))?.take()
    }

    pub(super) fn set_actor(&mut self, id: SyncId, is_actor: bool) -> Option<()> {
        let entity = self.entities.get_mut(usize::from(id.number()))?;
        entity.as_mut()?.is_actor = is_actor;
        Some(())
    }

    pub(super) fn get(&self, id: SyncId) -> Option<&Entity> {
        self.entities.get(usize::from(id.number()))?.as_ref()
    }

    pub(super) fn state(&self, id: StateId) -> Option<&State> {
        if !self.get(id.entity)?.knows(id.component) {
            return None;
        }
        let column = self.states.get(usize::from(id.component.number()))?;
        column.get(usize::from(id.entity.number()))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SyncId, &Entity)> {
        (0..)
            .zip(&self.entities)
            .filter_map(|(number, entity)| Some((SyncId::new(number)?, entity.as_ref()?)))
    }

    /// Takes what was true at `timestamp`. Of two values for one moment the later one counts.
    pub(super) fn update(
        &mut self,
        timestamp: u32,
        id: StateId,
        value: Data<'_>,
    ) -> Result<(), Ignored> {
        let number = id.entity.number();
        let entity = self.entities.get_mut(usize::from(number));
        let entity = entity
            .and_then(Option::as_mut)
            .ok_or(Ignored::UnknownEntity)?;
        if !timestamp.is_newer_than(entity.summoned) {
            return Err(Ignored::Stale);
        }
        let column = place(&mut self.states, id.component.number().into());
        let state = place(column, number);
        if entity.knows(id.component) && timestamp.is_older_than(state.timestamp) {
            return Err(Ignored::Stale);
        }
        entity.told |= 1 << id.component.number();
        state.timestamp = timestamp;
        state.value.set(value.bytes());
        Ok(())
    }
}

/// The element of this number, up to which there are some from now on.
#[expect(clippy::indexing_slicing, reason = "there are enough just before")]
fn place<T: Default>(all: &mut Vec<T>, number: u16) -> &mut T {
    let number = usize::from(number);
    if all.len() <= number {
        all.resize_with(number + 1, T::default);
    }
    &mut all[number]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: StateId = StateId {
        entity: SyncId::new(9).unwrap(),
        component: Component::new(1).unwrap(),
    };

    #[track_caller]
    fn check(world: &mut World, timestamp: u32, value: u8, expected: Result<u8, Ignored>) {
        let updated = world.update(timestamp, ID, Data::new(&[value]).unwrap());
        let state = world.state(ID);
        let after = updated.map(|()| state.unwrap().value[0]);
        assert_eq!(after, expected, "{value} at {timestamp}");
    }

    #[test]
    fn only_news_is_taken() {
        let mut world = World::default();
        check(&mut world, 1_000, 1, Err(Ignored::UnknownEntity));
        let summon = Summon {
            entity: ID.entity,
            archetype: Archetype(3),
        };
        world.summon(u32::MAX - 99, summon);
        check(&mut world, u32::MAX - 100, 1, Err(Ignored::Stale));
        check(&mut world, u32::MAX - 99, 2, Err(Ignored::Stale));
        check(&mut world, u32::MAX - 98, 3, Ok(3));
        check(&mut world, 100, 4, Ok(4));
        check(&mut world, 99, 5, Err(Ignored::Stale));
        check(&mut world, 100, 6, Ok(6));
    }

    #[test]
    fn a_new_occupant_of_an_id_inherits_nothing() {
        let mut world = World::default();
        let summon = Summon {
            entity: ID.entity,
            archetype: Archetype(3),
        };
        world.summon(10, summon);
        check(&mut world, 20, 1, Ok(1));
        world.summon(30, summon);
        assert_eq!(world.get(ID.entity).unwrap().components().count(), 0);
        check(&mut world, 25, 2, Err(Ignored::Stale));
    }
}
