//! The own ship, predicted: the arena's rule of flight, with the sky as the module's chart tells it.

use std::sync::Arc;

use tickwire_dialects::reone::{CreatureStatus, Steering};
use tickwire_state::{Angle, Blend, Motion, Prediction};

use super::{INPUT, words};
use crate::flight::{Flight, narrow};
use crate::orbit::Chart;
use crate::{Intent, STEP, Tick, Vec2};

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

/// How far off a prediction is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slip {
    way: Vec2,
    turn: f64,
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
    type Error = Slip;

    fn step(&self, state: &Own, input: &Intent) -> Own {
        let tick = state.tick.wrapping_add(1);
        let bodies = self.chart.bodies(Tick(tick.into()));
        Own {
            flight: state.flight.step(input, bodies),
            tick,
        }
    }

    fn error_between(&self, shown: &Own, truth: &Own) -> Slip {
        let (shown, truth) = (shown.flight, truth.flight);
        Slip {
            way: shown.position() - truth.position(),
            turn: truth.heading().turn_to(shown.heading()),
        }
    }

    fn error_size(&self, error: &Slip) -> f32 {
        narrow(error.way.length())
    }

    fn shift(&self, state: &Own, error: &Slip, share: f32) -> Own {
        let (flight, share) = (state.flight, f64::from(share));
        let position = flight.position() + error.way * share;
        let heading = flight.heading().turned(error.turn * share);
        Own {
            flight: Flight::new(position, flight.velocity(), heading),
            ..*state
        }
    }
}

impl Steering for Helm {
    const KIND: u8 = INPUT;

    fn encode(&self, input: &Intent, out: &mut Vec<u8>) {
        words::encode_intent(input, out);
    }

    fn state(&self, status: &CreatureStatus) -> Own {
        Own {
            // Nonsense is shown in the middle, until something else is said.
            flight: words::ship_flight(status).unwrap_or_default(),
            tick: self.tick,
        }
    }
}
