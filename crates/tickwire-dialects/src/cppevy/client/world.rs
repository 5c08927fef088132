//! The client's copy of the server's entities and their states.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tickwire_wire::Serial;

use super::super::message::{Data, Summon};
use super::super::{Archetype, Component, StateId, SyncId};

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
    states: BTreeMap<Component, State>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct State {
    pub(super) timestamp: u32,
    pub(super) value: Vec<u8>,
}

impl Entity {
    pub(super) fn state(&self, component: Component) -> Option<&State> {
        self.states.get(&component)
    }

    /// The components that were ever told.
    pub fn components(&self) -> impl Iterator<Item = Component> {
        self.states.keys().copied()
    }
}

/// Why a state is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ignored {
    UnknownEntity,
    /// A newer one was there before, or the entity is younger.
    Stale,
}

/// Everything that is there. Sync ids bound it: 1,024 entities of 64 states of 255 bytes, 16 MiB.
#[derive(Debug, Default)]
pub(super) struct World {
    entities: BTreeMap<SyncId, Entity>,
}

impl World {
    /// An entity is there; of one that had this id nothing is left.
    pub(super) fn summon(&mut self, timestamp: u32, summon: Summon) {
        let entity = Entity {
            archetype: summon.archetype,
            is_actor: false,
            summoned: timestamp,
            states: BTreeMap::new(),
        };
        self.entities.insert(summon.entity, entity);
    }

    pub(super) fn dismiss(&mut self, id: SyncId) -> Option<Entity> {
        self.entities.remove(&id)
    }

    pub(super) fn set_actor(&mut self, id: SyncId, is_actor: bool) -> Option<()> {
        self.entities.get_mut(&id)?.is_actor = is_actor;
        Some(())
    }

    pub(super) fn get(&self, id: SyncId) -> Option<&Entity> {
        self.entities.get(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SyncId, &Entity)> {
        self.entities.iter().map(|(&id, entity)| (id, entity))
    }

    /// Takes what was true at `timestamp`. Of two values for one moment the later one counts.
    pub(super) fn update(
        &mut self,
        timestamp: u32,
        id: StateId,
        value: Data<'_>,
    ) -> Result<(), Ignored> {
        let entity = self.entities.get_mut(&id.entity);
        let entity = entity.ok_or(Ignored::UnknownEntity)?;
        let newest = entity
            .states
            .get(&id.component)
            .map(|state| state.timestamp);
        if !timestamp.is_newer_than(entity.summoned)
            || newest.is_some_and(|newest| timestamp.is_older_than(newest))
        {
            return Err(Ignored::Stale);
        }
        let value = value.bytes().into();
        let state = State { timestamp, value };
        entity.states.insert(id.component, state);
        Ok(())
    }
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
        let state = world.get(ID.entity).and_then(|e| e.state(ID.component));
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
