//! A square of the world.

use tickwire_dialects::pixmess::Tiles;

use super::{Block, Spot, Sublayer};

/// Which content a chunk has: the same number, the same blocks.
///
/// Numbers count the changes to the whole world since it was opened, so no two contents of any chunk
/// share one. 0 is terrain that nobody has touched.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version(pub u64);

impl Version {
    /// The content that an edited chunk had when the world was opened.
    pub(super) const STORED: Self = Self(1);
}

/// Both blocks of a cell.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Tile {
    /// What one walks on.
    pub walkable: Block,
    /// What one cannot walk into, if there is anything.
    pub solid: Block,
}

impl Tile {
    /// Whether one can walk here.
    pub const fn is_free(self) -> bool {
        self.solid.is_empty()
    }
}

/// 64 × 64 cells with two blocks each.
#[derive(Clone, Default)]
pub struct Chunk {
    version: Version,
    tiles: Tiles,
}

impl Chunk {
    /// Which content it has, to recognise what was derived from it.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Its blocks.
    pub const fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    pub(super) fn tile(&self, spot: Spot) -> Tile {
        Tile {
            walkable: self.block(Sublayer::Walkable, spot),
            solid: self.block(Sublayer::Solid, spot),
        }
    }

    pub(super) fn block(&self, sublayer: Sublayer, spot: Spot) -> Block {
        self.tiles.block(sublayer, spot)
    }

    pub(super) fn set_tile(&mut self, spot: Spot, tile: Tile) {
        self.set_block(Sublayer::Walkable, spot, tile.walkable);
        self.set_block(Sublayer::Solid, spot, tile.solid);
    }

    pub(super) fn set_block(&mut self, sublayer: Sublayer, spot: Spot, block: Block) {
        self.tiles.set_block(sublayer, spot, block);
    }

    pub(super) const fn set_version(&mut self, version: Version) {
        self.version = version;
    }
}

impl core::fmt::Debug for Chunk {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chunk")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
