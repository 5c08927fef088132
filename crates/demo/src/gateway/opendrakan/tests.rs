//! The codes, and both halves over a bad network.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tickwire_session::{Events as _, Instant, Session};
use tickwire_sim::addr::machine;
use tickwire_sim::{Chance, Conditions, Network};

use opendrakan::message::ActionState::{Begin, End, Repeat};

use super::*;
use crate::gateway::{ArenaClient, ClientGateway, Notice, Status};
use crate::{Bot, Effect, GameServer, Loadout, OwnerId, STEP, Vec2, View};

#[test]
fn every_kind_has_a_prototype_of_its_own() {
    for kind in Kind::ALL {
        let mut of_kind = PROTOTYPES.iter().filter(|(other, _)| *other == kind);
        let (_, object) = of_kind.next().unwrap();
        assert_eq!((kind_of(*object), of_kind.next()), (Some(kind), None));
    }
}

#[test]
fn codes_do_not_overlap() {
    for code in 0..64 {
        let meanings = [
            code == ENTER,
            button(code).is_some(),
            code == AIM,
            choice(code).is_some(),
        ];
        let count = meanings.into_iter().filter(|meant| *meant).count();
        assert!(count <= 1, "{code}: {meanings:?}");
    }
    assert_eq!((button(0), button(1), button(11)), (None, Some(0), None));
}

#[test]
fn a_loadout_survives_its_codes() {
    let two_guns = Loadout([Some(Weapon::Gun), Some(Weapon::Gun), None, None]);
    for chosen in [Loadout::STANDARD, Loadout::UNARMED, two_guns] {
        let mut back = Loadout::STANDARD;
        for code in choice_codes(chosen) {
            let (slot, weapon) = choice(code).unwrap();
            back.0[slot] = weapon;
        }
        assert_eq!(back, chosen);
    }
    assert_eq!(choice(CHOICES + 20), None);
}

/// The databases as some clients have them: other numbers, and one that nobody else has.
const OTHER_ORDER: [&str; 3] = ["arena/sounds.db", "arena/other.db", "arena/ships.db"];

#[test]
fn a_client_repeats_the_triggers_that_it_holds() {
    let mut network = Network::new(1);
    let addr = machine(1, opendrakan::PORT);
    network.add_node(addr);
    network.add_node(machine(2, 5_000));
    let config = opendrakan::ServerConfig {
        level: server::level(),
        registry: registry(),
        ..opendrakan::ServerConfig::default()
    };
    let mut server = opendrakan::Server::new(config, [1; 32]).unwrap();
    let mut client = client::Gateway::new(Instant::ZERO, addr, Loadout::STANDARD);
    let mut intent = Intent::default();
    let mut told = Vec::new();
    for step in 0..180 {
        network.run_for(STEP, &mut [&mut server, client.session()]);
        server.commit(network.now());
        client.collect(network.now(), &mut Vec::new());
        intent.fire[0] = (60..150).contains(&step);
        client.act(&intent);
        while let Some(event) = server.poll_event() {
            if let opendrakan::ServerEvent::Acted { code, state, .. } = event
                && code != ENTER
            {
                assert_eq!(code, TRIGGERS);
                told.push(state);
            }
        }
    }
    assert_eq!(told[0], Begin);
    let repeats = told.iter().filter(|state| **state == Repeat).count();
    assert!((4..=7).contains(&repeats), "{told:?}");
    assert_eq!(told.last(), Some(&End));
}

const BOTS: u8 = 8;
const SECONDS: u64 = 30;

const NETWORK: Conditions = Conditions {
    latency: Duration::from_millis(30),
    jitter: Duration::from_millis(10),
    loss: Chance::percent(10),
    ..Conditions::IDEAL
};

/// A bot and its client.
struct Player {
    bot: Bot,
    client: client::Gateway,
    /// The most other ships it saw at a time.
    others: usize,
    kills_heard: usize,
    /// Shots that it saw and heard, and hits that it was told of.
    muzzles: usize,
    sounds: BTreeSet<&'static str>,
    hits: usize,
}

/// Where every ship was, by tick and owner.
type Past = BTreeMap<u64, BTreeMap<OwnerId, Vec2>>;

#[test]
fn bots_on_a_lossy_network_get_ships_and_see_where_the_others_were() {
    let mut network = Network::new(7);
    network.set_conditions(NETWORK);
    let addr = machine(1, opendrakan::PORT);
    network.add_node(addr);
    let mut host = GameServer::new(1, 0);
    host.open(Box::new(server::Gateway::new(Instant::ZERO, [7; 32])));
    let mut players: Vec<_> = (0..BOTS)
        .map(|number| {
            network.add_node(machine(number + 2, 5_000));
            let bot = Bot::new(number.into());
            let mut client = client::Gateway::new(Instant::ZERO, addr, bot.loadout());
            if number % 2 == 1 {
                client.set_databases(&OTHER_ORDER.map(Into::into)).unwrap();
            }
            Player {
                bot,
                client,
                others: 0,
                kills_heard: 0,
                muzzles: 0,
                sounds: BTreeSet::new(),
                hits: 0,
            }
        })
        .collect();

    let (mut past, mut errors) = (Past::new(), Vec::new());
    for _ in 0..SECONDS * 60 {
        let mut sessions = host.sessions();
        for player in &mut players {
            sessions.push(player.client.session() as &mut dyn Session);
        }
        network.run_for(STEP, &mut sessions);
        let now = network.now();
        host.step(now, &mut Vec::new());
        past.insert(host.arena().tick().0, positions(&host.arena().view(), 1));
        for player in &mut players {
            if let Some(view) = player.step(now) {
                errors.extend(distances(&view, &past));
            }
        }
    }

    for player in &players {
        assert_eq!(player.client.status(), Status::Playing);
        assert_eq!(player.others, usize::from(BOTS) - 1);
        assert!(player.kills_heard > 0);
        // Whatever its own numbers are, a sound is no animation.
        assert!(player.muzzles > 20, "{}", player.muzzles);
        let all = BTreeSet::from(["gun", "phaser", "rocket", "explosion"]);
        assert!(player.sounds.is_superset(&all), "{:?}", player.sounds);
    }
    let hit = players.iter().filter(|player| player.hits > 0).count();
    assert!(hit > usize::from(BOTS) / 2, "{hit}");
    // The last ones may still be on their way.
    let deaths: u16 = host.arena().pilots().map(|(_, pilot)| pilot.deaths()).sum();
    let heard = players[0].kills_heard;
    assert!(heard <= deaths.into(), "{heard} of {deaths}");
    check_errors(errors);
}

impl Player {
    /// Plays for a step, and gives what it saw.
    fn step(&mut self, now: Instant) -> Option<View> {
        let mut notices = Vec::new();
        self.client.collect(now, &mut notices);
        let kills = notices
            .iter()
            .filter(|notice| matches!(notice, Notice::Killed { .. }));
        self.kills_heard += kills.count();
        if self.client.status() != Status::Playing {
            return None;
        }
        let view = self.client.view(now);
        for effect in self.client.take_effects() {
            match effect {
                Effect::Muzzle { at, .. } => {
                    let ships = view.seen.iter().filter(|seen| seen.kind == Kind::Ship);
                    assert!(ships.map(|ship| ship.position).any(|ship| ship == at));
                    self.muzzles += 1;
                }
                Effect::Heard { what } => drop(self.sounds.insert(what)),
                Effect::Hit { by } => {
                    assert!(by.starts_with("drakan-"), "{by}");
                    self.hits += 1;
                }
                Effect::Impact { .. } => panic!("OpenDrakan does not tell"),
            }
        }
        self.client.act(&self.bot.think(&view));
        let ships = view.seen.iter().filter(|seen| seen.kind == Kind::Ship);
        if view.own_ship.is_some() {
            self.others = self.others.max(ships.count() - 1);
        }
        Some(view)
    }
}

/// Where the ships are, by the numbers of their owners plus `offset`.
fn positions(view: &View, offset: u32) -> BTreeMap<OwnerId, Vec2> {
    let ships = view.seen.iter().filter(|seen| seen.kind == Kind::Ship);
    ships
        .filter_map(|ship| Some((OwnerId(ship.owner?.0 + offset), ship.position)))
        .collect()
}

/// How far from where they were at that moment the ships of a view are shown.
fn distances(view: &View, past: &Past) -> Vec<f64> {
    let tick = u64::try_from(view.time.as_nanos() * 60 / 1_000_000_000).unwrap();
    let share = view.time.as_secs_f64() * 60.0 - tick as f64;
    let Some(before) = past.get(&tick) else {
        return Vec::new();
    };
    let after = past.get(&(tick + 1)).unwrap_or(before);
    let shown = positions(view, 0);
    let compared = shown.iter().filter_map(|(owner, at)| {
        let (before, after) = (*before.get(owner)?, *after.get(owner)?);
        Some(at.distance(before + (after - before) * share))
    });
    compared.collect()
}

/// Between two snapshots ships accelerate, which a straight line does not show: that is a unit or so. A
/// bounce or a shockwave is off by as far as it throws a ship within two snapshots.
fn check_errors(mut errors: Vec<f64>) {
    errors.sort_by(f64::total_cmp);
    let count = errors.len();
    assert!(count > 50_000, "{count}");
    assert!(errors[count / 2] < 1.0, "{}", errors[count / 2]);
    assert!(
        errors[count * 99 / 100] < 10.0,
        "{}",
        errors[count * 99 / 100]
    );
    assert!(errors[count - 1] < 150.0, "{}", errors[count - 1]);
}
