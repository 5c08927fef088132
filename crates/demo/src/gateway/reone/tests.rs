//! Both halves, over good and bad networks.

mod aiming;
mod scopes;

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_session::{Instant, Session};
use tickwire_sim::addr::machine;
use tickwire_sim::{Chance, Conditions, Network};

use super::*;
use crate::gateway::{ArenaClient, ClientGateway, Notice, ReoneSettings, Settings, Status};
use crate::{Bot, GameServer, Intent, Loadout, OwnerId, Random, STEP, Vec2, View, rules};

/// A server, its players and the network between them.
struct Game {
    network: Network,
    host: GameServer,
    players: Vec<Player>,
}

struct Player {
    client: client::Gateway,
    mind: Mind,
    /// The most other ships it saw at a time.
    others: usize,
    notices: Vec<Notice>,
    view: View,
}

/// Who decides what a player wants.
enum Mind {
    Bot(Box<Bot>),
    /// Presses keys at random, and holds them for a while.
    Keys(Random, Intent),
    /// Carries these weapons, and does this.
    Plan(Loadout, fn(&View) -> Intent),
}

impl Game {
    fn new(conditions: Conditions, settings: &Settings, minds: Vec<Mind>) -> Self {
        let mut network = Network::new(7);
        network.set_conditions(conditions);
        let addr = machine(1, reone::PORT);
        network.add_node(addr);
        let mut host = GameServer::new(1, 0);
        host.serve(&PROTOCOL, Instant::ZERO, [7; 32], settings);
        let mut game = Self {
            network,
            host,
            players: Vec::new(),
        };
        for (number, mind) in (2..).zip(minds) {
            game.add_player(number, mind);
        }
        game
    }

    fn add_player(&mut self, number: u8, mind: Mind) {
        self.network.add_node(machine(number, 5_000));
        let loadout = match &mind {
            Mind::Bot(bot) => bot.loadout(),
            Mind::Keys(..) => Loadout::UNARMED,
            Mind::Plan(loadout, _) => *loadout,
        };
        let name = format!("pilot-{number}");
        let (now, server) = (self.network.now(), machine(1, reone::PORT));
        self.players.push(Player {
            client: client::Gateway::new(now, server, &name, loadout),
            mind,
            others: 0,
            notices: Vec::new(),
            view: View::default(),
        });
    }

    fn step(&mut self) {
        let mut sessions = self.host.sessions();
        for player in &mut self.players {
            sessions.push(player.client.session() as &mut dyn Session);
        }
        self.network.run_for(STEP, &mut sessions);
        let now = self.network.now();
        self.host.step(now, &mut Vec::new());
        for player in &mut self.players {
            player.step(now);
        }
    }

    fn run(&mut self, seconds: u32) {
        for _ in 0..60 * seconds {
            self.step();
        }
    }
}

impl Player {
    fn step(&mut self, now: Instant) {
        self.client.collect(now, &mut self.notices);
        if self.client.status() != Status::Playing {
            return;
        }
        self.view = self.client.view(now);
        self.client.act(&match &mut self.mind {
            Mind::Bot(bot) => bot.think(&self.view),
            Mind::Keys(random, held) => {
                if random.chance(0.05) {
                    let keys = random.bits();
                    held.forward = keys & 3 != 0;
                    held.turn_left = keys & 12 == 0;
                    held.turn_right = keys & 48 == 0;
                }
                *held
            }
            Mind::Plan(_, plan) => plan(&self.view),
        });
        if self.view.own_ship.is_some() {
            self.others = self.others.max(ships(&self.view).len() - 1);
        }
    }

    fn own_position(&self) -> Option<Vec2> {
        self.view.own_ship().map(|ship| ship.position)
    }
}

fn ships(view: &View) -> BTreeMap<OwnerId, Vec2> {
    let ships = view.seen.iter().filter(|seen| seen.kind == Kind::Ship);
    ships
        .filter_map(|ship| Some((ship.owner?, ship.position)))
        .collect()
}

fn bots(count: u64) -> Vec<Mind> {
    (0..count)
        .map(|seed| Mind::Bot(Box::new(Bot::new(seed))))
        .collect()
}

fn keys() -> Vec<Mind> {
    vec![Mind::Keys(Random::new(5), Intent::default())]
}

const LOSSY: Conditions = Conditions {
    latency: Duration::from_millis(75),
    jitter: Duration::from_millis(10),
    loss: Chance::percent(10),
    ..Conditions::IDEAL
};

/// How far the ship of somebody who flies alone is shown to move at most from one step to the next, and
/// how often the prediction was wrong, after two seconds in which it gets going.
fn fly_alone(conditions: Conditions) -> (f64, u64) {
    let mut game = Game::new(conditions, &Settings::default(), keys());
    game.run(2);
    assert_eq!(game.players[0].client.status(), Status::Playing);
    let before = game.players[0].client.pilot.figures();
    let mut furthest: f64 = 0.0;
    let mut last = game.players[0].own_position().unwrap();
    for _ in 0..60 * 20 {
        game.step();
        let position = game.players[0].own_position().unwrap();
        furthest = furthest.max(position.distance(last));
        last = position;
    }
    let after = game.players[0].client.pilot.figures();
    assert_eq!(after.snaps, before.snaps);
    (furthest, after.corrections - before.corrections)
}

/// What the fastest ship flies in a step.
const STEP_WAY: f64 = rules::SHIP_MAX_SPEED * rules::STEP_SECONDS;

const fn with(reone: ReoneSettings) -> Settings {
    Settings { reone }
}

#[test]
fn on_a_good_network_the_prediction_is_right_to_the_bit() {
    let (furthest, corrections) = fly_alone(Conditions::IDEAL);
    assert_eq!(corrections, 0);
    assert!(furthest < STEP_WAY, "{furthest}");
}

#[test]
fn on_a_bad_network_the_own_ship_does_not_jump() {
    let (furthest, corrections) = fly_alone(LOSSY);
    assert!(furthest < 2.0 * STEP_WAY, "{furthest}");
    assert!(corrections < 20, "of four hundred snapshots, {corrections}");
}

#[test]
fn bots_on_a_lossy_network_fly_and_fire_and_keep_score() {
    let mut game = Game::new(LOSSY, &Settings::default(), bots(8));
    game.run(30);
    let deaths: u16 = game
        .host
        .arena()
        .pilots()
        .map(|(_, pilot)| pilot.deaths())
        .sum();
    assert!(deaths > 3, "{deaths}");
    for player in &game.players {
        assert_eq!(player.client.status(), Status::Playing);
        assert!(player.others >= 3, "{}", player.others);
        let scores = player.client.scores();
        assert_eq!(scores.len(), 8);
        let known: u16 = scores.iter().map(|score| score.deaths).sum();
        // The last ones may still be on their way.
        assert!(known <= deaths && known + 4 > deaths, "{known} of {deaths}");
        assert!(scores.iter().all(|score| score.name.starts_with("pilot-")));
    }
    let heard = |player: &Player| {
        let killed = |notice: &&Notice| matches!(notice, Notice::Killed { .. });
        player.notices.iter().filter(killed).count()
    };
    let most = game.players.iter().map(heard).max().unwrap();
    assert!(most > 0 && most <= deaths.into(), "{most} of {deaths}");
}

#[test]
fn whoever_finds_no_ship_looks_on() {
    let settings = with(ReoneSettings {
        ships: Some(2),
        ..ReoneSettings::default()
    });
    let mut game = Game::new(Conditions::IDEAL, &settings, bots(3));
    game.run(5);
    let has_ship = |player: &&Player| player.view.own_ship.is_some();
    assert_eq!(game.players.iter().filter(has_ship).count(), 2);
    let spectator = game.players.iter().find(|player| !has_ship(player));
    let spectator = spectator.unwrap();
    assert_eq!(spectator.client.status(), Status::Playing);
    assert!(!ships(&spectator.view).is_empty());
    let told = Notice::Answered {
        text: "every ship is taken: you look on".into(),
    };
    assert!(spectator.notices.contains(&told));
    let remark = spectator.client.remark().unwrap();
    assert!(remark.starts_with("looking on as number 1"), "{remark}");
}

/// Which players fly.
fn flying(game: &Game) -> Vec<usize> {
    let players = game.players.iter().enumerate();
    let flying = players.filter(|(_, player)| player.view.own_ship.is_some());
    flying.map(|(number, _)| number).collect()
}

#[track_caller]
fn check_ships_are_passed_on(conditions: Conditions) {
    let settings = with(ReoneSettings {
        ships: Some(1),
        ..ReoneSettings::default()
    });
    let mut game = Game::new(Conditions::IDEAL, &settings, bots(1));
    game.run(2);
    for number in [3, 4] {
        game.add_player(number, bots(1).remove(0));
        game.run(2);
    }
    game.network.set_conditions(conditions);
    assert_eq!(flying(&game), [0]);
    for next in [1, 2] {
        let now = game.network.now();
        let left = &mut game.players[next - 1];
        left.client.disconnect(now);
        left.view = View::default();
        game.run(4);
        assert_eq!(flying(&game), [next]);
        let told = Notice::Answered {
            text: "a ship is free: it is yours".into(),
        };
        assert!(game.players[next].notices.contains(&told));
        let remark = game.players[next].client.remark().unwrap();
        assert!(!remark.contains("looking on"), "{remark}");
    }
}

#[test]
fn a_ship_that_becomes_free_is_for_whoever_has_looked_on_for_longest() {
    check_ships_are_passed_on(Conditions::IDEAL);
    check_ships_are_passed_on(LOSSY);
}

#[test]
fn whoever_acts_while_it_looks_on_is_heard_when_it_flies() {
    let settings = with(ReoneSettings {
        ships: Some(1),
        ..ReoneSettings::default()
    });
    let mut game = Game::new(Conditions::IDEAL, &settings, bots(1));
    game.run(1);
    let now = game.network.now();
    game.network.add_node(machine(3, 5_000));
    let config = reone::ClientConfig::new(machine(1, reone::PORT), "eager").unwrap();
    let mut eager = reone::Client::new(now, config);
    let run = |game: &mut Game, eager: &mut reone::Client| {
        for _ in 0..4 * 60 {
            let mut sessions = game.host.sessions();
            sessions.extend([game.players[0].client.session(), eager]);
            game.network.run_for(STEP, &mut sessions);
            game.host.step(game.network.now(), &mut Vec::new());
        }
    };
    run(&mut game, &mut eager);
    assert_eq!((eager.phase(), eager.own()), (reone::Phase::Playing, None));
    // More than a packet holds: the rest is heard only if the first are acknowledged.
    while eager.send_event(INPUT, &[]).is_ok() {}
    run(&mut game, &mut eager);
    game.players[0].client.disconnect(game.network.now());
    run(&mut game, &mut eager);
    assert!(eager.own().is_some());
    assert!(eager.send_event(INPUT, &[]).is_ok());
}

#[test]
fn everybodys_round_trip_is_on_the_scoreboard() {
    let mut game = Game::new(LOSSY, &Settings::default(), bots(3));
    game.run(6);
    for player in &game.players {
        let scores = player.client.scores();
        assert_eq!(scores.len(), 3);
        for score in scores {
            let ping = score.ping.unwrap().as_millis();
            assert!((150..250).contains(&ping), "{ping}");
        }
    }
}

#[test]
fn a_new_round_is_loaded_by_everybody_at_once_who_then_go_on() {
    let settings = with(ReoneSettings {
        round: Some(Duration::from_secs(8)),
        ..ReoneSettings::default()
    });
    let mut game = Game::new(LOSSY, &settings, bots(4));
    game.run(7);
    let all_fly = |game: &Game| {
        let mut players = game.players.iter();
        players.all(|player| player.client.status() == Status::Playing)
    };
    assert!(all_fly(&game));
    let mut away = 0;
    for _ in 0..60 * 4 {
        game.step();
        let is_away = |player: &&Player| player.client.status() != Status::Playing;
        away = away.max(game.players.iter().filter(is_away).count());
    }
    assert_eq!(away, 4, "all left the world at the same time");
    assert!(all_fly(&game));
    game.run(4);
    let arena = game.host.arena();
    assert_eq!(arena.pilots().count(), 4);
    for player in &game.players {
        let said = |notice: &&Notice| notice.to_string() == "arena, round 2 begins";
        assert_eq!(player.notices.iter().filter(said).count(), 1);
        assert!(player.others > 0);
    }
}

#[test]
fn huffman_coding_changes_the_bytes_and_nothing_else() {
    let bytes_and_places = |huffman| {
        let settings = with(ReoneSettings {
            huffman,
            ..ReoneSettings::default()
        });
        let mut game = Game::new(Conditions::IDEAL, &settings, bots(4));
        game.run(5);
        let mut bytes = 0;
        for player in &game.players {
            let figures = player.client.figures();
            figures.visit_peers(&mut |peer| bytes += peer.traffic.bytes_in);
        }
        let seen: Vec<_> = game
            .players
            .iter()
            .map(|player| ships(&player.view))
            .collect();
        (bytes, seen)
    };
    let (plain, there) = bytes_and_places(false);
    let (coded, again) = bytes_and_places(true);
    assert_eq!(there, again);
    assert_ne!(plain, coded);
}

#[test]
fn words_for_the_log_reach_whoever_runs_the_server_a_few_at_a_time() {
    let mut game = Game::new(Conditions::IDEAL, &Settings::default(), keys());
    game.run(2);
    let now = game.network.now();
    for number in 0..8 {
        let line = format!("line {number}");
        game.players[0].client.chat(now, &line).unwrap();
    }
    assert!(game.players[0].client.chat(now, "a\u{7}b").is_err());
    let mut heard = Vec::new();
    for _ in 0..30 {
        let mut sessions = game.host.sessions();
        sessions.push(game.players[0].client.session());
        game.network.run_for(STEP, &mut sessions);
        game.host.step(game.network.now(), &mut heard);
    }
    let said = |notice: &&Notice| matches!(notice, Notice::Said { name, .. } if name == "pilot-2");
    assert_eq!(heard.iter().filter(said).count(), 5);
}
