//! Rows: one lane of the slots in question, side by side, so that what is done to them runs on vectors.
//!
//! [`Picks`] makes rows of columns and back. [`Past`] says where the values of a row are expected.

use crate::block::{BlockView, Column, SLOTS};
use crate::coder::Known;
use crate::coder::lane::Lane;
use crate::coder::rotation::reexpress;
use crate::coder::slots::{members, same_occupants};

/// Some slots of a block, in ascending order.
pub(super) struct Picks {
    slots: [u8; SLOTS],
    len: usize,
}

impl Picks {
    pub(super) fn of(set: u64) -> Self {
        let mut slots = [0; SLOTS];
        let len = set.count_ones() as usize;
        if len == SLOTS {
            slots.iter_mut().zip(0..).for_each(|(slot, n)| *slot = n);
        } else {
            for (place, slot) in slots.iter_mut().zip(members(set)) {
                *place = slot;
            }
        }
        Self { slots, len }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = u8> {
        self.slots.iter().copied().take(self.len)
    }

    /// A row of a buffer.
    #[inline]
    pub(super) fn row<'r>(&self, buffer: &'r mut Column) -> &'r mut [u32] {
        buffer.get_mut(..self.len).unwrap_or_default()
    }

    /// Makes a row of raw values.
    #[inline]
    pub(super) fn gather<'r>(
        &self,
        column: &Column,
        lane: Lane,
        buffer: &'r mut Column,
    ) -> &'r mut [u32] {
        if self.len == SLOTS {
            for (value, at) in buffer.iter_mut().zip(column) {
                *value = lane.raw(*at);
            }
            return buffer;
        }
        let row = self.row(buffer);
        for (value, slot) in row.iter_mut().zip(&self.slots) {
            *value = lane.raw(at(column, *slot));
        }
        row
    }

    /// Puts a row of raw values where it belongs.
    #[inline]
    pub(super) fn scatter(&self, row: &[u32], lane: Lane, column: &mut Column) {
        if self.len == SLOTS {
            for (place, value) in column.iter_mut().zip(row) {
                *place = lane.lane(*value);
            }
            return;
        }
        for (&value, slot) in row.iter().zip(self.slots()) {
            if let Some(place) = column.get_mut(usize::from(slot % 64)) {
                *place = lane.lane(value);
            }
        }
    }
}

#[inline]
fn at(column: &Column, slot: u8) -> u32 {
    // Always in range, as the compiler sees.
    column.get(usize::from(slot % 64)).copied().unwrap_or(0)
}

/// Where the slots that changed come from.
pub(super) struct Past<'a> {
    picks: &'a Picks,
    baseline: BlockView<'a>,
    previous: Option<BlockView<'a>>,
    /// Bit `n`: the n-th slot has another occupant at `previous`.
    unmoved: u64,
    reach: i64,
}

/// The three components of a quaternion beside the largest, as rows.
pub(super) type Components = [Column; 3];

impl<'a> Past<'a> {
    /// Nothing if there is no baseline, and so nothing that could have changed.
    pub(super) fn new(known: &Known<'a>, picks: &'a Picks) -> Option<Self> {
        let baseline = known.baseline?;
        let previous = known.previous;
        let same = previous.map_or(0, |previous| same_occupants(&baseline, &previous));
        let bits = picks.slots().zip(0_u32..);
        let unmoved = if same == u64::MAX {
            0
        } else {
            bits.fold(0, |set, (slot, n)| set | (!same >> slot & 1) << n)
        };
        let all = u64::MAX.checked_shr(64 - u32::try_from(picks.len).unwrap_or(0));
        Some(Self {
            picks,
            baseline,
            previous: previous.filter(|_| unmoved != all.unwrap_or(0)),
            unmoved,
            reach: known.ages.reach(),
        })
    }

    /// Whether motion is known of any slot.
    pub(super) const fn has_motion(&self) -> bool {
        self.previous.is_some()
    }

    /// Where lane `number` is if nothing moved.
    #[inline]
    pub(super) fn hold<'r>(
        &self,
        number: usize,
        lane: Lane,
        buffer: &'r mut Column,
    ) -> &'r mut [u32] {
        self.picks
            .gather(self.baseline.column(number), lane, buffer)
    }

    /// Where lane `number` is if everything moved on from `hold`. Only if it
    /// [has motion](Self::has_motion).
    #[inline]
    pub(super) fn motion<'r>(
        &self,
        number: usize,
        lane: Lane,
        hold: &[u32],
        buffer: &'r mut Column,
    ) -> &'r mut [u32] {
        let previous = self.previous.unwrap_or(self.baseline);
        let row = self.picks.gather(previous.column(number), lane, buffer);
        self.move_on(lane, hold, row);
        row
    }

    /// Where the components of a quaternion are if nothing moved. Its first lane is `number`, and now its
    /// largest component is that of the row `largest`.
    pub(super) fn hold_rotation(
        &self,
        number: usize,
        bits: u8,
        largest: &[u32],
        rows: &mut Components,
    ) {
        self.rotations(&self.baseline, number, bits, largest, rows);
    }

    /// Where they are if everything moved on from `hold`.
    pub(super) fn motion_rotation(
        &self,
        number: usize,
        bits: u8,
        largest: &[u32],
        hold: &Components,
        rows: &mut Components,
    ) {
        let previous = self.previous.unwrap_or(self.baseline);
        self.rotations(&previous, number, bits, largest, rows);
        for (row, hold) in rows.iter_mut().zip(hold) {
            let hold = hold.get(..self.picks.len).unwrap_or_default();
            self.move_on(Lane::component(bits), hold, self.picks.row(row));
        }
    }

    /// The components of a block's quaternions with component `largest` left out.
    #[inline]
    fn rotations(
        &self,
        of: &BlockView<'_>,
        number: usize,
        bits: u8,
        largest: &[u32],
        rows: &mut Components,
    ) {
        let columns = [1, 2, 3].map(|lane| of.column(number + lane));
        for (row, column) in rows.iter_mut().zip(columns) {
            self.picks.gather(column, Lane::component(bits), row);
        }
        let mut buffer = [0; SLOTS];
        let were = self
            .picks
            .gather(of.column(number), Lane::LARGEST, &mut buffer);
        let differs = |all, (was, is): (&u32, &u32)| all | was ^ is;
        if were.iter().zip(largest).fold(0, differs) == 0 {
            return;
        }
        let [a, b, c] = rows;
        let places = a.iter_mut().zip(b).zip(c);
        for (((a, b), c), (was, is)) in places.zip(were.iter().zip(largest)) {
            if was != is {
                [_, *a, *b, *c] = reexpress([*was, *a, *b, *c], *is, bits);
            }
        }
    }

    /// Makes a row of where things were at `previous` one of where they are expected.
    #[inline]
    fn move_on(&self, lane: Lane, hold: &[u32], row: &mut [u32]) {
        lane.extrapolate_row(hold, row, self.reach);
        if self.unmoved != 0 {
            for ((value, hold), n) in row.iter_mut().zip(hold).zip(0_u32..) {
                if self.unmoved >> n & 1 == 1 {
                    *value = *hold;
                }
            }
        }
    }
}
