//! What a client knows of the tile world.

use core::time::Duration;

use super::{Cell, EntityId, Tile, TileWorld};

/// What can be seen of the cells around; everything a bot knows of them.
pub trait Sight {
    /// What one meets at a cell, trains included; `None` where one has not seen yet.
    fn look(&self, cell: Cell) -> Option<Tile>;
}

impl<F: Fn(Cell) -> Option<Tile>> Sight for F {
    fn look(&self, cell: Cell) -> Option<Tile> {
        self(cell)
    }
}

/// The world itself, as far as it is ready: looking makes no chunks.
impl Sight for TileWorld {
    fn look(&self, cell: Cell) -> Option<Tile> {
        if let Some(local) = self.train.cell_above(cell) {
            return Some(self.train.tile(local));
        }
        Some(self.land.ready(cell.chunk())?.tile(cell.spot()))
    }
}

/// Somebody else in sight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Neighbour<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Where it is.
    pub position: Cell,
}

/// What a player sees at one moment.
#[derive(Clone, Copy)]
pub struct TileView<'a> {
    /// Since some moment in the past, the same in every view of a session.
    pub time: Duration,
    /// Where the player is.
    pub position: Cell,
    /// The cells.
    pub sight: &'a dyn Sight,
    /// The others, in any order.
    pub others: &'a [Neighbour<'a>],
}

impl core::fmt::Debug for TileView<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TileView")
            .field("time", &self.time)
            .field("position", &self.position)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}

impl TileWorld {
    /// Who is at most so many cells away from somebody.
    pub fn neighbours(&self, of: EntityId, reach: u32) -> Vec<Neighbour<'_>> {
        let Some(centre) = self.entity(of).map(super::Entity::position) else {
            return Vec::new();
        };
        self.entities()
            .filter(|(id, other)| *id != of && other.position().distance(centre) <= reach)
            .map(|(_, other)| Neighbour {
                name: other.name(),
                position: other.position(),
            })
            .collect()
    }
}
