//! Points, directions and angles in the plane.
//!
//! `x` points right and `y` up, so a left turn increases the heading. Everything here gives the same
//! bits on every machine: `f64` arithmetic and square roots are exact by IEEE 754, and what is not
//! (sine, cosine, arc tangent) comes from `libm` instead of the platform.

use core::f64::consts::{PI, TAU};
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A point or a direction, in world units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec2 {
    /// To the right.
    pub x: f64,
    /// Up.
    pub y: f64,
}

impl Vec2 {
    /// The middle of the world, or no movement.
    pub const ZERO: Self = Self::new(0.0, 0.0);

    /// The point at these coordinates.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The scalar product.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// The length, squared: enough for comparing, and cheaper.
    pub fn length_squared(self) -> f64 {
        self.dot(self)
    }

    /// The length.
    pub fn length(self) -> f64 {
        self.length_squared().sqrt()
    }

    /// How far it is to `other`.
    pub fn distance(self, other: Self) -> f64 {
        (other - self).length()
    }

    /// The same direction with length one; `None` if there is no direction, because the vector is
    /// zero or not finite.
    pub fn unit(self) -> Option<Self> {
        let length = self.length();
        (length > 0.0 && length.is_finite()).then(|| self / length)
    }

    /// A quarter turn to the left.
    #[must_use]
    pub const fn left(self) -> Self {
        Self::new(-self.y, self.x)
    }

    /// The same direction, at most this long.
    #[must_use]
    pub fn at_most(self, length: f64) -> Self {
        let squared = self.length_squared();
        if squared <= length * length {
            return self;
        }
        self * (length / squared.sqrt())
    }

    /// Whether both coordinates are numbers.
    pub const fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

impl Add for Vec2 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl AddAssign for Vec2 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vec2 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl SubAssign for Vec2 {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<f64> for Vec2 {
    type Output = Self;
    fn mul(self, by: f64) -> Self {
        Self::new(self.x * by, self.y * by)
    }
}

impl Div<f64> for Vec2 {
    type Output = Self;
    fn div(self, by: f64) -> Self {
        Self::new(self.x / by, self.y / by)
    }
}

impl Neg for Vec2 {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y)
    }
}

/// Where something points: an angle, counter-clockwise from the `x` axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heading(f64);

impl Heading {
    /// Along the `x` axis.
    pub const EAST: Self = Self(0.0);

    /// Any angle, brought into one turn; east, if it is not a number.
    pub fn from_radians(radians: f64) -> Self {
        let turned = radians.rem_euclid(TAU);
        // Rounding takes a tiny negative angle to a whole turn, which is the angle zero.
        if turned < TAU {
            Self(turned)
        } else {
            Self::EAST
        }
    }

    /// The same, in degrees.
    pub fn from_degrees(degrees: f64) -> Self {
        Self::from_radians(degrees.to_radians())
    }

    /// The direction of `vector`; `None` if it has none.
    pub fn of(vector: Vec2) -> Option<Self> {
        let unit = vector.unit()?;
        Some(Self::from_radians(libm::atan2(unit.y, unit.x)))
    }

    /// The angle, from zero up to but not including a whole turn.
    pub const fn radians(self) -> f64 {
        self.0
    }

    /// The angle in degrees, from 0 up to but not including 360.
    pub const fn degrees(self) -> f64 {
        self.0.to_degrees()
    }

    /// The vector of length one that points this way.
    pub fn unit(self) -> Vec2 {
        Vec2::new(libm::cos(self.0), libm::sin(self.0))
    }

    /// This heading after a turn to the left (to the right, if negative).
    #[must_use]
    pub fn turned(self, radians: f64) -> Self {
        Self::from_radians(self.0 + radians)
    }

    /// The shorter turn from here to `other`, between minus half a turn and half a turn.
    pub fn turn_to(self, other: Self) -> f64 {
        let turn = (other.0 - self.0).rem_euclid(TAU);
        if turn > PI { turn - TAU } else { turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_stay_within_one_turn() {
        for radians in [-1e-300, -TAU, -0.5, 0.0, TAU, 1e9, f64::NAN, f64::INFINITY] {
            let heading = Heading::from_radians(radians);
            assert!((0.0..TAU).contains(&heading.radians()), "{radians}");
            assert!((0.0..360.0).contains(&heading.degrees()), "{radians}");
        }
    }

    #[test]
    fn the_shorter_turn_crosses_east() {
        let (north_east, south_east) = (Heading::from_degrees(10.0), Heading::from_degrees(350.0));
        assert!((north_east.turn_to(south_east).to_degrees() + 20.0).abs() < 1e-9);
        assert!((south_east.turn_to(north_east).to_degrees() - 20.0).abs() < 1e-9);
    }

    #[test]
    fn heading_and_direction_are_inverse() {
        for degrees in 0..360 {
            let heading = Heading::from_degrees(f64::from(degrees));
            let back = Heading::of(heading.unit() * 7.0).unwrap();
            assert!(heading.turn_to(back).abs() < 1e-9, "{degrees}");
        }
    }

    #[test]
    fn what_has_no_direction_says_so() {
        assert_eq!(Vec2::ZERO.unit(), None);
        assert_eq!(Vec2::new(f64::NAN, 1.0).unit(), None);
        assert_eq!(Heading::of(Vec2::new(f64::INFINITY, 1.0)), None);
    }

    #[test]
    fn a_limit_shortens_but_never_lengthens() {
        assert_eq!(Vec2::new(3.0, 4.0).at_most(10.0), Vec2::new(3.0, 4.0));
        assert_eq!(Vec2::new(30.0, 40.0).at_most(5.0), Vec2::new(3.0, 4.0));
    }
}
