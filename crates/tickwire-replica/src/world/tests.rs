//! What a game sees of its world.

use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::{Replicate, Unfit};

#[derive(Clone, Debug, PartialEq, Replicate)]
pub(crate) struct Ship {
    #[replicate(step = 0.5, position)]
    pub(crate) position: [f32; 2],
    pub(crate) health: u8,
}

#[derive(Clone, Debug, PartialEq, Replicate)]
struct Name {
    #[replicate(max = 20)]
    text: String,
}

#[derive(Archetypes, Clone, Debug, PartialEq)]
enum Thing {
    Ship(Ship),
    Name(Name),
}

fn ship(x: f32, y: f32) -> Ship {
    Ship {
        position: [x, y],
        health: 100,
    }
}

fn name(text: &str) -> Name {
    Name { text: text.into() }
}

fn world() -> World<Thing> {
    let config = WorldConfig {
        side: 10.0,
        entities: 100,
        ticks_per_send: 2,
        rewind: 5,
        ..WorldConfig::default()
    };
    World::new(config).unwrap()
}

fn cell(world: &World<Thing>, id: EntityId) -> Option<[i32; 2]> {
    let (_, cell) = world.whereabouts(id).unwrap();
    cell.map(|Cell { row, column }| [column, row])
}

#[test]
fn values_are_quantised_and_typed() {
    let mut world = world();
    let id = world.spawn(&Thing::Ship(ship(1.2, -3.8))).unwrap();
    assert_eq!(world.get(id), Some(ship(1.0, -4.0)));
    assert_eq!(world.get::<Name>(id), None);
    assert_eq!(world.get_any(id), Some(Thing::Ship(ship(1.0, -4.0))));
    world.set(id, &ship(2.0, 0.0)).unwrap();
    assert_eq!(world.get(id), Some(ship(2.0, 0.0)));
    world.despawn(id).unwrap();
    assert_eq!(world.get::<Ship>(id), None);
    assert_eq!(
        world.set(id, &ship(0.0, 0.0)),
        Err(WorldError::Absent { entity: id })
    );
}

#[test]
fn errors_name_the_entity_and_the_field_and_change_nothing() {
    let mut world = world();
    let id = world.spawn(&Thing::Ship(ship(1.0, 2.0))).unwrap();
    let before = world.get::<Ship>(id);
    let unfit = world.set(id, &ship(f32::NAN, 2.0)).unwrap_err();
    let WorldError::Unfit { entity, error } = unfit else {
        panic!("{unfit}");
    };
    assert_eq!(
        (entity, error.field, error.why),
        (id, "position", Unfit::NotANumber)
    );
    assert_eq!(world.get::<Ship>(id), before);
    let other = world.set(id, &name("Ada")).unwrap_err().to_string();
    assert_eq!(other, "entity #1 is a Ship, not a Name");
    let long = world
        .spawn(&Thing::Name(name("a name that is far too long")))
        .unwrap_err();
    assert!(
        long.to_string().starts_with("entity #2: text has 27 bytes"),
        "{long}"
    );
    assert_eq!(world.len(), 1);
}

#[test]
fn there_are_no_more_entities_than_allowed() {
    let mut world = world();
    let ids: Vec<_> = (0..100)
        .map(|_| world.spawn(&Thing::Name(name("x"))).unwrap())
        .collect();
    let full = world.spawn(&Thing::Name(name("x")));
    assert_eq!(full, Err(WorldError::EntityLimit { limit: 100 }));
    world.despawn(ids[3]).unwrap();
    let id = world.spawn(&Thing::Name(name("y"))).unwrap();
    assert!(!ids.contains(&id), "an id names nobody else");
}

#[test]
fn one_audience_too_many_is_an_error_that_names_the_entity() {
    let mut world = World::<Thing>::new(WorldConfig::default()).unwrap();
    let private = |player| Spawn {
        audience: Audience::Player(PlayerId(player)),
        ..Spawn::default()
    };
    for player in 0..256 {
        world
            .spawn_with(&Thing::Name(name("")), private(player))
            .unwrap();
    }
    let error = world.spawn_with(&Thing::Name(name("")), private(256));
    let entity = EntityId(257);
    assert_eq!(error, Err(WorldError::AudienceLimit { entity }));
    assert_eq!(world.len(), 256);
}

#[test]
fn entities_change_cells_when_they_are_clearly_beyond() {
    let mut world = world();
    let id = world.spawn(&Thing::Ship(ship(9.0, 5.0))).unwrap();
    assert_eq!(cell(&world, id), Some([0, 0]));
    world.set(id, &ship(11.0, -1.0)).unwrap();
    assert_eq!(cell(&world, id), Some([0, 0]), "an eighth of a side");
    world.set(id, &ship(11.5, -1.0)).unwrap();
    assert_eq!(cell(&world, id), Some([1, -1]));
    world.set(id, &ship(9.0, 1.0)).unwrap();
    assert_eq!(cell(&world, id), Some([1, -1]));
    assert_eq!(world.get(id), Some(ship(9.0, 1.0)));
}

#[test]
fn what_is_private_or_everywhere_has_no_cell() {
    let mut world = world();
    let everywhere = Spawn {
        is_everywhere: true,
        ..Spawn::default()
    };
    let id = world
        .spawn_with(&Thing::Ship(ship(1.0, 1.0)), everywhere)
        .unwrap();
    assert_eq!(cell(&world, id), None);
    world.set(id, &ship(500.0, 0.0)).unwrap();
    assert_eq!(cell(&world, id), None);
    let id = world.spawn(&Thing::Ship(ship(1.0, 1.0))).unwrap();
    let audience = Audience::Player(PlayerId(1));
    world.set_audience(id, audience).unwrap();
    assert_eq!(world.whereabouts(id), Some((audience, None)));
    world.set(id, &ship(25.0, 1.0)).unwrap();
    world.set_audience(id, Audience::Everyone).unwrap();
    assert_eq!(cell(&world, id), Some([2, 0]));
    assert_eq!(world.get(id), Some(ship(25.0, 1.0)));
}

#[test]
fn every_held_tick_reads_as_the_world_was() {
    let mut world = world();
    let id = world.spawn(&Thing::Ship(ship(0.0, 0.0))).unwrap();
    let still = world.spawn(&Thing::Name(name("still"))).unwrap();
    // It crosses two borders on the way, and there are ticks at which nothing is set.
    let mut expected = vec![];
    for tick in 1..=20_u16 {
        if tick % 3 != 0 {
            world.set(id, &ship(f32::from(tick), 0.0)).unwrap();
        }
        world.commit();
        expected.push(world.get::<Ship>(id));
    }
    world.despawn(id).unwrap();
    world.commit();
    for tick in 16..=20 {
        let past = world.past(Tick(tick)).unwrap();
        let then = expected[usize::try_from(tick).unwrap() - 1].clone();
        assert_eq!(past.get(id), then, "{tick}");
        assert_eq!(
            past.iter::<Ship>()
                .map(|(_, ship)| Some(ship))
                .collect::<Vec<_>>(),
            [then]
        );
        assert_eq!(past.get(still), Some(name("still")));
        assert_eq!(past.get::<Name>(id), None);
    }
    assert!(world.past(Tick(15)).is_none() && world.past(Tick(22)).is_none());
    let now = world.past(Tick(21)).unwrap();
    assert_eq!(now.get_any(id), None);
}

#[test]
fn what_is_not_committed_is_not_the_past() {
    let mut world = world();
    world.commit();
    let id = world.spawn(&Thing::Ship(ship(0.0, 0.0))).unwrap();
    assert_eq!(world.past(Tick(1)).unwrap().get::<Ship>(id), None);
    world.commit();
    world.set(id, &ship(3.0, 0.0)).unwrap();
    assert_eq!(world.past(Tick(2)).unwrap().get(id), Some(ship(0.0, 0.0)));
}

#[test]
fn history_is_bounded_and_holds_64_sends() {
    let mut world = world();
    let id = world.spawn(&Thing::Ship(ship(0.0, 0.0))).unwrap();
    let health = |tick: u64| Ship {
        health: u8::try_from(tick % 251).unwrap(),
        ..ship(0.0, 0.0)
    };
    for tick in 1..=500 {
        world.set(id, &health(tick)).unwrap();
        world.commit();
    }
    let (_, at) = world.store.entities.get(id).unwrap();
    let block = world.store.block(at.block);
    // 64 sends, and the ticks between those that can be read back.
    assert!(block.versions() <= 64 + 4, "{}", block.versions());
    for age in 0..64 {
        let send = world.send().before(age);
        let view = world.store.at_send(at.block, send).unwrap();
        let then: Ship = Ship::load(&mut RowReader::slot(view, 0));
        assert_eq!(then, health(send.0 * 2), "{age} sends ago");
    }
    // A block that nobody writes gives its history back.
    for _ in 0..140 {
        world.commit();
    }
    assert_eq!(world.store.block(at.block).versions(), 0);
}

#[test]
fn a_place_that_everybody_left_is_no_more() {
    let mut world = world();
    let id = world.spawn(&Thing::Ship(ship(0.0, 0.0))).unwrap();
    world.commit();
    world.commit();
    let old = world.place_of(id).unwrap();
    world.set(id, &ship(50.0, 0.0)).unwrap();
    for _ in 0..140 {
        world.commit();
    }
    assert!(world.store.place(old).is_none());
    assert!(world.store.place(world.place_of(id).unwrap()).is_some());
}

#[test]
fn spawns_fill_the_fullest_block() {
    let mut world = World::<Thing>::new(WorldConfig::default()).unwrap();
    let ids: Vec<_> = (0..200)
        .map(|_| world.spawn(&Thing::Ship(ship(0.0, 0.0))).unwrap())
        .collect();
    let slots = world.shape(0).slots;
    assert_eq!(slots, 64);
    // The second block is emptier than the first.
    for id in ids[64..90].iter().chain(&ids[..3]) {
        world.despawn(*id).unwrap();
    }
    let first = world.store.entities.get(ids[5]).unwrap().1.block;
    let new = world.spawn(&Thing::Ship(ship(0.0, 0.0))).unwrap();
    assert_eq!(world.store.entities.get(new).unwrap().1.block, first);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let check = |config, name| {
        let error = World::<Thing>::new(config).map(|_| ()).unwrap_err();
        assert_eq!(error, ConfigError::Setting { name });
    };
    let config = WorldConfig::default();
    check(
        WorldConfig {
            side: 0.0,
            ..config
        },
        "side",
    );
    check(
        WorldConfig {
            entities: u32::MAX,
            ..config
        },
        "entities",
    );
    check(
        WorldConfig {
            ticks_per_send: 0,
            ..config
        },
        "ticks_per_send",
    );
    check(
        WorldConfig {
            rewind: 1_000,
            ..config
        },
        "rewind",
    );
}

#[test]
fn a_type_that_fits_no_record_is_refused() {
    #[derive(Clone, Debug, Replicate)]
    struct Book {
        #[replicate(max = 2_000)]
        text: String,
    }
    #[derive(Archetypes, Clone, Debug)]
    enum Library {
        Book(Book),
    }
    let error = World::<Library>::new(WorldConfig::default())
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(
            error,
            ConfigError::TooLarge {
                archetype: "Book",
                ..
            }
        ),
        "{error}"
    );
}
