//! What it costs to be measured: all figures of all peers and all counters once a second, against the steps of that
//! second.
//!
//! A host with every protocol open, eight clients on each, on a simulated network. The network and the clients are
//! not timed: a step is what the game loop spends on the worlds and their gateways alone.

use std::hint::black_box;

use tickwire_demo::gateway::{PROTOCOLS, Settings};
use tickwire_demo::recording::{Kit, Player, Start};
use tickwire_demo::{GameServer, STEP};
use tickwire_session::Session;
use tickwire_sim::{Network, addr};

use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::Rounds;

const ROUNDS: usize = 30;

/// Clients of each protocol: as many as the one with the fewest places has.
const CLIENTS: u8 = 8;

/// Steps in a second, and in a round.
const STEPS: u32 = 60;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut bench = Bench::new()?;
    // Everybody is in after a few seconds.
    for _ in 0..600 {
        bench.step();
    }
    let rounds = Rounds::run(
        ROUNDS,
        &mut bench,
        |bench| Ok(bench.measure()),
        |bench| Ok((0..STEPS).map(|_| bench.step()).sum::<f64>() / f64::from(STEPS)),
    )?;
    let cost = rounds.compare(|nanos| *nanos);
    Ok(vec![
        Figure {
            ratio: Some(Ratio {
                spread: cost.ratio,
                to: "a step",
            }),
            target: Some(Target::RatioAtMost(0.02)),
            ..Figure::plain("metrics of 48 clients", cost.first, "ns/step")
        },
        Figure::plain("· a step", cost.second, "ns"),
    ])
}

struct Bench {
    network: Network,
    host: GameServer,
    players: Vec<Player>,
}

impl Bench {
    fn new() -> anyhow::Result<Self> {
        let mut network = Network::new(1);
        let mut host = GameServer::new(1, 0);
        for protocol in PROTOCOLS {
            network.add_node(addr::machine(1, protocol.port));
            host.serve(protocol, network.now(), [7; 32], &Settings::default());
        }
        let mut players = Vec::new();
        for (protocol, machine) in PROTOCOLS.iter().zip(2..) {
            for number in 0..CLIENTS {
                network.add_node(addr::machine(machine, 5_000 + u16::from(number)));
                let start = Start {
                    protocol,
                    now: network.now(),
                    server: addr::machine(1, protocol.port),
                    name: format!("bot-{number}"),
                    kit: Kit::default(),
                };
                players.push(start.connect().map_err(anyhow::Error::msg)?);
            }
        }
        Ok(Self {
            network,
            host,
            players,
        })
    }

    /// Lets a sixtieth of a second pass; how long the host's step took.
    fn step(&mut self) -> f64 {
        let mut sessions: Vec<&mut dyn Session> = self.host.sessions();
        for player in &mut self.players {
            sessions.push(match player {
                Player::Arena(client) => client.session(),
                Player::Tiles(client) => client.session(),
            });
        }
        self.network.run_for(STEP, &mut sessions);
        let now = self.network.now();
        let mut notices = Vec::new();
        let (took, ()) = timed(|| self.host.step(now, &mut notices));
        for player in &mut self.players {
            match player {
                Player::Arena(client) => client.collect(now, &mut notices),
                Player::Tiles(client) => client.collect(now, &mut notices),
            }
        }
        took.as_nanos() as f64
    }

    /// What one step's share of a second's measurement takes.
    fn measure(&self) -> f64 {
        let now = self.network.now();
        let (took, ()) = timed(|| {
            for gateway in self.host.gateways() {
                let session = gateway.figures();
                session.visit_counters(&mut |name, count| {
                    black_box((name, count));
                });
                session.visit_peers(&mut |peer| {
                    peer.visit(now, &mut |metric, value| {
                        black_box((metric, value));
                    });
                });
            }
        });
        took.as_nanos() as f64 / f64::from(STEPS)
    }
}
