//! The arithmetic of one lane: what it can hold, differences, and where it will be if it moves on.
//!
//! Coders work on *raw* values: how far a lane is above the smallest it may hold. So every lane is
//! unsigned and begins at 0, whatever its kind. All of it is integers, and equal on both sides.

use crate::schema::Kind;

/// What one lane can hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Lane {
    /// The smallest value, as it lies in the lane.
    min: u32,
    /// The largest raw value.
    span: u32,
    /// Unused bits above a value that wraps around; 0 if it does not.
    shift: u32,
}

impl Lane {
    /// An occupant's id: anything but 0.
    pub(super) const ID: Self = Self::ranging(1, u32::MAX);

    /// The index of a quaternion's largest component.
    pub(super) const LARGEST: Self = Self::ranging(0, 3);

    /// Any other component of a quaternion.
    pub(super) const fn component(bits: u8) -> Self {
        Self::ranging(0, (1 << bits) - 1)
    }

    /// A lane of a field all of whose lanes are alike. Fields of bytes have none: asked for one, it
    /// holds nothing but 0.
    pub(super) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Flag => Self::wrapping(1),
            Kind::Unsigned { max } => Self::ranging(0, max),
            Kind::Signed { min, max } => Self::ranging(min.cast_unsigned(), max.cast_unsigned()),
            Kind::Angle { bits } => Self::wrapping(bits as u32),
            Kind::Quaternion { bits } => Self::component(bits),
            Kind::Entity => Self::ranging(0, u32::MAX),
            Kind::Bytes { .. } => Self::ranging(0, 0),
        }
    }

    const fn ranging(min: u32, max: u32) -> Self {
        Self {
            min,
            span: max.wrapping_sub(min),
            shift: 0,
        }
    }

    const fn wrapping(bits: u32) -> Self {
        let shift = 32 - bits;
        Self {
            min: 0,
            span: u32::MAX >> shift,
            shift,
        }
    }

    /// Bits of a raw value.
    pub(super) const fn bits(self) -> u32 {
        32 - self.span.leading_zeros()
    }

    /// The largest raw value.
    pub(super) const fn span(self) -> u32 {
        self.span
    }

    /// What lies in the lane, raw.
    pub(super) const fn raw(self, lane: u32) -> u32 {
        lane.wrapping_sub(self.min)
    }

    /// What lies in the lane if `raw` is its raw value.
    pub(super) const fn lane(self, raw: u32) -> u32 {
        raw.wrapping_add(self.min)
    }

    /// How far `now` is from `then`; the shorter way if it wraps around.
    pub(super) const fn difference(self, now: u32, then: u32) -> i32 {
        let modulo = now.wrapping_sub(then);
        (modulo << self.shift).cast_signed() >> self.shift
    }

    /// Undoes [`difference`](Self::difference); nothing if the lane cannot hold what results.
    pub(super) const fn displaced(self, then: u32, difference: i32) -> Option<u32> {
        let raw = then.wrapping_add_signed(difference) & (u32::MAX >> self.shift);
        if raw <= self.span { Some(raw) } else { None }
    }

    /// Where it will be if it moves on as from `previous` to `baseline`; see
    /// [`Ages::reach`](crate::coder::Ages).
    pub(super) fn extrapolate(self, baseline: u32, previous: u32, reach: i64) -> u32 {
        let velocity = i64::from(self.difference(baseline, previous));
        let there = i64::from(baseline) + ((velocity * reach + 2048) >> 12);
        if self.shift == 0 {
            u32::try_from(there.max(0)).map_or(self.span, |there| there.min(self.span))
        } else {
            let around = there & i64::from(self.span);
            u32::try_from(around).unwrap_or_default()
        }
    }
}

/// A signed number as an unsigned one that is small if it is near 0: 0, -1, 1, -2, 2, …
pub(super) const fn fold(signed: i32) -> u32 {
    ((signed << 1) ^ (signed >> 31)).cast_unsigned()
}

/// Undoes [`fold`].
pub(super) const fn unfold(folded: u32) -> i32 {
    (folded >> 1).cast_signed() ^ -((folded & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Kind; 7] = [
        Kind::Flag,
        Kind::Unsigned { max: 9 },
        Kind::Unsigned { max: u32::MAX },
        Kind::Signed { min: -7, max: 12 },
        Kind::Signed {
            min: i32::MIN,
            max: i32::MAX,
        },
        Kind::Angle { bits: 5 },
        Kind::Angle { bits: 32 },
    ];

    #[test]
    fn every_difference_can_be_undone() {
        for lane in ALL.map(Lane::of) {
            let some = [0, 1, lane.span() / 2, lane.span() - 1, lane.span()];
            for now in some {
                for then in some {
                    let difference = lane.difference(now, then);
                    assert_eq!(unfold(fold(difference)), difference);
                    assert_eq!(lane.displaced(then, difference), Some(now), "{lane:?}");
                }
            }
        }
    }

    #[test]
    fn angles_go_the_shorter_way() {
        let lane = Lane::of(Kind::Angle { bits: 8 });
        assert_eq!(lane.difference(2, 254), 4);
        assert_eq!(lane.difference(254, 2), -4);
        assert_eq!(lane.extrapolate(254, 250, 4096), 2);
    }

    #[test]
    fn extrapolation_ends_at_the_range() {
        let lane = Lane::of(Kind::Signed { min: -10, max: 10 });
        assert_eq!(lane.extrapolate(lane.raw(8), lane.raw(4), 2 * 4096), 20);
        let down = lane.raw((-8_i32).cast_unsigned());
        assert_eq!(lane.extrapolate(down, lane.raw(0), 4096), 0);
        assert_eq!(
            lane.extrapolate(lane.raw(4), lane.raw(3), 2 * 4096),
            lane.raw(6)
        );
    }

    #[test]
    fn what_a_lane_cannot_hold_is_refused() {
        let lane = Lane::of(Kind::Unsigned { max: 9 });
        assert_eq!(lane.displaced(9, 1), None);
        assert_eq!(lane.displaced(0, -1), None);
    }
}
