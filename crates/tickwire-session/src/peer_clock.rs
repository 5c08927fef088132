//! A peer's clock, seen from here.
//!
//! In: timestamps in milliseconds, each of the moment at which its datagram was sent. Out: how long ago
//! a timestamp was. The datagram that was fastest on its way tells it best, so the largest difference to
//! our clock counts; it is slowly forgotten, so that a clock that runs slower, or a path that became
//! longer, is followed.

use core::time::Duration;

use tickwire_wire::Serial;

use crate::Instant;

/// A peer's clock of milliseconds, which may wrap.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerClock {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// The peer's microseconds, wraps undone, minus ours.
    ahead: i64,
    updated: Instant,
    newest: u32,
    /// The newest timestamp in microseconds, wraps undone.
    unwrapped: i64,
}

/// Microseconds by which the estimate falls each second: a hundred times what quartz clocks differ.
const FORGOTTEN_A_SECOND: i64 = 1_000;

impl PeerClock {
    /// A datagram with this timestamp arrived.
    pub fn add_arrival(&mut self, now: Instant, timestamp: u32) {
        let here = micros(now);
        self.estimate = Some(match self.estimate {
            None => {
                let unwrapped = i64::from(timestamp) * 1_000;
                Estimate {
                    ahead: unwrapped - here,
                    updated: now,
                    newest: timestamp,
                    unwrapped,
                }
            }
            Some(old) => {
                let unwrapped = old.unwrapped + timestamp.steps_since(old.newest) * 1_000;
                let passed = here - micros(old.updated);
                let forgotten = passed / 1_000 * FORGOTTEN_A_SECOND / 1_000;
                Estimate {
                    ahead: (unwrapped - here).max(old.ahead - forgotten),
                    // A rounded-off remainder must not be lost every time.
                    updated: if forgotten > 0 { now } else { old.updated },
                    newest: timestamp,
                    unwrapped,
                }
            }
        });
    }

    /// How long ago `timestamp` was, not counting the shortest way here; zero if it is still to come,
    /// or nothing arrived yet.
    pub fn age(&self, now: Instant, timestamp: u32) -> Duration {
        let Some(estimate) = self.estimate else {
            return Duration::ZERO;
        };
        let then = estimate.unwrapped + timestamp.steps_since(estimate.newest) * 1_000;
        let age = micros(now) + estimate.ahead - then;
        Duration::from_micros(u64::try_from(age).unwrap_or(0))
    }
}

fn micros(now: Instant) -> i64 {
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_fastest_datagram_sets_the_clock() {
        let mut clock = PeerClock::default();
        // Sent at 0, 50 and 100 ms of the peer's clock; 50, 20 and 90 ms on their way.
        for (arrival, timestamp) in [(50, 0), (70, 50), (190, 100)] {
            clock.add_arrival(at(arrival), timestamp);
        }
        let age = clock.age(at(190), 100);
        // What is forgotten in 120 ms.
        let forgotten = Duration::from_millis(70) - age;
        assert!(forgotten < Duration::from_micros(130), "{age:?}");
        assert_eq!(clock.age(at(190), 500), Duration::ZERO);
    }

    #[test]
    fn the_clock_passes_the_wrap_of_timestamps() {
        let mut clock = PeerClock::default();
        clock.add_arrival(at(1_000), u32::MAX - 9);
        clock.add_arrival(at(1_100), 90);
        assert_eq!(clock.age(at(1_150), 90), Duration::from_millis(50));
        assert_eq!(clock.age(at(1_150), u32::MAX), Duration::from_millis(141));
    }

    #[test]
    fn a_longer_path_is_believed_in_time() {
        let mut clock = PeerClock::default();
        clock.add_arrival(at(0), 0);
        for second in 1..=200_u32 {
            clock.add_arrival(at(u64::from(second) * 1_000 + 100), second * 1_000);
        }
        assert!(clock.age(at(200_100), 200_000) < Duration::from_millis(2));
    }
}
