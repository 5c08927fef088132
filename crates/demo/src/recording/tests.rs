//! Every protocol is recorded in play, on a network that loses things, and played back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tickwire_session::Instant;
use tickwire_session::tap::{Record, Recording};
use tickwire_sim::addr::machine;
use tickwire_sim::{Chance, Conditions, Network};

use super::*;
use crate::gateway::{PROTOCOLS, Protocol, Settings};
use crate::{Bot, GameServer, STEP, View};

const SECONDS: u32 = 12;

const NETWORK: Conditions = Conditions {
    latency: Duration::from_millis(40),
    jitter: Duration::from_millis(15),
    loss: Chance::percent(5),
    ..Conditions::IDEAL
};

/// A bot's recording, and the last arena that it saw.
fn recorded(protocol: &'static Protocol) -> (Vec<u8>, View) {
    let mut network = Network::new(7);
    network.set_conditions(NETWORK);
    let server = machine(1, protocol.port);
    network.add_node(server);
    network.add_node(machine(2, 5_000));
    let mut host = GameServer::new(3, 3);
    host.serve(protocol, Instant::ZERO, [7; 32], &Settings::default());
    let mut pilot = Bot::new(1);
    let mut walker = crate::tiles::Bot::new(1);
    let start = Start {
        protocol,
        now: Instant::ZERO,
        server,
        name: "Ada".into(),
        kit: Kit {
            loadout: pilot.loadout(),
            ..Kit::default()
        },
    };
    let file = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&file);
    let log = Log::new(Box::new(move |bytes| {
        sink.lock().expect("one thread").extend_from_slice(bytes);
    }));
    let mut player = record(&log, &start, start.connect().expect("a name"));
    let mut view = View::default();
    for step in 0..SECONDS * 60 {
        let mut sessions = host.sessions();
        sessions.push(player.gateway_mut().session());
        network.run_for(STEP, &mut sessions);
        let now = network.now();
        host.step(now, &mut Vec::new());
        player.gateway_mut().collect(now, &mut Vec::new());
        match &mut player {
            Player::Arena(client) => {
                view = client.view(now);
                client.act(&pilot.think(&view));
            }
            Player::Tiles(client) => drop(client.follow(now, &mut walker)),
        }
        if step == 300 {
            player.gateway_mut().chat(now, "hello").ok();
        }
    }
    log.finish(network.now());
    let file = std::mem::take(&mut *file.lock().expect("one thread"));
    (file, view)
}

/// Plays a recording back.
fn played(file: &[u8]) -> Replay {
    let mut records = Recording::new(file)
        .expect("a recording")
        .map(Result::unwrap);
    let Some((now, Record::About(about))) = records.next() else {
        panic!("it begins with what it is");
    };
    let mut replay = Replay::new(now, &about).unwrap().expect("it is known");
    records.for_each(|(now, record)| replay.apply(now, &record).unwrap());
    replay
}

#[test]
fn what_is_played_back_is_what_was_seen_in_every_protocol() {
    for protocol in PROTOCOLS {
        let name = protocol.name;
        let (file, view) = recorded(protocol);
        let replay = played(&file);
        let compared = replay.compared();
        assert!(compared.looks > 600, "{name}: {compared:?}");
        assert_eq!(
            (compared.other, compared.sent_other),
            (0, 0),
            "{name}: {compared:?}"
        );
        assert_eq!(*replay.view(), view, "{name}");
        match replay.tiles() {
            Some(client) => assert!(client.position().is_some(), "{name}"),
            None => assert!(view.seen.len() > 1, "{name}: {view:?}"),
        }
    }
}

#[test]
fn a_recording_that_was_changed_does_not_pass_for_the_same() {
    let (mut file, _) = recorded(Protocol::named("native").unwrap());
    // A deed near the end: the player looked, and saw something else.
    let look = [33, 1];
    let at = file
        .windows(2)
        .rposition(|two| two == look)
        .expect("a look");
    file[at + 2] ^= 1;
    assert_eq!(played(&file).compared().other, 1);
}

#[test]
fn every_call_on_a_client_is_passed_on() {
    let traits = include_str!("../gateway.rs");
    let (_, traits) = traits
        .split_once("pub trait ClientGateway")
        .expect("the first");
    let (traits, _) = traits
        .split_once("pub struct Resident")
        .expect("what follows the last");
    let passed = include_str!("client.rs");
    let methods = traits.split("\n    fn ").skip(1);
    let names = methods.map(|method| method.split('(').next().unwrap_or_default());
    // A bot's wishes come in as the calls that they lead to, and a camera's are no player's.
    for name in names.filter(|name| !["follow", "ask_anew"].contains(name)) {
        assert!(
            passed.contains(&format!("fn {name}(")),
            "{name} is not passed on"
        );
    }
}
