//! `--metrics`, from outside: what a scraper reads, and what becomes of whoever asks for something else.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::command::{run, serve, start};
use crate::pty::Terminal;

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
fn servers_export_what_the_table_says() {
    let mut arguments = vec!["serve", "all", "--bots", "6", "--metrics", "0"];
    let listen: Vec<_> = PROTOCOLS.map(|name| format!("{name}=127.0.0.1:0")).into();
    for place in &listen {
        arguments.extend(["--listen", place]);
    }
    let server = start(&arguments);
    let addr = address(&server.line_with("metrics at http://127.0.0.1:"));
    let text = check_documented(addr, &PROTOCOLS, &["both", "server"]);
    for line in [
        "# TYPE tickwire_step_seconds gauge",
        "tickwire_step_seconds{quantile=\"0.99\"} ",
        "tickwire_tick_rate_kept_ratio ",
        "tickwire_players{protocol=\"native\"} 1",
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

/// Which figures one side of a protocol exports, and which it does not, by `docs/METRICS.md`.
fn documented(protocol: &str, sides: &[&str]) -> (Vec<String>, Vec<String>) {
    let page = include_str!("../../../../docs/METRICS.md");
    let (_, table) = page.split_once("| name | native").expect("the table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let column = PROTOCOLS
        .iter()
        .position(|name| *name == protocol)
        .expect("a protocol");
    let (mut exported, mut missing) = (Vec::new(), Vec::new());
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let (name, cell) = (cells[1], cells[2 + column]);
        let sample = format!("tickwire_peer_{name}{{protocol=\"{protocol}\",");
        if sides.contains(&cell.trim_end_matches('*')) {
            exported.push(sample);
        } else if !cell.ends_with('*') {
            missing.push(sample);
        }
    }
    assert_eq!(
        exported.len() + missing.len(),
        rows_expected(protocol, sides)
    );
    (exported, missing)
}

/// Every figure has a row; of two, a server of pixmess may or may not have a value.
fn rows_expected(protocol: &str, sides: &[&str]) -> usize {
    let unknown = protocol == "pixmess" && sides.contains(&"server");
    tickwire_session::stats::METRICS.len() - if unknown { 2 } else { 0 }
}

#[track_caller]
fn check_documented(addr: SocketAddr, protocols: &[&str], sides: &[&str]) -> String {
    let tables: Vec<_> = protocols
        .iter()
        .map(|protocol| documented(protocol, sides))
        .collect();
    let mut exported = tables.iter().flat_map(|(exported, _)| exported);
    let text = metrics_when(addr, |text| {
        exported.clone().all(|sample| text.contains(sample))
    });
    assert!(exported.next().is_some());
    for sample in tables.iter().flat_map(|(_, missing)| missing) {
        assert!(!text.contains(sample), "{sample} is not in the table");
    }
    text
}

/// An address of its own, which nobody else takes a port of: a client says where its metrics are on standard error, or
/// on a screen that is gone a moment later.
fn own_address() -> SocketAddr {
    let free = TcpListener::bind("127.0.77.1:0").expect("loopback has more than one address");
    free.local_addr().expect("it is bound")
}

#[track_caller]
fn wait_until_open(addr: SocketAddr) {
    for _ in 0..600 {
        if TcpStream::connect(addr).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("nobody listens at {addr}");
}

#[test]
fn bots_export_what_the_table_says_and_nothing_of_a_server() {
    for protocol in PROTOCOLS {
        let addr = own_address();
        let load = ["bots", protocol, "--in-process", "--seconds", "600"];
        let _bots = start(&[&load[..], &["--metrics", &addr.to_string()]].concat());
        wait_until_open(addr);
        let text = check_documented(addr, &[protocol], &["both", "client"]);
        for name in ["step_seconds", "tick_rate", "entities", "network_total"] {
            assert!(!text.contains(name), "{name} is a server's: {text}");
        }
    }
}

#[test]
fn play_exports_what_the_table_says() {
    for protocol in PROTOCOLS {
        let (_server, server) = serve(protocol, &[]);
        let addr = own_address();
        let terminal = Terminal::play_with(protocol, server, &["--metrics", &addr.to_string()]);
        wait_until_open(addr);
        check_documented(addr, &[protocol], &["both", "client", "play"]);
        terminal.leave();
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
