//! When the next step is due: sixty a second by the clock, whatever a single one takes.
//!
//! In: the time after each step. Out: the time of the next one. Waiting for it is the caller's.

use std::time::Duration;

use tickwire_session::Instant;

use crate::STEP;

/// How far the worlds may fall behind the clock before they let time pass instead of catching up.
const CATCH_UP: Duration = Duration::from_millis(250);

/// The pace of a server's steps.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    due: Instant,
}

impl Pace {
    /// The first step is due now.
    pub const fn new(now: Instant) -> Self {
        Self { due: now }
    }

    /// When the next step is due.
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// A step was made. One that took too long is made up for by the next ones; a machine that
    /// slept is not.
    pub fn made_step(&mut self, now: Instant) {
        self.due += STEP;
        if self.due + CATCH_UP < now {
            self.due = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_step_is_made_up_for() {
        let mut pace = Pace::new(Instant::ZERO);
        let late = Instant::ZERO + STEP * 5 / 2;
        for _ in 0..3 {
            assert!(pace.due() < late);
            pace.made_step(late);
        }
        assert!(pace.due() > late);
    }

    #[test]
    fn a_long_sleep_is_not() {
        let mut pace = Pace::new(Instant::ZERO);
        let awake = Instant::ZERO + Duration::from_secs(3_600);
        pace.made_step(awake);
        assert_eq!(pace.due(), awake);
    }
}
