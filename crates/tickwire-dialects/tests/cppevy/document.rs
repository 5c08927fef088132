//! The conversation in the wire document is the one that client and server have.

use std::time::Duration;

use tickwire_dialects::cppevy::{
    Answer, Client, ClientConfig, Component, Server, ServerConfig, ServerEvent,
};
use tickwire_session::tap::{Input, Observer};
use tickwire_session::{Events, Instant, Tap, Transmit};
use tickwire_sim::{Conditions, Network, addr};

use super::words::{BUY, ROCK, SHIP, STEER, registry};
use crate::golden::{hex, unhex};

const WIRE: &str = include_str!("../../src/cppevy/WIRE.md");

/// What one side sends: when, how, and the bytes.
type Said = (u64, &'static str, Vec<u8>);

/// Writes down what a session sends.
struct Scribe {
    /// How long before the conversation its session began.
    began: Duration,
    ways: [&'static str; 2],
    said: Vec<Said>,
}

impl Observer for Scribe {
    fn input(&mut self, _now: Instant, _input: Input<'_>) {}

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        let way = match transmit {
            Transmit::Datagram { .. } => self.ways[0],
            Transmit::Stream { .. } => self.ways[1],
            _ => return,
        };
        let at = now.since(Instant::ZERO + self.began).as_millis();
        let at = u64::try_from(at).expect("conversations are short");
        self.said.push((at, way, bytes.into()));
    }
}

/// How long the server has run when the client starts.
const AHEAD: Duration = Duration::from_secs(1);

const HEALTH: Component = Component::new(2).unwrap();

/// A server with a rock, and a client that joins, steers, buys and leaves.
struct Conversation {
    net: Network,
    server: Tap<Server, Scribe>,
    client: Tap<Client, Scribe>,
}

impl Conversation {
    fn new() -> Self {
        let mut net = Network::new(1);
        net.set_conditions(Conditions {
            latency: Duration::from_millis(10),
            ..Conditions::IDEAL
        });
        let server_addr = addr::machine(1, 27_600);
        let node = net.add_node(server_addr);
        net.set_clock_ahead(node, AHEAD);
        net.add_node(addr::machine(2, 5_000));
        let config = ServerConfig {
            registry: registry(),
            actor: SHIP,
            clients: None,
            uploads: 0,
        };
        let mut server = Server::new(Instant::ZERO, [7; 32], config);
        let rock = server.summon(Instant::ZERO, ROCK).expect("a free id");
        server.set_state(rock, HEALTH, &[100]).expect("short");
        let config = ClientConfig {
            server: server_addr,
            name: "ada".into(),
            registry: registry(),
        };
        let scribe = |began, ways| Scribe {
            began,
            ways,
            said: Vec::new(),
        };
        let of_server = ["server → client, UDP", "server → client, TCP"];
        let of_client = ["client → server, UDP", "client → server, TCP"];
        Self {
            server: Tap::new(server, scribe(AHEAD, of_server)),
            client: Tap::new(
                Client::new(net.now(), config),
                scribe(Duration::ZERO, of_client),
            ),
            net,
        }
    }

    /// Lets time pass until so long after the client's start. The game takes everything.
    fn until(&mut self, millis: u64) {
        while self.net.now() < Instant::from_millis(millis) {
            let step = Duration::from_millis(1);
            self.net
                .run_for(step, &mut [&mut self.server, &mut self.client]);
            while let Some(event) = self.server.session.poll_event() {
                if let ServerEvent::Action { token, .. } = event {
                    let (now, done) = (self.net.now() + AHEAD, Answer::Success(b""));
                    let answered = self.server.session.answer(now, token, done);
                    answered.expect("short");
                }
            }
        }
    }

    fn said(self) -> Vec<Said> {
        let mut said = self.server.observer.said;
        said.extend(self.client.observer.said);
        said.sort_by_key(|(at, ..)| *at);
        said
    }
}

/// What the document says that they say.
fn documented() -> Vec<Said> {
    let (_, text) = WIRE
        .split_once("## A conversation")
        .expect("the document has one");
    let (_, text) = text.split_once("```text\n").expect("in a block");
    let (text, _) = text.split_once("```").expect("that ends");
    let mut said: Vec<Said> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(digits) = line.strip_prefix("  ") {
            // The bytes end where the explanation begins, two blanks further.
            let digits = digits.split("  ").next().unwrap_or_default();
            let bytes = unhex(&digits.replace(' ', ""));
            said.last_mut().expect("a heading").2.extend(bytes);
        } else {
            let (at, way) = line.split_once(" ms  ").expect("time and way");
            let (way, _) = way.split_once("  ").expect("way and size");
            said.push((at.parse().expect("a time"), way, Vec::new()));
        }
    }
    said
}

#[test]
fn the_documented_conversation_takes_place() {
    let mut conversation = Conversation::new();
    conversation.until(100);
    conversation
        .client
        .session
        .input(STEER, &[0x7f, 0x81])
        .unwrap();
    conversation.until(120);
    let now = conversation.net.now();
    conversation.client.session.act(now, BUY, b"sword").unwrap();
    conversation.until(200);
    let now = conversation.net.now();
    conversation.client.session.leave(now);
    conversation.until(250);
    let print = |said: &Said| format!("{} ms  {}  {}", said.0, said.1, hex(&said.2));
    let said: Vec<_> = conversation.said().iter().map(print).collect();
    let documented: Vec<_> = documented().iter().map(print).collect();
    assert_eq!(said, documented, "left: said; right: documented");
}
