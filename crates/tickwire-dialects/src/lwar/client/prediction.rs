//! Where things are between two updates.
//!
//! An entity is moved on in a straight line from its last two updates, by the server's clock, for at
//! most [`PREDICTION_MAX`]. Ships turn and bounce, so an update seldom agrees with what was shown
//! until then; the difference is not corrected at once but fades over [`CORRECTION`].

use core::time::Duration;

use tickwire_session::Instant;
use tickwire_state::WrappingClock;
use tickwire_wire::Serial;

use crate::lwar::limits::PREDICTION_MAX;

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

/// The last two updates of an entity, and what remains of an earlier mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Track {
    latest: Option<(u32, Shown)>,
    previous: Option<(u32, Shown)>,
    error: Error,
}

/// How far what was shown was off, when the latest update was true.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Error {
    x: f32,
    y: f32,
    /// Degrees.
    turn: f32,
}

/// Units a second above which an entity did not fly but jump.
const JUMP_SPEED: f32 = 6_000.0;

/// How long a mistake of the prediction takes to fade.
///
/// Longer than the 67 ms between two updates, so that one correction flows into the next; short enough
/// that a ship that was hit is not shown where it can no longer be hit.
const CORRECTION: Duration = Duration::from_millis(100);

/// Units beyond which a mistake is shown as the jump that it is: four ships.
const SNAP_DISTANCE: f32 = 480.0;

/// Degrees beyond which it is: half the way round would be the wrong way half the time.
const SNAP_TURN: f32 = 120.0;

impl Track {
    pub(super) const fn is_known(&self) -> bool {
        self.latest.is_some()
    }

    /// What the newest update said, nothing predicted.
    pub fn latest(&self) -> Option<Shown> {
        self.latest.map(|(_, shown)| shown)
    }

    /// How far off it was shown when the newest update was true, by x and y; nothing after a jump.
    pub const fn error(&self) -> (f32, f32) {
        (self.error.x, self.error.y)
    }

    /// Takes an update that was true at `timestamp`.
    pub(super) fn update(&mut self, timestamp: u32, shown: Shown) {
        if let Some((latest, _)) = self.latest {
            if timestamp.is_older_than(latest) {
                return;
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "updates are seconds apart at most"
            )]
            let ahead = timestamp.steps_since(latest) as f32;
            // The fastest packets arrive just when they are true by the clock that is shown; for
            // the others this is a little early, and what is missing fades, too.
            self.error = self
                .ahead(ahead)
                .map_or_else(Error::default, |before| Error::between(before, shown));
            // The same moment again: the last word counts.
            if timestamp != latest {
                self.previous = self.latest;
            }
        }
        self.latest = Some((timestamp, shown));
    }

    /// Where the entity is now, by the server's clock.
    pub(super) fn shown(&self, now: Instant, clock: &WrappingClock) -> Option<Shown> {
        let (at, _) = self.latest?;
        self.ahead(as_millis(clock.age(now, at)))
    }

    /// Where the entity is so many milliseconds after the latest update.
    fn ahead(&self, millis: f32) -> Option<Shown> {
        let predicted = self.predicted(millis.clamp(0.0, as_millis(PREDICTION_MAX)))?;
        let left = (1.0 - millis / as_millis(CORRECTION)).clamp(0.0, 1.0);
        Some(Shown {
            x: predicted.x + self.error.x * left,
            y: predicted.y + self.error.y * left,
            orientation: wrap_degrees(predicted.orientation + self.error.turn * left),
            ..predicted
        })
    }

    fn predicted(&self, ahead: f32) -> Option<Shown> {
        let (at, latest) = self.latest?;
        let Some((before, previous)) = self.previous else {
            return Some(latest);
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "updates are seconds apart at most"
        )]
        let span = at.steps_since(before) as f32;
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

impl Error {
    /// What to add to `truth` to get what was `shown`; nothing, if that would hide a jump.
    fn between(shown: Shown, truth: Shown) -> Self {
        let (x, y) = (shown.x - truth.x, shown.y - truth.y);
        let turn = shortest_turn(truth.orientation, shown.orientation);
        let near = x * x + y * y <= SNAP_DISTANCE * SNAP_DISTANCE;
        Self {
            x: if near { x } else { 0.0 },
            y: if near { y } else { 0.0 },
            turn: if turn.abs() <= SNAP_TURN { turn } else { 0.0 },
        }
    }
}

const fn as_millis(span: Duration) -> f32 {
    span.as_secs_f32() * 1_000.0
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn at(x: f32, orientation: f32) -> Shown {
        Shown {
            x,
            orientation,
            ..Shown::default()
        }
    }

    /// Where the entity is at a moment of the server's clock, in milliseconds.
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    fn shown(track: &Track, time: f64) -> Option<Shown> {
        track.ahead((time - f64::from(track.latest?.0)) as f32)
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
        let shown = shown(&track, 300.0).unwrap();
        assert_eq!((shown.x, shown.orientation), (20.0, 30.0));
    }

    #[test]
    fn a_mistake_fades() {
        // Until 200 it flew 100 units in 100 ms; then it stood still.
        let track = track(&[
            (100, at(0.0, 0.0)),
            (200, at(100.0, 0.0)),
            (300, at(100.0, 0.0)),
        ]);
        for (time, x) in [
            (300.0, 200.0),
            (350.0, 150.0),
            (400.0, 100.0),
            (500.0, 100.0),
        ] {
            assert_eq!(shown(&track, time).unwrap().x, x, "at {time}");
        }
    }

    #[test]
    fn a_large_mistake_does_not_fade_but_jumps() {
        let track = track(&[
            (100, at(0.0, 0.0)),
            (200, at(100.0, 0.0)),
            (300, at(-400.0, 170.0)),
        ]);
        let shown = shown(&track, 300.0).unwrap();
        assert_eq!((shown.x, shown.orientation), (-400.0, 170.0));
    }

    /// Flies a ship to and fro, tells of it every 67 ms over a bad network, and looks 60 times a
    /// second: the farthest that it is shown from frame to frame, and the farthest from the truth.
    fn fly(track: impl Fn(&Track, f64) -> Shown) -> (f32, f32) {
        // A second of thrust each way: at most 500 units a second, reversed at once by a bounce.
        let truth = |millis: f64| {
            let phase = (millis / 1_000.0) % 2.0;
            let there = |seconds: f64| 250.0 * seconds * seconds;
            #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
            let x = there(if phase < 1.0 { phase } else { 2.0 - phase }) as f32;
            at(x, 0.0)
        };
        let updates: Vec<(f64, u32)> = (0..150_u32)
            .filter(|number| number % 20 != 7)
            .map(|number| {
                let sent = number * 67;
                // 50 ms on the way, up to 15 more.
                (f64::from(sent + 50 + number * 7 % 16), sent)
            })
            .collect();
        let (mut known, mut arrived) = (Track::default(), 0);
        let (mut step, mut miss) = (0.0_f32, 0.0_f32);
        let mut last: Option<f32> = None;
        for frame in 30..600_u32 {
            let now = f64::from(frame) * 1_000.0 / 60.0;
            while let Some(&(_, sent)) = updates.get(arrived).filter(|(at, _)| *at <= now) {
                known.update(sent, truth(sent.into()));
                arrived += 1;
            }
            // The shortest way here is what the clock is behind by.
            let shown = track(&known, now - 50.0).x;
            step = step.max(last.map_or(0.0, |last| (shown - last).abs()));
            miss = miss.max((shown - truth(now - 50.0).x).abs());
            last = Some(shown);
        }
        (step, miss)
    }

    #[test]
    fn updates_do_not_make_a_ship_jump() {
        let uncorrected = |known: &Track, time| {
            let bare = Track {
                error: Error::default(),
                ..*known
            };
            shown(&bare, time).unwrap()
        };
        let corrected = |known: &Track, time| shown(known, time).unwrap();
        let (jump, miss) = fly(uncorrected);
        let (step, corrected_miss) = fly(corrected);
        // The ship itself moves up to 8.3 units between two frames.
        assert!(jump > 50.0, "without correction: {jump}");
        assert!(step < 20.0, "with correction: {step}");
        assert!(
            corrected_miss < miss * 1.3,
            "{corrected_miss} against {miss}"
        );
    }

    #[test]
    fn prediction_ends_after_its_bound() {
        let track = track(&[(0, at(0.0, 0.0)), (100, at(10.0, 0.0))]);
        assert_eq!(shown(&track, 350.0), shown(&track, 10_000.0));
        assert_eq!(shown(&track, 10_000.0).unwrap().x, 35.0);
    }

    #[test]
    fn a_jump_is_not_a_velocity() {
        let track = track(&[(0, at(0.0, 0.0)), (66, at(3_000.0, 0.0))]);
        assert_eq!(shown(&track, 150.0).unwrap().x, 3_000.0);
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
}
