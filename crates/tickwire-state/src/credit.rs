//! Input credit: nobody moves faster than the clock.
//!
//! One input moves a player on by one step, so whoever could have more of them taken would be faster
//! than everyone else. In: the server's ticks, and the inputs that arrive. Out: whether an input is
//! taken. Credit comes with ticks, never with packets, up to an allowance: that much may
//! arrive late and then all at once. An input beyond it is the caller's to drop or to keep for the
//! next tick; its sender has, over any span of time, moved as far as the clock allows.
//!
//! Everything is counted in whole numbers: rates that do not divide each other lose nothing to
//! rounding, however long the game lasts.

use core::fmt;

/// How fast inputs come by right.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InputRate {
    /// Inputs that a client makes in a second.
    pub inputs_per_second: u32,
    /// Ticks that the server makes in a second.
    pub ticks_per_second: u32,
}

/// What one client may still have taken.
///
/// ```
/// use tickwire_state::{InputCredit, InputRate};
///
/// let rate = InputRate { inputs_per_second: 60, ticks_per_second: 20 };
/// let mut credit = InputCredit::new(rate, 5);
/// assert_eq!((0..100).filter(|_| credit.take().is_ok()).count(), 5);
/// credit.add_ticks(1);
/// assert_eq!((0..100).filter(|_| credit.take().is_ok()).count(), 3);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InputCredit {
    rate: InputRate,
    /// Of an input's `ticks_per_second` parts, as many as are held; a tick adds `inputs_per_second`.
    parts: u64,
    most: u64,
    refused: u64,
}

/// The client is ahead of the clock by more than its allowance.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooFast;

impl fmt::Display for TooFast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client makes inputs faster than the clock allows")
    }
}

impl core::error::Error for TooFast {}

impl InputCredit {
    /// The credit of a client that just came: its whole allowance, in inputs.
    ///
    /// The allowance is what jitter and a burst after a loss may need; it is also how far a cheat
    /// can jump after standing still. A quarter of a second is usual.
    ///
    /// # Panics
    /// If a rate is 0, or the allowance is less than a tick brings: they are configuration, not input.
    pub const fn new(rate: InputRate, allowance: u32) -> Self {
        assert!(
            rate.inputs_per_second > 0 && rate.ticks_per_second > 0,
            "a game has inputs and ticks"
        );
        let most = allowance as u64 * rate.ticks_per_second as u64;
        // Otherwise a part of every tick's credit would be lost, and honest clients be too fast.
        assert!(
            allowance > 0 && most >= rate.inputs_per_second as u64,
            "an allowance holds at least what a tick brings"
        );
        Self {
            rate,
            parts: most,
            most,
            refused: 0,
        }
    }

    /// The server made so many ticks.
    pub fn add_ticks(&mut self, ticks: u64) {
        let gained = ticks.saturating_mul(self.rate.inputs_per_second.into());
        self.parts = self.parts.saturating_add(gained).min(self.most);
    }

    /// Takes one input, if there is credit for it. One that is refused costs nothing.
    pub fn take(&mut self) -> Result<(), TooFast> {
        match self.parts.checked_sub(self.rate.ticks_per_second.into()) {
            Some(left) => {
                self.parts = left;
                Ok(())
            }
            None => {
                self.refused = self.refused.saturating_add(1);
                Err(TooFast)
            }
        }
    }

    /// How many inputs would be taken at once.
    pub fn available(&self) -> u32 {
        let inputs = self.parts / u64::from(self.rate.ticks_per_second);
        u32::try_from(inputs).unwrap_or(u32::MAX)
    }

    /// How many inputs were refused.
    pub const fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests;
