//! The own ship, predicted: the arena's rule of flight, with the sky as the module's chart tells it.

use std::sync::Arc;

use tickwire_dialects::reone::{CreatureStatus, Steering, Vec2};
use tickwire_state::{Angle, Blend, Motion, Prediction};

use super::{INPUT, words};
use crate::flight::{Flight, narrow};
use crate::orbit::Chart;
use crate::{Intent, STEP, Tick};

/// Errors above this are shown as a jump: a shockwave throws a ship as far within a long round trip.
const SNAP: f32 = 300.0;

/// How predictions are shown.
pub(super) const PREDICTION: Prediction = Prediction {
    step: STEP,
    snap: SNAP,
};

/// How the own ship flies.
#[derive(Clone, Debug, Default)]
pub(super) struct Helm {
    pub(super) chart: Arc<Chart>,
    /// The server's tick of the snapshot that is looked at.
    pub(super) tick: u32,
}

/// The own ship at one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Own {
    pub(super) flight: Flight,
    pub(super) tick: u32,
}

impl Blend for Own {
    fn blend(&self, next: &Self, share: f32) -> Self {
        let (from, to) = (self.flight, next.flight);
        Self {
            flight: Flight {
                x: from.x.blend(&to.x, share),
                y: from.y.blend(&to.y, share),
                heading: Angle(from.heading).blend(&Angle(to.heading), share).0,
                ..to
            },
            tick: next.tick,
        }
    }
}

impl Motion for Helm {
    type State = Own;
    type Input = Intent;

    fn step(&self, state: &Own, input: &Intent) -> Own {
        let tick = state.tick.wrapping_add(1);
        let bodies = self.chart.bodies(Tick(tick.into()));
        Own {
            flight: state.flight.step(input, bodies),
            tick,
        }
    }

    fn distance(&self, shown: &Own, truth: &Own) -> f32 {
        narrow((shown.flight.position() - truth.flight.position()).length())
    }
}

impl Steering for Helm {
    const KIND: u8 = INPUT;

    fn encode(&self, input: &Intent, out: &mut Vec<u8>) {
        words::encode_intent(input, out);
    }

    fn state(&self, status: &CreatureStatus, velocity: Vec2) -> Own {
        Own {
            // Nonsense is shown in the middle, until something else is said.
            flight: words::ship_flight(status, velocity).unwrap_or_default(),
            tick: self.tick,
        }
    }
}
