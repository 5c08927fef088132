//! Conversations with one side of OpenDrakan: the script speaks for the other in raw messages, owns the clock,
//! and can keep back, repeat and reorder whatever it likes.
//!
//! [`ServerScript`] holds a server and speaks for any number of clients; [`ClientScript`] holds a client and
//! speaks for its server.

mod client;
mod server;

use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::limits::{HEADER, PAYLOAD_MAX};
use tickwire_dialects::opendrakan::message::{Confirm, Lifecycle, Message, ObjectChange, Way};
use tickwire_dialects::opendrakan::{
    ClassId, Classes, DatabaseId, Field, Kind, Level, LevelObject, LoadedLevel, ObjectId, Reader,
    Registry, Schema, ServerConfig, Tick, Value, Writer,
};

pub(crate) use crate::driven::ms;
pub(crate) use client::{CLIENT_LICENCE, ClientScript, SERVER, STREAM};
pub(crate) use server::{SERVER_LICENCE, ServerScript};
pub(crate) use tickwire_sim::addr::machine;

/// What the scripts hold both sides to: no transition that it does not have.
const STATES: &str = include_str!("../../src/opendrakan/STATES.md");

/// The class of every object.
pub(crate) const CLASS: ClassId = ClassId(1);
/// Its extra states.
pub(crate) const EXTRA: [Field; 3] = [
    Field::new("health", Kind::U8),
    Field::new("owner", Kind::U32),
    Field::new("armed", Kind::Bool),
];

/// An object of the level to clone.
pub(crate) const PROTOTYPE: ObjectId = ObjectId(1);

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register(CLASS, Schema::new(&EXTRA).expect("small"));
    registry
}

/// A server of a level with objects 1 to `objects`.
pub(crate) fn config(objects: u32) -> ServerConfig {
    let object = |id| LevelObject {
        id: ObjectId(id),
        class: CLASS,
        lifecycle: Lifecycle::Spawned,
        states: Vec::new(),
    };
    ServerConfig {
        level: Level {
            path: "levels/a.lvl".into(),
            databases: vec!["common/dragon.db".into(), "common/sword.db".into()],
            objects: (1..=objects).map(object).collect(),
        },
        registry: registry(),
        ..ServerConfig::default()
    }
}

/// What an application has loaded that has everything.
pub(crate) fn loaded() -> LoadedLevel {
    let own = ["common/sword.db", "common/other.db", "common/dragon.db"];
    LoadedLevel {
        databases: own
            .into_iter()
            .zip(40..)
            .map(|(path, number)| (path.to_owned(), DatabaseId(number)))
            .collect(),
        classes: Classes::Uniform(CLASS),
    }
}

/// What is new about an object.
pub(crate) fn changed<'a>(tick: u64, object: u32, change: ObjectChange<'a>) -> Message<'a> {
    Message::ObjectChanged {
        tick: Tick(tick),
        object: ObjectId(object),
        change,
    }
}

/// A state that is what it is now.
pub(crate) fn state(index: usize, value: Value, jump: bool) -> ObjectChange<'static> {
    ObjectChange::States([Change { index, value, jump }].into_iter().collect())
}

/// What makes a snapshot complete.
pub(crate) fn confirm(tick: u64, changes: u32, reference: u64) -> Message<'static> {
    Message::ConfirmSnapshot(Confirm {
        tick: Tick(tick),
        real_time: tick as f64 / 60.0,
        changes,
        reference: Tick(reference),
    })
}

/// The bytes of some messages.
pub(crate) fn bytes_of(messages: &[Message<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        let limit = HEADER + usize::from(PAYLOAD_MAX);
        let mut w = Writer::new(&mut bytes, limit);
        message.encode(&mut w).expect("it fits");
    }
    bytes
}

/// Hands the messages of some bytes to `see`; they must all decode.
#[track_caller]
pub(crate) fn each(way: Way, bytes: &[u8], mut see: impl FnMut(Message<'_>)) {
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        match Message::decode(&mut r, way) {
            Ok(message) => see(message),
            Err(error) => panic!("{error} in {bytes:02x?}"),
        }
    }
}
