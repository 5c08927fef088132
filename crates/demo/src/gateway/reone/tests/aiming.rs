//! What is aimed at is what is hit, and what is fired leaves the ship that fires it.

use super::*;
use crate::arena::tests::{ship, ship_mut};
use crate::{PilotId, Seen, Weapon};

/// Aims at the moment that is shown, in seconds, so that the server's side can tell by what an input was
/// decided.
fn aim_at_the_clock(view: &View) -> Intent {
    Intent {
        aim: Vec2::new(view.time.as_secs_f64(), 0.0),
        ..Intent::default()
    }
}

/// How far, at most, what the server believes that its only player saw is from what it saw.
fn misjudged(conditions: Conditions) -> Duration {
    let mind = Mind::Plan(Loadout::UNARMED, aim_at_the_clock);
    let mut game = Game::new(conditions, &Settings::default(), vec![mind]);
    game.run(2);
    let (mut last, mut furthest, mut inputs) = (0.0, Duration::ZERO, 0);
    for _ in 0..600 {
        game.step();
        let arena = game.host.arena();
        let (_, pilot) = arena.pilots().next().unwrap();
        let saw = pilot.intent.aim.x;
        // While an input is late, the one before holds, and so does what it was about.
        if core::mem::replace(&mut last, saw) == saw {
            continue;
        }
        let now = STEP * u32::try_from(arena.tick().0).unwrap();
        let ago = now - Duration::from_secs_f64(saw);
        furthest = furthest.max(pilot.rewind.abs_diff(ago));
        inputs += 1;
    }
    assert!(inputs > 500, "{inputs}");
    furthest
}

#[test]
fn shots_are_judged_by_what_the_player_saw() {
    // What is shown lies between two ticks, and the nearer is named.
    let rounding = STEP / 2 + Duration::from_micros(100);
    for latency in [0, 10, 20, 40, 60, 100, 150].map(Duration::from_millis) {
        let conditions = Conditions {
            latency,
            ..Conditions::IDEAL
        };
        let misjudged = misjudged(conditions);
        assert!(misjudged <= rounding, "{misjudged:?} at {latency:?}");
    }
    let misjudged = misjudged(LOSSY);
    assert!(misjudged <= rounding, "{misjudged:?} on a bad network");
}

/// Holds the first weapon on the first ship of somebody else.
fn take_aim(view: &View) -> Intent {
    let mut ships = view.seen.iter().filter(|it| it.kind == Kind::Ship);
    let mut intent = Intent::default();
    if let Some(target) = ships.find(|it| !it.own) {
        intent.aim = target.position;
        intent.fire[0] = true;
    }
    intent
}

fn pilot(game: &Game, name: &str) -> PilotId {
    let mut pilots = game.host.arena().pilots();
    pilots.find(|(_, pilot)| pilot.name() == name).unwrap().0
}

/// What a ray does to a ship that crosses in front of its shooter within two seconds: the health that is
/// left, and how near to where it truly was it was ever shown.
fn cross(latency: Duration) -> (u8, f64) {
    let conditions = Conditions {
        latency,
        ..Conditions::IDEAL
    };
    let phaser = Loadout([Some(Weapon::Phaser), None, None, None]);
    let minds = vec![
        Mind::Plan(phaser, take_aim),
        Mind::Plan(Loadout::UNARMED, |_| Intent::default()),
    ];
    let mut game = Game::new(conditions, &Settings::default(), minds);
    game.run(2);
    let (shooter, target) = (pilot(&game, "pilot-2"), pilot(&game, "pilot-3"));
    let mut nearest = f64::INFINITY;
    for step in 0..120 {
        let arena = game.host.arena_mut();
        ship_mut(arena, shooter).position = Vec2::new(0.0, -4_500.0);
        ship_mut(arena, shooter).velocity = Vec2::ZERO;
        let way = CROSSING * f64::from(step) * rules::STEP_SECONDS;
        ship_mut(arena, target).position = Vec2::new(way - CROSSING, -4_000.0);
        ship_mut(arena, target).velocity = Vec2::new(CROSSING, 0.0);
        game.step();
        // Until it is shown to cross, it is shown where it came from.
        if step > 60 {
            let shown = ships(&game.players[0].view);
            let shown = shown[&OwnerId(creature(target).0)];
            nearest = nearest.min(shown.distance(ship(game.host.arena(), target).position));
        }
    }
    let health = ship(game.host.arena(), target).health_percent();
    (health, nearest)
}

/// Units a second.
const CROSSING: f64 = 400.0;

#[test]
fn a_ship_under_the_cross_hair_is_hit_by_somebody_200_ms_away() {
    let (health, nearest) = cross(Duration::from_millis(100));
    // Even when the ray is fired, the ship is not there any more.
    assert!(nearest > rules::SHIP_RADIUS, "{nearest}");
    let charge = rules::PHASER_DAMAGE_PER_STEP * f64::from(rules::PHASER_CHARGE_STEPS);
    assert!(f64::from(health) < 100.0 - 0.9 * charge, "{health}");
}

/// Flies on and fires ahead.
fn charge(view: &View) -> Intent {
    let mut intent = Intent {
        forward: true,
        ..Intent::default()
    };
    if let Some(ship) = view.own_ship() {
        intent.aim = ship.position + ship.heading.unit() * 1_000.0;
        intent.fire[0] = true;
    }
    intent
}

#[test]
fn own_bullets_are_ahead_of_the_ship_that_fires_them() {
    let gun = Loadout([Some(Weapon::Gun), None, None, None]);
    let mut game = Game::new(LOSSY, &Settings::default(), vec![Mind::Plan(gun, charge)]);
    game.run(2);
    let mut bullets = 0;
    for _ in 0..60 {
        game.step();
        let view = &game.players[0].view;
        let Some(ship) = view.own_ship() else { break };
        let own = |it: &&Seen| it.kind == Kind::Bullet && it.own;
        for bullet in view.seen.iter().filter(own) {
            bullets += 1;
            let ahead = (bullet.position - ship.position).dot(ship.heading.unit());
            assert!(ahead > rules::SHIP_RADIUS, "{ahead}");
        }
    }
    assert!(bullets > 60, "{bullets}");
}
