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

/// The same for whole rows, without a branch in their loops, so that they run on vectors.
impl Lane {
    /// How many bits the largest of the folded differences has.
    #[inline]
    pub(super) fn width(self, now: &[u32], then: &[u32]) -> u32 {
        let pairs = now.iter().zip(then);
        let all = pairs.fold(0, |all, (now, then)| {
            all | fold(self.difference(*now, *then))
        });
        u32::BITS - all.leading_zeros()
    }

    /// Makes values their folded differences to others.
    #[inline]
    pub(super) fn subtract(self, values: &mut [u32], from: &[u32]) {
        for (value, from) in values.iter_mut().zip(from) {
            *value = fold(self.difference(*value, *from));
        }
    }

    /// Undoes [`subtract`](Self::subtract). If the lane cannot hold one of the results, says which, and the
    /// values are of no use.
    #[inline]
    pub(super) fn add(self, values: &mut [u32], to: &[u32]) -> Result<(), usize> {
        let mut most = 0;
        for (value, to) in values.iter_mut().zip(to) {
            *value = to.wrapping_add_signed(unfold(*value)) & (u32::MAX >> self.shift);
            most = most.max(*value);
        }
        if most <= self.span {
            return Ok(());
        }
        Err(values
            .iter()
            .position(|value| *value > self.span)
            .unwrap_or(0))
    }

    /// Makes values of where lanes were before a baseline those of where they will be.
    #[inline]
    pub(super) fn extrapolate_row(self, baseline: &[u32], values: &mut [u32], reach: i64) {
        let bits = i64::BITS - reach.leading_zeros() + self.width(baseline, values);
        let pairs = values.iter_mut().zip(baseline);
        // A folded velocity has a bit more than the velocity.
        match i32::try_from(reach) {
            Ok(reach) if bits <= 31 && self.span <= NARROW => {
                let (span, wraps) = (self.span.cast_signed(), self.shift > 0);
                for (value, baseline) in pairs {
                    let velocity = self.difference(*baseline, *value);
                    let there = baseline.cast_signed() + ((velocity * reach + 2048) >> 12);
                    let around = if wraps { there & span } else { there };
                    *value = around.clamp(0, span).cast_unsigned();
                }
            }
            _ => {
                for (value, baseline) in pairs {
                    *value = self.extrapolate(*baseline, *value, reach);
                }
            }
        }
    }
}

/// The largest span of a lane that is extrapolated in 32 bits.
const NARROW: u32 = (1 << 30) - 1;

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
    fn rows_are_extrapolated_as_single_lanes_are() {
        for lane in ALL.map(Lane::of) {
            let part = |n: u32| u32::try_from(u64::from(lane.span()) * u64::from(n) / 16).unwrap();
            let many = (0..=16).flat_map(|a| (0..=16).map(move |b| (part(a), part(b))));
            for reach in [0, 1, 4096, 3 * 4096, 63 * 4096] {
                for near in [false, true] {
                    let pairs = many.clone().filter(|(a, b)| !near || a.abs_diff(*b) < 500);
                    let (then, mut row): (alloc::vec::Vec<_>, alloc::vec::Vec<_>) = pairs.unzip();
                    let single = then.iter().zip(&row);
                    let single: alloc::vec::Vec<_> = single
                        .map(|(then, before)| lane.extrapolate(*then, *before, reach))
                        .collect();
                    lane.extrapolate_row(&then, &mut row, reach);
                    assert_eq!(row, single, "{lane:?} {reach}");
                }
            }
        }
    }

    #[test]
    fn rows_of_differences_can_be_undone_unless_one_is_too_large() {
        let lane = Lane::of(Kind::Unsigned { max: 9 });
        let (then, now) = ([0, 9, 4, 7], [9, 0, 4, 8]);
        let mut row = now;
        lane.subtract(&mut row, &then);
        assert_eq!(lane.width(&now, &then), 5);
        assert_eq!((lane.add(&mut row, &then), row), (Ok(()), now));
        let mut row = [0, 0, fold(6), fold(-8)];
        assert_eq!(lane.add(&mut row, &then), Err(2));
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
