//! The screens in a real pseudo-terminal: what a person would see, and what is left afterwards.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{Running, serve, start};
use crate::pty::Terminal;

fn dots(screen: &str) -> usize {
    let dots = '\u{2801}'..='\u{28ff}';
    screen.chars().filter(|c| dots.contains(c)).count()
}

/// A dashboard on a free port, and where it serves.
fn dashboard() -> (Terminal, SocketAddr) {
    let arguments = "serve lwar --listen 127.0.0.1:0 --bots 3 --dashboard";
    let terminal = Terminal::start(&arguments.split(' ').collect::<Vec<_>>());
    let address = |screen: &str| screen.split_whitespace().find_map(|word| word.parse().ok());
    terminal.wait_for("an address", |screen| address(screen).is_some());
    let address = address(&terminal.text()).expect("just seen");
    (terminal, address)
}

/// Somebody who plays, on a server without a screen.
fn play() -> (Terminal, Running) {
    let (server, addr) = serve("lwar", &["--bots", "2"]);
    let terminal = Terminal::play("lwar", addr, "Ada");
    terminal.wait_for_text("hull");
    (terminal, server)
}

#[test]
fn the_dashboard_shows_the_arena_and_its_clients() {
    let (terminal, addr) = dashboard();
    terminal.wait_for("the arena", |screen| dots(screen) > 40);
    for text in ["arena", "pilots", "events", "clients", "step p50", "q quit"] {
        terminal.wait_for_text(text);
    }
    assert!(terminal.is_alternate());

    let addr = addr.to_string();
    let bots = start(&["bots", "lwar", "--connect", &addr, "--count", "2"]);
    terminal.wait_for("two rows of clients", |screen| {
        let row = |name| {
            let mut lines = screen.lines();
            lines.any(|line| line.contains(name) && line.contains("lwar") && line.contains(" ms"))
        };
        row("bot-1") && row("bot-2")
    });
    terminal.wait_for_text("bot-1 joined");
    drop(bots);
    terminal.leave();
}

#[test]
fn any_size_is_fine() {
    let (mut terminal, _) = dashboard();
    terminal.wait_for_text("step p50");
    for (columns, rows) in [(20, 5), (1, 1), (2, 30), (200, 3)] {
        terminal.resize(columns, rows);
        terminal.wait_for("something else", |screen| !screen.contains("step p50"));
    }
    terminal.resize(20, 5);
    terminal.wait_for_text("too small");
    terminal.resize(160, 50);
    terminal.wait_for_text("step p50");
    terminal.wait_for("a larger arena", |screen| dots(screen) > 100);
    // Ctrl-C is a key here.
    terminal.press("\u{3}");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn the_camera_follows_a_pilot() {
    let (mut terminal, _) = dashboard();
    terminal.wait_for_text("Vega");
    terminal.press("\t");
    terminal.wait_for_text("whole arena");
    terminal.press("0");
    terminal.wait_for("everything", |screen| !screen.contains("whole arena"));
    terminal.press("\u{1b}");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn somebody_plays_chats_and_leaves() {
    let (mut terminal, server) = play();
    terminal.press("\t");
    terminal.wait_for_text("scores");
    terminal.wait_for("the name in the scores", |screen| {
        let mut lines = screen.lines();
        lines.any(|line| line.contains("│Ada") && line.contains("ms"))
    });
    // Letters are keys, except in a line that is being written.
    terminal.press("\rq is no end here");
    terminal.wait_for_text("say q is no end here");
    terminal.press("\r");
    terminal.wait_for_text("<Ada> q is no end here");
    server.line_with("<Ada> q is no end here");
    terminal.press("w ");
    terminal.press("?");
    terminal.wait_for_text("this help");
    terminal.press("?");
    terminal.wait_for("the arena alone", |screen| !screen.contains("this help"));
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    terminal.wait_for_text("you left after");
    server.line_with("Ada left");
}

#[test]
fn somebody_walks_builds_and_leaves_the_tile_world() {
    let (server, addr) = serve("pixmess", &[]);
    let mut terminal = Terminal::play("pixmess", addr, "Ada");
    terminal.wait_for_text("facing south");
    terminal.wait_for("the plaza", |screen| screen.matches(':').count() > 40);
    let position = |screen: &str| {
        let (_, rest) = screen.split_once("Ada  at (")?;
        Some(rest.split_once(')')?.0.to_owned())
    };
    let before = position(&terminal.text());
    assert!(before.is_some());
    // The plaza is open: one of these two ways leads somewhere.
    terminal.press("yyu");
    terminal.wait_for("another place", |screen| {
        let after = position(screen);
        after.is_some() && after != before
    });
    terminal.press("]");
    terminal.wait_for_text("timber");
    let timber = |screen: &str| screen.matches("HH").count();
    let already = timber(&terminal.text());
    // Around the corner there is always some cell that takes a block.
    for turn in ["\u{1b}[1;2A", "\u{1b}[1;2B", "\u{1b}[1;2C", "\u{1b}[1;2D"] {
        terminal.press(turn);
        terminal.press(" ");
    }
    terminal.wait_for("a block of timber", |screen| timber(screen) > already);
    terminal.press("\rgood morning\r");
    terminal.wait_for_text("<Ada> good morning");
    server.line_with("<Ada> good morning");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    terminal.wait_for_text("you left after");
    server.line_with("Ada left");
}

#[test]
fn walkers_see_names_and_may_ignore_each_other_and_others_watch() {
    let (_server, addr) = serve("pixmess", &[]);
    let play = |name: &str| Terminal::play("pixmess", addr, name);
    let mut ada = play("Ada");
    ada.wait_for_text("facing south");
    let bob = play("Zebulon");
    let names = |screen: &str| screen.matches("Zebulon").count();
    // On the plaza, and in the line that says that he came.
    ada.wait_for("a name beside somebody", |screen| names(screen) == 2);
    ada.press("p");
    ada.wait_for_text("you are player ");
    ada.press("i");
    ada.wait_for_text("you ignore ");
    // Animals may have stood nearer.
    for _ in 0..40 {
        ada.press("i");
    }
    ada.wait_for("nobody beside her", |screen| screen.contains("in sight 0"));

    let mut watcher = play("");
    watcher.wait_for_text("watching (0, 0)");
    watcher.wait_for("the plaza", |screen| screen.matches(':').count() > 40);
    watcher.press("s");
    watcher.wait_for_text("watching (0, 1)");
    watcher.press("\rhello\r");
    watcher.wait_for_text("not said: this client takes no part");
    [bob, ada, watcher].into_iter().for_each(Terminal::leave);
}

#[test]
fn a_walker_is_told_why_it_was_sent_away() {
    let (server, addr) = serve("pixmess", &[]);
    let mut terminal = Terminal::play("pixmess", addr, "player");
    terminal.wait_for_text("facing south");
    server.terminate();
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("Server is shutting down!");
}

#[test]
fn a_server_that_never_was_is_said_to_be_missing() {
    // Nobody answers there, and nobody refuses either.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = silent.local_addr().unwrap().to_string();
    let mut terminal = Terminal::start(&["play", "lwar", "--connect", &addr]);
    terminal.wait_for_text("connecting… (1 s)");
    drop(silent);
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("no server of this protocol let you in");
}

#[test]
fn without_a_terminal_play_says_what_it_needs() {
    let done = crate::command::run(&["play", "lwar"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("needs a terminal"), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1);
}

#[test]
fn a_name_that_no_server_takes_is_refused_before_anything_else() {
    let long = "n".repeat(33);
    for protocol in ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"] {
        for (name, why) in [
            ("", "must not be empty"),
            (&long, "at most 32 bytes"),
            ("a\tb", "no control characters"),
        ] {
            // Whoever has no name there watches.
            if (protocol, name) == ("pixmess", "") {
                continue;
            }
            let mut terminal = Terminal::start(&["play", protocol, "--name", name]);
            assert_eq!(terminal.wait(), 2, "{}", terminal.text());
            terminal.wait_for_text(why);
        }
    }
}

#[test]
fn a_protocol_without_names_says_what_others_see() {
    let (_server, addr) = serve("opendrakan", &[]);
    let terminal = Terminal::play("opendrakan", addr, "Ada");
    terminal.wait_for_text("this protocol carries no names: others see drakan-");
    terminal.wait_for("the name that others see", |screen| {
        let mut lines = screen.lines();
        lines
            .next()
            .is_some_and(|header| header.contains("drakan-"))
    });
    terminal.leave();
}

#[test]
fn whoever_lost_a_ship_reads_who_did_it() {
    thread::scope(|scope| {
        for protocol in ["native", "lwar", "cppevy", "opendrakan", "reone"] {
            scope.spawn(move || {
                let (_server, addr) = serve(protocol, &["--bots", "12", "--difficulty", "hard"]);
                let terminal = Terminal::play(protocol, addr, "player");
                terminal.wait_for_text("destroyed your ship: the next one");
                terminal.leave();
            });
        }
    });
}

#[test]
fn the_reason_of_a_kick_is_shown() {
    // As many as the arena holds: lwar has a place for one more client, and nobody a ship for it.
    let (_server, addr) = serve("lwar", &["--pilots", "512", "--difficulty", "easy"]);
    let mut terminal = Terminal::start(&["play", "lwar", "--connect", &addr.to_string()]);
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("the server was stopped, or sent you away: the arena");
}

#[test]
fn what_somebody_played_can_be_inspected() {
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in ["lwar", "reone"] {
        let file = folder.path().join(protocol);
        let file = file.to_str().expect("a plain path");
        let (_server, addr) = serve(protocol, &[]);
        let addr = addr.to_string();
        let mut terminal =
            Terminal::start(&["play", protocol, "--connect", &addr, "--record", file]);
        terminal.wait_for_text("q leave");
        terminal.press("q");
        assert_eq!(terminal.wait(), 0);
        let shown = crate::command::run(&["inspect", protocol, "--from", "server", file]);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        assert!(shown.stdout.lines().count() > 20, "{}", shown.stdout);
    }
}

#[test]
fn on_cppevy_newcomers_and_refusals_are_told() {
    let (_server, addr) = serve("cppevy", &[]);
    let mut ada = Terminal::play("cppevy", addr, "Ada");
    ada.wait_for_text("stay away from the sun");
    let bob = Terminal::play_with("cppevy", addr, &["--name", "Bob", "--emblem", "#"]);
    ada.wait_for_text("Bob joined");
    bob.wait_for_text("others see your emblem");
    ada.press("\t");
    ada.wait_for_text("# Bob");
    // The arena has the action, and allows it to nobody.
    ada.press("t");
    ada.wait_for_text("you stay where you are: ");
    // What the server has besides the world was loaded: the rules, the names of planets.
    ada.wait_for_text("near ");
    [bob, ada].into_iter().for_each(Terminal::leave);
}

#[test]
fn on_cppevy_what_is_loaded_is_shown_by_a_bar() {
    let (_server, addr) = serve("cppevy", &[]);
    // Each asset takes a round trip, so the bar is seen between them.
    let ada = Terminal::play_with("cppevy", addr, &["--delay", "200ms"]);
    ada.wait_for("a bar that is partly full", |screen| {
        let mut lines = screen.lines();
        lines.any(|line| {
            line.contains("loading █") && line.contains("░ ") && line.contains(" B of ")
        })
    });
    ada.wait_for_text("hull");
    ada.leave();
}

/// What is drawn in the middle of the arena, where the own ship is.
fn own_ship(screen: &str) -> Vec<String> {
    let rows = screen.lines().skip(9).take(4);
    rows.map(|row| row.chars().skip(36).take(9).collect())
        .collect()
}

/// The server has stopped. Whether a turn shows, and is taken back when nothing comes of it. What is older than
/// 3 s is not drawn, and never comes back without the server: on a machine that is too slow for that, nothing
/// was seen.
fn turn_shows_unanswered(terminal: &mut Terminal) -> bool {
    // Things are drawn on their way for a quarter of a second.
    let (mut still, mut since) = (own_ship(&terminal.text()), Instant::now());
    while since.elapsed() < Duration::from_millis(300) {
        let shown = own_ship(&terminal.text());
        if shown != still {
            (still, since) = (shown, Instant::now());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let is_over = |screen: &str| screen.contains("no news from the server");
    terminal.press_until("d", "a ship that turns", |screen| {
        own_ship(screen) != still || is_over(screen)
    });
    let is_back = |screen: &str| own_ship(screen) == still;
    terminal.wait_for("the ship as it was", |screen| {
        is_back(screen) || is_over(screen)
    });
    is_back(&terminal.text())
}

#[test]
fn on_cppevy_a_turn_shows_before_the_server_has_heard_of_it() {
    let (server, addr) = serve("cppevy", &[]);
    let mut ada = Terminal::play("cppevy", addr, "Ada");
    let has_ship = |screen: &str| screen.contains("hull") && dots(&own_ship(screen).concat()) > 3;
    let is_seen = (0..10).any(|_| {
        ada.wait_for("a ship", has_ship);
        server.signal("STOP");
        let is_seen = turn_shows_unanswered(&mut ada);
        server.signal("CONT");
        is_seen
    });
    assert!(is_seen, "{}", ada.text());
    ada.wait_for("a ship", has_ship);
    ada.leave();
}

#[test]
fn bots_of_a_server_are_clients_of_every_protocol() {
    let terminal = Terminal::start(&["--listen", "127.0.0.1:0"]);
    terminal.resize(140, 50);
    let plays_by = |screen: &str, protocol: &str| {
        let mut pilots = screen.lines().filter_map(|line| line.split_once("▲ "));
        pilots.any(|(_, pilot)| pilot.trim_end().ends_with(protocol))
    };
    for protocol in ["lwar", "cppevy", "opendrakan", "reone"] {
        terminal.wait_for(protocol, |screen| plays_by(screen, protocol));
    }
    // Whoever walks in the tile world is a client and no pilot.
    terminal.wait_for("a client of pixmess", |screen| {
        let mut lines = screen.lines();
        lines.any(|line| line.contains("pixmess  "))
    });
    terminal.leave();
}

#[test]
fn pilots_need_no_protocol() {
    let arguments = "serve lwar --listen 127.0.0.1:0 --pilots 2 --dashboard";
    let terminal = Terminal::start(&arguments.split(' ').collect::<Vec<_>>());
    terminal.wait_for("two pilots without a protocol", |screen| {
        screen
            .lines()
            .filter(|line| line.trim_end().ends_with(" nothing"))
            .count()
            == 2
    });
    terminal.wait_for_text("nobody yet");
    terminal.leave();
}

#[test]
fn a_player_chooses_weapons() {
    let (_server, addr) = serve("lwar", &[]);
    let mut terminal = Terminal::play_with("lwar", addr, &["--weapons", "rocket,-,gun"]);
    terminal.wait_for_text("Space rocket  2 –  3 gun  4 –");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    for (typed, why) in [("laser", "there is no"), ("gun,gun,gun,gun,gun", "4 slots")] {
        let mut terminal = Terminal::start(&["play", "lwar", "--weapons", typed]);
        assert_eq!(terminal.wait(), 2);
        terminal.wait_for_text(why);
    }
    let mut terminal = Terminal::start(&["play", "pixmess", "--weapons", "gun"]);
    assert_eq!(terminal.wait(), 2);
    terminal.wait_for_text("nobody flies in the tile world");
}

#[test]
fn somebody_takes_another_name_and_other_weapons() {
    let (mut terminal, server) = play();
    terminal.press("\r/name Bea\r");
    terminal.wait_for_text("Ada is now Bea");
    server.line_with("Ada is now Bea");
    terminal.press("\r/weapons rocket,gun\r");
    terminal.wait_for_text("Space rocket  2 gun");
    terminal.press("\r/weapons spoon\r");
    terminal.wait_for_text("not done: there is no \"spoon\"");
    terminal.leave();
}

#[test]
fn collisions_are_drawn_where_they_happened() {
    // Hunters find somebody who stands still.
    let (_server, addr) = serve("lwar", &["--bots", "12", "--difficulty", "hard"]);
    let terminal = Terminal::play("lwar", addr, "Ada");
    terminal.wait_for_text("✶");
}

#[test]
fn shots_are_seen_and_heard_whatever_order_the_databases_have() {
    let (_server, addr) = serve("opendrakan", &["--bots", "12", "--difficulty", "hard"]);
    let addr = addr.to_string();
    let own = "arena/sounds.db,arena/other.db,arena/ships.db";
    let play = ["play", "opendrakan", "--connect", &addr];
    let mut terminal = Terminal::start(&[&play[..], &["--databases", own]].concat());
    terminal.wait_for_text("hull");
    terminal.press(" ");
    terminal.wait_for_text("✹");
    terminal.press(" ");
    terminal.wait_for_text("♪ gun");
    // Hunters find somebody who stands still.
    terminal.wait_for_text("hit by ");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    let lacking = Terminal::start(&[&play[..], &["--databases", "arena/ships.db"]].concat());
    lacking.wait_for_text("arena/sounds.db");
}
