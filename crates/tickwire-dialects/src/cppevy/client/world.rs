//! The client's copy of the server's entities and their states.
//!
//! States lie by component, and within one by entity: the order in which the server sends them. A
//! client is told of thousands in a row, and so walks through its memory instead of jumping about.

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

/// A state that was told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct State<'a> {
    pub(super) timestamp: u32,
    pub(super) value: &'a [u8],
}

/// A state as it lies in memory, if its entity's bit says that it was told; otherwise what was there
/// before. Four of them share a line of the processor's cache: there are thousands, each client of a
/// process has its own, and all are written over many times a second.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    timestamp: u32,
    /// [`LONG`]: the value lies elsewhere.
    length: u8,
    short: [u8; SHORT],
}

/// Bytes of a value that lie in its place: more than a vector or a number has.
const SHORT: usize = 11;
const LONG: u8 = u8::MAX;

impl Place {
    /// Takes a value that is short enough.
    #[inline]
    fn set(&mut self, value: &[u8]) -> Option<()> {
        let short = self.short.get_mut(..value.len())?;
        // The usual lengths, a vector and a number, are copied without a call.
        match (short.as_mut_array::<8>(), value.as_array::<8>()) {
            (Some(short), Some(value)) => *short = *value,
            _ => match (short.as_mut_array::<4>(), value.as_array::<4>()) {
                (Some(short), Some(value)) => *short = *value,
                _ => short.copy_from_slice(value),
            },
        }
        self.length = u8::try_from(value.len()).ok()?;
        Some(())
    }
}

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
    places: Vec<Vec<Place>>,
    /// Values that do not lie in their place, by descriptor.
    long: BTreeMap<u16, Vec<u8>>,
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
        *find(&mut self.entities, summon.entity.number()) = Some(entity);
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

    pub(super) fn state(&self, id: StateId) -> Option<State<'_>> {
        if !self.get(id.entity)?.knows(id.component) {
            return None;
        }
        let column = self.places.get(usize::from(id.component.number()))?;
        let place = column.get(usize::from(id.entity.number()))?;
        let value = match place.length {
            LONG => self.long.get(&id.descriptor())?,
            length => place.short.get(..usize::from(length))?,
        };
        let timestamp = place.timestamp;
        Some(State { timestamp, value })
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
        let column = find(&mut self.places, id.component.number().into());
        let place = find(column, number);
        if entity.knows(id.component) && timestamp.is_older_than(place.timestamp) {
            return Err(Ignored::Stale);
        }
        entity.told |= 1 << id.component.number();
        place.timestamp = timestamp;
        if place.set(value.bytes()).is_none() {
            place.length = LONG;
            self.long.insert(id.descriptor(), value.bytes().into());
        }
        Ok(())
    }
}

/// The element of this number, up to which there are some from now on.
#[expect(clippy::indexing_slicing, reason = "there are enough just before")]
fn find<T: Default>(all: &mut Vec<T>, number: u16) -> &mut T {
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
    fn a_value_is_kept_whatever_its_length() {
        let mut world = World::default();
        let summon = Summon {
            entity: ID.entity,
            archetype: Archetype(3),
        };
        world.summon(10, summon);
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let (short, longest) = (SHORT, usize::from(u8::MAX));
        let lengths = [0, 1, 4, 8, short, short + 1, longest, short + 1, short, 0];
        for (timestamp, length) in (11..).zip(lengths) {
            let value = &all[..length];
            world
                .update(timestamp, ID, Data::new(value).unwrap())
                .unwrap();
            assert_eq!(world.state(ID), Some(State { timestamp, value }));
        }
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
