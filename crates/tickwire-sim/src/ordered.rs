//! A link that loses nothing and keeps the order: a stream, as far as whoever uses it notices.
//!
//! In: items with their size. Out: the same items, each once and in order, later. Items cross a [`Link`]; one
//! that it does not carry is pushed again after a while, and what was pushed behind it waits, which is
//! what makes streams slow on a bad network. Where the link has a bottleneck, items are fed to it as
//! its queue takes them: a stream's congestion control finds out as much.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;
use core::{iter, mem};

use tickwire_session::Instant;

use crate::network::{RESEND_AFTER, RESEND_AFTER_LONGEST};
use crate::schedule::Schedule;
use crate::{Conditions, Fate, Link, Rng};

#[derive(Clone, Debug)]
pub(crate) struct OrderedLink<T> {
    link: Link<Numbered<T>>,
    /// What the bottleneck's queue has no room for.
    waiting: VecDeque<Numbered<T>>,
    resends: Schedule<Resend<T>>,
    pushed: u64,
    popped: u64,
    /// What arrived before something in front of it.
    early: BTreeMap<u64, Numbered<T>>,
    /// Bytes pushed and not popped.
    bytes: usize,
}

const END_OF_TIME: Instant = Instant::from_micros(u64::MAX);

#[derive(Clone, Debug)]
struct Numbered<T> {
    number: u64,
    size: usize,
    item: T,
}

#[derive(Clone, Debug)]
struct Resend<T> {
    item: Numbered<T>,
    after: Duration,
}

impl<T: Clone> OrderedLink<T> {
    pub(crate) const fn new(conditions: Conditions, rng: Rng) -> Self {
        Self {
            link: Link::new(conditions, rng),
            waiting: VecDeque::new(),
            resends: Schedule::new(),
            pushed: 0,
            popped: 0,
            early: BTreeMap::new(),
            bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, now: Instant, item: T, size: usize) {
        let number = self.pushed;
        self.pushed += 1;
        self.bytes += size;
        self.waiting.push_back(Numbered { number, size, item });
        self.feed(now);
    }

    /// The next item in order, if it has arrived by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<T> {
        while let Some(Resend { item, after }) = self.resends.pop(now) {
            self.send(now, item, after * 2);
        }
        self.feed(now);
        while let Some(item) = self.link.pop(now) {
            // Copies of what was popped are no news.
            if item.number >= self.popped {
                self.early.insert(item.number, item);
            }
        }
        let Numbered { size, item, .. } = self.early.remove(&self.popped)?;
        self.popped += 1;
        self.bytes -= size;
        Some(item)
    }

    /// When something may arrive. After [`pop`](Self::pop) has returned `None` it is later than its `now`.
    pub(crate) fn next_moment(&self) -> Option<Instant> {
        let drains = self
            .link
            .half_empty_at()
            .filter(|_| !self.waiting.is_empty());
        let is_ready = self.early.contains_key(&self.popped);
        let moments = [
            is_ready.then_some(Instant::ZERO),
            self.link.next_moment(),
            self.resends.next_moment(),
            drains,
        ];
        moments.into_iter().flatten().min()
    }

    pub(crate) const fn set_conditions(&mut self, conditions: Conditions) {
        self.link.set_conditions(conditions);
    }

    /// Bytes pushed and not popped.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing is on the way.
    pub(crate) const fn is_empty(&self) -> bool {
        self.popped == self.pushed
    }

    /// Everything on the way, in order, however late it would be.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        let mut rest = mem::take(&mut self.early);
        let on_link = iter::from_fn(|| self.link.pop(END_OF_TIME));
        let lost = iter::from_fn(|| self.resends.pop(END_OF_TIME)).map(|resend| resend.item);
        for item in on_link.chain(lost).chain(self.waiting.drain(..)) {
            rest.insert(item.number, item);
        }
        let popped = mem::replace(&mut self.popped, self.pushed);
        self.bytes = 0;
        rest.into_values()
            .filter(|item| item.number >= popped)
            .map(|item| item.item)
            .collect()
    }

    /// Forgets everything on the way.
    pub(crate) fn clear(&mut self) {
        self.link.clear();
        self.waiting.clear();
        self.resends.clear();
        self.early.clear();
        self.popped = self.pushed;
        self.bytes = 0;
    }

    fn feed(&mut self, now: Instant) {
        while let Some(next) = self.waiting.front() {
            let fits = match (self.link.room(now), self.link.half_empty_at()) {
                // Half empty: the rest is taken, however small the queue is.
                (None, _) | (_, None) => true,
                (Some(room), Some(_)) => room as usize >= next.size,
            };
            if !fits {
                break;
            }
            if let Some(item) = self.waiting.pop_front() {
                self.send(now, item, RESEND_AFTER);
            }
        }
    }

    fn send(&mut self, now: Instant, item: Numbered<T>, after: Duration) {
        let size = item.size;
        if self.link.push(now, item.clone(), size) == Fate::Carried {
            return;
        }
        let round_trip = self.link.conditions().slowest() * 2;
        let after = after.min(RESEND_AFTER_LONGEST).max(round_trip);
        self.resends.push(now + after, Resend { item, after });
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{Bottleneck, Chance};

    /// Pushes a hundred items at once, and says when each arrived.
    fn arrivals(conditions: Conditions) -> Vec<(Instant, u32)> {
        let mut link = OrderedLink::new(conditions, Rng::new(7));
        (0..100).for_each(|item| link.push(Instant::ZERO, item, 100));
        assert_eq!(link.bytes(), 10_000);
        let mut now = Instant::ZERO;
        let mut arrived = Vec::new();
        for _ in 0..10_000 {
            while let Some(item) = link.pop(now) {
                arrived.push((now, item));
            }
            let Some(next) = link.next_moment() else {
                break;
            };
            assert!(next > now, "nothing is to be had at {now:?}");
            now = next;
        }
        assert_eq!(link.bytes(), 0);
        arrived
    }

    #[track_caller]
    fn check(conditions: Conditions) -> Duration {
        let arrived = arrivals(conditions);
        let items: Vec<_> = arrived.iter().map(|(_, item)| *item).collect();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        arrived.last().unwrap().0.since(Instant::ZERO)
    }

    #[test]
    fn everything_arrives_once_and_in_order_on_the_worst_link() {
        check(Conditions::TERRIBLE);
    }

    #[test]
    fn a_loss_holds_up_what_is_behind_it() {
        let lossy = Conditions {
            loss: Chance::percent(10),
            ..Conditions::IDEAL
        };
        assert!(check(lossy) >= RESEND_AFTER);
    }

    #[test]
    fn a_bottleneck_is_used_fully() {
        let narrow = Conditions {
            bottleneck: Some(Bottleneck {
                bytes_per_second: 10_000,
                queue_bytes: 500,
            }),
            ..Conditions::IDEAL
        };
        let took = check(narrow);
        assert!(
            took >= Duration::from_secs(1) && took < Duration::from_millis(1_100),
            "{took:?}"
        );
    }
}
