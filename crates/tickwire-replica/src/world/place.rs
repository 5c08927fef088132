//! Places: one grid cell, or none, as one audience sees it.
//!
//! Who may see a place sees all of it, and what somebody may not see lies in another place. A place has
//! numbered blocks. What every client asks of every block, each send, lies side by side in the place: when
//! it changed, since when it exists, whether it is gone.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::audience::{Audience, AudienceNumber};
use super::set::BlockSet;
use crate::limits::BLOCKS_PER_PLACE_MAX;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::window::Changes;

/// A square of the plane.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Cell {
    /// How many sides from the origin along the second axis.
    pub row: i32,
    /// How many sides from the origin along the first axis.
    pub column: i32,
}

/// What makes a place another.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct PlaceKey {
    pub(super) cell: Option<Cell>,
    pub(super) audience: AudienceNumber,
}

/// Cells beyond this are one, so that there is always a cell after the last.
const FARTHEST: i32 = i32::MAX / 2;

/// How far beyond its border an entity still belongs to a cell, in sides. One that walks along a border
/// would change places all the time otherwise.
pub(crate) const HYSTERESIS: f64 = 0.125;

impl Cell {
    /// The cell of a point.
    pub(crate) fn of([x, y]: [f64; 2], side: f64) -> Self {
        Self {
            row: index(y / side),
            column: index(x / side),
        }
    }

    /// Whether a point that belonged to this cell still does.
    pub(super) fn keeps(self, [x, y]: [f64; 2], side: f64) -> bool {
        let near = |at: f64, index: i32| {
            let beyond = at / side - f64::from(index);
            (-HYSTERESIS..=1.0 + HYSTERESIS).contains(&beyond)
        };
        near(x, self.column) && near(y, self.row)
    }

    /// The square of the distance from a point to the nearest point where this cell's entities can be.
    pub(crate) fn distance_squared(self, [x, y]: [f64; 2], side: f64) -> f64 {
        let away = |at: f64, index: i32| {
            let low = (f64::from(index) - HYSTERESIS) * side;
            let high = (f64::from(index) + 1.0 + HYSTERESIS) * side;
            (low - at).max(at - high).max(0.0)
        };
        let (dx, dy) = (away(x, self.column), away(y, self.row));
        dx * dx + dy * dy
    }
}

/// Rounds down; `core` has no floor.
fn index(quotient: f64) -> i32 {
    let farthest = f64::from(FARTHEST);
    let quotient = quotient.clamp(-farthest, farthest);
    #[expect(clippy::cast_possible_truncation, reason = "clamped to the range")]
    let whole = quotient as i32;
    if f64::from(whole) > quotient {
        whole - 1
    } else {
        whole
    }
}

/// Which of the world's blocks one is, whatever its place.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Handle(pub(crate) u32);

/// A place of a world.
#[derive(Debug)]
pub(crate) struct Place {
    pub(super) key: PlaceKey,
    /// Who may see it.
    pub(crate) audience: Audience,
    /// By number.
    heads: Vec<Head>,
    /// Blocks with a free slot, by archetype.
    open: Vec<(usize, BlockNumber)>,
    /// The blocks that changed at the last send at which any did.
    changed: BlockSet,
    changed_at: SendIndex,
    /// Numbers in use.
    used: usize,
}

/// What clients ask of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) handle: Handle,
    pub(crate) changes: Changes,
    /// The first send at which it existed.
    pub(crate) born: SendIndex,
    /// The last send at which an entity had come to it from another block.
    pub(crate) moved_in: SendIndex,
    pub(crate) state: State,
    /// How many clients may know it.
    pub(crate) knowers: u32,
}

/// Whether a number names a block.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum State {
    /// No.
    #[default]
    Unused,
    /// Yes.
    Live,
    /// It did until this send, and clients may not know yet.
    Gone(SendIndex),
}

impl Place {
    pub(super) fn new(key: PlaceKey, audience: Audience) -> Self {
        Self {
            key,
            audience,
            heads: Vec::new(),
            open: Vec::new(),
            changed: BlockSet::default(),
            changed_at: SendIndex::NONE,
            used: 0,
        }
    }

    /// Where it lies, if anywhere.
    pub(crate) const fn cell(&self) -> Option<Cell> {
        self.key.cell
    }

    /// By number.
    pub(crate) fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// What is asked of a block.
    #[inline]
    pub(crate) fn head(&self, block: BlockNumber) -> Option<&Head> {
        self.heads.get(usize::from(block.0))
    }

    #[inline]
    pub(crate) fn head_mut(&mut self, block: BlockNumber) -> Option<&mut Head> {
        self.heads.get_mut(usize::from(block.0))
    }

    /// The last send at which a block of it changed.
    pub(crate) const fn changed_at(&self) -> SendIndex {
        self.changed_at
    }

    /// The blocks that changed then.
    pub(crate) const fn changed(&self) -> &BlockSet {
        &self.changed
    }

    pub(super) const fn is_unused(&self) -> bool {
        self.used == 0
    }

    /// Gives a block a number, if there is one left.
    pub(super) fn add(&mut self, handle: Handle, born: SendIndex) -> Option<BlockNumber> {
        let unused = self.heads.iter().position(|h| h.state == State::Unused);
        let number = unused.unwrap_or(self.heads.len());
        if number >= BLOCKS_PER_PLACE_MAX {
            return None;
        }
        let number = BlockNumber(u16::try_from(number).ok()?);
        if unused.is_none() {
            self.heads.push(Head::default());
        }
        *self.head_mut(number)? = Head {
            handle,
            born,
            state: State::Live,
            ..Head::default()
        };
        self.used += 1;
        Some(number)
    }

    /// Notes that a block changed.
    pub(super) fn mark(&mut self, block: BlockNumber, send: SendIndex) {
        if self.changed_at != send {
            self.changed_at = send;
            self.changed.clear();
        }
        self.changed.insert(block);
        if let Some(head) = self.head_mut(block) {
            head.changes.mark(send);
        }
    }

    /// Notes that a block has nobody any more.
    pub(super) fn mark_gone(&mut self, block: BlockNumber, send: SendIndex) {
        self.close(block);
        if let Some(head) = self.head_mut(block) {
            head.state = State::Gone(send);
        }
    }

    /// Frees a number.
    pub(super) fn remove(&mut self, block: BlockNumber) {
        if let Some(head) = self.head_mut(block) {
            *head = Head::default();
            self.used -= 1;
        }
    }

    /// Blocks of an archetype with a free slot.
    pub(super) fn open(&self, archetype: usize) -> impl Iterator<Item = BlockNumber> {
        let of_it = move |(of, _): &&(usize, BlockNumber)| *of == archetype;
        self.open.iter().filter(of_it).map(|(_, number)| *number)
    }

    /// Notes that a block has a free slot.
    pub(super) fn reopen(&mut self, archetype: usize, block: BlockNumber) {
        if !self.open.contains(&(archetype, block)) {
            self.open.push((archetype, block));
        }
    }

    /// Notes that a block has no free slot.
    pub(super) fn close(&mut self, block: BlockNumber) {
        self.open.retain(|(_, number)| *number != block);
    }
}

/// All places.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_key: BTreeMap<PlaceKey, PlaceNumber>,
    by_number: Vec<Option<Place>>,
    free: Vec<PlaceNumber>,
}

impl Places {
    pub(super) fn find(&self, key: PlaceKey) -> Option<PlaceNumber> {
        self.by_key.get(&key).copied()
    }

    pub(super) fn get(&self, number: PlaceNumber) -> Option<&Place> {
        self.by_number.get(number.0 as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: PlaceNumber) -> Option<&mut Place> {
        self.by_number.get_mut(number.0 as usize)?.as_mut()
    }

    /// Adds a place.
    pub(super) fn add(&mut self, place: Place) -> PlaceNumber {
        let number = self.free.pop().unwrap_or_else(|| {
            // There are no more places than entities have been to within one window.
            PlaceNumber(u32::try_from(self.by_number.len()).unwrap_or(u32::MAX))
        });
        self.by_key.insert(place.key, number);
        match self.by_number.get_mut(number.0 as usize) {
            Some(slot) => *slot = Some(place),
            None => self.by_number.push(Some(place)),
        }
        number
    }

    pub(super) fn remove(&mut self, number: PlaceNumber) -> Option<Place> {
        let place = self.by_number.get_mut(number.0 as usize)?.take()?;
        self.by_key.remove(&place.key);
        self.free.push(number);
        Some(place)
    }

    /// Everything that has no cell, then everything whose cell is in a rectangle, ends included.
    pub(super) fn visit(&self, low: Cell, high: Cell, mut visit: impl FnMut(PlaceNumber)) {
        let key = |cell, audience| PlaceKey { cell, audience };
        let (first, last) = (AudienceNumber::FIRST, AudienceNumber::LAST);
        for (_, number) in self.by_key.range(key(None, first)..=key(None, last)) {
            visit(*number);
        }
        // One look-up a row; rows without anything are passed over.
        let mut start = low;
        let end = key(Some(high), last);
        while key(Some(start), first) <= end {
            let mut next = None;
            for (found, number) in self.by_key.range(key(Some(start), first)..=end) {
                let Some(cell) = found.cell else { continue };
                if cell.column < low.column {
                    next = Some(cell.row);
                    break;
                }
                if cell.column > high.column {
                    next = Some(cell.row + 1);
                    break;
                }
                visit(*number);
            }
            let Some(row) = next else { return };
            start = Cell {
                row,
                column: low.column,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_cell_keeps_what_is_an_eighth_of_a_side_beyond() {
        let side = 16.0;
        let cell = Cell::of([17.0, -1.0], side);
        assert_eq!(cell, Cell { row: -1, column: 1 });
        assert!(cell.keeps([34.0, -18.0], side));
        assert!(cell.keeps([14.0, 2.0], side));
        assert!(!cell.keeps([34.1, -1.0], side));
        assert!(!cell.keeps([17.0, 2.1], side));
    }

    #[test]
    fn distance_is_to_the_nearest_point_that_an_entity_may_be_at() {
        let cell = Cell { row: 0, column: 0 };
        assert!(cell.distance_squared([5.0, 9.0], 8.0) == 0.0);
        assert!(cell.distance_squared([13.0, 4.0], 8.0) == 16.0);
        assert!(cell.distance_squared([12.0, 13.0], 8.0) == 25.0);
    }

    #[test]
    fn a_rectangle_of_cells_is_visited_by_rows() {
        let mut places = Places::default();
        let mut add = |cell: Option<[i32; 2]>| {
            let cell = cell.map(|[row, column]| Cell { row, column });
            let audience = AudienceNumber::FIRST;
            let key = PlaceKey { cell, audience };
            places.add(Place::new(key, Audience::Everyone))
        };
        let inside = [
            add(None),
            add(Some([-1, -1])),
            add(Some([-1, 3])),
            add(Some([2, 0])),
        ];
        for outside in [[-2, 0], [-1, -2], [0, 4], [0, 5], [2, 4], [3, 0]] {
            add(Some(outside));
        }
        let mut found = vec![];
        let (low, high) = (
            Cell {
                row: -1,
                column: -1,
            },
            Cell { row: 2, column: 3 },
        );
        places.visit(low, high, |number| found.push(number));
        assert_eq!(found, inside);
    }

    #[test]
    fn the_lowest_free_number_is_used_again() {
        let key = PlaceKey {
            cell: None,
            audience: AudienceNumber::FIRST,
        };
        let mut place = Place::new(key, Audience::Everyone);
        let born = SendIndex(1);
        let numbers = [0, 1, 2].map(|n| place.add(Handle(n), born));
        assert_eq!(numbers, [0, 1, 2].map(|n| Some(BlockNumber(n))));
        place.remove(BlockNumber(1));
        assert_eq!(place.add(Handle(9), born), Some(BlockNumber(1)));
    }
}
