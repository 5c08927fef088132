//! Server and bots as separate processes, on real sockets.

use std::net::UdpSocket;

use serde_json::Value;

use crate::command::{Done, read_two_lines, run, run_line, serve, start_line};
use crate::lag::lag;

fn bots(addr: &str, count: &str, seconds: &str) -> (Done, Value) {
    bots_of("lwar", addr, count, seconds)
}

fn bots_of(protocol: &str, addr: &str, count: &str, seconds: &str) -> (Done, Value) {
    let arguments = [
        "bots",
        protocol,
        "--connect",
        addr,
        "--count",
        count,
        "--seconds",
        seconds,
        "--json",
    ];
    let done = run(&arguments);
    let report = serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {done:?}"));
    (done, report)
}

#[test]
fn seven_bots_play_ten_seconds_and_none_is_lost() {
    let (_server, addr) = serve("lwar", &["--pilots", "3"]);
    let (done, report) = bots(&addr.to_string(), "7", "10");
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(
        (report["connected"].as_u64(), report["removed"].as_u64()),
        (Some(7), Some(0))
    );
    // Fifteen packets a second for ten seconds, less the time to get in.
    assert!(report["packets_in"].as_u64() > Some(7 * 100), "{report}");
    assert!(report["round_trip_ms"]["p99"].is_number(), "{report}");
}

#[test]
fn twenty_percent_loss_loses_nobody() {
    let (_server, addr) = serve("lwar", &["--pilots", "3"]);
    let (_proxy, lossy) = lag(addr, "loss=20%");
    let (done, report) = bots(&lossy.to_string(), "7", "10");
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(report["connected"].as_u64(), Some(7), "{report}");
}

#[test]
fn fifty_bots_of_cppevy_play_twenty_seconds_and_none_is_lost() {
    let (_server, addr) = serve("cppevy", &["--bots", "2"]);
    let (done, report) = bots_of("cppevy", &addr.to_string(), "50", "20");
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(report["connected"].as_u64(), Some(50), "{report}");
}

#[test]
fn fifty_bots_of_opendrakan_play_ten_seconds_and_none_is_lost() {
    let (_server, addr) = serve("opendrakan", &["--bots", "2"]);
    let (done, report) = bots_of("opendrakan", &addr.to_string(), "50", "10");
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(
        (report["connected"].as_u64(), report["removed"].as_u64()),
        (Some(50), Some(0)),
        "{report}"
    );
}

#[test]
fn bots_in_the_servers_process_need_no_network() {
    for protocol in ["lwar", "cppevy", "reone"] {
        let done = run_line(&format!(
            "bots {protocol} --in-process --count 5 --seconds 2"
        ));
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stdout.contains("5 connected"), "{done:?}");
    }
}

#[test]
fn the_eighth_is_refused_and_that_is_a_failure() {
    let (_server, addr) = serve("lwar", &[]);
    let (done, report) = bots(&addr.to_string(), "8", "2");
    assert_eq!(done.code, Some(1));
    assert_eq!(
        (report["connected"].as_u64(), report["refused"].as_u64()),
        (Some(7), Some(1))
    );
}

#[test]
fn nobody_there_is_said_and_a_failure() {
    // Bound and closed again, so that nobody listens there.
    let addr = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (done, report) = bots(&addr.to_string(), "2", "1");
    assert_eq!(done.code, Some(1));
    assert_eq!(report["connected"].as_u64(), Some(0), "{report}");
}

#[test]
fn a_taken_port_is_said_with_what_to_do() {
    let (_server, addr) = serve("lwar", &[]);
    let done = run(&["serve", "lwar", "--listen", &addr.to_string()]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("already in use"), "{done:?}");
    assert!(done.stderr.contains("another port"), "{done:?}");
    assert!(!done.stdout.contains("ready"), "{done:?}");
}

#[test]
fn sigterm_tells_every_player_and_ends_with_success() {
    let (server, addr) = serve("lwar", &["--pilots", "1"]);
    let players = start_line(&format!(
        "bots lwar --connect {addr} --count 5 --seconds 600 --json"
    ));
    // In whatever order their handshakes end.
    for _ in 0..5 {
        server.line_with(" joined");
    }
    server.terminate();
    assert_eq!(server.wait().code, Some(0));
    // They were told, or they would go on for the 15 seconds after which silence counts.
    let done = players.wait();
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (done.code, report["removed"].as_u64()),
        (Some(1), Some(5)),
        "{report}"
    );
    assert_eq!(report["timed_out"].as_u64(), Some(0), "{report}");
}

#[test]
fn a_server_with_a_time_ends_by_itself() {
    let done = run_line("serve lwar --listen 127.0.0.1:0 --bots 2 --seconds 2");
    assert_eq!(done.code, Some(0));
    let mut lines = done.stdout.lines();
    assert!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("ready lwar 127.0.0.1:")),
        "{done:?}"
    );
    assert!(lines.any(|line| line.contains("steps")), "{done:?}");
}

#[test]
fn without_a_subcommand_ports_bots_and_protocols_can_be_chosen() {
    let done = run_line(
        "cppevy reone --listen cppevy=127.0.0.1:0 --listen reone=127.0.0.1:0 --bots 4 --seconds 3",
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    let (ready, rest) = done
        .stdout
        .split_at(done.stdout.rfind("ready").expect("two of them"));
    let ready: Vec<_> = ready.lines().chain(rest.lines().take(1)).collect();
    for (line, protocol) in ready.iter().zip(["cppevy", "reone"]) {
        let addr = line.strip_prefix(&format!("ready {protocol} 127.0.0.1:"));
        let port: u16 = addr.and_then(|port| port.parse().ok()).expect(line);
        assert!(![27_600, 2_003].contains(&port), "{line}");
    }
    assert_eq!(ready.len(), 2, "{done:?}");
    assert!(rest.contains("2 cppevy, 2 reone"), "{done:?}");
}

#[test]
fn a_reader_that_goes_away_ends_the_server() {
    let done = read_two_lines(&["--listen", "127.0.0.1:0"]);
    assert!(done.stdout.starts_with("ready native"), "{done:?}");
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn a_recording_of_either_side_can_be_inspected() {
    let folder = tempfile::tempdir().unwrap();
    for protocol in ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"] {
        let file = |side: &str| {
            let path = folder.path().join(format!("{protocol}-{side}"));
            path.to_str().unwrap().to_owned()
        };
        let (of_server, of_bot) = (file("server"), file("bot"));
        let (server, addr) = serve(protocol, &["--record", &of_server]);
        let addr = addr.to_string();
        let done = run_line(&format!(
            "bots {protocol} --connect {addr} --count 2 --seconds 2 --record {of_bot} --json"
        ));
        assert_eq!(done.code, Some(0), "{done:?}");
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let counters = report["counters"].as_object().expect("counters by name");
        assert!(!counters.is_empty(), "{report}");
        server.terminate();
        assert_eq!(server.wait().code, Some(0));
        for (file, from) in [(&of_server, "client"), (&of_bot, "server")] {
            // It knows what it is; whoever says it is believed no less.
            let silent = run(&["inspect", file]);
            assert_eq!(silent.code, Some(0), "{file}: {}", silent.stderr);
            let shown = run(&["inspect", protocol, "--from", from, file]);
            assert_eq!(silent.stdout, shown.stdout);
            assert_eq!(shown.code, Some(0), "{file}: {}", shown.stderr);
            assert!(shown.stdout.lines().count() > 20, "{}", shown.stdout);
        }
    }
}

#[test]
fn what_was_refused_is_counted_by_name() {
    let (server, addr) = serve("lwar", &["--json"]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"not lwar at all", addr).unwrap();
    socket
        .send_to(&[0xf2, 0x70, 0x87, 0xc5, 0, 0, 0], addr)
        .unwrap();
    // A header, and a message id that does not exist.
    socket
        .send_to(&[0xf2, 0x70, 0x87, 0xc5, 0, 0, 0, 0, 0, 0, 0, 0, 200], addr)
        .unwrap();
    loop {
        let line = server.line_with("counters");
        let line: Value = serde_json::from_str(&line).unwrap();
        let counters = &line["protocols"]["lwar"]["counters"];
        let count = |name: &str| counters[name].as_u64();
        if count("unknown_message") == Some(1) {
            assert_eq!(count("wrong_app_id"), Some(1), "{counters}");
            assert_eq!(count("short_header"), Some(1), "{counters}");
            return;
        }
    }
}

#[test]
fn nonsense_on_the_command_line_ends_with_two() {
    for arguments in [
        &["serve", "quake"][..],
        &["bots", "lwar", "--count", "0"],
        &["dance"],
        &["serve", "all", "--listen", "127.0.0.1:9"],
        &["serve", "lwar", "cppevy", "--listen", "127.0.0.1:9"],
        &["serve", "lwar", "--listen", "cppevy=127.0.0.1"],
        &["--listen", "127.0.0.1:9"],
        &["--bots", "2", "serve", "lwar"],
        &["bots", "lwar", "--difficulty", "impossible"],
        &["serve", "lwar", "--listen", "127.0.0.1:port"],
        &["serve", "lwar", "--world", "nowhere", "--seconds", "1"],
        &["serve", "lwar", "--huffman", "--seconds", "1"],
        &["cppevy", "opendrakan", "--round", "5", "--seconds", "1"],
        &["serve", "reone", "--tick-rate", "25", "--seconds", "1"],
        &["serve", "reone", "--tick-rate", "0", "--seconds", "1"],
        &["serve", "lwar", "--ships", "2", "--seconds", "1"],
        &["serve", "lwar", "--module", "mine", "--seconds", "1"],
    ] {
        let done = run(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
    }
    assert!(
        run(&["serve", "quake"])
            .stderr
            .contains("possible values: native, lwar")
    );
    let refused = run(&["serve", "lwar", "--round", "5"]).stderr;
    assert!(
        refused.contains("--round is an option of reone"),
        "{refused}"
    );
}
