//! How a value of a game becomes integers, and comes back.
//!
//! | attribute of a field | quantiser | comes back within |
//! |---|---|---|
//! | `bits = n`, `range = a..=b` of an integer | [`Integer`] | exact |
//! | `step = s` | [`Real::steps`] | `s / 2` |
//! | `range = a..=b, bits = n` | [`Real::range`] | `(b - a) / (2^n - 1) / 2` |
//! | `angle, bits = n` | [`Angle`] | `π / 2^n`, on the circle |
//! | `quaternion, bits = n` | [`Quaternion`] | `2.5 / 2^n` a component, `5 / 2^n` the largest |
//!
//! To these comes what the value's own type rounds, an `f32` half of its last place. NaN and what is
//! beyond the range are errors. Quantising what came back gives the same integers again: settings under
//! which a type is too coarse for that do not compile.

mod angle;
mod integer;
mod quaternion;
mod real;
mod vector;

pub use angle::Angle;
pub use integer::Integer;
pub use quaternion::Quaternion;
pub use real::Real;
pub use vector::{Number, Text, Vector};

use crate::value::Unfit;

/// A number as one lane.
pub trait Quantiser {
    /// The type in which it computes.
    type Wide: Copy;

    /// The lane that is nearest to `value`.
    fn quantise(&self, value: Self::Wide) -> Result<u32, Unfit>;

    /// The value that `lane` stands for. Lanes that are never made give some value.
    fn restore(&self, lane: u32) -> Self::Wide;

    /// The value `share` of the way from one to another.
    fn between(&self, from: Self::Wide, next: Self::Wide, share: f32) -> Self::Wide;

    /// How many steps lie between two values.
    fn steps_between(&self, from: Self::Wide, next: Self::Wide) -> f64;
}

/// A finite `x`, rounded; halves away from 0. `core` has no `round`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast is the rounding, and saturates"
)]
pub(crate) const fn round(x: f64) -> i64 {
    (if x < 0.0 { x - 0.5 } else { x + 0.5 }) as i64
}

/// Fails to compile if values of `largest` and less, `step` apart, do not survive in a float of
/// `digits` binary digits.
pub(crate) const fn assert_distinct(largest: f64, step: f64, digits: u32) {
    // Half of the last place must be less than half a step.
    assert!(
        largest / step < (1_u64 << (digits - 1)) as f64,
        "the float's type cannot tell so many steps apart: write a larger step, a smaller range or fewer bits, or use f64"
    );
}

/// A distance in steps, as [`Playback`](crate::Playback) counts it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "asserted to be positive; the cast saturates"
)]
pub(crate) const fn steps_of(distance: f64, step: f64) -> u32 {
    assert!(distance > 0.0, "`jump_over` is a distance above 0");
    (distance / step) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binary digits of an `f32`.
    const SINGLE: u32 = f32::MANTISSA_DIGITS;

    // Each of these is evaluated when a derive compiles, and its sentence is the compiler's error.

    #[test]
    #[should_panic(expected = "write a larger step, a smaller range or fewer bits, or use f64")]
    fn more_steps_than_a_float_tells_apart_do_not_compile() {
        Real::steps_within(0.001, 0.0, 100_000.0, SINGLE);
    }

    #[test]
    #[should_panic(expected = "write a larger step, a smaller range or fewer bits, or use f64")]
    fn more_bits_than_a_float_has_do_not_compile() {
        Real::range(0.0, 1.0, 30, SINGLE);
    }

    #[test]
    #[should_panic(expected = "write a larger step, a smaller range or fewer bits, or use f64")]
    fn a_finer_angle_than_a_float_has_does_not_compile() {
        Angle::new(30, SINGLE);
    }

    #[test]
    #[should_panic(expected = "`step` is a number above 0")]
    fn a_step_is_above_zero() {
        Real::steps(0.0, SINGLE);
    }

    #[test]
    #[should_panic(expected = "from a smaller value to a larger one")]
    fn a_range_goes_upwards() {
        Integer::range(9, 0);
    }

    #[test]
    #[should_panic(expected = "a range has at most 2^32 values")]
    fn an_integer_fits_a_lane() {
        Integer::range(0, 10_000_000_000);
    }

    #[test]
    #[should_panic(expected = "a quaternion's component has 2 to 15 bits")]
    fn a_quaternion_fits_its_arithmetic() {
        Quaternion::new(16);
    }

    #[test]
    #[should_panic(expected = "`jump_over` is a distance above 0")]
    fn a_jump_is_a_distance() {
        Real::steps(0.01, SINGLE).jump_over(0.0);
    }

    #[test]
    fn the_finest_settings_that_compile_round_trip() {
        let steps = Real::steps(0.01, SINGLE);
        let range = Real::range(-1.0, 1.0, 23, SINGLE);
        for lane in [0, 1, 4_194_303, 8_388_606, 8_388_607] {
            for quantiser in [steps, range] {
                #[expect(clippy::cast_possible_truncation, reason = "as a game holds it")]
                let held = quantiser.restore(lane) as f32;
                assert_eq!(quantiser.quantise(held.into()), Ok(lane), "{held}");
            }
        }
        let angle = Angle::new(23, SINGLE);
        for lane in [0, 1, 4_194_303, 4_194_304, 8_388_607] {
            #[expect(clippy::cast_possible_truncation, reason = "as a game holds it")]
            let held = angle.restore(lane) as f32;
            assert_eq!(angle.quantise(held.into()), Ok(lane), "{held}");
        }
    }

    #[test]
    fn a_range_that_lacks_zero_begins_at_its_smallest() {
        let below = Integer::range(-20, -10);
        assert_eq!(below.kind(), crate::Kind::Unsigned { max: 10 });
        assert_eq!((below.quantise(-20), below.restore(10)), (Ok(0), -10));
        let above = Real::steps_within(0.5, 10.0, 20.0, SINGLE);
        assert_eq!(above.kind(), crate::Kind::Unsigned { max: 20 });
        assert_eq!((above.quantise(10.1), above.restore(20)), (Ok(0), 20.0));
        let whole = Integer::bits(32, true);
        assert_eq!(
            whole.restore(whole.quantise(i64::from(i32::MIN)).unwrap()),
            -2_147_483_648
        );
    }
}
