//! Generational identifiers: a place in a table, and which of its occupants is meant.
//!
//! A message that was under way while its player left names an old generation and so finds nobody,
//! instead of whoever sits there next.

use core::fmt;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tickwire_wire::{BigEndian, DecodeError, Field};

use super::{Reader, Writer};

/// A place and the generation of its occupant.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Id {
    /// Which occupant of the place.
    pub generation: u16,
    /// Which place.
    pub index: u16,
}

impl Id {
    /// Bytes on the wire.
    pub(crate) const SIZE: usize = 4;
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// A player.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PlayerId(pub Id);

impl PlayerId {
    /// The server itself, which owns whatever no player owns.
    pub const SERVER: Self = Self(Id {
        generation: 0,
        index: 0,
    });
}

/// An entity.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntityId(pub Id);

macro_rules! id_fields {
    ($($name:ident $generation:literal $index:literal)+) => {$(
        impl Field<'_, BigEndian> for $name {
            #[inline]
            fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
                let (generation, index) = (r.u16($generation)?, r.u16($index)?);
                Ok(Self(Id { generation, index }))
            }

            #[inline]
            fn write(&self, w: &mut Writer<'_>) {
                w.u16(self.0.generation);
                w.u16(self.0.index);
            }
        }
    )+};
}

id_fields!(PlayerId "player generation" "player index" EntityId "entity generation" "entity index");

/// Gives out ids, lowest free place first, no id twice before its place's generations wrapped.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    /// The generation that each place gives next; its length is how many places were ever used.
    generations: Vec<u16>,
    free: BTreeSet<u16>,
    places: core::ops::Range<u16>,
}

impl Ids {
    /// Ids whose indices lie in `places`.
    pub(crate) const fn new(places: core::ops::Range<u16>) -> Self {
        Self {
            generations: Vec::new(),
            free: BTreeSet::new(),
            places,
        }
    }

    /// The next id, unless every place is taken.
    pub(crate) fn give(&mut self) -> Option<Id> {
        let index = match self.free.pop_first() {
            Some(index) => index,
            None => {
                let used = u16::try_from(self.generations.len()).ok()?;
                let fresh = self
                    .places
                    .start
                    .checked_add(used)
                    .filter(|i| *i < self.places.end)?;
                self.generations.push(0);
                fresh
            }
        };
        let next = self
            .generations
            .get_mut(usize::from(index - self.places.start))?;
        let generation = *next;
        *next = generation.wrapping_add(1);
        Some(Id { generation, index })
    }

    /// Takes back a place that was given and is no longer occupied.
    pub(crate) fn release(&mut self, id: Id) {
        debug_assert!(self.places.contains(&id.index), "{id} was never given");
        self.free.insert(id.index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_lowest_first_and_end() {
        let mut ids = Ids::new(1..4);
        let given: Vec<_> = core::iter::from_fn(|| ids.give()).collect();
        assert_eq!(
            given.iter().map(|id| id.index).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        ids.release(given[1]);
        assert_eq!(
            ids.give(),
            Some(Id {
                generation: 1,
                index: 2
            })
        );
        assert_eq!(ids.give(), None);
    }

    #[test]
    fn an_id_comes_again_only_when_its_generations_wrapped() {
        let mut ids = Ids::new(0..1);
        for generation in 0..=u16::MAX {
            let id = ids.give().unwrap();
            assert_eq!(
                id,
                Id {
                    generation,
                    index: 0
                }
            );
            ids.release(id);
        }
        assert_eq!(
            ids.give(),
            Some(Id {
                generation: 0,
                index: 0
            })
        );
    }
}
