//! A chunk's blocks, and how they travel: packed, compressed, in pieces.
//!
//! [`Tiles`] are what a chunk holds; a [`Layer`] is the same as a gzip stream, made once and shared by
//! everybody it is sent to.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use super::limits::{CHUNK_CELLS, CHUNK_SIDE, TILES_BYTES};
use super::place::{Spot, Sublayer};
use super::{Reader, Writer, gzip};

/// What is in one sublayer of a cell.
///
/// A server looks at `typ` alone. The rest is for the eye: `ch` is a character, and `col` its colours.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Block {
    /// What it is: 0 is nothing. A cell is solid if its solid block is not nothing.
    pub typ: i8,
    /// Its colour.
    pub col: i8,
    /// Its character.
    pub ch: i8,
}

impl Block {
    /// Nothing.
    pub const EMPTY: Self = Self {
        typ: 0,
        col: 0,
        ch: 0,
    };

    /// The `typ` of what stays where it is. Every value but 0 and [`PUSHABLE`](Self::PUSHABLE) does.
    pub const FIXED: i8 = 1;

    /// The `typ` of what moves on when somebody walks into it.
    pub const PUSHABLE: i8 = 2;

    /// Something that stays where it is.
    pub const fn fixed(col: i8, ch: u8) -> Self {
        let (typ, ch) = (Self::FIXED, ch.cast_signed());
        Self { typ, col, ch }
    }

    /// Something that can be pushed.
    pub const fn pushable(col: i8, ch: u8) -> Self {
        let (typ, ch) = (Self::PUSHABLE, ch.cast_signed());
        Self { typ, col, ch }
    }

    /// Whether there is nothing.
    pub const fn is_empty(self) -> bool {
        self.typ == 0
    }

    /// Whether it moves on when somebody walks into it.
    pub const fn is_pushable(self) -> bool {
        self.typ == Self::PUSHABLE
    }

    /// The one way to write a block: of nothing, neither colour nor character remains.
    #[must_use]
    pub const fn canonical(self) -> Self {
        if self.is_empty() { Self::EMPTY } else { self }
    }

    /// The block as it travels.
    pub const fn to_bytes(self) -> [u8; 3] {
        [
            self.typ.cast_unsigned(),
            self.col.cast_unsigned(),
            self.ch.cast_unsigned(),
        ]
    }

    /// The block that travels as these bytes.
    pub const fn of_bytes([typ, col, ch]: [u8; 3]) -> Self {
        Self {
            typ: typ.cast_signed(),
            col: col.cast_signed(),
            ch: ch.cast_signed(),
        }
    }
}

/// The blocks of a chunk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tiles {
    walkable: Box<[Block]>,
    solid: Box<[Block]>,
}

impl Default for Tiles {
    /// Nothing anywhere.
    fn default() -> Self {
        let empty = vec![Block::EMPTY; CHUNK_CELLS].into_boxed_slice();
        Self {
            walkable: empty.clone(),
            solid: empty,
        }
    }
}

impl Tiles {
    /// The block of a cell.
    pub fn block(&self, sublayer: Sublayer, spot: Spot) -> Block {
        let blocks = match sublayer {
            Sublayer::Walkable => &self.walkable,
            Sublayer::Solid => &self.solid,
        };
        // Every spot lies within a chunk.
        let block = blocks.get(usize::from(spot.number()));
        block.copied().unwrap_or_default()
    }

    /// Puts a block into a cell.
    pub fn set_block(&mut self, sublayer: Sublayer, spot: Spot, block: Block) {
        let blocks = match sublayer {
            Sublayer::Walkable => &mut self.walkable,
            Sublayer::Solid => &mut self.solid,
        };
        if let Some(place) = blocks.get_mut(usize::from(spot.number())) {
            *place = block;
        }
    }

    /// Reads the format that is inside the compression.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let format = r.u8("format")?;
        if format != FORMAT {
            return Err(r.refuse("format", format.into()));
        }
        let reserved = r.u8("reserved")?;
        if reserved != 0 {
            return Err(r.refuse("reserved", reserved.into()));
        }
        for side in ["width", "height"] {
            let cells = r.u16(side)?;
            if cells != u16::from(CHUNK_SIDE) {
                return Err(r.refuse(side, cells.into()));
            }
        }
        let tiles = Self {
            walkable: decode_blocks(r)?,
            solid: decode_blocks(r)?,
        };
        r.finish()?;
        Ok(tiles)
    }

    /// Writes the format that is inside the compression.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u8(FORMAT);
        w.u8(0);
        w.u16(CHUNK_SIDE.into());
        w.u16(CHUNK_SIDE.into());
        for block in self.walkable.iter().chain(&self.solid) {
            w.bytes(&block.to_bytes());
        }
    }
}

/// The first byte of the format: the only one there is.
const FORMAT: u8 = 1;

fn decode_blocks(r: &mut Reader<'_>) -> Result<Box<[Block]>, DecodeError> {
    let bytes = r.bytes("blocks", 3 * CHUNK_CELLS)?;
    let (blocks, _) = bytes.as_chunks::<3>();
    Ok(blocks.iter().copied().map(Block::of_bytes).collect())
}

/// A chunk ready to be sent. Clones share the bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layer {
    gzip: Arc<[u8]>,
}

impl Layer {
    /// Compresses a chunk: to be done once for each state of it that somebody asks for.
    pub fn new(tiles: &Tiles) -> Self {
        let mut packed = Vec::with_capacity(TILES_BYTES);
        tiles.encode(&mut Writer::new(&mut packed, TILES_BYTES));
        Self {
            gzip: gzip::compress(&packed).into(),
        }
    }

    /// The gzip stream.
    pub fn as_bytes(&self) -> &[u8] {
        &self.gzip
    }

    pub(super) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(&self.gzip)
    }
}

/// Reads a chunk from the gzip stream that a peer sent. What it would become is bounded: not a byte
/// more is inflated than a chunk has.
pub fn decompress(gzip: &[u8]) -> Result<Tiles, DecodeError> {
    let packed = gzip::decompress(gzip, TILES_BYTES)?;
    Tiles::decode(&mut Reader::new(&packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterned() -> Tiles {
        let mut tiles = Tiles::default();
        for x in 0..CHUNK_SIDE {
            let block = Block {
                typ: 1,
                col: x.cast_signed(),
                ch: -1,
            };
            tiles.set_block(Sublayer::Walkable, Spot::new(x, 63), block);
            tiles.set_block(Sublayer::Solid, Spot::new(0, x), block);
        }
        tiles
    }

    #[test]
    fn a_chunk_survives_the_journey() {
        for tiles in [Tiles::default(), patterned()] {
            assert_eq!(decompress(Layer::new(&tiles).as_bytes()), Ok(tiles));
        }
    }

    #[test]
    fn the_walkable_sublayer_comes_first_and_rows_run_east() {
        let mut packed = vec![];
        patterned().encode(&mut Writer::new(&mut packed, TILES_BYTES));
        assert_eq!(packed.len(), TILES_BYTES);
        assert_eq!(packed[..9], [1, 0, 64, 0, 64, 0, 0, 0, 0]);
        let last_row = 6 + 3 * 63 * 64;
        assert_eq!(packed[last_row..last_row + 6], [1, 0, 0xff, 1, 1, 0xff]);
        let solid = 6 + 3 * 64 * 64;
        assert_eq!(packed[solid..solid + 6], [1, 0, 0xff, 0, 0, 0]);
    }

    #[test]
    fn other_formats_and_sizes_are_refused() {
        let mut packed = vec![];
        Tiles::default().encode(&mut Writer::new(&mut packed, TILES_BYTES));
        for (at, value) in [(0, 2), (1, 1), (2, 63), (4, 65), (3, 1)] {
            let mut other = packed.clone();
            other[at] = value;
            assert!(decompress(&gzip::compress(&other)).is_err(), "byte {at}");
        }
    }
}
