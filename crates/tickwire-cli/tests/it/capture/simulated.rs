//! A server and a bot on a simulated network that loses and reorders, watched by a recorder and a wire.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tickwire_capture::{Capture, End, Role};
use tickwire_demo::gateway::{PROTOCOLS, Protocol, Settings};
use tickwire_demo::recording::{Kit, Player, Start};
use tickwire_demo::{Bot, GameServer, STEP};
use tickwire_session::tap::{About, Recorded, Recorder, Tap};
use tickwire_session::{Instant, Session};
use tickwire_sim::addr::machine;
use tickwire_sim::{Chance, Conditions, Network};

use super::messages;

const NETWORK: Conditions = Conditions {
    latency: Duration::from_millis(30),
    jitter: Duration::from_millis(25),
    loss: Chance::percent(5),
    ..Conditions::IDEAL
};

/// A file in memory.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panicked").clone()
    }
}

/// What a server's session saw, as a recording and as a capture.
fn watched(protocol: &'static Protocol) -> [Vec<u8>; 2] {
    let mut network = Network::new(11);
    network.set_conditions(NETWORK);
    let server = machine(1, protocol.port);
    network.add_node(server);
    network.add_node(machine(2, 5_000));
    let mut host = GameServer::new(3, 3);
    host.serve(protocol, Instant::ZERO, [7; 32], &Settings::default());
    let start = Start {
        protocol,
        now: Instant::ZERO,
        server,
        name: "Ada".into(),
        kit: Kit::default(),
    };
    let mut player = start.connect().expect("a name");
    let (mut pilot, mut walker) = (Bot::new(1), tickwire_demo::tiles::Bot::new(1));
    let files = [Shared::default(), Shared::default()];
    let [mut recording, capture] = files.clone();
    let mut recorder = Recorder::new(move |bytes| {
        io::Write::write_all(&mut recording, bytes).expect("it is memory");
    });
    recorder.about(
        Instant::ZERO,
        &About {
            side: Recorded::Server,
            peer: machine(2, 5_000),
            protocol: protocol.name,
            words: &[],
        },
    );
    let mut capture = Capture::begin(capture, Instant::ZERO).expect("it is memory");
    let end = End {
        role: Role::Server(None),
        port: protocol.port,
    };
    let wire = capture.wire(protocol.name, end);
    let mut observers = (recorder, wire);
    for _ in 0..6 * 60 {
        let server = host.sessions().pop().expect("one protocol is served");
        let mut tap = Tap::new(server, &mut observers);
        let mut sessions: Vec<&mut dyn Session> = vec![&mut tap];
        sessions.push(player.gateway_mut().session());
        network.run_for(STEP, &mut sessions);
        let now = network.now();
        host.step(now, &mut Vec::new());
        player.gateway_mut().collect(now, &mut Vec::new());
        match &mut player {
            Player::Arena(client) => {
                let view = client.view(now);
                client.act(&pilot.think(&view));
            }
            Player::Tiles(client) => drop(client.follow(now, &mut walker)),
        }
    }
    assert_eq!(capture.finish().expect("it is memory").dropped, 0);
    files.map(|file| file.bytes())
}

#[test]
fn a_capture_says_what_the_session_saw_in_simulation_in_every_protocol() {
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in PROTOCOLS {
        let [recorded, captured] = watched(protocol).map(|bytes| {
            let file = folder.path().join("file");
            fs::write(&file, bytes).expect("it can be written");
            messages(&file)
        });
        assert!(recorded.len() > 50, "{}: {}", protocol.name, recorded.len());
        assert_eq!(recorded, captured, "{}", protocol.name);
    }
}
