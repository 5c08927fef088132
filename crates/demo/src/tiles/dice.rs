//! Random integers of a small range.

use crate::Random;

/// A number below `sides`, or 0 if there are none. Where 2^64 is no multiple of it, low numbers come
/// more often by less than one in 2^48.
pub(super) fn roll(random: &mut Random, sides: u16) -> u16 {
    let drawn = random.bits() % u64::from(sides.max(1));
    u16::try_from(drawn).expect("a remainder of 16 bits fits")
}

/// A number from `-reach` to `reach`.
pub(super) fn sway(random: &mut Random, reach: u8) -> i32 {
    i32::from(roll(random, u16::from(reach) * 2 + 1)) - i32::from(reach)
}
