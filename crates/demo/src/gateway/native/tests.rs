//! Both halves over a bad network.

use std::time::Duration;

use tickwire_session::{Instant, Session};
use tickwire_sim::addr::machine;
use tickwire_sim::{Chance, Conditions, Network};

use super::*;
use crate::gateway::{ArenaClient, ClientGateway, Ending, Notice, Status};
use crate::{Bot, GameServer, Intent, Kind, STEP, Vec2};

const BOTS: u8 = 8;
const SECONDS: u64 = 30;

const NETWORK: Conditions = Conditions {
    latency: Duration::from_millis(75),
    jitter: Duration::from_millis(10),
    loss: Chance::percent(5),
    ..Conditions::IDEAL
};

#[test]
fn controls_survive() {
    let mut intent = Intent {
        aim: Vec2::new(-300.0, 4_000.0),
        ..Intent::default()
    };
    for place in 0..10 {
        *intent.buttons()[place] = place % 3 == 0;
    }
    assert_eq!(game::Controls::new(&intent).intent(), intent);
}

#[test]
fn bots_on_a_bad_network_fly_fight_and_keep_score() {
    let mut network = Network::new(7);
    network.set_conditions(NETWORK);
    let addr = machine(1, PROTOCOL.port);
    network.add_node(addr);
    let mut host = GameServer::new(1, 0);
    host.open(Box::new(server::Gateway::new(Instant::ZERO, [7; 32])));
    let mut players: Vec<_> = (0..BOTS)
        .map(|number| {
            network.add_node(machine(number + 2, 5_000));
            let bot = Bot::new(number.into());
            let name = format!("bot-{number}");
            let mut client = client::Gateway::new(Instant::ZERO, addr, &name, Role::Player);
            client.select(bot.loadout());
            (bot, client, 0)
        })
        .collect();
    let mut kills_heard = 0;
    for _ in 0..SECONDS * 60 {
        let mut sessions = host.sessions();
        for (_, client, _) in &mut players {
            sessions.push(client.session() as &mut dyn Session);
        }
        network.run_for(STEP, &mut sessions);
        let now = network.now();
        host.step(now, &mut Vec::new());
        for (bot, client, most_ships) in &mut players {
            let mut notices = Vec::new();
            client.collect(now, &mut notices);
            let is_kill = |notice: &&Notice| matches!(notice, Notice::Killed { .. });
            kills_heard += notices.iter().filter(is_kill).count();
            let view = client.view(now);
            let ships = view
                .seen
                .iter()
                .filter(|seen| seen.kind == Kind::Ship)
                .count();
            *most_ships = ships.max(*most_ships);
            client.act(&bot.think(&view));
        }
    }
    for (_, client, most_ships) in &players {
        assert_eq!(client.status(), Status::Playing);
        assert_eq!(client.scores().len(), usize::from(BOTS));
        assert!(*most_ships > 1, "it was always alone");
    }
    let gateway = host.gateways().next().expect("the one that was opened");
    let pilots = host.arena().pilots().map(|(pilot, _)| pilot);
    assert!(pilots.into_iter().all(|pilot| gateway.has_pilot(pilot)));
    let deaths: u16 = host.arena().pilots().map(|(_, pilot)| pilot.deaths()).sum();
    assert!(deaths > 0, "nobody was hit in half a minute");
    assert!(kills_heard > 0);
}

#[test]
fn the_own_ship_moves_at_once_and_does_not_jump() {
    let mut network = Network::new(8);
    network.set_conditions(NETWORK);
    let addr = machine(1, PROTOCOL.port);
    network.add_node(addr);
    network.add_node(machine(2, 5_000));
    let mut host = GameServer::new(1, 0);
    host.open(Box::new(server::Gateway::new(Instant::ZERO, [7; 32])));
    let mut client = client::Gateway::new(Instant::ZERO, addr, "Ada", Role::Player);
    client.select(crate::Loadout::UNARMED);
    let (mut last, mut largest, mut seen) = (None, 0.0_f64, 0);
    for step in 0..1_200_u32 {
        let mut sessions = host.sessions();
        sessions.push(client.session());
        network.run_for(STEP, &mut sessions);
        let now = network.now();
        host.step(now, &mut Vec::new());
        client.collect(now, &mut Vec::new());
        let intent = Intent {
            forward: true,
            turn_left: step % 120 < 60,
            ..Intent::default()
        };
        client.act(&intent);
        let at = client.view(now).own_ship().map(|ship| ship.position);
        if let (Some(last), Some(at)) = (last, at) {
            seen += 1;
            largest = largest.max(at.distance(last));
        }
        last = at;
    }
    assert!(seen > 900, "{seen}");
    // At full speed a ship makes 17 units a step.
    assert!(largest < 40.0, "{largest}");
}

#[test]
fn a_player_whose_server_never_comes_back_reads_that_it_is_gone() {
    let mut network = Network::new(9);
    let addr = machine(1, PROTOCOL.port);
    let here = network.add_node(addr);
    network.add_node(machine(2, 5_000));
    let mut host = GameServer::new(1, 0);
    host.open(Box::new(server::Gateway::new(Instant::ZERO, [7; 32])));
    let mut client = client::Gateway::new(Instant::ZERO, addr, "Ada", Role::Player);
    let mut step = |network: &mut Network, client: &mut client::Gateway| {
        let mut sessions = host.sessions();
        sessions.push(client.session());
        network.run_for(STEP, &mut sessions);
        host.step(network.now(), &mut Vec::new());
        client.collect(network.now(), &mut Vec::new());
    };
    for _ in 0..60 {
        step(&mut network, &mut client);
    }
    assert_eq!(client.status(), Status::Playing);
    // The process ends, and nobody listens there any more.
    network.restart(here);
    network.set_addr(here, machine(3, PROTOCOL.port));
    for _ in 0..70 * 60 {
        step(&mut network, &mut client);
    }
    assert_eq!(client.status(), Status::Ended(Ending::Lost));
}
