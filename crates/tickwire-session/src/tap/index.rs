//! Where playing back a recording may begin.
//!
//! In: moments and the bytes at which they are. Out: the last of them before a moment. However long a recording
//! is, its index has a bound: when it is full, every second entry is dropped, and fewer are taken from then on.

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use super::recording::{Reader, Writer};
use crate::Instant;

/// Entries at most: one every two seconds for two hours, and then fewer.
const ENTRIES_MAX: usize = 4_096;

/// The marks of a recording, in order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Index {
    entries: Vec<(Instant, u64)>,
    /// Of so many marks one is taken.
    every: u32,
    /// Marks since the last that was taken.
    passed: u32,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            every: 1,
            passed: 0,
        }
    }
}

impl Index {
    /// Takes a mark that is later than those before.
    pub fn push(&mut self, now: Instant, at: u64) {
        self.passed += 1;
        if self.passed < self.every {
            return;
        }
        self.passed = 0;
        if self.entries.len() == ENTRIES_MAX {
            let mut keep = false;
            self.entries.retain(|_| {
                keep = !keep;
                keep
            });
            self.every = self.every.saturating_mul(2);
        }
        self.entries.push((now, at));
    }

    /// The last mark that is not later than a moment: its own, and the byte at which it is.
    pub fn before(&self, moment: Instant) -> Option<(Instant, u64)> {
        let after = self.entries.partition_point(|(at, _)| *at <= moment);
        self.entries.get(after.checked_sub(1)?).copied()
    }

    /// Reads what [`Recorder::finish`](super::Recorder::finish) wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let mut index = Self::default();
        while r.remaining() > 0 {
            let now = Instant::from_micros(r.u64("time")?);
            index.push(now, r.u64("at")?);
        }
        Ok(index)
    }

    pub(super) fn write(&self, w: &mut Writer<'_>) {
        for (now, at) in &self.entries {
            w.u64(now.as_micros());
            w.u64(*at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Instant {
        Instant::from_millis(second * 1_000)
    }

    #[test]
    fn the_last_mark_before_a_moment_is_found() {
        let mut index = Index::default();
        assert_eq!(index.before(at(9)), None);
        index.push(at(2), 100);
        index.push(at(4), 200);
        assert_eq!(index.before(at(1)), None);
        assert_eq!(index.before(at(2)), Some((at(2), 100)));
        assert_eq!(index.before(at(9)), Some((at(4), 200)));
    }

    #[test]
    fn a_long_recording_has_an_index_of_the_same_size() {
        let mut index = Index::default();
        let marks = 10 * ENTRIES_MAX as u64;
        for mark in 0..marks {
            index.push(at(mark), mark);
        }
        assert!(index.entries.len() <= ENTRIES_MAX);
        // Marks are nowhere further apart than the last halving makes them.
        let (found, _) = index.before(at(marks)).unwrap();
        assert!(found >= at(marks - 32), "{found}");
        let gaps = index.entries.windows(2).map(|two| two[1].1 - two[0].1);
        assert!(gaps.max() <= Some(32));
    }
}
