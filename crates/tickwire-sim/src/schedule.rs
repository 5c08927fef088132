//! Timers.
//!
//! [`Schedule`] holds things that happen once each, in order of time and, at one moment, of
//! arrangement. [`Alarms`] holds the next moment of things that have one at a time, and change it
//! often.

use alloc::collections::{BTreeMap, BTreeSet};

use tickwire_session::Instant;

/// A queue ordered by time.
#[derive(Clone, Debug)]
pub(crate) struct Schedule<T> {
    entries: BTreeMap<Ticket, T>,
    arranged: u64,
}

/// The place of one entry: its moment, and how many were arranged before.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Ticket(Instant, u64);

impl<T> Schedule<T> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            arranged: 0,
        }
    }

    pub(crate) fn push(&mut self, at: Instant, item: T) -> Ticket {
        let ticket = Ticket(at, self.arranged);
        self.arranged += 1;
        self.entries.insert(ticket, item);
        ticket
    }

    /// The first entry, if its moment has come.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<T> {
        let first = self.entries.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    pub(crate) fn next_moment(&self) -> Option<Instant> {
        self.entries.first_key_value().map(|(ticket, _)| ticket.0)
    }

    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        self.entries.remove(&ticket);
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.entries.retain(|_, item| keep(item));
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The next moment of each key that has one.
#[derive(Clone, Debug)]
pub(crate) struct Alarms<K> {
    moments: BTreeMap<K, Instant>,
    /// The same, in order of time.
    order: BTreeSet<(Instant, K)>,
}

impl<K: Copy + Ord> Alarms<K> {
    pub(crate) const fn new() -> Self {
        Self {
            moments: BTreeMap::new(),
            order: BTreeSet::new(),
        }
    }

    /// Sets the moment of `key`; it has no other.
    pub(crate) fn set(&mut self, key: K, at: Option<Instant>) {
        let before = match at {
            Some(at) => self.moments.insert(key, at),
            None => self.moments.remove(&key),
        };
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&(before, key));
        }
        if let Some(at) = at {
            self.order.insert((at, key));
        }
    }

    /// The earliest key; at one moment, in order of keys.
    pub(crate) fn first(&self) -> Option<(Instant, K)> {
        self.order.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_arranged_for_one_moment_keeps_its_order() {
        let ms = Instant::from_millis;
        let mut schedule = Schedule::new();
        schedule.push(ms(2), 'c');
        schedule.push(ms(1), 'a');
        let cancelled = schedule.push(ms(1), 'x');
        schedule.push(ms(1), 'b');
        schedule.cancel(cancelled);
        assert_eq!(schedule.next_moment(), Some(ms(1)));
        assert_eq!(schedule.pop(Instant::ZERO), None);
        assert_eq!(schedule.pop(ms(1)), Some('a'));
        assert_eq!(schedule.pop(ms(1)), Some('b'));
        assert_eq!(schedule.pop(ms(1)), None);
        assert_eq!(schedule.pop(ms(5)), Some('c'));
        assert_eq!((schedule.len(), schedule.next_moment()), (0, None));
    }
    #[test]
    fn a_key_has_one_alarm() {
        let ms = Instant::from_millis;
        let mut alarms = Alarms::new();
        alarms.set('a', Some(ms(5)));
        alarms.set('b', Some(ms(7)));
        alarms.set('a', Some(ms(9)));
        assert_eq!(alarms.first(), Some((ms(7), 'b')));
        alarms.set('b', None);
        assert_eq!(alarms.first(), Some((ms(9), 'a')));
        alarms.set('a', Some(ms(9)));
        alarms.set('a', None);
        assert_eq!(alarms.first(), None);
    }
}
