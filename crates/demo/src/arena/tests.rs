//! Joining, dying, coming back; the same twice; never too much.

use super::*;
use crate::entity::Role;
use crate::{Kind, Vec2, Weapon};

/// Space without a sun, so that nothing moves but by the test's doing.
pub(super) fn arena_without_sky() -> Arena {
    let mut arena = Arena::new(1);
    for body in core::mem::take(&mut arena.sky) {
        arena.remove(body.id);
    }
    arena
}

/// A new pilot whose ship stands still at `position`.
pub(super) fn place(arena: &mut Arena, position: Vec2, loadout: Loadout) -> PilotId {
    let pilot = arena.join("somebody").unwrap();
    arena.select(pilot, loadout);
    arena.bring_ships_in();
    ship_mut(arena, pilot).position = position;
    pilot
}

pub(super) fn hold(arena: &mut Arena, pilot: PilotId, keys: impl FnOnce(&mut Intent)) {
    let mut intent = Intent::default();
    keys(&mut intent);
    arena.set_intent(pilot, intent);
}

pub(super) fn run(arena: &mut Arena, steps: u32) {
    for _ in 0..steps {
        arena.step();
    }
}

#[track_caller]
pub(crate) fn ship(arena: &Arena, pilot: PilotId) -> &Entity {
    arena
        .entity(arena.pilot(pilot).unwrap().ship().unwrap())
        .unwrap()
}

#[track_caller]
pub(crate) fn ship_mut(arena: &mut Arena, pilot: PilotId) -> &mut Entity {
    let id = arena.pilot(pilot).unwrap().ship().unwrap();
    arena.entities.get_mut(id.0).unwrap()
}

#[track_caller]
pub(super) fn health(arena: &Arena, pilot: PilotId) -> f64 {
    let Role::Ship(ship) = &ship(arena, pilot).role else {
        panic!("{pilot} flies something that is no ship");
    };
    ship.health
}

#[track_caller]
fn set_health(arena: &mut Arena, pilot: PilotId, points: f64) {
    let Role::Ship(ship) = &mut ship_mut(arena, pilot).role else {
        panic!("{pilot} flies something that is no ship");
    };
    ship.health = points;
}

/// Lets a ship end with the next step, by nobody's doing.
#[track_caller]
pub(super) fn destroy(arena: &mut Arena, pilot: PilotId) {
    set_health(arena, pilot, 0.0);
}

#[track_caller]
fn check_score(arena: &Arena, pilot: PilotId, kills: u16, deaths: u16) {
    let pilot = arena.pilot(pilot).unwrap();
    assert_eq!((pilot.kills(), pilot.deaths()), (kills, deaths));
}

/// A shooter that holds its gun on a target with this much health left.
fn duel(target_health: f64) -> (Arena, PilotId, PilotId) {
    let mut arena = arena_without_sky();
    let gun = Loadout([Some(Weapon::Gun), None, None, None]);
    let shooter = place(&mut arena, Vec2::new(-300.0, 0.0), gun);
    let target = place(&mut arena, Vec2::new(300.0, 0.0), Loadout::UNARMED);
    set_health(&mut arena, target, target_health);
    hold(&mut arena, shooter, |intent| {
        intent.fire[0] = true;
        intent.aim = Vec2::new(300.0, 0.0);
    });
    (arena, shooter, target)
}

#[test]
fn a_pilot_watches_until_its_first_selection() {
    let mut arena = Arena::new(1);
    let pilot = arena.join("Ada").unwrap();
    run(&mut arena, 10);
    assert_eq!(arena.pilot(pilot).unwrap().ship(), None);
    arena.select(pilot, Loadout::STANDARD);
    assert_eq!(arena.pilot(pilot).unwrap().ship(), None);
    arena.step();
    let ship = arena.pilot(pilot).unwrap().ship().unwrap();
    let expected = [
        Event::Added { entity: ship },
        Event::Entered { pilot, ship },
    ];
    assert_eq!(arena.events(), expected);
}

#[test]
fn a_later_selection_arms_the_next_ship() {
    let mut arena = arena_without_sky();
    let pilot = place(&mut arena, Vec2::ZERO, Loadout::UNARMED);
    arena.select(pilot, Loadout([Some(Weapon::Gun), None, None, None]));
    hold(&mut arena, pilot, |intent| intent.fire = [true; 4]);
    run(&mut arena, 60);
    assert_eq!(arena.entities().count(), 1);
    destroy(&mut arena, pilot);
    run(&mut arena, rules::RESPAWN_STEPS + 2);
    assert!(arena.entities().any(|(_, it)| it.kind() == Kind::Bullet));
}

#[test]
fn a_kill_counts_for_both_and_repairs_the_winner() {
    let (mut arena, shooter, target) = duel(8.0);
    set_health(&mut arena, shooter, 50.0);
    let at = loop {
        arena.step();
        let killed = arena.events().iter().find_map(|event| match *event {
            Event::Killed { victim, by, at } => Some((victim, by, at)),
            _ => None,
        });
        if let Some((victim, by, at)) = killed {
            assert_eq!((victim, by), (target, Some(shooter)));
            break at;
        }
    };
    assert!(at.distance(Vec2::new(300.0, 0.0)) < 50.0);
    check_score(&arena, shooter, 1, 0);
    check_score(&arena, target, 0, 1);
    assert!((health(&arena, shooter) - 50.0 - rules::REPAIR_PER_KILL).abs() < 1e-9);
}

#[test]
fn the_dead_come_back_whole_after_two_seconds_far_from_others() {
    let (mut arena, shooter, target) = duel(1.0);
    while arena.pilot(target).unwrap().ship().is_some() {
        arena.step();
    }
    run(&mut arena, rules::RESPAWN_STEPS - 1);
    assert_eq!(arena.pilot(target).unwrap().ship(), None);
    arena.step();
    assert!((health(&arena, target) - rules::SHIP_HEALTH).abs() < 1e-9);
    let apart = ship(&arena, target)
        .position
        .distance(ship(&arena, shooter).position);
    assert!(apart > 1_000.0, "{apart}");
}

#[test]
fn who_is_driven_into_death_was_killed_by_the_one_who_drove() {
    let (mut arena, shooter, target) = duel(100.0);
    while health(&arena, target) == rules::SHIP_HEALTH {
        arena.step();
    }
    hold(&mut arena, shooter, |_| {});
    run(&mut arena, rules::BLAME_STEPS - 5);
    destroy(&mut arena, target);
    arena.step();
    check_score(&arena, shooter, 1, 0);
}

#[test]
fn an_old_hit_is_forgiven() {
    let (mut arena, shooter, target) = duel(100.0);
    while health(&arena, target) == rules::SHIP_HEALTH {
        arena.step();
    }
    // A bullet or two may still be on the way.
    hold(&mut arena, shooter, |_| {});
    run(&mut arena, rules::BLAME_STEPS + rules::BULLET_LIFE_STEPS);
    destroy(&mut arena, target);
    arena.step();
    check_score(&arena, shooter, 0, 0);
    check_score(&arena, target, 0, 1);
}

#[test]
fn leaving_takes_ship_and_shots_and_is_told_with_the_next_step() {
    let (mut arena, shooter, target) = duel(100.0);
    run(&mut arena, 12);
    let gone = arena.ids(|entity| entity.owner == Some(shooter));
    assert!(gone.len() > 1);
    arena.leave(shooter);
    assert!(arena.pilot(shooter).is_none());
    assert_eq!(arena.entities().count(), 1);
    arena.step();
    let told: Vec<_> = gone
        .iter()
        .map(|&entity| Event::Removed { entity })
        .collect();
    assert_eq!(arena.events(), told);

    // What is still said about the one who left changes nothing.
    arena.select(shooter, Loadout::STANDARD);
    arena.rename(shooter, "ghost");
    arena.leave(shooter);
    run(&mut arena, 2);
    assert!(arena.pilots().map(|(id, _)| id).eq([target]));
    assert_eq!(arena.entities().count(), 1);
}

#[test]
fn a_full_arena_refuses_until_somebody_leaves() {
    let mut arena = Arena::new(1);
    let first = arena.join("first").unwrap();
    for n in 1..limits::PILOTS {
        arena.join(&n.to_string()).unwrap();
    }
    assert_eq!(arena.join("late"), Err(ArenaFull));
    arena.leave(first);
    let late = arena.join("late").unwrap();
    assert_eq!(late.index(), first.index());
    assert_ne!(late, first);
}

#[test]
fn the_view_tells_what_the_arena_holds() {
    let mut arena = Arena::new(1);
    let pilot = arena.join("Ada").unwrap();
    arena.select(pilot, Loadout::STANDARD);
    arena.set_ping(pilot, Some(Duration::from_millis(40)));
    run(&mut arena, 60);
    let mut view = arena.view();
    assert_eq!(view.time, Duration::from_secs(1));
    assert_eq!(view.seen.len(), arena.entities().count());
    view.set_viewer(Some(pilot.into()));
    let own = view.own_ship().unwrap();
    assert_eq!(own.position, ship(&arena, pilot).position);
    assert_eq!((own.health, own.own), (100, true));
    let scores = arena.scores();
    assert_eq!(scores[0].name, "Ada");
    assert_eq!(scores[0].ping, Some(Duration::from_millis(40)));
}

/// Pilots who press random keys, all of them often.
fn press_random_keys(arena: &mut Arena, random: &mut Random) {
    let pilots: Vec<_> = arena.pilots().map(|(id, _)| id).collect();
    for pilot in pilots {
        if !random.chance(0.1) {
            continue;
        }
        let mut key = |probability| random.chance(probability);
        let intent = Intent {
            forward: key(0.6),
            backward: key(0.2),
            turn_left: key(0.3),
            turn_right: key(0.3),
            strafe_left: key(0.2),
            strafe_right: key(0.2),
            fire: [key(0.9), key(0.9), key(0.9), key(0.9)],
            aim: Vec2::new(
                random.between(-8_000.0, 8_000.0),
                random.between(-8_000.0, 8_000.0),
            ),
        };
        arena.set_intent(pilot, intent);
    }
}

fn crowd(seed: u64, pilots: u16, loadout: Loadout) -> Arena {
    let mut arena = Arena::new(seed);
    for n in 0..pilots {
        let pilot = arena.join(&n.to_string()).unwrap();
        arena.select(pilot, loadout);
    }
    arena
}

#[test]
fn the_same_seed_and_keys_give_the_same_world_and_others_do_not() {
    let world = |seed| {
        let mut arena = crowd(seed, 12, Loadout::STANDARD);
        let mut random = Random::new(99);
        for _ in 0..3_600 {
            press_random_keys(&mut arena, &mut random);
            arena.step();
        }
        arena.digest()
    };
    assert_eq!(world(7), world(7));
    assert_ne!(world(7), world(8));
}

#[test]
fn everything_stays_bounded_when_everybody_fires_everything() {
    let guns = Loadout([Some(Weapon::Gun); 4]);
    for loadout in [Loadout::STANDARD, guns] {
        let mut arena = crowd(5, limits::PILOTS, loadout);
        let mut random = Random::new(5);
        for _ in 0..240 {
            press_random_keys(&mut arena, &mut random);
            arena.step();
            check_bounds(&arena);
        }
        assert!(arena.pilots().any(|(_, pilot)| pilot.kills() > 0));
    }
}

#[test]
fn at_the_limit_of_shots_everybody_gets_some() {
    let mut arena = crowd(5, limits::PILOTS, Loadout([Some(Weapon::Gun); 4]));
    let pilots: Vec<_> = arena.pilots().map(|(id, _)| id).collect();
    for &pilot in &pilots {
        hold(&mut arena, pilot, |intent| intent.fire = [true; 4]);
    }
    let mut shots = vec![0; pilots.len()];
    for _ in 0..600 {
        arena.step();
        for event in arena.events() {
            if let Event::Added { entity } = *event
                && let Some(entity) = arena.entity(entity)
                && entity.is_shot()
            {
                shots[usize::from(entity.owner.unwrap().index())] += 1;
            }
        }
    }
    assert!(arena.shots > limits::SHOTS / 10 * 9);
    assert!(shots.iter().all(|&n| n >= 8), "{shots:?}");
}

#[track_caller]
fn check_bounds(arena: &Arena) {
    let shots = arena.entities().filter(|(_, it)| it.is_shot()).count();
    assert_eq!(shots, usize::from(arena.shots));
    assert!(arena.shots <= limits::SHOTS);
    assert!(arena.entities().count() <= usize::from(limits::ENTITIES));
    for (id, entity) in arena.entities() {
        assert!(entity.velocity.is_finite(), "{id}: {entity:?}");
        // A shot begins at the edge of a ship that stands at the wall.
        let furthest = rules::WALL_RADIUS + 2.0 * rules::SHIP_RADIUS;
        assert!(entity.position.length() <= furthest, "{id}: {entity:?}");
        assert!(entity.reach() <= 1_000.0, "{id}: {entity:?}");
        assert!((1..=100).contains(&entity.health_percent()));
    }
    let collision = |event: &&Event| matches!(event, Event::Collision { .. });
    let collisions = arena.events().iter().filter(collision).count();
    assert!(collisions <= limits::COLLISIONS_PER_STEP);
}
