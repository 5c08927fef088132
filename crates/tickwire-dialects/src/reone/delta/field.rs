//! What a structure's fields can be: numbers, several of them as one, strings and containers.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt::{self, Debug};

use tickwire_state::Vec3;
use tickwire_wire::{self as wire, DecodeError, LittleEndian};

use crate::reone::limits::CONTAINER_MAX;
use crate::reone::{BadText, Reader, Text, Writer};

/// What a field of a structure can hold.
pub trait Field: for<'a> wire::Field<'a, LittleEndian> + Clone + Default + Debug {
    /// Whether the two are the same on the wire: numbers by their bits, so that a NaN is itself and 0
    /// is not -0.
    fn is_same(&self, other: &Self) -> bool;
}

macro_rules! numbers {
    ($($number:ident)+) => {$(
        impl Field for $number {
            #[inline]
            fn is_same(&self, other: &Self) -> bool {
                self.to_le_bytes() == other.to_le_bytes()
            }
        }
    )+};
}

numbers!(u8 u16 u32 u64 i8 i16 i32 f32 f64);

macro_rules! tuples {
    ($(($($part:ident $place:tt)+))+) => {$(
        impl<$($part: Field),+> Field for ($($part,)+) {
            #[inline]
            fn is_same(&self, other: &Self) -> bool {
                true $(&& self.$place.is_same(&other.$place))+
            }
        }
    )+};
}

tuples!((A 0 B 1) (A 0 B 1 C 2) (A 0 B 1 C 2 D 3));

/// Three numbers that are one field.
impl Field for Vec3 {
    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        (self.x, self.y, self.z).is_same(&(other.x, other.y, other.z))
    }
}

/// A string that is a field: a [`Text`] of its own.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Words(Box<str>);

impl Words {
    /// Takes a string if it can be sent.
    pub fn new(text: &str) -> Result<Self, BadText> {
        Text::new(text).map(Self::from)
    }

    /// The string.
    pub const fn as_str(&self) -> &str {
        &self.0
    }

    /// The string, to be sent.
    pub fn as_text(&self) -> Text<'_> {
        // It was found to be good when it was taken.
        Text::new(&self.0).unwrap_or_default()
    }
}

impl From<Text<'_>> for Words {
    fn from(text: Text<'_>) -> Self {
        Self(text.as_str().into())
    }
}

/// Maps by name are asked by any string.
impl Borrow<str> for Words {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Field for Words {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl wire::Field<'_, LittleEndian> for Words {
    fn read(r: &mut Reader<'_>, name: &'static str) -> Result<Self, DecodeError> {
        Text::decode(r, name).map(Self::from)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.bytes(self.0.as_bytes());
        w.u8(0);
    }
}

/// At most 255 of the same, as one field: a size, then the elements.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Container<T>(Vec<T>);

/// A container cannot have more than 255 elements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooMany;

impl<T> Container<T> {
    /// Takes the elements, unless there are too many.
    pub fn new(elements: Vec<T>) -> Result<Self, TooMany> {
        if elements.len() > CONTAINER_MAX {
            return Err(TooMany);
        }
        Ok(Self(elements))
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

impl<T: Field> Field for Container<T> {
    fn is_same(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.is_same(b))
    }
}

impl<T: Field> wire::Field<'_, LittleEndian> for Container<T> {
    fn read(r: &mut Reader<'_>, name: &'static str) -> Result<Self, DecodeError> {
        let size = r.u8("size")?;
        // Grows with what is there: a size alone allocates nothing.
        let mut elements = Vec::new();
        for _ in 0..size {
            elements.push(T::read(r, name)?);
        }
        Ok(Self(elements))
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.u8(u8::try_from(self.0.len()).unwrap_or(u8::MAX));
        for element in &self.0 {
            element.write(w);
        }
    }
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a container must have at most {CONTAINER_MAX} elements")
    }
}

impl core::error::Error for TooMany {}
