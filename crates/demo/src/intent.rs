//! What a player wants, the same in every protocol.

use crate::Vec2;
use crate::limits::WEAPON_SLOTS;

/// The controls as a player holds them: what is true stays wanted until a newer intent says
/// otherwise.
///
/// Opposite controls cancel each other. Thrust follows the ship's heading; the aim concerns the
/// weapons alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Intent {
    /// Accelerate along the heading.
    pub forward: bool,
    /// Accelerate against the heading, more weakly.
    pub backward: bool,
    /// Turn counter-clockwise.
    pub turn_left: bool,
    /// Turn clockwise.
    pub turn_right: bool,
    /// Accelerate to the left of the heading.
    pub strafe_left: bool,
    /// Accelerate to the right of the heading.
    pub strafe_right: bool,
    /// Fire the weapon of this slot for as long as it is held.
    pub fire: [bool; WEAPON_SLOTS],
    /// The point in the world that the weapons point at.
    pub aim: Vec2,
}

impl Intent {
    /// What can be held, in the order in which protocols number it.
    pub(crate) const fn buttons(&mut self) -> [&mut bool; 10] {
        let [fire0, fire1, fire2, fire3] = &mut self.fire;
        [
            &mut self.forward,
            &mut self.backward,
            &mut self.turn_left,
            &mut self.turn_right,
            &mut self.strafe_left,
            &mut self.strafe_right,
            fire0,
            fire1,
            fire2,
            fire3,
        ]
    }
}
