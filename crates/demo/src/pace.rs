//! When the next step is due, sixty a second by the clock, and whether the game keeps up with that.
//!
//! In: the time after each step. Out: the time of the next one, and [`is_busy`](Pace::is_busy), by which
//! newcomers are turned away. Waiting is the caller's.

use std::time::Duration;

use tickwire_session::Instant;

use crate::STEP;

/// How far the worlds may fall behind the clock before they let time pass instead of catching up.
const CATCH_UP: Duration = Duration::from_millis(250);

/// A step that begins later than this is late. Two steps: one slow frame of the system is no sign of load.
const LATE: Duration = Duration::from_millis(34);

/// Steps are late for so long before the game counts as busy: longer than a burst of joins takes.
const BUSY_AFTER: Duration = Duration::from_millis(500);

/// Steps are in time for so long before it does not any more, so that it does not change its mind with
/// every newcomer.
const FREE_AFTER: Duration = Duration::from_secs(2);

/// The pace of a server's steps.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    due: Instant,
    is_busy: bool,
    /// Since when steps have been the other way: late while it is not busy, in time while it is.
    changing: Option<Instant>,
}

impl Pace {
    /// The first step is due now.
    pub const fn new(now: Instant) -> Self {
        Self {
            due: now,
            is_busy: false,
            changing: None,
        }
    }

    /// When the next step is due.
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// Whether steps have been late for a while.
    pub const fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// A step was made. One that took too long is made up for by the next ones; a machine that
    /// slept is not.
    pub fn made_step(&mut self, now: Instant) {
        self.note(now, now.since(self.due) > LATE);
        self.due += STEP;
        if self.due + CATCH_UP < now {
            self.due = now;
        }
    }

    fn note(&mut self, now: Instant, is_late: bool) {
        if is_late == self.is_busy {
            self.changing = None;
            return;
        }
        let since = *self.changing.get_or_insert(now);
        let patience = if is_late { BUSY_AFTER } else { FREE_AFTER };
        if now.since(since) >= patience {
            self.is_busy = is_late;
            self.changing = None;
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
        assert!(!pace.is_busy(), "that was a moment");
    }

    #[test]
    fn a_long_sleep_is_not() {
        let mut pace = Pace::new(Instant::ZERO);
        let awake = Instant::ZERO + Duration::from_secs(3_600);
        pace.made_step(awake);
        assert_eq!(pace.due(), awake);
        assert!(!pace.is_busy());
    }

    #[test]
    fn steps_that_stay_late_are_a_sign_of_load_and_recovery_takes_a_while() {
        let mut pace = Pace::new(Instant::ZERO);
        let mut now = Instant::ZERO;
        let mut steps_of = |took: Duration, until_busy: bool| {
            let began = now;
            while pace.is_busy() != until_busy {
                now = now.max(pace.due()) + took;
                pace.made_step(now);
                assert!(now.since(began) < Duration::from_secs(10));
            }
            now.since(began)
        };
        let load = steps_of(Duration::from_millis(40), true);
        assert!(load >= BUSY_AFTER && load < Duration::from_secs(1));
        let recovery = steps_of(Duration::from_millis(5), false);
        assert!(recovery >= FREE_AFTER && recovery < Duration::from_secs(3));
    }
}
