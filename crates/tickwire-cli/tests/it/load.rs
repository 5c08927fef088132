//! `tickwire bots` as a load: what it reports of a server, and when it fails.

use std::net::SocketAddr;

use serde_json::Value;

use crate::command::{Done, read_two_lines, run, serve};
use crate::pty::Terminal;

fn report(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|why| panic!("{why}: {done:?}"))
}

fn bots(protocol: &str, addr: SocketAddr, options: &[&str]) -> Done {
    let addr = addr.to_string();
    let arguments = ["bots", protocol, "--connect", &addr, "--json"];
    run(&[&arguments[..], options].concat())
}

#[test]
fn every_protocol_tells_how_often_it_hears_of_the_world() {
    for protocol in ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"] {
        let load = ["--in-process", "--count", "3", "--seconds", "3", "--json"];
        let done = run(&[&["bots", protocol], &load[..]].concat());
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
        let report = report(&done);
        let snapshots = &report["snapshots"];
        let rate = snapshots["a_second"].as_f64().unwrap();
        assert!(rate > 1.0, "{protocol}: {report}");
        let gaps = &snapshots["gap_ms"];
        let [p50, most] = ["p50", "max"].map(|name| gaps[name].as_f64().unwrap());
        assert!(p50 <= most, "{protocol}: {report}");
        let counted: u64 = gaps["histogram"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[1].as_u64().unwrap())
            .sum();
        assert!(counted > 0, "{protocol}: {report}");
        let metrics = &report["metrics"];
        for name in ["bytes_in_total", "snapshots_total", "refused_total"] {
            assert!(metrics[name].is_number(), "{protocol}, {name}: {report}");
        }
        assert!(
            metrics["round_trip_seconds"]["mean"].is_number(),
            "{report}"
        );
    }
}

#[test]
fn a_missed_threshold_is_named_and_ends_with_1() {
    let (_server, addr) = serve("lwar", &[]);
    let load = ["--count", "2", "--seconds", "2"];
    for (threshold, words) in [
        ("--max-gap=1ms", "the longest gap between snapshots was "),
        ("--max-p99=1us", "the round trip's p99 was "),
    ] {
        let done = bots("lwar", addr, &[&load[..], &[threshold]].concat());
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stderr.contains(words), "{done:?}");
        assert_eq!(report(&done)["failures"].as_array().unwrap().len(), 1);
    }
    let lax = ["--max-gap=60s", "--max-p99=60s"];
    let done = bots("lwar", addr, &[&load[..], &lax].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(report(&done)["failures"].as_array().unwrap().len(), 0);
}

#[test]
fn those_who_are_lost_are_counted_against_what_is_allowed() {
    // A server of lwar has eight places.
    let (_server, addr) = serve("lwar", &[]);
    let load = ["--count", "10", "--seconds", "4"];
    let done = bots("lwar", addr, &load);
    assert_eq!(done.code, Some(1), "{done:?}");
    let lost = report(&done)["lost"].as_u64().unwrap();
    assert!(lost >= 2, "{done:?}");
    assert!(
        done.stderr.contains("bots were lost, more than 0"),
        "{done:?}"
    );
    let done = bots("lwar", addr, &[&load[..], &["--max-lost", "10"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn bots_that_come_and_go_leave_no_trace_but_numbers() {
    for protocol in ["native", "lwar", "pixmess"] {
        let (_server, addr) = serve(protocol, &[]);
        let load = ["--count", "3", "--seconds", "6", "--pattern", "churn"];
        let done = bots(protocol, addr, &load);
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
        let report = report(&done);
        let left = report["left"].as_u64().unwrap();
        assert!(left >= 2, "{protocol}: {report}");
        assert!(report["connected"].as_u64().unwrap() >= left, "{report}");
    }
    let load = [
        "--count",
        "3",
        "--seconds",
        "5",
        "--pattern",
        "churn",
        "--json",
    ];
    let done = run(&[&["bots", "native", "--in-process"], &load[..]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn patterns_and_ramps_are_taken() {
    for (protocol, pattern) in [
        ("native", "idle"),
        ("reone", "roam"),
        ("pixmess", "roam"),
        ("cppevy", "idle"),
    ] {
        let load = ["--count", "3", "--seconds", "2", "--ramp", "1s", "--json"];
        let pattern = ["--in-process", "--pattern", pattern];
        let done = run(&[&["bots", protocol], &load[..], &pattern].concat());
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
        assert_eq!(report(&done)["connected"].as_u64(), Some(3), "{done:?}");
    }
    let done = run(&["bots", "lwar", "--pattern", "dance"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("churn"), "{done:?}");
}

#[test]
fn a_terminal_shows_a_bar_and_then_the_report() {
    let load = [
        "bots",
        "native",
        "--in-process",
        "--count",
        "2",
        "--seconds",
        "3",
    ];
    let mut terminal = Terminal::start(&load);
    terminal.wait_for_text("2 of 2 bots play");
    terminal.wait_for_text("▕████");
    terminal.wait_for_text("gaps between snapshots");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn a_reader_who_has_read_enough_is_no_failure() {
    let load = [
        "bots",
        "native",
        "--in-process",
        "--count",
        "1",
        "--seconds",
        "1",
    ];
    let done = read_two_lines(&load);
    assert_eq!(done.code, Some(0), "{done:?}");
}
