//! Answered actions: what one side asks the other to do, and how each asking ends.
//!
//! [`Actions`] is the asking side's bookkeeping. In: actions to ask for, and the answers as they come
//! on a stream, which name only the kind of action; answers to one kind come in the order of the
//! asking, so each is matched to its action. Out: what to send and when, and exactly one [`Outcome`] for
//! every action, whether the peer answers, refuses, delays or stays silent. The one
//! exception is an action that failed with [`Reason::Delayed`], which may succeed later on.
//!
//! An action is *assumed* or *confirmed*. What is assumed is shown at once: draw what the peer told,
//! then what [`Actions::assumed`] lists on top of it. When an action ends it is no longer in the list,
//! so one that failed leaves no trace, and nothing has to be undone.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_wire::display_enum;

use crate::Instant;

/// Whether an action is shown before it is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Belief {
    /// It is, and taken back if it fails.
    Assumed,
    /// It is not: nothing has happened until the peer says so.
    Confirmed,
}

display_enum! {
    /// Why the peer did not do it.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Reason {
        /// Not as things stand: the user may try later.
        Unavailable => "not possible now",
        /// Never here: it is not asked for again.
        Disabled => "not allowed on this server",
        /// There is no such action, or it makes no sense: the asking program is wrong.
        Error => "not a valid action",
        /// Too soon: the user may try later.
        Waiting => "too soon",
        /// Not yet: it counts as failed, and may succeed later.
        Delayed => "put off",
        /// Not looked at: it is asked for again after a short wait.
        Busy => "the server was too busy",
    }
}

impl Reason {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unavailable => "Unavailable",
            Self::Disabled => "Disabled",
            Self::Error => "Error",
            Self::Waiting => "Waiting",
            Self::Delayed => "Delayed",
            Self::Busy => "Busy",
        }
    }
}

/// Identifies an action. Numbers are not reused within a session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ActionNumber(u64);

/// How an action ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EndedAction<K> {
    /// Which one.
    pub number: ActionNumber,
    /// Its kind.
    pub kind: K,
    /// Whether it was shown before.
    pub belief: Belief,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of an action.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It was done.
    Succeeded {
        /// What the peer had to say about it; often nothing.
        message: Vec<u8>,
        /// It had failed with [`Reason::Delayed`] before.
        late: bool,
    },
    /// It was not done.
    Failed(Failure),
}

display_enum! {
    /// Why an action was not done.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Failure {
        /// The peer said so.
        Refused(reason: Reason) => "{reason}",
        /// No answer came.
        TimedOut => "no answer came",
        /// The connection ended before an answer came.
        Disconnected => "the connection ended",
    }
}

display_enum! {
    /// Why an action cannot be asked for.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum AskError: Error {
        /// The peer answered an earlier one with [`Reason::Disabled`].
        Disabled => "the server does not allow this action",
        /// Too many wait for their answers.
        TooMany => "too many actions wait for their answers",
    }
}

/// An answer to something that nobody asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unasked;

/// First wait before an action is sent again that was answered with [`Reason::Busy`]; it doubles up
/// to [`BUSY_LONGEST`].
pub const BUSY_FIRST: Duration = Duration::from_millis(50);
/// See [`BUSY_FIRST`].
pub const BUSY_LONGEST: Duration = Duration::from_millis(800);

/// The actions of one side that are under way. `K` tells their kinds apart, `T` is what they say.
#[derive(Debug)]
pub struct Actions<K, T> {
    patience: Duration,
    most: usize,
    begun: u64,
    actions: BTreeMap<ActionNumber, Action<K, T>>,
    lanes: BTreeMap<K, Lane>,
    ended: VecDeque<EndedAction<K>>,
}

#[derive(Debug)]
struct Action<K, T> {
    kind: K,
    belief: Belief,
    content: T,
    deadline: Instant,
    /// When it is to be sent; `None` while its answer is awaited.
    due: Option<Instant>,
    /// How long the next wait after Busy is.
    wait: Duration,
    was_busy: bool,
}

/// What is known about one kind of action.
#[derive(Debug, Default)]
struct Lane {
    /// Sent and not answered, in order. `None` stands for one that ended meanwhile: its answer may
    /// still come, and must not be taken for that of the next.
    asked: VecDeque<Option<ActionNumber>>,
    /// Put off, in order; `None` as above.
    delayed: VecDeque<Option<(ActionNumber, Belief)>>,
    disabled: bool,
}

impl<K: Copy + Ord, T> Actions<K, T> {
    /// Nothing is under way. No action takes longer than `patience`; at most `most` are under way.
    pub const fn new(patience: Duration, most: usize) -> Self {
        Self {
            patience,
            most,
            begun: 0,
            actions: BTreeMap::new(),
            lanes: BTreeMap::new(),
            ended: VecDeque::new(),
        }
    }

    /// Asks for something: from now on it is to be sent, and will end.
    pub fn ask(
        &mut self,
        now: Instant,
        kind: K,
        belief: Belief,
        content: T,
    ) -> Result<ActionNumber, AskError> {
        let lane = self.lanes.entry(kind).or_default();
        if lane.disabled {
            return Err(AskError::Disabled);
        }
        let ghosts = lane.asked.iter().filter(|asked| asked.is_none()).count();
        if self.actions.len() + ghosts + lane.delayed.len() >= self.most {
            return Err(AskError::TooMany);
        }
        let number = ActionNumber(self.begun);
        self.begun += 1;
        self.actions.insert(
            number,
            Action {
                kind,
                belief,
                content,
                deadline: now + self.patience,
                due: Some(now),
                wait: BUSY_FIRST,
                was_busy: false,
            },
        );
        Ok(number)
    }

    /// The next action to send now, which counts as sent.
    pub fn poll_send(&mut self, now: Instant) -> Option<(K, &T)> {
        let due = |(number, action): (&ActionNumber, &Action<K, T>)| Some((action.due?, *number));
        let (_, number) = self
            .actions
            .iter()
            .filter_map(due)
            .min()
            .filter(|(at, _)| *at <= now)?;
        let action = self.actions.get_mut(&number)?;
        action.due = None;
        let lane = self.lanes.entry(action.kind).or_default();
        lane.asked.push_back(Some(number));
        Some((action.kind, &action.content))
    }

    /// The peer did the oldest action of this kind, or one that it had put off.
    pub fn handle_success(&mut self, kind: K, message: &[u8]) -> Result<(), Unasked> {
        let lane = self.lanes.get_mut(&kind).ok_or(Unasked)?;
        let message = message.to_vec();
        // While one is put off, the others only fail: a success is its own.
        if let Some(delayed) = lane.delayed.pop_front() {
            self.ended
                .extend(delayed.map(|(number, belief)| EndedAction {
                    number,
                    kind,
                    belief,
                    outcome: Outcome::Succeeded {
                        message,
                        late: true,
                    },
                }));
            return Ok(());
        }
        if let Some(number) = lane.asked.pop_front().ok_or(Unasked)? {
            let late = false;
            self.end(number, Outcome::Succeeded { message, late });
        }
        Ok(())
    }

    /// The peer did not do the oldest action of this kind.
    pub fn handle_failure(&mut self, now: Instant, kind: K, reason: Reason) -> Result<(), Unasked> {
        let lane = self.lanes.get_mut(&kind).ok_or(Unasked)?;
        let number = lane.asked.pop_front().ok_or(Unasked)?;
        let action = number.and_then(|number| Some((number, self.actions.get(&number)?.belief)));
        match reason {
            Reason::Delayed => lane.delayed.push_back(action),
            Reason::Disabled => lane.disabled = true,
            _ => {}
        }
        match (reason, number) {
            (Reason::Busy, Some(number)) => self.put_back(now, number),
            (_, Some(number)) => self.end(number, Outcome::Failed(Failure::Refused(reason))),
            (_, None) => {}
        }
        if reason == Reason::Disabled {
            self.drop_unsent(kind);
        }
        Ok(())
    }

    /// Ends what took too long.
    pub fn handle_timeout(&mut self, now: Instant) {
        let late = |(number, action): (&ActionNumber, &Action<K, T>)| {
            let busy = action.was_busy && action.due.is_some();
            (now >= action.deadline).then_some((*number, busy))
        };
        let late: Vec<_> = self.actions.iter().filter_map(late).collect();
        for (number, busy) in late {
            self.end(
                number,
                Outcome::Failed(if busy {
                    Failure::Refused(Reason::Busy)
                } else {
                    Failure::TimedOut
                }),
            );
        }
    }

    /// Ends everything: no answers will come.
    pub fn disconnect(&mut self) {
        while let Some(&number) = self.actions.keys().next() {
            self.end(number, Outcome::Failed(Failure::Disconnected));
        }
        self.lanes.clear();
    }

    /// The next action that ended.
    pub fn poll_ended(&mut self) -> Option<EndedAction<K>> {
        self.ended.pop_front()
    }

    /// When to call [`poll_send`](Self::poll_send) or [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        let moment = |action: &Action<K, T>| match action.due {
            Some(due) => due.min(action.deadline),
            None => action.deadline,
        };
        self.actions.values().map(moment).min()
    }

    /// What is shown though nobody has confirmed it, in the order of the asking.
    pub fn assumed(&self) -> impl Iterator<Item = (ActionNumber, K, &T)> {
        self.actions
            .iter()
            .filter(|(_, action)| action.belief == Belief::Assumed)
            .map(|(number, action)| (*number, action.kind, &action.content))
    }

    /// How many have not ended.
    pub fn under_way(&self) -> usize {
        self.actions.len()
    }

    /// Whether the peer said that it never does this.
    pub fn is_disabled(&self, kind: K) -> bool {
        self.lanes.get(&kind).is_some_and(|lane| lane.disabled)
    }

    /// Ends an action. If its answer has not come, its place in the order stays.
    fn end(&mut self, number: ActionNumber, outcome: Outcome) {
        let Some(action) = self.actions.remove(&number) else {
            return;
        };
        if let Some(lane) = self.lanes.get_mut(&action.kind)
            && let Some(place) = lane.asked.iter_mut().find(|asked| **asked == Some(number))
        {
            *place = None;
        }
        self.ended.push_back(EndedAction {
            number,
            kind: action.kind,
            belief: action.belief,
            outcome,
        });
    }

    /// The peer was busy: the action is sent again.
    fn put_back(&mut self, now: Instant, number: ActionNumber) {
        if let Some(action) = self.actions.get_mut(&number) {
            action.due = Some(now + action.wait);
            action.wait = (action.wait * 2).min(BUSY_LONGEST);
            action.was_busy = true;
        }
    }

    /// Ends what was not sent of a kind that is never to be sent again.
    fn drop_unsent(&mut self, kind: K) {
        let unsent = |(number, action): (&ActionNumber, &Action<K, T>)| {
            (action.kind == kind && action.due.is_some()).then_some(*number)
        };
        let unsent: Vec<_> = self.actions.iter().filter_map(unsent).collect();
        for number in unsent {
            self.end(number, Outcome::Failed(Failure::Refused(Reason::Disabled)));
        }
    }
}

#[cfg(test)]
mod tests;
