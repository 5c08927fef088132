//! How many bytes a second a client's datagrams may take.

use tickwire_session::Instant;

use super::super::limits::BURST;

/// Bytes that may go out now. A sending is never cut, so the balance may fall below zero; then nothing
/// goes out until time has brought it back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    bytes_per_second: u32,
    /// Millionths of bytes, so that nothing is lost between two countings.
    balance: i128,
    counted: Instant,
}

const MILLION: i128 = 1_000_000;

impl Budget {
    pub(super) fn new(now: Instant, bytes_per_second: u32) -> Self {
        let mut budget = Self {
            bytes_per_second,
            balance: 0,
            counted: now,
        };
        budget.balance = budget.most();
        budget
    }

    /// Whether anything may go out.
    pub(super) fn has_room(&mut self, now: Instant) -> bool {
        let passed = now.since(self.counted).as_micros();
        let gained = i128::try_from(passed).unwrap_or(i128::MAX);
        let gained = gained.saturating_mul(self.bytes_per_second.into());
        self.balance = self.balance.saturating_add(gained).min(self.most());
        self.counted = now;
        self.balance > 0
    }

    /// So many bytes go out.
    pub(super) fn spend(&mut self, bytes: usize) {
        let spent = i128::try_from(bytes).unwrap_or(i128::MAX);
        self.balance = self.balance.saturating_sub(spent.saturating_mul(MILLION));
    }

    fn most(&self) -> i128 {
        let burst = i128::try_from(BURST.as_micros()).unwrap_or(i128::MAX);
        burst.saturating_mul(self.bytes_per_second.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_always_asks_gets_the_rate() {
        let mut budget = Budget::new(Instant::ZERO, 10_000);
        let mut sent = 0;
        for ms in 0..10_000 {
            if budget.has_room(Instant::from_millis(ms)) {
                budget.spend(700);
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
        budget.spend(2_100);
        assert!(!budget.has_room(Instant::from_millis(2_000)));
        assert!(budget.has_room(Instant::from_millis(2_001)));
    }

    #[test]
    fn no_bytes_a_second_is_nothing() {
        let mut budget = Budget::new(Instant::ZERO, 0);
        assert!(!budget.has_room(Instant::from_millis(1_000_000)));
    }
}
