//! What a world needs to know of an archetype.

use alloc::vec::Vec;

use super::ConfigError;
use super::block::Row;
use crate::archetype::ArchetypeSchema;
use crate::block::slots_of;
use crate::coder::packed_bound;
use crate::schema::{self, Field, Kind, Scale};

/// Which two components of a position with three span the plane that the grid lies on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Plane {
    /// The first and the second.
    #[default]
    Xy,
    /// The first and the third: worlds in which the second points up.
    Xz,
}

/// What a world needs to know of an archetype.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) fields: Vec<Field>,
    pub(super) lanes: usize,
    /// Fields that hold bytes.
    pub(super) texts: usize,
    /// Slots of a block.
    pub(super) slots: usize,
    position: Option<Position>,
}

/// How an archetype's position is found in its lanes.
#[derive(Clone, Copy, Debug)]
struct Position {
    lanes: [usize; 2],
    is_signed: bool,
    scale: Scale,
}

impl Shape {
    pub(super) fn new(archetype: &ArchetypeSchema, plane: Plane) -> Result<Self, ConfigError> {
        let fields = &archetype.fields;
        let slots = slots_of(fields);
        if slots == 0 {
            return Err(ConfigError::TooLarge {
                archetype: archetype.name,
                bytes: packed_bound(fields, 1),
            });
        }
        Ok(Self {
            name: archetype.name,
            fields: fields.clone(),
            lanes: schema::lanes(fields),
            texts: schema::bytes_fields(fields).count(),
            slots,
            position: Position::find(fields, plane),
        })
    }

    /// Where on the plane an entity is, if its archetype has a position.
    #[inline]
    pub(super) fn position(&self, row: &Row) -> Option<[f64; 2]> {
        self.position_of(|lane| row.lanes.get(lane).copied())
    }

    /// The same, of an entity whose lanes `lane` gives.
    #[inline]
    pub(super) fn position_of(&self, lane: impl Fn(usize) -> Option<u32>) -> Option<[f64; 2]> {
        let position = self.position.as_ref()?;
        let mut point = [0.0; 2];
        for (value, at) in point.iter_mut().zip(position.lanes) {
            let lane = lane(at)?;
            let number = if position.is_signed {
                f64::from(lane.cast_signed())
            } else {
                f64::from(lane)
            };
            *value = position.scale.offset() + number * position.scale.step();
        }
        Some(point)
    }
}

impl Position {
    fn find(fields: &[Field], plane: Plane) -> Option<Self> {
        let at = fields.iter().position(|field| field.is_position)?;
        let field = fields.get(at)?;
        let first = schema::lanes(fields.get(..at)?);
        let second = match (field.components, plane) {
            (3, Plane::Xz) => 2,
            _ => 1,
        };
        Some(Self {
            lanes: [first, first + second],
            is_signed: matches!(field.kind, Kind::Signed { .. }),
            scale: field.scale,
        })
    }
}
