//! Floats as multiples of a step.

use super::{Quantiser, assert_distinct, round, steps_of};
use crate::schema::{Kind, Scale};
use crate::value::Unfit;

/// A float as `offset + lane × step`.
#[derive(Clone, Copy, Debug)]
pub struct Real {
    offset: f64,
    step: f64,
    /// 1 / step: a product is faster than a quotient.
    per_unit: f64,
    /// The smallest lane: 0, or below 0 if lanes are signed.
    min: i32,
    /// The largest lane, as it lies there.
    max: u32,
}

impl Real {
    /// Multiples of `step`, as many as a float of `digits` binary digits can tell apart: for an `f32`
    /// and a step of 0.01, −83,886 to 83,886.
    ///
    /// # Panics
    /// Unless `step` is above 0.
    pub const fn steps(step: f64, digits: u32) -> Self {
        let most = if digits < 32 {
            (1 << (digits - 1)) - 1
        } else {
            i32::MAX
        };
        Self::new(0.0, step, -most, most.cast_unsigned())
    }

    /// Multiples of `step` from `min` to `max`.
    ///
    /// # Panics
    /// Unless `step` is above 0, `min` below `max`, and a float of `digits` digits can tell them apart.
    #[expect(clippy::cast_possible_truncation, reason = "asserted to fit")]
    #[expect(clippy::cast_sign_loss, reason = "a span is positive")]
    pub const fn steps_within(step: f64, min: f64, max: f64, digits: u32) -> Self {
        assert!(
            min < max,
            "a range goes from a smaller value to a larger one"
        );
        assert_distinct(larger(min, max), step, digits);
        let (first, last) = (round(min / step), round(max / step));
        if first < 0 && last >= 0 {
            assert!(
                first >= i32::MIN as i64 && last <= i32::MAX as i64,
                "the range has more than 2^32 steps"
            );
            Self::new(0.0, step, first as i32, last as u32)
        } else {
            assert!(
                last - first <= u32::MAX as i64,
                "the range has more than 2^32 steps"
            );
            Self::new(first as f64 * step, step, 0, (last - first) as u32)
        }
    }

    /// 2^`bits` values from `min` to `max`, both included.
    ///
    /// # Panics
    /// Unless `min` is below `max`, `bits` 1 to 32, and a float of `digits` digits can tell them apart.
    pub const fn range(min: f64, max: f64, bits: u8, digits: u32) -> Self {
        assert!(
            min < max,
            "a range goes from a smaller value to a larger one"
        );
        assert!(1 <= bits && bits <= 32, "`bits` is 1 to 32");
        let top = u32::MAX >> (32 - bits);
        let step = (max - min) / top as f64;
        assert_distinct(larger(min, max), step, digits);
        Self::new(min, step, 0, top)
    }

    const fn new(offset: f64, step: f64, min: i32, max: u32) -> Self {
        assert!(step > 0.0 && step.is_finite(), "`step` is a number above 0");
        Self {
            offset,
            step,
            per_unit: 1.0 / step,
            min,
            max,
        }
    }

    /// What its lane holds.
    pub const fn kind(self) -> Kind {
        if self.min < 0 {
            Kind::Signed {
                min: self.min,
                max: self.max.cast_signed(),
            }
        } else {
            Kind::Unsigned { max: self.max }
        }
    }

    /// What a lane is worth.
    pub const fn scale(self) -> Scale {
        Scale::new(self.offset, self.step)
    }

    /// A distance in steps, rounded down.
    pub const fn jump_over(self, distance: f64) -> u32 {
        steps_of(distance, self.step)
    }

    fn value(self, lane: i64) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a lane has 33 bits with its sign"
        )]
        let lane = lane as f64;
        self.offset + lane * self.step
    }
}

impl Quantiser for Real {
    type Wide = f64;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the bounds just checked"
    )]
    fn quantise(&self, value: f64) -> Result<u32, Unfit> {
        let lane = round((value - self.offset) * self.per_unit);
        // Infinities saturate, and NaN becomes 0.
        if lane < i64::from(self.min) || lane > i64::from(self.max) || value.is_nan() {
            return Err(self.refuse(value));
        }
        Ok(lane as u32)
    }

    fn restore(&self, lane: u32) -> f64 {
        self.value(if self.min < 0 {
            i64::from(lane.cast_signed())
        } else {
            i64::from(lane)
        })
    }

    fn between(&self, from: f64, next: f64, share: f32) -> f64 {
        // Exact at both ends, unlike from + (next - from) * share.
        from * f64::from(1.0 - share) + next * f64::from(share)
    }

    fn steps_between(&self, from: f64, next: f64) -> f64 {
        (next - from).abs() * self.per_unit
    }
}

impl Real {
    #[cold]
    fn refuse(self, value: f64) -> Unfit {
        if value.is_nan() {
            return Unfit::NotANumber;
        }
        Unfit::OutOfRange {
            value,
            min: self.value(i64::from(self.min)),
            max: self.value(i64::from(self.max)),
        }
    }
}

const fn larger(a: f64, b: f64) -> f64 {
    a.abs().max(b.abs())
}
