//! reone on real sockets: crowds, a server that restarts, large modules, captured datagrams.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tickwire_demo::gateway::{ReoneSettings, Settings, Status};

use crate::command::{Running, run, run_line, serve, start, start_line};
use crate::middle::between;
use crate::pty::Terminal;
use crate::table::Table;

/// Longest wait for anything: only a broken command takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn fifty_bots_play_twenty_seconds_and_none_is_lost() {
    let (_server, addr) = serve("reone", &["--bots", "2"]);
    let addr = addr.to_string();
    let done = run_line(&format!(
        "bots reone --connect {addr} --count 50 --seconds 20 --json"
    ));
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(report["connected"].as_u64(), Some(50), "{report}");
    assert_eq!(report["removed"].as_u64(), Some(0), "{report}");
    assert!(report["round_trip_ms"]["p99"].is_number(), "{report}");
}

#[test]
fn huffman_coding_is_off_unless_asked_for() {
    let flags = |options: &[&str]| {
        let (_server, addr) = serve("reone", options);
        Capture::new(addr).unwrap().parameters().unwrap()[27]
    };
    assert_eq!((flags(&[]), flags(&["--huffman"])), (0, 1));
}

#[test]
fn a_player_s_screen_shows_what_the_protocol_tells() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("models")).unwrap();
    std::fs::write(folder.path().join("models/ship.txt"), "a ship").unwrap();
    let resources = folder.path().to_str().unwrap();
    let (server, addr) = serve(
        "reone",
        &[
            "--tick-rate",
            "30",
            "--lerp",
            "150",
            "--ships",
            "1",
            "--round",
            "5",
            "--module",
            "my mod",
            "--resources",
            resources,
        ],
    );
    let parameters = Capture::new(addr).unwrap().parameters().unwrap();
    assert_eq!(parameters[14..18], [30, 0, 150, 0]);
    let mut ann = Terminal::play("reone", addr, "Ann");
    server.line_with("Ann joined");
    ann.wait_for_text("Space gun  2 phaser  3 rockets ×6  4 shockwave");
    ann.wait_for_text("loaded models/ship.txt, 6 bytes");
    ann.wait_for("the round", |screen| screen.contains("round 1 4:"));
    ann.press("3");
    ann.wait_for_text("✸ launch");
    ann.wait_for_text("3 rockets ×5");
    ann.press("g");
    ann.wait_for_text("✸ taunt");
    // There is one ship, and it is taken.
    let bob = Terminal::play("reone", addr, "Bob");
    bob.wait_for_text("every ship is taken");
    bob.wait_for_text("looking on as number 1");
    ann.leave();
    bob.wait_for_text("a ship is free");
    bob.wait_for_text("rockets ×6");
    bob.leave();
}

/// Writes something of the same length over every occurrence of a word.
fn replace<const N: usize>(datagram: &mut [u8], word: &[u8; N], by: impl Fn(&mut [u8], usize)) {
    let places = datagram.windows(N).enumerate();
    let places: Vec<_> = places
        .filter(|(_, it)| it == word)
        .map(|(at, _)| at)
        .collect();
    places.into_iter().for_each(|at| by(datagram, at));
}

#[test]
fn explosions_and_effects_that_nobody_knows_are_drawn() {
    let (_server, addr) = serve("reone", &["--bots", "12", "--difficulty", "hard"]);
    let odd = between(addr, |datagram| {
        replace(datagram, b"explosion\0", |datagram, at| {
            datagram[at..at + 9].copy_from_slice(b"v_sparkle");
        });
    });
    // Hunters find those who stand still.
    let ann = Terminal::play("reone", addr, "Ann");
    let bob = Terminal::play("reone", odd, "Bob");
    ann.wait_for_text("✸ explosion");
    bob.wait_for_text("✸ v_sparkle");
    ann.leave();
    bob.leave();
}

#[test]
fn animations_that_come_late_play_faster() {
    let (_server, addr) = serve("reone", &[]);
    let late = |behind: u8| {
        between(addr, move |datagram| {
            // In front of its name: creature, snapshot, flags, speed.
            replace(datagram, b"taunt\0", |datagram, at| {
                let begun = &mut datagram[at - 12..at - 8];
                let moment = u32::from_le_bytes(begun.try_into().unwrap());
                let earlier = moment.saturating_sub(behind.into()).max(1);
                begun.copy_from_slice(&earlier.to_le_bytes());
            });
        })
    };
    for (behind, shown) in [(15, "✸ taunt ×2"), (25, "✸ taunt ×3")] {
        let mut ann = Terminal::play("reone", late(behind), "Ann");
        ann.wait_for_text("round 1");
        // A server is as old as that before it has said so much.
        ann.press_until("g", shown, |screen| screen.contains(shown));
        ann.leave();
    }
}

#[test]
fn a_folder_that_cannot_be_loaded_is_told() {
    let missing = run(&["serve", "reone", "--resources", "/nowhere/at/all"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("/nowhere/at/all"), "{missing:?}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("arena")).unwrap();
    std::fs::write(folder.path().join("arena/sky.txt"), "dark").unwrap();
    let resources = folder.path().to_str().unwrap();
    let hidden = run(&["serve", "reone", "--resources", resources]);
    assert_eq!(hidden.code, Some(2), "{hidden:?}");
    assert!(hidden.stderr.contains("arena/sky.txt"), "{hidden:?}");
}

#[test]
fn clients_of_a_server_that_restarts_come_back_by_themselves() {
    let (server, addr) = serve("reone", &[]);
    let addr = addr.to_string();
    let players = start_line(&format!(
        "bots reone --connect {addr} --count 4 --seconds 600 --json"
    ));
    // They join in whatever order they have loaded.
    let wait_for_all = |server: &Running| {
        let mut missing: Vec<_> = (1..=4).map(|n| format!("bot-{n} joined")).collect();
        while !missing.is_empty() {
            let line = server.line_with(" joined");
            missing.retain(|joined| !line.contains(joined));
        }
    };
    wait_for_all(&server);
    server.terminate();
    assert_eq!(server.wait().code, Some(0));
    let server = start(&["serve", "reone", "--listen", &addr]);
    wait_for_all(&server);
    // Each is in the world again, and there are two dozen snapshots before the next line.
    server.line_with("4 reone");
    server.line_with("4 reone");
    players.terminate();
    let done = players.wait();
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(report["connected"].as_u64(), Some(4), "{report}");
}

#[test]
fn captured_datagrams_are_shown_field_by_field() {
    let (_server, addr) = serve("reone", &["--bots", "3"]);
    let capture = Capture::new(addr).unwrap();
    let parameters = shown("server", &capture.parameters().unwrap());
    for field in ["Parameters", "tick rate", "lerp", "role"] {
        assert!(parameters.contains(field), "{field}: {parameters}");
    }
    let ready = packet(2, &[129, 1]);
    capture.socket.send(&ready).unwrap();
    assert!(shown("client", &ready).contains("Ready"));
    let snapshot = loop {
        let datagram = capture.receive().unwrap();
        if datagram[..4] != [0; 4] {
            break datagram;
        }
    };
    let snapshot = shown("server", &snapshot);
    for field in ["Spatial", "Last", "sequence"] {
        assert!(snapshot.contains(field), "{field}: {snapshot}");
    }
}

/// What `inspect` prints of a good datagram.
#[track_caller]
fn shown(from: &str, datagram: &[u8]) -> String {
    let hex: String = datagram.iter().map(|byte| format!("{byte:02x}")).collect();
    let done = run(&["inspect", "reone", "--from", from, "--hex", &hex]);
    assert_eq!(done.code, Some(0), "{done:?}");
    done.stdout
}

/// A client by hand, who has said hello and shown its token.
struct Capture {
    _stream: TcpStream,
    socket: UdpSocket,
    token: Vec<u8>,
}

impl Capture {
    fn new(server: SocketAddr) -> io::Result<Self> {
        let mut stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"\x01\x06\0\0\0\x01\0eve\0")?;
        // Kind, length, client id, token.
        let mut welcome = [0; 17];
        stream.read_exact(&mut welcome)?;
        assert_eq!(welcome[0], 2);
        stream.write_all(&[6, 0, 0, 0, 0])?;
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(server)?;
        Ok(Self {
            _stream: stream,
            socket,
            token: welcome[9..].to_vec(),
        })
    }

    /// The datagram that answers a Ping.
    fn parameters(&self) -> io::Result<Vec<u8>> {
        let ping = [&[128, 1], &*self.token].concat();
        // The server may not have read yet that everything is loaded.
        let pause = Some(Duration::from_millis(200));
        self.socket.set_read_timeout(pause)?;
        let answer = (0..300).find_map(|_| {
            self.socket.send(&packet(1, &ping)).ok()?;
            let answer = self.receive().ok()?;
            (answer.get(12) == Some(&131)).then_some(answer)
        });
        self.socket.set_read_timeout(Some(PATIENCE))?;
        answer.ok_or_else(|| io::ErrorKind::TimedOut.into())
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut bytes = [0; 2_048];
        let length = self.socket.recv(&mut bytes)?;
        Ok(bytes[..length].to_vec())
    }
}

/// A client's packet of this number, with these lists.
fn packet(number: u8, lists: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 12];
    packet[0] = number;
    packet.extend(lists);
    packet
}

/// Bytes of the large module.
const LARGE: usize = 160 * 1_024 * 1_024;

#[test]
fn snapshots_keep_their_rate_while_somebody_loads_160_mib() {
    // Bytes that are not all the same, so that nothing on the way can be clever.
    let bytes: Vec<u8> = (0..LARGE)
        .map(|at| ((at * at) >> 7).to_le_bytes()[0])
        .collect();
    let reone = ReoneSettings {
        resources: BTreeMap::from([("models/large.bin".into(), Arc::from(bytes))]),
        ..ReoneSettings::default()
    };
    let settings = Settings { reone };
    let (mut table, addr) = Table::new("reone", &settings);
    table.connect(addr);
    table.step_until_playing(0);
    let (published, whole) = table.snapshots();
    table.connect(addr);
    let mut last = 0;
    while table.clients[1].status() != Status::Playing {
        if let Status::Loading { have, of } = table.clients[1].status() {
            assert!(have >= last && have <= of && of > LARGE as u64);
            last = have;
        }
        table.step();
    }
    // What was published last arrives within a step.
    table.step();
    let (published_now, whole_now) = table.snapshots();
    let (published, whole) = (published_now - published, whole_now - whole);
    assert!(
        last > 0 && published > 3,
        "{last} bytes, {published} snapshots"
    );
    assert!((whole + 1) * 10 >= published * 9, "{whole} of {published}");
}
