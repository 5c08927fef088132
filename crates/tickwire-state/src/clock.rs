//! The server's clock, seen from a client.
//!
//! In: when something arrived, and which moment of the server it shows. Out: the moment that the server
//! has reached, behind by the shortest way here: the fastest arrival says best what it shows.
//! [`RemoteClock`] moves without jumps, so that a picture drawn by it runs evenly. [`WrappingClock`] takes
//! the timestamps of protocols that count milliseconds in 32 bits, and says how old one is.

mod wrapping;

pub use wrapping::WrappingClock;

use core::time::Duration;

use tickwire_session::Instant;

/// An estimate of a remote clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemoteClock {
    fastest: Option<Fastest>,
    /// Microseconds of the remote clock minus ours, as used; follows the fastest arrival.
    offset: i128,
}

/// The offset in use moves by at most this share of the time that passes: nobody sees a game run five
/// percent faster or slower.
const FOLLOWING: i128 = 20;

/// Offsets further apart than this are not a matter of the path: the remote clock was set.
const SET: i128 = 500_000;

impl RemoteClock {
    /// Nothing known yet.
    pub const fn new() -> Self {
        Self {
            fastest: None,
            offset: 0,
        }
    }

    /// Something arrived that shows the moment `remote` of the other clock.
    pub fn add_arrival(&mut self, now: Instant, remote: Duration) {
        let seen = micros(remote) - here(now);
        let Some(old) = self.fastest else {
            self.fastest = Some(Fastest::new(now, seen));
            self.offset = seen;
            return;
        };
        let mut fastest = old.after(now, seen);
        if fastest.offset - seen > SET {
            fastest.offset = seen;
        }
        let error = fastest.offset - self.offset;
        let reach = micros(now.since(old.updated)) / FOLLOWING;
        self.offset += if error.abs() > SET {
            error
        } else {
            error.clamp(-reach, reach)
        };
        self.fastest = Some(fastest);
    }

    /// The moment that the remote clock has reached.
    pub fn time_at(&self, now: Instant) -> Option<Duration> {
        self.fastest?;
        let remote = here(now) + self.offset;
        Some(Duration::from_micros(u64::try_from(remote).unwrap_or(0)))
    }
}

/// The largest offset seen, which is that of the arrival that was shortest on its way.
#[derive(Clone, Copy, Debug)]
struct Fastest {
    /// Microseconds of the remote clock minus ours, slowly forgotten.
    offset: i128,
    updated: Instant,
}

/// The largest offset falls by this share of the time that passes, so that a clock that runs slower, or a
/// path that became longer, is followed: a hundred times what quartz clocks differ.
const FORGETTING: i128 = 1_000;

impl Fastest {
    const fn new(now: Instant, offset: i128) -> Self {
        Self {
            offset,
            updated: now,
        }
    }

    fn after(self, now: Instant, seen: i128) -> Self {
        let forgotten = micros(now.since(self.updated)) / FORGETTING;
        Self::new(now, seen.max(self.offset - forgotten))
    }
}

fn here(now: Instant) -> i128 {
    i128::from(now.as_micros())
}

/// Without the part that no clock of this project has.
fn micros(span: Duration) -> i128 {
    i128::try_from(span.as_micros()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Feeds arrivals every 50 ms, each late by `late` of its number.
    fn run(clock: &mut RemoteClock, numbers: core::ops::Range<u64>, late: impl Fn(u64) -> u64) {
        for number in numbers {
            let sent = number * 50;
            clock.add_arrival(Instant::from_millis(1_000 + sent + late(number)), ms(sent));
        }
    }

    #[test]
    fn the_fastest_arrival_counts() {
        let mut clock = RemoteClock::new();
        run(&mut clock, 0..400, |number| 30 + number % 4 * 20);
        // Sent at 20,000, and 30 ms on the way.
        let shown = clock.time_at(Instant::from_millis(21_030)).unwrap();
        assert!(shown.abs_diff(ms(20_000)) < ms(2), "{shown:?}");
    }

    #[test]
    fn a_longer_path_is_followed_without_a_jump() {
        let mut clock = RemoteClock::new();
        run(&mut clock, 0..100, |_| 10);
        let mut before = clock.time_at(Instant::from_millis(6_000)).unwrap();
        for number in 100..3_000 {
            let now = Instant::from_millis(1_000 + number * 50 + 60);
            clock.add_arrival(now, ms(number * 50));
            let shown = clock.time_at(now).unwrap();
            assert!(shown >= before, "back from {before:?} to {shown:?}");
            assert!(shown - before < ms(200));
            before = shown;
        }
        assert!(before.abs_diff(ms(2_999 * 50)) < ms(2), "{before:?}");
    }

    #[test]
    fn a_clock_that_was_set_is_taken_at_once() {
        let mut clock = RemoteClock::new();
        run(&mut clock, 0..10, |_| 10);
        let now = Instant::from_millis(2_000);
        for remote in [ms(60_000), ms(10)] {
            clock.add_arrival(now, remote);
            assert_eq!(clock.time_at(now), Some(remote));
        }
    }
}
