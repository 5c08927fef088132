//! What a coded run knows before its first bit: where every model begins, and which column uses which.
//!
//! A prior belongs to a schema. Every column of it – the entities of an archetype, and each of their
//! lanes – has a set of 64 models. A prior has at most [`SETS`] sets, 8 KiB; columns beyond share one with
//! all others of their [`Column`] kind. [`Prior::general`] fits any schema roughly; one that is
//! fitted to recorded motion ([`Trainer`](crate::coder::Trainer)) fits it well. Both sides must
//! hold the same.

mod general;

use alloc::vec::Vec;

use crate::archetype::Schema;
use crate::coder::coded::model::Start;
use crate::coder::coded::residual::{SET, Set, at};
use crate::coder::coded::run::OCCUPANTS_DIFFER;
use crate::coder::lane::Lane;
use crate::schema::{Field, Kind, Playback, Scale};

/// The most sets that a prior has.
pub(in crate::coder) const SETS: usize = 64;

/// Sets from here on are those that columns of one kind share.
const OWN_SETS: usize = SETS - Column::ALL.len();

/// Where the models of a schema begin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Prior {
    starts: Vec<Set<Start>>,
    archetypes: Vec<Plan>,
}

/// How the entities of an archetype are coded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::coder) struct Plan {
    /// The set of what concerns whole entities.
    pub(in crate::coder) entity: u8,
    /// The sets of its lanes.
    pub(in crate::coder) lanes: Vec<u8>,
    /// Its fields.
    pub(in crate::coder) steps: Vec<Step>,
}

/// How one field is coded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::coder) struct Step {
    pub(in crate::coder) field: &'static str,
    pub(in crate::coder) shape: Shape,
}

/// What is coded of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::coder) enum Shape {
    /// Lanes that are alike.
    Lanes {
        lane: Lane,
        first: usize,
        count: usize,
        /// Whether they are expected to move on.
        moves: bool,
    },
    /// A quaternion.
    Rotation { first: usize, bits: u8 },
    /// Bytes.
    Bytes { column: usize, max: u16 },
}

/// What a set of models is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::coder) enum Column {
    /// Who came, went and changed.
    Entity,
    /// A lane that does not move on: what it holds is a choice.
    Still,
    /// A lane that moves.
    Moving,
    /// The largest component of a rotation.
    Largest,
    /// Another component.
    Component,
}

impl Column {
    pub(in crate::coder) const ALL: [Self; 5] = [
        Self::Entity,
        Self::Still,
        Self::Moving,
        Self::Largest,
        Self::Component,
    ];

    /// The columns of an archetype: that of its entities, and those of its lanes.
    fn of(fields: &[Field]) -> impl Iterator<Item = Self> {
        let lanes = fields.iter().flat_map(|field| {
            (0..field.lanes()).map(move |lane| match (field.kind, lane) {
                (Kind::Quaternion { .. }, 0) => Self::Largest,
                (Kind::Quaternion { .. }, _) => Self::Component,
                _ if moves(field) => Self::Moving,
                _ => Self::Still,
            })
        });
        core::iter::once(Self::Entity).chain(lanes)
    }
}

/// Whether a field is expected to move on as it did: anything that stands for a real number, or is shown
/// as if it were one.
fn moves(field: &Field) -> bool {
    match field.kind {
        Kind::Angle { .. } => true,
        Kind::Unsigned { .. } | Kind::Signed { .. } => {
            field.scale != Scale::ONE || field.is_position || field.playback != Playback::Hold
        }
        Kind::Flag | Kind::Quaternion { .. } | Kind::Entity | Kind::Bytes { .. } => false,
    }
}

impl Prior {
    /// The prior of a schema about whose motion nothing is known.
    pub fn general(schema: &Schema) -> Self {
        Self::build(schema, OWN_SETS)
    }

    /// The same with one set for all columns of a kind.
    pub(in crate::coder) fn by_kind(schema: &Schema) -> Self {
        Self::build(schema, 0)
    }

    /// So many columns have a set of their own.
    fn build(schema: &Schema, own: usize) -> Self {
        let mut prior = Self {
            starts: Vec::new(),
            archetypes: Vec::new(),
        };
        for archetype in schema.archetypes() {
            let sets = Column::of(&archetype.fields).map(|column| prior.set_for(column, own));
            let mut sets = sets.collect::<Vec<_>>().into_iter();
            prior.archetypes.push(Plan {
                entity: sets.next().unwrap_or_default(),
                lanes: sets.collect(),
                steps: steps(&archetype.fields),
            });
        }
        prior
    }

    /// Reads what [`to_bytes`](Self::to_bytes) made for the same schema; nothing if its length is wrong.
    pub fn from_bytes(schema: &Schema, bytes: &[u8]) -> Option<Self> {
        let mut prior = Self::general(schema);
        if bytes.len() != prior.starts.len() * SET * 2 {
            return None;
        }
        let starts = prior.starts.iter_mut().flatten();
        for (start, &bytes) in starts.zip(bytes.as_chunks().0) {
            *start = Start(u16::from_le_bytes(bytes));
        }
        Some(prior)
    }

    /// The prior as a file: at most 8 KiB.
    pub fn to_bytes(&self) -> Vec<u8> {
        let starts = self.starts.iter().flatten();
        starts.flat_map(|start| start.0.to_le_bytes()).collect()
    }

    /// Where the models of each set begin.
    pub(in crate::coder) fn starts(&self) -> &[Set<Start>] {
        &self.starts
    }

    /// The same sets, beginning elsewhere.
    pub(in crate::coder) fn starting_at(mut self, starts: Vec<Set<Start>>) -> Self {
        debug_assert_eq!(self.starts.len(), starts.len(), "the same columns");
        self.starts = starts;
        self
    }

    /// How an archetype is coded; nothing if the schema has no such archetype.
    pub(in crate::coder) fn plan(&self, archetype: usize) -> Option<&Plan> {
        self.archetypes.get(archetype)
    }

    /// Which set a further column uses, if so many columns have one of their own.
    fn set_for(&mut self, column: Column, own: usize) -> u8 {
        let mut set = self.starts.len();
        if set >= own {
            // All shared sets are there as soon as one is needed.
            let kinds = Column::ALL.iter().skip(set - own);
            self.starts.extend(kinds.map(|kind| starts(*kind)));
            set = own + column as usize;
        } else {
            self.starts.push(starts(column));
        }
        u8::try_from(set).expect("a prior has at most 64 sets")
    }
}

/// Where the models of a column of this kind begin if nothing else is known.
fn starts(column: Column) -> Set<Start> {
    let mut starts = general::starts(column);
    if column == Column::Entity {
        // In recordings nobody comes or goes, so of that they say nothing.
        *at(&mut starts, OCCUPANTS_DIFFER) = Start::new(0x1000, 3);
    }
    starts
}

fn steps(fields: &[Field]) -> Vec<Step> {
    let (mut first, mut column) = (0, 0);
    let step = |field: &Field| {
        let shape = match field.kind {
            Kind::Bytes { max } => Shape::Bytes { column, max },
            Kind::Quaternion { bits } => Shape::Rotation { first, bits },
            kind => Shape::Lanes {
                lane: Lane::of(kind),
                first,
                count: field.lanes(),
                moves: moves(field),
            },
        };
        first += field.lanes();
        column += usize::from(matches!(shape, Shape::Bytes { .. }));
        Step {
            field: field.name,
            shape,
        }
    };
    fields.iter().map(step).collect()
}
