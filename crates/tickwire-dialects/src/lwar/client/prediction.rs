//! Where things are between two updates.
//!
//! An entity is moved on in a straight line from its last two updates, by the server's clock, for at
//! most [`PREDICTION_MAX`]. The server's clock is read off the timestamps: the packet that was
//! fastest on its way says best what it shows.

use tickwire_session::Instant;
use tickwire_wire::Serial;

use super::super::limits::PREDICTION_MAX;

/// An entity as it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    /// Position.
    pub x: f32,
    /// Position.
    pub y: f32,
    /// Degrees, 0 to 360.
    pub orientation: f32,
    /// Percent.
    pub health: u8,
    /// Length of a ray, radius of a circle.
    pub reach: f32,
}

/// The last two updates of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Track {
    latest: Option<(u32, Shown)>,
    previous: Option<(u32, Shown)>,
}

/// Units a second above which an entity did not fly but jump.
const JUMP_SPEED: f32 = 6_000.0;

impl Track {
    pub(super) const fn is_known(&self) -> bool {
        self.latest.is_some()
    }

    /// What the newest update said, nothing predicted.
    pub fn latest(&self) -> Option<Shown> {
        self.latest.map(|(_, shown)| shown)
    }

    /// Takes an update that was true at `timestamp`.
    pub(super) fn update(&mut self, timestamp: u32, shown: Shown) {
        match self.latest {
            Some((latest, _)) if timestamp.is_older_than(latest) => {}
            // The same moment again: the last word counts.
            Some((latest, _)) if timestamp == latest => self.latest = Some((timestamp, shown)),
            _ => {
                self.previous = self.latest;
                self.latest = Some((timestamp, shown));
            }
        }
    }

    /// Where the entity is at `server_time`, in milliseconds of the server's clock.
    pub(super) fn shown(&self, server_time: f64) -> Option<Shown> {
        let (at, latest) = self.latest?;
        let Some((before, previous)) = self.previous else {
            return Some(latest);
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "updates are seconds apart at most"
        )]
        let span = at.steps_since(before) as f32;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "clamped to a fraction of a second"
        )]
        let ahead =
            (server_time - f64::from(at)).clamp(0.0, PREDICTION_MAX.as_secs_f64() * 1_000.0) as f32;
        let (dx, dy) = (latest.x - previous.x, latest.y - previous.y);
        let jump = JUMP_SPEED * span / 1_000.0;
        if dx * dx + dy * dy > jump * jump {
            return Some(latest);
        }
        let share = ahead / span;
        let turn = shortest_turn(previous.orientation, latest.orientation);
        Some(Shown {
            x: latest.x + dx * share,
            y: latest.y + dy * share,
            orientation: wrap_degrees(latest.orientation + turn * share),
            reach: (latest.reach + (latest.reach - previous.reach) * share).max(0.0),
            ..latest
        })
    }
}

/// Degrees from one direction to another, the short way: −180 to 180.
fn shortest_turn(from: f32, to: f32) -> f32 {
    wrap_degrees(to - from + 180.0) - 180.0
}

/// The same direction within 0 to 360.
fn wrap_degrees(degrees: f32) -> f32 {
    let wrapped = degrees % 360.0;
    if wrapped < 0.0 {
        wrapped + 360.0
    } else {
        wrapped
    }
}

/// The server's clock, seen from here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServerClock {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Server's milliseconds, unwrapped, minus ours: the largest seen, slowly forgotten.
    offset: f64,
    updated: Instant,
    newest: u32,
    /// The newest timestamp without its wrap.
    unwrapped: f64,
}

/// Milliseconds by which the estimate falls each second, so that a clock that runs slower, or a path
/// that became longer, is followed.
const FORGETTING: f64 = 1.0;

impl ServerClock {
    /// A packet with this timestamp arrived.
    pub(super) fn add_arrival(&mut self, now: Instant, timestamp: u32) {
        let here = millis(now);
        self.estimate = Some(match self.estimate {
            None => Estimate {
                offset: f64::from(timestamp) - here,
                updated: now,
                newest: timestamp,
                unwrapped: f64::from(timestamp),
            },
            Some(old) => {
                #[expect(clippy::cast_precision_loss, reason = "differences are small")]
                let unwrapped = old.unwrapped + timestamp.steps_since(old.newest) as f64;
                let forgotten = now.since(old.updated).as_secs_f64() * FORGETTING;
                let offset = (unwrapped - here).max(old.offset - forgotten);
                Estimate {
                    offset,
                    updated: now,
                    newest: timestamp,
                    unwrapped,
                }
            }
        });
    }

    /// The server's clock at this moment, as far as its packets tell: behind by the shortest way
    /// here. Comparable to timestamps for 49 days.
    pub(super) fn server_time(&self, now: Instant) -> Option<f64> {
        let Estimate {
            offset,
            newest,
            unwrapped,
            ..
        } = self.estimate?;
        Some(millis(now) + offset - unwrapped + f64::from(newest))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "53 bits of microseconds are 285 years"
)]
fn millis(now: Instant) -> f64 {
    now.as_micros() as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, orientation: f32) -> Shown {
        Shown {
            x,
            orientation,
            ..Shown::default()
        }
    }

    fn track(samples: &[(u32, Shown)]) -> Track {
        let mut track = Track::default();
        samples
            .iter()
            .for_each(|&(timestamp, shown)| track.update(timestamp, shown));
        track
    }

    #[test]
    fn movement_goes_on_in_a_straight_line() {
        let track = track(&[(100, at(0.0, 350.0)), (200, at(10.0, 10.0))]);
        let shown = track.shown(250.0).unwrap();
        assert_eq!((shown.x, shown.orientation), (15.0, 20.0));
    }

    #[test]
    fn prediction_ends_after_its_bound() {
        let track = track(&[(0, at(0.0, 0.0)), (100, at(10.0, 0.0))]);
        assert_eq!(track.shown(350.0), track.shown(10_000.0));
        assert_eq!(track.shown(10_000.0).unwrap().x, 35.0);
    }

    #[test]
    fn a_jump_is_not_a_velocity() {
        let track = track(&[(0, at(0.0, 0.0)), (66, at(3_000.0, 0.0))]);
        assert_eq!(track.shown(150.0).unwrap().x, 3_000.0);
    }

    #[test]
    fn older_updates_change_nothing_and_equal_ones_count() {
        let newest = track(&[(100, at(0.0, 0.0)), (200, at(10.0, 0.0))]);
        let mut again = newest;
        again.update(150, at(99.0, 0.0));
        assert_eq!(again, newest);
        again.update(200, at(20.0, 0.0));
        assert_eq!(again, track(&[(100, at(0.0, 0.0)), (200, at(20.0, 0.0))]));
    }

    #[test]
    fn the_fastest_packet_sets_the_clock() {
        let mut clock = ServerClock::default();
        // Sent at 0, 66 and 133 ms of the server's clock; 50, 20 and 90 ms on their way.
        for (arrival, timestamp) in [(50, 0), (86, 66), (223, 133)] {
            clock.add_arrival(Instant::from_millis(arrival), timestamp);
        }
        let now = clock.server_time(Instant::from_millis(223)).unwrap();
        assert!((now - 203.0).abs() < 1.0, "{now}");
    }

    #[test]
    fn the_clock_passes_the_wrap_of_timestamps() {
        let mut clock = ServerClock::default();
        clock.add_arrival(Instant::from_millis(1_000), u32::MAX - 9);
        clock.add_arrival(Instant::from_millis(1_100), 90);
        let now = clock.server_time(Instant::from_millis(1_150)).unwrap();
        assert!((now - 140.0).abs() < 1.0, "{now}");
    }
}
