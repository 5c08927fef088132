//! What a snapshot tells besides ships: what is carried, the round, the own score; and what is seen for a moment.

use std::num::NonZeroU16;

use tickwire_dialects::reone::{ClientEvent, GLOBAL};

use super::*;
use crate::Weapon;
use crate::arena::tests::ship_mut;
use crate::gateway::Carried;

/// Fires the first weapon ahead, all the time.
fn fire_ahead(view: &View) -> Intent {
    let mut intent = Intent::default();
    if let Some(ship) = view.own_ship() {
        intent.aim = ship.position + ship.heading.unit() * 1_000.0;
        intent.fire[0] = true;
    }
    intent
}

/// Rockets in the first slot, as the player is shown them.
fn rockets(game: &Game) -> Option<u16> {
    let [first, ..] = game.players[0].client.inventory()?;
    let Carried { name, count } = first?;
    assert_eq!(name, "rockets");
    Some(count)
}

/// Where a lone ship is put: far from everything, or beside a planet.
fn put(game: &mut Game, is_near: bool) {
    let arena = game.host.arena_mut();
    let planet = arena.entities().find(|(_, it)| it.kind() == Kind::Planet);
    let (_, planet) = planet.unwrap();
    let beside = planet.position + Vec2::new(0.0, planet.reach() + 200.0);
    let (id, _) = arena.pilots().next().unwrap();
    let ship = ship_mut(arena, id);
    ship.position = if is_near {
        beside
    } else {
        Vec2::new(0.0, -4_900.0)
    };
    ship.velocity = Vec2::ZERO;
}

#[test]
fn a_player_sees_its_rockets_run_out_and_finds_more() {
    let loadout = Loadout([Some(Weapon::Rocket), Some(Weapon::Gun), None, None]);
    let mind = Mind::Plan(loadout, fire_ahead);
    let mut game = Game::new(LOSSY, &Settings::default(), vec![mind]);
    game.run(2);
    let mut seen = vec![];
    for is_near in [false, true] {
        for _ in 0..20 * 60 {
            put(&mut game, is_near);
            game.step();
            let left = rockets(&game);
            if seen.last() != Some(&left) {
                seen.push(left);
            }
        }
    }
    // What was fired before the first look is missing at the beginning.
    let down: Vec<_> = seen.iter().take_while(|left| left.is_some()).collect();
    assert!(
        down.len() >= 4 && down.is_sorted_by(|a, b| a > b),
        "{seen:?}"
    );
    assert!(seen.contains(&None), "they ran out: {seen:?}");
    let after = seen.iter().skip_while(|left| left.is_some());
    assert!(
        after.clone().any(Option::is_some),
        "more was found: {seen:?}"
    );
}

#[test]
fn what_has_run_out_is_not_asked_for() {
    let loadout = Loadout([Some(Weapon::Rocket), Some(Weapon::Gun), None, None]);
    let mind = Mind::Plan(loadout, fire_ahead);
    let mut game = Game::new(Conditions::IDEAL, &Settings::default(), vec![mind]);
    game.run(1);
    for _ in 0..20 * 60 {
        put(&mut game, false);
        game.step();
    }
    let arena = game.host.arena();
    let (_, pilot) = arena.pilots().next().unwrap();
    assert_eq!((rockets(&game), pilot.intent.fire[0]), (None, false));
}

#[test]
fn the_round_and_the_own_score_come_with_snapshots() {
    let settings = with(ReoneSettings {
        round: Some(Duration::from_secs(90)),
        module: Some("my mod".into()),
        ..ReoneSettings::default()
    });
    let mut game = Game::new(LOSSY, &settings, bots(6));
    game.run(30);
    let arena = game.host.arena();
    for player in &game.players {
        let remark = player.client.remark().unwrap();
        assert!(remark.starts_with("round 1 1:0"), "{remark}");
        assert!(remark.contains(" left, 6 here"), "{remark}");
        let snapshot = player.client.client.newest().unwrap();
        assert_eq!(snapshot.scope(GLOBAL).unwrap().variable(PLAYERS), 6);
        let own = player.client.client.own().unwrap();
        let (_, pilot) = arena.pilots().find(|(id, _)| creature(*id) == own).unwrap();
        let scores = player.client.scores();
        let score = scores.iter().find(|score| score.owner.0 == own.0).unwrap();
        // A snapshot is at most a few behind.
        assert!(score.deaths <= pilot.deaths() && score.deaths + 1 >= pilot.deaths());
    }
    let counted: u16 = arena.pilots().map(|(_, pilot)| pilot.kills()).sum();
    assert!(counted > 0, "somebody was destroyed");
}

#[test]
fn whoever_is_destroyed_hears_what_the_other_carries() {
    let mut game = Game::new(Conditions::IDEAL, &Settings::default(), bots(6));
    game.run(40);
    let told = game.players.iter().flat_map(|player| &player.notices);
    let told: Vec<_> = told.map(ToString::to_string).collect();
    let carries =
        |line: &&String| line.contains(" carries gun") || line.contains(" carries phaser");
    assert!(told.iter().any(|line| carries(&line)), "{told:?}");
}

/// What a player sees for a moment, by name.
fn flashes(game: &Game, player: usize) -> Vec<String> {
    let flashes = game.players[player].client.flashes().into_iter();
    flashes.map(|flash| flash.what).collect()
}

#[test]
fn a_taunt_is_seen_by_others_and_not_too_often() {
    let minds = [5, 6].map(|seed| Mind::Keys(Random::new(seed), Intent::default()));
    let mut game = Game::new(Conditions::IDEAL, &Settings::default(), minds.into());
    game.run(3);
    // Both in sight of each other.
    let arena = game.host.arena_mut();
    let pilots: Vec<_> = arena.pilots().map(|(id, _)| id).collect();
    for (id, x) in pilots.into_iter().zip([0.0, 900.0]) {
        ship_mut(arena, id).position = Vec2::new(x, -4_000.0);
    }
    game.run(1);
    for _ in 0..20 {
        game.players[0].client.taunt().unwrap();
    }
    let mut most = 0;
    for _ in 0..30 {
        game.step();
        let taunts = flashes(&game, 1).into_iter().filter(|it| it == TAUNTING);
        most = most.max(taunts.count());
    }
    // Those of one moment are one: copies are known by what they say.
    assert_eq!(most, 1);
    assert_eq!(flashes(&game, 0), [TAUNTING], "the own one too");
    let waiting = game.players[0].client.client.counters();
    assert_eq!(waiting.ack_never_sent, 0, "nobody acknowledges it");
}

#[test]
fn launches_explosions_and_what_nobody_knows_are_seen() {
    let loadout = Loadout([Some(Weapon::Rocket), None, None, None]);
    let mind = Mind::Plan(loadout, fire_ahead);
    let mut game = Game::new(LOSSY, &Settings::default(), vec![mind]);
    let mut seen = std::collections::BTreeSet::new();
    for second in 0..12 {
        game.run(1);
        seen.extend(flashes(&game, 0));
        let now = game.network.now();
        let gateway = &mut game.players[0].client;
        if second == 6
            && let (Some(id), Some(newest)) = (gateway.client.own(), gateway.client.newest())
        {
            let effect = ClientEvent::Effect {
                id,
                at: newest.sequence,
                resref: "v_sparks".into(),
            };
            gateway.handle_event(now, effect, &mut Vec::new());
            // Its ship flies into the sun.
            let arena = game.host.arena_mut();
            let (id, _) = arena.pilots().next().unwrap();
            ship_mut(arena, id).position = Vec2::new(rules::SUN_RADIUS, 0.0);
        }
        for _ in 0..60 {
            game.step();
            seen.extend(flashes(&game, 0));
            let arena = game.host.arena_mut();
            let flying = arena.pilots().find(|(_, pilot)| pilot.ship().is_some());
            if let Some(id) = flying.map(|(id, _)| id).filter(|_| second > 6) {
                ship_mut(arena, id).position = Vec2::new(rules::SUN_RADIUS, 0.0);
            }
        }
    }
    for what in [LAUNCH, EXPLOSION, "v_sparks"] {
        assert!(seen.contains(what), "{what} in {seen:?}");
    }
}

#[test]
fn another_pace_is_kept_and_predicted_to_the_bit() {
    for rate in [10, 60] {
        let settings = with(ReoneSettings {
            tick_rate: NonZeroU16::new(rate),
            lerp: Some(Duration::from_millis(200)),
            ..ReoneSettings::default()
        });
        let mut game = Game::new(Conditions::IDEAL, &settings, keys());
        game.run(3);
        let client = &game.players[0].client.client;
        let parameters = client.parameters().unwrap();
        assert_eq!(
            (parameters.tick_rate.get(), parameters.lerp_ms),
            (rate, 200)
        );
        let before = client.newest().unwrap().sequence;
        let corrections = game.players[0].client.pilot.figures().corrections;
        game.run(5);
        let client = &game.players[0].client;
        let after = client.client.newest().unwrap().sequence;
        assert!(
            after.since(before).abs_diff(5 * u32::from(rate)) <= 1,
            "{after}"
        );
        assert_eq!(client.pilot.figures().corrections, corrections);
    }
}

#[test]
fn settings_that_make_no_sense_are_told() {
    assert_eq!(ReoneSettings::default().check(), Ok(()));
    let check = |settings: ReoneSettings, word: &str| {
        let why = settings.check().unwrap_err();
        assert!(why.contains(word), "{why}");
    };
    let tick_rate = NonZeroU16::new(25);
    let module = Some("a\u{7}b".to_owned());
    let named = |name: &str| [(name.to_owned(), Arc::from(&b"x"[..]))].into();
    let usual = ReoneSettings::default;
    check(
        ReoneSettings {
            tick_rate,
            ..usual()
        },
        "divisor",
    );
    check(ReoneSettings { module, ..usual() }, "module's name");
    let resources = named("arena/sky.txt");
    check(
        ReoneSettings {
            resources,
            ..usual()
        },
        "hide one of",
    );
    let resources = named("../up");
    check(
        ReoneSettings {
            resources,
            ..usual()
        },
        "relative path",
    );
}
