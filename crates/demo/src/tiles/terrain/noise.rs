//! Value noise: smooth random fields over the plane.
//!
//! Every point of a lattice has a number that follows from the seed; between them the field is
//! interpolated. Several lattices of different width (octaves) are added up.

use crate::tiles::Cell;
use crate::tiles::limits::{CHUNK_CELLS, CHUNK_SIDE};

const SIDE: usize = CHUNK_SIDE as usize;

/// Fields lie between 0 and this.
pub(super) const UNIT: i32 = 4_096;

/// What a number is for; every use has numbers of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    Height,
    Moisture,
    Road,
    Cave,
    Scatter,
    Ruin,
    Masonry,
}

/// One lattice: 2^`shift` cells wide, and so many sixteenths of the sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Octave {
    shift: u32,
    sixteenths: i32,
}

impl Octave {
    pub(super) const fn new(shift: u32, sixteenths: i32) -> Self {
        Self { shift, sixteenths }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Noise {
    seed: u64,
}

impl Noise {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// 64 bits that belong to a place.
    pub(super) const fn bits(&self, field: Field, x: i32, y: i32) -> u64 {
        let place = (y.cast_unsigned() as u64) << 32 | x.cast_unsigned() as u64;
        // Multiplied by an odd number, different fields stay different.
        let salt = (field as u64 + 1).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mix(mix(self.seed ^ salt).wrapping_add(place))
    }

    /// A field over the chunk at `corner`, row by row.
    pub(super) fn field(&self, field: Field, corner: Cell, octaves: &[Octave]) -> Vec<i32> {
        let mut sum = vec![0; CHUNK_CELLS];
        for octave in octaves {
            let mut glides = [0; SIDE];
            for (x, way) in (corner.x..=i32::MAX).zip(&mut glides) {
                *way = glide(x, octave.shift);
            }
            for (y, row) in (corner.y..=i32::MAX).zip(sum.chunks_mut(SIDE)) {
                self.add_row(field, Cell { x: corner.x, y }, *octave, &glides, row);
            }
        }
        for value in &mut sum {
            *value /= 16;
        }
        sum
    }

    fn add_row(
        &self,
        field: Field,
        from: Cell,
        octave: Octave,
        glides: &[i32; SIDE],
        row: &mut [i32],
    ) {
        let shift = octave.shift;
        // Lattices and chunks both begin at multiples of a power of two, so a row consists of whole
        // meshes, or lies within one.
        let mesh = 1_usize << shift;
        let south = glide(from.y, shift);
        let runs = row.chunks_mut(mesh).zip(glides.chunks(mesh));
        for (x, (run, glides)) in (from.x..=i32::MAX).step_by(mesh).zip(runs) {
            let (east, down) = (x >> shift, from.y >> shift);
            let [nw, ne, sw, se] = [(0, 0), (1, 0), (0, 1), (1, 1)]
                .map(|(dx, dy)| self.height(field, east + dx, down + dy));
            let left = between(nw, sw, south);
            let right = between(ne, se, south);
            for (value, way) in run.iter_mut().zip(glides) {
                *value += between(left, right, *way) * octave.sixteenths;
            }
        }
    }

    fn height(&self, field: Field, x: i32, y: i32) -> i32 {
        i32::try_from(self.bits(field, x, y) >> 52).expect("12 bits fit")
    }
}

/// The smoothstep weight of `n` between two lattice points, of 256.
const fn glide(n: i32, shift: u32) -> i32 {
    let way = ((n & ((1 << shift) - 1)) << 8) >> shift;
    (way * way * (768 - 2 * way)) >> 16
}

const fn between(from: i32, to: i32, way: i32) -> i32 {
    from + (((to - from) * way) >> 8)
}

/// The finaliser of SplitMix64: a difference in one bit changes half of them.
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
