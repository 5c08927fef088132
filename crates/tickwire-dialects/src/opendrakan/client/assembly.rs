//! Snapshots on their way: changes and confirmations in any order, some twice, some never.
//!
//! A snapshot is complete when its confirmation has arrived and as many distinct changes as that states. How
//! many changes a bundle of extra states holds is known only with its object's class, which may come in a
//! later datagram; until then the bytes wait. When there is no room, the snapshot that was not added to for
//! longest gives way. The age of its tick does not count: otherwise a few ticks from the far future would
//! keep everything else out.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_state::Tick;

use super::load::Classes;
use crate::opendrakan::bundle::{self, Change};
use crate::opendrakan::limits::{
    ASSEMBLED_OBJECTS_MAX, ASSEMBLIES_MAX, OBJECTS_MAX, UNRESOLVED_MAX,
};
use crate::opendrakan::message::{Confirm, Lifecycle, ObjectChange};
use crate::opendrakan::snapshot::{Object, Snapshot};
use crate::opendrakan::{BASIC, ClassId, ObjectId, Reader, Registry};

/// The snapshots that are not complete, by tick.
#[derive(Debug, Default)]
pub(super) struct Assemblies {
    by_tick: BTreeMap<Tick, Assembly>,
    /// How often any of them was touched.
    touches: u64,
}

/// One snapshot that is not complete.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) confirm: Option<Confirm>,
    objects: BTreeMap<ObjectId, Parts>,
    /// Distinct changes so far, those in unresolved bundles not counted.
    changes: u64,
    /// Extra states whose class is not known yet, each once however often it came.
    unresolved: BTreeSet<(ObjectId, Box<[u8]>)>,
    /// What they take in memory.
    unresolved_bytes: usize,
    /// When it was last touched, in touches of any.
    touched: u64,
}

/// What is known to change of an object.
#[derive(Debug, Default)]
struct Parts {
    prototype: Option<ObjectId>,
    lifecycle: Option<Lifecycle>,
    basic: [Option<Change>; BASIC.len()],
    extra: Vec<Option<Change>>,
}

/// What classes an assembly's objects can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) registry: &'a Registry,
    pub(super) classes: &'a Classes,
    /// The snapshot that the confirmation refers to; none if it is a full one.
    pub(super) reference: Option<&'a Snapshot>,
}

/// There is no room for more.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoRoom;

/// Why a snapshot will never be complete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spoilt {
    /// It has more changes than were confirmed.
    TooManyChanges,
    /// It creates an object that its reference has.
    CreatedTwice,
    /// It changes an object that its reference does not have.
    UnknownObject,
    /// It holds more than a client keeps.
    TooManyObjects,
}

impl Assemblies {
    /// The assembly of a tick. A new one may push out the one that was not added to for longest.
    pub(super) fn at(&mut self, tick: Tick) -> Result<&mut Assembly, NoRoom> {
        if !self.by_tick.contains_key(&tick) && self.by_tick.len() >= ASSEMBLIES_MAX {
            self.drop_stalest(tick)?;
        }
        self.touches += 1;
        let assembly = self.by_tick.entry(tick).or_default();
        assembly.touched = self.touches;
        Ok(assembly)
    }

    /// Adds what is new about an object in a snapshot.
    pub(super) fn add(
        &mut self,
        tick: Tick,
        object: ObjectId,
        change: ObjectChange<'_>,
    ) -> Result<(), NoRoom> {
        while self.objects() >= ASSEMBLED_OBJECTS_MAX {
            self.drop_stalest(tick)?;
        }
        if let ObjectChange::ExtraStates(bytes) = change {
            while self.unresolved_bytes() + unresolved_cost(bytes) > UNRESOLVED_MAX {
                self.drop_stalest(tick)?;
            }
        }
        self.at(tick)?.add(object, change)
    }

    /// Objects in all of them.
    fn objects(&self) -> usize {
        let assemblies = self.by_tick.values();
        assemblies.map(|assembly| assembly.objects.len()).sum()
    }

    /// What the unresolved bundles of all of them take.
    fn unresolved_bytes(&self) -> usize {
        let assemblies = self.by_tick.values();
        assemblies.map(|assembly| assembly.unresolved_bytes).sum()
    }

    /// Takes an assembly out.
    pub(super) fn remove(&mut self, tick: Tick) -> Option<Assembly> {
        self.by_tick.remove(&tick)
    }

    /// Gives up everything older than `tick`.
    pub(super) fn drop_older(&mut self, tick: Tick) {
        while let Some((&oldest, _)) = self.by_tick.first_key_value()
            && oldest < tick
        {
            self.remove(oldest);
        }
    }

    /// Makes room for `tick`, by giving up the one that was not added to for longest.
    fn drop_stalest(&mut self, tick: Tick) -> Result<(), NoRoom> {
        let others = self.by_tick.iter().filter(|(other, _)| **other != tick);
        let stalest = others.min_by_key(|(_, assembly)| assembly.touched);
        let (&stalest, _) = stalest.ok_or(NoRoom)?;
        self.remove(stalest);
        Ok(())
    }
}

/// What a bundle that waits takes in memory: its bytes, and its place among the others.
const fn unresolved_cost(bundle: &[u8]) -> usize {
    bundle.len() + 32
}

impl Assembly {
    fn add(&mut self, object: ObjectId, change: ObjectChange<'_>) -> Result<(), NoRoom> {
        if let ObjectChange::ExtraStates(bytes) = change {
            self.add_unresolved(object, bytes);
            return Ok(());
        }
        if self.objects.len() >= OBJECTS_MAX && !self.objects.contains_key(&object) {
            return Err(NoRoom);
        }
        let parts = self.objects.entry(object).or_default();
        // A change that is there already is the same one again.
        match change {
            ObjectChange::Created(prototype) if parts.prototype.is_none() => {
                parts.prototype = Some(prototype);
                self.changes += 1;
            }
            ObjectChange::Lifecycle(lifecycle) if parts.lifecycle.is_none() => {
                parts.lifecycle = Some(lifecycle);
                self.changes += 1;
            }
            ObjectChange::States(states) => {
                for change in states.iter() {
                    if let Some(place @ None) = parts.basic.get_mut(change.index) {
                        *place = Some(change);
                        self.changes += 1;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_unresolved(&mut self, object: ObjectId, bundle: &[u8]) {
        if self.unresolved.insert((object, bundle.into())) {
            self.unresolved_bytes += unresolved_cost(bundle);
        }
    }

    /// Reads the extra states whose classes are known by now; returns how many bundles were no
    /// bundles. Those of unknown classes stay as they are.
    pub(super) fn resolve(&mut self, known: &Known<'_>) -> u64 {
        let mut refused = 0;
        for (object, bytes) in core::mem::take(&mut self.unresolved) {
            let class = self.class_of(object, known);
            let schema = class.and_then(|class| known.registry.schema(class));
            let Some(schema) = schema else {
                self.unresolved.insert((object, bytes));
                continue;
            };
            self.unresolved_bytes -= unresolved_cost(&bytes);
            let mut changes = Vec::new();
            let mut r = Reader::new(&bytes);
            let decoded = bundle::decode(&mut r, schema.fields(), |change| changes.push(change));
            let is_one_too_many =
                self.objects.len() >= OBJECTS_MAX && !self.objects.contains_key(&object);
            if is_one_too_many || decoded.and_then(|()| r.finish()).is_err() {
                refused += 1;
                continue;
            }
            let extra = &mut self.objects.entry(object).or_default().extra;
            extra.resize(extra.len().max(schema.fields().len()), None);
            for change in changes {
                if let Some(place @ None) = extra.get_mut(change.index) {
                    *place = Some(change);
                    self.changes += 1;
                }
            }
        }
        refused
    }

    /// The class of an object: its prototype's if it is created here, else what the reference or the
    /// level says.
    fn class_of(&self, object: ObjectId, known: &Known<'_>) -> Option<ClassId> {
        let created = self.objects.get(&object).and_then(|parts| parts.prototype);
        let in_reference = |object| known.reference?.object(object)?.class;
        match created {
            Some(prototype) => known
                .classes
                .class_of(prototype)
                .or_else(|| in_reference(prototype)),
            None => in_reference(object).or_else(|| known.classes.class_of(object)),
        }
    }

    /// The snapshot, if it is complete.
    pub(super) fn build(&self, known: &Known<'_>) -> Result<Option<Snapshot>, Spoilt> {
        let Some(confirm) = self.confirm else {
            return Ok(None);
        };
        if self.changes > confirm.changes.into() {
            return Err(Spoilt::TooManyChanges);
        }
        if self.changes < confirm.changes.into() || !self.unresolved.is_empty() {
            return Ok(None);
        }
        let mut objects = known
            .reference
            .map(|reference| reference.objects.clone())
            .unwrap_or_default();
        for (&id, parts) in &self.objects {
            let known_before = objects.get(&id);
            let mut object = match (known_before, parts.prototype) {
                (Some(_), Some(_)) => return Err(Spoilt::CreatedTwice),
                (Some(object), None) => Object::clone(object),
                // Only a full snapshot has objects of the level that its reference, which is nothing,
                // does not have.
                (None, None) if known.reference.is_some() => return Err(Spoilt::UnknownObject),
                (None, prototype) => {
                    let class = self.class_of(id, known);
                    let schema = class.and_then(|class| known.registry.schema(class));
                    Object::untouched(class, prototype, schema)
                }
            };
            if parts.lifecycle == Some(Lifecycle::Destroyed) {
                objects.remove(&id);
                continue;
            }
            parts.apply_to(&mut object);
            objects.insert(id, Arc::new(object));
        }
        if objects.len() > OBJECTS_MAX {
            return Err(Spoilt::TooManyObjects);
        }
        Ok(Some(Snapshot {
            tick: confirm.tick,
            time: confirm.time(),
            objects,
        }))
    }
}

impl Parts {
    fn apply_to(&self, object: &mut Object) {
        // What jumped is said anew with every change.
        object.pose.jumped = Default::default();
        object.lifecycle = self.lifecycle.unwrap_or(object.lifecycle);
        for change in self.basic.iter().flatten() {
            object.set_value(change.index, change.value);
            if change.jump {
                object.pose.set_jumped(change.index);
            }
        }
        for change in self.extra.iter().flatten() {
            object.set_value(BASIC.len() + change.index, change.value);
        }
    }
}

#[cfg(test)]
mod tests;
