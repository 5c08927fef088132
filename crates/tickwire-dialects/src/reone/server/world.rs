//! The objects of the last snapshots, and what of them has to be said to whom.
//!
//! Every object has a *slot*, and a status that was true from one snapshot on: a *version*, named by the
//! sequence of that snapshot. So what a client holds of an object is a slot and a version, eight bytes,
//! whenever it heard of it. The base is version [`SnapshotSeq::NONE`].
//!
//! A slot is given to another object only when no snapshot that held the old one can be a baseline any
//! more. Where things are, for ranges, is in the grid.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tickwire_state::{Grid, Vec2, Vec3};

use super::limits::{HISTORY, OBJECTS_MAX};
use crate::reone::delta::{Delta, Structure as _};
use crate::reone::message::{DownElement, Velocity};
use crate::reone::{AnyStatus, ObjectId, SnapshotSeq};

/// An object of the world, as the game publishes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object {
    /// Which.
    pub id: ObjectId,
    /// How it is. Its first two coordinates decide who has it in range.
    pub status: AnyStatus,
    /// How it moves, in units a second: told to the player whose creature it is, in every snapshot.
    pub velocity: Option<Vec2>,
}

impl Object {
    /// An object of which no velocity is told.
    pub const fn new(id: ObjectId, status: AnyStatus) -> Self {
        Self {
            id,
            status,
            velocity: None,
        }
    }
}

/// Where an object is kept.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct SlotNumber(u32);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Kind {
    Creature,
    Spatial,
}

#[derive(Debug)]
pub(super) struct World {
    newest: SnapshotSeq,
    tick: u32,
    slots: Vec<Slot>,
    /// Also of objects that are gone, as long as somebody may hold them. A creature and something else
    /// of the same id are two objects, of which one is there at a time.
    by_id: BTreeMap<(ObjectId, Kind), SlotNumber>,
    there: Vec<SlotNumber>,
    /// Slots by the snapshot that they were missing from, oldest first.
    gone: VecDeque<(SnapshotSeq, SlotNumber)>,
    free: Vec<SlotNumber>,
    grid: Grid<SlotNumber>,
    base: BTreeMap<ObjectId, AnyStatus>,
}

#[derive(Debug)]
struct Slot {
    id: ObjectId,
    /// The last snapshot that it was in.
    published: SnapshotSeq,
    is_there: bool,
    velocity: Option<Vec2>,
    base: Option<AnyStatus>,
    /// Oldest first; never empty.
    versions: VecDeque<Version>,
}

#[derive(Clone, Copy, Debug)]
struct Version {
    since: SnapshotSeq,
    status: AnyStatus,
}

impl World {
    pub(super) fn new(base: BTreeMap<ObjectId, AnyStatus>, cell: f32) -> Self {
        Self {
            newest: SnapshotSeq::NONE,
            tick: 0,
            slots: Vec::new(),
            by_id: BTreeMap::new(),
            there: Vec::new(),
            gone: VecDeque::new(),
            free: Vec::new(),
            grid: Grid::new(cell),
            base,
        }
    }

    /// Begins again with another base. Sequences go on; nothing that anybody holds means anything.
    pub(super) fn reset(&mut self, base: BTreeMap<ObjectId, AnyStatus>) {
        self.slots.clear();
        self.by_id.clear();
        self.there.clear();
        self.gone.clear();
        self.free.clear();
        self.grid.clear();
        self.base = base;
    }

    /// Takes the next snapshot. Returns how many objects found no place, or were there twice.
    pub(super) fn publish(&mut self, tick: u32, objects: impl Iterator<Item = Object>) -> u64 {
        let seq = self.newest.next();
        self.newest = seq;
        self.tick = tick;
        self.free_slots();
        let refused = objects.map(|object| u64::from(self.place(seq, object).is_none()));
        let refused = refused.sum();
        let Self {
            slots, grid, gone, ..
        } = self;
        self.there.retain(|number| {
            let Some(slot) = slots.get_mut(number.index()) else {
                return false;
            };
            slot.is_there = slot.published == seq;
            if !slot.is_there {
                grid.remove(*number);
                gone.push_back((seq, *number));
            }
            slot.is_there
        });
        refused
    }

    /// The newest snapshot; [`SnapshotSeq::NONE`] before the first.
    pub(super) const fn newest(&self) -> SnapshotSeq {
        self.newest
    }

    /// The tick of the newest snapshot.
    pub(super) const fn tick(&self) -> u32 {
        self.tick
    }

    pub(super) const fn grid(&self) -> &Grid<SlotNumber> {
        &self.grid
    }

    /// An upper bound of all slots' numbers.
    pub(super) const fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The slot of an object that is there.
    pub(super) fn find(&self, id: ObjectId) -> Option<SlotNumber> {
        let known = |kind| self.by_id.get(&(id, kind)).copied();
        let both = [known(Kind::Creature), known(Kind::Spatial)];
        let is_there = |number: &SlotNumber| self.slot(*number).is_some_and(|slot| slot.is_there);
        both.into_iter().flatten().find(is_there)
    }

    pub(super) fn position(&self, number: SlotNumber) -> Option<Vec2> {
        self.grid.position(number)
    }

    pub(super) fn id(&self, number: SlotNumber) -> Option<ObjectId> {
        Some(self.slot(number)?.id)
    }

    /// How an object moves, if the game tells.
    pub(super) fn velocity(&self, number: SlotNumber) -> Option<Velocity> {
        let slot = self.slot(number)?;
        let (id, velocity) = (slot.id, slot.velocity?);
        Some(Velocity { id, velocity })
    }

    /// The version that is true now.
    pub(super) fn current(&self, number: SlotNumber) -> Option<SnapshotSeq> {
        Some(self.slot(number)?.versions.back()?.since)
    }

    pub(super) fn is_in_base(&self, number: SlotNumber) -> bool {
        self.slot(number).is_some_and(|slot| slot.base.is_some())
    }

    /// A status as it was, unless that is too many changes ago.
    pub(super) fn status(&self, number: SlotNumber, version: SnapshotSeq) -> Option<&AnyStatus> {
        let slot = self.slot(number)?;
        if version == SnapshotSeq::NONE {
            return slot.base.as_ref();
        }
        let at = slot
            .versions
            .binary_search_by_key(&version, |version| version.since);
        Some(&slot.versions.get(at.ok()?)?.status)
    }

    /// What has to be said of an object to whoever holds this version of it; `None`: nothing.
    pub(super) fn change_since(
        &self,
        number: SlotNumber,
        held: Option<SnapshotSeq>,
    ) -> Option<DownElement<'static>> {
        let slot = self.slot(number)?;
        let id = slot.id;
        let now = &slot.versions.back()?.status;
        let Some(held) = held else {
            return Some(DownElement::full(id, *now));
        };
        // Of a version that is forgotten every field may have changed.
        const ALL: u32 = u32::MAX;
        let then = self.status(number, held);
        match (now, then) {
            (AnyStatus::Creature(now), then) => {
                let mask = match then {
                    Some(AnyStatus::Creature(then)) => now.changed_since(then),
                    _ => ALL,
                };
                let delta = Delta::of(mask, now);
                (mask != 0).then_some(DownElement::CreatureDiff { id, delta })
            }
            (AnyStatus::Spatial(now), then) => {
                let mask = match then {
                    Some(AnyStatus::Spatial(then)) => now.changed_since(then),
                    _ => ALL,
                };
                let delta = Delta::of(mask, now);
                (mask != 0).then_some(DownElement::SpatialDiff { id, delta })
            }
        }
    }

    fn slot(&self, number: SlotNumber) -> Option<&Slot> {
        self.slots.get(number.index())
    }

    fn place(&mut self, seq: SnapshotSeq, object: Object) -> Option<()> {
        let Object { id, status, .. } = object;
        let kind = Kind::of(&status);
        let other = self.by_id.get(&(id, kind.other()));
        let other = other.and_then(|number| self.slot(*number));
        if other.is_some_and(|slot| slot.published == seq) {
            return None;
        }
        let number = match self.by_id.get(&(id, kind)).copied() {
            Some(number) => {
                let slot = self.slots.get_mut(number.index())?;
                if slot.published == seq {
                    return None;
                }
                slot.velocity = object.velocity;
                slot.update(seq, status);
                if !core::mem::replace(&mut slot.is_there, true) {
                    self.there.push(number);
                }
                number
            }
            None => self.occupy(seq, object)?,
        };
        let Vec3 { x, y, .. } = status.pos();
        let at = Vec2 { x, y };
        if self.grid.position(number) != Some(at) {
            self.grid.insert(number, at);
        }
        Some(())
    }

    /// Gives an object a slot.
    fn occupy(&mut self, seq: SnapshotSeq, object: Object) -> Option<SlotNumber> {
        let Object { id, status, .. } = object;
        let kind = Kind::of(&status);
        let base = self.base.get(&id).copied();
        let slot = Slot {
            id,
            published: seq,
            is_there: true,
            velocity: object.velocity,
            base: base.filter(|base| Kind::of(base) == kind),
            versions: VecDeque::from([Version { since: seq, status }]),
        };
        let number = match self.free.pop() {
            Some(number) => {
                *self.slots.get_mut(number.index())? = slot;
                number
            }
            None if self.slots.len() < OBJECTS_MAX => {
                let number = SlotNumber(u32::try_from(self.slots.len()).ok()?);
                self.slots.push(slot);
                number
            }
            None => return None,
        };
        self.by_id.insert((id, kind), number);
        self.there.push(number);
        Some(number)
    }

    /// Frees the slots of objects that no baseline can hold any more.
    fn free_slots(&mut self) {
        while let Some(&(missing, number)) = self.gone.front()
            && self.newest.since(missing) > HISTORY
        {
            self.gone.pop_front();
            let Some(slot) = self.slots.get(number.index()) else {
                continue;
            };
            // One that came back and went again stands here twice.
            if slot.is_there || slot.published.next() != missing {
                continue;
            }
            let kind = slot.versions.back().map(|newest| Kind::of(&newest.status));
            if let Some(kind) = kind {
                self.by_id.remove(&(slot.id, kind));
            }
            self.free.push(number);
        }
    }
}

impl Slot {
    fn update(&mut self, seq: SnapshotSeq, status: AnyStatus) {
        self.published = seq;
        let newest = self.versions.back();
        if newest.is_some_and(|newest| newest.status == status) {
            return;
        }
        // One more than snapshots can be baselines, so that the oldest of those has its version.
        if self.versions.len() > HISTORY as usize {
            self.versions.pop_front();
        }
        let since = seq;
        self.versions.push_back(Version { since, status });
    }
}

impl Kind {
    const fn of(status: &AnyStatus) -> Self {
        match status {
            AnyStatus::Creature(_) => Self::Creature,
            AnyStatus::Spatial(_) => Self::Spatial,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Creature => Self::Spatial,
            Self::Spatial => Self::Creature,
        }
    }
}

impl SlotNumber {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}
