//! Every protocol over QUIC: one server, one port, one client of each, on loopback.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not what they call"
)]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tickwire_demo::gateway::{ClientGateway, Connect, PROTOCOLS, Settings, Status};
use tickwire_demo::tiles::Look;
use tickwire_demo::{GameServer, Loadout, STEP};
use tickwire_net::quic::{Client, Identity, Server, Trust};
use tickwire_net::{Driver, NodeId};
use tickwire_session::{Addr, Session};

use crate::command::{Done, Running, run, start, start_logged};
use crate::lag::lag;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of everything and its clients, all in one driver; only packets are between them.
struct Table {
    driver: Driver,
    host: GameServer,
    players: Vec<Player>,
}

struct Player {
    protocol: &'static str,
    server: Addr,
    gateway: Box<dyn ClientGateway>,
}

impl Table {
    fn new() -> Self {
        let mut driver = Driver::new().unwrap();
        let mut host = GameServer::new(1, 2);
        let identity = Identity::generate().unwrap();
        let trust = Trust::Pinned(identity.fingerprint());
        let mut server = Server::new(identity);
        for protocol in PROTOCOLS {
            server = server.protocol(protocol.name, driver.open());
            host.serve(protocol, driver.now(), [7; 32], &Settings::default());
        }
        let listener = driver.listen((Ipv4Addr::LOCALHOST, 0).into(), server);
        let to = driver.listener_addr(listener.unwrap()).unwrap();
        let mut table = Self {
            driver,
            host,
            players: Vec::new(),
        };
        for protocol in PROTOCOLS {
            let node = table.driver.open();
            table.join(
                node,
                &protocol.connect,
                Client {
                    to,
                    name: "localhost".into(),
                    protocol: protocol.name.into(),
                    trust: trust.clone(),
                    ticket: Vec::new(),
                },
            );
            table.players.last_mut().unwrap().protocol = protocol.name;
        }
        table
    }

    fn join(&mut self, node: NodeId, connect: &Connect, client: Client) {
        let server = self.driver.connect(node, client).unwrap();
        let now = self.driver.now();
        let gateway: Box<dyn ClientGateway> = match connect {
            Connect::Arena(connect) => connect(now, server, "pilot", Loadout::STANDARD),
            Connect::Tiles(connect) => connect(now, server, "walker", LOOK).unwrap(),
        };
        self.players.push(Player {
            protocol: "",
            server,
            gateway,
        });
    }

    /// Plays one step.
    fn step(&mut self) {
        let mut notices = Vec::new();
        let mut sessions: Vec<&mut dyn Session> = self.host.sessions();
        let clients = self.players.iter_mut();
        sessions.extend(clients.map(|player| player.gateway.session()));
        let until = self.driver.now() + STEP;
        self.driver.run_until(until, &mut sessions).unwrap();
        let now = self.driver.now();
        self.host.step(now, &mut notices);
        for player in &mut self.players {
            player.gateway.collect(now, &mut notices);
        }
    }

    #[track_caller]
    fn until(&mut self, done: impl Fn(&Player, &Self) -> bool) {
        let deadline = self.driver.now() + PATIENCE;
        while !self.players.iter().all(|player| done(player, self)) {
            let late = self.players.iter().filter(|player| !done(player, self));
            let late: Vec<_> = late
                .map(|late| (late.protocol, late.gateway.status()))
                .collect();
            assert!(self.driver.now() < deadline, "{late:?}");
            self.step();
        }
    }
}

const LOOK: Look = Look { chr: 64, col: 15 };

#[test]
fn one_port_carries_every_protocol_and_a_player_may_move() {
    let mut table = Table::new();
    let plays = |player: &Player, _: &Table| player.gateway.status() == Status::Playing;
    table.until(plays);

    // Everybody changes networks in the middle of play, and nobody is lost.
    let servers: Vec<_> = table.players.iter().map(|player| player.server).collect();
    for server in servers {
        table.driver.rebind(server).unwrap();
    }
    let moved = table.driver.now();
    table.until(|player, table| {
        let now = table.driver.now();
        // What is shown is younger than the move, except where nothing moves by itself.
        let stats = player.gateway.stats();
        let age = stats.and_then(|stats| stats.updates.age(now));
        now.since(moved) > Duration::from_secs(2)
            && plays(player, table)
            && age.is_none_or(|age| age < Duration::from_secs(2))
    });
    let all = PROTOCOLS.len() as u64;
    assert_eq!(table.driver.counters().links_accepted, all);
}

/// Starts a server of everything over QUIC; returns where it is, and its fingerprint.
pub(crate) fn serve(identity: &Path, at: &str, options: &[&str]) -> (Running, SocketAddr, String) {
    let at = format!("--quic={at}");
    let identity = identity.to_str().unwrap();
    let mut arguments = vec!["serve", "all", &at, "--identity", identity];
    arguments.extend(options);
    let server = start(&arguments);
    let ready = server.line_with("ready lwar");
    let words: Vec<_> = ready.split(' ').collect();
    let ["ready", "lwar", addr, "quic", fingerprint] = words[..] else {
        panic!("{ready:?}");
    };
    (server, addr.parse().unwrap(), fingerprint.to_owned())
}

/// What `bots` is told, to play over QUIC.
pub(crate) fn bots<'a>(protocol: &'a str, at: &'a str, fingerprint: &'a str) -> Vec<&'a str> {
    let quic = [
        "--connect",
        at,
        "--quic",
        "--server-fingerprint",
        fingerprint,
    ];
    let mut arguments = vec!["bots", protocol, "--json"];
    arguments.extend(quic);
    arguments
}

pub(crate) fn report(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

#[test]
fn bots_of_every_protocol_play_on_one_encrypted_port() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &[]);
    let at = addr.to_string();
    for protocol in PROTOCOLS {
        let mut arguments = bots(protocol.name, &at, &fingerprint);
        arguments.extend(["--count", "4", "--seconds", "2"]);
        let done = run(&arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(report(&done)["connected"].as_u64(), Some(4), "{done:?}");
    }
}

#[test]
fn five_percent_loss_at_a_hundred_milliseconds_loses_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &[]);
    let (_proxy, slow) = lag(addr, "delay=45ms,jitter=10ms,loss=5%");
    let at = slow.to_string();
    let playing = PROTOCOLS.iter().map(|protocol| {
        let mut arguments = bots(protocol.name, &at, &fingerprint);
        arguments.extend(["--count", "2", "--seconds", "8"]);
        start(&arguments)
    });
    for players in playing.collect::<Vec<_>>() {
        let done = players.wait();
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

/// A reone client comes back by itself; a native one hears that nobody knows it any more; the others end.
#[test]
fn a_killed_server_that_comes_back_ends_every_session_at_once_or_is_joined_again() {
    let folder = tempfile::tempdir().unwrap();
    let (server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &[]);
    let at = addr.to_string();
    let mut playing = Vec::new();
    for protocol in PROTOCOLS {
        let protocol = protocol.name;
        let own = folder.path().join(protocol);
        std::fs::create_dir(&own).unwrap();
        let mut arguments = bots(protocol, &at, &fingerprint);
        arguments.extend(["--count", "2", "--seconds", "600"]);
        let players = start_logged(&own, &arguments);
        // OpenDrakan has no place for a name of one's own.
        server.line_with(match protocol {
            "opendrakan" => "drakan-2 joined",
            _ => "bot-2 joined",
        });
        playing.push((protocol, own, players));
    }
    // Dropping it kills it.
    drop(server);
    let (server, ..) = serve(folder.path(), &at, &[]);
    for (protocol, own, players) in playing {
        if protocol == "reone" {
            server.line_with("bot-2 joined");
            continue;
        }
        let done = players.wait();
        assert_eq!(done.code, Some(1), "{protocol}: {done:?}");
        assert_eq!(report(&done)["lost"].as_u64(), Some(2), "{done:?}");
        // Not a time-out: the new server says that it knows nothing of them.
        let errors = std::fs::read_to_string(own.join("stderr")).unwrap();
        assert!(
            protocol == "native" || errors.contains("the server has restarted"),
            "{protocol}: {errors}"
        );
    }
}

#[test]
fn a_wrong_fingerprint_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &[]);
    let at = addr.to_string();
    let wrong = "0".repeat(64);
    let mut arguments = bots("lwar", &at, &wrong);
    arguments.extend(["--seconds", "20"]);
    let done = run(&arguments);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stderr.contains("the server is not trusted"),
        "{done:?}"
    );
    assert!(done.stderr.contains(&fingerprint), "{done:?}");
}

#[test]
fn a_ticket_lets_one_bot_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &["--tickets"]);
    let at = addr.to_string();
    let issued = run(&["ticket", "--identity", folder.path().to_str().unwrap()]);
    assert_eq!(issued.code, Some(0), "{issued:?}");
    let ticket = issued.stdout.trim();
    for (ticket, complaint) in [
        (Some(ticket), None),
        (Some(ticket), Some("the ticket was used before")),
        (None, Some("this server asks for a ticket")),
    ] {
        let mut arguments = bots("lwar", &at, &fingerprint);
        arguments.extend(["--count", "1", "--seconds", "2"]);
        if let Some(ticket) = ticket {
            arguments.extend(["--ticket", ticket]);
        }
        let done = run(&arguments);
        assert_eq!(done.code, Some(i32::from(complaint.is_some())), "{done:?}");
        assert!(
            done.stderr.contains(complaint.unwrap_or_default()),
            "{done:?}"
        );
    }
}

/// Both ends of a tunnel to a server, each with a secret, and where clients come in.
pub(crate) fn tunnel(
    folder: &Path,
    target: SocketAddr,
    secrets: [u8; 2],
) -> ([Running; 2], String) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [identity, near_secret, far_secret] = ["identity", "near", "far"].map(path);
    std::fs::write(&near_secret, [secrets[0]; 32]).unwrap();
    std::fs::write(&far_secret, [secrets[1]; 32]).unwrap();
    let (any, target) = ("127.0.0.1:0", target.to_string());
    let far = [
        "tunnel",
        "far",
        "--listen",
        any,
        "--target",
        &target,
        "--identity",
        &identity,
        "--secret",
        &far_secret,
    ];
    let far = start(&far);
    let ready = far.line_with("ready far");
    let words: Vec<_> = ready.split(' ').collect();
    let near = [
        "tunnel",
        "near",
        "--listen",
        any,
        "--connect",
        words[2],
        "--server-fingerprint",
        words[4],
        "--secret",
        &near_secret,
    ];
    let near = start(&near);
    let ready = near.line_with("ready near");
    let at = ready.rsplit(' ').next().unwrap().to_owned();
    ([near, far], at)
}

#[test]
fn unmodified_programs_play_through_a_tunnel() {
    for protocol in ["lwar", "reone"] {
        let folder = tempfile::tempdir().unwrap();
        let (_server, target) = crate::command::serve(protocol, &[]);
        let (_ends, at) = tunnel(folder.path(), target, [7, 7]);
        // In the clear, and each of them somebody else at the server.
        let done = run(&[
            "bots",
            protocol,
            "--connect",
            &at,
            "--count",
            "4",
            "--seconds",
            "3",
            "--json",
        ]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

/// A client that does not read slows its server down through the tunnel, and loses nothing.
#[test]
fn a_slow_reader_behind_a_tunnel_gets_everything() {
    let folder = tempfile::tempdir().unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (_ends, at) = tunnel(folder.path(), server.local_addr().unwrap(), [7, 7]);
    let mut client = TcpStream::connect(&at).unwrap();
    let (mut accepted, _) = server.accept().unwrap();
    accepted.set_nonblocking(true).unwrap();
    // Until nothing between the two takes any more. A tunnel that keeps everything takes all of it.
    let bytes: Vec<u8> = (0_u32..8_000_000)
        .map(|n| (n % 251).to_le_bytes()[0])
        .collect();
    let (mut sent, mut refused) = (0, 0);
    while refused < 100 && sent < bytes.len() {
        match accepted.write(&bytes[sent..]) {
            Ok(count) => (sent, refused) = (sent + count, 0),
            Err(_) => {
                refused += 1;
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
    accepted.set_nonblocking(false).unwrap();
    let rest = bytes[sent..].to_vec();
    let writer = thread::spawn(move || accepted.write_all(&rest).unwrap());
    let mut heard = vec![0; bytes.len()];
    client.read_exact(&mut heard).unwrap();
    writer.join().unwrap();
    assert!(heard == bytes);
}

#[test]
fn a_tunnel_with_another_secret_carries_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, target) = crate::command::serve("lwar", &["--seconds", "8"]);
    let (_ends, at) = tunnel(folder.path(), target, [8, 7]);
    let done = run(&[
        "bots",
        "lwar",
        "--connect",
        &at,
        "--count",
        "1",
        "--seconds",
        "4",
        "--json",
    ]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(report(&done)["connected"].as_u64(), Some(0), "{done:?}");
    // Nothing of it reached the server.
    assert!(!server.wait().stdout.contains("1 player"));
}

#[test]
fn a_server_answers_who_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (server, addr, _) = serve(
        folder.path(),
        "127.0.0.1:0",
        &["--server-name", "the test's"],
    );
    // The first report of players is the first answer, too.
    server.line_with("players");
    let done = run(&["status", &addr.to_string()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let version = env!("CARGO_PKG_VERSION");
    let names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    let expected = format!(
        "name the test's\nversion {version}\nprotocols {}\nplayers 0\n",
        names.join(" ")
    );
    assert_eq!(done.stdout, expected);
}

#[test]
fn nobody_who_is_banned_gets_in() {
    let folder = tempfile::tempdir().unwrap();
    let banned = folder.path().join("banned");
    std::fs::write(&banned, "# nobody from here\n127.0.0.1\n").unwrap();
    let banned = banned.to_str().unwrap();
    let (_server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &["--banned", banned]);
    let at = addr.to_string();
    let mut arguments = bots("lwar", &at, &fingerprint);
    arguments.extend(["--count", "1", "--seconds", "3"]);
    let done = run(&arguments);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(report(&done)["connected"].as_u64(), Some(0), "{done:?}");
}
