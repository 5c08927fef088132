//! Prediction: the own creature moves at once, and the server stays right.
//!
//! A [`Pilot`] stands beside the client. In: the player's inputs, one a step, and the client's events.
//! Out: where to show the own creature. An input travels as an event, so its number is the event's, and
//! every whole snapshot says up to which one it is true. How the creature moves is the game's: see
//! [`Steering`].

use alloc::vec::Vec;
use core::fmt;

use tickwire_session::Instant;
use tickwire_state::{
    INPUTS_WAITING, InputNumber, Motion, Prediction, PredictionFigures, Predictor,
};
use tickwire_wire::display_enum;

use super::event::Whole;
use super::{Client, ClientEvent, SendError};
use crate::reone::{CreatureStatus, EventId, Vec2};

/// The rules by which the own creature moves, and how inputs and states travel.
pub trait Steering: Motion + Clone {
    /// The kind of the events that are inputs.
    const KIND: u8;

    /// Appends an input as the content of an event.
    fn encode(&self, input: &Self::Input, out: &mut Vec<u8>);

    /// The state that a snapshot tells; the velocity is in units a second, and 0 if the server does not
    /// tell. What it says of a state that [`Motion::step`] led to must be equal to that state, or every
    /// snapshot is a correction.
    fn state(&self, status: &CreatureStatus, velocity: Vec2) -> Self::State;
}

/// The own creature, predicted.
pub struct Pilot<S: Steering> {
    steering: S,
    shape: Prediction,
    /// None while there is no creature to steer.
    predictor: Option<Predictor<S>>,
    /// Of the creatures before.
    past: PredictionFigures,
    scratch: Vec<u8>,
}

display_enum! {
    /// Why an input was not applied; nothing was sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum SteerError: Error {
        /// There is no own creature in the newest snapshot.
        NoCreature => "there is no own creature",
        /// [`INPUTS_WAITING`] inputs wait for the server's answer.
        TooManyWaiting => "{INPUTS_WAITING} inputs wait for the server's answer",
        /// The event cannot be sent.
        Send(error: SendError) => "{error}",
    }
}

impl<S: Steering> Pilot<S> {
    /// Waits for a creature to steer.
    ///
    /// # Panics
    /// If a step takes no time: it is configuration.
    pub fn new(steering: S, shape: Prediction) -> Self {
        assert!(!shape.step.is_zero(), "a step takes time");
        Self {
            steering,
            shape,
            predictor: None,
            past: PredictionFigures::default(),
            scratch: Vec::new(),
        }
    }

    /// Takes note of what happened. To be called with every event of the client.
    pub fn handle_event(&mut self, now: Instant, event: &ClientEvent) {
        match event {
            ClientEvent::Snapshot(whole) if whole.is_newest => self.handle_snapshot(now, whole),
            // Another creature, another place, or other numbers: nothing said before counts.
            ClientEvent::Welcomed { .. }
            | ClientEvent::Loading { .. }
            | ClientEvent::Interrupted
            | ClientEvent::Ended(_) => self.leave(),
            _ => {}
        }
    }

    /// Applies the input of the next step, whose moment is `now`, and sends it.
    pub fn act(
        &mut self,
        now: Instant,
        client: &mut Client,
        input: S::Input,
    ) -> Result<EventId, SteerError> {
        let Some(predictor) = &mut self.predictor else {
            return Err(SteerError::NoCreature);
        };
        if predictor.waiting().count() >= INPUTS_WAITING {
            return Err(SteerError::TooManyWaiting);
        }
        self.scratch.clear();
        self.steering.encode(&input, &mut self.scratch);
        let sent = client.send_event(S::KIND, &self.scratch);
        let id = sent.map_err(SteerError::Send)?;
        // The number is new and there is room, so it is taken.
        let applied = predictor.apply_input(now, InputNumber(id.0), input);
        debug_assert!(applied.is_ok(), "{applied:?}");
        Ok(id)
    }

    /// The own creature as it is to be shown; `None` while there is none.
    pub fn sample(&self, now: Instant) -> Option<S::State> {
        let predictor = self.predictor.as_ref();
        predictor.map(|predictor| predictor.sample(now))
    }

    /// The own creature after the newest input: what the game goes on from, not what is shown.
    pub fn current(&self) -> Option<&S::State> {
        self.predictor.as_ref().map(Predictor::current)
    }

    /// How wrong the prediction was by the last answer; 0 if it was right.
    pub fn error(&self) -> f32 {
        self.figures().last_error
    }

    /// What became of all predictions.
    pub fn figures(&self) -> PredictionFigures {
        let Some(predictor) = &self.predictor else {
            return self.past;
        };
        let now = predictor.figures();
        PredictionFigures {
            corrections: self.past.corrections + now.corrections,
            snaps: self.past.snaps + now.snaps,
            last_error: now.last_error,
        }
    }

    /// Changes what the rules know of the surroundings. It counts from the next step on.
    pub fn change_steering(&mut self, mut change: impl FnMut(&mut S)) {
        change(&mut self.steering);
        if let Some(predictor) = &mut self.predictor {
            change(predictor.motion_mut());
        }
    }

    fn handle_snapshot(&mut self, now: Instant, whole: &Whole) {
        let Some(own) = &whole.own else {
            self.leave();
            return;
        };
        let velocity = whole.velocity.unwrap_or_default();
        let state = self.steering.state(own, velocity);
        let answered = InputNumber(whole.answered.0);
        match &mut self.predictor {
            Some(predictor) => predictor.apply_answer(now, answered, state),
            None => {
                let steering = self.steering.clone();
                let predictor = Predictor::new(steering, self.shape, now, answered, state);
                self.predictor = Some(predictor);
            }
        }
    }

    fn leave(&mut self) {
        self.past = PredictionFigures {
            last_error: 0.0,
            ..self.figures()
        };
        self.predictor = None;
    }
}

impl<S: Steering> fmt::Debug for Pilot<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither states nor inputs need to be printable.
        f.debug_struct("Pilot")
            .field("has_creature", &self.predictor.is_some())
            .field("figures", &self.figures())
            .finish_non_exhaustive()
    }
}
