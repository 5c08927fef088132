//! The simulator: how many datagrams it delivers, and how much faster than life it plays lwar.

use std::time::Duration;

use tickwire_dialects::lwar::{Client, ClientConfig, Kind, PlayerId, Server, ServerConfig, Shape};
use tickwire_session::echo::DatagramEcho;
use tickwire_session::{Events as _, Instant, Session};
use tickwire_sim::{Conditions, Network, addr};

use super::clock::timed;
use super::report::Figure;
use super::rounds::Spread;

const ROUNDS: u64 = 15;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let echoes = (0..ROUNDS).map(deliveries_a_second).collect();
    let games = (0..ROUNDS).map(times_life).collect();
    Ok(vec![
        Figure::plain("simulator", Spread::of(echoes), "datagrams/s"),
        Figure::plain("simulator, 7 lwar players", Spread::of(games), "× life"),
    ])
}

/// Eight nodes at home keep eight datagrams each going; every delivery is one event.
fn deliveries_a_second(seed: u64) -> f64 {
    const NODES: u16 = 8;
    let mut net = Network::new(seed);
    net.set_conditions(Conditions::HOME);
    let mut nodes: Vec<_> = (0..NODES).map(|_| DatagramEcho::default()).collect();
    for port in 0..NODES {
        net.add_node(addr::loopback(port));
    }
    let (time, ()) = timed(|| {
        for _ in 0..2_000 {
            for (port, node) in (1..).zip(&mut nodes) {
                while node.poll_event().is_some() {}
                node.send(addr::loopback(port % NODES), &[0; 99]);
            }
            let mut sessions: Vec<_> = nodes.iter_mut().map(as_session).collect();
            net.run_for(Duration::from_millis(1), &mut sessions);
        }
    });
    net.counters().delivered as f64 / time.as_secs_f64()
}

/// How many seconds of a game with seven players, at home, pass in one of ours.
fn times_life(seed: u64) -> f64 {
    const GAME: Duration = Duration::from_secs(20);
    let mut net = Network::new(seed);
    net.set_conditions(Conditions::HOME);
    let server_addr = addr::loopback(1);
    net.add_node(server_addr);
    let mut server = Server::new(net.now(), ServerConfig::default(), [7; 32]);
    let shape = |at: i16| Shape::Body {
        x: at,
        y: -at,
        orientation: 0,
        health: 100,
    };
    let ships: Vec<_> = (0..40)
        .filter_map(|at| server.add(Kind::SHIP, PlayerId::SERVER, shape(at)).ok())
        .collect();
    let mut clients: Vec<_> = (2..9)
        .map(|port| {
            net.add_node(addr::loopback(port));
            let config = ClientConfig {
                server: server_addr,
                name: "player".into(),
            };
            Client::new(net.now(), config)
        })
        .collect();
    let (time, ()) = timed(|| {
        while net.now().since(Instant::ZERO) < GAME {
            let step = i16::try_from(net.now().as_millis() % 10_000).unwrap_or(0);
            ships.iter().for_each(|&ship| server.set(ship, shape(step)));
            let mut sessions = vec![as_session(&mut server)];
            sessions.extend(clients.iter_mut().map(as_session));
            net.run_for(Duration::from_millis(16), &mut sessions);
            while server.poll_event().is_some() {}
            for client in &mut clients {
                while client.poll_event().is_some() {}
            }
        }
    });
    GAME.as_secs_f64() / time.as_secs_f64()
}

fn as_session<S: Session>(session: &mut S) -> &mut dyn Session {
    session
}
