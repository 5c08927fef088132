//! The train of the tile world, on the screen of somebody who watches the end of its line.

use tickwire_demo::gateway::Settings;

use crate::pty::Terminal;
use crate::table::Table;

/// Where the train's corner lies when its middle is at the end of the line.
const END: i32 = 1_024 - 32;

/// As far as a spectator sees from the plaza: the end of the line is at the border of a wide screen.
const LOOKOUT: usize = 950;

/// Windows of the train, which nothing else there has.
fn windows(screen: &str) -> usize {
    screen.matches("oo").count()
}

#[test]
fn a_train_that_leaves_the_world_is_gone_from_the_screen_and_comes_back() {
    let (mut table, addr) = Table::new("pixmess", &Settings::default());
    let mut watcher = Terminal::play("pixmess", addr, "");
    watcher.resize(240, 30);
    table.step_until(1, || watcher.text().contains("watching (0, 0)"));
    // As much as anybody types at once.
    for x in (50..=LOOKOUT).step_by(50) {
        watcher.press(&"d".repeat(50));
        let there = format!("watching ({x}, 0)");
        table.step_until(1, || watcher.text().contains(&there));
    }

    // The world is in no hurry while somebody has to see it, and takes minutes to get there.
    while table.train().origin().x != END {
        table.step_fast(20);
    }
    table.step_until(1, || windows(&watcher.text()) > 2);
    table.step_until(10, || windows(&watcher.text()) == 0);
    assert!(table.train().is_away());
    table.step_until(10, || windows(&watcher.text()) > 2);
    assert!(!table.train().is_away());
    watcher.press("q");
    table.step_until(1, || watcher.has_ended());
    assert_eq!(watcher.wait(), 0);
}
