//! The README's program, run as a process: a real client gets its ship, and the ship turns.

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use tickwire::Events;
use tickwire::lwar::{Client, ClientConfig, ClientEvent, Kind, Selection};
use tickwire::net::Driver;

/// Longest wait for the server, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const PROGRAM: &str = include_str!("../examples/smallest_server.rs");

#[test]
fn the_program_in_the_readme_is_the_one_that_is_run() {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once("```rust,no_run\n").expect("a program");
    let (printed, _) = rest.split_once("```").expect("its end");
    let (_, run) = PROGRAM.split_once("\n\n").expect("a comment and a program");
    assert_eq!(printed, run);
}

#[test]
fn the_smallest_server_gives_a_ship_that_turns() {
    let addr = free_address();
    let _server = Server::start(addr);
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

/// The example as a process; it ends with its owner.
struct Server(Child);

impl Server {
    fn start(addr: SocketAddr) -> Self {
        let mut server = Command::new(program());
        Self(server.arg(addr.to_string()).spawn().expect("it starts"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Where the example is: `cargo test` builds it beside the tests, unless it was told to build only some.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let built = test.parent().and_then(|deps| deps.parent());
    let name = format!("smallest_server{}", std::env::consts::EXE_SUFFIX);
    let program = built.expect("a target folder").join("examples").join(name);
    if !program.is_file() {
        let cargo = Command::new(env!("CARGO"))
            .args([
                "build",
                "--package",
                "tickwire",
                "--example",
                "smallest_server",
            ])
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
