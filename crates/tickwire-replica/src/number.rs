//! The numbers by which packets name sends, packets, places and blocks.

use core::fmt;

/// One of the ticks at which clients are sent the world, by its number. The first is 1; 0 is "none".
///
/// On the wire it has 30 bits, and is widened to whatever is nearest to a send that the reader knows.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SendIndex(pub u64);

impl SendIndex {
    /// Before the first send.
    pub const NONE: Self = Self(0);

    /// The send after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The send `sends` before this one, or none.
    #[must_use]
    pub const fn before(self, sends: u64) -> Self {
        Self(self.0.saturating_sub(sends))
    }

    /// How many sends `older` lies before this one; 0 if it does not.
    pub const fn since(self, older: Self) -> u64 {
        self.0.saturating_sub(older.0)
    }

    /// The send nearest to this one that has these lowest bits.
    pub(crate) const fn nearest(self, low: u32) -> Self {
        Self(nearest(self.0, low as u64, 30))
    }
}

impl fmt::Display for SendIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A packet to one client, by its number. They are counted from 1, without gaps.
///
/// On the wire it has 16 bits, and is widened like a [`SendIndex`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PacketNumber(pub u64);

impl PacketNumber {
    /// The packet after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The packet nearest to this one that has these lowest bits.
    pub(crate) const fn nearest(self, low: u16) -> Self {
        Self(nearest(self.0, low as u64, 16))
    }
}

/// A place of a world: one grid cell, or none, as one audience sees it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PlaceNumber(pub u32);

/// A block, by its number within its place.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlockNumber(pub u16);

/// The number nearest to `near` whose lowest `bits` bits are `low`.
const fn nearest(near: u64, low: u64, bits: u32) -> u64 {
    let range = 1 << bits;
    // Modulo the range, the distance is unambiguous: forward, or half the range and more, backward.
    let forward = low.wrapping_sub(near) & (range - 1);
    if forward <= range / 2 {
        return near.saturating_add(forward);
    }
    match near.checked_sub(range - forward) {
        Some(back) => back,
        // Nothing lies before 0.
        None => near + forward,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_widened_to_the_nearest() {
        let check = |near, low, expected| {
            assert_eq!(PacketNumber(near).nearest(low), PacketNumber(expected));
        };
        check(0, 1, 1);
        check(0, 0xffff, 0xffff);
        check(0x1_0000, 0xffff, 0xffff);
        check(0x1_fff0, 3, 0x2_0003);
        check(0x2_0003, 0xfff0, 0x1_fff0);
        check(70_000, 4_464, 70_000);
        assert_eq!(
            SendIndex((5 << 30) - 1).nearest(2),
            SendIndex((5 << 30) + 2)
        );
    }
}
