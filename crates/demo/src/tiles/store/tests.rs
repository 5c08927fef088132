//! What is stored comes back; what cannot be opened says why.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use redb::{Database, TableDefinition};
use tempfile::TempDir;

use super::*;
use crate::Random;
use crate::tiles::tests::{build, cell, solid};
use crate::tiles::{Block, BlockId, Sublayer, TileWorld};

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
    let database = Database::open(folder.path().join("tiles.redb")).unwrap();
    let change = database.begin_write().unwrap();
    change
        .open_table(TableDefinition::<&str, u64>::new("facts"))
        .unwrap()
        .insert("format", 99)
        .unwrap();
    change.commit().unwrap();
    drop(database);
    // Seeds are not compared: what a seed means depends on the format.
    let refusal = refusal(&folder, 8);
    assert!(
        matches!(refusal, StoreError::OtherFormat { stored: 99, .. }),
        "{refusal:?}"
    );
}

#[test]
fn damage_is_told_as_damage() {
    let file = |folder: &TempDir| folder.path().join("tiles.redb");
    let whole = fs::read(file(&built())).unwrap();
    let mut flipped_header = whole.clone();
    flipped_header[0] ^= 1;
    for (what, bytes) in [
        ("not a database", b"hello".to_vec()),
        ("cut in its header", whole[..100].to_vec()),
        ("cut in the middle", whole[..whole.len() / 2].to_vec()),
        ("header", flipped_header),
        ("nothing", Vec::new()),
    ] {
        let folder = built();
        fs::write(file(&folder), bytes).unwrap();
        let refusal = refusal(&folder, 7);
        assert!(
            matches!(refusal, StoreError::Damaged { .. }),
            "{what}: {refusal:?}"
        );
        assert!(refusal.to_string().contains("restore"), "{refusal}");
    }
}

#[test]
fn a_damaged_patch_is_not_taken_for_blocks() {
    let folder = built();
    let path = folder.path().join("tiles.redb");
    let mut bytes = fs::read(&path).unwrap();
    let brick = BRICK.to_bytes();
    let at = bytes.windows(3).rposition(|three| three == brick);
    bytes[at.unwrap() + 1] ^= 0x40;
    fs::write(&path, bytes).unwrap();
    let refusal = refusal(&folder, 7);
    assert!(matches!(refusal, StoreError::Damaged { .. }), "{refusal:?}");
}

#[test]
fn damage_anywhere_is_noticed_or_harmless() {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    for n in 0..100 {
        build(&mut world, solid(cell(n * 70, 100)), BRICK).unwrap();
    }
    let edits = world.edited_blocks();
    world.close().unwrap();
    let path = folder.path().join("tiles.redb");
    let whole = fs::read(&path).unwrap();
    let used: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] != 0).collect();
    let mut random = Random::new(1);
    let mut noticed = 0;
    for n in 0..60 {
        let at = used[usize::try_from(random.bits() >> 1).unwrap() % used.len()];
        let mut bytes = whole.clone();
        if n % 2 == 0 {
            bytes[at] ^= 1 << (random.bits() % 8);
        } else {
            let end = whole.len().min(at + 4_096);
            bytes[at..end].fill(0x55);
        }
        fs::write(&path, bytes).unwrap();
        match TileWorld::open(folder.path(), 7) {
            Ok(world) => assert_eq!(world.edited_blocks(), edits),
            Err(StoreError::Damaged { .. }) => noticed += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(noticed > 10, "{noticed}");
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
fn what_was_built_is_there_though_the_database_never_heard_of_it() {
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
        // What was in the journal reaches the database, and the journal goes.
        step_until(&mut again, |state| *state == Storage::Saved);
        again.close().unwrap();
        let names = fs::read_dir(left.path()).unwrap();
        assert_eq!(names.count(), 2);
        assert_eq!(TileWorld::open(left.path(), 7).unwrap().edited_blocks(), 2);
    }
}

#[test]
fn a_journal_that_is_in_the_database_already_does_no_harm() {
    let folder = folder();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    let at = solid(cell(40, 40));
    let was = world.block(at).unwrap();
    build(&mut world, at, BRICK).unwrap();
    step_until(&mut world, |state| *state == Storage::Saved);
    build(&mut world, at, was).unwrap();
    // The journal now says that it is what it was; so will the database.
    let left = copy(&folder);
    step_until(&mut world, |state| *state == Storage::Saved);
    world.close().unwrap();
    fs::copy(
        folder.path().join("tiles.redb"),
        left.path().join("tiles.redb"),
    )
    .unwrap();
    let mut again = TileWorld::open(left.path(), 7).unwrap();
    assert_eq!((again.edited_blocks(), again.block(at)), (0, Some(was)));
}

#[test]
fn a_making_that_was_cut_short_is_begun_again() {
    let folder = folder();
    fs::write(folder.path().join("tiles.redb.new"), b"half a database").unwrap();
    let mut world = TileWorld::open(folder.path(), 7).unwrap();
    build(&mut world, solid(cell(1, 40)), BRICK).unwrap();
    world.close().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["lock", "tiles.redb"]);
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
fn a_busy_writer_gives_the_batch_back() {
    let (queue, batches) = sync_channel(1);
    let path = folder();
    let mut store = Store {
        queue,
        writer: std::thread::spawn(|| Ok(())),
        progress: Arc::new(Progress::new()),
        journal: Journal::open(path.path()).unwrap().0,
        _lock: tempfile::tempfile().unwrap(),
    };
    let batch = || Batch::from([(ChunkId::default(), None)]);
    assert!(store.offer(Version(2), batch()).is_ok());
    let back = store.offer(Version(3), batch()).unwrap_err();
    assert_eq!(back.len(), 1);
    assert_eq!(store.state(Version(3)), Storage::Saving);
    // A writer that has died takes nothing, and that can be seen.
    drop(batches);
    assert!(store.offer(Version(3), batch()).is_err());
    let state = store.state(Version(3));
    assert!(matches!(state, Storage::Failing(_)), "{state:?}");
}

#[test]
fn a_disk_that_fails_is_tried_again() {
    let path = folder();
    let folder = Folder::new(path.path(), 7);
    let database = folder.open().unwrap();
    let progress = Arc::new(Progress::new());
    let (queue, batches) = sync_channel(1);
    // As after a failed commit; the file is held by somebody else, so it cannot be opened anew.
    let writer = Writer::broken(folder.clone(), Arc::clone(&progress));
    let writer = std::thread::spawn(move || writer.run(&batches));
    queue
        .send(Saving {
            version: Version(5),
            batch: Batch::from([(ChunkId::default(), None)]),
            journal: 0,
        })
        .unwrap();
    let wait = |wanted: fn(&Storage) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !wanted(&progress.state(Version(5))) {
            assert!(Instant::now() < deadline);
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    wait(|state| matches!(state, Storage::Failing(_)));
    drop(database);
    wait(|state| *state == Storage::Saved);
    drop(queue);
    writer.join().unwrap().unwrap();
}
