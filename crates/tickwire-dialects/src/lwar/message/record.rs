//! The lists of entity states and scores, one fixed-size record each.
//!
//! A list is checked as a whole when its message is decoded and then read in place, record by record,
//! so that a packet full of updates costs no allocation.

use core::marker::PhantomData;

use tickwire_wire::{BigEndian, DecodeError, Field};

use crate::lwar::{EntityId, Id, PlayerId, Reader, Writer};

/// What kind of thing an entity or a weapon is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Kind(pub u8);

#[expect(missing_docs, reason = "the names say it")]
impl Kind {
    pub const NONE: Self = Self(0);
    pub const BULLET: Self = Self(1);
    pub const SHIP: Self = Self(2);
    pub const PLANET: Self = Self(3);
    pub const ROCKET: Self = Self(4);
    pub const GUN: Self = Self(5);
    pub const PHASER: Self = Self(6);
    pub const SUN: Self = Self(7);
    pub const RAY: Self = Self(8);
    pub const SHOCKWAVE: Self = Self(9);
}

impl Kind {
    /// The kind's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NONE => "none",
            Self::BULLET => "bullet",
            Self::SHIP => "ship",
            Self::PLANET => "planet",
            Self::ROCKET => "rocket",
            Self::GUN => "gun",
            Self::PHASER => "phaser",
            Self::SUN => "sun",
            Self::RAY => "ray",
            Self::SHOCKWAVE => "shockwave",
            _ => "unknown",
        }
    }

    /// Whether a weapon slot may hold it.
    pub const fn is_weapon(self) -> bool {
        matches!(
            self,
            Self::NONE | Self::ROCKET | Self::GUN | Self::PHASER | Self::SHOCKWAVE
        )
    }
}

/// One element of a list message.
pub trait Record: Copy {
    /// Bytes on the wire.
    const SIZE: usize;
    /// What a trace calls it.
    const NAME: &'static str;

    #[doc(hidden)]
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError>;
    #[doc(hidden)]
    fn encode(&self, w: &mut Writer<'_>);
}

/// A list of records, still in wire form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Records<'a, T> {
    bytes: &'a [u8],
    record: PhantomData<T>,
}

impl<'a, T: Record> Records<'a, T> {
    /// Records from their wire form.
    ///
    /// # Panics
    /// If `bytes` is not a whole number of records, at most 255.
    pub fn new(bytes: &'a [u8]) -> Self {
        assert!(bytes.len().is_multiple_of(T::SIZE) && bytes.len() / T::SIZE <= 255);
        Self {
            bytes,
            record: PhantomData,
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The records in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + 'a {
        // A chunk is exactly one record, so every field is there and no record is left out.
        self.bytes
            .chunks_exact(T::SIZE)
            .filter_map(|chunk| T::decode(&mut Reader::new(chunk)).ok())
    }

    #[cold]
    fn decode_traced(r: &mut Reader<'a>, count: u8) -> Result<Self, DecodeError> {
        let bytes = r.peek(usize::from(count) * T::SIZE);
        for _ in 0..count {
            r.group(T::NAME, T::decode)?;
        }
        Ok(Self {
            bytes,
            record: PhantomData,
        })
    }
}

impl<'a, T: Record> Field<'a, BigEndian> for Records<'a, T> {
    fn read(r: &mut Reader<'a>, _field: &'static str) -> Result<Self, DecodeError> {
        let count = r.u8("num")?;
        if r.is_traced() {
            return Self::decode_traced(r, count);
        }
        let bytes = r.records(T::NAME, count, T::SIZE)?;
        Ok(Self {
            bytes,
            record: PhantomData,
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "`new` and `read` allow at most 255"
    )]
    fn write(&self, w: &mut Writer<'_>) {
        w.u8(self.len() as u8);
        w.bytes(self.bytes);
    }
}

/// Writes `records` in wire form.
pub(crate) fn encode_all<T: Record>(
    records: impl Iterator<Item = T>,
    out: &mut alloc::vec::Vec<u8>,
) {
    let mut w = Writer::new(out, usize::MAX);
    records.for_each(|record| record.encode(&mut w));
}

/// Declares a record by its fields in the order of the wire: an id, then numbers.
///
/// Size, reading and writing follow from that one list. A number's type is also the name of what reads
/// and writes it; its field's name, and the name behind `called`, are what a trace shows.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $record:ident called $name:literal {
            $(#[$id_meta:meta])*
            pub $id:ident: $id_type:ident,
            $(
                $(#[$field_meta:meta])*
                pub $field:ident: $number:ident,
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        pub struct $record {
            $(#[$id_meta])*
            pub $id: $id_type,
            $(
                $(#[$field_meta])*
                pub $field: $number,
            )+
        }

        impl Record for $record {
            const SIZE: usize = Id::SIZE $(+ size_of::<$number>())+;
            const NAME: &'static str = $name;

            #[inline]
            fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self {
                    $id: Field::read(r, "id")?,
                    $($field: r.$number(stringify!($field))?,)+
                })
            }

            #[inline]
            fn encode(&self, w: &mut Writer<'_>) {
                RecordBytes::<{ Self::SIZE }>::new()
                    .id(self.$id.0)
                    $(.$number(self.$field))+
                    .append_to(w);
            }
        }
    };
}

record! {
    /// A player's line of the scoreboard.
    pub struct PlayerScore called "score" {
        /// Whose.
        pub player: PlayerId,
        /// Others destroyed.
        pub kills: u16,
        /// Times destroyed.
        pub deaths: u16,
        /// Smoothed round trip in milliseconds.
        pub ping: u16,
    }
}

record! {
    /// The whole state of a solid thing.
    pub struct Body called "body" {
        /// Whose state.
        pub entity: EntityId,
        /// Position.
        pub x: i16,
        /// Position.
        pub y: i16,
        /// Whole degrees, 0 along +x, 90 along +y.
        pub orientation: u16,
        /// Percent.
        pub health: u8,
    }
}

record! {
    /// The position of a thing that does nothing but move.
    pub struct Place called "place" {
        /// Whose position.
        pub entity: EntityId,
        /// Position.
        pub x: i16,
        /// Position.
        pub y: i16,
    }
}

record! {
    /// A beam.
    pub struct Ray called "ray" {
        /// Which one.
        pub entity: EntityId,
        /// Where it begins.
        pub x: i16,
        /// Where it begins.
        pub y: i16,
        /// Its direction in whole degrees.
        pub orientation: u16,
        /// How far it reaches.
        pub length: u16,
    }
}

record! {
    /// A ring that grows.
    pub struct Circle called "circle" {
        /// Which one.
        pub entity: EntityId,
        /// Its centre.
        pub x: i16,
        /// Its centre.
        pub y: i16,
        /// Its radius.
        pub radius: u16,
    }
}

/// The bytes of a record in the making.
///
/// They are put together here and appended at once, because a writer looks for room every time.
struct RecordBytes<const SIZE: usize> {
    bytes: [u8; SIZE],
    at: usize,
}

impl<const SIZE: usize> RecordBytes<SIZE> {
    #[inline]
    const fn new() -> Self {
        Self {
            bytes: [0; SIZE],
            at: 0,
        }
    }

    #[inline]
    fn id(self, id: Id) -> Self {
        self.u16(id.generation).u16(id.index)
    }

    #[inline]
    fn i16(self, value: i16) -> Self {
        self.field(value.to_be_bytes())
    }

    #[inline]
    fn u16(self, value: u16) -> Self {
        self.field(value.to_be_bytes())
    }

    #[inline]
    fn u8(self, value: u8) -> Self {
        self.field([value])
    }

    #[inline]
    fn field<const N: usize>(mut self, field: [u8; N]) -> Self {
        let rest = self.bytes.get_mut(self.at..).unwrap_or_default();
        match rest.first_chunk_mut() {
            Some(place) => *place = field,
            None => debug_assert!(false, "a record is as long as its fields"),
        }
        self.at += N;
        self
    }

    #[inline]
    fn append_to(self, w: &mut Writer<'_>) {
        debug_assert_eq!(self.at, SIZE, "a record has all of its fields");
        w.bytes(&self.bytes);
    }
}
