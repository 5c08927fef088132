//! The README's programs, run as processes: a dot moves on another player's screen; an lwar client gets its
//! ship, and the ship turns.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tickwire::Events;
use tickwire::lwar::{Client, ClientConfig, ClientEvent, Kind, Selection};
use tickwire::net::Driver;

/// Longest wait for the server, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const PROGRAM: &str = include_str!("../examples/hello.rs");

#[test]
fn the_program_in_the_readme_is_the_one_that_is_run() {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once("```rust,no_run\n").expect("a program");
    let (printed, _) = rest.split_once("```").expect("its end");
    let (_, run) = PROGRAM.split_once("\n\n").expect("a comment and a program");
    assert_eq!(printed, run);
}

#[test]
fn a_dot_moves_on_another_players_screen() {
    let addr = free_address().to_string();
    let _server = Process::start("hello", &["serve", &addr]);
    let mut first = Process::start("hello", &[&addr]);
    let mut second = Process::start("hello", &[&addr]);
    for player in [&mut first, &mut second] {
        // Two dots, both of which moved.
        let line = player.line_with(|line| {
            let numbers = line.split(|c: char| "[], ".contains(c));
            let moved = numbers.filter(|it| it.parse::<f32>().is_ok_and(|x| x > 1.0));
            moved.count() == 2
        });
        assert!(line.is_some(), "no line with two dots that moved");
    }
}

#[test]
fn the_smallest_server_gives_a_ship_that_turns() {
    let addr = free_address();
    let _server = Process::start("smallest_server", &[&addr.to_string()]);
    let mut driver = Driver::new().expect("a driver");
    driver.open();
    let config = ClientConfig {
        server: addr.into(),
        name: "Ada".into(),
    };
    let mut client = Client::new(driver.now(), config);
    let deadline = driver.now() + PATIENCE;
    let mut headings = BTreeSet::new();
    while headings.len() < 10 {
        let now = driver.now();
        assert!(
            now < deadline,
            "{:?}, headings {headings:?}",
            client.phase()
        );
        let ran = driver.run_until(now + Duration::from_millis(16), &mut [&mut client]);
        ran.expect("sockets can be waited for");
        while let Some(event) = client.poll_event() {
            if event == ClientEvent::NotSelected {
                let selection = Selection {
                    ship: Kind::SHIP,
                    weapons: [Kind::NONE; 4],
                };
                client.select(selection).expect("there is room for it");
            }
        }
        let own = client.player();
        let ships = client.entities().map(|(_, entity)| entity);
        let own = ships.filter(|ship| ship.kind == Kind::SHIP && Some(ship.owner) == own);
        let shown = own.filter_map(|ship| client.shown(driver.now(), ship));
        headings.extend(shown.map(|ship| ship.orientation.to_bits()));
    }
}

/// An example as a process; it ends with its owner.
struct Process(Child);

impl Process {
    fn start(example: &str, words: &[&str]) -> Self {
        let mut process = Command::new(program(example));
        process.args(words).stdout(Stdio::piped());
        Self(process.spawn().expect("it starts"))
    }

    /// The first line of its output for which `is_it` holds; nothing if its output ends, or in time.
    fn line_with(&mut self, is_it: impl Fn(&str) -> bool) -> Option<String> {
        let output = self.0.stdout.take().expect("its output is read once");
        let deadline = Instant::now() + PATIENCE;
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let mut lines = lines.take_while(|_| Instant::now() < deadline);
        lines.find(|line| is_it(line))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Where the example is: `cargo test` builds it beside the tests, unless it was told to build only some.
fn program(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let built = test.parent().and_then(|deps| deps.parent());
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    let program = built.expect("a target folder").join("examples").join(name);
    if !program.is_file() {
        let cargo = Command::new(env!("CARGO"))
            .args(["build", "--package", "tickwire", "--example", example])
            .status();
        assert!(cargo.expect("cargo is there").success());
    }
    program
}

/// Bound and closed again, so that it is free.
fn free_address() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("it is bound")
}
