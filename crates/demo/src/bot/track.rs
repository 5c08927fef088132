//! How something moves, worked out from where it was.

use core::time::Duration;

use crate::{Seen, SeenId, Vec2, rules};

/// A thing that is watched from view to view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    pub(super) id: SeenId,
    pub(super) position: Vec2,
    /// Units a second; zero until it was seen to move.
    pub(super) velocity: Vec2,
    /// Where it was when its velocity was last worked out.
    mark: (Vec2, Duration),
}

/// Where something is and where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub(super) position: Vec2,
    pub(super) velocity: Vec2,
}

impl Track {
    pub(super) const fn motion(&self) -> Motion {
        Motion {
            position: self.position,
            velocity: self.velocity,
        }
    }

    /// Goes on watching, or begins if `before` was something else.
    pub(super) fn follow(before: Option<Self>, seen: &Seen, now: Duration) -> Self {
        let Some(mut track) = before.filter(|before| before.id == seen.id) else {
            return Self {
                id: seen.id,
                position: seen.position,
                velocity: Vec2::ZERO,
                mark: (seen.position, now),
            };
        };
        let moved = seen.position != track.position;
        track.position = seen.position;
        let (from, since) = track.mark;
        let waited = now.saturating_sub(since);
        // Some protocols tell positions in whole units and a few times a second. Measuring from one
        // change to a later one makes the first harmless, and the second exact.
        if (moved && waited >= SHORTEST) || waited >= LONGEST {
            let velocity = (seen.position - from) / waited.as_secs_f64();
            track.velocity = velocity.at_most(rules::SHIP_MAX_SPEED);
            track.mark = (seen.position, now);
        }
        track
    }
}

/// Shorter than this, whole units are too coarse to tell a speed.
const SHORTEST: Duration = Duration::from_millis(90);
/// What has not moved for so long stands still.
const LONGEST: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Heading, Kind};

    /// Watches something at 300 units a second, told in whole units every `every` views.
    fn velocity_when_told(every: u32) -> f64 {
        let mut seen = Seen {
            id: SeenId(1),
            kind: Kind::Ship,
            position: Vec2::ZERO,
            heading: Heading::EAST,
            health: 100,
            owner: None,
            own: false,
            reach: 60.0,
        };
        let mut track = None;
        for view in 0..120 {
            if view % every == 0 {
                seen.position.x = (300.0 * f64::from(view) / 60.0).round();
            }
            let now = Duration::from_secs(1) * view / 60;
            track = Some(Track::follow(track, &seen, now));
        }
        track.unwrap().velocity.x
    }

    #[test]
    fn the_velocity_comes_out_at_every_rate_of_updates() {
        for every in [1, 2, 4, 6] {
            let velocity = velocity_when_told(every);
            assert!((velocity - 300.0).abs() < 15.0, "{every}: {velocity}");
        }
    }

    #[test]
    fn what_stopped_stands_still() {
        assert!(velocity_when_told(1_000).abs() < 1e-9);
    }
}
