//! Rust values as lanes.
//!
//! [`Replicate`] is what the derive of the same name implements, for entities, inputs and messages
//! alike: which fields a type has, how a value is quantised into them, and how it is built from them
//! again. The types that need no attribute implement it here; the others are quantised by what their
//! attribute says, see [`quantise`](crate::quantise).

use core::fmt;

use crate::row::{RowReader, RowWriter};
use crate::{EntityId, Field, Kind};

/// A type whose values travel.
///
/// Quantising is idempotent: a value that was stored and loaded stores as the same lanes again. So
/// whoever steps rounded values on both sides gets the same result on both.
///
/// A type without a way to travel does not compile, and the error says what to write:
///
/// ```compile_fail,E0277
/// # use tickwire_replica::Replicate;
/// type Speed = f32;
///
/// #[derive(Clone, Replicate)]
/// struct Ship {
///     speed: Speed, // #[replicate(step = 0.01)] is missing
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not replicate as it is",
    label = "no attribute says how this travels",
    note = "a struct or enum of yours: write `#[derive(Clone, Replicate)]` on it",
    note = "a float: `#[replicate(step = 0.01)]`, `#[replicate(range = 0.0..=1.0, bits = 8)]` or `#[replicate(angle, bits = 10)]`",
    note = "a quaternion: `#[replicate(quaternion, bits = 10)]`",
    note = "a 64-bit integer: `#[replicate(bits = 20)]` or `#[replicate(range = 0..=1_000_000)]`",
    note = "a `String` or `Vec<u8>`: `#[replicate(max = 32)]`"
)]
pub trait Replicate: Clone {
    /// What it consists of, in the order in which it is stored.
    const FIELDS: &'static [Field];

    /// Quantises the value into `row`. The row is unspecified after an error.
    fn store(&self, row: &mut RowWriter<'_>) -> Result<(), FieldError>;

    /// Builds a value from `row`. Lanes beyond what [`FIELDS`](Self::FIELDS) allow, which a decoder
    /// lets nobody send, give some value.
    fn load(row: &mut RowReader<'_>) -> Self;

    /// The value `share` of the way from `self` to `next`, each field as its
    /// [`Playback`](crate::Playback) says; beyond `next` above 1. Unless implemented, all are held.
    #[must_use]
    fn between(&self, next: &Self, share: f32) -> Self {
        held(self, next, share)
    }
}

/// The value of the earlier send, until the later one is reached.
pub(crate) fn held<T: Clone>(from: &T, next: &T, share: f32) -> T {
    if share < 1.0 { from } else { next }.clone()
}

/// A value that its field does not take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldError {
    /// The path to the field.
    pub field: &'static str,
    /// What is wrong with the value.
    pub why: Unfit,
}

/// Why a field does not take a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unfit {
    /// It is not a number.
    NotANumber,
    /// It is beyond the field's range.
    OutOfRange {
        /// The value; of a large integer, the nearest float.
        value: f64,
        /// The smallest that fits.
        min: f64,
        /// The largest that fits.
        max: f64,
    },
    /// A rotation's length is too far from 1 to be a rounding error.
    NotAUnit {
        /// The square of its length.
        square: f64,
    },
    /// It has too many bytes.
    TooLong {
        /// How many it has.
        length: usize,
        /// How many it may have.
        max: u16,
    },
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.why)
    }
}

impl core::error::Error for FieldError {}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => write!(f, "is not a number"),
            Self::OutOfRange { value, min, max } => {
                write!(f, "is {value}, which is not within {min} to {max}")
            }
            Self::NotAUnit { square } => {
                write!(f, "is no unit quaternion: its length squared is {square}")
            }
            Self::TooLong { length, max } => {
                write!(f, "has {length} bytes, at most {max} are allowed")
            }
        }
    }
}

/// Nothing: for games without messages, or without inputs.
impl Replicate for () {
    const FIELDS: &'static [Field] = &[];

    fn store(&self, _row: &mut RowWriter<'_>) -> Result<(), FieldError> {
        Ok(())
    }

    fn load(_row: &mut RowReader<'_>) -> Self {}
}

impl Replicate for bool {
    const FIELDS: &'static [Field] = &[Field::new("", Kind::Flag)];

    fn store(&self, row: &mut RowWriter<'_>) -> Result<(), FieldError> {
        row.put(u32::from(*self));
        Ok(())
    }

    fn load(row: &mut RowReader<'_>) -> Self {
        row.take() != 0
    }
}

impl Replicate for EntityId {
    const FIELDS: &'static [Field] = &[Field::new("", Kind::Entity)];

    fn store(&self, row: &mut RowWriter<'_>) -> Result<(), FieldError> {
        row.put(self.0);
        Ok(())
    }

    fn load(row: &mut RowReader<'_>) -> Self {
        Self(row.take())
    }
}

macro_rules! whole_integers {
    ($($type:ty => $kind:expr, $lane:ty;)*) => {$(
        impl Replicate for $type {
            const FIELDS: &'static [Field] = &[Field::new("", $kind)];

            fn store(&self, row: &mut RowWriter<'_>) -> Result<(), FieldError> {
                let whole = <$lane>::from(*self);
                row.put(u32::from_ne_bytes(whole.to_ne_bytes()));
                Ok(())
            }

            fn load(row: &mut RowReader<'_>) -> Self {
                let whole = <$lane>::from_ne_bytes(row.take().to_ne_bytes());
                // What does not fit was never stored.
                Self::try_from(whole).unwrap_or(Self::MAX)
            }
        }
    )*};
}

whole_integers! {
    u8 => Kind::Unsigned { max: u8::MAX as u32 }, u32;
    u16 => Kind::Unsigned { max: u16::MAX as u32 }, u32;
    u32 => Kind::Unsigned { max: u32::MAX }, u32;
    i8 => Kind::Signed { min: i8::MIN as i32, max: i8::MAX as i32 }, i32;
    i16 => Kind::Signed { min: i16::MIN as i32, max: i16::MAX as i32 }, i32;
    i32 => Kind::Signed { min: i32::MIN, max: i32::MAX }, i32;
}

/// A vector: each component is a lane of the one field.
impl<T: Replicate, const N: usize> Replicate for [T; N] {
    const FIELDS: &'static [Field] = &[vector_of(T::FIELDS, N)];

    fn store(&self, row: &mut RowWriter<'_>) -> Result<(), FieldError> {
        self.iter().try_for_each(|component| component.store(row))
    }

    fn load(row: &mut RowReader<'_>) -> Self {
        core::array::from_fn(|_| T::load(row))
    }

    fn between(&self, next: &Self, share: f32) -> Self {
        held(self, next, share)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "asserted to fit")]
const fn vector_of(component: &[Field], count: usize) -> Field {
    let [field] = component else {
        panic!("an array holds single values; write an array of structs as one field each");
    };
    assert!(
        field.lanes() == 1,
        "an array holds single values; write an array of arrays or of texts as one field each"
    );
    assert!(0 < count && count <= 255, "an array has 1 to 255 elements");
    Field {
        components: count as u8,
        ..*field
    }
}
