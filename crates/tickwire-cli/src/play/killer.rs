//! Who destroyed the player's ship.
//!
//! Some protocols say so, and then it is a notice. All of them have scores: whoever's kills grew when the
//! own deaths did was it, if that was one. Scores, notices and the picture of the ship take ways of their own,
//! so what comes within [`TOGETHER`] belongs together, in any order.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_demo::gateway::Notice;
use tickwire_demo::{OwnerId, Score};
use tickwire_session::Instant;

/// Longer than a jitter buffer or the pause between two looks at the scores; shorter than a life.
const TOGETHER: Duration = Duration::from_millis(600);

/// What is known of the last time that the ship was lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Killer {
    /// The player's number, since its first ship.
    own: Option<OwnerId>,
    /// Everybody's kills and deaths when last looked at.
    before: BTreeMap<OwnerId, (u16, u16)>,
    /// Whose kills grew lately, and when.
    kills: Vec<(Instant, String)>,
    /// When the own deaths grew.
    died: Option<Instant>,
    /// Who a notice named, and when; nobody, if the sun or a planet did it.
    told: Option<(Instant, Option<String>)>,
}

impl Killer {
    /// Takes note of what happened.
    pub(super) fn hear(&mut self, now: Instant, notice: &Notice, own_name: &str) {
        if let Notice::Killed { victim, by } = notice
            && victim == own_name
        {
            self.told = Some((now, by.clone()));
        }
    }

    /// Looks at the scores, once a step. `own`: whose the own ship is, while it is there.
    pub(super) fn look(&mut self, now: Instant, scores: &[Score], own: Option<OwnerId>) {
        let is_over = |at: Instant| now.since(at) > TOGETHER;
        if own.is_some() {
            // What was heard just now may be about this ship, which is about to vanish.
            self.told.take_if(|(at, _)| is_over(*at));
            self.died.take_if(|at| is_over(*at));
        }
        self.own = own.or(self.own);
        // Those near the death are kept as long as it is.
        let died = self.died;
        self.kills
            .retain(|(at, _)| !is_over(*at) || died.is_some_and(|died| is_near(died, *at)));
        for score in scores {
            let counted = (score.kills, score.deaths);
            let Some(before) = self.before.insert(score.owner, counted) else {
                continue;
            };
            if Some(score.owner) == self.own {
                self.died = (counted.1 > before.1).then_some(now).or(self.died);
            } else if counted.0 > before.0 {
                self.kills.push((now, score.name.clone()));
            }
        }
    }

    /// A sentence for whoever lost a ship.
    pub(super) fn sentence(&self) -> String {
        match &self.told {
            Some((_, Some(name))) => return format!("{name} destroyed your ship"),
            Some((_, None)) => return "your ship crashed".into(),
            None => {}
        }
        let died = self.died;
        let mut suspects = self
            .kills
            .iter()
            .filter(|(at, _)| died.is_some_and(|died| is_near(died, *at)));
        match (suspects.next(), suspects.next()) {
            (Some((_, name)), None) => format!("{name} destroyed your ship"),
            _ => "your ship is gone".into(),
        }
    }
}

fn is_near(a: Instant, b: Instant) -> bool {
    a.since(b).max(b.since(a)) <= TOGETHER
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: OwnerId = OwnerId(1);

    fn score(owner: u32, name: &str, kills: u16, deaths: u16) -> Score {
        Score {
            owner: OwnerId(owner),
            name: name.into(),
            kills,
            deaths,
            ping: None,
        }
    }

    fn scores(ada: u16, bob: u16, deaths: u16) -> [Score; 3] {
        [
            score(1, "me", 0, deaths),
            score(2, "Ada", ada, 0),
            score(3, "Bob", bob, 0),
        ]
    }

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn whoever_s_kills_grew_with_the_own_deaths_was_it() {
        let mut killer = Killer::default();
        killer.look(at(0), &scores(4, 9, 0), Some(OWN));
        killer.look(at(100), &scores(5, 9, 0), Some(OWN));
        killer.look(at(1_000), &scores(5, 9, 0), None);
        assert_eq!(killer.sentence(), "your ship is gone", "not told yet");
        killer.look(at(1_100), &scores(5, 10, 0), None);
        killer.look(at(1_200), &scores(5, 10, 1), None);
        assert_eq!(killer.sentence(), "Bob destroyed your ship");
        killer.look(at(2_500), &scores(6, 10, 1), None);
        assert_eq!(killer.sentence(), "Bob destroyed your ship");
        killer.look(at(5_000), &scores(6, 10, 1), Some(OWN));
        killer.look(at(6_000), &scores(6, 10, 2), None);
        assert_eq!(killer.sentence(), "your ship is gone", "it was the sun");
    }

    #[test]
    fn of_two_it_may_be_either() {
        let mut killer = Killer::default();
        killer.look(at(0), &scores(4, 9, 0), Some(OWN));
        killer.look(at(100), &scores(5, 10, 1), None);
        assert_eq!(killer.sentence(), "your ship is gone");
    }

    #[test]
    fn scores_may_come_before_the_ship_is_seen_to_vanish() {
        let mut killer = Killer::default();
        killer.look(at(0), &scores(4, 9, 0), Some(OWN));
        killer.look(at(100), &scores(5, 9, 1), Some(OWN));
        killer.look(at(200), &scores(5, 9, 1), None);
        assert_eq!(killer.sentence(), "Ada destroyed your ship");
    }

    #[test]
    fn a_notice_knows_better() {
        let mut killer = Killer::default();
        killer.look(at(0), &scores(4, 9, 0), Some(OWN));
        let (victim, by) = ("me".to_owned(), Some("Ada".to_owned()));
        killer.hear(at(100), &Notice::Killed { victim, by }, "me");
        killer.look(at(100), &scores(4, 10, 1), None);
        assert_eq!(killer.sentence(), "Ada destroyed your ship");
        let victim = "me".to_owned();
        killer.hear(at(200), &Notice::Killed { victim, by: None }, "me");
        assert_eq!(killer.sentence(), "your ship crashed");
    }
}
