//! One object, with the past that deltas need: when each of its states last changed, and last jumped.

use alloc::boxed::Box;

use tickwire_state::Tick;

use super::basic::{Basic, BasicBundle, Times};
use crate::opendrakan::bundle::Change;
use crate::opendrakan::message::Lifecycle;
use crate::opendrakan::schema::{BASIC, BasicState, Schema};
use crate::opendrakan::value::Value;
use crate::opendrakan::{ClassId, ObjectId};
use crate::opendrakan::{State, StateError};

#[derive(Clone, Debug)]
pub(in crate::opendrakan::server) struct Entry {
    pub(in crate::opendrakan::server) id: ObjectId,
    pub(in crate::opendrakan::server) class: ClassId,
    pub(in crate::opendrakan::server) prototype: Option<ObjectId>,
    pub(in crate::opendrakan::server) lifecycle: Lifecycle,
    pub(in crate::opendrakan::server) lifecycle_changed: Tick,
    /// [`Tick::NONE`] if it is the level's.
    pub(super) created: Tick,
    /// The last change of anything.
    pub(super) changed: Tick,
    basic: Basic,
    /// The last change of an extra state, so that they are left alone if there is none.
    extra_changed: Tick,
    extra: Box<[Extra]>,
}

#[derive(Clone, Copy, Debug)]
struct Extra {
    value: Value,
    times: Times,
}

/// What is new about an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) id: ObjectId,
    pub(super) class: ClassId,
    pub(super) prototype: Option<ObjectId>,
    pub(super) created: Tick,
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
    pub(super) fn new(origin: Origin, schema: &Schema) -> Self {
        let Origin {
            id,
            class,
            prototype,
            created,
        } = origin;
        let extra = schema.fields().iter().map(|field| Extra {
            value: field.kind.zero(),
            times: Times::new(created),
        });
        Self {
            id,
            class,
            prototype,
            lifecycle: Lifecycle::Loaded,
            lifecycle_changed: created,
            created,
            changed: created,
            basic: Basic::untouched(created),
            extra_changed: created,
            extra: extra.collect(),
        }
    }

    /// Sets a state; returns whether it is another now.
    pub(super) fn write(
        &mut self,
        state: State,
        now: Tick,
        jump: bool,
    ) -> Result<bool, StateError> {
        let (index, value) = state.place();
        let held = self.value(index);
        let held = held.ok_or(StateError::UnknownState { index })?;
        if held.kind() != value.kind() {
            return Err(StateError::WrongKind {
                expected: held.kind(),
            });
        }
        let basic = BasicState::ALL.get(index);
        // Receivers refuse basic states that are no numbers.
        if basic.is_some() && !value.is_finite() {
            return Err(StateError::NotFinite);
        }
        if held.is_same(value) {
            return Ok(false);
        }
        if let Some(state) = basic {
            self.basic.set(*state, value, now, jump);
        } else if let Some(extra) = self.extra.get_mut(index - BASIC.len()) {
            extra.value = value;
            extra.times.set(now, jump);
            self.extra_changed = now;
        }
        Ok(true)
    }

    /// The state at a place among the basic and then the extra ones.
    pub(in crate::opendrakan::server) fn value(&self, index: usize) -> Option<Value> {
        match index.checked_sub(BASIC.len()) {
            None => Some(self.basic.get(*BasicState::ALL.get(index)?)),
            Some(extra) => Some(self.extra.get(extra)?.value),
        }
    }

    /// Whether the object is to be described anew to who knows only `reference`.
    pub(in crate::opendrakan::server) fn is_new_since(&self, reference: Tick) -> bool {
        self.created > reference
    }

    /// The basic states to be told to who knows `reference`.
    pub(in crate::opendrakan::server) fn basic_changes(
        &self,
        reference: Tick,
        wanted: Wanted,
    ) -> impl Iterator<Item = Change> {
        self.basic.changes(reference, wanted)
    }

    /// The same as a bundle.
    pub(in crate::opendrakan::server) fn basic_bundle(
        &self,
        reference: Tick,
        wanted: Wanted,
    ) -> BasicBundle {
        self.basic.bundle(reference, wanted)
    }

    /// The extra states to be told to who knows `reference`.
    pub(in crate::opendrakan::server) fn extra_changes(
        &self,
        reference: Tick,
        wanted: Wanted,
    ) -> impl Iterator<Item = Change> {
        let is_any = wanted == Wanted::All || self.extra_changed > reference;
        let extra = if is_any { &*self.extra } else { &[] };
        extra
            .iter()
            .enumerate()
            .filter(move |(_, extra)| extra.times.is_wanted(reference, wanted))
            .map(move |(index, extra)| Change {
                index,
                value: extra.value,
                jump: extra.times.jumped > reference,
            })
    }
}
