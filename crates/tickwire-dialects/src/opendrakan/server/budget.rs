//! How many bytes a second a client's datagrams may take.

use core::time::Duration;

use tickwire_session::Instant;

use crate::opendrakan::limits::BURST;

/// A byte rate that may be exceeded once: a snapshot is never cut, so the one that goes beyond the
/// budget goes out whole, and nothing follows until time has paid for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    bytes_per_second: u32,
    /// When everything that went out is paid for.
    paid: Instant,
}

impl Budget {
    pub(super) const fn new(now: Instant, bytes_per_second: u32) -> Self {
        Self {
            bytes_per_second,
            paid: now,
        }
    }

    /// Whether anything may go out.
    pub(super) fn has_room(&self, now: Instant) -> bool {
        self.bytes_per_second > 0 && self.paid < now + BURST
    }

    /// So many bytes go out.
    pub(super) fn spend(&mut self, now: Instant, bytes: usize) {
        let micros =
            (bytes as u64).saturating_mul(1_000_000) / u64::from(self.bytes_per_second.max(1));
        self.paid = self.paid.max(now) + Duration::from_micros(micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_always_asks_gets_the_rate() {
        let mut budget = Budget::new(Instant::ZERO, 10_000);
        let mut sent = 0;
        for now in (0..10_000).map(Instant::from_millis) {
            if budget.has_room(now) {
                budget.spend(now, 700);
                sent += 700;
            }
        }
        // Ten seconds, the burst at the start, and one sending that went into debt.
        assert!((100_000..102_000).contains(&sent), "{sent}");
    }

    #[test]
    fn a_debt_is_paid_before_anything_else() {
        let mut budget = Budget::new(Instant::ZERO, 1_000);
        assert!(budget.has_room(Instant::ZERO));
        budget.spend(Instant::ZERO, 2_100);
        assert!(!budget.has_room(Instant::from_millis(2_000)));
        assert!(budget.has_room(Instant::from_millis(2_001)));
    }

    #[test]
    fn no_bytes_a_second_is_nothing() {
        let budget = Budget::new(Instant::ZERO, 0);
        assert!(!budget.has_room(Instant::from_millis(1_000_000)));
    }
}
