//! Prediction: one's own object moves at once, and the server stays right.
//!
//! In: the player's inputs, one a step, and what the server says of the object after one of them. Out:
//! where to show the object at any moment. Inputs that the server has not answered yet are kept; when
//! its state comes, they are applied to it again, by the same [`Motion`] that the server steps with. If
//! the outcome is another than was shown, what was shown goes on by the same inputs and fades into what is
//! true over [`CORRECTION`]; beyond a stated distance the jump is shown as what it is. A server that says
//! what was predicted changes nothing, to the bit.
//!
//! Between two steps the object is shown blended, so that movement is even at any frame rate; it is
//! thereby up to one step behind the newest input. Sending inputs, and repeating lost ones, is the
//! protocol's.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use tickwire_session::Instant;

use crate::Blend;

/// How long a wrong prediction takes to fade.
///
/// Longer than the time between two snapshots, so that one correction flows into the next; short
/// enough that nobody is shown for long where he cannot be hit.
pub const CORRECTION: Duration = Duration::from_millis(100);

/// Inputs that may wait for the server's answer.
///
/// Two seconds at 60 steps a second: more than any round trip that can be played with. It is also how
/// many steps one answer may cost.
pub const INPUTS_WAITING: usize = 128;

/// The rules by which an object moves: the same on the server and on the client.
pub trait Motion {
    /// All that the next step depends on, besides the input. States that are equal must go on equally.
    type State: Blend + Clone + PartialEq;
    /// What a player wants for one step.
    type Input;

    /// The state one step later. It must depend on nothing else than the arguments and the rules.
    fn step(&self, state: &Self::State, input: &Self::Input) -> Self::State;

    /// How far apart two states are, in the unit of the stated distance above which an error does not
    /// fade.
    fn distance(&self, shown: &Self::State, truth: &Self::State) -> f32;
}

/// The number of an input. The first is 1; 0 is none. Numbers ascend, and need not be consecutive.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct InputNumber(pub u32);

/// How a prediction is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The time of one step.
    pub step: Duration,
    /// The distance above which an error does not fade: that far off it is a new place.
    pub snap: f32,
}

/// What became of the predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictionFigures {
    /// Answers that said something else than was predicted.
    pub corrections: u64,
    /// Those of them that were too large to fade.
    pub snaps: u64,
    /// How large the error of the last answer was; 0 if it was as predicted.
    pub last_error: f32,
}

/// Why an input is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InputError {
    /// [`INPUTS_WAITING`] wait already: the server has been silent too long.
    ///
    /// The new one is refused, rather than the oldest dropped: the others were sent, and without one
    /// of them none of the states after it could be found again.
    TooMany,
    /// Its number is not above that of the last.
    NotNewer,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "{INPUTS_WAITING} inputs wait for the server's answer"),
            Self::NotNewer => f.write_str("the input's number is not above the last one's"),
        }
    }
}

impl core::error::Error for InputError {}

/// One's own object, predicted.
///
/// ```
/// use core::time::Duration;
/// use tickwire_session::Instant;
/// use tickwire_state::{InputNumber, Motion, Prediction, Predictor};
///
/// /// Something on a line; an input is its speed, in units a step.
/// struct Line;
///
/// impl Motion for Line {
///     type State = f32;
///     type Input = f32;
///     fn step(&self, state: &f32, input: &f32) -> f32 { state + input }
///     fn distance(&self, shown: &f32, truth: &f32) -> f32 { (shown - truth).abs() }
/// }
///
/// let ms = Instant::from_millis;
/// let shape = Prediction { step: Duration::from_millis(50), snap: 100.0 };
/// let mut own = Predictor::new(Line, shape, ms(0), InputNumber(0), 0.0);
/// own.apply_input(ms(50), InputNumber(1), 10.0).unwrap();
/// assert_eq!(own.sample(ms(75)), 5.0);
///
/// // The server did not let it move: what was shown fades into what is true.
/// own.apply_answer(ms(75), InputNumber(1), 0.0);
/// assert_eq!(own.figures().last_error, 10.0);
/// assert_eq!(own.sample(ms(75)), 5.0);
/// assert_eq!(own.sample(ms(175)), 0.0);
/// ```
#[derive(Debug)]
pub struct Predictor<M: Motion> {
    motion: M,
    shape: Prediction,
    /// What the server said last, and after which input.
    answered: InputNumber,
    base: M::State,
    /// Inputs since then, ascending, each with the state that it leads to.
    waiting: VecDeque<Waiting<M>>,
    newest: InputNumber,
    /// The state before the newest input, from which it is blended.
    previous: M::State,
    /// When the newest input was applied.
    stepped: Instant,
    fading: Option<Fading<M::State>>,
    figures: PredictionFigures,
}

struct Waiting<M: Motion> {
    number: InputNumber,
    input: M::Input,
    state: M::State,
}

/// What was shown before a correction. It is stepped on, so that it moves beside what is true while it
/// fades.
struct Fading<S> {
    previous: S,
    current: S,
    since: Instant,
}

impl<M: Motion> fmt::Debug for Waiting<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither states nor inputs need to be printable.
        f.debug_struct("Waiting")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Fading<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fading")
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

impl<S> Fading<S> {
    /// How much of it is still shown.
    fn share(&self, now: Instant) -> f32 {
        1.0 - now.since(self.since).div_duration_f32(CORRECTION)
    }
}

impl<M: Motion> Predictor<M> {
    /// Begins with what the server says of the object after input `answered`.
    ///
    /// # Panics
    /// If a step takes no time: it is configuration.
    pub fn new(
        motion: M,
        shape: Prediction,
        now: Instant,
        answered: InputNumber,
        state: M::State,
    ) -> Self {
        assert!(!shape.step.is_zero(), "a step takes time");
        Self {
            motion,
            shape,
            answered,
            base: state.clone(),
            waiting: VecDeque::new(),
            newest: answered,
            previous: state,
            stepped: now,
            fading: None,
            figures: PredictionFigures::default(),
        }
    }

    /// Applies the input of the next step, whose moment is `now`: a loop with fixed steps hands in
    /// the moment at which the step was due, and movement is even although the loop is not.
    pub fn apply_input(
        &mut self,
        now: Instant,
        number: InputNumber,
        input: M::Input,
    ) -> Result<(), InputError> {
        if number <= self.newest {
            return Err(InputError::NotNewer);
        }
        if self.waiting.len() >= INPUTS_WAITING {
            return Err(InputError::TooMany);
        }
        let state = self.motion.step(self.current(), &input);
        self.previous = self.current().clone();
        self.fading = self.fading.take().filter(|fading| fading.share(now) > 0.0);
        if let Some(fading) = &mut self.fading {
            let next = self.motion.step(&fading.current, &input);
            fading.previous = core::mem::replace(&mut fading.current, next);
        }
        self.newest = number;
        self.stepped = now;
        self.waiting.push_back(Waiting {
            number,
            input,
            state,
        });
        Ok(())
    }

    /// The server says what the object is after input `answered`, and whatever else befell it. Of
    /// answers out of order, those to an earlier input than the last are ignored.
    pub fn apply_answer(&mut self, now: Instant, answered: InputNumber, state: M::State) {
        if answered < self.answered {
            return;
        }
        let shown = Fading {
            previous: self.faded(now, &self.previous, |fading| &fading.previous),
            current: self.faded(now, self.current(), |fading| &fading.current),
            since: now,
        };
        while let Some(first) = self.waiting.front()
            && first.number <= answered
            && let Some(first) = self.waiting.pop_front()
        {
            self.base = first.state;
        }
        self.answered = answered;
        if self.base == state {
            self.figures.last_error = 0.0;
            return;
        }

        self.figures.last_error = self.motion.distance(&self.base, &state);
        self.figures.corrections += 1;
        self.base = state;
        self.replay();
        // A distance that is no number is never near enough.
        if self.motion.distance(&shown.current, self.current()) <= self.shape.snap {
            self.fading = Some(shown);
        } else {
            self.fading = None;
            self.figures.snaps += 1;
        }
    }

    /// Applies the inputs that wait to the server's state.
    fn replay(&mut self) {
        // With no input waiting, the state before the newest one is not known any more.
        self.previous = self.base.clone();
        let mut state = self.base.clone();
        for waiting in &mut self.waiting {
            waiting.state = self.motion.step(&state, &waiting.input);
            self.previous = core::mem::replace(&mut state, waiting.state.clone());
        }
    }

    /// The object as it is to be shown.
    pub fn sample(&self, now: Instant) -> M::State {
        let share = now
            .since(self.stepped)
            .div_duration_f32(self.shape.step)
            .min(1.0);
        let previous = self.faded(now, &self.previous, |fading| &fading.previous);
        let current = self.faded(now, self.current(), |fading| &fading.current);
        previous.blend(&current, share)
    }

    /// A state, mixed with what is still shown of the one that it corrects.
    fn faded(
        &self,
        now: Instant,
        truth: &M::State,
        shown: impl FnOnce(&Fading<M::State>) -> &M::State,
    ) -> M::State {
        match &self.fading {
            Some(fading) if fading.share(now) > 0.0 => {
                truth.blend(shown(fading), fading.share(now))
            }
            _ => truth.clone(),
        }
    }

    /// The object after the newest input, as predicted: what the game goes on from, not what is shown.
    pub fn current(&self) -> &M::State {
        self.waiting
            .back()
            .map_or(&self.base, |waiting| &waiting.state)
    }

    /// Begins anew, as after a respawn: inputs that wait are forgotten and nothing fades.
    pub fn reset(&mut self, now: Instant, answered: InputNumber, state: M::State) {
        self.answered = answered;
        self.newest = self.newest.max(answered);
        self.waiting.clear();
        self.base = state.clone();
        self.previous = state;
        self.stepped = now;
        self.fading = None;
    }

    /// The inputs that the server has not answered yet, oldest first: what a protocol repeats.
    pub fn waiting(&self) -> impl DoubleEndedIterator<Item = (InputNumber, &M::Input)> {
        self.waiting
            .iter()
            .map(|waiting| (waiting.number, &waiting.input))
    }

    /// What became of the predictions.
    pub const fn figures(&self) -> PredictionFigures {
        self.figures
    }

    /// The rules.
    pub const fn motion(&self) -> &M {
        &self.motion
    }

    /// The rules, to change what they know of the surroundings. It counts from the next step on.
    pub const fn motion_mut(&mut self) -> &mut M {
        &mut self.motion
    }
}

#[cfg(test)]
mod tests;
