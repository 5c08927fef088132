//! The own ship, moved by the assumed controls.
//!
//! In: the controls as they are sent, and the own ship as states tell it. Out: where it is to be shown. A
//! state holds what was sent before it by a round trip; what was sent since is flown again on top of it,
//! by the arena's own rules. A state that says something else than was shown does not move the ship at
//! once: the difference fades.

use std::collections::VecDeque;
use std::time::Duration;

use tickwire_session::Instant;

use crate::flight::Flight;
use crate::orbit::Body;
use crate::{Intent, STEP, Vec2};

/// How far a ship is flown on without news of it.
pub(super) const LONGEST: Duration = Duration::from_millis(250);

/// Controls that are remembered: a second of them.
const SENT_MAX: usize = 64;

/// In this time, two thirds of a difference have faded.
const FADE: Duration = Duration::from_millis(100);

/// A difference of this length is no error but a jump: a new ship, or a wall that nobody foresaw.
const JUMP: f64 = 200.0;

#[derive(Debug, Default)]
pub(super) struct Helm {
    sent: VecDeque<(Instant, Intent)>,
    told: Option<Told>,
    /// What was shown besides what is true by all we know, and when.
    error: (Instant, Vec2),
}

/// What a state says.
#[derive(Clone, Copy, Debug)]
struct Told {
    flight: Flight,
    /// The controls that were sent up to here are in it.
    includes: Instant,
}

impl Helm {
    /// The controls were sent.
    pub(super) fn note(&mut self, now: Instant, intent: &Intent) {
        if self.sent.len() == SENT_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back((now, *intent));
    }

    /// How far off the ship was shown when the newest state came; nothing without a ship.
    pub(super) fn error(&self) -> Option<f64> {
        self.told.map(|_| self.error.1.length())
    }

    /// There is no ship, or no news of it.
    pub(super) fn reset(&mut self) {
        self.told = None;
        self.error.1 = Vec2::ZERO;
    }

    /// The ship as it is to be shown, given what the newest state says and up to when the controls that
    /// were sent are in it.
    pub(super) fn show(
        &mut self,
        now: Instant,
        (flight, includes): (Flight, Instant),
        bodies: &[Body],
    ) -> Flight {
        let told = Told { flight, includes };
        match &mut self.told {
            Some(before) if before.flight == flight => {
                before.includes = before.includes.max(includes);
            }
            Some(before) => {
                let before = *before;
                // It would have been there, had this state not come.
                let expected = self.fly(now, before, bodies).position() + self.faded(now);
                let error = expected - self.fly(now, told, bodies).position();
                let is_jump = error.length() > JUMP;
                self.error = (now, if is_jump { Vec2::ZERO } else { error });
                self.told = Some(told);
            }
            None => self.told = Some(told),
        }
        let shown = self.fly(now, self.told.unwrap_or(told), bodies);
        let position = shown.position() + self.faded(now);
        Flight::new(position, shown.velocity(), shown.heading())
    }

    fn fly(&self, now: Instant, told: Told, bodies: &[Body]) -> Flight {
        let begin = told.includes.max(now.before(LONGEST));
        let (mut at, mut flight) = (begin, told.flight);
        while at + STEP <= now {
            flight = flight.step(&self.intent_at(at), bodies.iter().copied());
            at += STEP;
        }
        let rest = now.since(at).as_secs_f64();
        let position = flight.position() + flight.velocity() * rest;
        Flight::new(position, flight.velocity(), flight.heading())
    }

    fn intent_at(&self, at: Instant) -> Intent {
        let before = self.sent.iter().rev().find(|(sent, _)| *sent <= at);
        before.map_or_else(Intent::default, |(_, intent)| *intent)
    }

    fn faded(&self, now: Instant) -> Vec2 {
        let (since, error) = self.error;
        let age = now.since(since).as_secs_f64() / FADE.as_secs_f64();
        error * libm::exp(-age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Heading;

    fn ahead() -> Intent {
        Intent {
            forward: true,
            ..Intent::default()
        }
    }

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(10_000 + millis)
    }

    fn resting(x: f64) -> Flight {
        Flight::new(Vec2::new(x, 5_000.0), Vec2::ZERO, Heading::EAST)
    }

    #[test]
    fn what_is_held_shows_before_the_server_has_heard_of_it() {
        let mut helm = Helm::default();
        let rest = (resting(0.0), ms(0));
        assert_eq!(helm.show(ms(0), rest, &[]).position().x, 0.0);
        helm.note(ms(0), &ahead());
        let shown: Vec<_> = (1..=4)
            .map(|at| helm.show(ms(at * 50), rest, &[]).position().x)
            .collect();
        assert!(shown.is_sorted() && shown[0] > 0.0, "{shown:?}");
        // What the server makes of it is the same, so its state changes nothing.
        let mut truth = resting(0.0);
        let steps = 6_u32;
        for _ in 0..steps {
            truth = truth.step(&ahead(), []);
        }
        let before = helm.show(ms(200), rest, &[]).position();
        let after = helm
            .show(ms(200), (truth, ms(0) + STEP * steps), &[])
            .position();
        assert!((after - before).length() < 0.01, "{before:?} {after:?}");
    }

    #[test]
    fn what_was_assumed_and_is_not_so_fades() {
        let mut helm = Helm::default();
        helm.show(ms(0), (resting(0.0), ms(0)), &[]);
        helm.note(ms(0), &ahead());
        let assumed = helm.show(ms(200), (resting(0.0), ms(0)), &[]).position().x;
        helm.note(ms(200), &Intent::default());
        // The server says that nothing happened: the ship was held.
        let held = (resting(0.5), ms(200));
        let shown = |helm: &mut Helm, at| helm.show(ms(at), held, &[]).position().x;
        assert!((shown(&mut helm, 200) - assumed).abs() < 0.01);
        assert!(shown(&mut helm, 300) < assumed);
        assert!((shown(&mut helm, 1_200) - 0.5).abs() < 0.01);
        // A new ship is somewhere else at once.
        let new = (resting(3_000.0), ms(1_200));
        assert_eq!(helm.show(ms(1_200), new, &[]).position().x, 3_000.0);
    }

    #[test]
    fn nobody_flies_on_for_ever_and_remembers_everything() {
        let mut helm = Helm::default();
        for at in 0..1_000 {
            helm.note(ms(at * 10), &ahead());
        }
        assert_eq!(helm.sent.len(), SENT_MAX);
        let speed = Flight::new(Vec2::ZERO, Vec2::new(100.0, 0.0), Heading::EAST);
        let shown = helm.show(ms(60_000), (speed, ms(0)), &[]).position().x;
        assert!(shown < 100.0, "{shown}");
    }
}
