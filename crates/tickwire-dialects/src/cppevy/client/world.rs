//! The client's copy of the server's entities and their states.
//!
//! States lie by component, and within one by entity: the order in which the server sends them. A
//! client is told of thousands in a row, and so walks through its memory instead of jumping about.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tickwire_wire::Serial;

use crate::cppevy::message::{Data, Summon};
use crate::cppevy::{Archetype, Component, StateId, SyncId};

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
}

/// A state that was told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct State<'a> {
    pub(super) timestamp: u32,
    pub(super) value: &'a [u8],
}

/// Where a state lies. Four of them share a line of the processor's cache: there are thousands, each
/// client of a process has its own, and all are written over many times a second.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// When the value was true; as long as there is none, when the entity was summoned.
    timestamp: u32,
    holds: Holds,
    short: [u8; SHORT],
}

/// What lies in a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Holds {
    /// Nothing: the entity is not there.
    NoEntity,
    /// Nothing yet.
    NoValue,
    /// A value of so many bytes.
    Short(u8),
    /// A value that lies elsewhere.
    Long,
}

/// Bytes of a value that lie in its place: more than a vector or a number has.
const SHORT: usize = 10;

const _: () = assert!(size_of::<Place>() == 16, "four share a line of 64 bytes");

impl Place {
    const fn new(entity: Option<&Entity>) -> Self {
        let (timestamp, holds) = match entity {
            Some(entity) => (entity.summoned, Holds::NoValue),
            None => (0, Holds::NoEntity),
        };
        Self {
            timestamp,
            holds,
            short: [0; SHORT],
        }
    }

    /// Whether there is an entity, and what is told of it is news.
    #[inline]
    fn check(&self, timestamp: u32) -> Result<(), Ignored> {
        let is_news = match self.holds {
            Holds::NoEntity => return Err(Ignored::UnknownEntity),
            Holds::NoValue => timestamp.is_newer_than(self.timestamp),
            // Of two values for one moment the later one counts.
            Holds::Short(_) | Holds::Long => !timestamp.is_older_than(self.timestamp),
        };
        if is_news { Ok(()) } else { Err(Ignored::Stale) }
    }

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
        self.holds = Holds::Short(u8::try_from(value.len()).ok()?);
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

/// Everything that is there. Sync ids bound it: 1,024 entities of 64 states of 255 bytes, 20 MiB
/// with what it takes to find them.
#[derive(Debug, Default)]
pub(super) struct World {
    /// By number.
    entities: Vec<Option<Entity>>,
    /// By component, then by entity: none, or one for each of the entities.
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
        };
        self.put(summon.entity, Some(entity));
    }

    pub(super) fn dismiss(&mut self, id: SyncId) -> Option<Entity> {
        self.get(id)?;
        self.put(id, None)
    }

    /// Puts another in the place of an entity, and returns that.
    fn put(&mut self, id: SyncId, entity: Option<Entity>) -> Option<Entity> {
        let number = usize::from(id.number());
        if self.entities.len() <= number {
            self.entities.resize(number + 1, None);
        }
        for (component, column) in (0..).zip(&mut self.places) {
            if column.is_empty() {
                continue;
            }
            column.resize(self.entities.len(), Place::new(None));
            if let Some(place) = column.get_mut(number) {
                *place = Place::new(entity.as_ref());
            }
            if let Some(component) = Component::new(component) {
                let state = StateId {
                    entity: id,
                    component,
                };
                self.long.remove(&state.descriptor());
            }
        }
        core::mem::replace(self.entities.get_mut(number)?, entity)
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
        let column = self.places.get(usize::from(id.component.number()))?;
        let place = column.get(usize::from(id.entity.number()))?;
        let value = match place.holds {
            Holds::NoEntity | Holds::NoValue => return None,
            Holds::Short(length) => place.short.get(..usize::from(length))?,
            Holds::Long => self.long.get(&id.descriptor())?,
        };
        let timestamp = place.timestamp;
        Some(State { timestamp, value })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SyncId, &Entity)> {
        (0..)
            .zip(&self.entities)
            .filter_map(|(number, entity)| Some((SyncId::new(number)?, entity.as_ref()?)))
    }

    /// Takes what was true at `timestamp`.
    pub(super) fn update(
        &mut self,
        timestamp: u32,
        id: StateId,
        value: Data<'_>,
    ) -> Result<(), Ignored> {
        let component = usize::from(id.component.number());
        if self.places.get(component).is_none_or(Vec::is_empty) {
            self.add_column(component);
        }
        let column = self.places.get_mut(component);
        let place = column
            .and_then(|column| column.get_mut(usize::from(id.entity.number())))
            .ok_or(Ignored::UnknownEntity)?;
        place.check(timestamp)?;
        place.timestamp = timestamp;
        let was_long = place.holds == Holds::Long;
        if place.set(value.bytes()).is_none() {
            place.holds = Holds::Long;
            self.long.insert(id.descriptor(), value.bytes().into());
        } else if was_long {
            self.long.remove(&id.descriptor());
        }
        Ok(())
    }

    /// A state of a kind that was never told before.
    fn add_column(&mut self, component: usize) {
        let entities = self.entities.iter().map(Option::as_ref);
        let column = entities.map(Place::new).collect();
        if self.places.len() <= component {
            self.places.resize_with(component + 1, Vec::new);
        }
        if let Some(place) = self.places.get_mut(component) {
            *place = column;
        }
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
            assert_eq!(world.long.len(), usize::from(length > SHORT));
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
        assert_eq!(world.state(ID), None);
        check(&mut world, 25, 2, Err(Ignored::Stale));
    }

    #[test]
    fn nothing_is_left_of_what_was_dismissed() {
        let mut world = World::default();
        let summon = |number| Summon {
            entity: SyncId::new(number).unwrap(),
            archetype: Archetype(3),
        };
        world.summon(10, summon(9));
        check(&mut world, 20, 1, Ok(1));
        let long = [7; SHORT + 1];
        world.update(21, ID, Data::new(&long).unwrap()).unwrap();
        assert!(world.dismiss(ID.entity).is_some());
        assert!(world.long.is_empty());
        assert!(world.dismiss(ID.entity).is_none());
        assert_eq!(world.state(ID), None);
        check(&mut world, 30, 2, Err(Ignored::UnknownEntity));
        // One with a higher number makes room in what there is.
        world.summon(40, summon(200));
        world.summon(40, summon(9));
        check(&mut world, 40, 3, Err(Ignored::Stale));
        check(&mut world, 41, 4, Ok(4));
    }
}
