//! What a server sends in datagrams.
//!
//! A packet with a sequence is a part of that snapshot. One without is not: it holds what goes out at
//! once, commands (a shot, an animation, an effect) or control (parameters, invalid, event
//! acknowledgements).

use tickwire_wire::{DecodeError, Field, LittleEndian, Messages as _, messages};

use super::{
    Ballistics, Direction, DownFrame, Invalid, InventoryDiff, Parameters, PlayAnimation,
    VariableDiff, Velocity, VisualEffect,
};
use crate::reone::delta::{Delta, Structure};
use crate::reone::text::bit;
use crate::reone::{
    AnyStatus, CreatureStatus, EventId, ObjectId, Reader, SnapshotSeq, SpatialStatus, Writer,
};

/// From the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Down {}

/// What a packet from the server begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DownHeader {
    /// The snapshot it is a part of, or [`SnapshotSeq::NONE`].
    pub sequence: SnapshotSeq,
    /// The snapshot that its differences are to be applied to; [`SnapshotSeq::NONE`] is the base.
    pub acknowledged: SnapshotSeq,
    /// The server's tick.
    pub tick: u32,
}

impl DownHeader {
    /// The header of a packet that is no part of a snapshot, and of a base.
    pub const fn unsequenced(tick: u32) -> Self {
        Self {
            sequence: SnapshotSeq::NONE,
            acknowledged: SnapshotSeq::NONE,
            tick,
        }
    }
}

/// An element of a list from the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DownElement<'a> {
    /// What changed of a creature.
    CreatureDiff {
        /// Which.
        id: ObjectId,
        /// What; never nothing.
        delta: Delta<CreatureStatus>,
    },
    /// All of a creature.
    CreatureFull {
        /// Which.
        id: ObjectId,
        /// All.
        status: CreatureStatus,
    },
    /// What changed of another object.
    SpatialDiff {
        /// Which.
        id: ObjectId,
        /// What; never nothing.
        delta: Delta<SpatialStatus>,
    },
    /// All of another object.
    SpatialFull {
        /// Which.
        id: ObjectId,
        /// All.
        status: SpatialStatus,
    },
    /// An object is still in range, and nothing of it is said to have changed.
    KeepAlive {
        /// Which.
        id: ObjectId,
    },
    /// A shot.
    Ballistics(Ballistics),
    /// An object begins an animation.
    PlayAnimation(PlayAnimation<'a>),
    /// An effect begins at an object.
    VisualEffect(VisualEffect<'a>),
    /// What the client must know before snapshots come.
    Parameters(Parameters),
    /// The client's datagrams are not answered as it expects.
    Invalid(Invalid),
    /// Every event up to this one was processed.
    EventAck(EventId),
    /// The snapshot has no more datagrams.
    Last {
        /// How many it has; never 0.
        datagrams: u8,
    },
    /// A slot of an inventory is not as it was.
    InventoryDiff(InventoryDiff<'a>),
    /// A variable is not as it was.
    VariableDiff(VariableDiff<'a>),
    /// How a creature moves.
    Velocity(Velocity),
}

messages!(DownElement in LittleEndian {
    0 CreatureDiff { id: "id", delta: "delta" },
    1 CreatureFull { id: "id", status: "status" },
    2 SpatialDiff { id: "id", delta: "delta" },
    3 SpatialFull { id: "id", status: "status" },
    4 KeepAlive { id: "id" },
    5 Ballistics(shot: "shot"),
    6 PlayAnimation(animation: "animation"),
    7 VisualEffect(effect: "effect"),
    131 Parameters(parameters: "parameters"),
    132 Invalid(why: "reason"),
    133 EventAck(event: "event id"),
    134 Last { datagrams: "datagrams" by NotZero },
    135 InventoryDiff(slot: "slot"),
    136 VariableDiff(variable: "variable"),
    137 Velocity(velocity: "velocity"),
});

impl DownElement<'_> {
    /// The list that [`DownElement::CreatureFull`] stands in.
    pub const CREATURE_FULL: u8 = 1;
    /// The list that [`DownElement::SpatialFull`] stands in.
    pub const SPATIAL_FULL: u8 = 3;
    /// The list that [`DownElement::KeepAlive`] stands in.
    pub const KEEP_ALIVE: u8 = 4;

    /// The list that [`DownElement::Last`] stands in.
    pub const LAST: u8 = 134;
    /// The list that [`DownElement::VariableDiff`] stands in.
    pub const VARIABLE_DIFF: u8 = 136;

    /// All of an object.
    pub const fn full(id: ObjectId, status: AnyStatus) -> Self {
        match status {
            AnyStatus::Creature(status) => Self::CreatureFull { id, status },
            AnyStatus::Spatial(status) => Self::SpatialFull { id, status },
        }
    }

    /// Writes the element alone, without its list.
    pub fn encode(&self, w: &mut Writer<'_>) {
        self.write_fields(w);
    }
}

impl Direction for Down {
    type Header = DownHeader;
    type Element<'a> = DownElement<'a>;
    type Frame<'a> = DownFrame<'a>;

    fn decode_header(r: &mut Reader<'_>) -> Result<DownHeader, DecodeError> {
        let sequence = SnapshotSeq(r.u32("sequence")?);
        let acknowledged = SnapshotSeq(r.u32("acknowledged")?);
        // A snapshot can only differ from an older one, and what is no snapshot from none.
        if acknowledged != SnapshotSeq::NONE && acknowledged >= sequence {
            return Err(r.refuse("acknowledged", acknowledged.0.into()));
        }
        Ok(DownHeader {
            sequence,
            acknowledged,
            tick: r.u32("tick")?,
        })
    }

    fn encode_header(header: &DownHeader, w: &mut Writer<'_>) {
        w.u32(header.sequence.0);
        w.u32(header.acknowledged.0);
        w.u32(header.tick);
    }

    #[inline]
    fn is_single(number: u8) -> bool {
        matches!(number, 131..=134)
    }

    #[inline]
    fn allows(header: &DownHeader, number: u8) -> bool {
        if header.sequence == SnapshotSeq::NONE {
            matches!(number, 5..=7 | 131..=133)
        } else {
            matches!(number, 0..=7 | 133..=137)
        }
    }

    fn decode_frame<'a>(
        kind: u8,
        r: &mut Reader<'a>,
        end: usize,
    ) -> Result<DownFrame<'a>, DecodeError> {
        DownFrame::decode(kind, r, end)
    }
}

/// Whether a base may hold such a list: it has nothing to differ from, and nothing happens in it.
pub(super) const fn base_allows(number: u8) -> bool {
    matches!(
        number,
        DownElement::CREATURE_FULL | DownElement::SPATIAL_FULL | DownElement::VARIABLE_DIFF
    )
}

/// A count that is never 0.
struct NotZero;

impl NotZero {
    fn read(r: &mut Reader<'_>, field: &'static str) -> Result<u8, DecodeError> {
        match r.u8(field)? {
            0 => Err(r.refuse(field, 0)),
            count => Ok(count),
        }
    }

    fn write(count: &u8, w: &mut Writer<'_>) {
        w.u8(*count);
    }
}

/// A difference that is one: an object that did not change is in KeepAlive.
impl<S: Structure> Field<'_, LittleEndian> for Delta<S> {
    #[inline]
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        let at_bit = bit(r.position());
        let delta = Self::decode(r)?;
        if delta.is_empty() {
            return Err(DecodeError::Forbidden {
                field: "mask",
                at_bit,
                value: 0,
            });
        }
        Ok(delta)
    }

    #[inline]
    fn write(&self, w: &mut Writer<'_>) {
        self.encode(w);
    }
}
