//! A square of the world.

use super::place::{CHUNK_CELLS, Spot};
use super::{Block, Sublayer, Tile};

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

/// 64 × 64 cells with two blocks each.
#[derive(Clone)]
pub struct Chunk {
    version: Version,
    walkable: Box<[Block; CHUNK_CELLS]>,
    solid: Box<[Block; CHUNK_CELLS]>,
}

impl Chunk {
    pub(super) fn new() -> Self {
        Self {
            version: Version(0),
            walkable: Box::new([Block::EMPTY; CHUNK_CELLS]),
            solid: Box::new([Block::EMPTY; CHUNK_CELLS]),
        }
    }

    /// Which content it has, to recognise what was derived from it.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The blocks of a sublayer, row by row from the north, each from the west.
    pub const fn blocks(&self, sublayer: Sublayer) -> &[Block; CHUNK_CELLS] {
        match sublayer {
            Sublayer::Walkable => &self.walkable,
            Sublayer::Solid => &self.solid,
        }
    }

    pub(super) fn tile(&self, spot: Spot) -> Tile {
        Tile {
            walkable: self.walkable[spot.index()],
            solid: self.solid[spot.index()],
        }
    }

    pub(super) fn block(&self, sublayer: Sublayer, spot: Spot) -> Block {
        self.blocks(sublayer)[spot.index()]
    }

    pub(super) fn set_tile(&mut self, spot: Spot, tile: Tile) {
        self.walkable[spot.index()] = tile.walkable;
        self.solid[spot.index()] = tile.solid;
    }

    pub(super) fn set_block(&mut self, sublayer: Sublayer, spot: Spot, block: Block) {
        let blocks = match sublayer {
            Sublayer::Walkable => &mut self.walkable,
            Sublayer::Solid => &mut self.solid,
        };
        blocks[spot.index()] = block;
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
