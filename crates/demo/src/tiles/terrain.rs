//! The world before anybody touched it.
//!
//! In: a seed and a chunk's coordinates. Out: the chunk, the same on every machine, without looking at
//! any other chunk; so the world has no beginning that must be made first. Everything is whole
//! numbers: `noise` gives smooth fields, heights and the like, and a cell is what its values in them
//! say. Ruins and the railway are laid on top.
//!
//! Edits are stored as differences from this. A change to what comes out here is therefore a change
//! of the storage format; a test holds the fingerprint of some chunks to remind of it.

mod noise;
pub(super) mod railway;
mod ruin;

use super::limits::{CHUNK_CELLS, CHUNK_SIDE};
use super::{Cell, Chunk, ChunkXy, Spot, Tile, palette};
use noise::{Field, Noise, Octave, UNIT};

/// Makes chunks.
#[derive(Clone, Debug)]
pub(super) struct Terrain {
    noise: Noise,
}

impl Terrain {
    pub(super) const fn new(seed: u64) -> Self {
        Self {
            noise: Noise::new(seed),
        }
    }

    /// A chunk as it was in the beginning; it must exist.
    pub(super) fn build_chunk(&self, at: ChunkXy) -> Chunk {
        let corner = at.corner();
        let lay = Lay {
            height: self.noise.field(Field::Height, corner, HEIGHT),
            moisture: self.noise.field(Field::Moisture, corner, MOISTURE),
            road: self.noise.field(Field::Road, corner, ROAD),
            cave: self.noise.field(Field::Cave, corner, CAVE),
        };
        let mut chunk = Chunk::default();
        for spot in Spot::all() {
            let cell = spot.from(corner);
            let chance = self.noise.bits(Field::Scatter, cell.x, cell.y);
            chunk.set_tile(spot, lay.tile(cell, usize::from(spot.number()), chance));
        }
        ruin::build(&self.noise, at, &mut chunk);
        railway::build(at, &mut chunk);
        chunk
    }
}

/// The smooth fields over one chunk.
struct Lay {
    height: Vec<i32>,
    moisture: Vec<i32>,
    road: Vec<i32>,
    cave: Vec<i32>,
}

impl Lay {
    fn tile(&self, cell: Cell, index: usize, chance: u64) -> Tile {
        let height = level(cell, self.height[index]);
        let on_road = self.is_road(index);
        if height < WATER_LINE {
            return water(on_road);
        }
        if on_road && height < PEAK_LINE {
            return open(palette::ROAD);
        }
        if height < SHORE_LINE {
            return open(palette::SAND);
        }
        if height >= ROCK_LINE {
            let tunnel = (self.cave[index] - UNIT / 2).abs() < TUNNEL_WIDTH;
            return rock(tunnel, chance);
        }
        if height >= SLOPE_LINE {
            return slope(chance);
        }
        match self.moisture[index] - FOREST_LINE {
            dry if dry < 0 => meadow(chance),
            wet => forest(wet, chance),
        }
    }

    /// Whether the middle contour is near. How near follows from how steep the field is, so that a
    /// road keeps its width where the field is flat.
    fn is_road(&self, index: usize) -> bool {
        let side = usize::from(CHUNK_SIDE);
        let east = index + 1 - index % side / (side - 1);
        let south = if index + side < CHUNK_CELLS {
            index + side
        } else {
            index
        };
        let rise = |to: usize, over: usize| (self.road[to] - self.road[to - over]).abs();
        let steepness = rise(east, 1) + rise(south, side);
        (self.road[index] - UNIT / 2).abs() <= steepness * ROAD_WIDTH / 2
    }
}

/// Levels the terrain around the middle station, so that nobody starts in a lake, whatever the seed.
fn level(cell: Cell, height: i32) -> i32 {
    let distance = cell.distance(railway::PLAZA);
    if distance >= MILD_REACH {
        return height;
    }
    let (wild, reach) = (distance.cast_signed(), MILD_REACH.cast_signed());
    (height * wild + MILD_HEIGHT * (reach - wild)) / reach
}

const fn open(walkable: super::Block) -> Tile {
    Tile {
        walkable,
        solid: super::Block::EMPTY,
    }
}

const fn under(walkable: super::Block, solid: super::Block) -> Tile {
    Tile { walkable, solid }
}

const fn water(bridged: bool) -> Tile {
    if bridged {
        open(palette::BRIDGE)
    } else {
        under(palette::SAND, palette::WATER)
    }
}

const fn rock(tunnel: bool, chance: u64) -> Tile {
    match (tunnel, chance % 96) {
        (true, 0) => under(palette::CAVE, palette::BOULDER),
        (true, _) => open(palette::CAVE),
        (false, _) => under(palette::CAVE, palette::ROCK),
    }
}

const fn slope(chance: u64) -> Tile {
    match chance % 64 {
        0 => under(palette::SLOPE, palette::BOULDER),
        1..=4 => under(palette::SLOPE, palette::ROCK),
        5..=20 => open(palette::GRASS),
        _ => open(palette::SLOPE),
    }
}

const fn meadow(chance: u64) -> Tile {
    match chance % 512 {
        0 => under(palette::GRASS, palette::BOULDER),
        1..=5 => under(palette::GRASS, palette::OAK),
        6..=10 => open(palette::ROSES),
        11..=15 => open(palette::BUTTERCUPS),
        16..=20 => open(palette::BLUEBELLS),
        21..=120 => open(palette::TALL_GRASS),
        _ => open(palette::GRASS),
    }
}

fn forest(wet: i32, chance: u64) -> Tile {
    let share = u64::from(
        (FOREST_SPARSE + wet / 8)
            .clamp(0, FOREST_DENSE)
            .unsigned_abs(),
    );
    if chance % 256 < share {
        let pine = chance >> 8 & 3 != 0;
        let tree = if pine { palette::PINE } else { palette::OAK };
        return under(palette::MOSS, tree);
    }
    match chance >> 16 & 15 {
        0..=3 => open(palette::TALL_GRASS),
        _ => open(palette::MOSS),
    }
}

/// Hills and lakes of a hundred steps, with bays.
const HEIGHT: &[Octave] = &[Octave::new(7, 9), Octave::new(5, 5), Octave::new(3, 2)];
const MOISTURE: &[Octave] = &[Octave::new(6, 10), Octave::new(4, 6)];
/// Roads follow the middle contour of this one, so they never end.
const ROAD: &[Octave] = &[Octave::new(7, 14), Octave::new(5, 2)];
const CAVE: &[Octave] = &[Octave::new(4, 11), Octave::new(3, 5)];

// Heights, of `UNIT`.
const WATER_LINE: i32 = 1_450;
const SHORE_LINE: i32 = 1_560;
const SLOPE_LINE: i32 = 2_560;
const ROCK_LINE: i32 = 2_760;
/// Roads do not climb higher.
const PEAK_LINE: i32 = 3_000;

/// Cells from a road's middle to its side.
const ROAD_WIDTH: i32 = 2;
const TUNNEL_WIDTH: i32 = 330;

const FOREST_LINE: i32 = 2_150;
/// Trees in 256 cells, where a forest begins and where it is deepest.
const FOREST_SPARSE: i32 = 24;
/// Below the 152 at which woods fall apart into cells that no walk connects.
const FOREST_DENSE: i32 = 88;

/// The height and the reach of the mild country.
const MILD_HEIGHT: i32 = 2_000;
const MILD_REACH: u32 = 96;

#[cfg(test)]
mod tests;
