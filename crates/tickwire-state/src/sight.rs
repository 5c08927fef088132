//! What one watcher has in range, without flicker.
//!
//! In: a [`Grid`] and where the watcher is. Out: what is in range, what came into it and what left it
//! since the last look. A thing comes in at one radius and goes only beyond a larger one; between the
//! two it stays as it was, so that what walks along the border is not created and destroyed at
//! every step. A thing that is no longer in the grid has left.
//!
//! Looks cost what is near the watcher, and after the first few allocate nothing.

use alloc::vec::Vec;
use core::mem;

use crate::{Circle, Grid, Vec2};

/// How far a watcher sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SightRange {
    /// Within this, things come into range.
    pub radius: f32,
    /// They leave it beyond the radius and this share of it: 0.1 is a tenth farther.
    pub margin: f32,
}

/// What one watcher has in range.
///
/// ```
/// use tickwire_state::{Grid, Sight, SightRange, Vec2};
///
/// let at = |x| Vec2 { x, y: 0.0 };
/// let mut grid = Grid::new(100.0);
/// let mut sight = Sight::new();
/// let range = SightRange { radius: 100.0, margin: 0.1 };
///
/// grid.insert(7, at(99.0));
/// sight.look(&grid, at(0.0), range);
/// assert_eq!(sight.entered(), [7]);
///
/// grid.insert(7, at(105.0));
/// sight.look(&grid, at(0.0), range);
/// assert!(sight.entered().is_empty() && sight.left().is_empty());
///
/// grid.insert(7, at(111.0));
/// sight.look(&grid, at(0.0), range);
/// assert_eq!(sight.left(), [7]);
/// ```
#[derive(Clone, Debug)]
pub struct Sight<I> {
    /// Ascending, like all of them.
    seen: Vec<I>,
    entered: Vec<I>,
    left: Vec<I>,
    /// The last look's `seen`, kept for its memory.
    before: Vec<I>,
    /// Found by this look, and whether it is near enough to come in.
    found: Vec<(I, bool)>,
}

impl<I> Default for Sight<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I> Sight<I> {
    /// Nothing is seen yet.
    pub const fn new() -> Self {
        Self {
            seen: Vec::new(),
            entered: Vec::new(),
            left: Vec::new(),
            before: Vec::new(),
            found: Vec::new(),
        }
    }

    /// What is in range, ascending.
    pub fn seen(&self) -> &[I] {
        &self.seen
    }

    /// What came into range with the last look, ascending.
    pub fn entered(&self) -> &[I] {
        &self.entered
    }

    /// What left it with the last look, ascending.
    pub fn left(&self) -> &[I] {
        &self.left
    }
}

impl<I: Copy + Ord> Sight<I> {
    /// Whether a thing is in range.
    pub fn has(&self, id: I) -> bool {
        self.seen.binary_search(&id).is_ok()
    }

    /// Looks around from a place.
    pub fn look(&mut self, grid: &Grid<I>, from: Vec2, range: SightRange) {
        let circle = |radius| Circle {
            center: from,
            radius,
        };
        let enters = circle(range.radius);
        let leaves = circle(range.radius * (1.0 + range.margin.max(0.0)));
        self.found.clear();
        grid.visit_within(leaves, |id, at| self.found.push((id, enters.has(at))));
        self.found.sort_unstable_by_key(|(id, _)| *id);

        mem::swap(&mut self.seen, &mut self.before);
        self.seen.clear();
        self.entered.clear();
        self.left.clear();
        // Both lists ascend, so one pass over the two tells what is new and what is gone.
        let mut before = self.before.iter().copied().peekable();
        for &(id, enters) in &self.found {
            while let Some(gone) = before.next_if(|seen| *seen < id) {
                self.left.push(gone);
            }
            if before.next_if_eq(&id).is_some() {
                self.seen.push(id);
            } else if enters {
                self.seen.push(id);
                self.entered.push(id);
            }
        }
        self.left.extend(before);
    }

    /// Forgets everything: the next look has only what enters.
    pub fn clear(&mut self) {
        self.seen.clear();
        self.entered.clear();
        self.left.clear();
    }
}

#[cfg(test)]
mod tests;
