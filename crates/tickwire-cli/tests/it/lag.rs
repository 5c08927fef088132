//! `tickwire lag`, from outside: what it loses, delays and keeps, and what a tester sees and types.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{Running, read_two_lines, run, serve, start, start_typing};
use crate::pty::Terminal;

/// A bad network in front of `to`, and where clients find it.
pub(crate) fn lag(to: SocketAddr, words: &str) -> (Running, SocketAddr) {
    let to = to.to_string();
    let listen = "127.0.0.1:0";
    let proxy = start(&["lag", "--listen", listen, "--to", &to, "--lag", words]);
    let addr = ready(&proxy);
    (proxy, addr)
}

fn ready(proxy: &Running) -> SocketAddr {
    let ready = proxy.line_with("ready lag");
    let addr = ready.split(' ').nth(2).and_then(|word| word.parse().ok());
    addr.unwrap_or_else(|| panic!("no address in {ready:?}"))
}

/// A socket on which nothing is waited for longer than a test may last.
fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
    let patience = Duration::from_secs(60);
    socket
        .set_read_timeout(Some(patience))
        .expect("loopback works");
    socket
}

/// Collects the numbers that arrive, answers every question, and ends with `count` of them or the last question.
fn collect(server: &UdpSocket, count: usize) -> Vec<u32> {
    let mut numbers = Vec::new();
    let mut buffer = [0; 64];
    while numbers.len() < count {
        let (length, from) = server.recv_from(&mut buffer).expect("loopback works");
        match <[u8; 4]>::try_from(&buffer[..length]) {
            Ok(number) => numbers.push(u32::from_le_bytes(number)),
            Err(_) => {
                server
                    .send_to(&buffer[..length], from)
                    .expect("loopback works");
                if &buffer[..length] == LAST_QUESTION {
                    break;
                }
            }
        }
    }
    numbers
}

const LAST_QUESTION: &[u8] = b"were these all?";

/// Asks until there is an answer: what was sent before has arrived, or never will.
fn ask(client: &UdpSocket, question: &[u8]) {
    let mut buffer = [0; 64];
    loop {
        client.send(question).expect("loopback works");
        while let Ok(length) = client.recv(&mut buffer) {
            if &buffer[..length] == question {
                return;
            }
        }
    }
}

/// Sends so many numbers through a network, and returns those that arrive, `expected` at most.
fn send_through(words: &str, count: u32, expected: usize) -> Vec<u32> {
    let (server, client) = (socket(), socket());
    let (_proxy, addr) = lag(server.local_addr().expect("loopback works"), words);
    client.connect(addr).expect("loopback works");
    client
        .set_read_timeout(Some(Duration::from_millis(50)))
        .expect("loopback works");
    let server = thread::spawn(move || collect(&server, expected));
    for number in 0..count {
        client.send(&number.to_le_bytes()).expect("loopback works");
        // No more than a small receive buffer takes.
        if number % 50 == 49 && number + 1 < count {
            ask(&client, format!("question {number}").as_bytes());
        }
    }
    if expected == usize::MAX {
        ask(&client, LAST_QUESTION);
    }
    server.join().expect("it collects to the end")
}

#[test]
fn as_many_are_lost_as_was_asked() {
    let arrived = send_through("up.loss=20%", 1_000, usize::MAX);
    // Four standard deviations of a binomial distribution.
    assert!((750..=850).contains(&arrived.len()), "{}", arrived.len());
    assert!(arrived.is_sorted(), "loss alone reorders nothing");
}

#[test]
fn copies_and_overtaking_are_as_asked() {
    let mut arrived = send_through("up.duplicate=100%", 200, 400);
    arrived.sort_unstable();
    arrived.dedup();
    assert_eq!(arrived.len(), 200);
    let mut arrived = send_through("up.reorder=30%", 500, 500);
    assert!(!arrived.is_sorted());
    arrived.sort_unstable();
    assert!(arrived.into_iter().eq(0..500));
}

#[test]
fn nothing_arrives_before_its_delay() {
    let (server, client) = (socket(), socket());
    let (_proxy, addr) = lag(
        server.local_addr().unwrap(),
        "up.delay=80ms,down.delay=40ms",
    );
    client.connect(addr).unwrap();
    for _ in 0..3 {
        let sent = Instant::now();
        client.send(b"?").unwrap();
        let mut buffer = [0; 8];
        let (_, from) = server.recv_from(&mut buffer).unwrap();
        assert!(sent.elapsed() >= Duration::from_millis(80));
        server.send_to(b"!", from).unwrap();
        client.recv(&mut buffer).unwrap();
        assert!(sent.elapsed() >= Duration::from_millis(120));
    }
}

#[test]
fn streams_keep_every_byte_and_their_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = Vec::new();
        stream.read_to_end(&mut question).unwrap();
        question
    });
    // Narrow enough that what is sent waits, and wide enough for a test.
    let (_proxy, addr) = lag(target, "delay=5ms,loss=3%,rate=40mbit");
    let sent: Vec<u8> = (0..1_500_000_u32).map(|n| (n % 251) as u8).collect();
    let mut client = TcpStream::connect(addr).unwrap();
    client.write_all(&sent).unwrap();
    drop(client);
    assert!(server.join().unwrap() == sent, "bytes were lost or changed");
}

#[test]
fn a_server_that_is_not_there_yet_is_found_later() {
    let later = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = later.local_addr().unwrap();
    drop(later);
    let (_proxy, addr) = lag(target, "off");
    let mut early = TcpStream::connect(addr).unwrap();
    assert!(matches!(early.read(&mut [0]), Ok(0) | Err(_)), "it is cut");

    let listener = TcpListener::bind(target).unwrap();
    let mut client = TcpStream::connect(addr).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    server.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
}

#[test]
fn bots_of_every_kind_of_path_play_through_it() {
    for protocol in ["lwar", "pixmess", "reone"] {
        let (_server, target) = serve(protocol, &[]);
        let (_proxy, addr) = lag(target, "wifi");
        let addr = addr.to_string();
        let bots = [
            "bots",
            protocol,
            "--connect",
            &addr,
            "--count",
            "4",
            "--seconds",
            "3",
        ];
        let done = run(&bots);
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
    }
}

#[test]
fn lines_change_the_network_and_mistakes_do_not() {
    let (proxy, mut keyboard) = start_typing(&[
        "lag",
        "--listen",
        "127.0.0.1:0",
        "--to",
        "127.0.0.1:9",
        "--delay",
        "75ms",
    ]);
    assert!(
        proxy
            .line_with("ready lag")
            .ends_with("to 127.0.0.1:9: delay=75ms")
    );
    writeln!(keyboard, "up.loss=5% rate=1mbit").unwrap();
    proxy.line_with("network up: delay=75ms,loss=5%,rate=1000kbit,queue=30k; down: ");
    writeln!(keyboard, "los=5%").unwrap();
    proxy.line_with("unchanged: \"los=5%\" is no condition: write lan, wifi");
    // The end of its input is no reason to end.
    drop(keyboard);
    proxy.terminate();
    let done = proxy.wait();
    assert_eq!(done.code, Some(0));
    assert!(
        done.stdout.contains("carried 0 of 0 datagrams up"),
        "{done:?}"
    );
}

#[test]
fn a_reader_who_goes_ends_it() {
    let done = read_two_lines(&["lag", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("ready lag"));
}

#[test]
fn what_makes_no_sense_is_refused_with_an_example() {
    for (words, hint) in [
        ("--lag=moon", "bad-hotel"),
        ("--delay=5", "80ms"),
        ("--loss=200%", "5%"),
    ] {
        let done = run(&[
            "lag",
            "--listen",
            "127.0.0.1:0",
            "--to",
            "127.0.0.1:9",
            words,
        ]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(hint), "{done:?}");
    }
}

#[test]
fn keys_change_what_the_panel_shows() {
    let mut terminal = Terminal::start(&["lag", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
    terminal.wait_for_text("up: clients to server");
    assert!(terminal.is_alternate());
    terminal.press("\x1b[A\x1b[A\x1b[C");
    terminal.wait_for_text("delay=20ms  loss=1%");
    terminal.press("2");
    terminal.wait_for_text("clump=40ms");
    terminal.press("x");
    terminal.wait_for_text("nothing passes until x");
    terminal.press("x");
    terminal.wait_for_text("clump=40ms");
    for (columns, rows) in [(20, 5), (1, 1), (200, 60), (80, 24)] {
        terminal.resize(columns, rows);
    }
    terminal.wait_for_text("q end");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    terminal.wait_for_text("carried 0 of 0 datagrams up");
}

/// The round trip that bots report, in milliseconds.
fn round_trip(bots: &[&str]) -> f64 {
    let done = run(bots);
    assert_eq!(done.code, Some(0), "{done:?}");
    let report: serde_json::Value = serde_json::from_str(&done.stdout).expect("it is JSON");
    let p50 = &report["round_trip_ms"]["p50"];
    p50.as_f64()
        .unwrap_or_else(|| panic!("no round trip in {report}"))
}

#[test]
fn clients_of_every_protocol_feel_a_network_without_a_proxy() {
    for protocol in ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"] {
        let bots = ["bots", protocol, "--in-process", "--json"];
        let load = ["--count", "2", "--seconds", "3", "--delay", "40ms"];
        let measured = round_trip(&[&bots[..], &load].concat());
        let least = match protocol {
            // To a tick.
            "native" => 63.0,
            // To half of the 50 ms between two snapshots, of which one answers.
            "opendrakan" => 55.0,
            _ => 80.0,
        };
        assert!(measured >= least, "{protocol}: {measured} ms");
    }
}

#[test]
fn a_server_puts_its_clients_on_a_network() {
    let (server, addr) = serve("lwar", &["--delay", "40ms"]);
    server.line_with("every client is on this network: delay=40ms");
    let addr = addr.to_string();
    let bots = ["bots", "lwar", "--json", "--connect", &addr];
    let measured = round_trip(&[&bots[..], &["--count", "2", "--seconds", "3"]].concat());
    assert!(measured >= 80.0, "{measured} ms");
}

#[test]
fn a_player_sees_which_network_was_asked_for() {
    let (_server, addr) = serve("lwar", &[]);
    let addr = addr.to_string();
    let mut terminal = Terminal::start(&["play", "lwar", "--connect", &addr, "--lag", "wifi"]);
    terminal.wait_for_text("(wifi)");
    terminal.wait_for_text("strafe");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
}
