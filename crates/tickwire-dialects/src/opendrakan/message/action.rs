//! What players do.

use tickwire_wire::{DecodeError, Field, LittleEndian, coded_enum};

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

coded_enum! {
    /// What happened to a button.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum ActionState: u8 {
        /// It was pressed.
        0 Begin "begin",
        /// It was released.
        1 End "end",
        /// It is still held.
        2 Repeat "repeat",
    }
}

impl Field<'_, LittleEndian> for Action {
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        Ok(Self {
            real_time: moment(r)?,
            code: r.u32("action code")?,
            state: Field::read(r, "action state")?,
        })
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.f64(self.real_time);
        w.u32(self.code);
        self.state.write(w);
    }
}

impl Field<'_, LittleEndian> for AnalogAction {
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        Ok(Self {
            real_time: moment(r)?,
            code: r.u32("action code")?,
            x: finite(r, "x")?,
            y: finite(r, "y")?,
        })
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.f64(self.real_time);
        w.u32(self.code);
        w.f32(self.x);
        w.f32(self.y);
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
