//! The driver's clock, as a session sees it.

use core::fmt;
use core::ops::{Add, AddAssign};
use core::time::Duration;

/// A moment: microseconds of the driver's clock, which never runs backwards.
///
/// Zero is whenever the driver began. It can be printed, stored and compared between two runs, and
/// there is no way to ask for the current one: a session learns the time only from its driver.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant(u64);

impl Instant {
    /// When the driver began.
    pub const ZERO: Self = Self(0);
    /// Later than everything: what never happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `micros` microseconds after the driver began.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The moment `millis` milliseconds after the driver began.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the driver began.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the driver began.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// The moment `span` before this one; not before the driver began.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(micros))
    }

    /// Whole milliseconds since `earlier`, as protocols count them: after 49 days they begin again.
    pub const fn wrapping_millis_since(self, earlier: Self) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "timestamps wrap")]
        let millis = self.since(earlier).as_millis() as u32;
        millis
    }

    /// When something regular is due that was due at this moment and is done now.
    ///
    /// Counting from the moment it was due keeps the rate; after a pause there is no catching up.
    pub fn next_due(self, period: Duration, now: Self) -> Self {
        let next = self + period;
        if next > now { next } else { now + period }
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at [`Instant::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX)),
        )
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_begin_again() {
        let began = Instant::from_millis(5);
        let last = Instant::from_millis(5 + u64::from(u32::MAX));
        assert_eq!(last.wrapping_millis_since(began), u32::MAX);
        let next = last + Duration::from_millis(1);
        assert_eq!(next.wrapping_millis_since(began), 0);
    }

    #[test]
    fn a_rate_is_kept_and_a_pause_is_not_caught_up() {
        let period = Duration::from_millis(50);
        let next = |due, now| {
            let due = Instant::from_millis(due);
            due.next_due(period, Instant::from_millis(now)).as_millis()
        };
        assert_eq!(next(100, 82), 150);
        assert_eq!(next(100, 149), 150);
        assert_eq!(next(100, 150), 200);
        assert_eq!(next(100, 1_000), 1_050);
    }
}
