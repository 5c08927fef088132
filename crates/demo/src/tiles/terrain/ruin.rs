//! What others built long ago: two rooms in one chunk of six, crumbling, with crates in them.

use super::noise::{Field, Noise};
use super::{open, under};
use crate::tiles::{Chunk, ChunkXy, Spot, Tile, palette};

/// One ruin, in cells of its chunk.
#[derive(Clone, Copy, Debug)]
struct Plan {
    west: u8,
    north: u8,
    width: u8,
    height: u8,
    /// The column of the wall between its rooms, from the west wall.
    middle: u8,
}

/// Builds the chunk's ruin, if it has one.
pub(super) fn build(noise: &Noise, at: ChunkXy, chunk: &mut Chunk) {
    let Some(plan) = Plan::draw(noise.bits(Field::Ruin, at.x, at.y)) else {
        return;
    };
    for y in 0..plan.height {
        for x in 0..plan.width {
            let spot = Spot::new(plan.west + x, plan.north + y);
            let cell = spot.from(at.corner());
            let chance = noise.bits(Field::Masonry, cell.x, cell.y);
            if can_stand(chunk.tile(spot)) {
                chunk.set_tile(spot, plan.tile(x, y, chance));
            }
        }
    }
}

impl Plan {
    fn draw(mut bits: u64) -> Option<Self> {
        let mut draw = |from: u8, count: u8| {
            let drawn = u8::try_from(bits % u64::from(count)).expect("a remainder of a byte fits");
            bits /= u64::from(count);
            from + drawn
        };
        if draw(0, 6) != 0 {
            return None;
        }
        let (width, height) = (draw(11, 14), draw(7, 9));
        Some(Self {
            west: draw(2, 60 - width),
            north: draw(2, 60 - height),
            width,
            height,
            middle: draw(4, width - 8),
        })
    }

    fn tile(self, x: u8, y: u8, chance: u64) -> Tile {
        let outside = x == 0 || y == 0 || x + 1 == self.width || y + 1 == self.height;
        let between = x == self.middle;
        let door = y == self.height / 2 && (between || x == 0)
            || y + 1 == self.height && x == self.middle / 2;
        match chance % 64 {
            // One stone in five has fallen.
            13.. if (outside || between) && !door => under(palette::RUIN_FLOOR, palette::RUIN_WALL),
            0 | 1 if !outside && !between => under(palette::RUIN_FLOOR, palette::CRATE),
            _ => open(palette::RUIN_FLOOR),
        }
    }
}

/// Nobody built in lakes, in rock or across roads.
fn can_stand(tile: Tile) -> bool {
    !matches!(tile.solid, palette::WATER | palette::ROCK)
        && !matches!(
            tile.walkable,
            palette::ROAD | palette::BRIDGE | palette::CAVE
        )
}
