//! What is in the air, as a client was told.
//!
//! In a large fight most of what a client hears is about shots, so finding one by its number takes one
//! look and no search.

use std::time::Duration;

use tickwire_session::Instant;

use super::words::Shot;
use crate::{Kind, STEP, rules};

/// How long a rocket, ray or shockwave is shown without another word: twice what passes between two.
const SHOT_HOLD: Duration = Duration::from_millis(200);

/// Shots known at a time; further ones are not shown.
const SHOTS_MAX: usize = 1_024;

/// Between two looks for those that nobody speaks of any more.
const FORGET_PERIOD: Duration = Duration::from_secs(1);

/// The place of what is not there.
const NOWHERE: u16 = u16::MAX;

#[derive(Default)]
pub(super) struct Shots {
    /// Each shot, and when it was last heard of.
    heard: Vec<(Instant, Shot)>,
    /// Where each is among them, by number.
    places: Vec<u16>,
    next_forgetting: Instant,
}

impl Shots {
    /// What is to be shown now, and when it was heard of.
    pub(super) fn iter(&self, now: Instant) -> impl Iterator<Item = &(Instant, Shot)> {
        let is_there = move |(heard, shot): &&(Instant, Shot)| is_there(now, *heard, shot);
        self.heard.iter().filter(is_there)
    }

    pub(super) fn insert(&mut self, now: Instant, shot: Shot) {
        if let Some(known) = self.place(shot.number) {
            self.heard[known] = (now, shot);
            return;
        }
        let number = usize::from(shot.number);
        if let Ok(place) = u16::try_from(self.heard.len())
            && self.heard.len() < SHOTS_MAX
        {
            if self.places.len() <= number {
                self.places.resize(number + 1, NOWHERE);
            }
            self.places[number] = place;
            self.heard.push((now, shot));
        }
    }

    pub(super) fn remove(&mut self, number: u16) {
        if let Some(place) = self.place(number) {
            self.heard.swap_remove(place);
            // The last one has come to its place.
            if let Some((_, moved)) = self.heard.get(place) {
                self.places[usize::from(moved.number)] = self.places[usize::from(number)];
            }
            self.places[usize::from(number)] = NOWHERE;
        }
    }

    /// Drops what is over, now and then: it is not shown in any case.
    pub(super) fn forget(&mut self, now: Instant) {
        if now < self.next_forgetting {
            return;
        }
        self.next_forgetting = now + FORGET_PERIOD;
        let mut place = 0;
        while let Some((heard, shot)) = self.heard.get(place) {
            if is_there(now, *heard, shot) {
                place += 1;
            } else {
                self.remove(shot.number);
            }
        }
    }

    fn place(&self, number: u16) -> Option<usize> {
        let place = *self.places.get(usize::from(number))?;
        (place != NOWHERE).then_some(place.into())
    }
}

/// Whether something fired that was last heard of then is still to be shown.
fn is_there(now: Instant, heard: Instant, shot: &Shot) -> bool {
    let life = match shot.kind {
        Kind::Bullet => STEP * rules::BULLET_LIFE_STEPS,
        _ => SHOT_HOLD,
    };
    now.since(heard) < life
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec2;

    fn shot(number: u16, kind: Kind) -> Shot {
        Shot {
            number,
            kind,
            owner: None,
            position: Vec2::default(),
            velocity: Vec2::default(),
            degrees: 0.0,
            reach: 1.0,
        }
    }

    #[track_caller]
    fn check(shots: &Shots, now: Instant, expected: &[u16]) {
        let mut numbers: Vec<_> = shots.iter(now).map(|(_, shot)| shot.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn shots_come_and_go_in_any_order() {
        let now = Instant::from_millis(1_000);
        let mut shots = Shots::default();
        for number in [7, 3, 9, 3] {
            shots.insert(now, shot(number, Kind::Rocket));
        }
        check(&shots, now, &[3, 7, 9]);
        shots.remove(7);
        shots.remove(7);
        check(&shots, now, &[3, 9]);
        shots.remove(9);
        check(&shots, now, &[3]);
    }

    #[test]
    fn what_nobody_speaks_of_is_shown_no_longer_and_then_forgotten() {
        let now = Instant::from_millis(1_000);
        let mut shots = Shots::default();
        shots.forget(now);
        shots.insert(now, shot(1, Kind::Rocket));
        shots.insert(now + SHOT_HOLD, shot(2, Kind::Rocket));
        check(&shots, now + SHOT_HOLD, &[2]);
        shots.forget(now + FORGET_PERIOD);
        assert!(shots.heard.is_empty());
        shots.insert(now + FORGET_PERIOD, shot(1, Kind::Bullet));
        check(&shots, now + FORGET_PERIOD, &[1]);
    }
}
