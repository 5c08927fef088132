//! Values under ids that tell a thing from its successor in the same place.

use std::collections::VecDeque;

/// A place and how often it was used before: two things never share a `Slot` within any time that
/// matters.
///
/// Ids that travel (`EntityId`, `PilotId`) are this with a name. Both halves have 16 bits because
/// that is what the published protocols carry.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Slot {
    pub(crate) index: u16,
    pub(crate) generation: u16,
}

impl Slot {
    pub(crate) const fn to_bits(self) -> u32 {
        (self.generation as u32) << 16 | self.index as u32
    }
}

/// At most `capacity` values, iterated in the order of their places.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    places: Vec<Place<T>>,
    /// Empty places, the one that has rested longest in front.
    free: VecDeque<u16>,
    capacity: u16,
}

#[derive(Clone, Debug)]
struct Place<T> {
    generation: u16,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub(crate) const fn new(capacity: u16) -> Self {
        Self {
            places: Vec::new(),
            free: VecDeque::new(),
            capacity,
        }
    }

    /// `None` if full.
    pub(crate) fn insert(&mut self, value: T) -> Option<Slot> {
        // A place rests while others are reused, so that an id recurs only after 65,536 × RESTING
        // removals; at a hundred a second that is two days.
        let fresh = u16::try_from(self.places.len())
            .ok()
            .filter(|&index| index < self.capacity && self.free.len() < RESTING);
        let index = if let Some(index) = fresh {
            self.places.push(Place {
                generation: 0,
                value: None,
            });
            index
        } else {
            self.free.pop_front()?
        };
        let place = &mut self.places[usize::from(index)];
        place.value = Some(value);
        Some(Slot {
            index,
            generation: place.generation,
        })
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<T> {
        let place = self
            .places
            .get_mut(usize::from(slot.index))
            .filter(|place| place.generation == slot.generation)?;
        let value = place.value.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push_back(slot.index);
        Some(value)
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        self.places
            .get(usize::from(slot.index))
            .filter(|place| place.generation == slot.generation)?
            .value
            .as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        self.places
            .get_mut(usize::from(slot.index))
            .filter(|place| place.generation == slot.generation)?
            .value
            .as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &T)> {
        (0..).zip(&self.places).filter_map(|(index, place)| {
            let generation = place.generation;
            Some((Slot { index, generation }, place.value.as_ref()?))
        })
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Slot, &mut T)> {
        (0..).zip(&mut self.places).filter_map(|(index, place)| {
            let generation = place.generation;
            Some((Slot { index, generation }, place.value.as_mut()?))
        })
    }
}

/// How many places rest before the first is used again, while the capacity allows it.
const RESTING: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_id_finds_nothing_in_a_place_used_again() {
        let mut slots = Slots::new(1);
        let old = slots.insert('a').unwrap();
        assert_eq!(slots.insert('b'), None);
        assert_eq!(slots.remove(old), Some('a'));
        let new = slots.insert('b').unwrap();
        assert_eq!((new.index, new.generation), (0, 1));
        assert_eq!(slots.get(old), None);
        assert_eq!(slots.remove(old), None);
        assert_eq!(slots.get(new), Some(&'b'));
    }

    #[test]
    fn places_rest_before_they_are_used_again() {
        let mut slots = Slots::new(u16::MAX);
        for n in 0..RESTING {
            let slot = slots.insert(n).unwrap();
            assert_eq!(usize::from(slot.index), n);
            slots.remove(slot).unwrap();
        }
        let again = slots.insert(0).unwrap();
        assert_eq!((again.index, again.generation), (0, 1));
        assert_eq!(slots.iter().count(), 1);
    }

    #[test]
    fn iteration_follows_the_places() {
        let mut slots = Slots::new(8);
        let ids: Vec<_> = (0..5).map(|n| slots.insert(n).unwrap()).collect();
        slots.remove(ids[2]).unwrap();
        let seen: Vec<_> = slots.iter().map(|(slot, &n)| (slot.index, n)).collect();
        assert_eq!(seen, [(0, 0), (1, 1), (3, 3), (4, 4)]);
    }
}
