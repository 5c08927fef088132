//! The objects as they are now, and when each state last changed.
//!
//! In: what the game does, which takes effect in the tick after the last committed one. Out: what differs
//! from an earlier tick. No past snapshot is kept. Each state has the tick of its last change and of its
//! last jump, and all objects are in a list by their last change, so a delta visits what changed and
//! nothing else. A destroyed object leaves a tombstone for as long as a client may have seen it alive.

mod basic;
mod entry;
mod order;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use slab::Slab;
use tickwire_state::Tick;

use super::{CreateError, StateError};
use crate::opendrakan::limits::{OBJECTS_MAX, TOMBSTONES_MAX};
use crate::opendrakan::message::Lifecycle;
use crate::opendrakan::snapshot::Object;
use crate::opendrakan::value::Value;
use crate::opendrakan::{ClassId, ObjectId, Registry};
use order::{ChangeOrder, Place};

pub(super) use entry::{Entry, Wanted};

#[derive(Debug)]
pub(super) struct World {
    registry: Registry,
    /// The last committed tick.
    tick: Tick,
    places: BTreeMap<ObjectId, Place>,
    objects: Slab<Entry>,
    by_change: ChangeOrder,
    /// Destroyed objects that somebody may still see, in the order of their end.
    tombstones: VecDeque<Tombstone>,
    /// When the last object was destroyed whose tombstone is gone: no older tick can be a reference.
    forgotten: Tick,
    /// Classes of the level's objects, the destroyed ones too: prototypes outlive their objects.
    level: BTreeMap<ObjectId, ClassId>,
    /// Destroyed objects of the level, for savegames.
    level_destroyed: BTreeSet<ObjectId>,
    next_id: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Tombstone {
    pub(super) object: ObjectId,
    created: Tick,
    destroyed: Tick,
}

impl World {
    pub(super) const fn new(registry: Registry) -> Self {
        Self {
            registry,
            tick: Tick::NONE,
            places: BTreeMap::new(),
            objects: Slab::new(),
            by_change: ChangeOrder::new(),
            tombstones: VecDeque::new(),
            forgotten: Tick::NONE,
            level: BTreeMap::new(),
            level_destroyed: BTreeSet::new(),
            next_id: 0,
        }
    }

    /// The last committed tick.
    pub(super) const fn tick(&self) -> Tick {
        self.tick
    }

    /// Makes what happened since the last tick part of the next.
    pub(super) fn commit(&mut self) -> Tick {
        self.tick = self.tick.next();
        self.tick
    }

    /// Drops the tombstones that no reference from `oldest` on needs, and the oldest ones if there are too
    /// many.
    pub(super) fn forget_before(&mut self, oldest: Tick) {
        while let Some(tombstone) = self.tombstones.front()
            && (tombstone.destroyed <= oldest || self.tombstones.len() > TOMBSTONES_MAX)
        {
            self.forgotten = tombstone.destroyed;
            self.tombstones.pop_front();
        }
    }

    /// The oldest tick that a difference can be told to.
    pub(super) const fn remembered(&self) -> Tick {
        self.forgotten
    }

    /// Goes on from another world's tick; nothing may have been committed yet.
    pub(super) fn resume(&mut self, tick: Tick) {
        debug_assert!(self.tick == Tick::NONE, "a world resumes before it runs");
        // The next commit is that of `tick`, so that what is set now counts as changed by then.
        self.tick = tick.before(1);
    }

    /// Adds an object of the level, as it is when the level is loaded.
    pub(super) fn add_level_object(
        &mut self,
        id: ObjectId,
        class: ClassId,
        lifecycle: Lifecycle,
    ) -> Result<(), CreateError> {
        if self.level.contains_key(&id) {
            return Err(CreateError::IdTaken { object: id });
        }
        let mut entry = self.build_entry(id, class, None, Tick::NONE)?;
        entry.object.lifecycle = lifecycle;
        self.level.insert(id, class);
        self.insert(entry);
        Ok(())
    }

    /// Creates a clone of `prototype` with untouched states.
    pub(super) fn create(&mut self, prototype: ObjectId) -> Result<ObjectId, CreateError> {
        let id = ObjectId(self.next_id);
        let next = self.next_id.checked_add(1).ok_or(CreateError::TooMany)?;
        self.create_as(id, prototype)?;
        self.next_id = next;
        Ok(id)
    }

    /// Creates an object of a known number.
    pub(super) fn create_as(
        &mut self,
        id: ObjectId,
        prototype: ObjectId,
    ) -> Result<(), CreateError> {
        if self.places.contains_key(&id) || self.level.contains_key(&id) {
            return Err(CreateError::IdTaken { object: id });
        }
        // A client that joins later never hears of clones that are gone, so a clone of a clone is
        // told as one of the level's object at the root of both.
        let known = self.get(prototype);
        let root = known
            .and_then(|entry| entry.object.prototype)
            .unwrap_or(prototype);
        let class = *self.level.get(&root).ok_or(CreateError::UnknownPrototype)?;
        let entry = self.build_entry(id, class, Some(root), self.tick.next())?;
        self.insert(entry);
        Ok(())
    }

    fn build_entry(
        &self,
        id: ObjectId,
        class: ClassId,
        prototype: Option<ObjectId>,
        created: Tick,
    ) -> Result<Entry, CreateError> {
        if self.places.len() >= OBJECTS_MAX {
            return Err(CreateError::TooMany);
        }
        let schema = self.registry.schema(class);
        let schema = schema.ok_or(CreateError::UnknownClass { class })?;
        let object = Object::untouched(Some(class), prototype, Some(schema));
        Ok(Entry::new(id, object, created))
    }

    fn insert(&mut self, entry: Entry) {
        let id = entry.id;
        let place = Place(self.objects.insert(entry));
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        self.places.insert(id, place);
        self.by_change.push(place);
    }

    /// Sets the state of a number; `jump` if it is not to be seen on its way.
    pub(super) fn set(
        &mut self,
        id: ObjectId,
        state: (usize, Value),
        jump: bool,
    ) -> Result<(), StateError> {
        let now = self.tick.next();
        let (place, entry) = self.find(id)?;
        if entry.write(state, now, jump)? {
            self.touch(place, now);
        }
        Ok(())
    }

    /// Sets a state of an object of the level, as it is when the level is loaded.
    pub(super) fn set_level_state(
        &mut self,
        id: ObjectId,
        state: (usize, Value),
    ) -> Result<(), StateError> {
        let (_, entry) = self.find(id)?;
        entry.write(state, Tick::NONE, false).map(|_| ())
    }

    /// Sets an object's lifecycle. Destroying takes it out of the world for good.
    pub(super) fn set_lifecycle(
        &mut self,
        id: ObjectId,
        lifecycle: Lifecycle,
    ) -> Result<(), StateError> {
        let now = self.tick.next();
        let (place, entry) = self.find(id)?;
        if lifecycle == Lifecycle::Destroyed {
            self.bury(id, now);
        } else if entry.object.lifecycle != lifecycle {
            entry.object.lifecycle = lifecycle;
            entry.lifecycle_changed = now;
            self.touch(place, now);
        }
        Ok(())
    }

    fn bury(&mut self, object: ObjectId, destroyed: Tick) {
        let Some(place) = self.places.remove(&object) else {
            return;
        };
        self.by_change.remove(place);
        let entry = self.objects.remove(place.0);
        if entry.object.prototype.is_none() {
            self.level_destroyed.insert(object);
        }
        let created = entry.created;
        // Created and destroyed between two ticks: no client can have seen it.
        if created < destroyed {
            self.tombstones.push_back(Tombstone {
                object,
                created,
                destroyed,
            });
        }
    }

    /// Notes that an object changed.
    fn touch(&mut self, place: Place, now: Tick) {
        if let Some(entry) = self.objects.get_mut(place.0)
            && entry.changed != now
        {
            entry.changed = now;
            self.by_change.remove(place);
            self.by_change.push(place);
        }
    }

    fn find(&mut self, object: ObjectId) -> Result<(Place, &mut Entry), StateError> {
        let place = self.places.get(&object).copied();
        place
            .and_then(|place| Some((place, self.objects.get_mut(place.0)?)))
            .ok_or(StateError::UnknownObject { object })
    }

    pub(super) fn get(&self, id: ObjectId) -> Option<&Entry> {
        self.at(*self.places.get(&id)?)
    }

    fn at(&self, place: Place) -> Option<&Entry> {
        self.objects.get(place.0)
    }

    /// Everything that is there, by number.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Entry> {
        self.places.values().filter_map(|place| self.at(*place))
    }

    /// What changed after a tick and is there, the last changed first.
    pub(super) fn changed_after(&self, tick: Tick) -> impl Iterator<Item = &Entry> {
        self.by_change
            .newest_first()
            .map_while(|place| self.at(place))
            .take_while(move |entry| entry.changed > tick)
    }

    /// What was there at a tick and is gone.
    pub(super) fn destroyed_after(&self, tick: Tick) -> impl Iterator<Item = &Tombstone> {
        self.tombstones
            .iter()
            .rev()
            .take_while(move |tombstone| tombstone.destroyed > tick)
            .filter(move |tombstone| tombstone.created <= tick)
    }

    /// The level's objects that were destroyed.
    pub(super) fn level_destroyed(&self) -> impl Iterator<Item = ObjectId> {
        self.level_destroyed.iter().copied()
    }

    pub(super) const fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Gives no number below this one.
    pub(super) fn skip_ids(&mut self, next_id: u32) {
        self.next_id = self.next_id.max(next_id);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::opendrakan::{Schema, VISIBILITY};

    /// A world of so many objects, committed once.
    fn world(objects: u32) -> World {
        let mut registry = Registry::new();
        registry.register(ClassId(0), Schema::default());
        let mut world = World::new(registry);
        for id in 0..objects {
            let id = ObjectId(id);
            world
                .add_level_object(id, ClassId(0), Lifecycle::Loaded)
                .unwrap();
        }
        world.commit();
        world
    }

    #[test]
    fn a_delta_visits_what_changed_and_nothing_else() {
        let mut world = world(20_000);
        let before = world.tick();
        for id in [7, 70, 700, 7_000] {
            for visible in [false, true, false] {
                let state = (VISIBILITY, Value::Bool(visible));
                world.set(ObjectId(id), state, false).unwrap();
            }
        }
        world.commit();
        let visited: Vec<_> = world
            .changed_after(before)
            .map(|entry| entry.id.0)
            .collect();
        assert_eq!(visited, [7_000, 700, 70, 7]);
        assert_eq!(world.by_change.newest_first().count(), 20_000);
        assert_eq!(world.changed_after(world.tick()).count(), 0);
    }

    #[test]
    fn a_place_is_used_again_and_a_number_is_not() {
        let mut world = world(2);
        for round in 0..100 {
            let made = world.create(ObjectId(0)).unwrap();
            assert_eq!(made, ObjectId(2 + round));
            world.commit();
            assert_eq!(world.changed_after(Tick::NONE).count(), 1);
            world.set_lifecycle(made, Lifecycle::Destroyed).unwrap();
        }
        assert!(world.objects.capacity() < 10, "{world:?}");
        assert_eq!(world.objects().count(), 2);
    }

    #[test]
    fn tombstones_last_as_long_as_somebody_may_refer_to_the_living() {
        let mut world = world(1);
        let alive = world.tick();
        world
            .set_lifecycle(ObjectId(0), Lifecycle::Destroyed)
            .unwrap();
        let gone = world.commit();
        world.forget_before(alive);
        assert_eq!(world.destroyed_after(alive).count(), 1);
        assert!(world.remembered() <= alive);
        world.forget_before(gone);
        assert_eq!((world.tombstones.len(), world.remembered()), (0, gone));
        assert_eq!(world.level_destroyed().count(), 1);
    }

    #[test]
    fn of_too_many_tombstones_the_oldest_are_forgotten() {
        let mut world = world(1);
        for _ in 0..=TOMBSTONES_MAX {
            let made = world.create(ObjectId(0)).unwrap();
            world.commit();
            world.set_lifecycle(made, Lifecycle::Destroyed).unwrap();
            world.forget_before(Tick::NONE);
        }
        assert_eq!(world.tombstones.len(), TOMBSTONES_MAX);
        assert_eq!(world.remembered(), Tick(3), "the first was made in tick 2");
    }
}
