//! A tile world that was damaged says so in its error, and prints nothing else.
//!
//! The database panics over some kinds of damage. The test runs itself again as a child, told by an
//! environment variable, and looks at what the child printed.

#![expect(
    clippy::unwrap_used,
    reason = "this is a test, outside its functions too"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tickwire_demo::tiles::{Block, BlockId, Cell, Look, StoreError, Sublayer, TileWorld};

const FOLDER: &str = "TICKWIRE_TILE_DAMAGE_FOLDER";
const SEED: u64 = 7;

#[test]
fn damage_is_told_once() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        damage_and_open(Path::new(&folder));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "damage_is_told_once", "--nocapture"])
        .env(FOLDER, folder.path())
        .env("RUST_BACKTRACE", "1")
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let printed = String::from_utf8(child.stderr).unwrap();
    assert!(child.status.success(), "{printed}");
    assert_eq!(printed, "");
}

/// Opens a world with every page of its database overwritten in turn.
fn damage_and_open(folder: &Path) {
    let mut world = TileWorld::open(folder, SEED).unwrap();
    let builder = world.join("builder", Look::default()).unwrap();
    for n in 0..100 {
        let cell = Cell { x: n * 70, y: 100 };
        let at = BlockId::root(cell, Sublayer::Solid);
        world.set_block(builder, at, Block::fixed(3, b'#')).unwrap();
    }
    world.close().unwrap();
    let file = folder.join("tiles.redb");
    let whole = fs::read(&file).unwrap();
    let mut damaged = 0;
    for page in (0..whole.len()).step_by(PAGE) {
        let mut bytes = whole.clone();
        let end = whole.len().min(page + PAGE);
        if bytes[page..end].iter().all(|byte| *byte == 0) {
            continue;
        }
        bytes[page..end].fill(0x55);
        fs::write(&file, bytes).unwrap();
        match TileWorld::open(folder, SEED) {
            Err(StoreError::Damaged { .. }) => damaged += 1,
            Err(error) => panic!("{error:?}"),
            Ok(_) => {}
        }
    }
    assert!(damaged > 2, "{damaged} kinds of damage were noticed");
}

const PAGE: usize = 4_096;
