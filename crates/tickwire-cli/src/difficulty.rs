//! How good computer players are, as it is typed.

use tickwire_demo::Skill;

/// See [`Skill`].
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Difficulty {
    /// For a first flight: they aim badly, think slowly and leave rockets at home.
    Easy,
    /// They are worth watching.
    Normal,
    /// They hardly miss.
    Hard,
}

impl From<Difficulty> for Skill {
    fn from(difficulty: Difficulty) -> Self {
        match difficulty {
            Difficulty::Easy => Self::Easy,
            Difficulty::Normal => Self::Normal,
            Difficulty::Hard => Self::Hard,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_what_they_are() {
        let levels = [Difficulty::Easy, Difficulty::Normal, Difficulty::Hard].map(Skill::from);
        assert_eq!(levels, [Skill::Easy, Skill::Normal, Skill::Hard]);
    }
}
