//! The difference of two structures: a mask that says which fields changed, then those fields.
//!
//! A [`Structure`] is a table of [`Field`]s, made from a plain struct by [`structure!`]; comparing,
//! writing, reading and applying all follow from that one list, and its order is the order on the wire.
//! Bit `i` of the mask is field `i`. The mask has 16 or 32 bits; a structure that does not fit its
//! mask does not compile. Whether an empty difference makes sense is the message's to say.
//!
//! [`structure!`]: crate::reone::structure

mod field;

use core::fmt::Debug;

#[doc(hidden)]
pub use tickwire_wire::Field as WireField;
pub use tickwire_wire::{DecodeError, LittleEndian};

use super::{Reader, Writer};

pub use field::{Container, Field, TooMany, Words};

/// A struct whose fields travel one by one.
pub trait Structure: Clone + Default + Debug {
    /// The names of the fields, in the order of the wire.
    const FIELDS: &'static [&'static str];

    /// Which fields are not the same in `base`: bit `i` is field `i`.
    fn changed_since(&self, base: &Self) -> u32;
    /// Copies the fields of `mask`.
    fn copy_fields(&mut self, mask: u32, from: &Self);
    /// Reads the fields of `mask`. After an error, some are read.
    fn read_fields(&mut self, mask: u32, r: &mut Reader<'_>) -> Result<(), DecodeError>;
    /// Writes the fields of `mask`.
    fn write_fields(&self, mask: u32, w: &mut Writer<'_>);

    /// Reads every field.
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut all = Self::default();
        all.read_fields(u32::MAX, r)?;
        Ok(all)
    }

    /// Writes every field.
    fn encode(&self, w: &mut Writer<'_>) {
        self.write_fields(u32::MAX, w);
    }
}

/// The mask's type: `u16` or `u32`.
pub trait Mask: Copy + Eq + Debug + Into<u32> {
    /// How many fields it reaches.
    const FIELDS: usize;
    /// The low bits of `mask`.
    fn of(mask: u32) -> Self;
    /// Reads it.
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError>;
    /// Writes it.
    fn write(self, w: &mut Writer<'_>);
}

/// The fields of an `S` that are not as they were.
#[derive(Clone, Copy, Debug)]
pub struct Delta<S, M = u16> {
    mask: M,
    /// Fields outside the mask have their default.
    fields: S,
}

impl<S: Structure, M: Mask> Delta<S, M> {
    const ALL: u32 = {
        assert!(
            S::FIELDS.len() <= M::FIELDS,
            "the mask has a bit for every field"
        );
        // A shift by the whole width would overflow.
        match 32 - S::FIELDS.len() {
            32 => 0,
            unused => u32::MAX >> unused,
        }
    };

    /// What has to be said to whoever has `base`.
    #[inline]
    pub fn between(base: &S, now: &S) -> Self {
        Self::of(now.changed_since(base), now)
    }

    /// The fields of `mask`, whether they changed or not; bits beyond the fields do not count.
    #[inline]
    pub fn of(mask: u32, now: &S) -> Self {
        let mask = mask & Self::ALL;
        let mut fields = S::default();
        fields.copy_fields(mask, now);
        Self {
            mask: M::of(mask),
            fields,
        }
    }

    /// Which fields it has.
    #[inline]
    pub fn mask(&self) -> u32 {
        self.mask.into()
    }

    /// Whether nothing changed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.mask() == 0
    }

    /// Turns the state it was made against into the new one.
    #[inline]
    pub fn apply(&self, state: &mut S) {
        state.copy_fields(self.mask(), &self.fields);
    }

    /// Reads mask and fields.
    #[inline]
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mask = M::read(r)?;
        if mask.into() & !Self::ALL != 0 {
            return Err(r.refuse("mask", mask.into().into()));
        }
        let mut fields = S::default();
        fields.read_fields(mask.into(), r)?;
        Ok(Self { mask, fields })
    }

    /// Writes mask and fields.
    #[inline]
    pub fn encode(&self, w: &mut Writer<'_>) {
        self.mask.write(w);
        self.fields.write_fields(self.mask(), w);
    }
}

impl<S: Structure, M: Mask> PartialEq for Delta<S, M> {
    fn eq(&self, other: &Self) -> bool {
        self.mask == other.mask && self.fields.changed_since(&other.fields) == 0
    }
}

impl<S: Structure, M: Mask> Eq for Delta<S, M> {}

/// Makes a struct a [`Structure`] of the fields that are listed, which must be all of them.
///
/// ```
/// use tickwire_dialects::reone::delta::Delta;
/// use tickwire_dialects::reone::structure;
///
/// #[derive(Clone, Debug, Default)]
/// struct Door {
///     open: u8,
///     lock: u16,
/// }
/// structure!(Door { open: "open", lock: "lock" });
///
/// let (shut, locked) = (Door { open: 0, lock: 0 }, Door { open: 0, lock: 7 });
/// assert_eq!(Delta::<Door, u16>::between(&shut, &locked).mask(), 0b10);
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! reone_structure {
    ($type:ty { $($field:ident: $name:literal),+ $(,)? }) => {
        const _: () = {
            use $crate::reone::delta::{DecodeError, Field, LittleEndian, Structure, WireField};
            use $crate::reone::{Reader, Writer};

            #[expect(non_camel_case_types, reason = "named after the fields")]
            enum Bit {
                $($field),+
            }

            impl Structure for $type {
                const FIELDS: &'static [&'static str] = &[$($name),+];

                #[inline]
                fn changed_since(&self, base: &Self) -> u32 {
                    // Taking the struct apart fails to compile if a field was forgotten.
                    let Self { $($field),+ } = self;
                    0 $(| u32::from(!Field::is_same($field, &base.$field)) << Bit::$field as u32)+
                }

                #[inline]
                fn copy_fields(&mut self, mask: u32, from: &Self) {
                    $(if mask >> Bit::$field as u32 & 1 == 1 {
                        self.$field.clone_from(&from.$field);
                    })+
                }

                #[inline]
                fn read_fields(
                    &mut self,
                    mask: u32,
                    r: &mut Reader<'_>,
                ) -> Result<(), DecodeError> {
                    $(if mask >> Bit::$field as u32 & 1 == 1 {
                        self.$field = WireField::read(r, $name)?;
                    })+
                    Ok(())
                }

                #[inline]
                fn write_fields(&self, mask: u32, w: &mut Writer<'_>) {
                    $(if mask >> Bit::$field as u32 & 1 == 1 {
                        WireField::write(&self.$field, w);
                    })+
                }
            }

            impl WireField<'_, LittleEndian> for $type {
                #[inline]
                fn read(r: &mut Reader<'_>, _name: &'static str) -> Result<Self, DecodeError> {
                    Structure::decode(r)
                }

                #[inline]
                fn write(&self, w: &mut Writer<'_>) {
                    Structure::encode(self, w);
                }
            }
        };
    };
}

impl Mask for u16 {
    const FIELDS: usize = Self::BITS as usize;

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low bits are asked for"
    )]
    fn of(mask: u32) -> Self {
        mask as Self
    }

    #[inline]
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.u16("mask")
    }

    #[inline]
    fn write(self, w: &mut Writer<'_>) {
        w.u16(self);
    }
}

impl Mask for u32 {
    const FIELDS: usize = Self::BITS as usize;

    #[inline]
    fn of(mask: u32) -> Self {
        mask
    }

    #[inline]
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.u32("mask")
    }

    #[inline]
    fn write(self, w: &mut Writer<'_>) {
        w.u32(self);
    }
}
