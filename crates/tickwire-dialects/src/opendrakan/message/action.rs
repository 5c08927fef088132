//! What players do.

use tickwire_wire::DecodeError;

use super::body::finite;
use crate::opendrakan::{Reader, Writer};

/// A player pressed, holds or released something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// When, in seconds of the server's clock.
    pub real_time: f64,
    /// What; the game's number.
    pub code: u32,
    /// How.
    pub state: ActionState,
}

/// A player moved a stick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalogAction {
    /// When, in seconds of the server's clock.
    pub real_time: f64,
    /// Which; the game's number.
    pub code: u32,
    /// Where it is now.
    pub x: f32,
    /// Where it is now.
    pub y: f32,
}

/// What happened to a button.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ActionState {
    /// It was pressed.
    Begin,
    /// It was released.
    End,
    /// It is still held.
    Repeat,
}

impl Action {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            real_time: moment(r)?,
            code: r.u32("action code")?,
            state: ActionState::decode(r)?,
        })
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        w.f64(self.real_time);
        w.u32(self.code);
        w.u8(self.state.number());
    }
}

impl AnalogAction {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            real_time: moment(r)?,
            code: r.u32("action code")?,
            x: finite(r, "x")?,
            y: finite(r, "y")?,
        })
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        w.f64(self.real_time);
        w.u32(self.code);
        w.f32(self.x);
        w.f32(self.y);
    }
}

impl ActionState {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let state = r.u8("action state")?;
        let (state, word) = match state {
            0 => (Self::Begin, "begin"),
            1 => (Self::End, "end"),
            2 => (Self::Repeat, "repeat"),
            other => return Err(r.refuse("action state", other.into())),
        };
        r.means(word);
        Ok(state)
    }

    const fn number(self) -> u8 {
        match self {
            Self::Begin => 0,
            Self::End => 1,
            Self::Repeat => 2,
        }
    }
}

/// A moment as a client states it: it will be moved to where it is allowed, if it is a number at all.
fn moment(r: &mut Reader<'_>) -> Result<f64, DecodeError> {
    let seconds = r.f64("realtime")?;
    if seconds.is_nan() {
        return Err(r.refuse("realtime", seconds.to_bits()));
    }
    Ok(seconds)
}
