//! A remote clock of milliseconds that wraps.

use core::time::Duration;

use tickwire_session::Instant;
use tickwire_wire::Serial;

use super::{Fastest, here};

/// A remote clock that is read off timestamps: milliseconds in 32 bits, each of the moment at which its
/// datagram was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct WrappingClock {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    fastest: Fastest,
    newest: u32,
    /// The newest timestamp in microseconds, wraps undone.
    unwrapped: i128,
}

impl WrappingClock {
    /// A datagram with this timestamp arrived.
    pub fn add_arrival(&mut self, now: Instant, timestamp: u32) {
        let unwrapped = self.estimate.map_or_else(
            || i128::from(timestamp) * 1_000,
            |old| old.unwrap(timestamp),
        );
        let seen = unwrapped - here(now);
        let fastest = self.estimate.map_or_else(
            || Fastest::new(now, seen),
            |old| old.fastest.after(now, seen),
        );
        self.estimate = Some(Estimate {
            fastest,
            newest: timestamp,
            unwrapped,
        });
    }

    /// How long ago `timestamp` was, not counting the shortest way here; zero if it is still to come,
    /// or nothing arrived yet.
    pub fn age(&self, now: Instant, timestamp: u32) -> Duration {
        let age = self.estimate.map_or(0, |estimate| {
            here(now) + estimate.fastest.offset - estimate.unwrap(timestamp)
        });
        Duration::from_micros(u64::try_from(age).unwrap_or(0))
    }
}

impl Estimate {
    fn unwrap(&self, timestamp: u32) -> i128 {
        self.unwrapped + i128::from(timestamp.steps_since(self.newest)) * 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_fastest_datagram_sets_the_clock() {
        let mut clock = WrappingClock::default();
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
        let mut clock = WrappingClock::default();
        clock.add_arrival(at(1_000), u32::MAX - 9);
        clock.add_arrival(at(1_100), 90);
        assert_eq!(clock.age(at(1_150), 90), Duration::from_millis(50));
        assert_eq!(clock.age(at(1_150), u32::MAX), Duration::from_millis(141));
    }

    #[test]
    fn a_longer_path_is_believed_in_time() {
        let mut clock = WrappingClock::default();
        clock.add_arrival(at(0), 0);
        for second in 1..=200_u32 {
            clock.add_arrival(at(u64::from(second) * 1_000 + 100), second * 1_000);
        }
        assert!(clock.age(at(200_100), 200_000) < Duration::from_millis(2));
    }
}
