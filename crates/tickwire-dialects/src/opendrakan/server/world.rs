//! The objects as they are now, and when each state last changed.
//!
//! No past snapshot is kept. Each state knows the tick of its last change and of its last jump, and a
//! list has all objects by their last change: what differs from tick `t` is what changed after `t`,
//! found without looking at anything else. Whatever the game does takes effect in the tick after the
//! last committed one.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use tickwire_state::Tick;

use super::super::bundle::Change;
use super::super::limits::{OBJECTS_MAX, SEND_TICKS, SNAPSHOTS_HELD};
use super::super::message::Lifecycle;
use super::super::schema::{BASIC, UNTOUCHED};
use super::super::value::Value;
use super::super::{ClassId, ObjectId, Registry};
use super::{CreateError, State, StateError};

#[derive(Debug)]
pub(super) struct World {
    registry: Registry,
    /// The last committed tick.
    tick: Tick,
    objects: BTreeMap<ObjectId, Entry>,
    /// Every object by the tick of its last change.
    by_change: BTreeSet<(Tick, ObjectId)>,
    /// Destroyed objects that somebody may still see, in the order of their end.
    graves: VecDeque<Grave>,
    /// Classes of the level's objects, the destroyed ones too: prototypes outlive their objects.
    level: BTreeMap<ObjectId, ClassId>,
    /// Destroyed objects of the level, for savegames.
    level_destroyed: BTreeSet<ObjectId>,
    next_id: u32,
}

/// An object, with the past that deltas need.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) class: ClassId,
    /// [`Tick::NONE`] if it is the level's.
    pub(super) created: Tick,
    pub(super) prototype: Option<ObjectId>,
    pub(super) lifecycle: Lifecycle,
    pub(super) lifecycle_changed: Tick,
    /// The basic states, then the extra ones.
    states: Box<[Slot]>,
    /// The last change of anything above.
    changed: Tick,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    value: Value,
    changed: Tick,
    jumped: Tick,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Grave {
    pub(super) object: ObjectId,
    pub(super) created: Tick,
    pub(super) destroyed: Tick,
}

impl World {
    pub(super) const fn new(registry: Registry) -> Self {
        Self {
            registry,
            tick: Tick::NONE,
            objects: BTreeMap::new(),
            by_change: BTreeSet::new(),
            graves: VecDeque::new(),
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
        let oldest_reference = self.tick.before(SEND_TICKS * SNAPSHOTS_HELD);
        while let Some(grave) = self.graves.front()
            && grave.destroyed <= oldest_reference
        {
            self.graves.pop_front();
        }
        self.tick
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
        let mut entry = self.build_entry(class, None, Tick::NONE)?;
        entry.lifecycle = lifecycle;
        self.level.insert(id, class);
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        self.insert(id, entry);
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
        if self.objects.contains_key(&id) || self.level.contains_key(&id) {
            return Err(CreateError::IdTaken { object: id });
        }
        // A client that joins later never hears of clones that are gone, so a clone of a clone is
        // told as one of the level's object at the root of both.
        let known = self.objects.get(&prototype);
        let root = known.and_then(|entry| entry.prototype).unwrap_or(prototype);
        let class = *self.level.get(&root).ok_or(CreateError::UnknownPrototype)?;
        let entry = self.build_entry(class, Some(root), self.tick.next())?;
        self.next_id = self.next_id.max(id.0.saturating_add(1));
        self.insert(id, entry);
        Ok(())
    }

    fn build_entry(
        &self,
        class: ClassId,
        prototype: Option<ObjectId>,
        now: Tick,
    ) -> Result<Entry, CreateError> {
        if self.objects.len() >= OBJECTS_MAX {
            return Err(CreateError::TooMany);
        }
        let schema = self.registry.schema(class);
        let schema = schema.ok_or(CreateError::UnknownClass { class })?;
        let extra = schema.fields().iter().map(|field| field.kind.zero());
        let slot = |value| Slot {
            value,
            changed: now,
            jumped: Tick::NONE,
        };
        Ok(Entry {
            class,
            created: now,
            prototype,
            lifecycle: Lifecycle::Loaded,
            lifecycle_changed: now,
            states: UNTOUCHED.into_iter().chain(extra).map(slot).collect(),
            changed: now,
        })
    }

    fn insert(&mut self, id: ObjectId, entry: Entry) {
        self.by_change.insert((entry.changed, id));
        self.objects.insert(id, entry);
    }

    /// Sets a state; `jump` if it is not to be seen on its way.
    pub(super) fn set(&mut self, id: ObjectId, state: State, jump: bool) -> Result<(), StateError> {
        let now = self.tick.next();
        if self.write(id, state, now, jump)? {
            self.touch(id, now);
        }
        Ok(())
    }

    /// Sets a state of an object of the level, as it is when the level is loaded.
    pub(super) fn set_level_state(&mut self, id: ObjectId, state: State) -> Result<(), StateError> {
        self.write(id, state, Tick::NONE, false).map(|_| ())
    }

    /// Returns whether the state is another now.
    fn write(
        &mut self,
        id: ObjectId,
        state: State,
        now: Tick,
        jump: bool,
    ) -> Result<bool, StateError> {
        let entry = self.objects.get_mut(&id);
        let entry = entry.ok_or(StateError::UnknownObject { object: id })?;
        let (index, value) = state.place();
        let slot = entry.states.get_mut(index);
        let slot = slot.ok_or(StateError::UnknownState { index })?;
        if slot.value.kind() != value.kind() {
            return Err(StateError::WrongKind {
                expected: slot.value.kind(),
            });
        }
        // Receivers refuse basic states that are no numbers.
        if index < BASIC.len() && !value.is_finite() {
            return Err(StateError::NotFinite);
        }
        if slot.value.is_same(value) {
            return Ok(false);
        }
        slot.value = value;
        slot.changed = now;
        if jump {
            slot.jumped = now;
        }
        Ok(true)
    }

    /// Sets an object's lifecycle. Destroying takes it out of the world for good.
    pub(super) fn set_lifecycle(
        &mut self,
        id: ObjectId,
        lifecycle: Lifecycle,
    ) -> Result<(), StateError> {
        let now = self.tick.next();
        let entry = self.objects.get_mut(&id);
        let entry = entry.ok_or(StateError::UnknownObject { object: id })?;
        if lifecycle == Lifecycle::Destroyed {
            self.bury(id, now);
        } else if entry.lifecycle != lifecycle {
            entry.lifecycle = lifecycle;
            entry.lifecycle_changed = now;
            self.touch(id, now);
        }
        Ok(())
    }

    fn bury(&mut self, object: ObjectId, destroyed: Tick) {
        let Some(entry) = self.objects.remove(&object) else {
            return;
        };
        self.by_change.remove(&(entry.changed, object));
        if entry.prototype.is_none() {
            self.level_destroyed.insert(object);
        }
        let created = entry.created;
        // Created and gone between two ticks: nobody will ever have seen it.
        if created < destroyed {
            self.graves.push_back(Grave {
                object,
                created,
                destroyed,
            });
        }
    }

    /// Notes that an object changed.
    fn touch(&mut self, id: ObjectId, now: Tick) {
        if let Some(entry) = self.objects.get_mut(&id)
            && entry.changed != now
        {
            self.by_change.remove(&(entry.changed, id));
            entry.changed = now;
            self.by_change.insert((now, id));
        }
    }

    pub(super) fn get(&self, id: ObjectId) -> Option<&Entry> {
        self.objects.get(&id)
    }

    /// Everything that is there.
    pub(super) fn objects(&self) -> impl Iterator<Item = (ObjectId, &Entry)> {
        self.objects.iter().map(|(&id, entry)| (id, entry))
    }

    /// What changed after a tick and is there.
    pub(super) fn changed_after(&self, tick: Tick) -> impl Iterator<Item = (ObjectId, &Entry)> {
        self.by_change
            .range((tick.next(), ObjectId(0))..)
            .filter_map(|(_, id)| Some((*id, self.objects.get(id)?)))
    }

    /// What was there at a tick and is gone.
    pub(super) fn destroyed_after(&self, tick: Tick) -> impl Iterator<Item = &Grave> {
        self.graves
            .iter()
            .rev()
            .take_while(move |grave| grave.destroyed > tick)
            .filter(move |grave| grave.created <= tick)
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

impl Entry {
    /// Whether the object is to be described anew to who knows only `reference`.
    pub(super) fn is_new_since(&self, reference: Tick) -> bool {
        self.created > reference
    }

    /// The basic states that changed after `reference`, or all; extra states alike.
    pub(super) fn basic_changes(&self, reference: Tick, all: bool) -> impl Iterator<Item = Change> {
        changes(self.states.get(..BASIC.len()), reference, all)
    }

    /// See [`basic_changes`](Self::basic_changes).
    pub(super) fn extra_changes(&self, reference: Tick, all: bool) -> impl Iterator<Item = Change> {
        changes(self.states.get(BASIC.len()..), reference, all)
    }

    /// All its values, basic and extra.
    pub(super) fn values(&self) -> Vec<Value> {
        self.states.iter().map(|slot| slot.value).collect()
    }
}

fn changes(slots: Option<&[Slot]>, reference: Tick, all: bool) -> impl Iterator<Item = Change> {
    slots
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter(move |(_, slot)| all || slot.changed > reference)
        .map(move |(index, slot)| Change {
            index,
            value: slot.value,
            jump: slot.jumped > reference,
        })
}

#[cfg(test)]
mod tests {
    use super::super::super::Schema;
    use super::*;

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
                let state = State::Visibility(visible);
                world.set(ObjectId(id), state, false).unwrap();
            }
        }
        world.commit();
        let visited: Vec<_> = world.changed_after(before).map(|(id, _)| id.0).collect();
        assert_eq!(visited, [7, 70, 700, 7_000]);
        assert_eq!(world.by_change.len(), 20_000);
        assert_eq!(world.changed_after(world.tick()).count(), 0);
    }

    #[test]
    fn graves_last_as_long_as_somebody_may_refer_to_the_living() {
        let mut world = world(1);
        let alive = world.tick();
        world
            .set_lifecycle(ObjectId(0), Lifecycle::Destroyed)
            .unwrap();
        for _ in 0..SEND_TICKS * SNAPSHOTS_HELD {
            world.commit();
            assert_eq!(world.destroyed_after(alive).count(), 1);
        }
        world.commit();
        assert_eq!(world.graves.len(), 0);
        assert_eq!(world.level_destroyed().count(), 1);
    }
}
