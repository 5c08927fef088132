//! The basic states of one object, and when each changed.
//!
//! Every object has these five, and they are most of what a server sends. So they lie in the object
//! itself, and are written to a bundle as they lie there, without a schema that says what they are. The
//! bytes are those of [`bundle::encode`](crate::opendrakan::bundle::encode).

use tickwire_state::{Quat, Tick, Vec3};

use super::Wanted;
use crate::opendrakan::bundle::Change;
use crate::opendrakan::schema::{BASIC, BasicState};
use crate::opendrakan::value::Value;

/// When a state last changed, and last jumped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) changed: Tick,
    pub(super) jumped: Tick,
}

impl Times {
    pub(super) const fn new(changed: Tick) -> Self {
        Self {
            changed,
            jumped: Tick::NONE,
        }
    }

    pub(super) const fn set(&mut self, now: Tick, jump: bool) {
        self.changed = now;
        if jump {
            self.jumped = now;
        }
    }

    pub(super) fn is_wanted(&self, reference: Tick, wanted: Wanted) -> bool {
        wanted == Wanted::All || self.changed > reference
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Basic {
    times: [Times; BASIC.len()],
    translation: Vec3,
    rotation: Quat,
    scale: Vec3,
    visible: bool,
    running: bool,
}

impl Basic {
    /// Those of an object that nobody touched.
    pub(super) const fn untouched(created: Tick) -> Self {
        Self {
            times: [Times::new(created); BASIC.len()],
            translation: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            scale: Vec3::ONE,
            visible: true,
            running: false,
        }
    }

    pub(super) const fn get(&self, state: BasicState) -> Value {
        match state {
            BasicState::Translation => Value::Vec3(self.translation),
            BasicState::Rotation => Value::Quat(self.rotation),
            BasicState::Scale => Value::Vec3(self.scale),
            BasicState::Visibility => Value::Bool(self.visible),
            BasicState::Running => Value::Bool(self.running),
        }
    }

    /// Sets a state to a value of its kind.
    pub(super) fn set(&mut self, state: BasicState, value: Value, now: Tick, jump: bool) {
        match (state, value) {
            (BasicState::Translation, Value::Vec3(value)) => self.translation = value,
            (BasicState::Rotation, Value::Quat(value)) => self.rotation = value,
            (BasicState::Scale, Value::Vec3(value)) => self.scale = value,
            (BasicState::Visibility, Value::Bool(value)) => self.visible = value,
            (BasicState::Running, Value::Bool(value)) => self.running = value,
            _ => return,
        }
        if let Some(times) = self.times.get_mut(state as usize) {
            times.set(now, jump);
        }
    }

    /// The states to be told to who knows `reference`, one by one.
    pub(super) fn changes(&self, reference: Tick, wanted: Wanted) -> impl Iterator<Item = Change> {
        let states = BasicState::ALL.into_iter().zip(&self.times).enumerate();
        states
            .filter(move |(_, (_, times))| times.is_wanted(reference, wanted))
            .map(move |(index, (state, times))| Change {
                index,
                value: self.get(state),
                jump: times.jumped > reference,
            })
    }

    /// The same as a bundle.
    pub(super) fn bundle(&self, reference: Tick, wanted: Wanted) -> BasicBundle {
        let (mut values, mut jumps) = (0, 0);
        for (bit, times) in self.times.iter().enumerate() {
            let is_wanted = times.is_wanted(reference, wanted);
            values |= u8::from(is_wanted) << bit;
            jumps |= u8::from(is_wanted && times.jumped > reference) << bit;
        }
        let mut bundle = BasicBundle {
            bytes: [0; BUNDLE],
            length: 0,
            states: values.count_ones(),
        };
        let has = |state: BasicState| values >> state as u8 & 1 == 1;
        bundle.push([values, jumps]);
        if has(BasicState::Translation) {
            bundle.push(vec3(self.translation));
        }
        if has(BasicState::Rotation) {
            bundle.push(quat(self.rotation));
        }
        if has(BasicState::Scale) {
            bundle.push(vec3(self.scale));
        }
        // Booleans share a byte, the first that is there in the lowest place.
        match (has(BasicState::Visibility), has(BasicState::Running)) {
            (true, true) => bundle.push([u8::from(self.visible) | u8::from(self.running) << 1]),
            (true, false) => bundle.push([self.visible.into()]),
            (false, true) => bundle.push([self.running.into()]),
            (false, false) => {}
        }
        bundle
    }
}

/// Bytes of a bundle with all five: masks, two vectors and a turn, and the booleans.
const BUNDLE: usize = 2 + 2 * 12 + 16 + 1;

/// A bundle of basic states.
#[derive(Clone, Copy, Debug)]
pub(in crate::opendrakan::server) struct BasicBundle {
    bytes: [u8; BUNDLE],
    length: usize,
    /// How many states are in it.
    pub(in crate::opendrakan::server) states: u32,
}

impl BasicBundle {
    #[inline]
    fn push<const N: usize>(&mut self, bytes: [u8; N]) {
        let rest = self.bytes.get_mut(self.length..);
        if let Some(place) = rest.and_then(<[u8]>::first_chunk_mut) {
            *place = bytes;
            self.length += N;
        }
    }

    pub(in crate::opendrakan::server) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

fn vec3(Vec3 { x, y, z }: Vec3) -> [u8; 12] {
    let ([a, b, c, d], [e, f, g, h], [i, j, k, l]) =
        (x.to_le_bytes(), y.to_le_bytes(), z.to_le_bytes());
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

fn quat(Quat { x, y, z, w }: Quat) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = vec3(Vec3 { x, y, z });
    let [m, n, o, p] = w.to_le_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::opendrakan::{Writer, bundle};

    proptest! {
        #[test]
        fn the_bundle_is_the_one_that_the_codec_writes(
            set in proptest::collection::vec((0..5_usize, any::<bool>(), 1..4_u64, any::<i8>()), 0..12),
            reference in 0..4_u64,
            all: bool,
        ) {
            let mut basic = Basic::untouched(Tick::NONE);
            for (index, jump, now, number) in set {
                let number = f32::from(number);
                let at = Vec3 { x: number, y: -number, z: 0.5 };
                let value = match BasicState::ALL[index] {
                    BasicState::Translation | BasicState::Scale => Value::Vec3(at),
                    BasicState::Rotation => Value::Quat(Quat { x: number, ..Quat::IDENTITY }),
                    BasicState::Visibility | BasicState::Running => Value::Bool(number > 0.0),
                };
                basic.set(BasicState::ALL[index], value, Tick(now), jump);
            }
            let wanted = if all { Wanted::All } else { Wanted::Changed };
            let changes: Vec<_> = basic.changes(Tick(reference), wanted).collect();
            let mut bytes = Vec::new();
            bundle::encode(&mut Writer::new(&mut bytes, BUNDLE), &changes);
            let bundle = basic.bundle(Tick(reference), wanted);
            prop_assert_eq!(bundle.bytes(), bytes);
            prop_assert_eq!(bundle.states as usize, changes.len());
        }
    }
}
