//! Who is near whom: things on a plane, by square cells.
//!
//! In: ids and where they are, as they appear, move and go. Out: the ids within a circle, cell by cell
//! and within a cell by id, so that the order is a matter of what is there and not of how it came. A
//! search looks only at the cells that the circle touches. What a watcher does with them, and when it
//! stops seeing something, is [`Sight`](crate::Sight)'s.
//!
//! All things are in one sorted map, keyed by cell and id: there are no cells to create, to empty or to
//! keep, and whatever positions a peer makes up, the map has one entry for each thing. A position that
//! is not a number, or is infinite, is kept, and is within no circle.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::Vec2;

/// Things on a plane.
///
/// ```
/// use tickwire_state::{Circle, Grid, Vec2};
///
/// let mut grid = Grid::new(100.0);
/// grid.insert('a', Vec2 { x: 10.0, y: 0.0 });
/// grid.insert('b', Vec2 { x: 250.0, y: 0.0 });
///
/// let mut near = Vec::new();
/// let center = Vec2 { x: 0.0, y: 0.0 };
/// grid.collect_within(Circle { center, radius: 100.0 }, &mut near);
/// assert_eq!(near, ['a']);
/// ```
#[derive(Clone, Debug)]
pub struct Grid<I> {
    side: f64,
    places: BTreeMap<I, Vec2>,
    cells: BTreeMap<Place<I>, Vec2>,
}

/// A circle to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Its middle.
    pub center: Vec2,
    /// How far from there is still within, the border included.
    pub radius: f32,
}

/// Where a thing is kept: rows of cells, one after the other. Without an id it is the place in front
/// of everything in that cell.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Place<I> {
    cell: Cell,
    id: Option<I>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Cell {
    row: i32,
    column: i32,
}

/// Cells beyond this are one: what is that far out is still found, only more slowly. Half the range
/// of the numbers, so that there is always a cell after the last.
const FARTHEST: i32 = i32::MAX / 2;

impl<I: Copy + Ord> Grid<I> {
    /// An empty plane, with cells of the given side. Half the radius of the usual search is a good one:
    /// smaller cells are more rows to look up, larger ones more things to look at in vain.
    ///
    /// # Panics
    /// If the side is not a finite number above 0: it is configuration, not input.
    pub const fn new(side: f32) -> Self {
        assert!(side > 0.0 && side.is_finite(), "a cell has a size");
        Self {
            side: side as f64,
            places: BTreeMap::new(),
            cells: BTreeMap::new(),
        }
    }

    /// Puts a thing somewhere, or moves it there. Returns where it was.
    pub fn insert(&mut self, id: I, at: Vec2) -> Option<Vec2> {
        let before = self.places.insert(id, at);
        // Much of a world stands still.
        if before == Some(at) {
            return before;
        }
        let place = self.place(id, at);
        if let Some(before) = before {
            let old = self.place(id, before);
            if old != place {
                self.cells.remove(&old);
            }
        }
        self.cells.insert(place, at);
        before
    }

    /// Takes a thing away. Returns where it was.
    pub fn remove(&mut self, id: I) -> Option<Vec2> {
        let before = self.places.remove(&id)?;
        self.cells.remove(&self.place(id, before));
        Some(before)
    }

    /// Takes everything away.
    pub fn clear(&mut self) {
        self.places.clear();
        self.cells.clear();
    }

    /// Where a thing is.
    pub fn position(&self, id: I) -> Option<Vec2> {
        self.places.get(&id).copied()
    }

    /// Everything there is, by id.
    pub fn iter(&self) -> impl Iterator<Item = (I, Vec2)> {
        self.places.iter().map(|(id, at)| (*id, *at))
    }

    /// How many things there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Calls `visit` for everything within a circle, with its position.
    pub fn visit_within(&self, circle: Circle, mut visit: impl FnMut(I, Vec2)) {
        let reach = circle.reach();
        let low = self.cell(reach.low);
        let high = self.cell(reach.high);
        let end = Place {
            cell: Cell {
                row: high.row,
                column: high.column + 1,
            },
            id: None,
        };
        let mut start = Place {
            cell: low,
            id: None,
        };
        // One look-up a row. Rows without anything in them are passed over, so that a circle however
        // large costs no more than what is there.
        while start < end {
            let mut next = end;
            for (place, at) in self.cells.range(start..end) {
                if place.cell.column < low.column {
                    next.cell = Cell {
                        row: place.cell.row,
                        column: low.column,
                    };
                    break;
                }
                if place.cell.column > high.column {
                    next.cell = Cell {
                        row: place.cell.row + 1,
                        column: low.column,
                    };
                    break;
                }
                if let Some(id) = place.id
                    && reach.has(*at)
                {
                    visit(id, *at);
                }
            }
            start = next;
        }
    }

    /// Appends everything within a circle to `ids`.
    pub fn collect_within(&self, circle: Circle, ids: &mut Vec<I>) {
        self.visit_within(circle, |id, _| ids.push(id));
    }

    fn place(&self, id: I, at: Vec2) -> Place<I> {
        Place {
            cell: self.cell((f64::from(at.x), f64::from(at.y))),
            id: Some(id),
        }
    }

    fn cell(&self, (x, y): (f64, f64)) -> Cell {
        Cell {
            row: index(y / self.side),
            column: index(x / self.side),
        }
    }
}

impl Circle {
    /// Whether a point is within it. What [`Grid::visit_within`] finds is exactly what this holds for.
    pub fn has(&self, point: Vec2) -> bool {
        self.reach().has(point)
    }

    fn reach(&self) -> Reach {
        let (x, y) = (f64::from(self.center.x), f64::from(self.center.y));
        let radius = f64::from(self.radius);
        Reach {
            center: (x, y),
            low: (x - radius, y - radius),
            high: (x + radius, y + radius),
            square: radius * radius,
        }
    }
}

/// A circle and the square around it, with enough digits that no square overflows.
struct Reach {
    center: (f64, f64),
    low: (f64, f64),
    high: (f64, f64),
    square: f64,
}

impl Reach {
    fn has(&self, point: Vec2) -> bool {
        let (x, y) = (f64::from(point.x), f64::from(point.y));
        // The square around the circle is asked, too, because the cells are chosen by it: rounding
        // must not let a point be within the circle and in none of its cells.
        let boxed = x >= self.low.0 && x <= self.high.0 && y >= self.low.1 && y <= self.high.1;
        let (dx, dy) = (x - self.center.0, y - self.center.1);
        boxed && x.is_finite() && y.is_finite() && dx * dx + dy * dy <= self.square
    }
}

/// Rounds down; `core` has no floor. What is not a number counts as 0.
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

#[cfg(test)]
mod tests;
