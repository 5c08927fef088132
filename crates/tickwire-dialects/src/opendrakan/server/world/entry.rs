//! One object, with the past that deltas need: when each of its states last changed, and last jumped.

use alloc::boxed::Box;

use tickwire_state::Tick;

use super::basic::{BasicBundle, BasicTimes, Times};
use crate::opendrakan::ObjectId;
use crate::opendrakan::bundle::Change;
use crate::opendrakan::schema::BASIC;
use crate::opendrakan::server::StateError;
use crate::opendrakan::snapshot::Object;
use crate::opendrakan::value::Value;

#[derive(Clone, Debug)]
pub(in crate::opendrakan::server) struct Entry {
    pub(in crate::opendrakan::server) id: ObjectId,
    /// As it is now.
    pub(in crate::opendrakan::server) object: Object,
    pub(in crate::opendrakan::server) lifecycle_changed: Tick,
    /// [`Tick::NONE`] if it is the level's.
    pub(super) created: Tick,
    /// The last change of anything.
    pub(super) changed: Tick,
    basic: BasicTimes,
    /// The last change of any extra state: mostly nothing changed, and then none is looked at.
    extra_changed: Tick,
    extra: Box<[Times]>,
}

/// Which states are wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::opendrakan::server) enum Wanted {
    /// Those that changed after the reference.
    Changed,
    All,
}

impl Entry {
    /// An object whose states nobody touched.
    pub(super) fn new(id: ObjectId, object: Object, created: Tick) -> Self {
        let times = Times::new(created);
        let extra = object.extra.iter().map(|_| times).collect();
        Self {
            id,
            object,
            lifecycle_changed: created,
            created,
            changed: created,
            basic: BasicTimes([times; BASIC.len()]),
            extra_changed: created,
            extra,
        }
    }

    /// Sets the state of a number; returns whether it is another now.
    pub(super) fn write(
        &mut self,
        (number, value): (usize, Value),
        now: Tick,
        jump: bool,
    ) -> Result<bool, StateError> {
        let held = self.object.value(number);
        let held = held.ok_or(StateError::UnknownState { number })?;
        if held.kind() != value.kind() {
            return Err(StateError::WrongKind {
                expected: held.kind(),
            });
        }
        // Receivers refuse basic states that are no numbers.
        if number < BASIC.len() && !value.is_finite() {
            return Err(StateError::NotFinite);
        }
        if held.is_same(value) {
            return Ok(false);
        }
        self.object.set_value(number, value);
        if let Some(times) = self.basic.0.get_mut(number) {
            times.set(now, jump);
        } else if let Some(times) = self.extra.get_mut(number - BASIC.len()) {
            times.set(now, jump);
            self.extra_changed = now;
        }
        Ok(true)
    }

    /// Whether it was created after `reference`, so that all of it has to be sent.
    pub(in crate::opendrakan::server) fn is_new_since(&self, reference: Tick) -> bool {
        self.created > reference
    }

    /// The basic states that a client with `reference` lacks, or all of them.
    pub(in crate::opendrakan::server) fn basic_changes(
        &self,
        reference: Tick,
        wanted: Wanted,
    ) -> impl Iterator<Item = Change> {
        let values = (0..).map_while(|number| self.object.value(number));
        changes(&self.basic.0, values, reference, wanted)
    }

    /// The same as a bundle.
    pub(in crate::opendrakan::server) fn basic_bundle(
        &self,
        reference: Tick,
        wanted: Wanted,
    ) -> BasicBundle {
        self.basic.bundle(&self.object, reference, wanted)
    }

    /// The extra states that a client with `reference` lacks, or all of them.
    pub(in crate::opendrakan::server) fn extra_changes(
        &self,
        reference: Tick,
        wanted: Wanted,
    ) -> impl Iterator<Item = Change> {
        let is_any = wanted == Wanted::All || self.extra_changed > reference;
        let extra = if is_any { &*self.extra } else { &[] };
        changes(extra, self.object.extra.iter().copied(), reference, wanted)
    }
}

/// Of some states, those that a client with `reference` lacks, or all of them.
pub(super) fn changes(
    times: &[Times],
    values: impl Iterator<Item = Value>,
    reference: Tick,
    wanted: Wanted,
) -> impl Iterator<Item = Change> {
    let states = times.iter().zip(values).enumerate();
    states
        .filter(move |(_, (times, _))| times.is_wanted(reference, wanted))
        .map(move |(index, (times, value))| Change {
            index,
            value,
            jump: times.jumped > reference,
        })
}
