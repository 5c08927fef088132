//! What is in the air, as a client was told.
//!
//! In a large fight most of what a client hears is about shots, far more often than anybody looks. So
//! what is heard is only written down, one word behind the other; putting each in its place and
//! reading it is left to who looks.

use std::time::Duration;

use tickwire_session::Instant;

use super::words::Shot;
use crate::{Kind, STEP, rules};

/// How long a rocket, ray or shockwave is shown without another word: twice what passes between two.
const SHOT_HOLD: Duration = Duration::from_millis(200);

/// Numbers of shots that are shown: more than an arena has.
const SHOTS_MAX: usize = 4_096;

/// Words that wait until somebody looks; one more, and they are put in their places unasked.
const NEWS_MAX: usize = 1_024;

#[derive(Default)]
pub(super) struct Shots {
    /// What was heard since the last look.
    news: Vec<(u16, Told)>,
    /// What was known then, by number.
    known: Vec<Told>,
}

/// What was last said of a shot, and when. No bytes but those of a shot decode.
#[derive(Clone, Copy)]
struct Told {
    heard: Instant,
    bytes: [u8; Shot::LENGTH],
}

const NOTHING: Told = Told {
    heard: Instant::ZERO,
    bytes: [0; Shot::LENGTH],
};

impl Shots {
    /// What is to be shown now, and when it was heard of.
    pub(super) fn iter(&mut self, now: Instant) -> impl Iterator<Item = (Instant, Shot)> {
        self.put_in_place();
        let read = |told: &Told| Some((told.heard, Shot::decode(&told.bytes)?));
        let is_there = move |(heard, shot): &(Instant, Shot)| now.since(*heard) < life(shot);
        self.known.iter().filter_map(read).filter(is_there)
    }

    pub(super) fn tell(&mut self, now: Instant, bytes: &[u8]) {
        if let (heard, Ok(bytes)) = (now, bytes.try_into()) {
            self.note(Shot::number(&bytes), Told { heard, bytes });
        }
    }

    pub(super) fn remove(&mut self, number: u16) {
        self.note(number, NOTHING);
    }

    fn note(&mut self, number: u16, told: Told) {
        if self.news.len() == NEWS_MAX {
            self.put_in_place();
        }
        self.news.push((number, told));
    }

    fn put_in_place(&mut self) {
        for (number, told) in self.news.drain(..) {
            let number = usize::from(number);
            if self.known.len() <= number && number < SHOTS_MAX {
                self.known.resize(number + 1, NOTHING);
            }
            if let Some(known) = self.known.get_mut(number) {
                *known = told;
            }
        }
    }
}

/// How long something fired is shown without another word.
fn life(shot: &Shot) -> Duration {
    match shot.kind {
        Kind::Bullet => STEP * rules::BULLET_LIFE_STEPS,
        _ => SHOT_HOLD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec2;

    const NOW: Instant = Instant::from_millis(1_000);

    fn shot(number: u16, kind: Kind) -> Vec<u8> {
        let shot = Shot {
            number,
            kind,
            owner: None,
            position: Vec2::default(),
            velocity: Vec2::default(),
            degrees: 0.0,
            reach: 1.0,
        };
        shot.encode()
    }

    #[track_caller]
    fn check(shots: &mut Shots, now: Instant, expected: &[u16]) {
        let numbers: Vec<_> = shots.iter(now).map(|(_, shot)| shot.number).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn shots_come_and_go_in_any_order() {
        let mut shots = Shots::default();
        for number in [7, 3, 9, 3] {
            shots.tell(NOW, &shot(number, Kind::Rocket));
        }
        check(&mut shots, NOW, &[3, 7, 9]);
        shots.remove(7);
        shots.remove(7);
        check(&mut shots, NOW, &[3, 9]);
        shots.remove(9);
        check(&mut shots, NOW, &[3]);
        shots.remove(u16::MAX);
        check(&mut shots, NOW, &[3]);
    }

    #[test]
    fn what_nobody_speaks_of_is_shown_no_longer() {
        let mut shots = Shots::default();
        shots.tell(NOW, &shot(1, Kind::Rocket));
        shots.tell(NOW + SHOT_HOLD, &shot(2, Kind::Rocket));
        shots.tell(NOW, &shot(3, Kind::Bullet));
        check(&mut shots, NOW + SHOT_HOLD, &[2, 3]);
        check(&mut shots, NOW + SHOT_HOLD * 2, &[3]);
        shots.tell(NOW + SHOT_HOLD * 2, &shot(1, Kind::Rocket));
        check(&mut shots, NOW + SHOT_HOLD * 2, &[1, 3]);
    }

    #[test]
    fn the_last_word_counts_however_many_there_were() {
        let mut shots = Shots::default();
        for number in 0..NEWS_MAX {
            let number = u16::try_from(number).unwrap();
            shots.tell(NOW, &shot(number, Kind::Rocket));
            shots.remove(number);
        }
        shots.tell(NOW, &shot(1, Kind::Rocket));
        check(&mut shots, NOW, &[1]);
    }

    #[test]
    fn what_is_no_shot_is_not_shown() {
        let mut shots = Shots::default();
        let rocket = shot(1, Kind::Rocket);
        shots.tell(NOW, &rocket[1..]);
        shots.tell(NOW, &[0; Shot::LENGTH]);
        shots.tell(NOW, &shot(u16::MAX, Kind::Rocket));
        // A session that has just begun has heard of nothing either.
        check(&mut shots, NOW, &[]);
        check(&mut shots, Instant::ZERO, &[]);
    }
}
