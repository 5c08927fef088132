//! The derives: what fields a type has, that values come back within their bounds, that what came back
//! stores as the same lanes, and what errors say.

#![allow(
    clippy::cast_possible_truncation,
    reason = "values are cut to small ones on purpose"
)]

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use proptest::prelude::*;
use tickwire_replica::{
    Archetype, Archetypes, EntityId, Field, FieldError, Kind, Playback, Quantised, Replicate,
    RowReader, RowWriter, Unfit,
};
use tickwire_wire::{BitReader, BitWriter, DecodeError};

const ARENA: f32 = 500.0;

#[derive(Clone, Debug, PartialEq, Replicate)]
struct Body {
    #[replicate(step = 0.01, position, jump_over = 5.0)]
    position: [f32; 3],
    #[replicate(quaternion, bits = 10)]
    rotation: [f32; 4],
    #[replicate(range = -50.0..=50.0, bits = 11, hold)]
    velocity: [f32; 3],
}

#[derive(Clone, Debug, PartialEq, Replicate)]
enum Engine {
    Off,
    Idle(#[replicate(range = 100..=4_000)] u16),
    Thrust {
        #[replicate(angle, bits = 12)]
        direction: f32,
        #[replicate(step = 0.5, range = 0.0..=100.0)]
        force: f64,
        boosted: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Replicate)]
struct Ship {
    body: Body,
    engine: Engine,
    health: u8,
    #[replicate(bits = 5, interpolate, jump_over = 3)]
    heat: i64,
    #[replicate(range = -ARENA..=ARENA, step = 0.25)]
    home: [f32; 2],
    target: EntityId,
    lights: [bool; 4],
    #[replicate(max = 16)]
    name: String,
    #[replicate(max = 4)]
    paint: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Replicate)]
struct Rock(#[replicate(step = 1.0, position)] [f64; 2], i32);

#[derive(Clone, Copy, Debug, PartialEq, Replicate)]
struct Marker;

#[derive(Archetypes, Clone, Debug, PartialEq)]
enum Entity {
    Ship(Ship),
    Rock(Rock),
    Marker(Marker),
}

/// A stored value: its lanes and its bytes.
type Row = (Vec<u32>, Vec<Arc<[u8]>>);

fn store<T: Replicate>(value: &T) -> Result<Row, FieldError> {
    let lanes = T::FIELDS.iter().map(Field::lanes).sum();
    let is_bytes = |field: &&Field| matches!(field.kind, Kind::Bytes { .. });
    let texts = T::FIELDS.iter().filter(is_bytes).count();
    let mut row = (vec![u32::MAX; lanes], vec![Arc::from([1, 2, 3]); texts]);
    value.store(&mut RowWriter::new(T::FIELDS, &mut row.0, &mut row.1))?;
    Ok(row)
}

fn load<T: Replicate>(row: &Row) -> T {
    T::load(&mut RowReader::new(&row.0, &row.1))
}

fn ship() -> Ship {
    Ship {
        body: Body {
            position: [1.0, -2.0, 3.456],
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity: [0.0; 3],
        },
        engine: Engine::Off,
        health: 200,
        heat: -16,
        home: [-500.0, 499.9],
        target: EntityId(7),
        lights: [true, false, false, true],
        name: "Ada".into(),
        paint: vec![9],
    }
}

#[test]
fn fields_have_paths_kinds_and_playback() {
    let found: Vec<_> = Ship::FIELDS.iter().map(|field| field.name).collect();
    let expected = [
        "body.position",
        "body.rotation",
        "body.velocity",
        "engine.variant",
        "engine.Idle.0",
        "engine.Thrust.direction",
        "engine.Thrust.force",
        "engine.Thrust.boosted",
        "health",
        "heat",
        "home",
        "target",
        "lights",
        "name",
        "paint",
    ];
    assert_eq!(found, expected);
    let position = Ship::FIELDS[0];
    assert!(position.is_position);
    assert_eq!(position.components, 3);
    assert_eq!(position.playback, Playback::Interpolate { jump_over: 500 });
    assert_eq!(Ship::FIELDS[2].playback, Playback::Hold);
    assert_eq!(Ship::FIELDS[3].kind, Kind::Unsigned { max: 2 });
    assert_eq!(Ship::FIELDS[4].kind, Kind::Unsigned { max: 3_900 });
    assert_eq!(Ship::FIELDS[6].kind, Kind::Unsigned { max: 200 });
    assert_eq!(Ship::FIELDS[9].kind, Kind::Signed { min: -16, max: 15 });
    assert_eq!(
        Ship::FIELDS[9].playback,
        Playback::Interpolate { jump_over: 3 }
    );
    let home = Kind::Signed {
        min: -2_000,
        max: 2_000,
    };
    assert_eq!(Ship::FIELDS[10].kind, home);
    assert_eq!(Ship::FIELDS[12].components, 4);
    assert_eq!(Ship::FIELDS[14].kind, Kind::Bytes { max: 4 });
    assert_eq!(Marker::FIELDS, []);
}

#[test]
fn absent_variants_are_zero() {
    let lanes = |engine| store(&engine).unwrap().0;
    assert_eq!(lanes(Engine::Off), [0, 0, 0, 0, 0]);
    assert_eq!(lanes(Engine::Idle(101)), [1, 1, 0, 0, 0]);
    let thrust = Engine::Thrust {
        direction: -PI / 2.0,
        force: 50.0,
        boosted: true,
    };
    assert_eq!(lanes(thrust), [2, 0, 3 << 10, 100, 1]);
}

#[track_caller]
fn check_refused(change: impl FnOnce(&mut Ship), sentence: &str) {
    let mut ship = ship();
    change(&mut ship);
    let refused = store(&ship).expect_err("this does not fit");
    assert_eq!(refused.to_string(), sentence);
}

#[test]
fn an_error_names_the_field() {
    check_refused(
        |ship| ship.body.position[2] = f32::NAN,
        "body.position is not a number",
    );
    check_refused(
        |ship| ship.body.position[0] = f32::INFINITY,
        "body.position is inf, which is not within -83886.07 to 83886.07",
    );
    check_refused(
        |ship| ship.body.rotation = [0.0; 4],
        "body.rotation is no unit quaternion: its length squared is 0",
    );
    check_refused(
        |ship| ship.engine = Engine::Idle(99),
        "engine.Idle.0 is 99, which is not within 100 to 4000",
    );
    check_refused(
        |ship| ship.heat = 16,
        "heat is 16, which is not within -16 to 15",
    );
    check_refused(
        |ship| ship.name = "a name that is too long".into(),
        "name has 23 bytes, at most 16 are allowed",
    );
    check_refused(
        |ship| ship.paint = vec![0; 5],
        "paint has 5 bytes, at most 4 are allowed",
    );
}

#[test]
fn equal_bytes_are_kept() {
    let (mut lanes, mut texts) = store(&ship()).unwrap();
    let held = texts.clone();
    let mut other = ship();
    other.paint = vec![8];
    other
        .store(&mut RowWriter::new(Ship::FIELDS, &mut lanes, &mut texts))
        .unwrap();
    assert!(Arc::ptr_eq(&held[0], &texts[0]), "the name did not change");
    assert_eq!(*texts[1], [8]);
}

#[test]
fn a_text_that_is_not_utf8_is_read_as_far_as_it_is() {
    let mut row = store(&ship()).unwrap();
    row.1[0] = Arc::from(*b"ab\xffcd");
    assert_eq!(load::<Ship>(&row).name, "ab");
}

#[test]
fn between_two_values_each_field_is_shown_as_it_says() {
    let from = ship();
    let mut next = ship();
    next.body.position = [2.0, -2.0, 3.456];
    next.body.velocity = [1.0; 3];
    next.heat = -14;
    next.health = 0;
    let shown = from.between(&next, 0.5);
    assert_eq!(shown.body.position, [1.5, -2.0, 3.456]);
    assert_eq!((shown.heat, shown.health), (-15, 200));
    assert_eq!(shown.body.velocity, [0.0; 3]);
    assert_eq!(store(&from.between(&next, 1.0)), store(&next));

    // Further than `jump_over`, along one axis.
    next.body.position[1] = 3.1;
    next.heat = 0;
    let shown = from.between(&next, 0.99);
    assert_eq!((shown.body.position, shown.heat), (from.body.position, -16));
    assert_eq!(store(&from.between(&next, 1.0)), store(&next));

    let thrust = |direction, force| Engine::Thrust {
        direction,
        force,
        boosted: false,
    };
    let Engine::Thrust {
        direction, force, ..
    } = thrust(3.0, 10.0).between(&thrust(-3.0, 20.0), 0.5)
    else {
        panic!("it is the same variant");
    };
    assert!((direction - PI).abs() < 1e-5, "the short way: {direction}");
    assert!((force - 15.0).abs() < 1e-9, "{force}");
    assert_eq!(
        thrust(3.0, 10.0).between(&Engine::Off, 0.5),
        thrust(3.0, 10.0)
    );
}

#[test]
fn an_enum_lists_its_archetypes() {
    let schema = Entity::schema();
    let names: Vec<_> = schema
        .archetypes()
        .iter()
        .map(|archetype| archetype.name)
        .collect();
    assert_eq!(names, ["Ship", "Rock", "Marker"]);
    assert_eq!(<Rock as Archetype<Entity>>::INDEX, 1);
    let entity = Entity::from(Rock([10.0, -20.0], 7));
    assert_eq!(entity.archetype(), 1);
    let mut lanes = [0; 3];
    entity
        .store(&mut RowWriter::new(Rock::FIELDS, &mut lanes, &mut []))
        .unwrap();
    let loaded = |archetype| Entity::load(archetype, &mut RowReader::new(&lanes, &[]));
    assert_eq!(loaded(1), Some(entity));
    assert_eq!(loaded(3), None);
}

fn rotations() -> impl Strategy<Value = [f32; 4]> {
    proptest::array::uniform4(-1.0..1.0_f32).prop_filter_map("has a length", |parts| {
        let length = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
        (length > 1e-2).then(|| parts.map(|part| part / length))
    })
}

fn engines() -> impl Strategy<Value = Engine> {
    prop_oneof![
        Just(Engine::Off),
        (100..=4_000_u16).prop_map(Engine::Idle),
        (-9.0..9.0_f32, 0.0..=100.0, any::<bool>()).prop_map(|(direction, force, boosted)| {
            Engine::Thrust {
                direction,
                force,
                boosted,
            }
        }),
    ]
}

fn ships() -> impl Strategy<Value = Ship> {
    let body = (
        proptest::array::uniform3(-83_886.0..83_886.0_f32),
        rotations(),
        proptest::array::uniform3(-50.0..=50.0_f32),
    );
    let body = body.prop_map(|(position, rotation, velocity)| Body {
        position,
        rotation,
        velocity,
    });
    let rest = (
        any::<u8>(),
        -16..16_i64,
        proptest::array::uniform2(-500.0..=500.0_f32),
        any::<u32>(),
        any::<[bool; 4]>(),
        "[a-zé]{0,8}",
        proptest::collection::vec(any::<u8>(), 0..=4),
    );
    (body, engines(), rest).prop_map(|(body, engine, rest)| {
        let (health, heat, home, target, lights, name, paint) = rest;
        Ship {
            body,
            engine,
            health,
            heat,
            home,
            target: EntityId(target),
            lights,
            name,
            paint,
        }
    })
}

/// Whether a float came back as the bound says: half a step, and half of its last place.
fn is_near(stored: f32, loaded: f32, step: f32) -> bool {
    let last_place = stored.abs() * f32::EPSILON;
    (stored - loaded).abs() <= 0.5 * step * 1.0001 + last_place
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn values_come_back_within_their_bounds(ship in ships()) {
        let loaded: Ship = load(&store(&ship).unwrap());
        for axis in 0..3 {
            prop_assert!(is_near(ship.body.position[axis], loaded.body.position[axis], 0.01));
            prop_assert!(is_near(ship.body.velocity[axis], loaded.body.velocity[axis], 100.0 / 2047.0));
        }
        for axis in 0..2 {
            prop_assert!(is_near(ship.home[axis], loaded.home[axis], 0.25));
        }
        match (&ship.engine, &loaded.engine) {
            (
                Engine::Thrust { direction, force, boosted },
                Engine::Thrust { direction: loaded, force: f, boosted: b },
            ) => {
                let apart = (direction - loaded).rem_euclid(TAU);
                prop_assert!(apart.min(TAU - apart) <= PI / 4096.0 + 1e-5, "{}", apart);
                prop_assert!((force - f).abs() <= 0.25 && boosted == b);
            }
            (stored, loaded) => prop_assert_eq!(stored, loaded),
        }
        let exact = |ship: &Ship| {
            let Ship { health, heat, target, lights, name, paint, .. } = ship.clone();
            (health, heat, target, lights, name, paint)
        };
        prop_assert_eq!(exact(&ship), exact(&loaded));
    }

    #[test]
    fn storing_what_was_loaded_changes_nothing(ship in ships()) {
        let row = store(&ship).unwrap();
        prop_assert_eq!(store(&load::<Ship>(&row)).unwrap(), row);
    }

    #[test]
    fn lanes_are_within_their_kinds(ship in ships()) {
        let (lanes, texts) = store(&ship).unwrap();
        let (mut lanes, mut texts) = (lanes.into_iter(), texts.into_iter());
        for field in Ship::FIELDS {
            if let Kind::Bytes { max } = field.kind {
                prop_assert!(texts.next().unwrap().len() <= usize::from(max));
            }
            for at in 0..field.lanes() {
                let lane = lanes.next().unwrap();
                let fits = match field.kind {
                    Kind::Flag => lane < 2,
                    Kind::Unsigned { max } => lane <= max,
                    Kind::Signed { min, max } => (min..=max).contains(&lane.cast_signed()),
                    Kind::Angle { bits } => lane >> bits == 0,
                    Kind::Quaternion { .. } if at == 0 => lane < 4,
                    Kind::Quaternion { bits } => lane >> bits == 0,
                    Kind::Entity => true,
                    Kind::Bytes { .. } => false,
                };
                prop_assert!(fits, "{}: {}", field.name, lane);
            }
        }
    }

    #[test]
    fn a_value_travels_alone_and_as_a_difference(ships in proptest::collection::vec(ships(), 1..5)) {
        // Half of what follows is the same ship, slightly changed.
        let ships: Vec<_> = ships
            .into_iter()
            .flat_map(|ship| {
                let mut moved = ship.clone();
                moved.body.position[1] *= 0.999;
                moved.health ^= 1;
                [ship, moved]
            })
            .map(|ship| Quantised::new(&ship).unwrap())
            .collect();
        let mut w = BitWriter::new();
        let mut previous = None;
        for ship in &ships {
            ship.encode(previous, &mut w);
            previous = Some(ship);
        }
        let bytes = w.into_bytes();
        let mut r = BitReader::new(&bytes);
        let mut previous = None;
        for ship in &ships {
            let decoded = Quantised::decode(previous.as_ref(), &mut r).unwrap();
            prop_assert_eq!(&decoded, ship);
            prop_assert_eq!(Quantised::new(&decoded.value()).unwrap(), decoded.clone());
            previous = Some(decoded);
        }
        prop_assert_eq!(r.finish(), Ok(()));

        // Cut anywhere, the last value does not decode.
        let mut w = BitWriter::new();
        ships[0].encode(None, &mut w);
        let bytes = w.into_bytes();
        for len in 0..bytes.len() {
            let decoded = Quantised::<Ship>::decode(None, &mut BitReader::new(&bytes[..len]));
            let is_cut = matches!(decoded, Err(DecodeError::Truncated { .. }));
            prop_assert!(is_cut, "{} bytes of {}", len, bytes.len());
        }
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let before = Quantised::new(&ship()).unwrap();
        for previous in [None, Some(&before)] {
            let Ok(decoded) = Quantised::decode(previous, &mut BitReader::new(&bytes)) else {
                continue;
            };
            let mut w = BitWriter::new();
            decoded.encode(previous, &mut w);
            let again = w.into_bytes();
            let decoded_again = Quantised::decode(previous, &mut BitReader::new(&again));
            prop_assert_eq!(decoded_again.as_ref(), Ok(&decoded));
            prop_assert!(decoded.value().body.position.iter().all(|part| part.is_finite()));
        }
    }

    #[test]
    fn any_lanes_load(lanes in proptest::collection::vec(any::<u32>(), 40)) {
        let loaded: Ship = load(&(lanes, vec![Arc::from(*b"\xff\xff"), Arc::default()]));
        prop_assert!(loaded.body.position.iter().all(|part| part.is_finite()));
    }

    #[test]
    fn any_float_is_stored_or_refused(bits in any::<[u32; 3]>()) {
        let position = bits.map(f32::from_bits);
        let mut ship = ship();
        ship.body.position = position;
        match store(&ship) {
            Ok(row) => {
                let loaded: Ship = load(&row);
                for (stored, loaded) in position.into_iter().zip(loaded.body.position) {
                    prop_assert!(is_near(stored, loaded, 0.01), "{} {}", stored, loaded);
                }
            }
            Err(FieldError { field, why }) => {
                prop_assert_eq!(field, "body.position");
                let has_nan = position.iter().any(|part| part.is_nan());
                prop_assert!(has_nan || !matches!(why, Unfit::NotANumber));
            }
        }
    }
}

#[test]
fn a_difference_takes_the_bits_of_what_changed() {
    #[derive(Clone, Replicate)]
    struct Input {
        #[replicate(angle, bits = 12)]
        aim: f32,
        #[replicate(bits = 3)]
        slot: u8,
        fire: bool,
    }
    let input = |aim, fire| Quantised::new(&Input { aim, slot: 2, fire }).unwrap();
    #[track_caller]
    fn check(now: &Quantised<Input>, previous: Option<&Quantised<Input>>, bits: usize) {
        let mut w = BitWriter::new();
        now.encode(previous, &mut w);
        assert_eq!(w.bits(), bits);
    }
    let first = input(1.0, false);
    check(&first, None, 12 + 3 + 1);
    check(&first, Some(&first), 3);
    check(&input(1.01, false), Some(&first), 3 + 1 + 6);
    check(&input(2.0, true), Some(&first), 3 + 1 + 12 + 1);
}

#[test]
fn both_ends_of_a_range_are_reached() {
    let mut at_the_ends = ship();
    at_the_ends.body.velocity = [-50.0, 50.0, 0.0];
    at_the_ends.home = [-500.0, 500.0];
    let loaded: Ship = load(&store(&at_the_ends).unwrap());
    assert_eq!(loaded.body.velocity[..2], [-50.0, 50.0]);
    assert_eq!(loaded.home, [-500.0, 500.0]);
}

#[cfg(feature = "glam")]
mod with_glam {
    use super::*;
    use glam::{Quat, Vec2, Vec3};

    #[derive(Clone, Copy, Debug, PartialEq, Replicate)]
    struct Pose {
        #[replicate(step = 0.125, position)]
        place: Vec3,
        #[replicate(quaternion, bits = 12)]
        turn: Quat,
        #[replicate(range = -1.0..=1.0, bits = 8)]
        stick: Vec2,
    }

    #[test]
    fn its_vectors_are_fields() {
        let pose = Pose {
            place: Vec3::new(1.0, 2.5, -3.125),
            turn: Quat::from_rotation_y(1.0),
            stick: Vec2::new(-1.0, 1.0),
        };
        let loaded: Pose = load(&store(&pose).unwrap());
        assert_eq!((loaded.place, loaded.stick), (pose.place, pose.stick));
        assert!(loaded.turn.angle_between(pose.turn) < 1e-3);
        assert_eq!(Pose::FIELDS[0].components, 3);
    }
}
