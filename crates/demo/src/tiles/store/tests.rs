//! What is stored comes back; what cannot be opened says why.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::tiles::tests::{build, cell, solid};
use crate::tiles::{Block, BlockId, Sublayer, TileWorld, limits};

const BRICK: Block = Block::fixed(3, b'#');

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A folder with a world of seed 7 in which one thing is built.
fn built() -> TempDir {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    build(&mut world, solid(cell(40, 40)), BRICK).unwrap();
    world.close().unwrap();
    folder
}

/// What opening says, if it fails.
fn refusal(folder: &TempDir, seed: u64) -> StoreError {
    TileWorld::open(folder.path(), seed).expect_err("this should not open")
}

/// Steps the world, as its host would, until the condition holds.
#[track_caller]
fn step_until(world: &mut TileWorld, wanted: impl Fn(&Storage) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !wanted(&world.storage()) {
        assert!(Instant::now() < deadline, "still {:?}", world.storage());
        world.step();
        std::thread::yield_now();
    }
}

#[test]
fn everything_built_comes_back() {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    let aboard = BlockId {
        set: world.train().set(),
        cell: cell(40, 32),
        sublayer: Sublayer::Solid,
    };
    let at = [
        solid(cell(40, 40)),
        solid(cell(i32::MAX, i32::MAX)),
        BlockId::root(cell(-1, -70), Sublayer::Walkable),
        aboard,
    ];
    for (at, col) in at.into_iter().zip(1..) {
        build(&mut world, at, Block::fixed(col, b'#')).unwrap();
    }
    // Built, stored and undone: nothing of it may remain.
    let undone = solid(cell(500, 500));
    let was = world.block(undone).unwrap();
    build(&mut world, undone, BRICK).unwrap();
    step_until(&mut world, |state| *state == Storage::Saved);
    build(&mut world, undone, was).unwrap();
    drop(world);

    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    assert_eq!(world.storage(), Storage::Saved);
    assert_eq!(world.edited_blocks(), at.len());
    for (at, col) in at.into_iter().zip(1..) {
        assert_eq!(world.block(at), Some(Block::fixed(col, b'#')));
    }
    assert_eq!(world.block(undone), Some(was));
    // What the terrain had is remembered too, so that it can be brought back after all.
    build(&mut world, at[0], Block::EMPTY).unwrap();
    assert_eq!(world.edited_blocks(), at.len() - 1);
}

#[test]
fn a_world_on_disk_is_the_same_as_one_in_memory() {
    let folder = folder();
    let mut kept = TileWorld::open(folder.path(), 7).unwrap();
    let mut passing = TileWorld::new(7);
    for n in 0..200 {
        for world in [&mut kept, &mut passing] {
            build(world, solid(cell(n, 60)), BRICK).unwrap();
            world.step();
        }
        assert_eq!(kept.digest(), passing.digest());
    }
    assert_eq!(passing.storage(), Storage::MemoryOnly);
}

#[test]
fn an_open_world_is_refused_to_others() {
    let folder = built();
    let world = TileWorld::open(folder.path(), 7).unwrap();
    let refusal = refusal(&folder, 7);
    assert!(matches!(refusal, StoreError::InUse { .. }), "{refusal:?}");
    assert!(refusal.to_string().contains("another process"));
    drop(world);
    TileWorld::open(folder.path(), 7).unwrap();
}

#[test]
fn another_seed_is_refused_with_the_right_one() {
    let folder = built();
    let refusal = refusal(&folder, 8);
    assert!(
        matches!(
            refusal,
            StoreError::OtherSeed {
                stored: 7,
                asked: 8,
                ..
            }
        ),
        "{refusal:?}"
    );
    assert!(refusal.to_string().contains("give seed 7"), "{refusal}");
    TileWorld::open(folder.path(), 7).unwrap();
}

#[test]
fn another_format_is_refused() {
    let folder = built();
    let path = folder.path().join("tiles");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8..16].copy_from_slice(&99_u64.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    // Seeds are not compared: what a seed means depends on the format.
    let other = refusal(&folder, 8);
    let is_99 = |error: &StoreError| matches!(error, StoreError::OtherFormat { stored: 99, .. });
    assert!(is_99(&other), "{other:?}");
    fs::write(folder.path().join("tiles.redb"), b"a database").unwrap();
    let older = refusal(&folder, 7);
    assert!(older.to_string().contains("format 1"), "{older}");
}

#[test]
fn damage_anywhere_is_told_as_damage() {
    let folder = built();
    let path = folder.path().join("tiles");
    let whole = fs::read(&path).unwrap();
    let check = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let refusal = refusal(&folder, 7);
        assert!(refusal.to_string().contains("restore"), "{what}: {refusal}");
    };
    for length in 0..whole.len() {
        check(&whole[..length], "cut short");
    }
    check(&[&whole[..], b"x"].concat(), "longer");
    let format = 8..16;
    for bit in (0..whole.len() * 8).filter(|bit| !format.contains(&(bit / 8))) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        check(&damaged, "a bit");
    }
}

/// Copies a folder as it is, which is what a process leaves that dies now.
fn copy(from: &TempDir) -> TempDir {
    let to = folder();
    for entry in fs::read_dir(from.path()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    to
}

#[test]
fn what_was_built_is_there_though_no_snapshot_was_written() {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    let [built, undone, pushed] = [40, 44, 48].map(|x| solid(cell(x, 40)));
    let was = world.block(undone).unwrap();
    build(&mut world, built, BRICK).unwrap();
    build(&mut world, undone, BRICK).unwrap();
    build(&mut world, undone, was).unwrap();
    build(&mut world, pushed, Block::pushable(3, b'o')).unwrap();
    // No step was taken, so nothing was handed to the writer.
    for _ in 0..2 {
        let left = copy(&folder);
        let mut again = TileWorld::open(left.path(), 7).unwrap();
        assert_eq!(again.edited_blocks(), 2);
        assert_eq!(again.block(built), Some(BRICK));
        assert_eq!(again.block(undone), Some(was));
        // What was in the journal reaches a snapshot, and the journal goes.
        step_until(&mut again, |state| *state == Storage::Saved);
        again.close().unwrap();
        let names = fs::read_dir(left.path()).unwrap();
        assert_eq!(names.count(), 2);
        assert_eq!(TileWorld::open(left.path(), 7).unwrap().edited_blocks(), 2);
    }
}

#[test]
fn a_journal_that_is_in_the_snapshot_already_counts_for_nothing() {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    let at = solid(cell(40, 40));
    let was = world.block(at).unwrap();
    build(&mut world, at, BRICK).unwrap();
    let left = copy(&folder);
    build(&mut world, at, was).unwrap();
    world.close().unwrap();
    // The process died between the snapshot and the removal of the journal, half of which was lost.
    fs::copy(folder.path().join("tiles"), left.path().join("tiles")).unwrap();
    let mut again = TileWorld::open(left.path(), 7).unwrap();
    assert_eq!((again.edited_blocks(), again.block(at)), (0, Some(was)));
}

#[test]
fn a_snapshot_that_was_cut_short_counts_for_nothing() {
    let folder = built();
    fs::write(folder.path().join("tiles.new"), b"half a snapshot").unwrap();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    assert_eq!(world.edited_blocks(), 1);
    build(&mut world, solid(cell(1, 40)), BRICK).unwrap();
    world.close().unwrap();
    assert_eq!(names(&folder), ["lock", "tiles"]);
}

#[test]
fn a_long_journal_becomes_a_snapshot() {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    let at = solid(cell(40, 40));
    // A frame of one change has 27 bytes.
    for n in 0..limits::JOURNAL_SHORT / 27 + 9 {
        let block = [BRICK, Block::pushable(1, b'o')][usize::from(n % 2 == 0)];
        if build(&mut world, at, block).is_err() {
            // There is room for the events of a step only.
            world.step();
        }
    }
    assert!(world.tick().0 < crate::tiles::SAVE_STEPS);
    assert_eq!(names(&folder), ["journal-1", "lock", "tiles"]);
    step_until(&mut world, |state| *state == Storage::Saved);
    assert_eq!(names(&folder), ["lock", "tiles"]);
    build(&mut world, at, BRICK).unwrap();
    step_until(&mut world, |state| *state == Storage::Saved);
    assert_eq!(names(&folder), ["journal-2", "lock", "tiles"]);
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let folder = folder();
    let file = folder.path().join("file");
    File::create(&file).unwrap();
    let refusal = TileWorld::open(&file.join("world"), 7).expect_err("a file holds no folder");
    assert!(matches!(refusal, StoreError::Io { .. }), "{refusal:?}");
}

#[test]
fn a_disk_that_fails_is_tried_again() {
    let folder = folder();
    let path = folder.path().join("world");
    let mut world = TileWorld::open(&path, 7).unwrap();
    let [first, second] = [40, 44].map(|x| solid(cell(x, 40)));
    fs::remove_dir_all(&path).unwrap();
    // There is no folder for the journal, nor for a snapshot.
    build(&mut world, first, BRICK).unwrap();
    step_until(&mut world, |state| matches!(state, Storage::Failing(_)));
    build(&mut world, second, BRICK).unwrap();
    fs::create_dir(&path).unwrap();
    step_until(&mut world, |state| *state == Storage::Saved);
    world.close().unwrap();
    let again = TileWorld::open(&path, 7).unwrap();
    assert_eq!(again.edited_blocks(), 2);
}

#[test]
fn a_world_that_cannot_be_stored_says_so_when_it_is_closed() {
    let folder = folder();
    let path = folder.path().join("world");
    let mut world = TileWorld::open(&path, 7).unwrap();
    fs::remove_dir_all(&path).unwrap();
    build(&mut world, solid(cell(40, 40)), BRICK).unwrap();
    let told = world.close().expect_err("there is no folder");
    assert!(matches!(told, StoreError::Io { .. }), "{told:?}");
}
