//! Rendezvous server, host and joiner as three commands, on loopback.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not what they call"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tickwire_demo::gateway::PROTOCOLS;
use tickwire_rendezvous::stun;

use crate::command::{Running, start_in, start_logged};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// The rendezvous server and a host of everything.
struct Meeting {
    folder: TempDir,
    server: Running,
    at: SocketAddr,
    host: Running,
    code: String,
}

impl Meeting {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (server, at) = rendezvous(folder.path(), "127.0.0.1:0");
        let host = start_in(
            folder.path(),
            &["serve", "all", "--rendezvous", &at.to_string()],
        );
        let code = code(&host);
        Self {
            folder,
            server,
            at,
            host,
            code,
        }
    }

    /// Has a bot join, by this rendezvous server; what it says is in a file of its own.
    fn join(&self, protocol: &str, options: &[&str]) -> Joiner {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        let at = self.at.to_string();
        let mut arguments = vec!["bots", protocol, "--count", "1"];
        if !options.contains(&"--rendezvous") {
            arguments.extend(["--rendezvous", &at]);
        }
        arguments.extend(["--join", &self.code]);
        arguments.extend(options);
        let running = start_logged(folder.path(), &arguments);
        Joiner { folder, running }
    }
}

struct Joiner {
    folder: TempDir,
    running: Running,
}

impl Joiner {
    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap()
    }

    #[track_caller]
    fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.said().contains(text) {
            assert!(
                Instant::now() < deadline,
                "no {text:?} in {:?}",
                self.said()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Plays to the end; it has to be a good one.
    #[track_caller]
    fn finish(self) {
        let said = self.said();
        let done = self.running.wait();
        assert_eq!(done.code, Some(0), "{done:?} {said}");
        assert!(done.stdout.contains("1 connected"), "{done:?} {said}");
    }
}

fn rendezvous(folder: &Path, at: &str) -> (Running, SocketAddr) {
    let server = start_in(
        folder,
        &[
            "rendezvous",
            "--listen",
            at,
            "--identity",
            "key",
            "--relay-ports",
            "20000-60000",
        ],
    );
    let ready = server.line_with("ready rendezvous");
    let at = ready.split(' ').nth(2).unwrap().parse().unwrap();
    (server, at)
}

fn code(host: &Running) -> String {
    let line = host.line_with("--join ");
    line.rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn every_protocol_is_joined_by_code_directly_and_relayed() {
    let meeting = Meeting::new();
    for (options, path) in [
        (&["--seconds", "2"][..], "the path is public"),
        (&["--seconds", "2", "--relay-only"], "the path is relayed"),
    ] {
        let joiners = PROTOCOLS
            .iter()
            .map(|protocol| meeting.join(protocol.name, options));
        for joiner in joiners.collect::<Vec<_>>() {
            joiner.wait_for(path);
            joiner.finish();
        }
    }
}

#[test]
fn a_killed_rendezvous_server_ends_relayed_games_only_and_the_code_stays() {
    let mut meeting = Meeting::new();
    let direct = meeting.join("native", &["--seconds", "25"]);
    let relayed = meeting.join("native", &["--seconds", "600", "--relay-only"]);
    direct.wait_for("the path is public");
    relayed.wait_for("the path is relayed");
    direct.wait_for("1 of 1 bots play");
    relayed.wait_for("1 of 1 bots play");
    meeting.server.signal("KILL");
    relayed.wait_for("the path is lost; join again with the same code");
    // It is started again, with the key that it had; the host comes back by itself and keeps its code.
    let (server, at) = rendezvous(meeting.folder.path(), &meeting.at.to_string());
    assert_eq!(at, meeting.at);
    meeting.server = server;
    assert_eq!(code(&meeting.host), meeting.code);
    let again = meeting.join("native", &["--seconds", "1", "--relay-only"]);
    again.wait_for("the path is relayed");
    again.finish();
    assert!(!direct.said().contains("the path is lost"));
    direct.finish();
}

#[test]
fn a_network_that_lets_only_tcp_out_is_relayed_over_tcp() {
    let meeting = Meeting::new();
    let only_tcp = forward_tcp(meeting.at).to_string();
    let options = ["--seconds", "2", "--relay-only", "--rendezvous", &only_tcp];
    let joiner = meeting.join("native", &options);
    joiner.wait_for("going over TCP");
    joiner.wait_for("the path is relayed");
    joiner.finish();
}

/// A port where nothing answers by UDP, and whose streams lead to another.
fn forward_tcp(to: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let far = TcpStream::connect(to).unwrap();
            let ways = [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ];
            for (mut from, mut to) in ways {
                thread::spawn(move || {
                    let mut bytes = [0; 4_096];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        if to.write_all(&bytes[..count]).is_err() {
                            break;
                        }
                    }
                    to.shutdown(Shutdown::Both).ok();
                });
            }
        }
    });
    at
}

/// coturn's client asks our server, and our client asks coturn's server, where both are installed.
#[test]
fn stun_is_understood_by_coturn_and_understands_it() {
    let has = |program: &str| Command::new(program).arg("-h").output().is_ok();
    if !has("turnutils_stunclient") || !has("turnserver") {
        eprintln!("skipped: coturn is not installed (apt-get install coturn)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_server, at) = rendezvous(folder.path(), "127.0.0.1:0");
    let port = at.port().to_string();
    let asked = Command::new("turnutils_stunclient")
        .args(["-p", &port, "127.0.0.1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stdout);
    assert!(said.contains("UDP reflexive addr: 127.0.0.1:"), "{asked:?}");

    let port = UdpSocket::bind("127.0.0.1:0").unwrap();
    let other = port.local_addr().unwrap();
    drop(port);
    let mut turnserver = Command::new("turnserver")
        .args(["-n", "--stun-only", "--no-cli", "--no-tls", "--no-dtls"])
        .args(["-L", "127.0.0.1", "-p", &other.port().to_string()])
        .args(["--pidfile", "turnserver.pid", "--log-file", "stdout"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let pause = Duration::from_millis(100);
    socket.set_read_timeout(Some(pause)).unwrap();
    let mut question = Vec::new();
    stun::write_request(&[7; 12], &mut question);
    let deadline = Instant::now() + PATIENCE;
    let mut answer = [0; 1_500];
    // It takes a moment to start.
    let length = loop {
        socket.send_to(&question, other).unwrap();
        match socket.recv(&mut answer) {
            Ok(length) => break length,
            Err(_) => thread::sleep(pause),
        }
        assert!(Instant::now() < deadline, "coturn does not answer");
    };
    turnserver.kill().unwrap();
    turnserver.wait().unwrap();
    let answer = stun::Message::decode(&answer[..length]).unwrap();
    assert_eq!(answer.class, stun::Class::Success);
    assert_eq!(answer.transaction, [7; 12]);
    assert_eq!(answer.mapped, Some(socket.local_addr().unwrap()));
}
