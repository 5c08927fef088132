//! `--metrics`, from outside: what a scraper reads, and what becomes of whoever asks for something else.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::command::{run, start};

/// What a server of metrics answers.
fn ask(addr: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).expect("it listens");
    stream.write_all(request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

fn metrics(addr: SocketAddr) -> String {
    let answer = ask(addr, b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    body.into()
}

/// Asks until there is what is waited for: reports come once a second.
#[track_caller]
fn metrics_when(addr: SocketAddr, is_there: impl Fn(&str) -> bool) -> String {
    for _ in 0..600 {
        let text = metrics(addr);
        if is_there(&text) {
            return text;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never came: {}", metrics(addr));
}

fn address(line: &str) -> SocketAddr {
    let addr = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next());
    addr.and_then(|addr| addr.parse().ok())
        .unwrap_or_else(|| panic!("no address in {line:?}"))
}

const PROTOCOLS: [&str; 6] = ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"];

#[test]
fn every_protocol_is_measured_under_the_same_names() {
    let mut arguments = vec!["serve", "all", "--bots", "6", "--metrics", "0"];
    let listen: Vec<_> = PROTOCOLS.map(|name| format!("{name}=127.0.0.1:0")).into();
    for place in &listen {
        arguments.extend(["--listen", place]);
    }
    let server = start(&arguments);
    let addr = address(&server.line_with("metrics at http://127.0.0.1:"));
    let sample = |name: &str, protocol: &str| format!("tickwire_{name}{{protocol=\"{protocol}\",");
    let names = [
        "peer_snapshot_age_seconds",
        "peer_snapshots_total",
        "peer_bytes_in_total",
        "peer_packets_out_total",
        "peer_resent_total",
        "events_total",
    ];
    let text = metrics_when(addr, |text| {
        let mut samples = PROTOCOLS
            .iter()
            .flat_map(|protocol| names.iter().map(move |name| sample(name, protocol)));
        samples.all(|sample| text.contains(&sample))
    });
    for line in [
        "# TYPE tickwire_step_seconds gauge",
        "tickwire_step_seconds{quantile=\"0.99\"} ",
        "tickwire_tick_rate_kept_ratio ",
        "tickwire_players{protocol=\"native\"} 1",
        // Of the other servers one never asks for an answer, and another once in a while.
        "tickwire_peer_round_trip_seconds{protocol=\"native\",",
        "tickwire_peer_round_trip_seconds{protocol=\"reone\",",
        "tickwire_peer_choke_ratio{protocol=\"opendrakan\",",
        "tickwire_peer_queued_bytes{protocol=\"pixmess\",",
        "# TYPE tickwire_peer_bytes_in_total counter",
        "tickwire_events_total{protocol=\"lwar\",event=\"truncated\"} 0",
        "tickwire_network_total{event=\"datagrams_received\"} ",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    // A family is told once, or a scraper refuses the page.
    let mut families: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("# TYPE"))
        .collect();
    let count = families.len();
    families.sort_unstable();
    families.dedup();
    assert_eq!(families.len(), count);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn bad_requests_are_answered_and_closed_and_the_next_one_is_served() {
    let server = start(&["serve", "lwar", "--listen", "127.0.0.1:0", "--metrics", "0"]);
    let addr = address(&server.line_with("metrics at http://"));
    let long = [b"GET /metrics HTTP/1.1\r\n".as_slice(), &[b'x'; 5_000]].concat();
    for (request, status) in [
        (b"GET / HTTP/1.1\r\n\r\n".as_slice(), "404"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
        (b"\x16\x03\x01\x02 what?\r\n\r\n", "400"),
        (&long, "400"),
    ] {
        let answer = ask(addr, request);
        let expected = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&expected), "{answer}");
    }
    // One who says nothing holds up the next for a second at most, and the game not at all.
    let _silent = TcpStream::connect(addr).unwrap();
    assert!(metrics(addr).contains("tickwire_tick_rate_kept_ratio"));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let done = run(&[
        "serve",
        "lwar",
        "--listen",
        "127.0.0.1:0",
        "--metrics",
        &addr,
    ]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stderr
            .contains(&format!("cannot serve metrics at {addr}")),
        "{done:?}"
    );
    let done = run(&["serve", "lwar", "--metrics", "everywhere"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("9464"), "{done:?}");
}
