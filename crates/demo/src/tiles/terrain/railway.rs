//! The railway that crosses the middle of the world, and the plaza where everybody begins.
//!
//! The line runs west to east through y = 0, with a footpath on both sides and a station every
//! [`STATION_EVERY`] cells. Its bed is kept free: nothing can be built or pushed onto it.

use super::open;
use crate::tiles::limits::CHUNK_SIDE;
use crate::tiles::{Block, Cell, Chunk, ChunkXy, Spot, palette};

/// How far the train's middle travels from x = 0, to both sides.
pub(in crate::tiles) const LINE_REACH: i32 = 1_024;

/// Between two stations.
pub(in crate::tiles) const STATION_EVERY: i32 = 256;

/// Rows of the bed on either side of its middle row: the train is five cells wide.
pub(in crate::tiles) const BED_REACH: i32 = 2;

/// The middle of the plaza, beside the middle station.
pub(in crate::tiles) const PLAZA: Cell = Cell { x: 0, y: 18 };

/// Cells from the plaza's middle to its rim.
pub(in crate::tiles) const PLAZA_RADIUS: i32 = 10;

/// Whether the train comes through here.
pub(in crate::tiles) const fn is_bed(cell: Cell) -> bool {
    cell.x.unsigned_abs() <= LINE_END.unsigned_abs()
        && cell.y.unsigned_abs() <= BED_REACH.unsigned_abs()
}

/// Lays what is in the chunk.
pub(super) fn build(at: ChunkXy, chunk: &mut Chunk) {
    let side = i32::from(CHUNK_SIDE);
    if at.y.unsigned_abs() > 1 || at.x.unsigned_abs() > (LINE_END / side).unsigned_abs() + 1 {
        return;
    }
    for spot in Spot::all() {
        if let Some(walkable) = surface(spot.from(at.corner())) {
            chunk.set_tile(spot, open(walkable));
        }
    }
}

fn surface(cell: Cell) -> Option<Block> {
    let (along, across) = (cell.x.abs(), cell.y.abs());
    let (east, south) = (cell.x - PLAZA.x, cell.y - PLAZA.y);
    if along <= LINE_END {
        // To the next station, either way.
        let off_station = STATION_EVERY / 2 - (along % STATION_EVERY - STATION_EVERY / 2).abs();
        let station = off_station <= PLATFORM_REACH;
        match across {
            1 => return Some(palette::RAIL),
            0 | BED_REACH => return Some(palette::BALLAST),
            3..=5 if station => return Some(palette::PLATFORM),
            3 => return Some(palette::FOOTPATH),
            _ => {}
        }
    }
    let plaza = east * east + south * south <= PLAZA_RADIUS * PLAZA_RADIUS;
    let way = east.abs() <= 1 && (0..PLAZA.y).contains(&cell.y);
    (plaza || way).then_some(palette::PAVEMENT)
}

/// Where the bed ends: half a train beyond the last stop, and a little.
const LINE_END: i32 = LINE_REACH + 36;

/// A platform is as long as the train.
const PLATFORM_REACH: i32 = 31;
