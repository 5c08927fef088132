//! Numbers of steps.

use core::fmt;

/// One step of a game, by its number. The first is 1; 0 is "none", before the game began.
///
/// 64 bits do not wrap: at 60 steps a second they last for billions of years. A protocol whose numbers
/// are narrower widens them where it reads them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tick(pub u64);

impl Tick {
    /// Before the first step.
    pub const NONE: Self = Self(0);

    /// The step after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The step `steps` before this one, or none.
    #[must_use]
    pub const fn before(self, steps: u64) -> Self {
        Self(self.0.saturating_sub(steps))
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
