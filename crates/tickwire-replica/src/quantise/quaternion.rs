//! Rotations as the *smallest three* components of a unit quaternion.
//!
//! A quaternion and its negative are the same rotation, so the sign is chosen that makes the largest
//! component positive. That one is left out: its square is what the other three lack to 1. None of the
//! three exceeds 1/√2, so `bits` bits are spread over −1/√2 to 1/√2. Lanes are the index of the largest
//! (0 to 3 for x, y, z, w), then the other three in order.
//!
//! In integers a lane stands for the odd number 2 × lane − top, where top = 2^bits − 1; a component is
//! that number divided by top × √2. So the squares of all four numbers add up to 2 × top², which fits 32
//! bits.

use core::f64::consts::SQRT_2;

use crate::schema::Kind;
use crate::value::Unfit;

/// A unit quaternion of `bits` bits a component.
///
/// Each component comes back within 2.5 / 2^bits of what was stored, or of its negative if all four
/// were negated, and the largest within 5 / 2^bits.
#[derive(Clone, Copy, Debug)]
pub struct Quaternion {
    bits: u8,
    top: i32,
}

impl Quaternion {
    /// A quaternion of `bits` bits a component.
    ///
    /// # Panics
    /// Unless `bits` is 2 to 15.
    pub const fn new(bits: u8) -> Self {
        assert!(
            2 <= bits && bits <= 15,
            "a quaternion's component has 2 to 15 bits"
        );
        Self {
            bits,
            top: (1 << bits) - 1,
        }
    }

    /// What its lanes hold.
    pub const fn kind(self) -> Kind {
        Kind::Quaternion { bits: self.bits }
    }

    /// Lanes of the rotation `[x, y, z, w]`.
    ///
    /// A length that is off by up to a tenth is taken for accumulated rounding, and corrected.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "within 16 bits by the range of a component"
    )]
    pub fn quantise(self, parts: [f64; 4]) -> Result<[u32; 4], Unfit> {
        let square: f64 = parts.iter().map(|part| part * part).sum();
        if square.is_nan() {
            return Err(Unfit::NotANumber);
        }
        if !(0.81..=1.21).contains(&square) {
            return Err(Unfit::NotAUnit { square });
        }
        let largest = index_of_largest(parts);
        let [x, y, z, w] = parts;
        let (left_out, [a, b, c]) = match largest {
            0 => (x, [y, z, w]),
            1 => (y, [x, z, w]),
            2 => (z, [x, y, w]),
            _ => (w, [x, y, z]),
        };
        let scale = f64::from(self.top) / SQRT_2 * inverse_sqrt(square).copysign(left_out);
        // The lane 0 is the middle of −top − 1 to −top + 1; adding that before the cast truncates.
        let middle = (f64::from(self.top) + 1.0) / 2.0;
        let number = |part: f64| {
            let lane = (part * scale + middle) as i32;
            2 * lane.clamp(0, self.top) - self.top
        };
        let mut small = [number(a), number(b), number(c)];
        // Rounding may have made one of them the largest, and it would be left out the next time. Each
        // turn of this loop shrinks the largest of them and lets the one left out grow.
        while self.is_overgrown(small) {
            if let Some(number) = small.iter_mut().max_by_key(|number| number.abs()) {
                *number -= 2 * number.signum();
            }
        }
        let [a, b, c] = small.map(|number| self.lane(number));
        Ok([largest, a, b, c])
    }

    /// The rotation `[x, y, z, w]` of these lanes, of length 1 if they were quantised.
    pub fn restore(self, lanes: [u32; 4]) -> [f64; 4] {
        let [largest, a, b, c] = lanes;
        let small = [a, b, c].map(|lane| self.number(lane));
        let unit = 1.0 / (f64::from(self.top) * SQRT_2);
        let [a, b, c] = small.map(|number| f64::from(number) * unit);
        let left_out = sqrt(self.left_out_square(small)) * unit;
        arrange(largest, left_out, [a, b, c])
    }

    /// The number that a lane stands for.
    fn number(self, lane: u32) -> i32 {
        2 * lane.cast_signed().clamp(0, self.top) - self.top
    }

    /// The lane of a number from −top to top.
    fn lane(self, number: i32) -> u32 {
        ((number + self.top) >> 1).cast_unsigned()
    }

    /// The square of the number that is left out; 0 if the others leave nothing.
    fn left_out_square(self, small: [i32; 3]) -> u32 {
        let top = self.top.cast_unsigned();
        let square = |number: i32| number.unsigned_abs() * number.unsigned_abs();
        // Each square is at most top², which is below 2^30.
        (2 * top * top).saturating_sub(small.into_iter().map(square).sum())
    }

    /// Whether one of the numbers is not clearly below the one left out.
    fn is_overgrown(self, small: [i32; 3]) -> bool {
        let left_out = self.left_out_square(small);
        small.iter().any(|number| {
            // A distance of 1, so that no float's rounding turns them round.
            let above = number.unsigned_abs() + 1;
            above * above > left_out
        })
    }
}

/// All four, given which of them is apart.
fn arrange<T>(largest: u32, left_out: T, [a, b, c]: [T; 3]) -> [T; 4] {
    match largest {
        0 => [left_out, a, b, c],
        1 => [a, left_out, b, c],
        2 => [a, b, left_out, c],
        _ => [a, b, c, left_out],
    }
}

fn index_of_largest([x, y, z, w]: [f64; 4]) -> u32 {
    let (mut index, mut largest) = (0, x.abs());
    for (at, part) in [(1, y), (2, z), (3, w)] {
        if part.abs() > largest {
            (index, largest) = (at, part.abs());
        }
    }
    index
}

/// 1 / √x for x near 1, by Newton: from 0.81 to 1.21 four steps leave less than 2^-50.
fn inverse_sqrt(x: f64) -> f64 {
    let mut root = 1.5 - 0.5 * x;
    for _ in 0..3 {
        root *= 1.5 - 0.5 * x * root * root;
    }
    root
}

/// √x to 24 bits or more; `core` has roots of integers only.
fn sqrt(x: u32) -> f64 {
    // Up to the highest even power of two that fits: the root gets half of it.
    let shift = u64::from(x).leading_zeros().min(62) & !1;
    let root = (u64::from(x) << shift).isqrt();
    #[expect(clippy::cast_precision_loss, reason = "a root has 32 bits")]
    let root = root as f64;
    root / f64::from(1_u32 << (shift / 2))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    /// Rotations of length 1, many of them with components that are equal or almost.
    fn rotations() -> impl Strategy<Value = [f64; 4]> {
        let part = prop_oneof![-1.0..1.0, Just(0.0), Just(0.5), Just(-0.5), 0.4999..0.5001];
        proptest::array::uniform4(part).prop_filter_map("has a length", |parts| {
            let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
            (length > 1e-3).then(|| parts.map(|part| part / length))
        })
    }

    fn as_f32(parts: [f64; 4]) -> [f64; 4] {
        #[expect(clippy::cast_possible_truncation, reason = "what a game holds")]
        parts.map(|part| f64::from(part as f32))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_rotation_comes_back_within_its_bound(rotation in rotations(), bits in 2_u8..=15) {
            let quaternion = Quaternion::new(bits);
            let lanes = quaternion.quantise(rotation).unwrap();
            let restored = quaternion.restore(lanes);
            let dot: f64 = rotation.iter().zip(restored).map(|(a, b)| a * b).sum();
            let quantum = 1.0 / f64::from(1_u32 << bits);
            for (place, (stored, restored)) in (0..).zip(rotation.into_iter().zip(restored)) {
                let bound = if place == lanes[0] { 5.0 } else { 2.5 } * quantum;
                let error = (stored * dot.signum() - restored).abs();
                prop_assert!(error <= bound, "{} of {}: {} quanta", place, bits, error / quantum);
            }
        }

        #[test]
        fn storing_what_was_loaded_changes_nothing(rotation in rotations(), bits in 2_u8..=15) {
            let quaternion = Quaternion::new(bits);
            let lanes = quaternion.quantise(as_f32(rotation)).unwrap();
            let restored = as_f32(quaternion.restore(lanes));
            prop_assert_eq!(quaternion.quantise(restored).unwrap(), lanes);
        }

        #[test]
        fn any_lanes_restore(lanes in any::<[u32; 4]>(), bits in 2_u8..=15) {
            let quaternion = Quaternion::new(bits);
            let restored = quaternion.restore(lanes);
            prop_assert!(restored.iter().all(|part| part.is_finite()));
        }
    }

    #[test]
    fn a_length_that_is_almost_one_is_corrected() {
        let quaternion = Quaternion::new(10);
        let lanes = quaternion.quantise([0.0, 0.6, 0.0, 0.8]).unwrap();
        assert_eq!(quaternion.quantise([0.0, 0.63, 0.0, 0.84]), Ok(lanes));
        assert_eq!(quaternion.quantise([0.0, -0.57, 0.0, -0.76]), Ok(lanes));
        let refused = quaternion.quantise([0.0; 4]);
        assert_eq!(refused, Err(Unfit::NotAUnit { square: 0.0 }));
        let refused = quaternion.quantise([f64::NAN, 0.0, 0.0, 1.0]);
        assert_eq!(refused, Err(Unfit::NotANumber));
    }

    #[test]
    fn the_identity_leaves_out_w() {
        let lanes = Quaternion::new(9).quantise([0.0, 0.0, 0.0, 1.0]);
        assert_eq!(lanes, Ok([3, 256, 256, 256]));
    }
}
