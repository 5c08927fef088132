//! Variables, inventories and velocities: to whom, against what, and how much at a time.

use tickwire_dialects::reone::limits::VARIABLES_MAX;
use tickwire_dialects::reone::{
    BadText, GLOBAL, Item, Object, ObjectId, ScopeError, Seat, ServerConfig, Vec2,
};

use super::script::{ANN, BOB, Guest, Script, config, creature};

const OWN: ObjectId = ObjectId(1);
const OTHER: ObjectId = ObjectId(2);

fn set(script: &mut Script, scope: ObjectId, name: &str, value: i32) {
    let set = script.session.set_variable(scope, name, value);
    set.expect("a good name");
}

fn carry(script: &mut Script, owner: ObjectId, slot: u8, count: u16, resref: &str) {
    let item = Item::new(count, resref);
    script
        .session
        .set_item(owner, slot, item)
        .expect("a creature");
}

fn world() -> [Object; 2] {
    [creature(1, 0.0), creature(2, 0.0)]
}

/// Ann with creature 1, and Bob with creature 2.
fn two() -> (Script, Guest, Guest) {
    let (mut script, ann) = Script::playing(config());
    let bob = script.join(1, BOB, Seat::Player(OTHER));
    script.events();
    (script, ann, bob)
}

fn variable(scope: ObjectId, name: &str, value: i32) -> (u32, String, i32) {
    (scope.0, name.to_owned(), value)
}

#[test]
fn a_snapshot_with_all_of_it_byte_by_byte() {
    let (mut script, _) = Script::playing(config());
    carry(&mut script, OWN, 2, 4, "rockets");
    set(&mut script, OWN, "kills", 3);
    let velocity = Some(Vec2 { x: 1.0, y: -1.0 });
    script.publish(&[Object {
        velocity,
        ..creature(1, 0.0)
    }]);
    let mut expected = b"\x01\0\0\0\0\0\0\0\x03\0\0\0\
        \x87\x01\x01\0\0\0\x02\x04\0rockets\0\
        \x88\x01\x01\0\0\0kills\0\x03\0\0\0\
        \x89\x01\x01\0\0\0\0\0\x80\x3f\0\0\x80\xbf\
        \x01\x01\x01\0\0\0"
        .to_vec();
    expected.extend([0; 31]);
    expected.extend(b"\x86\x01\x01");
    assert_eq!(script.taken(ANN), [expected]);
}

#[test]
fn everybody_is_told_of_the_game_and_its_own_creature_and_of_nobody_else() {
    let (mut script, ..) = two();
    set(&mut script, GLOBAL, "players", 2);
    set(&mut script, OWN, "kills", 7);
    carry(&mut script, OTHER, 0, 1, "gun");
    script.publish(&world());
    let (ann, bob) = (script.told(ANN), script.told(BOB));
    let players = variable(GLOBAL, "players", 2);
    assert_eq!(ann.variables, [players.clone(), variable(OWN, "kills", 7)]);
    assert_eq!(ann.items, []);
    assert_eq!(bob.variables, [players]);
    assert_eq!(bob.items, [(2, 0, 1, "gun".to_owned())]);
}

#[test]
fn what_the_base_or_the_baseline_has_is_not_said_again() {
    let (mut script, ann) = Script::playing(config());
    carry(&mut script, OWN, 0, 1, "gun");
    set(&mut script, OWN, "kills", 1);
    let first = script.publish(&world());
    // The base has round 1, and nobody's inventory.
    let told = script.told(ANN);
    assert_eq!(told.variables, [variable(OWN, "kills", 1)]);
    assert_eq!(told.items.len(), 1);
    // Without an acknowledgement it is told again, with what is new.
    set(&mut script, GLOBAL, "round", 2);
    script.publish(&world());
    let told = script.told(ANN);
    assert_eq!((told.acknowledged, told.items.len()), (0, 1));
    let all = [variable(GLOBAL, "round", 2), variable(OWN, "kills", 1)];
    assert_eq!(told.variables, all);
    // With one, what differs: also what ends.
    script.say(&ann, first, &[]);
    carry(&mut script, OWN, 0, 0, "");
    carry(&mut script, OWN, 3, 9, "rockets");
    set(&mut script, OWN, "kills", 0);
    script.publish(&world());
    let told = script.told(ANN);
    let (empty, full) = ((1, 0, 0, String::new()), (1, 3, 9, "rockets".to_owned()));
    assert_eq!(told.items, [empty, full]);
    let all = [variable(GLOBAL, "round", 2), variable(OWN, "kills", 0)];
    assert_eq!((told.acknowledged, &told.variables[..]), (first, &all[..]));
    // What is as in the baseline again is no difference.
    carry(&mut script, OWN, 0, 1, "gun");
    carry(&mut script, OWN, 3, 0, "");
    set(&mut script, OWN, "kills", 1);
    set(&mut script, GLOBAL, "round", 1);
    script.publish(&world());
    let told = script.told(ANN);
    assert_eq!((told.items, told.variables), (vec![], vec![]));
}

#[test]
fn what_is_set_counts_from_the_next_snapshot_on() {
    let (mut script, ann) = Script::playing(config());
    script.session.publish(1, world());
    set(&mut script, OWN, "kills", 1);
    script.drain();
    assert_eq!(script.told(ANN).variables, []);
    script.publish(&world());
    assert_eq!(script.told(ANN).variables, [variable(OWN, "kills", 1)]);
    script.session.clear_scope(OWN);
    let newest = script.session.newest();
    let held = script
        .session
        .scopes(ann.client, newest)
        .expect("it was sent");
    assert_eq!(held[&OWN].variable("kills"), 1);
    assert_eq!(held[&GLOBAL].variable("round"), 1);
    script.publish(&world());
    assert_eq!(script.told(ANN).variables, []);
}

#[test]
fn what_does_not_fit_is_told_by_turns() {
    // A quarter is for this: 20 bytes, one of 14 at a time.
    let config = ServerConfig {
        snapshot_bytes: 80,
        ..config()
    };
    let (mut script, ann) = Script::playing(config);
    let mut told = Vec::new();
    for round in 2..40 {
        // This one changes all the time, and the others are told all the same.
        set(&mut script, GLOBAL, "round", round);
        for name in ["aaaaa", "bbbbb", "ccccc"] {
            set(&mut script, OWN, name, 1);
        }
        let seq = script.publish(&world());
        let variables = script.told(ANN).variables;
        assert_eq!(variables.len(), 1);
        told.extend(variables.into_iter().map(|(_, name, _)| name));
        script.say(&ann, seq, &[]);
    }
    for name in ["aaaaa", "bbbbb", "ccccc", "round"] {
        assert!(told.iter().any(|it| it == name), "{name} in {told:?}");
    }
    assert!(script.session.counters().rationed > 0);
    let newest = script.session.newest();
    let held = script
        .session
        .scopes(ann.client, newest)
        .expect("it was sent");
    assert_eq!(held[&OWN].variables().count(), 3);
}

#[test]
fn another_module_begins_with_its_own_variables() {
    let (mut script, ann) = Script::playing(config());
    set(&mut script, GLOBAL, "round", 5);
    carry(&mut script, OWN, 0, 1, "gun");
    script.publish(&world());
    script.change_module("other");
    script.publish(&world());
    let other = script.join(1, BOB, Seat::Player(OWN));
    script.publish(&world());
    let told = script.told(BOB);
    assert_eq!((told.items, told.variables), (vec![], vec![]));
    assert_ne!(other.client, ann.client);
}

#[test]
fn a_velocity_goes_to_its_player_in_every_snapshot() {
    let (mut script, ann, _) = two();
    let moving = |id, x| Object {
        velocity: Some(Vec2 { x, y: 0.5 }),
        ..creature(id, 0.0)
    };
    for _ in 0..3 {
        let seq = script.publish(&[moving(1, 3.0), moving(2, 4.0)]);
        assert_eq!(script.told(ANN).velocities, [(1, 3.0, 0.5)]);
        assert_eq!(script.told(BOB).velocities, [(2, 4.0, 0.5)]);
        script.say(&ann, seq, &[]);
    }
    // One that is not there moves nowhere.
    script.publish(&[moving(2, 4.0)]);
    assert_eq!(script.told(ANN).velocities, []);
}

#[test]
fn what_cannot_be_sent_is_not_taken() {
    let (mut script, _) = Script::playing(config());
    let server = &mut script.session;
    let bad = server.set_variable(OWN, "a\u{7}", 1);
    assert_eq!(bad, Err(ScopeError::Name(BadText::Character)));
    let long = server.set_variable(OWN, &"x".repeat(256), 1);
    assert_eq!(long, Err(ScopeError::Name(BadText::TooLong)));
    let nobody = server.set_item(GLOBAL, 0, Item::new(1, "gun"));
    assert_eq!(nobody, Err(ScopeError::NoCreature));
    for number in 0..VARIABLES_MAX {
        let set = server.set_variable(OWN, &number.to_string(), 1);
        assert_eq!(set, Ok(()), "{number}");
    }
    let more = server.set_variable(OWN, "one more", 1);
    assert_eq!(more, Err(ScopeError::TooMany));
    assert_eq!(server.set_variable(OWN, "7", 2), Ok(()));
    assert_eq!(server.set_variable(OWN, "none", 0), Ok(()), "it is 0");
    assert_eq!((Item::new(0, "gun"), Item::new(1, "")), (None, None));
}
