//! The world at one tick, as a client holds it and a server can show it.
//!
//! Objects are shared between snapshots: one that did not change costs a pointer in the next.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_state::{Blend, Quat, Tick, Vec3, blend_unless};

use super::message::Lifecycle;
use super::schema::{BasicState, Schema, UNTOUCHED};
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
            let basic = BasicState::ALL.map(|state| object.basic(state));
            for value in basic.iter().chain(&object.extra) {
                value.bits().into_iter().for_each(&mut add);
            }
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
        let mut object = Self {
            class,
            prototype,
            lifecycle: Lifecycle::Loaded,
            pose: Pose::default(),
            visible: true,
            running: false,
            extra: fields.iter().map(|field| field.kind.zero()).collect(),
        };
        for (index, value) in UNTOUCHED.into_iter().enumerate() {
            object.set_basic(index, value);
        }
        object
    }

    /// One of its basic states.
    pub const fn basic(&self, state: BasicState) -> Value {
        match state {
            BasicState::Translation => Value::Vec3(self.pose.translation),
            BasicState::Rotation => Value::Quat(self.pose.rotation),
            BasicState::Scale => Value::Vec3(self.pose.scale),
            BasicState::Visibility => Value::Bool(self.visible),
            BasicState::Running => Value::Bool(self.running),
        }
    }

    /// Sets a basic state by its number; what does not fit it is left out.
    pub(super) const fn set_basic(&mut self, index: usize, value: Value) {
        match (index, value) {
            (0, Value::Vec3(value)) => self.pose.translation = value,
            (1, Value::Quat(value)) => self.pose.rotation = value,
            (2, Value::Vec3(value)) => self.pose.scale = value,
            (3, Value::Bool(value)) => self.visible = value,
            (4, Value::Bool(value)) => self.running = value,
            _ => {}
        }
    }
}

impl Pose {
    /// Notes that the basic state of this number jumped.
    pub(super) const fn set_jumped(&mut self, index: usize) {
        match index {
            0 => self.jumped.translation = true,
            1 => self.jumped.rotation = true,
            2 => self.jumped.scale = true,
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
