//! The world at one tick, as a client holds it and a server can show it.
//!
//! Objects are shared between snapshots: one that did not change costs a pointer in the next.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_state::{Blend, Quat, Tick, Vec3, blend_unless};

use super::message::Lifecycle;
use super::schema::{BASIC, ROTATION, RUNNING, SCALE, Schema, TRANSLATION, VISIBILITY};
use super::value::Value;
use super::{ClassId, ObjectId};

/// The world at one tick.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) tick: Tick,
    pub(super) time: Duration,
    pub(super) objects: BTreeMap<ObjectId, Arc<Object>>,
}

/// An object at one tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its class, if the level says so.
    pub class: Option<ClassId>,
    /// What it is a clone of, if it was created after the level was loaded.
    pub prototype: Option<ObjectId>,
    /// How far its life has come.
    pub lifecycle: Lifecycle,
    /// Where it is.
    pub pose: Pose,
    /// Whether it is to be seen.
    pub visible: bool,
    /// Whether it acts.
    pub running: bool,
    /// Its extra states, in the order of its class.
    pub extra: Vec<Value>,
}

/// Where an object is: what is blended between snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Its position.
    pub translation: Vec3,
    /// Its turn.
    pub rotation: Quat,
    /// Its size.
    pub scale: Vec3,
    /// Which of these came here at once.
    pub jumped: Jumped,
}

/// Which parts of a [`Pose`] are not to be blended with those before.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(missing_docs, reason = "the fields of a pose")]
pub struct Jumped {
    pub translation: bool,
    pub rotation: bool,
    pub scale: bool,
}

impl Snapshot {
    /// Its tick.
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// Which moment of the server's clock it shows.
    pub const fn time(&self) -> Duration {
        self.time
    }

    /// Everything that is there, by number.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.objects.iter().map(|(&id, object)| (id, &**object))
    }

    /// One object.
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(&id).map(|object| &**object)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// A number that two snapshots of the same tick share exactly if they hold the same objects in the
    /// same states, to the bit: FNV-1a, so that both sides of a network can compare theirs. What jumped
    /// does not count: it is told to each client by what that client knew.
    pub fn digest(&self) -> u64 {
        let mut digest = 0xcbf2_9ce4_8422_2325;
        let mut add = |number: u32| {
            for byte in number.to_le_bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for (id, object) in &self.objects {
            add(id.0);
            add(object.class.map_or(u32::MAX, |class| class.0));
            add(object.prototype.map_or(u32::MAX, |prototype| prototype.0));
            add(object.lifecycle.number().into());
            let values = (0..).map_while(|number| object.value(number));
            values.flat_map(Value::bits).for_each(&mut add);
        }
        digest
    }
}

impl Object {
    /// An object that nobody touched, of a class with these extra states.
    pub(super) fn untouched(
        class: Option<ClassId>,
        prototype: Option<ObjectId>,
        schema: Option<&Schema>,
    ) -> Self {
        let fields = schema.map(Schema::fields).unwrap_or_default();
        Self {
            class,
            prototype,
            lifecycle: Lifecycle::Loaded,
            pose: Pose::default(),
            visible: true,
            running: false,
            extra: fields.iter().map(|field| field.kind.zero()).collect(),
        }
    }

    /// The state of a number: first the basic ones, then the extra ones.
    pub(super) fn value(&self, number: usize) -> Option<Value> {
        Some(match number {
            TRANSLATION => Value::Vec3(self.pose.translation),
            ROTATION => Value::Quat(self.pose.rotation),
            SCALE => Value::Vec3(self.pose.scale),
            VISIBILITY => Value::Bool(self.visible),
            RUNNING => Value::Bool(self.running),
            extra => *self.extra.get(extra - BASIC.len())?,
        })
    }

    /// Sets the state of a number; what does not fit it is left out.
    pub(super) fn set_value(&mut self, number: usize, value: Value) {
        match (number, value) {
            (TRANSLATION, Value::Vec3(value)) => self.pose.translation = value,
            (ROTATION, Value::Quat(value)) => self.pose.rotation = value,
            (SCALE, Value::Vec3(value)) => self.pose.scale = value,
            (VISIBILITY, Value::Bool(value)) => self.visible = value,
            (RUNNING, Value::Bool(value)) => self.running = value,
            (extra, value) => {
                let place = extra.checked_sub(BASIC.len());
                let place = place.and_then(|place| self.extra.get_mut(place));
                if let Some(place) = place.filter(|place| place.kind() == value.kind()) {
                    *place = value;
                }
            }
        }
    }
}

impl Pose {
    /// Notes that the basic state of this number jumped.
    pub(super) const fn set_jumped(&mut self, index: usize) {
        match index {
            TRANSLATION => self.jumped.translation = true,
            ROTATION => self.jumped.rotation = true,
            SCALE => self.jumped.scale = true,
            _ => {}
        }
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self {
            translation: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            scale: Vec3::ONE,
            jumped: Jumped::default(),
        }
    }
}

impl Blend for Pose {
    fn blend(&self, next: &Self, share: f32) -> Self {
        let jumped = next.jumped;
        Self {
            translation: blend_unless(
                jumped.translation,
                &self.translation,
                &next.translation,
                share,
            ),
            rotation: blend_unless(jumped.rotation, &self.rotation, &next.rotation, share),
            scale: blend_unless(jumped.scale, &self.scale, &next.scale, share),
            jumped: Jumped::default(),
        }
    }
}
