//! Net graphs, the dashboard's pages and the lab, in a real pseudo-terminal and out of one.

use serde_json::Value;

use crate::command::{read_two_lines, run, serve};
use crate::pty::Terminal;

const PROTOCOLS: [&str; 6] = ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"];

/// Waits until the picture is drawn this wide. A key that comes in the same moment as a new size may wait for the
/// next key: crossterm reads one of the two.
#[track_caller]
fn wait_for_width(terminal: &Terminal, columns: usize) {
    terminal.wait_for("a wider picture", |screen| {
        let mut lines = screen.lines();
        lines.any(|line| line.chars().count() > columns * 2 / 3)
    });
}

#[test]
fn the_dashboard_s_pages_are_opened_resized_and_left() {
    let mut arguments = vec!["serve", "all", "--bots", "6", "--dashboard"];
    let listen: Vec<_> = PROTOCOLS.map(|name| format!("{name}=127.0.0.1:0")).into();
    for place in &listen {
        arguments.extend(["--listen", place]);
    }
    let mut terminal = Terminal::start(&arguments);
    terminal.wait_for_text("step p50");
    // Six protocols and their ports, at 80 columns and at 50.
    for columns in [80, 50] {
        terminal.resize(columns, 24);
        terminal.wait_for("every port", |screen| {
            let words: Vec<_> = screen.split_whitespace().collect();
            let has_port = |name: &&str| {
                let mut pairs = words.windows(2);
                pairs.any(|pair| pair[0] == *name && pair[1].contains(':'))
            };
            PROTOCOLS.iter().all(has_port)
        });
    }
    terminal.resize(80, 24);
    wait_for_width(&terminal, 80);
    terminal.press("c");
    terminal.wait_for_text("6 clients");
    terminal.wait_for_text("0 clients");
    terminal.wait_for("bars", |screen| {
        screen.contains('▇') || screen.contains('█')
    });
    terminal.press("ss");
    terminal.wait_for_text("rtt▲");
    terminal.press("r");
    terminal.wait_for_text("rtt▼");
    terminal.press("\x1b[B\r");
    for text in ["longest gap", "snapshots", "figures", "bytes_out_total"] {
        terminal.wait_for_text(text);
    }
    terminal.resize(120, 40);
    wait_for_width(&terminal, 130);
    terminal.wait_for_text("messages_out_total");
    terminal.press("e");
    terminal.wait_for_text("events");
    terminal.wait_for_text("joined");
    terminal.press("t");
    terminal.wait_for_text("who is where");
    terminal.resize(20, 5);
    terminal.wait_for_text("too small");
    terminal.resize(80, 24);
    terminal.wait_for_text("who is where");
    // Esc leads back, and only then out.
    terminal.press("\x1b");
    terminal.wait_for_text("step p50");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn players_of_both_games_have_a_net_graph_on_a_key() {
    for (protocol, in_game) in [("native", "hull"), ("pixmess", "facing south")] {
        let (_server, addr) = serve(protocol, &["--bots", "1"]);
        let addr = addr.to_string();
        let mut terminal =
            Terminal::start(&["play", protocol, "--connect", &addr, "--lag", "wifi"]);
        terminal.wait_for_text(in_game);
        terminal.press("\x1bOR");
        terminal.wait_for_text("net graph, 100 ms a bar");
        for text in ["snapshots", "longest gap", "received", "kbit/s"] {
            terminal.wait_for_text(text);
        }
        if protocol == "native" {
            terminal.wait_for_text("prediction error");
        }
        terminal.resize(40, 12);
        terminal.resize(120, 40);
        terminal.wait_for("a wider graph", |screen| {
            let mut lines = screen.lines();
            lines.any(|line| line.contains("net graph, 100") && line.chars().count() > 100)
        });
        terminal.press("\x1bOR");
        terminal.wait_for("the game alone", |screen| !screen.contains("net graph"));
        terminal.press("q");
        assert_eq!(terminal.wait(), 0);
    }
}

#[test]
fn the_lab_shows_truth_and_view_side_by_side() {
    for protocol in ["reone", "pixmess"] {
        let mut terminal = Terminal::start(&["lab", protocol, "--lag", "4g"]);
        for text in ["truth", "what lab-1 shows", "how far off it shows them"] {
            terminal.wait_for_text(text);
        }
        assert!(terminal.is_alternate());
        terminal.press("\t");
        terminal.wait_for_text("what lab-2 shows");
        terminal.press("1");
        terminal.wait_for_text("on lan");
        terminal.press("\x1b[A");
        terminal.wait_for_text("delay=10.25ms");
        terminal.resize(30, 8);
        terminal.wait_for_text("too small");
        terminal.resize(100, 30);
        terminal.wait_for_text("what lab-2 shows");
        terminal.press("q");
        assert_eq!(terminal.wait(), 0);
        terminal.wait_for_text("others p99");
    }
}

fn lab(protocol: &str, options: &[&str]) -> Value {
    let done = run(&[&["lab", protocol, "--json", "--seconds", "10"], options].concat());
    assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
    serde_json::from_str(&done.stdout).unwrap_or_else(|why| panic!("{why}: {done:?}"))
}

#[test]
fn the_lab_is_a_function_of_its_seeds() {
    for protocol in PROTOCOLS {
        let options = ["--lag", "bad-hotel"];
        let (first, again) = (lab(protocol, &options), lab(protocol, &options));
        assert_eq!(first, again, "{protocol}");
        let other = lab(protocol, &[&options[..], &["--lag-seed", "2"]].concat());
        assert_ne!(first, other, "{protocol}");
        assert_eq!(first["clients"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn a_longer_way_makes_everybody_further_off() {
    for protocol in PROTOCOLS {
        let mean = |report: &Value| report["all"]["others_error"]["mean"].as_f64();
        let near = mean(&lab(protocol, &["--delay", "1ms"])).expect("others are seen");
        let far = mean(&lab(protocol, &["--delay", "150ms"])).expect("others are seen");
        assert!(far > near, "{protocol}: {far} after {near}");
        let round_trip = &lab(protocol, &["--delay", "150ms"])["all"]["round_trip_ms"];
        let measured = round_trip.as_f64().expect("it is measured");
        // The native client knows it to a tick.
        let least = if protocol == "native" { 283.0 } else { 300.0 };
        assert!((least..400.0).contains(&measured), "{protocol}: {measured}");
    }
}

#[test]
fn the_lab_ends_well_for_whoever_reads_little_and_badly_for_whoever_asks_nonsense() {
    let done = read_two_lines(&["lab", "--all", "--seconds", "1"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = run(&["lab", "lwar", "--clients", "0"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    let done = run(&["lab", "lwar", "--loss", "100%"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stderr.contains("does not get in on this network"),
        "{done:?}"
    );
}

#[test]
fn a_key_pressed_in_the_moment_of_a_resize_is_heard() {
    let mut terminal =
        Terminal::start(&["serve", "lwar", "--listen", "127.0.0.1:0", "--dashboard"]);
    terminal.wait_for_text("step p50");
    // A key that is lost leaves the other page.
    for turn in 0..10 {
        terminal.resize(80 + turn % 2, 24);
        terminal.press("c");
        terminal.wait_for_text("0 clients");
        terminal.resize(90 + turn % 2, 24);
        terminal.press("a");
        terminal.wait_for_text("step p50");
    }
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
}
