//! Who destroyed the player's ship.
//!
//! Some protocols say so, and then it is a notice. All of them have scores: whoever's kills grew when the
//! own deaths did was it, if that was one. The sun is nobody's kill.

use std::collections::BTreeMap;

use tickwire_demo::gateway::Notice;
use tickwire_demo::{OwnerId, Score};

/// What is known of the last time that the ship was lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Killer {
    /// Everybody's kills when last looked at.
    before: BTreeMap<OwnerId, u16>,
    /// Kills that grew since the own ship was last there.
    grown: Vec<String>,
    /// Who a notice named.
    told: Option<String>,
}

impl Killer {
    /// Takes note of what happened.
    pub(super) fn hear(&mut self, notice: &Notice, own_name: &str) {
        if let Notice::Killed { victim, by } = notice
            && victim == own_name
        {
            self.told = Some(by.clone().unwrap_or_default());
        }
    }

    /// Looks at the scores, once a step. `is_alive`: the own ship is there.
    pub(super) fn look(&mut self, scores: &[Score], own: Option<OwnerId>, is_alive: bool) {
        if is_alive {
            self.grown.clear();
            self.told = None;
        }
        for score in scores {
            let before = self.before.insert(score.owner, score.kills);
            let has_killed = before.is_some_and(|kills| score.kills > kills);
            if has_killed && Some(score.owner) != own {
                self.grown.push(score.name.clone());
            }
        }
    }

    /// A sentence for whoever lost a ship.
    pub(super) fn sentence(&self) -> String {
        match (&self.told, self.grown.as_slice()) {
            (Some(name), _) if name.is_empty() => "your ship crashed".into(),
            (Some(name), _) => format!("{name} destroyed your ship"),
            (None, [name]) => format!("{name} destroyed your ship"),
            (None, _) => "your ship is gone".into(),
        }
    }
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

    #[test]
    fn whoever_s_kills_grew_was_it() {
        let mut killer = Killer::default();
        killer.look(&scores(4, 9, 0), Some(OWN), true);
        killer.look(&scores(5, 9, 0), Some(OWN), true);
        killer.look(&scores(5, 9, 0), None, false);
        assert_eq!(killer.sentence(), "your ship is gone", "not told yet");
        killer.look(&scores(5, 10, 1), None, false);
        assert_eq!(killer.sentence(), "Bob destroyed your ship");
        killer.look(&scores(6, 10, 1), None, false);
        assert_eq!(killer.sentence(), "your ship is gone", "it may be either");
        killer.look(&scores(6, 10, 1), Some(OWN), true);
        killer.look(&scores(6, 10, 2), None, false);
        assert_eq!(killer.sentence(), "your ship is gone");
    }

    #[test]
    fn a_notice_knows_better() {
        let mut killer = Killer::default();
        killer.look(&scores(4, 9, 0), Some(OWN), true);
        let by = Some("Ada".to_owned());
        let victim = "me".to_owned();
        killer.hear(&Notice::Killed { victim, by }, "me");
        killer.look(&scores(4, 10, 1), None, false);
        assert_eq!(killer.sentence(), "Ada destroyed your ship");
        let victim = "me".to_owned();
        killer.hear(&Notice::Killed { victim, by: None }, "me");
        assert_eq!(killer.sentence(), "your ship crashed");
    }
}
