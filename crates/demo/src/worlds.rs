//! Both games of a server.

use crate::Arena;
use crate::tiles::TileWorld;

/// The worlds that gateways lead to: the arena always, the tile world from when somebody needs it.
#[derive(Debug)]
pub struct Worlds {
    /// Where ships fly.
    pub arena: Arena,
    tiles: Option<TileWorld>,
    seed: u64,
}

impl Worlds {
    /// Worlds that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            arena: Arena::new(seed),
            tiles: None,
            seed,
        }
    }

    /// Puts a tile world in place of the one in memory that there would be.
    pub fn set_tiles(&mut self, tiles: TileWorld) {
        self.tiles = Some(tiles);
    }

    /// The tile world, if anybody has needed it.
    pub const fn tiles(&self) -> Option<&TileWorld> {
        self.tiles.as_ref()
    }

    /// The tile world, to act in; one in memory is made if there is none.
    pub fn tiles_mut(&mut self) -> &mut TileWorld {
        self.tiles.get_or_insert_with(|| TileWorld::new(self.seed))
    }

    /// Ends the tile world, and gives it to whoever wants to know how that went.
    pub const fn take_tiles(&mut self) -> Option<TileWorld> {
        self.tiles.take()
    }

    /// Lets a twentieth of a second pass in the tile world, if there is one.
    pub(crate) fn step_tiles(&mut self) {
        if let Some(tiles) = &mut self.tiles {
            tiles.step();
        }
    }
}
