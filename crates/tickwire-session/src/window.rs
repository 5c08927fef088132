//! A rate limit over a sliding window.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::Instant;

/// At most so many in any span, wherever it begins: stricter than a [`TokenBucket`](crate::TokenBucket),
/// which after a pause allows its fill on top of its rate.
#[derive(Clone, Debug)]
pub struct SlidingWindow {
    most: usize,
    span: Duration,
    /// When the last ones were; never more than `most`.
    recent: VecDeque<Instant>,
}

impl SlidingWindow {
    /// Allows `most` in any `span`.
    pub const fn new(most: usize, span: Duration) -> Self {
        Self {
            most,
            span,
            recent: VecDeque::new(),
        }
    }

    /// Whether one more is allowed now.
    pub fn allows(&self, now: Instant) -> bool {
        match self.recent.front() {
            Some(&oldest) if self.recent.len() >= self.most => now.since(oldest) >= self.span,
            _ => true,
        }
    }

    /// When one more is allowed, if that is not already.
    pub fn next(&self) -> Option<Instant> {
        let oldest = self.recent.front()?;
        (self.recent.len() >= self.most).then(|| *oldest + self.span)
    }

    /// Counts one.
    pub fn count(&mut self, now: Instant) {
        while self.recent.len() >= self.most {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
    }

    /// Counts one, if it is allowed.
    pub fn take(&mut self, now: Instant) -> Option<()> {
        self.allows(now).then(|| self.count(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_span_holds_more_than_is_allowed() {
        let mut window = SlidingWindow::new(8, Duration::from_secs(10));
        let taken = (0..100_u64)
            .map(|tenths| Instant::from_millis(tenths * 100))
            .filter(|&now| window.take(now).is_some())
            .count();
        assert_eq!(taken, 8);
        assert!(!window.allows(Instant::from_millis(9_999)));
        // The first of the eight is ten seconds old, the second is not.
        assert_eq!(window.take(Instant::from_millis(10_000)), Some(()));
        assert_eq!(window.take(Instant::from_millis(10_000)), None);
        assert_eq!(window.take(Instant::from_millis(10_100)), Some(()));
    }
}
