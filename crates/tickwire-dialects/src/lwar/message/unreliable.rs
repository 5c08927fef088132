//! The messages that are sent once and replaced by the next.

use tickwire_wire::{BigEndian, DecodeError, Field, Messages, messages};

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

messages!(Unreliable in BigEndian {
    101 Stats(scores: "scores"),
    103 Input(input: "input"),
    104 Full,
    105 Collision(collision: "collision"),
    110 Update(bodies: "bodies"),
    111 UpdatePos(places: "places"),
    112 UpdateRay(rays: "rays"),
    113 UpdateCircle(circles: "circles"),
});

impl Unreliable<'_> {
    /// Writes id and fields.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.number());
        self.write_fields(w);
    }
}

impl Field<'_, BigEndian> for Collision {
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        Ok(Self {
            entities: [Field::read(r, "entity")?, Field::read(r, "entity")?],
            x: r.i16("x")?,
            y: r.i16("y")?,
        })
    }

    fn write(&self, w: &mut Writer<'_>) {
        self.entities.iter().for_each(|entity| entity.write(w));
        w.i16(self.x);
        w.i16(self.y);
    }
}

impl Field<'_, BigEndian> for Input {
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        let player = Field::read(r, "player")?;
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

    fn write(&self, w: &mut Writer<'_>) {
        self.player.write(w);
        w.u32(self.frame);
        w.bytes(&self.history.0);
        w.i16(self.aim.x);
        w.i16(self.aim.y);
    }
}
