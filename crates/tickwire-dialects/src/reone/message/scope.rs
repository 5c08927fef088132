//! What a snapshot says beside the states of objects: what is carried, variables, and velocities.

use core::num::NonZeroU16;

use tickwire_state::Vec2;
use tickwire_wire::{DecodeError, Field, LittleEndian, fields};

use crate::reone::delta::Field as _;
use crate::reone::scope::GLOBAL;
use crate::reone::text::bit;
use crate::reone::{ObjectId, Reader, Text, Writer};

/// A slot of an inventory is not as it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InventoryDiff<'a> {
    /// Whose; never 0, which is no creature.
    pub owner: ObjectId,
    /// Which slot.
    pub slot: u8,
    /// How many of which resource lie in it, whose name is not empty; `None`: nothing.
    pub item: Option<(NonZeroU16, Text<'a>)>,
}

/// A variable is not as it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct VariableDiff<'a> {
    /// 0: the game's own. Others are the creature's.
    pub scope: ObjectId,
    /// What it is called.
    pub name: Text<'a>,
    /// What it is from now on; 0: it is gone.
    pub value: i32,
}

/// How a creature moves, for whoever predicts it.
#[derive(Clone, Copy, Debug)]
pub struct Velocity {
    /// Which creature.
    pub id: ObjectId,
    /// Units a second.
    pub velocity: Vec2,
}

impl<'a> Field<'a, LittleEndian> for InventoryDiff<'a> {
    fn read(r: &mut Reader<'a>, _field: &'static str) -> Result<Self, DecodeError> {
        let owner = ObjectId(r.u32("owner")?);
        if owner == GLOBAL {
            return Err(r.refuse("owner", 0));
        }
        let slot = r.u8("slot")?;
        let at_bit = bit(r.position());
        let count = r.u16("count")?;
        let resref = Text::decode(r, "resref")?;
        // Nothing has one form: without a count and without a name.
        let item = match NonZeroU16::new(count) {
            Some(count) if resref != Text::EMPTY => Some((count, resref)),
            None if resref == Text::EMPTY => None,
            _ => {
                return Err(DecodeError::Forbidden {
                    field: "count",
                    at_bit,
                    value: count.into(),
                });
            }
        };
        Ok(Self { owner, slot, item })
    }

    fn write(&self, w: &mut Writer<'_>) {
        let (count, resref) = match self.item {
            Some((count, resref)) => (count.get(), resref),
            None => (0, Text::EMPTY),
        };
        w.u32(self.owner.0);
        w.u8(self.slot);
        w.u16(count);
        resref.encode(w);
    }
}

fields!(VariableDiff<'a> in LittleEndian { scope: "scope", name: "name", value: "value" });

impl Field<'_, LittleEndian> for Velocity {
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        let id = Field::read(r, "id")?;
        let (x, y) = (r.f32("x")?, r.f32("y")?);
        let velocity = Vec2 { x, y };
        Ok(Self { id, velocity })
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.u32(self.id.0);
        w.f32(self.velocity.x);
        w.f32(self.velocity.y);
    }
}

impl PartialEq for Velocity {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.velocity, other.velocity);
        self.id == other.id && a.x.is_same(&b.x) && a.y.is_same(&b.y)
    }
}

impl Eq for Velocity {}
