//! How a server ends: at once, or when everybody has left.

use std::time::Duration;

use tickwire_session::Instant;

/// The time that players have to leave, once somebody asked the server to end.
#[derive(Debug)]
pub(super) struct Drain {
    patience: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Serving,
    Draining { until: Instant },
}

impl Drain {
    pub(super) fn new(seconds: u32) -> Self {
        Self {
            patience: Duration::from_secs(seconds.into()),
            state: State::Serving,
        }
    }

    /// Begins, if it has not yet: returns how long everybody has.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Duration> {
        let State::Serving = self.state else {
            return None;
        };
        let until = now + self.patience;
        self.state = State::Draining { until };
        Some(self.patience)
    }

    pub(super) const fn is_begun(&self) -> bool {
        matches!(self.state, State::Draining { .. })
    }

    /// Whether the server may end, with so many who are not its own bots.
    pub(super) fn is_over(&self, now: Instant, guests: usize) -> bool {
        match self.state {
            State::Serving => false,
            State::Draining { until } => now >= until || guests == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(7);

    #[test]
    fn it_ends_when_everybody_left_or_time_is_up() {
        let mut drain = Drain::new(10);
        assert!(!drain.is_begun() && !drain.is_over(NOW, 0));
        assert_eq!(drain.begin(NOW), Some(Duration::from_secs(10)));
        assert_eq!(drain.begin(NOW), None);
        let late = NOW + Duration::from_secs(9);
        assert!(!drain.is_over(late, 1));
        assert!(drain.is_over(late, 0));
        assert!(drain.is_over(late + Duration::from_secs(1), 1));
    }

    #[test]
    fn without_patience_it_ends_at_once() {
        let mut drain = Drain::new(0);
        drain.begin(NOW);
        assert!(drain.is_over(NOW, 5));
    }
}
