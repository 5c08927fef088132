//! What a player presses, and the eight states of it that every Input carries.
//!
//! A client shifts each button's state into a byte of history; a server that missed frames finds
//! their presses there, so a tap is lost only if eight packets in a row are.

use core::fmt;

/// One button of the controls, in the order of the Input message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Button {
    Forward,
    Backward,
    TurnLeft,
    TurnRight,
    StrafeLeft,
    StrafeRight,
    /// The weapon in slot 0 to 3.
    Fire0,
    Fire1,
    Fire2,
    Fire3,
}

impl Button {
    /// All of them, in the order of the wire.
    pub const ALL: [Self; 10] = [
        Self::Forward,
        Self::Backward,
        Self::TurnLeft,
        Self::TurnRight,
        Self::StrafeLeft,
        Self::StrafeRight,
        Self::Fire0,
        Self::Fire1,
        Self::Fire2,
        Self::Fire3,
    ];

    /// The buttons of the weapon slots.
    pub const FIRE: [Self; 4] = [Self::Fire0, Self::Fire1, Self::Fire2, Self::Fire3];
}

/// A set of pressed buttons.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct Buttons(u16);

impl Buttons {
    /// Nothing is pressed.
    pub const NONE: Self = Self(0);

    /// Whether `button` is pressed.
    pub const fn contains(self, button: Button) -> bool {
        self.0 >> button as u16 & 1 == 1
    }

    /// The same with `button` pressed or released.
    #[must_use]
    pub const fn with(self, button: Button, pressed: bool) -> Self {
        let bit = 1 << button as u16;
        Self(if pressed { self.0 | bit } else { self.0 & !bit })
    }

    /// What is pressed in either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Buttons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(Button::ALL.iter().filter(|b| self.contains(**b)))
            .finish()
    }
}

/// A point of the world, in whole units.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(missing_docs, reason = "the fields say it")]
pub struct Point {
    pub x: i16,
    pub y: i16,
}

/// What a player does: buttons, and where it aims.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Controls {
    /// What is pressed.
    pub buttons: Buttons,
    /// The point of the world that weapons are aimed at.
    pub aim: Point,
}

/// Eight states of every button; bit 0 of a byte is the newest.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct History(pub [u8; 10]);

impl History {
    /// Adds the state of one more frame.
    pub(crate) fn push(&mut self, buttons: Buttons) {
        for (byte, button) in self.0.iter_mut().zip(Button::ALL) {
            *byte = *byte << 1 | u8::from(buttons.contains(button));
        }
    }

    /// What was pressed in any of the newest `frames` frames.
    pub(crate) fn pressed_within(self, frames: u32) -> Buttons {
        let mask = match frames {
            0 => 0,
            1..=7 => !(0xff << frames),
            _ => 0xff,
        };
        self.0
            .iter()
            .zip(Button::ALL)
            .fold(Buttons::NONE, |pressed, (&byte, button)| {
                pressed.with(button, pressed.contains(button) || byte & mask != 0)
            })
    }
}
