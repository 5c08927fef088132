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
