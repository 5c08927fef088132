//! Rows: one lane of the slots in question, side by side, so that what is done to them runs on vectors.
//!
//! [`Picks`] makes rows of columns and back. [`Past`] says where the values of a row are expected.

use crate::block::{BlockView, Column, SLOTS};
use crate::coder::Known;
use crate::coder::lane::Lane;
use crate::coder::rotation::reexpress;
use crate::coder::slots::{members, same_occupants};

/// One lane of some slots. What lies behind the last of them is of no meaning.
pub(super) type Row = Column;

/// Some slots of a block, in ascending order.
pub(super) struct Picks {
    slots: [u8; SLOTS],
    len: usize,
}

impl Picks {
    pub(super) fn of(set: u64) -> Self {
        let mut slots = [0; SLOTS];
        for (place, slot) in slots.iter_mut().zip(members(set)) {
            *place = slot;
        }
        let len = set.count_ones() as usize;
        Self { slots, len }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = u8> {
        self.slots.iter().copied().take(self.len)
    }

    /// A row of raw values.
    #[inline]
    pub(super) fn gather(&self, column: &Column, lane: Lane) -> Row {
        let mut row = [0; SLOTS];
        for (value, slot) in row.iter_mut().zip(self.slots()) {
            *value = lane.raw(at(column, slot));
        }
        row
    }

    /// Puts a row of raw values where it belongs.
    pub(super) fn scatter(&self, row: &Row, lane: Lane, column: &mut Column) {
        for (&value, slot) in row.iter().zip(self.slots()) {
            if let Some(place) = column.get_mut(usize::from(slot % 64)) {
                *place = lane.lane(value);
            }
        }
    }
}

fn at(column: &Column, slot: u8) -> u32 {
    // Always in range, as the compiler sees.
    column.get(usize::from(slot % 64)).copied().unwrap_or(0)
}

/// Where the values of a row are expected, raw.
pub(super) struct Expected {
    /// If nothing moved.
    pub(super) hold: Row,
    /// If everything moved on; nothing if it is not known how.
    pub(super) motion: Option<Row>,
}

/// Where the slots that changed come from.
pub(super) struct Past<'a> {
    picks: &'a Picks,
    baseline: BlockView<'a>,
    previous: Option<BlockView<'a>>,
    /// Bit `n`: the n-th slot has the same occupant at `previous`.
    moved: u64,
    reach: i64,
}

impl<'a> Past<'a> {
    /// Nothing if there is no baseline, and so nothing that could have changed.
    pub(super) fn new(known: &Known<'a>, picks: &'a Picks) -> Option<Self> {
        let baseline = known.baseline?;
        let previous = known.previous;
        let same = previous.map_or(0, |previous| same_occupants(&baseline, &previous));
        let bits = picks.slots().zip(0_u32..);
        let moved = bits.fold(0, |set, (slot, n)| set | (same >> slot & 1) << n);
        Some(Self {
            picks,
            baseline,
            previous: previous.filter(|_| moved != 0),
            moved,
            reach: known.ages.reach(),
        })
    }

    /// Whether all these slots have in lane `number` what they had at the baseline.
    pub(super) fn is_unchanged(&self, number: usize, now: &Column) -> bool {
        let then = self.baseline.column(number);
        let mut slots = self.picks.slots();
        slots.all(|slot| at(now, slot) == at(then, slot))
    }

    /// Where lane `lane` of the block is expected.
    #[inline]
    pub(super) fn expect(&self, number: usize, lane: Lane) -> Expected {
        let hold = self.picks.gather(self.baseline.column(number), lane);
        let motion = self.previous.map(|previous| {
            let previous = self.picks.gather(previous.column(number), lane);
            self.extrapolate(lane, &hold, &previous)
        });
        Expected { hold, motion }
    }

    /// Where the three components of a quaternion are expected whose first lane is `number`, and whose
    /// largest component, now, is that of the row `largest`.
    pub(super) fn expect_rotation(&self, number: usize, bits: u8, largest: &Row) -> [Expected; 3] {
        let baseline = self.rotations(&self.baseline, number, bits, largest);
        let previous = self
            .previous
            .map(|previous| self.rotations(&previous, number, bits, largest));
        let lane = Lane::component(bits);
        let mut index = 0;
        baseline.map(|hold| {
            let previous = previous.as_ref().and_then(|rows| rows.get(index));
            index += 1;
            let motion = previous.map(|previous| self.extrapolate(lane, &hold, previous));
            Expected { hold, motion }
        })
    }

    /// The components of a block's quaternions with component `largest` left out.
    #[inline]
    fn rotations(&self, of: &BlockView<'_>, number: usize, bits: u8, largest: &Row) -> [Row; 3] {
        let columns = [0, 1, 2, 3].map(|lane| of.column(number + lane));
        let mut rows = [[0; SLOTS]; 3];
        let [a, b, c] = &mut rows;
        let places = a.iter_mut().zip(b).zip(c).zip(largest);
        for ((((a, b), c), &largest), slot) in places.zip(self.picks.slots()) {
            let lanes = columns.map(|column| at(column, slot));
            [_, *a, *b, *c] = reexpress(lanes, largest, bits);
        }
        rows
    }

    #[inline]
    fn extrapolate(&self, lane: Lane, baseline: &Row, previous: &Row) -> Row {
        let mut row = *baseline;
        let values = row.iter_mut().zip(previous).take(self.picks.len);
        for ((value, &previous), n) in values.zip(0_u32..) {
            if self.moved >> n & 1 == 1 {
                *value = lane.extrapolate(*value, previous, self.reach);
            }
        }
        row
    }
}
