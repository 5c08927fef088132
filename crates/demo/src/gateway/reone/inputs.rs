//! The inputs of one client, in line for their steps.
//!
//! In: events as they arrive, in order. Out: for every step of the arena what the pilot wants, and up to
//! which event that is true. A client makes one input a step; the network brings them unevenly, so some
//! may wait here. One that waits makes up for one that is late, and what is late goes without: the last
//! input is held for a while, and then let go.

use std::collections::VecDeque;

use tickwire_dialects::reone::EventId;
use tickwire_state::{InputCredit, InputRate};

use crate::rules::STEPS_PER_SECOND;
use crate::{Intent, Loadout, Tick};

/// Inputs that a client may be ahead of the clock: a quarter of a second. It bounds the line, too.
pub(super) const ALLOWANCE: u32 = 15;

/// Steps for which the last input holds when the next is late: a quarter of a second.
const HOLD: u32 = 15;

/// Inputs that may always wait: they make up for the usual unevenness.
const CUSHION: usize = 2;

/// Steps after which a line that was never shorter than the cushion loses one input. Whoever waited in
/// it once would act late for ever.
const TRIM_STEPS: u32 = 2 * STEPS_PER_SECOND;

/// Steps within which a client may choose its weapons, from when it is there: a second. A client that
/// knows nothing of this arena chooses none, and has a ship all the same.
const PATIENCE: u16 = 60;

const RATE: InputRate = InputRate {
    inputs_per_second: STEPS_PER_SECOND,
    ticks_per_second: STEPS_PER_SECOND,
};

/// What an event asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Deed {
    /// This, for one step, by somebody who saw the world of that tick.
    Fly(Intent, Tick),
    /// These weapons.
    Choose(Loadout),
    /// Nothing that is known here.
    Nothing,
}

#[derive(Debug)]
pub(super) struct Inputs {
    line: VecDeque<(EventId, Deed)>,
    /// How many of them are for flying.
    waiting: usize,
    credit: InputCredit,
    last: Intent,
    /// Steps since the last input.
    late: u32,
    /// The shortest that the line was, and for how many steps that was watched.
    shortest: usize,
    watched: u32,
    /// Steps until somebody who has chosen no weapons gets the usual ones.
    patience: Option<u16>,
}

/// What a step takes out of the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    /// What the pilot wants in this step.
    pub(super) intent: Intent,
    /// Which world that is about, unless the input is late.
    pub(super) seen: Option<Tick>,
    /// Other weapons.
    pub(super) chosen: Option<Loadout>,
    /// The last event that came into it, if any.
    pub(super) processed: Option<EventId>,
}

impl Inputs {
    pub(super) fn new() -> Self {
        Self {
            line: VecDeque::new(),
            waiting: 0,
            credit: InputCredit::new(RATE, ALLOWANCE),
            last: Intent::default(),
            late: 0,
            shortest: usize::MAX,
            watched: 0,
            patience: None,
        }
    }

    /// The client is there, and is given the usual weapons unless it chooses others soon.
    pub(super) const fn await_choice(&mut self) {
        self.patience = Some(PATIENCE);
    }

    /// An event came. An input ahead of the clock by more than the allowance counts for nothing.
    pub(super) fn push(&mut self, id: EventId, deed: Deed) {
        let deed = match deed {
            Deed::Fly(..) if self.credit.take().is_err() => Deed::Nothing,
            deed => deed,
        };
        self.waiting += usize::from(matches!(deed, Deed::Fly(..)));
        self.line.push_back((id, deed));
    }

    /// The newest event that waits.
    pub(super) fn newest(&self) -> Option<EventId> {
        self.line.back().map(|(id, _)| *id)
    }

    /// Takes what belongs to the next step.
    pub(super) fn take_step(&mut self) -> Taken {
        self.credit.add_ticks(1);
        let mut skips = self.is_too_long();
        let mut taken = Taken {
            intent: Intent::default(),
            seen: None,
            chosen: None,
            processed: None,
        };
        self.late = self.late.saturating_add(1);
        self.patience = self.patience.map(|steps| steps.saturating_sub(1));
        while let Some((id, deed)) = self.line.pop_front() {
            taken.processed = Some(id);
            match deed {
                Deed::Choose(loadout) => {
                    taken.chosen = Some(loadout);
                    self.patience = None;
                }
                Deed::Nothing => {}
                Deed::Fly(intent, seen) => {
                    self.waiting -= 1;
                    self.patience = self.patience.map(|_| 0);
                    taken.seen = Some(seen);
                    (self.last, self.late) = (intent, 0);
                    if !core::mem::take(&mut skips) {
                        break;
                    }
                }
            }
        }
        if self.patience == Some(0) {
            self.patience = None;
            taken.chosen = Some(Loadout::STANDARD);
        }
        taken.intent = match self.late {
            0..=HOLD => self.last,
            _ => Intent {
                aim: self.last.aim,
                ..Intent::default()
            },
        };
        taken
    }

    /// Whether the line was longer than it need be for a while. Watching begins anew then.
    fn is_too_long(&mut self) -> bool {
        self.shortest = self.shortest.min(self.waiting);
        self.watched += 1;
        if self.watched < TRIM_STEPS {
            return false;
        }
        self.watched = 0;
        core::mem::replace(&mut self.shortest, usize::MAX) > CUSHION
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fly(number: u32) -> Deed {
        let intent = Intent {
            forward: true,
            turn_left: number.is_multiple_of(2),
            ..Intent::default()
        };
        Deed::Fly(intent, Tick(number.into()))
    }

    #[test]
    fn one_input_goes_into_a_step_and_says_so() {
        let mut inputs = Inputs::new();
        inputs.push(EventId(1), Deed::Choose(Loadout::UNARMED));
        for number in 2..5 {
            inputs.push(EventId(number), fly(number));
        }
        let first = inputs.take_step();
        assert_eq!(first.chosen, Some(Loadout::UNARMED));
        assert_eq!(
            (first.processed, first.intent.turn_left),
            (Some(EventId(2)), true)
        );
        let second = inputs.take_step();
        assert_eq!((second.chosen, second.processed), (None, Some(EventId(3))));
        assert_eq!((first.seen, second.seen), (Some(Tick(2)), Some(Tick(3))));
        assert!(!second.intent.turn_left);
    }

    #[test]
    fn whoever_chooses_nothing_gets_the_usual_weapons_once() {
        let mut inputs = Inputs::new();
        inputs.await_choice();
        let chosen: Vec<_> = (0..200).map(|_| inputs.take_step().chosen).collect();
        assert_eq!(chosen.iter().flatten().count(), 1);
        assert_eq!(chosen[usize::from(PATIENCE) - 1], Some(Loadout::STANDARD));

        // Flying is a sign that nothing will be chosen; a choice is one.
        inputs.await_choice();
        inputs.push(EventId(1), fly(1));
        assert_eq!(inputs.take_step().chosen, Some(Loadout::STANDARD));
        inputs.await_choice();
        inputs.push(EventId(2), Deed::Choose(Loadout::UNARMED));
        assert_eq!(inputs.take_step().chosen, Some(Loadout::UNARMED));
        assert!((0..200).all(|_| inputs.take_step().chosen.is_none()));
    }

    #[test]
    fn a_late_input_is_made_up_for_by_the_last_and_then_let_go() {
        let mut inputs = Inputs::new();
        inputs.push(EventId(1), fly(1));
        assert!(inputs.take_step().intent.forward);
        for _ in 0..HOLD {
            let held = inputs.take_step();
            assert_eq!((held.intent.forward, held.processed), (true, None));
        }
        assert!(!inputs.take_step().intent.forward);
        inputs.push(EventId(2), fly(2));
        assert!(inputs.take_step().intent.forward);
    }

    #[test]
    fn nobody_flies_faster_than_the_clock() {
        let mut inputs = Inputs::new();
        let mut next = (1..).map(EventId);
        let mut flown = 0;
        for _ in 0..600 {
            for id in next.by_ref().take(4) {
                inputs.push(id, fly(id.0));
            }
            let before = inputs.waiting;
            let taken = inputs.take_step();
            flown += before - inputs.waiting;
            assert!(taken.processed.is_some());
            assert!(inputs.waiting <= usize::try_from(ALLOWANCE).unwrap());
        }
        // A line that stays long is shortened now and then.
        assert!((600..=605).contains(&flown), "{flown}");
    }

    #[test]
    fn a_line_that_stays_long_gets_shorter() {
        let mut inputs = Inputs::new();
        let mut next = (1..).map(EventId);
        for id in next.by_ref().take(10) {
            inputs.push(id, fly(id.0));
        }
        for id in next.take(60 * 60) {
            inputs.push(id, fly(id.0));
            inputs.take_step();
        }
        assert_eq!(inputs.waiting + 1, CUSHION, "one went into the last step");
    }
}
