//! The five basic states of an object as a bundle.
//!
//! They are most of what a server sends, so they are written as they lie in the object, without a schema
//! that says what they are. The bytes are those of [`bundle::encode`](crate::opendrakan::bundle::encode).

use tickwire_state::{Quat, Tick, Vec3};

use super::Wanted;
use crate::opendrakan::schema::{BASIC, ROTATION, RUNNING, SCALE, TRANSLATION, VISIBILITY};
use crate::opendrakan::snapshot::Object;

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

/// The past of the five basic states, by their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct BasicTimes(pub(super) [Times; BASIC.len()]);

impl BasicTimes {
    /// The states that a client with `reference` lacks, or all of them, as a bundle.
    pub(super) fn bundle(&self, object: &Object, reference: Tick, wanted: Wanted) -> BasicBundle {
        let (mut values, mut jumps) = (0, 0);
        for (bit, times) in self.0.iter().enumerate() {
            let is_wanted = times.is_wanted(reference, wanted);
            values |= u8::from(is_wanted) << bit;
            jumps |= u8::from(is_wanted && times.jumped > reference) << bit;
        }
        let mut bundle = BasicBundle {
            bytes: [0; BUNDLE],
            length: 0,
            states: values.count_ones(),
        };
        let has = |number: usize| values >> number & 1 == 1;
        bundle.push([values, jumps]);
        if has(TRANSLATION) {
            bundle.push(vec3(object.pose.translation));
        }
        if has(ROTATION) {
            bundle.push(quat(object.pose.rotation));
        }
        if has(SCALE) {
            bundle.push(vec3(object.pose.scale));
        }
        // Booleans share a byte, the first that is there in the lowest place.
        let (visible, running) = (u8::from(object.visible), u8::from(object.running));
        match (has(VISIBILITY), has(RUNNING)) {
            (true, true) => bundle.push([visible | running << 1]),
            (true, false) => bundle.push([visible]),
            (false, true) => bundle.push([running]),
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
    use crate::opendrakan::server::world::entry::changes;
    use crate::opendrakan::{Kind, Value, Writer, bundle};

    proptest! {
        #[test]
        fn the_bundle_is_the_one_that_the_codec_writes(
            set in proptest::collection::vec((0..5_usize, any::<bool>(), 1..4_u64, any::<i8>()), 0..12),
            reference in 0..4_u64,
            all: bool,
        ) {
            let mut object = Object::untouched(None, None, None);
            let mut times = BasicTimes([Times::new(Tick::NONE); BASIC.len()]);
            for (index, jump, now, number) in set {
                let number = f32::from(number);
                let at = Vec3 { x: number, y: -number, z: 0.5 };
                let value = match BASIC[index].kind {
                    Kind::Quat => Value::Quat(Quat { x: number, ..Quat::IDENTITY }),
                    Kind::Bool => Value::Bool(number > 0.0),
                    _ => Value::Vec3(at),
                };
                object.set_value(index, value);
                times.0[index].set(Tick(now), jump);
            }
            let wanted = if all { Wanted::All } else { Wanted::Changed };
            let values = (0..BASIC.len()).filter_map(|number| object.value(number));
            let changes: Vec<_> = changes(&times.0, values, Tick(reference), wanted).collect();
            let mut bytes = Vec::new();
            bundle::encode(&mut Writer::new(&mut bytes, BUNDLE), &changes);
            let bundle = times.bundle(&object, Tick(reference), wanted);
            prop_assert_eq!(bundle.bytes(), bytes);
            prop_assert_eq!(bundle.states as usize, changes.len());
        }
    }
}
