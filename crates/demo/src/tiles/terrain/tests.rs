//! The same land from the same seed; land worth walking; land up to the edge.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::tiles::digest::Digest;
use crate::tiles::limits::CHUNK_EDGE as EDGE;
use crate::tiles::{Direction, Sublayer};

fn fingerprint(seed: u64, chunks: &[(i32, i32)]) -> u64 {
    let terrain = Terrain::new(seed);
    let mut digest = Digest::default();
    for &(x, y) in chunks {
        let chunk = terrain.build_chunk(ChunkXy { x, y });
        for sublayer in [Sublayer::Walkable, Sublayer::Solid] {
            for spot in Spot::all() {
                digest.add_bytes(&chunk.block(sublayer, spot).to_bytes());
            }
        }
    }
    digest.0
}

#[test]
fn terrain_is_what_stored_worlds_were_built_on() {
    let chunks = [(0, 0), (-1, -1), (5, 9), (-900, 77), (EDGE, -EDGE)];
    let found = fingerprint(7, &chunks);
    // If this changes, edits in stored worlds end up in other terrain: raise `FORMAT` in
    // `store::snapshot` together with this number.
    assert_eq!(found, 0xcb69_93b6_060b_fb5e, "the terrain is {found:#x}");
}

#[test]
fn seeds_make_different_worlds() {
    assert_ne!(fingerprint(1, &[(3, 3)]), fingerprint(2, &[(3, 3)]));
}

#[test]
fn every_kind_of_country_is_within_a_walk() {
    for seed in 0..8 {
        let terrain = Terrain::new(seed);
        let mut count = BTreeMap::<&str, u32>::new();
        for (x, y) in (-6..6).flat_map(|y| (-6..6).map(move |x| (x, y))) {
            let chunk = terrain.build_chunk(ChunkXy { x, y });
            for spot in Spot::all() {
                *count.entry(country(chunk.tile(spot))).or_default() += 1;
            }
        }
        let cells = 12 * 12 * 64 * 64;
        let share = |name| f64::from(count.get(name).copied().unwrap_or(0)) / f64::from(cells);
        for (name, least, most) in [
            ("meadow", 0.15, 0.75),
            ("wood", 0.05, 0.55),
            ("water", 0.02, 0.45),
            ("rock", 0.005, 0.35),
            ("road", 0.005, 0.10),
            ("cave", 0.001, 0.20),
            ("ruin", 0.001, 0.10),
            ("pushable", 0.000_2, 0.02),
        ] {
            let share = share(name);
            assert!(
                (least..=most).contains(&share),
                "seed {seed}: {share:.4} of the land is {name}"
            );
        }
    }
}

fn country(tile: Tile) -> &'static str {
    match (tile.walkable, tile.solid) {
        (_, solid) if solid.is_pushable() => "pushable",
        (_, palette::WATER) => "water",
        (_, palette::ROCK) => "rock",
        (palette::RUIN_FLOOR, _) => "ruin",
        (palette::ROAD | palette::BRIDGE, _) => "road",
        (palette::CAVE, _) => "cave",
        (palette::MOSS, _) => "wood",
        (palette::GRASS | palette::TALL_GRASS, _) => "meadow",
        _ => "other",
    }
}

#[test]
fn one_can_walk_far_from_the_plaza() {
    for seed in 0..4 {
        let terrain = Terrain::new(seed);
        let mut chunks = BTreeMap::new();
        let mut free = |cell: Cell| {
            let chunk = chunks
                .entry(cell.chunk())
                .or_insert_with(|| terrain.build_chunk(cell.chunk()));
            chunk.tile(cell.spot()).is_free()
        };
        assert!(free(railway::PLAZA));
        let mut reached = BTreeSet::from([railway::PLAZA]);
        let mut front = vec![railway::PLAZA];
        let mut furthest = 0;
        while let Some(cell) = front.pop() {
            for direction in Direction::ALL {
                let next = cell.step(direction).unwrap();
                let distance = next.distance(railway::PLAZA);
                if distance <= 200 && free(next) && reached.insert(next) {
                    furthest = furthest.max(distance);
                    front.push(next);
                }
            }
        }
        assert_eq!(furthest, 200, "seed {seed}");
        assert!(reached.len() > 60_000, "seed {seed}: {}", reached.len());
    }
}

#[test]
fn plaza_platforms_and_bed_are_free() {
    let terrain = Terrain::new(3);
    for x in [-1_060, -1_024, -1, 0, 31, 256, 700, 1_060] {
        for y in -3..=3 {
            let cell = Cell { x, y };
            let tile = terrain.build_chunk(cell.chunk()).tile(cell.spot());
            assert!(tile.is_free(), "{cell}");
            assert_eq!(railway::is_bed(cell), y.abs() <= 2);
        }
    }
    let chunk = terrain.build_chunk(railway::PLAZA.chunk());
    for (x, y) in (-7..=7).flat_map(|y| (0..=7).map(move |x| (x, y))) {
        let cell = railway::PLAZA.offset(x, y).unwrap();
        assert!(chunk.tile(cell.spot()).is_free(), "{cell}");
    }
}

#[test]
fn every_corner_of_the_world_has_land() {
    let terrain = Terrain::new(7);
    for (x, y) in [(EDGE, EDGE), (-EDGE, EDGE), (EDGE, -EDGE), (-EDGE, -EDGE)] {
        let chunk = terrain.build_chunk(ChunkXy { x, y });
        assert!(Spot::all().all(|spot| !chunk.tile(spot).walkable.is_empty()));
    }
}
