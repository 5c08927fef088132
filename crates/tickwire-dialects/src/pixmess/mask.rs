//! Leaving out fields that say what they said before.
//!
//! Packets of types below $40 have *masked* fields. Each side keeps, for each direction and type, the
//! last value of every masked field and one mask. A packet comes in one of three [`Form`]s, which
//! say what mask it is under; a field whose bit is set in that mask is left out and means its last
//! value.
//!
//! [`Masks`] is one direction's memory. Reading follows whatever forms the peer chose; how to choose
//! is [`Plan`]'s, and both sides' memories stay equal because every packet passes through both, in
//! order and complete. So nothing may be dropped once it is written: what waits, waits as a message.

mod plan;

use tickwire_wire::DecodeError;

use super::{Reader, Writer};

pub use plan::Plan;

/// Masked fields of the type that has most.
pub const FIELDS_MAX: usize = 5;

/// The bits of each masked field, in the order of the wire.
pub type Values = [u32; FIELDS_MAX];

/// What each masked field shall say; `None`: the receiver does not care.
pub type Wanted = [Option<u32>; FIELDS_MAX];

/// The types whose fields are masked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the variants are types of the protocol")]
pub enum MaskedType {
    BlockSetSolid,
    BlockSetWalkable,
    /// As the server sends it.
    EntityMovement,
    /// As the client sends it, who moves nobody but itself.
    OwnMovement,
    EntityCreation,
}

/// A field that may be left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The bit of the mask that leaves it out.
    pub bit: u8,
    /// What it is on the wire.
    pub number: Number,
}

/// How a field is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Number {
    U8,
    I8,
    U16,
    I16,
    I32,
}

const fn field(name: &'static str, bit: u8, number: Number) -> Field {
    Field { name, bit, number }
}

const BLOCK: [Field; 5] = [
    field("x", 0, Number::U16),
    field("y", 1, Number::U16),
    field("typ", 2, Number::I8),
    field("col", 3, Number::I8),
    field("ch", 4, Number::I8),
];

const MOVEMENT: [Field; 2] = [field("id", 1, Number::U16), field("dir", 0, Number::U8)];

const OWN_MOVEMENT: [Field; 1] = [field("dir", 0, Number::U8)];

const CREATION: [Field; 4] = [
    field("x", 1, Number::I32),
    field("y", 2, Number::I32),
    field("col", 3, Number::I16),
    field("ch", 4, Number::I16),
];

impl MaskedType {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::BlockSetSolid,
        Self::BlockSetWalkable,
        Self::EntityMovement,
        Self::OwnMovement,
        Self::EntityCreation,
    ];

    /// Its masked fields, in the order of the wire.
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::BlockSetSolid | Self::BlockSetWalkable => &BLOCK,
            Self::EntityMovement => &MOVEMENT,
            Self::OwnMovement => &OWN_MOVEMENT,
            Self::EntityCreation => &CREATION,
        }
    }
}

impl Field {
    /// The bytes it takes when it is sent.
    pub const fn size(self) -> usize {
        match self.number {
            Number::U8 | Number::I8 => 1,
            Number::U16 | Number::I16 => 2,
            Number::I32 => 4,
        }
    }

    const fn is_in(self, mask: u8) -> bool {
        mask >> self.bit & 1 == 1
    }

    fn read(self, r: &mut Reader<'_>) -> Result<u32, DecodeError> {
        Ok(match self.number {
            Number::U8 => r.u8(self.name)?.into(),
            Number::I8 => r.i8(self.name)?.cast_unsigned().into(),
            Number::U16 => r.u16(self.name)?.into(),
            Number::I16 => r.i16(self.name)?.cast_unsigned().into(),
            Number::I32 => r.i32(self.name)?.cast_unsigned(),
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value came from a field of this width"
    )]
    fn write(self, w: &mut Writer<'_>, value: u32) {
        match self.number {
            Number::U8 | Number::I8 => w.u8(value as u8),
            Number::U16 | Number::I16 => w.u16(value as u16),
            Number::I32 => w.u32(value),
        }
    }
}

/// What mask a packet is under, and so how its type byte begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// `%0ttttttt`: nothing is left out. The stored mask stays as it is.
    Plain,
    /// `%10tttttt`: the stored mask.
    Stored,
    /// `%11tttttt mmmmmmmm`: this mask, which is stored.
    Defined(u8),
}

/// The beginning of every packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Head {
    /// The packet's type.
    pub(super) kind: u8,
    pub(super) form: Form,
}

impl Head {
    /// Reads type and mask; `name_of` knows the types that may come.
    pub(super) fn decode(
        r: &mut Reader<'_>,
        name_of: fn(u8) -> Option<&'static str>,
    ) -> Result<Self, DecodeError> {
        let byte = r.u8("type")?;
        let masked = byte & 0x80 != 0;
        let kind = if masked { byte & 0x3f } else { byte };
        let Some(name) = name_of(kind) else {
            return Err(r.refuse("type", kind.into()));
        };
        r.means(name);
        let form = match (masked, byte & 0x40 != 0) {
            (false, _) => Form::Plain,
            (true, false) => Form::Stored,
            (true, true) => Form::Defined(r.u8("mask")?),
        };
        Ok(Self { kind, form })
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        match self.form {
            Form::Plain => w.u8(self.kind),
            Form::Stored => w.u8(0x80 | self.kind),
            Form::Defined(mask) => {
                w.u8(0xc0 | self.kind);
                w.u8(mask);
            }
        }
    }
}

/// One direction's memory. Everything in it begins as zero.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Masks {
    solid: Kept,
    walkable: Kept,
    movement: Kept,
    creation: Kept,
}

impl Masks {
    /// What is kept for a type.
    pub const fn kept(&self, of: MaskedType) -> &Kept {
        match of {
            MaskedType::BlockSetSolid => &self.solid,
            MaskedType::BlockSetWalkable => &self.walkable,
            MaskedType::EntityMovement | MaskedType::OwnMovement => &self.movement,
            MaskedType::EntityCreation => &self.creation,
        }
    }

    pub(super) const fn set(&mut self, of: MaskedType, kept: Kept) {
        *match of {
            MaskedType::BlockSetSolid => &mut self.solid,
            MaskedType::BlockSetWalkable => &mut self.walkable,
            MaskedType::EntityMovement | MaskedType::OwnMovement => &mut self.movement,
            MaskedType::EntityCreation => &mut self.creation,
        } = kept;
    }
}

/// What is kept for one type.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Kept {
    mask: u8,
    old: Values,
    /// Places of the fields that the last packet written left as they were: the encoder's only clue
    /// to what comes after the packets it can see.
    repeated: u8,
}

impl Kept {
    /// The stored mask.
    pub const fn mask(&self) -> u8 {
        self.mask
    }

    /// The last value of each field.
    pub const fn old(&self) -> &Values {
        &self.old
    }

    /// Reads the masked fields of a packet of this form.
    pub(super) fn read(
        &mut self,
        r: &mut Reader<'_>,
        of: MaskedType,
        form: Form,
    ) -> Result<Values, DecodeError> {
        let mask = self.begin(form);
        for (field, old) in of.fields().iter().zip(&mut self.old) {
            if !field.is_in(mask) {
                *old = field.read(r)?;
            } else if r.is_traced() {
                r.bytes(field.name, 0)?;
                r.means("as before");
            }
        }
        Ok(self.old)
    }

    /// Writes the masked fields of a packet of this form.
    pub(super) fn write(
        &mut self,
        w: &mut Writer<'_>,
        of: MaskedType,
        form: Form,
        values: &Values,
    ) {
        self.repeated = plan::equal(of.fields(), &self.old, values);
        let mask = self.begin(form);
        for ((field, old), &value) in of.fields().iter().zip(&mut self.old).zip(values) {
            if !field.is_in(mask) {
                field.write(w, value);
                *old = value;
            }
        }
    }

    /// The values that a packet of this form has to have in order to say what is wanted, if it can.
    pub(super) fn values_under(
        &self,
        of: MaskedType,
        form: Form,
        wanted: &Wanted,
    ) -> Option<Values> {
        let mask = self.mask_under(form);
        let mut values = self.old;
        for ((field, value), wanted) in of.fields().iter().zip(&mut values).zip(wanted) {
            match *wanted {
                Some(wanted) if field.is_in(mask) && wanted != *value => return None,
                Some(wanted) => *value = wanted,
                None => {}
            }
        }
        Some(values)
    }

    /// The mask that a packet of this form is under.
    const fn mask_under(&self, form: Form) -> u8 {
        match form {
            Form::Plain => 0,
            Form::Stored => self.mask,
            Form::Defined(mask) => mask,
        }
    }

    /// The same, and stores what is to be stored.
    const fn begin(&mut self, form: Form) -> u8 {
        let mask = self.mask_under(form);
        if let Form::Defined(mask) = form {
            self.mask = mask;
        }
        mask
    }
}
