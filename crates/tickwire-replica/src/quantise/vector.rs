//! The types that a quantiser can be put on: numbers, vectors of them, and texts.

use alloc::string::String;
use alloc::vec::Vec;

/// A number of a game.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number that a `#[replicate(…)]` attribute can quantise",
    note = "`step`, `angle` and `range` with `bits` are for f32 and f64, `bits` or `range` alone for integers; arrays of these are vectors"
)]
pub trait Number: Copy {
    /// The type in which it is quantised: `f64` for floats, `i64` for integers.
    type Wide: Copy;
    /// Binary digits that it keeps of a wide one.
    const DIGITS: u32;
    /// Whether it can be below 0.
    const SIGNED: bool;

    /// The same in the wide type, or the nearest.
    fn widen(self) -> Self::Wide;
    /// The nearest to a wide one.
    fn narrow(wide: Self::Wide) -> Self;
}

impl Number for f32 {
    type Wide = f64;
    const DIGITS: u32 = Self::MANTISSA_DIGITS;
    const SIGNED: bool = true;

    fn widen(self) -> f64 {
        self.into()
    }

    #[expect(clippy::cast_possible_truncation, reason = "to the nearest")]
    fn narrow(wide: f64) -> Self {
        wide as Self
    }
}

impl Number for f64 {
    type Wide = Self;
    const DIGITS: u32 = Self::MANTISSA_DIGITS;
    const SIGNED: bool = true;

    fn widen(self) -> Self {
        self
    }

    fn narrow(wide: Self) -> Self {
        wide
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            type Wide = i64;
            const DIGITS: u32 = Self::BITS;
            const SIGNED: bool = Self::MIN != 0;

            fn widen(self) -> i64 {
                // Only a u64 may not fit, and then exceeds every range.
                self.try_into().unwrap_or(i64::MAX)
            }

            fn narrow(wide: i64) -> Self {
                let nearest = if wide < 0 { Self::MIN } else { Self::MAX };
                wide.try_into().unwrap_or(nearest)
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

/// One number, or several of a kind that belong together.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a number nor a vector of numbers",
    note = "a `#[replicate(…)]` attribute with `step`, `range`, `bits`, `angle` or `quaternion` takes numbers and arrays of them",
    note = "with the feature `glam` also its Vec2, Vec3 and Quat"
)]
pub trait Vector: Clone {
    /// What it consists of.
    type Number: Number;
    /// How many, 1 to 255.
    const COUNT: u8;

    /// All of them, in order.
    fn numbers(&self) -> impl Iterator<Item = Self::Number>;
    /// The vector of what `next` gives, in order.
    fn from_numbers(next: impl FnMut() -> Self::Number) -> Self;
}

macro_rules! single {
    ($($type:ty)*) => {$(
        impl Vector for $type {
            type Number = Self;
            const COUNT: u8 = 1;

            fn numbers(&self) -> impl Iterator<Item = Self> {
                core::iter::once(*self)
            }

            fn from_numbers(mut next: impl FnMut() -> Self) -> Self {
                next()
            }
        }
    )*};
}

single! { f32 f64 u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl<T: Number, const N: usize> Vector for [T; N] {
    type Number = T;
    #[expect(clippy::cast_possible_truncation, reason = "asserted to fit")]
    const COUNT: u8 = {
        assert!(0 < N && N <= 255, "an array has 1 to 255 elements");
        N as u8
    };

    fn numbers(&self) -> impl Iterator<Item = T> {
        self.iter().copied()
    }

    fn from_numbers(mut next: impl FnMut() -> T) -> Self {
        core::array::from_fn(|_| next())
    }
}

#[cfg(feature = "glam")]
mod glam {
    use glam::{Quat, Vec2, Vec3};

    macro_rules! vectors {
        ($($type:ty: $count:literal;)*) => {$(
            impl super::Vector for $type {
                type Number = f32;
                const COUNT: u8 = $count;

                fn numbers(&self) -> impl Iterator<Item = f32> {
                    <[f32; $count]>::from(*self).into_iter()
                }

                fn from_numbers(mut next: impl FnMut() -> f32) -> Self {
                    Self::from_array(core::array::from_fn(|_| next()))
                }
            }
        )*};
    }

    vectors! { Vec2: 2; Vec3: 3; Quat: 4; }
}

/// Bytes of a bounded length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a `String` nor a `Vec<u8>`",
    note = "`max = n` is the greatest length in bytes of one of these"
)]
pub trait Text: Clone {
    /// What travels.
    fn as_bytes(&self) -> &[u8];
    /// The value of these bytes; of a string that is not UTF-8, as far as it is.
    fn from_bytes(bytes: &[u8]) -> Self;
}

impl Text for String {
    fn as_bytes(&self) -> &[u8] {
        self.as_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        // Not with replacement characters: they are longer than what they replace, and the text might
        // exceed its bound.
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        valid.into()
    }
}

impl Text for Vec<u8> {
    fn as_bytes(&self) -> &[u8] {
        self
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.into()
    }
}
