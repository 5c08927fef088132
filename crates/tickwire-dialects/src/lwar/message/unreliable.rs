//! The messages that are sent once and replaced by the next.

use tickwire_wire::DecodeError;

use super::{Body, Circle, Place, PlayerScore, Ray, Records};
use crate::lwar::input::{History, Point};
use crate::lwar::{EntityId, PlayerId, Reader, Writer};

/// An unreliable message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unreliable<'a> {
    /// Server: the scoreboard.
    Stats(Records<'a, PlayerScore>),
    /// Client: what the player does.
    Input(Input),
    /// Server: there is no place left.
    Full,
    /// Server: two entities touched.
    Collision(Collision),
    /// Server: states of solid things.
    Update(Records<'a, Body>),
    /// Server: positions of things that only move.
    UpdatePos(Records<'a, Place>),
    /// Server: beams.
    UpdateRay(Records<'a, Ray>),
    /// Server: rings.
    UpdateCircle(Records<'a, Circle>),
}

/// What a player does, with seven earlier states of every button.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Input {
    /// Who.
    pub player: PlayerId,
    /// Counts the client's Inputs from 1.
    pub frame: u32,
    /// The buttons.
    pub history: History,
    /// The point aimed at.
    pub aim: Point,
}

/// Two entities touched.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Collision {
    /// Which two, in no order.
    pub entities: [EntityId; 2],
    /// Where.
    pub x: i16,
    /// Where.
    pub y: i16,
}

/// What a trace calls the bytes of [`History`].
const BUTTON_FIELDS: [&str; 10] = [
    "forward",
    "backward",
    "turn left",
    "turn right",
    "strafe left",
    "strafe right",
    "shooting 0",
    "shooting 1",
    "shooting 2",
    "shooting 3",
];

impl<'a> Unreliable<'a> {
    /// The id on the wire.
    pub const fn id(&self) -> u8 {
        match self {
            Self::Stats(_) => 101,
            Self::Input(_) => 103,
            Self::Full => 104,
            Self::Collision(_) => 105,
            Self::Update(_) => 110,
            Self::UpdatePos(_) => 111,
            Self::UpdateRay(_) => 112,
            Self::UpdateCircle(_) => 113,
        }
    }

    /// Reads what follows the id; `None` if the id is unknown.
    pub(super) fn decode(id: u8, r: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match id {
            101 => Self::Stats(Records::decode(r)?),
            103 => Self::Input(Input::decode(r)?),
            104 => Self::Full,
            105 => Self::Collision(Collision {
                entities: [EntityId::decode(r)?, EntityId::decode(r)?],
                x: r.i16("x")?,
                y: r.i16("y")?,
            }),
            110 => Self::Update(Records::decode(r)?),
            111 => Self::UpdatePos(Records::decode(r)?),
            112 => Self::UpdateRay(Records::decode(r)?),
            113 => Self::UpdateCircle(Records::decode(r)?),
            _ => return Ok(None),
        }))
    }

    /// Writes id and fields.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.id());
        match self {
            Self::Stats(scores) => scores.encode(w),
            Self::Input(input) => input.encode(w),
            Self::Full => {}
            Self::Collision(collision) => {
                collision
                    .entities
                    .iter()
                    .for_each(|entity| entity.encode(w));
                w.i16(collision.x);
                w.i16(collision.y);
            }
            Self::Update(bodies) => bodies.encode(w),
            Self::UpdatePos(places) => places.encode(w),
            Self::UpdateRay(rays) => rays.encode(w),
            Self::UpdateCircle(circles) => circles.encode(w),
        }
    }
}

impl Input {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let player = PlayerId::decode(r)?;
        let frame = r.u32("frameNo")?;
        let mut history = History::default();
        for (byte, field) in history.0.iter_mut().zip(BUTTON_FIELDS) {
            *byte = r.u8(field)?;
        }
        let aim = Point {
            x: r.i16("aim x")?,
            y: r.i16("aim y")?,
        };
        Ok(Self {
            player,
            frame,
            history,
            aim,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        self.player.encode(w);
        w.u32(self.frame);
        w.bytes(&self.history.0);
        w.i16(self.aim.x);
        w.i16(self.aim.y);
    }
}
