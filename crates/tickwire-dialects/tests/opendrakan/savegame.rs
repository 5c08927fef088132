//! Saving and loading, and files that are not what was saved.

use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::message::Lifecycle;
use tickwire_dialects::opendrakan::savegame::{Fate, Part, SaveError, Savegame};
use tickwire_dialects::opendrakan::{
    CreateError, ObjectId, Registry, RestoreError, Server, ServerConfig, State, Value,
};
use tickwire_session::Instant;
use tickwire_state::{Tick, Vec3};

use crate::script::{PROTOTYPE, config, registry};

const CREATED: ObjectId = ObjectId(6);

fn server() -> Server {
    Server::new(config(5), [1; 32]).expect("the level is good")
}

/// A world in which something of every sort happened.
fn played() -> Server {
    let mut server = server();
    let place = State::Translation(Vec3::splat(4.0));
    server.set(ObjectId(2), place).expect("it is there");
    server
        .jump(ObjectId(3), State::Extra(1, Value::U32(77)))
        .expect("it is there");
    server
        .set_lifecycle(ObjectId(4), Lifecycle::Running)
        .expect("it is there");
    server
        .set_lifecycle(ObjectId(5), Lifecycle::Destroyed)
        .expect("it is there");
    assert_eq!(server.create(PROTOTYPE), Ok(CREATED));
    let gone = server.create(PROTOTYPE).expect("it is there");
    server.commit(Instant::ZERO);
    server
        .set(CREATED, State::Running(true))
        .expect("it is there");
    server
        .set_lifecycle(gone, Lifecycle::Destroyed)
        .expect("it is there");
    server.commit(Instant::ZERO);
    server
}

#[test]
fn a_loaded_world_is_the_saved_one() {
    let saved = played();
    let bytes = saved.save().encode();
    let savegame = Savegame::decode(&bytes, &registry()).expect("it was just saved");
    assert_eq!(savegame, saved.save());

    let mut loaded = server();
    loaded.restore(&savegame).expect("the level is the same");
    assert_eq!(loaded.snapshot().digest(), saved.snapshot().digest());
    // It goes on where it was, and can be saved again.
    loaded.commit(Instant::ZERO);
    assert_eq!(loaded.tick(), saved.tick());
    assert_eq!(loaded.save(), savegame);
    // The number of what was created and destroyed is not given again.
    assert_eq!(loaded.create(PROTOTYPE), Ok(ObjectId(8)));
}

#[test]
fn only_what_changed_is_saved() {
    let saved = played().save();
    let numbers: Vec<_> = saved.objects.iter().map(|saved| saved.object.0).collect();
    assert_eq!(numbers, [2, 3, 4, 5, 6]);
    let Fate::Changed(states) = &saved.objects[0].fate else {
        panic!("it was only moved");
    };
    let place = Change {
        index: 0,
        value: Value::Vec3(Vec3::splat(4.0)),
        jump: false,
    };
    assert_eq!((&states.basic[..], states.extra.len()), (&[place][..], 0));
    assert_eq!(saved.objects[3].fate, Fate::Destroyed);
    assert!(server().save().objects.is_empty());
}

#[test]
fn a_truncated_savegame_says_where_it_ends() {
    let bytes = played().save().encode();
    for length in 0..bytes.len() {
        let error = Savegame::decode(&bytes[..length], &registry()).expect_err("it is cut");
        match error {
            SaveError::NotASavegame => assert!(length < 6),
            SaveError::Damaged { at_byte, .. } => assert!(at_byte <= length, "{length}: {error}"),
            other => panic!("{length}: {other}"),
        }
    }
}

#[test]
fn an_altered_savegame_names_the_part_that_was_altered() {
    let bytes = played().save().encode();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << bit;
            let error = Savegame::decode(&altered, &registry()).expect_err("it is altered");
            match error {
                SaveError::NotASavegame => assert!(at < 6),
                SaveError::Version { .. } => assert!((6..8).contains(&at)),
                SaveError::Damaged { at_byte, .. } => assert!(at_byte <= at, "{at}: {error}"),
                other => panic!("{at}: {other}"),
            }
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    let error = SaveError::Damaged {
        part: Part::End,
        at_byte: bytes.len(),
    };
    assert_eq!(Savegame::decode(&longer, &registry()), Err(error));
    assert_eq!(
        error.to_string(),
        format!("the end is damaged (at byte {})", bytes.len())
    );
}

#[test]
fn a_class_that_nobody_registered_is_named() {
    let bytes = played().save().encode();
    let error = Savegame::decode(&bytes, &Registry::new()).expect_err("no class is known");
    assert_eq!(error.to_string(), "record 0: class 1 is not registered");
}

#[test]
fn a_savegame_belongs_to_its_level_and_to_the_beginning() {
    let savegame = played().save();
    let mut other = config(5);
    other.level.path = "levels/b.lvl".into();
    let mut other = Server::new(other, [1; 32]).unwrap();
    assert_eq!(other.restore(&savegame), Err(RestoreError::OtherLevel));

    let mut running = server();
    running.commit(Instant::ZERO);
    assert_eq!(running.restore(&savegame), Err(RestoreError::Begun));

    let fewer = ServerConfig { ..config(0) };
    let mut fewer = Server::new(fewer, [1; 32]).unwrap();
    let refused = fewer.restore(&savegame).expect_err("object 2 is missing");
    assert_eq!(refused.to_string(), "object 2: object 2 is not there");
}

#[test]
fn a_savegame_of_nothing_is_one() {
    let saved = server().save();
    assert_eq!(saved.tick, Tick::NONE);
    let bytes = saved.encode();
    assert_eq!(Savegame::decode(&bytes, &registry()), Ok(saved.clone()));
    let mut fresh = server();
    fresh.restore(&saved).unwrap();
    assert_eq!(fresh.commit(Instant::ZERO), Tick(1));
    assert_eq!(
        fresh.create(ObjectId(99)),
        Err(CreateError::UnknownPrototype)
    );
}

#[test]
fn an_object_is_saved_once() {
    let mut server = server();
    let place = State::Translation(Vec3::ONE);
    server.set(ObjectId(2), place).unwrap();
    server.commit(Instant::ZERO);
    let mut save = server.save();
    save.objects.push(save.objects[0].clone());
    let twice = Savegame::decode(&save.encode(), &registry()).unwrap_err();
    assert!(
        matches!(
            twice,
            SaveError::Invalid {
                part: Part::Record(1),
                ..
            }
        ),
        "{twice}"
    );
}
