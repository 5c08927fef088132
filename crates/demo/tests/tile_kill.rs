//! A tile world whose process is killed: what was built is there again, and nothing is torn.
//!
//! The test runs itself again as a child, told by an environment variable. The child builds without
//! end and prints every edit once it is made; the parent kills it in the middle and looks at what
//! is left: everything that it heard of. Children go on where the one before them was killed.

#![expect(
    clippy::unwrap_used,
    reason = "this is a test, outside its functions too"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tickwire_demo::tiles::{Block, BlockId, Cell, Look, STEP, Sublayer, TileWorld};

const FOLDER: &str = "TICKWIRE_TILE_KILL_FOLDER";
const SEED: u64 = 7;

#[test]
fn what_was_built_survives_a_kill() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        build_for_ever(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut built = 0;
    // Killed at different moments within the rhythm of the writer.
    for over in [130, 290, 410] {
        let run = Duration::from_millis(500 + over);
        let heard = edits_until_killed(folder.path(), run);
        let left = check_left(folder.path());
        assert!(left >= heard, "{left} edits are left of {heard}");
        assert!(left > built, "the last child stored nothing");
        built = left;
    }
}

/// The child: a game loop in which a few blocks are built every step.
fn build_for_ever(folder: &Path) -> ! {
    let mut world = TileWorld::open(folder, SEED).unwrap();
    let builder = world.join("builder", Look::default()).unwrap();
    let mut number = count_edits(&mut world);
    let mut next_step = Instant::now();
    loop {
        for _ in 0..EDITS_A_STEP {
            for at in places(number) {
                world.set_block(builder, at, block(number)).unwrap();
            }
            println!("edit {number}");
            number += 1;
        }
        std::io::stdout().flush().unwrap();
        world.step();
        // A host's loop, not a test that waits.
        next_step += STEP;
        std::thread::sleep(next_step.saturating_duration_since(Instant::now()));
    }
}

/// Runs a child for so long after its first edit and kills it; how many edits it told of, with those of
/// the children before it.
fn edits_until_killed(folder: &Path, run: Duration) -> i32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_was_built_survives_a_kill"])
        .arg("--nocapture")
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = lines(&mut child);
    let mut edits = 0;
    let mut end = Instant::now() + Duration::from_secs(30);
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                // The test harness speaks too.
                let Some(number) = line.strip_prefix("edit ") else {
                    continue;
                };
                if edits == 0 {
                    end = Instant::now() + run;
                }
                edits = number.parse::<i32>().unwrap() + 1;
            }
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => panic!("the child ended by itself"),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    edits
}

fn lines(child: &mut Child) -> Receiver<String> {
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// How many edits are in the folder. None may be there without all those before it: what is stored is
/// the world as it was after some action. The child may have been killed between the two of an edit.
fn check_left(folder: &Path) -> i32 {
    let mut world = TileWorld::open(folder, SEED).expect("a killed world opens");
    let left = count_edits(&mut world);
    for number in 0..left {
        for at in places(number) {
            assert_eq!(world.block(at), Some(block(number)), "edit {number}");
        }
    }
    let blocks = usize::try_from(left).unwrap() * places(0).len();
    let more = world.edited_blocks() - blocks;
    assert!(more < 2, "something is there too early");
    world.close().unwrap();
    left
}

fn count_edits(world: &mut TileWorld) -> i32 {
    (0..)
        .find(|&number| world.block(places(number)[1]) != Some(block(number)))
        .unwrap()
}

/// Every edit changes two blocks far from each other.
fn places(number: i32) -> [BlockId; 2] {
    let (row, column) = (number / 500, number % 500);
    [1_000, -9_000].map(|north| {
        let cell = Cell {
            // Neighbours in time are in different chunks.
            x: column * 64 + row,
            y: north,
        };
        BlockId::root(cell, Sublayer::Walkable)
    })
}

fn block(number: i32) -> Block {
    // Letters and colours that no terrain has.
    let letter = u8::try_from(number % 26).unwrap();
    Block::fixed(-1, b'A' + letter)
}

const EDITS_A_STEP: i32 = 3;
