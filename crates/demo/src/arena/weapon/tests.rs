//! What each weapon does, and does not do.

use super::*;
use crate::arena::tests::{arena_without_sky, destroy, health, hold, place, run, ship, ship_mut};
use crate::{Arena, Event};

const TARGET: Vec2 = Vec2::new(600.0, 0.0);

/// A shooter in the middle, and a target to the east that does nothing.
fn range(weapon: Weapon) -> (Arena, PilotId, PilotId) {
    let mut arena = arena_without_sky();
    let loadout = Loadout([Some(weapon), None, None, None]);
    let shooter = place(&mut arena, Vec2::ZERO, loadout);
    let target = place(&mut arena, TARGET, Loadout::UNARMED);
    (arena, shooter, target)
}

fn shoot_at(arena: &mut Arena, shooter: PilotId, aim: Vec2) {
    hold(arena, shooter, |intent| {
        intent.fire[0] = true;
        intent.aim = aim;
    });
}

fn all(arena: &Arena, kind: Kind) -> Vec<&Entity> {
    arena
        .entities()
        .map(|(_, entity)| entity)
        .filter(|entity| entity.kind() == kind)
        .collect()
}

#[test]
fn a_bullet_flies_to_the_aim_whatever_the_ship_does() {
    let (mut arena, shooter, _) = range(Weapon::Gun);
    ship_mut(&mut arena, shooter).velocity = Vec2::new(-500.0, 500.0);
    shoot_at(&mut arena, shooter, Vec2::new(0.0, -1_000.0));
    arena.step();
    let bullet = all(&arena, Kind::Bullet)[0];
    let way = Vec2::new(0.0, -1_000.0) - ship(&arena, shooter).position;
    let off = bullet.heading.turn_to(Heading::of(way).unwrap());
    assert!(off.abs() < 1e-9, "{off}");
    assert!((bullet.velocity.length() - rules::BULLET_SPEED).abs() < 1e-6);
}

#[test]
fn a_bullet_costs_its_target_and_ends() {
    let (mut arena, shooter, target) = range(Weapon::Gun);
    shoot_at(&mut arena, shooter, TARGET);
    arena.step();
    hold(&mut arena, shooter, |_| {});
    let mut hits = 0;
    for _ in 0..60 {
        arena.step();
        let hit = |event: &&Event| matches!(event, Event::Collision { .. });
        hits += arena.events().iter().filter(hit).count();
    }
    assert_eq!(hits, 1);
    assert_eq!(all(&arena, Kind::Bullet).len(), 0);
    let left = rules::SHIP_HEALTH - rules::BULLET_DAMAGE;
    assert!((health(&arena, target) - left).abs() < 1e-9);
    assert!((health(&arena, shooter) - rules::SHIP_HEALTH).abs() < 1e-9);
}

#[test]
fn a_gun_keeps_its_rate_and_bullets_their_life() {
    let (mut arena, shooter, _) = range(Weapon::Gun);
    shoot_at(&mut arena, shooter, Vec2::new(-1_000.0, 0.0));
    run(&mut arena, 10 * rules::BULLET_LIFE_STEPS);
    let in_flight = rules::BULLET_LIFE_STEPS.div_ceil(rules::GUN_RELOAD_STEPS);
    let bullets = u32::try_from(all(&arena, Kind::Bullet).len()).unwrap();
    assert!((in_flight - 1..=in_flight).contains(&bullets), "{bullets}");
}

#[test]
fn aiming_at_oneself_or_nowhere_shoots_ahead() {
    for aim in [
        Vec2::ZERO,
        Vec2::new(f64::NAN, 0.0),
        Vec2::new(f64::INFINITY, 1.0),
    ] {
        let (mut arena, shooter, _) = range(Weapon::Gun);
        ship_mut(&mut arena, shooter).heading = Heading::from_degrees(90.0);
        shoot_at(&mut arena, shooter, aim);
        arena.step();
        let bullet = all(&arena, Kind::Bullet)[0];
        assert!((bullet.heading.degrees() - 90.0).abs() < 1e-5, "{aim:?}");
    }
}

#[test]
fn a_beam_ends_at_the_first_thing_in_its_way() {
    let (mut arena, shooter, target) = range(Weapon::Phaser);
    let behind = place(&mut arena, Vec2::new(800.0, 0.0), Loadout::UNARMED);
    shoot_at(&mut arena, shooter, TARGET);
    run(&mut arena, 10);
    let ray = all(&arena, Kind::Ray)[0];
    assert!((ray.reach() - (600.0 - 2.0 * rules::SHIP_RADIUS)).abs() < 1.0);
    let burnt = rules::SHIP_HEALTH - 10.0 * rules::PHASER_DAMAGE_PER_STEP;
    assert!((health(&arena, target) - burnt).abs() < 1e-9);
    assert!((health(&arena, behind) - rules::SHIP_HEALTH).abs() < 1e-9);
}

#[test]
fn a_beam_on_one_thing_is_told_once() {
    let (mut arena, shooter, _) = range(Weapon::Phaser);
    shoot_at(&mut arena, shooter, TARGET);
    let mut told = 0;
    for _ in 0..30 {
        arena.step();
        let touch = |event: &&Event| matches!(event, Event::Collision { .. });
        told += arena.events().iter().filter(touch).count();
    }
    assert_eq!(told, 1);
}

#[test]
fn a_phaser_burns_out_and_must_gather_before_it_lights_again() {
    let (mut arena, shooter, _) = range(Weapon::Phaser);
    shoot_at(&mut arena, shooter, Vec2::new(0.0, 1_000.0));
    run(&mut arena, rules::PHASER_CHARGE_STEPS);
    assert_eq!(all(&arena, Kind::Ray).len(), 1);
    assert!((all(&arena, Kind::Ray)[0].reach() - rules::PHASER_LENGTH).abs() < 1e-9);
    arena.step();
    assert_eq!(all(&arena, Kind::Ray).len(), 0);
    let gathering = rules::PHASER_RELIGHT_STEPS * rules::PHASER_REST_PER_STEP;
    run(&mut arena, gathering - 1);
    assert_eq!(all(&arena, Kind::Ray).len(), 0);
    arena.step();
    assert_eq!(all(&arena, Kind::Ray).len(), 1);
}

#[test]
fn a_beam_goes_out_with_the_trigger_and_with_its_ship() {
    let (mut arena, shooter, _) = range(Weapon::Phaser);
    shoot_at(&mut arena, shooter, TARGET);
    run(&mut arena, 5);
    hold(&mut arena, shooter, |_| {});
    arena.step();
    assert_eq!(all(&arena, Kind::Ray).len(), 0);

    shoot_at(&mut arena, shooter, TARGET);
    run(&mut arena, 5);
    assert_eq!(all(&arena, Kind::Ray).len(), 1);
    destroy(&mut arena, shooter);
    arena.step();
    assert_eq!(all(&arena, Kind::Ray).len(), 0);
}

#[test]
fn a_rocket_finds_an_enemy_that_it_was_not_aimed_at() {
    let (mut arena, shooter, target) = range(Weapon::Rocket);
    let aim = Heading::from_degrees(25.0).unit() * 1_000.0;
    shoot_at(&mut arena, shooter, aim);
    arena.step();
    hold(&mut arena, shooter, |_| {});
    run(&mut arena, 120);
    let left = rules::SHIP_HEALTH - rules::ROCKET_DAMAGE;
    assert!((health(&arena, target) - left).abs() < 1e-9);
}

#[test]
fn a_rocket_does_not_see_behind_itself() {
    let (mut arena, shooter, target) = range(Weapon::Rocket);
    shoot_at(&mut arena, shooter, -TARGET);
    arena.step();
    hold(&mut arena, shooter, |_| {});
    run(&mut arena, rules::ROCKET_LIFE_STEPS);
    assert!((health(&arena, target) - rules::SHIP_HEALTH).abs() < 1e-9);
    assert_eq!(all(&arena, Kind::Rocket).len(), 0);
}

#[test]
fn a_rocket_can_be_shot_down() {
    let (mut arena, shooter, bystander) = range(Weapon::Rocket);
    ship_mut(&mut arena, bystander).position = Vec2::new(-4_000.0, 0.0);
    let guns = Loadout([Some(Weapon::Gun); 4]);
    let defender = place(&mut arena, Vec2::new(1_500.0, 0.0), guns);
    shoot_at(&mut arena, shooter, Vec2::new(1_500.0, 0.0));
    for _ in 0..60 {
        let rocket = all(&arena, Kind::Rocket).first().map(|it| it.position);
        let aim = rocket.unwrap_or(Vec2::ZERO);
        hold(&mut arena, defender, |intent| {
            intent.fire = [rocket.is_some(); 4];
            intent.aim = aim;
        });
        arena.step();
        hold(&mut arena, shooter, |_| {});
    }
    assert_eq!(all(&arena, Kind::Rocket).len(), 0);
    assert!((health(&arena, defender) - rules::SHIP_HEALTH).abs() < 1e-9);
}

#[test]
fn a_shockwave_passes_everything_once_and_throws_it_back() {
    let (mut arena, shooter, target) = range(Weapon::Shockwave);
    // Fleeing at full speed, it stays near the rim for long.
    ship_mut(&mut arena, target).velocity = Vec2::new(rules::SHIP_MAX_SPEED, 0.0);
    let far = place(&mut arena, Vec2::new(0.0, 2_000.0), Loadout::UNARMED);
    ship_mut(&mut arena, target).position = Vec2::new(200.0, 0.0);
    shoot_at(&mut arena, shooter, TARGET);
    arena.step();
    hold(&mut arena, shooter, |_| {});
    run(&mut arena, 60);
    let left = rules::SHIP_HEALTH - rules::SHOCKWAVE_DAMAGE;
    assert!((health(&arena, target) - left).abs() < 1e-9);
    assert!((health(&arena, far) - rules::SHIP_HEALTH).abs() < 1e-9);
    assert!((health(&arena, shooter) - rules::SHIP_HEALTH).abs() < 1e-9);
    assert_eq!(all(&arena, Kind::Shockwave).len(), 0);
}

#[test]
fn a_shockwave_pushes_what_stood_still() {
    let (mut arena, shooter, target) = range(Weapon::Shockwave);
    shoot_at(&mut arena, shooter, TARGET);
    run(&mut arena, 30);
    assert!(ship(&arena, target).velocity.x > rules::SHOCKWAVE_PUSH / 2.0);
    assert!(ship(&arena, shooter).velocity.length() < 1e-9);
}

#[test]
fn rockets_run_out_and_are_found_again_near_a_planet() {
    let mut arena = Arena::new(1);
    let loadout = Loadout([Some(Weapon::Rocket), None, None, None]);
    let far = Vec2::new(0.0, -4_900.0);
    let shooter = place(&mut arena, far, loadout);
    let left = |arena: &Arena| match &ship(arena, shooter).role {
        Role::Ship(ship) => ship.mounts[0].unwrap().left,
        _ => None,
    };
    assert_eq!(left(&arena), Some(rules::ROCKETS_CARRIED));
    let mut fired = 0;
    for _ in 0..2 * u32::from(rules::ROCKETS_CARRIED) * rules::ROCKET_RELOAD_STEPS {
        ship_mut(&mut arena, shooter).position = far;
        shoot_at(&mut arena, shooter, far * 2.0);
        arena.step();
        let is_rocket = |event: &&Event| {
            let Event::Added { entity } = event else {
                return false;
            };
            arena
                .entity(*entity)
                .is_some_and(|it| it.kind() == Kind::Rocket)
        };
        fired += arena.events().iter().filter(is_rocket).count();
    }
    assert_eq!(
        (fired, left(&arena)),
        (rules::ROCKETS_CARRIED.into(), Some(0))
    );
    hold(&mut arena, shooter, |_| {});
    for seconds in 1..=10 {
        for _ in 0..rules::SUPPLY_STEPS {
            let planet = all(&arena, Kind::Planet)[0];
            let beside = planet.reach() + 0.9 * rules::SUPPLY_REACH;
            let beside = planet.position + Vec2::new(0.0, beside);
            ship_mut(&mut arena, shooter).position = beside;
            arena.step();
        }
        assert_eq!(left(&arena), Some(rules::ROCKETS_CARRIED.min(seconds)));
    }
}
