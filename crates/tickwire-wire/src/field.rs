//! Messages by their list of fields: reading and writing follow from it, so that the two cannot differ.
//!
//! [`Field`] is what can stand in a message. [`fields!`](crate::fields) makes a struct of fields one,
//! [`messages!`](crate::messages) makes [`Messages`] of an enum. Every field has the name that
//! errors and traces show. What a message may not say beyond its fields is the protocol's to refuse.

use core::num::NonZeroU16;

use crate::{DecodeError, Endian, Reader, Writer};

/// What a message can consist of, in byte order `E`.
pub trait Field<'a, E>: Sized {
    /// Reads it.
    fn read(r: &mut Reader<'a, E>, field: &'static str) -> Result<Self, DecodeError>;

    /// Reads it in a message that ends at `end`, which is where a field without a length of its own ends.
    #[inline]
    fn read_to(
        r: &mut Reader<'a, E>,
        field: &'static str,
        _end: usize,
    ) -> Result<Self, DecodeError> {
        Self::read(r, field)
    }

    /// Writes it.
    fn write(&self, w: &mut Writer<'_, E>);
}

/// A set of messages that are told apart by a number: what [`messages!`](crate::messages) makes of an enum.
pub trait Messages<'a, E>: Sized {
    /// Its number on the wire.
    fn number(&self) -> u8;

    /// What the message of a number is called; `None` if there is none.
    fn name_of(number: u8) -> Option<&'static str>;

    /// Reads the fields of the message of this number, which ends at `end`; `None` if there is none.
    fn read_fields(
        number: u8,
        r: &mut Reader<'a, E>,
        end: usize,
    ) -> Result<Option<Self>, DecodeError>;

    /// Writes the fields.
    fn write_fields(&self, w: &mut Writer<'_, E>);
}

macro_rules! numbers {
    ($($number:ident)+) => {$(
        impl<E: Endian> Field<'_, E> for $number {
            #[inline]
            fn read(r: &mut Reader<'_, E>, field: &'static str) -> Result<Self, DecodeError> {
                r.$number(field)
            }

            #[inline]
            fn write(&self, w: &mut Writer<'_, E>) {
                w.$number(*self);
            }
        }
    )+};
}

numbers!(u8 u16 u32 u64 i8 i16 i32 f32 f64);

/// Zero is refused.
impl<E: Endian> Field<'_, E> for NonZeroU16 {
    fn read(r: &mut Reader<'_, E>, field: &'static str) -> Result<Self, DecodeError> {
        let number = r.u16(field)?;
        Self::new(number).ok_or_else(|| r.refuse(field, 0))
    }

    fn write(&self, w: &mut Writer<'_, E>) {
        w.u16(self.get());
    }
}

macro_rules! tuples {
    ($(($($part:ident $place:tt)+))+) => {$(
        impl<'a, E, $($part: Field<'a, E>),+> Field<'a, E> for ($($part,)+) {
            #[inline]
            fn read(r: &mut Reader<'a, E>, field: &'static str) -> Result<Self, DecodeError> {
                Ok(($($part::read(r, field)?,)+))
            }

            #[inline]
            fn write(&self, w: &mut Writer<'_, E>) {
                $(self.$place.write(w);)+
            }
        }
    )+};
}

tuples!((A 0 B 1) (A 0 B 1 C 2) (A 0 B 1 C 2 D 3));

/// All bytes up to the end of the message.
impl<'a, E: Endian> Field<'a, E> for &'a [u8] {
    fn read(r: &mut Reader<'a, E>, field: &'static str) -> Result<Self, DecodeError> {
        r.bytes(field, r.remaining())
    }

    fn read_to(
        r: &mut Reader<'a, E>,
        field: &'static str,
        end: usize,
    ) -> Result<Self, DecodeError> {
        r.bytes(field, end.saturating_sub(r.position()))
    }

    fn write(&self, w: &mut Writer<'_, E>) {
        w.bytes(self);
    }
}

/// Makes tuple structs of one number each a [`Field`]: `number_fields!(PlayerId(u16), Token(u64));`.
#[macro_export]
macro_rules! number_fields {
    ($($name:ident($number:ident)),+ $(,)?) => {$(
        impl<E: $crate::Endian> $crate::Field<'_, E> for $name {
            #[inline]
            fn read(
                r: &mut $crate::Reader<'_, E>,
                field: &'static str,
            ) -> ::core::result::Result<Self, $crate::DecodeError> {
                r.$number(field).map(Self)
            }

            #[inline]
            fn write(&self, w: &mut $crate::Writer<'_, E>) {
                w.$number(self.0);
            }
        }
    )+};
}

/// Makes a struct a [`Field`] of the fields that are listed, which must be all of them, in the order of the
/// wire.
///
/// ```
/// use tickwire_wire::{BigEndian, Field as _, Reader, Writer, fields};
///
/// #[derive(Debug, PartialEq)]
/// struct Step {
///     player: u16,
///     direction: u8,
/// }
/// fields!(Step in BigEndian { player: "player id", direction: "direction" });
///
/// let step = Step { player: 7, direction: 3 };
/// let mut out = Vec::new();
/// step.write(&mut Writer::<BigEndian>::new(&mut out, 64));
/// assert_eq!(out, [0, 7, 3]);
/// assert_eq!(Step::read(&mut Reader::<BigEndian>::new(&out), "step"), Ok(step));
/// ```
#[macro_export]
macro_rules! fields {
    ($name:ident $(<$life:lifetime>)? in $order:ty { $($field:ident: $label:literal),+ $(,)? }) => {
        impl<'a> $crate::Field<'a, $order> for $name $(<$life>)? {
            #[inline]
            fn read(
                r: &mut $crate::Reader<'a, $order>,
                _field: &'static str,
            ) -> ::core::result::Result<Self, $crate::DecodeError> {
                $(let $field = $crate::Field::read(r, $label)?;)+
                ::core::result::Result::Ok(Self { $($field),+ })
            }

            #[inline]
            fn write(&self, w: &mut $crate::Writer<'_, $order>) {
                // Taking the struct apart fails to compile if a field was forgotten.
                let Self { $($field),+ } = self;
                $($crate::Field::write($field, w);)+
            }
        }
    };
}

/// Reads and writes an enum by the number of each variant and the names of its fields, in the order of the
/// wire: `messages!(Say in BigEndian { 1 Chat { player: "player id", text: "text" }, 2 Ping, });`.
///
/// A tuple variant gives its fields names for this list alone. A field whose type does not say how it is read
/// and written names a type or module that does, behind `by`: `text: "text" by ShortText`, with `read(r, label)`
/// and `write(&value, w)`. The enum has one lifetime, that of the bytes.
#[macro_export]
macro_rules! messages {
    ($name:ident in $order:ty {
        $(
            $number:literal $variant:ident
            $(($($bound:ident: $bound_label:literal),+))?
            $({ $($field:ident: $label:literal $(by $codec:ident)?),+ $(,)? })?
        ),+ $(,)?
    }) => {
        impl<'a> $crate::Messages<'a, $order> for $name<'a> {
            #[inline]
            fn number(&self) -> u8 {
                match self {
                    $(Self::$variant { .. } => $number,)+
                }
            }

            fn name_of(number: u8) -> ::core::option::Option<&'static str> {
                match number {
                    $($number => ::core::option::Option::Some(::core::stringify!($variant)),)+
                    _ => ::core::option::Option::None,
                }
            }

            #[inline]
            fn read_fields(
                number: u8,
                r: &mut $crate::Reader<'a, $order>,
                end: usize,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::DecodeError> {
                ::core::result::Result::Ok(::core::option::Option::Some(match number {
                    $($number => {
                        $($(let $bound = $crate::Field::read_to(r, $bound_label, end)?;)+)?
                        $($(let $field = $crate::read_field!(r, $label, end $(, $codec)?)?;)+)?
                        Self::$variant $(($($bound),+))? $({ $($field),+ })?
                    })+
                    _ => return ::core::result::Result::Ok(::core::option::Option::None),
                }))
            }

            #[inline]
            fn write_fields(&self, w: &mut $crate::Writer<'_, $order>) {
                match self {
                    $(Self::$variant $(($($bound),+))? $({ $($field),+ })? => {
                        $($($crate::Field::write($bound, w);)+)?
                        $($($crate::write_field!($field, w $(, $codec)?);)+)?
                    })+
                }
            }
        }
    };
}

/// Reads a field of [`messages!`](crate::messages).
#[doc(hidden)]
#[macro_export]
macro_rules! read_field {
    ($r:ident, $label:literal, $end:ident) => {
        $crate::Field::read_to($r, $label, $end)
    };
    ($r:ident, $label:literal, $end:ident, $codec:ident) => {
        $codec::read($r, $label)
    };
}

/// Writes a field of [`messages!`](crate::messages).
#[doc(hidden)]
#[macro_export]
macro_rules! write_field {
    ($field:ident, $w:ident) => {
        $crate::Field::write($field, $w)
    };
    ($field:ident, $w:ident, $codec:ident) => {
        $codec::write($field, $w)
    };
}

/// Declares an enum that is one number on the wire, with the word that a trace shows for each if it has one,
/// and makes it a [`Field`]: `coded_enum! { pub enum Role: u8 { 0 Spectator "spectator", 1 Player "player", } }`.
#[macro_export]
macro_rules! coded_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $number:ident {
            $($(#[$variant_meta:meta])* $code:literal $variant:ident $($word:literal)?,)+
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Its number on the wire.
            $vis const fn number(self) -> $number {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// The one of this number.
            $vis const fn of(number: $number) -> ::core::option::Option<Self> {
                match number {
                    $($code => ::core::option::Option::Some(Self::$variant),)+
                    _ => ::core::option::Option::None,
                }
            }

            /// Its word; empty if it has none.
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => ::core::concat!("" $(, $word)?),)+
                }
            }
        }

        impl<E: $crate::Endian> $crate::Field<'_, E> for $name {
            fn read(
                r: &mut $crate::Reader<'_, E>,
                field: &'static str,
            ) -> ::core::result::Result<Self, $crate::DecodeError> {
                let number = r.$number(field)?;
                let ::core::option::Option::Some(it) = Self::of(number) else {
                    return ::core::result::Result::Err(r.refuse(field, number.into()));
                };
                r.means(it.word());
                ::core::result::Result::Ok(it)
            }

            fn write(&self, w: &mut $crate::Writer<'_, E>) {
                w.$number(self.number());
            }
        }
    };
}
