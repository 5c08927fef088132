//! Both halves over a bad network.

use std::time::Duration;

use tickwire_session::{Instant, Session};
use tickwire_sim::addr::machine;
use tickwire_sim::{Chance, Conditions, Network};

use super::*;
use crate::gateway::{ArenaClient, ClientGateway, Ending, Notice, Status};
use crate::{Bot, GameServer, Intent, Kind, Loadout, STEP, Vec2, Weapon};

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
    client.select(Loadout::UNARMED);
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

/// One player alone with a gun, at rest.
struct Range {
    network: Network,
    host: GameServer,
    client: client::Gateway,
}

impl Range {
    fn new(conditions: Conditions) -> Self {
        let mut network = Network::new(10);
        network.set_conditions(conditions);
        let addr = machine(1, PROTOCOL.port);
        network.add_node(addr);
        network.add_node(machine(2, 5_000));
        let mut host = GameServer::new(1, 0);
        host.open(Box::new(server::Gateway::new(Instant::ZERO, [7; 32])));
        let mut client = client::Gateway::new(Instant::ZERO, addr, "Ada", Role::Player);
        client.select(Loadout([None, Some(Weapon::Gun), None, None]));
        let mut range = Self {
            network,
            host,
            client,
        };
        (0..180).for_each(|_| range.step(false));
        assert!(range.client.view(range.network.now()).own_ship().is_some());
        assert_eq!(range.bullets(), []);
        range
    }

    fn step(&mut self, fire: bool) {
        let mut sessions = self.host.sessions();
        sessions.push(self.client.session());
        self.network.run_for(STEP, &mut sessions);
        let now = self.network.now();
        self.host.step(now, &mut Vec::new());
        self.client.act(&Intent {
            fire: [false, fire, false, false],
            ..Intent::default()
        });
        self.client.collect(now, &mut Vec::new());
    }

    /// Where the player sees its bullets.
    fn bullets(&mut self) -> Vec<Vec2> {
        let view = self.client.view(self.network.now());
        let bullets = view.seen.iter().filter(|it| it.kind == Kind::Bullet);
        let own = bullets.filter(|it| it.own);
        own.map(|it| it.position).collect()
    }

    fn fired(&self) -> usize {
        let bullets = self.host.arena().entities();
        bullets.filter(|(_, it)| it.kind() == Kind::Bullet).count()
    }
}

/// The player sees one bullet from the tick after the trigger on, first its own and then the server's.
#[test]
fn a_bullet_is_seen_at_once_and_only_once() {
    let mut range = Range::new(Conditions {
        latency: Duration::from_millis(75),
        ..Conditions::IDEAL
    });
    range.step(true);
    let mut last: Option<Vec2> = None;
    let (mut seen, mut first_fired) = (0, None);
    for step in 0..150 {
        match range.bullets()[..] {
            [at] => {
                assert!(seen > 0 || step <= 1, "it is first seen at step {step}");
                // A bullet makes 37 units a step.
                let moved = last.map_or(0.0, |last| at.distance(last));
                assert!(moved < 90.0, "at step {step} it moves by {moved}");
                last = Some(at);
                seen += 1;
            }
            [] => assert!(step == 0 || seen > 60, "none at step {step}"),
            _ => panic!("more than one at step {step}"),
        }
        if range.fired() > 0 {
            first_fired.get_or_insert((step, seen));
        }
        range.step(false);
    }
    // It was there before the server had fired it, and goes with the server's.
    let (fired, seen_before) = first_fired.expect("the server fires, too");
    assert!(fired > 3 && seen_before > 3, "{first_fired:?}");
    assert_eq!(range.bullets(), []);
}

/// Held, the trigger fires as often ahead of the server as on it.
#[test]
fn a_gun_that_reloads_fires_no_more_than_the_server_lets_it() {
    let mut range = Range::new(Conditions {
        latency: Duration::from_millis(75),
        ..Conditions::IDEAL
    });
    for step in 0..180 {
        range.step(true);
        // A bullet lives for 75 steps, and one leaves every 9.
        let seen = range.bullets().len();
        assert!(seen <= 10, "{seen} bullets at step {step}");
        assert!(step < 80 || seen >= 8, "{seen} bullets at step {step}");
    }
}

/// The input is lost, and with it those that would repeat it.
#[test]
fn a_bullet_that_the_server_does_not_fire_goes() {
    let home = Conditions {
        latency: Duration::from_millis(75),
        ..Conditions::IDEAL
    };
    let mut range = Range::new(home);
    range.network.set_conditions(Conditions {
        loss: Chance::percent(100),
        ..home
    });
    range.step(true);
    range.step(false);
    assert_eq!(range.bullets().len(), 1);
    (0..20).for_each(|_| range.step(false));
    range.network.set_conditions(home);
    for _ in 0..100 {
        range.step(false);
        assert_eq!(range.fired(), 0);
    }
    assert_eq!(range.bullets(), []);
}
