//! The table of databases, the level, and the application's own files.

use std::collections::BTreeMap;

use tickwire_dialects::opendrakan::message::Message;
use tickwire_dialects::opendrakan::{
    AssetRef, ClientEvent, DatabaseId, EndReason, LoadError, LoadedLevel, Phase,
};

use crate::script::{ClientScript, loaded};

fn entry(number: u32, path: &'static str) -> Message<'static> {
    Message::DatabaseEntry {
        database: DatabaseId(number),
        path,
    }
}

const LEVEL: Message<'static> = Message::LoadLevel {
    databases: 2,
    path: "levels/a.lvl",
};

fn load_event() -> ClientEvent {
    ClientEvent::Load {
        level: "levels/a.lvl".into(),
        databases: vec![
            (DatabaseId(3), "common/dragon.db".into()),
            (DatabaseId(8), "common/sword.db".into()),
        ],
    }
}

#[test]
fn table_and_level_come_in_any_order() {
    let (dragon, sword) = (entry(3, "common/dragon.db"), entry(8, "common/sword.db"));
    for order in [
        [dragon, sword, LEVEL],
        [LEVEL, sword, dragon],
        [sword, LEVEL, dragon],
    ] {
        let mut script = ClientScript::open();
        script.events();
        script.write(&order[..2]);
        assert_eq!(script.events(), []);
        assert_eq!(script.session.phase(), Phase::Handshaking);
        script.write(&order[2..]);
        assert_eq!(script.events(), [load_event()]);
        assert_eq!(script.session.phase(), Phase::Loading);
    }
}

#[test]
fn an_entry_that_comes_twice_counts_once() {
    let mut script = ClientScript::open();
    script.events();
    script.write(&[LEVEL, entry(3, "common/dragon.db")]);
    script.write(&[entry(3, "common/dragon.db")]);
    assert_eq!(script.events(), []);
    script.write(&[entry(8, "common/sword.db")]);
    assert_eq!(script.events(), [load_event()]);
}

#[test]
fn a_missing_database_is_named_and_may_be_found_later() {
    let mut script = ClientScript::open();
    assert_eq!(script.session.loaded(loaded()), Err(LoadError::NotAsked));
    script.write(&[
        LEVEL,
        entry(3, "common/dragon.db"),
        entry(8, "common/rare.db"),
    ]);
    let missing = LoadError::MissingDatabase {
        database: DatabaseId(8),
        path: "common/rare.db".into(),
    };
    assert_eq!(
        missing.to_string(),
        "the database \"common/rare.db\" is missing"
    );
    assert_eq!(script.session.loaded(loaded()), Err(missing));
    assert_eq!(script.session.phase(), Phase::Loading);
    let mut more = loaded();
    more.databases
        .insert("common/rare.db".into(), DatabaseId(90));
    assert_eq!(script.session.loaded(more), Ok(()));
    assert_eq!(script.session.phase(), Phase::Waiting);
}

#[test]
fn a_level_without_databases_needs_none() {
    let mut script = ClientScript::open();
    script.write(&[Message::LoadLevel {
        databases: 0,
        path: "a",
    }]);
    let nothing = LoadedLevel {
        databases: BTreeMap::new(),
        ..LoadedLevel::default()
    };
    assert_eq!(script.session.loaded(nothing), Ok(()));
}

#[test]
fn a_path_that_leaves_the_folder_ends_the_session() {
    for path in ["/etc/passwd", "../a.db", "a/../../b", "a\\b", ""] {
        for level in [false, true] {
            let mut script = ClientScript::open();
            script.write(&[match level {
                false => entry(0, path),
                true => Message::LoadLevel { databases: 0, path },
            }]);
            let ended = Phase::Ended(EndReason::Undecodable);
            assert_eq!(script.session.phase(), ended, "{path:?}");
        }
    }
}

#[test]
fn assets_are_told_by_the_application_s_own_numbers() {
    let mut script = ClientScript::loaded();
    let sound = |database| Message::Sound {
        real_time: 0.0,
        sound: AssetRef {
            database: DatabaseId(database),
            asset: 5,
        },
    };
    script.write(&[sound(0), sound(6)]);
    assert_eq!(script.session.counters().unknown_database, 1);
    script.send(&[super::showing::empty(3)]);
    script.session.sample_at(crate::script::ms(50));
    let own = AssetRef {
        database: DatabaseId(42),
        asset: 5,
    };
    let is_own =
        |event: &ClientEvent| matches!(event, ClientEvent::Sound { sound, .. } if *sound == own);
    assert!(script.events().iter().any(is_own));
}
