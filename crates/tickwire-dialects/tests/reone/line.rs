//! A creature on a line, as simple as a prediction can be: an input is its direction.

use tickwire_dialects::reone::{CreatureStatus, Steering, Vec2};
use tickwire_state::Motion;

#[derive(Clone, Copy)]
pub(super) struct Line {
    /// Units a step.
    pub(super) speed: f32,
}

impl Motion for Line {
    type State = f32;
    type Input = i8;

    fn step(&self, state: &f32, input: &i8) -> f32 {
        state + f32::from(*input) * self.speed
    }

    fn distance(&self, shown: &f32, truth: &f32) -> f32 {
        (shown - truth).abs()
    }
}

impl Steering for Line {
    const KIND: u8 = 4;

    fn encode(&self, input: &i8, out: &mut Vec<u8>) {
        out.extend(input.to_le_bytes());
    }

    fn state(&self, status: &CreatureStatus, _velocity: Vec2) -> f32 {
        status.pos.x
    }
}
