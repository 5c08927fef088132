//! The actions of one client that the game has to answer.
//!
//! Actions of one kind that came by one path stand in a line, and the game is shown only the first of
//! it. That keeps the answers in order whatever the game does, and while an action is put off others
//! of its kind get failures alone, so that its late success cannot be taken for another's.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tickwire_session::{Instant, Reason, TokenBucket};

use crate::cppevy::ActionId;
use crate::cppevy::limits::{
    ACTION_REFILL, ACTIONS_AT_ONCE, ACTIONS_WAITING, ANSWER_PATIENCE, ANSWERS_OWED, INPUT_HOLD,
};

/// The path that an action came by, and its answer takes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Via {
    Datagrams,
    Stream,
}

/// A line: one kind of action by one path.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct LineId {
    pub(super) action: ActionId,
    pub(super) via: Via,
}

#[derive(Debug)]
pub(super) struct ActionQueue {
    lines: BTreeMap<LineId, Line>,
    shown: u64,
    rate: TokenBucket,
}

#[derive(Debug, Default)]
struct Line {
    owed: VecDeque<Owed>,
    /// The game was shown the first of the line at this moment, under this number.
    first: Option<(Instant, u64)>,
    /// The game put this one off.
    delayed: Option<u64>,
    /// What the newest successful action said, and when.
    newest: Option<(Instant, Vec<u8>)>,
}

#[derive(Debug)]
enum Owed {
    /// The game shall decide.
    Decision(Vec<u8>),
    /// Decided already; it only waits for its turn.
    Refused(Reason),
}

/// What is to be done about the first action of a line.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Turn {
    /// It is refused.
    Refuse(Reason),
    /// The game is asked.
    Ask { number: u64, data: Vec<u8> },
}

/// The client sent actions without end and does not take the answers.
#[derive(Debug)]
pub(super) struct Flooded;

/// There is no such action to answer, or it was answered before.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Stray;

impl ActionQueue {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            lines: BTreeMap::new(),
            shown: 0,
            rate: TokenBucket::new(now, ACTIONS_AT_ONCE, ACTION_REFILL),
        }
    }

    /// Takes an action in. It is put at the end of its line even if it will be refused, because
    /// answers keep the order of the actions; only datagrams have no order to keep.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        id: LineId,
        data: &[u8],
        game_is_behind: bool,
    ) -> Result<Option<Reason>, Flooded> {
        let decisions = |line: &Line| {
            let waits = |owed: &&Owed| matches!(owed, Owed::Decision(_));
            line.owed.iter().filter(waits).count()
        };
        let waiting: usize = self.lines.values().map(decisions).sum();
        let busy = game_is_behind || waiting >= ACTIONS_WAITING || self.rate.take(now).is_none();
        if busy && id.via == Via::Datagrams {
            return Ok(Some(Reason::Busy));
        }
        let line = self.lines.entry(id).or_default();
        if line.owed.len() >= ANSWERS_OWED {
            return Err(Flooded);
        }
        line.owed.push_back(if busy {
            Owed::Refused(Reason::Busy)
        } else {
            Owed::Decision(data.into())
        });
        Ok(None)
    }

    /// Refuses an action that the game is not asked about, when it is its turn.
    pub(super) fn refuse(&mut self, id: LineId, reason: Reason) -> Result<(), Flooded> {
        let line = self.lines.entry(id).or_default();
        if line.owed.len() >= ANSWERS_OWED {
            return Err(Flooded);
        }
        line.owed.push_back(Owed::Refused(reason));
        Ok(())
    }

    /// Takes the first of a line that the game has not been shown, to be refused.
    pub(super) fn dismiss(&mut self, id: LineId) -> Option<()> {
        let line = self.lines.get_mut(&id)?;
        match line.first {
            Some(_) => None,
            None => line.owed.pop_front().map(drop),
        }
    }

    /// What to do about the first of a line, if something is to be done.
    pub(super) fn next(&mut self, now: Instant, id: LineId) -> Option<Turn> {
        // One that was put off keeps both paths to failures: what it waits for is the same.
        let mut lines = self.lines_of(id.action);
        let delayed = lines.any(|line| line.delayed.is_some());
        drop(lines);
        let line = self.lines.get_mut(&id)?;
        if line.first.is_some() {
            return None;
        }
        match line.owed.front()? {
            Owed::Refused(reason) => {
                let reason = *reason;
                line.owed.pop_front();
                Some(Turn::Refuse(reason))
            }
            Owed::Decision(_) if delayed => {
                line.owed.pop_front();
                Some(Turn::Refuse(Reason::Waiting))
            }
            Owed::Decision(data) => {
                let (number, data) = (self.shown, data.clone());
                self.shown += 1;
                line.first = Some((now, number));
                Some(Turn::Ask { number, data })
            }
        }
    }

    /// The game has decided. An action that was put off can only succeed.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        id: LineId,
        number: u64,
        decision: Result<(), Reason>,
    ) -> Result<(), Stray> {
        let line = self.lines.get_mut(&id).ok_or(Stray)?;
        if decision == Ok(()) && line.delayed.take_if(|delayed| *delayed == number).is_some() {
            return Ok(());
        }
        line.first
            .take_if(|(_, first)| *first == number)
            .ok_or(Stray)?;
        let owed = line.owed.pop_front();
        match (decision, owed) {
            (Ok(()), Some(Owed::Decision(data))) => line.newest = Some((now, data)),
            (Err(Reason::Delayed), _) => line.delayed = Some(number),
            _ => {}
        }
        Ok(())
    }

    /// An action that the game has left unanswered for too long, which is thereby answered.
    pub(super) fn expire(&mut self, now: Instant) -> Option<LineId> {
        let late = |line: &Line| {
            line.first
                .is_some_and(|(shown, _)| now.since(shown) >= ANSWER_PATIENCE)
        };
        let (id, line) = self.lines.iter_mut().find(|(_, line)| late(line))?;
        line.first = None;
        line.owed.pop_front();
        Some(*id)
    }

    /// Whether an action waits for the game.
    pub(super) fn awaits_game(&self) -> bool {
        self.deadline().is_some()
    }

    /// When the game has left an action unanswered for too long.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let shown = |line: &Line| line.first.map(|(shown, _)| shown);
        let oldest = self.lines.values().filter_map(shown).min()?;
        Some(oldest + ANSWER_PATIENCE)
    }

    /// What the newest successful action of a kind said, by whichever path, while it holds.
    pub(super) fn newest(&self, now: Instant, action: ActionId) -> Option<&[u8]> {
        let newest = self
            .lines_of(action)
            .filter_map(|line| line.newest.as_ref());
        let (at, data) = newest.max_by_key(|(at, _)| *at)?;
        (now.since(*at) < INPUT_HOLD).then_some(data)
    }

    /// The lines of a kind of action, one for each path.
    fn lines_of(&self, action: ActionId) -> impl Iterator<Item = &Line> {
        [Via::Stream, Via::Datagrams]
            .into_iter()
            .filter_map(move |via| self.lines.get(&LineId { action, via }))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    const LINE: LineId = LineId {
        action: ActionId(7),
        via: Via::Stream,
    };
    const NOW: Instant = Instant::from_millis(1_000);

    fn queue_with(count: u8) -> ActionQueue {
        let mut queue = ActionQueue::new(NOW);
        for data in 0..count {
            assert_eq!(queue.accept(NOW, LINE, &[data], false).unwrap(), None);
        }
        queue
    }

    #[track_caller]
    fn asked(queue: &mut ActionQueue, expected: u8) -> u64 {
        match queue.next(NOW, LINE) {
            Some(Turn::Ask { number, data }) => {
                assert_eq!(data, [expected]);
                number
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_game_sees_one_of_a_kind_at_a_time_and_answers_it_once() {
        let mut queue = queue_with(2);
        let first = asked(&mut queue, 0);
        assert_eq!(queue.next(NOW, LINE), None);
        assert_eq!(queue.decide(NOW, LINE, first, Ok(())), Ok(()));
        assert_eq!(queue.decide(NOW, LINE, first, Ok(())), Err(Stray));
        let second = asked(&mut queue, 1);
        let failed = queue.decide(NOW, LINE, second, Err(Reason::Error));
        assert_eq!(failed, Ok(()));
        assert_eq!(queue.next(NOW, LINE), None);
    }

    #[test]
    fn behind_a_delayed_one_there_are_only_failures() {
        let mut queue = queue_with(3);
        let first = asked(&mut queue, 0);
        queue
            .decide(NOW, LINE, first, Err(Reason::Delayed))
            .unwrap();
        assert_eq!(queue.next(NOW, LINE), Some(Turn::Refuse(Reason::Waiting)));
        // It was put off, so it cannot fail any more.
        let failed = queue.decide(NOW, LINE, first, Err(Reason::Error));
        assert_eq!(failed, Err(Stray));
        assert_eq!(queue.decide(NOW, LINE, first, Ok(())), Ok(()));
        asked(&mut queue, 2);
    }

    #[test]
    fn busy_waits_for_its_turn_on_a_stream_and_not_on_datagrams() {
        let mut queue = queue_with(1);
        assert_eq!(queue.accept(NOW, LINE, &[1], true).unwrap(), None);
        let first = asked(&mut queue, 0);
        assert_eq!(queue.next(NOW, LINE), None);
        queue.decide(NOW, LINE, first, Ok(())).unwrap();
        assert_eq!(queue.next(NOW, LINE), Some(Turn::Refuse(Reason::Busy)));
        let datagrams = LineId {
            via: Via::Datagrams,
            ..LINE
        };
        let refused = queue.accept(NOW, datagrams, &[1], true).unwrap();
        assert_eq!(refused, Some(Reason::Busy));
    }

    #[test]
    fn a_flood_gets_busy_and_then_the_door() {
        let mut queue = queue_with(64);
        for _ in 64..ANSWERS_OWED {
            queue.accept(NOW, LINE, &[], false).unwrap();
        }
        assert!(queue.accept(NOW, LINE, &[], false).is_err());
        for number in 0..64 {
            asked(&mut queue, number);
            queue.decide(NOW, LINE, number.into(), Ok(())).unwrap();
        }
        let refused = core::iter::from_fn(|| queue.next(NOW, LINE));
        assert!(refused.eq((64..ANSWERS_OWED).map(|_| Turn::Refuse(Reason::Busy))));
    }

    #[test]
    fn what_the_game_forgets_is_answered_for_it() {
        let mut queue = queue_with(1);
        let first = asked(&mut queue, 0);
        let late = NOW + ANSWER_PATIENCE;
        assert_eq!(queue.expire(NOW + Duration::from_millis(4_999)), None);
        assert_eq!(queue.expire(late), Some(LINE));
        assert_eq!(queue.expire(late), None);
        assert_eq!(queue.decide(late, LINE, first, Ok(())), Err(Stray));
    }

    #[test]
    fn an_input_holds_for_half_a_second() {
        let mut queue = queue_with(1);
        assert_eq!(queue.newest(NOW, LINE.action), None);
        let first = asked(&mut queue, 0);
        queue.decide(NOW, LINE, first, Ok(())).unwrap();
        assert_eq!(queue.newest(NOW, LINE.action), Some(&[0][..]));
        assert_eq!(queue.newest(NOW + INPUT_HOLD, LINE.action), None);
    }
}
