//! Directions on a circle.

use core::f64::consts::TAU;

use super::{Quantiser, assert_distinct, round, steps_of};
use crate::schema::Kind;
use crate::value::Unfit;

/// An angle in radians as 2^`bits` directions. It comes back as −π to π, without π itself.
#[derive(Clone, Copy, Debug)]
pub struct Angle {
    bits: u8,
    step: f64,
    per_unit: f64,
}

impl Angle {
    /// An angle of 2^`bits` directions.
    ///
    /// # Panics
    /// Unless `bits` is 1 to 32, and a float of `digits` binary digits can tell that many apart.
    pub const fn new(bits: u8, digits: u32) -> Self {
        assert!(1 <= bits && bits <= 32, "`bits` is 1 to 32");
        let directions = (1_u64 << bits) as f64;
        assert_distinct(TAU / 2.0, TAU / directions, digits);
        Self {
            bits,
            step: TAU / directions,
            per_unit: directions / TAU,
        }
    }

    /// What its lane holds.
    pub const fn kind(self) -> Kind {
        Kind::Angle { bits: self.bits }
    }

    /// A distance in steps, rounded down.
    pub const fn jump_over(self, distance: f64) -> u32 {
        steps_of(distance, self.step)
    }
}

impl Quantiser for Angle {
    type Wide = f64;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the low bits are meant: turns drop out"
    )]
    fn quantise(&self, value: f64) -> Result<u32, Unfit> {
        // So many turns that their steps exceed 2^53 are no direction any more.
        const TURNS: f64 = (1 << 20) as f64;
        if value.is_nan() {
            return Err(Unfit::NotANumber);
        }
        if value.abs() > TURNS * TAU {
            let (min, max) = (-TURNS * TAU, TURNS * TAU);
            return Err(Unfit::OutOfRange { value, min, max });
        }
        Ok(round(value * self.per_unit) as u32 & (u32::MAX >> (32 - self.bits)))
    }

    fn restore(&self, lane: u32) -> f64 {
        let unused = 32 - self.bits;
        f64::from((lane << unused).cast_signed() >> unused) * self.step
    }

    fn between(&self, from: f64, next: f64, share: f32) -> f64 {
        from + short_way(from, next) * f64::from(share)
    }

    fn steps_between(&self, from: f64, next: f64) -> f64 {
        short_way(from, next).abs() * self.per_unit
    }
}

fn short_way(from: f64, next: f64) -> f64 {
    match (next - from) % TAU {
        ahead if ahead > TAU / 2.0 => ahead - TAU,
        ahead if ahead < -TAU / 2.0 => ahead + TAU,
        ahead => ahead,
    }
}
