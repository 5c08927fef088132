//! What a bot does all day.

/// How bots load a server.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Pattern {
    /// They join and do nothing.
    Idle,
    /// They move, and do nothing to anybody.
    Roam,
    /// They play as well as they can: in the arena they fight, in the tile world they walk, build and chat.
    #[default]
    Fight,
    /// They play, leave after a few seconds, and others come in their place.
    Churn,
}
