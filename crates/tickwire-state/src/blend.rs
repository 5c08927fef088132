//! Values between two values.
//!
//! Plain numbers that a renderer takes as they are: no operators, no matrices. Turns go the short way
//! round. A share of 0 is the first value, 1 the second; above 1 the movement goes on.

use tickwire_wire::{DecodeError, Endian, Field, Reader, Writer};

/// A value that can be shown between two of its states.
pub trait Blend {
    /// The value `share` of the way from `self` to `next`; beyond `next` above 1.
    #[must_use]
    fn blend(&self, next: &Self, share: f32) -> Self;
}

/// Blends, or if the value jumped to `next`, holds `from` until `next` is reached: what jumped is never
/// shown in between, nor moved on.
pub fn blend_unless<T: Blend + Clone>(jumped: bool, from: &T, next: &T, share: f32) -> T {
    match jumped {
        true if share < 1.0 => from.clone(),
        true => next.clone(),
        false => from.blend(next, share),
    }
}

impl Blend for f32 {
    fn blend(&self, next: &Self, share: f32) -> Self {
        // Exact at both ends, unlike from + (next - from) * share.
        self * (1.0 - share) + next * share
    }
}

/// A point of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "coordinates")]
pub struct Vec2 {
    pub x: f32,
    pub y: f32,
}

/// A point of space, a scale.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "coordinates")]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// Three numbers, which a trace shows as one.
impl<E: Endian> Field<'_, E> for Vec3 {
    #[inline]
    fn read(r: &mut Reader<'_, E>, field: &'static str) -> Result<Self, DecodeError> {
        r.group(field, |r| {
            Ok(Self {
                x: r.f32("x")?,
                y: r.f32("y")?,
                z: r.f32("z")?,
            })
        })
    }

    #[inline]
    fn write(&self, w: &mut Writer<'_, E>) {
        w.f32(self.x);
        w.f32(self.y);
        w.f32(self.z);
    }
}

/// A turn of space, of length 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "coordinates")]
pub struct Quat {
    pub x: f32,
    pub y: f32,
    pub z: f32,
    pub w: f32,
}

/// A turn of a plane, in radians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Angle(pub f32);

impl Vec3 {
    /// The origin.
    pub const ZERO: Self = Self::splat(0.0);
    /// The scale that changes nothing.
    pub const ONE: Self = Self::splat(1.0);

    /// The same in every direction.
    pub const fn splat(value: f32) -> Self {
        Self {
            x: value,
            y: value,
            z: value,
        }
    }
}

impl Quat {
    /// The turn that changes nothing.
    pub const IDENTITY: Self = Self {
        x: 0.0,
        y: 0.0,
        z: 0.0,
        w: 1.0,
    };

    fn dot(&self, other: &Self) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z + self.w * other.w
    }
}

impl Default for Quat {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Blend for Vec2 {
    fn blend(&self, next: &Self, share: f32) -> Self {
        Self {
            x: self.x.blend(&next.x, share),
            y: self.y.blend(&next.y, share),
        }
    }
}

impl Blend for Vec3 {
    fn blend(&self, next: &Self, share: f32) -> Self {
        Self {
            x: self.x.blend(&next.x, share),
            y: self.y.blend(&next.y, share),
            z: self.z.blend(&next.z, share),
        }
    }
}

impl Blend for Quat {
    /// Along the chord, brought back to length 1: the path of a spherical blend, at a speed that for
    /// a quarter turn between two snapshots is off by less than a degree.
    fn blend(&self, next: &Self, share: f32) -> Self {
        // A turn and its negative are the same; the nearer of the two is the short way.
        let sign = if self.dot(next) < 0.0 { -1.0 } else { 1.0 };
        let part = |from: f32, next: f32| from.blend(&(next * sign), share);
        let chord = Self {
            x: part(self.x, next.x),
            y: part(self.y, next.y),
            z: part(self.z, next.z),
            w: part(self.w, next.w),
        };
        let square = chord.dot(&chord);
        // Two turns of length 1 never come near 0 on the short way; a peer's may have any length.
        if !square.is_normal() {
            return *next;
        }
        let scale = inverse_sqrt(square);
        Self {
            x: chord.x * scale,
            y: chord.y * scale,
            z: chord.z * scale,
            w: chord.w * scale,
        }
    }
}

impl Blend for Angle {
    /// The short way round; the result is not wrapped.
    fn blend(&self, next: &Self, share: f32) -> Self {
        const TURN: f32 = core::f32::consts::TAU;
        let ahead = (next.0 - self.0) % TURN;
        let short = match ahead {
            ahead if ahead > TURN / 2.0 => ahead - TURN,
            ahead if ahead < -TURN / 2.0 => ahead + TURN,
            ahead => ahead,
        };
        Self(self.0 + short * share)
    }
}

/// 1 / √x of a normal number above 0; `core` has no root. Two bits of the logarithm, then Newton.
fn inverse_sqrt(x: f32) -> f32 {
    let mut root = f32::from_bits(0x5f37_5a86 - (x.to_bits() >> 1));
    for _ in 0..4 {
        root *= 1.5 - 0.5 * x * root * root;
    }
    root
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    fn turn(axis: usize, degrees: f32) -> Quat {
        let (sin, cos) = (degrees.to_radians() / 2.0).sin_cos();
        let mut parts = [0.0; 3];
        parts[axis] = sin;
        let [x, y, z] = parts;
        Quat { x, y, z, w: cos }
    }

    /// Degrees between two turns.
    fn between(a: &Quat, b: &Quat) -> f64 {
        let cos = f64::from(a.dot(b).abs()).min(1.0);
        (2.0 * cos.acos()).to_degrees()
    }

    #[test]
    fn both_ends_are_exact() {
        let (a, b) = (Vec3::splat(1e8), Vec3::splat(0.1));
        assert_eq!((a.blend(&b, 0.0), a.blend(&b, 1.0)), (a, b));
    }

    #[test]
    fn a_turn_goes_the_short_way() {
        let half = turn(2, 350.0).blend(&turn(2, 10.0), 0.5);
        assert!(between(&half, &turn(2, 0.0)) < 0.1, "{half:?}");
        let Angle(half) = Angle(6.2).blend(&Angle(0.1), 0.5);
        assert!((half - 6.29).abs() < 0.01, "{half}");
    }

    #[test]
    fn a_turn_goes_on_beyond_its_end() {
        let on = turn(0, 0.0).blend(&turn(0, 10.0), 2.0);
        assert!(between(&on, &turn(0, 20.0)) < 0.5, "{on:?}");
    }

    #[test]
    fn a_quarter_turn_is_off_by_less_than_a_degree() {
        for percent in 0..=100_u8 {
            let share = f32::from(percent) / 100.0;
            let shown = turn(1, 0.0).blend(&turn(1, 90.0), share);
            let error = between(&shown, &turn(1, 90.0 * share));
            assert!(error < 1.0, "{error} at {share}");
        }
    }

    #[test]
    fn what_jumped_is_here_or_there() {
        let (a, b) = (Vec3::ZERO, Vec3::ONE);
        assert_eq!(blend_unless(true, &a, &b, 0.999), a);
        assert_eq!(blend_unless(true, &a, &b, 1.0), b);
        assert_eq!(blend_unless(true, &a, &b, 3.0), b);
        assert_eq!(blend_unless(false, &a, &b, 0.5), Vec3::splat(0.5));
    }

    proptest! {
        #[test]
        fn a_blended_turn_has_length_one(
            a in proptest::array::uniform4(-1e3..1e3_f32), b in proptest::array::uniform4(-1e3..1e3_f32), share in 0.0..4.0_f32,
        ) {
            let unit = |[x, y, z, w]: [f32; 4]| {
                let length = [x, y, z, w].iter().map(|part| part * part).sum::<f32>().sqrt();
                let [x, y, z, w] = [x, y, z, w].map(|part| part / length);
                Quat { x, y, z, w }
            };
            let (a, b) = (unit(a), unit(b));
            prop_assume!((a.dot(&a) - 1.0).abs() < 1e-5 && (b.dot(&b) - 1.0).abs() < 1e-5);
            let shown = a.blend(&b, share);
            prop_assert!((shown.dot(&shown) - 1.0).abs() < 1e-5, "{:?}", shown);
        }

        #[test]
        fn any_bits_blend_without_a_panic(
            a in any::<[u32; 4]>(), b in any::<[u32; 4]>(), share in any::<u32>(),
        ) {
            let quat = |bits: [u32; 4]| {
                let [x, y, z, w] = bits.map(f32::from_bits);
                Quat { x, y, z, w }
            };
            std::hint::black_box(quat(a).blend(&quat(b), f32::from_bits(share)));
        }

        #[test]
        fn an_angle_never_turns_more_than_half_a_circle(a in -50.0..50.0_f32, b in -50.0..50.0_f32) {
            let Angle(end) = Angle(a).blend(&Angle(b), 1.0);
            prop_assert!((end - a).abs() <= core::f32::consts::PI + 1e-3);
            prop_assert!((f64::from(end - b).sin()).abs() < 1e-4, "{} is not {}", end, b);
        }
    }
}
