//! Animations and effects, as words that are seen for a moment where they happen.
//!
//! A terminal has no models to animate. In: what begins where and when, and how fast it plays. Out: what is to
//! be seen at the moment that is shown. One that catches up because it was late says so, and is over sooner.

use std::time::Duration;

use tickwire_dialects::reone::message::Speed;

use crate::Vec2;
use crate::gateway::Flash;

/// How long something is seen that plays at its own speed.
const LASTS: Duration = Duration::from_millis(900);

/// Things that are seen at a time; the oldest gives way.
const FLASHES_MAX: usize = 64;

/// Letters of a name that are shown.
const NAME_SHOWN: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Flashes {
    begun: Vec<Begun>,
    /// The moment that is shown.
    time: Duration,
}

#[derive(Debug)]
struct Begun {
    /// On the server's clock.
    since: Duration,
    until: Duration,
    flash: Flash,
}

impl Flashes {
    pub(super) fn add(&mut self, since: Duration, position: Vec2, what: &str, speed: Speed) {
        if self.begun.len() >= FLASHES_MAX {
            self.begun.remove(0);
        }
        let name: String = crate::printable(what).chars().take(NAME_SHOWN).collect();
        let factor = (speed.0 / Speed::NORMAL.0).max(1);
        let what = match factor {
            1 => name,
            factor => format!("{name} ×{factor}"),
        };
        // It is never seen for less than a few frames, however late it comes.
        let since = since.max(self.time);
        self.begun.push(Begun {
            since,
            until: since + LASTS / factor,
            flash: Flash { position, what },
        });
    }

    /// Goes on to another moment. What is over is dropped.
    pub(super) fn show(&mut self, time: Duration) {
        self.time = time;
        self.begun.retain(|begun| begun.until > time);
    }

    /// What is to be seen.
    pub(super) fn shown(&self) -> impl Iterator<Item = Flash> {
        let begun = self.begun.iter().filter(|begun| begun.since <= self.time);
        begun.map(|begun| begun.flash.clone())
    }

    pub(super) fn clear(&mut self) {
        self.begun.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_catches_up_and_says_so() {
        let ms = Duration::from_millis;
        let mut flashes = Flashes::default();
        flashes.show(ms(1_000));
        flashes.add(ms(1_050), Vec2::ZERO, "launch", Speed::NORMAL);
        flashes.add(ms(500), Vec2::ZERO, "launch", Speed::NORMAL.times(3));
        let shown = |flashes: &mut Flashes, at| {
            flashes.show(ms(at));
            flashes.shown().map(|it| it.what).collect::<Vec<_>>()
        };
        assert_eq!(shown(&mut flashes, 1_000), ["launch ×3"]);
        assert_eq!(shown(&mut flashes, 1_299), ["launch", "launch ×3"]);
        assert_eq!(shown(&mut flashes, 1_300), ["launch"]);
        assert_eq!(shown(&mut flashes, 1_950), [""; 0]);
        for _ in 0..1_000 {
            flashes.add(ms(2_000), Vec2::ZERO, "v_\u{1b}[2J", Speed::NORMAL);
        }
        let shown = shown(&mut flashes, 2_000);
        assert_eq!(shown.len(), FLASHES_MAX);
        assert!(!shown[0].contains('\u{1b}'), "{shown:?}");
    }
}
