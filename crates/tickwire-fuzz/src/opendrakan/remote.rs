//! What both sessions' scripts share: the level, and messages as the other side would say them, or a
//! little wrong.

use tickwire_dialects::opendrakan::limits::{DATAGRAM_MAX, RECEIVE_MAX};
use tickwire_dialects::opendrakan::message::{Lifecycle, Message};
use tickwire_dialects::opendrakan::{
    ClassId, Field, Kind, Level, LevelObject, ObjectId, Registry, Schema, ServerConfig, Writer,
};

use crate::script::Script;

/// The class of every object.
pub(super) const CLASS: ClassId = ClassId(1);

/// Its extra states, as the arena has them.
pub(super) fn registry() -> Registry {
    let field = |name, kind| Field { name, kind };
    let schema = Schema::new(&[
        field("health", Kind::U8),
        field("owner", Kind::U32),
        field("armed", Kind::Bool),
    ]);
    let mut registry = Registry::new();
    registry.register(CLASS, schema.expect("six bytes"));
    registry
}

/// A server of a level with objects 1 to `objects`.
pub(super) fn config(objects: u32) -> ServerConfig {
    let objects = (1..=objects).map(|id| LevelObject {
        id: ObjectId(id),
        class: CLASS,
        lifecycle: Lifecycle::Spawned,
        states: Vec::new(),
    });
    ServerConfig {
        level: Level {
            path: "a.lvl".into(),
            databases: vec!["a.db".into()],
            objects: objects.collect(),
        },
        registry: registry(),
        ..ServerConfig::default()
    }
}

/// The bytes of some messages, as many as fit a datagram.
pub(super) fn bytes_of(messages: &[Message<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out, DATAGRAM_MAX.into());
    for message in messages {
        if message.encode(&mut w).is_err() {
            break;
        }
    }
    out
}

/// Cuts a datagram, makes it longer than any may be, or changes one of its bytes; mostly nothing.
pub(super) fn harm(datagram: &mut Vec<u8>, script: &mut Script<'_>) {
    if datagram.is_empty() || script.u8() & 7 != 7 {
        return;
    }
    let at = usize::from(script.u16()) % datagram.len();
    match script.u8() {
        0 => datagram.truncate(at),
        0xff => datagram.resize(RECEIVE_MAX + 1 + at, 0),
        change => datagram[at] ^= change,
    }
}
