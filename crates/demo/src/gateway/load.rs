//! Why a savegame is not taken up.

use core::fmt;

use tickwire_dialects::opendrakan::RestoreError;
use tickwire_dialects::opendrakan::savegame::SaveError;

/// Why a savegame is not taken up.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LoadError {
    /// No protocol that has savegames is open.
    NoSavegames,
    /// It is not what somebody saved.
    Unreadable(SaveError),
    /// It is one, but not of this game.
    Unfit(RestoreError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSavegames => f.write_str("none of these protocols has savegames"),
            Self::Unreadable(why) => why.fmt(f),
            Self::Unfit(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for LoadError {}
