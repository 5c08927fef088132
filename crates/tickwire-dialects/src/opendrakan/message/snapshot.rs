//! What snapshots are made of.

use alloc::vec::Vec;
use core::time::Duration;

use tickwire_state::Tick;
use tickwire_wire::{DecodeError, coded_enum};

use super::{Kind, body, frame};
use crate::opendrakan::bundle::{self, Change};
use crate::opendrakan::schema::BASIC;
use crate::opendrakan::{ObjectId, Reader, Writer};

/// What makes a snapshot complete: as many discrete changes to the reference as stated here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirm {
    /// The snapshot.
    pub tick: Tick,
    /// Which moment it shows, in seconds.
    pub real_time: f64,
    /// How many state values, creations and changes of lifecycle it consists of.
    pub changes: u32,
    /// The snapshot that the changes are to be applied to; [`Tick::NONE`] if it is a full one.
    pub reference: Tick,
}

impl Confirm {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let tick = body::tick(r)?;
        let real_time = body::real_time(r)?;
        let changes = r.u32("discrete changes")?;
        let reference = Tick(r.u64("reference tick")?);
        if reference >= tick {
            return Err(r.refuse("reference tick", reference.0));
        }
        if reference == Tick::NONE {
            r.means("full");
        }
        Ok(Self {
            tick,
            real_time,
            changes,
            reference,
        })
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        w.u64(self.tick.0);
        w.f64(self.real_time);
        w.u32(self.changes);
        w.u64(self.reference.0);
    }

    /// The moment that the snapshot shows, since the server's clock began.
    pub fn time(&self) -> Duration {
        // Decoding refused what no span can hold.
        Duration::try_from_secs_f64(self.real_time).unwrap_or_default()
    }
}

coded_enum! {
    /// How far an object's life has come.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Lifecycle: u8 {
        /// It exists.
        #[default]
        0 Loaded "loaded",
        /// It is part of the scene.
        1 Spawned "spawned",
        /// It acts by itself.
        2 Running "running",
        /// It is gone.
        3 Destroyed "destroyed",
    }
}

/// What is new about one object: a type of message each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObjectChange<'a> {
    /// Basic states, and what they are.
    States(BasicChanges),
    /// The bundle of extra states. How to read it depends on the object's class, which only the
    /// receiver knows: see [`bundle::decode`].
    ExtraStates(&'a [u8]),
    /// It was created, as a clone of this one.
    Created(ObjectId),
    /// It entered another state of its life.
    Lifecycle(Lifecycle),
}

impl ObjectChange<'_> {
    /// The type of its message.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::States(_) => Kind::ObjectStates,
            Self::ExtraStates(_) => Kind::ObjectExtraStates,
            Self::Created(_) => Kind::ObjectCreated,
            Self::Lifecycle(_) => Kind::LifecycleChanged,
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match self {
            Self::States(states) => states.encode(w),
            Self::ExtraStates(bundle) => w.bytes(bundle),
            Self::Created(prototype) => w.u32(prototype.0),
            Self::Lifecycle(lifecycle) => w.u8(lifecycle.number()),
        }
    }
}

/// Some of an object's basic states. At most five, so they need no heap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BasicChanges {
    states: [Option<Change>; BASIC.len()],
}

impl BasicChanges {
    /// Reads a bundle. Numbers that are none are refused: they would spread through an engine.
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut changes = Self::default();
        let mut fault = None;
        let at = r.position();
        bundle::decode(r, &BASIC, |change| {
            if !change.value.is_finite() {
                fault = BASIC.get(change.index).map(|field| field.name);
            }
            changes.set(change);
        })?;
        match fault {
            None => Ok(changes),
            Some(field) => Err(DecodeError::Forbidden {
                field,
                at_bit: frame::bit(at),
                value: f64::NAN.to_bits(),
            }),
        }
    }

    fn encode(&self, w: &mut Writer<'_>) {
        let states: Vec<_> = self.iter().collect();
        bundle::encode(w, &states);
    }

    /// Puts a state in. One that does not exist is left out.
    pub fn set(&mut self, change: Change) {
        if let Some(place) = self.states.get_mut(change.index) {
            *place = Some(change);
        }
    }

    /// The states that are there, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Change> {
        self.states.iter().flatten().copied()
    }
}

impl FromIterator<Change> for BasicChanges {
    fn from_iter<T: IntoIterator<Item = Change>>(changes: T) -> Self {
        let mut states = Self::default();
        changes.into_iter().for_each(|change| states.set(change));
        states
    }
}
