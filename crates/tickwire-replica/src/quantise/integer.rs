//! Integers of fewer bits than their type, or of a range.

use super::{Quantiser, round, steps_of};
use crate::schema::{Kind, Scale};
use crate::value::Unfit;

/// An integer from `min` to `max`.
#[derive(Clone, Copy, Debug)]
pub struct Integer {
    min: i64,
    max: i64,
    /// What lane 0 stands for: 0 if that is within the range, else its smallest value. So a lane of 0,
    /// which is what absent fields have, is always allowed.
    offset: i64,
}

impl Integer {
    /// 0 to 2^`bits` − 1 or, for a signed type, −2^(`bits` − 1) to 2^(`bits` − 1) − 1.
    ///
    /// # Panics
    /// Unless `bits` is 1 to 32.
    pub const fn bits(bits: u8, signed: bool) -> Self {
        assert!(1 <= bits && bits <= 32, "`bits` is 1 to 32");
        let values = 1_i64 << bits;
        if signed {
            Self::range(-values / 2, values / 2 - 1)
        } else {
            Self::range(0, values - 1)
        }
    }

    /// `min` to `max`.
    ///
    /// # Panics
    /// Unless `min` is below `max`, by less than 2^32; by less than 2^31 on each side of 0.
    pub const fn range(min: i64, max: i64) -> Self {
        assert!(
            min < max,
            "a range goes from a smaller value to a larger one"
        );
        let offset = if min <= 0 && 0 <= max { 0 } else { min };
        let fits = if min < 0 && offset == 0 {
            min >= i32::MIN as i64 && max <= i32::MAX as i64
        } else {
            max.saturating_sub(min) <= u32::MAX as i64
        };
        assert!(
            fits,
            "a range has at most 2^32 values, and if it goes from below 0 to above, 2^31 on each side"
        );
        Self { min, max, offset }
    }

    /// What its lane holds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "asserted when it was made"
    )]
    pub const fn kind(self) -> Kind {
        if self.min < self.offset {
            Kind::Signed {
                min: self.min as i32,
                max: self.max as i32,
            }
        } else {
            Kind::Unsigned {
                max: (self.max - self.offset) as u32,
            }
        }
    }

    /// What a lane is worth.
    pub const fn scale(self) -> Scale {
        Scale::new(self.offset as f64, 1.0)
    }

    /// A distance in steps, rounded down.
    pub const fn jump_over(self, distance: f64) -> u32 {
        steps_of(distance, 1.0)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "for messages and for what is shown"
)]
impl Quantiser for Integer {
    type Wide = i64;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the bounds just checked"
    )]
    fn quantise(&self, value: i64) -> Result<u32, Unfit> {
        if value < self.min || self.max < value {
            return Err(Unfit::OutOfRange {
                value: value as f64,
                min: self.min as f64,
                max: self.max as f64,
            });
        }
        Ok((value - self.offset) as u32)
    }

    fn restore(&self, lane: u32) -> i64 {
        let value = if self.min < self.offset {
            i64::from(lane.cast_signed())
        } else {
            i64::from(lane) + self.offset
        };
        value.clamp(self.min, self.max)
    }

    fn between(&self, from: i64, next: i64, share: f32) -> i64 {
        round(from as f64 * f64::from(1.0 - share) + next as f64 * f64::from(share))
    }

    fn steps_between(&self, from: i64, next: i64) -> f64 {
        next.abs_diff(from) as f64
    }
}
