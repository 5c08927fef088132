//! What both sessions' scripts share: the level, and messages as the other side would say them, or a
//! little wrong.

use tickwire_dialects::opendrakan::limits::DATAGRAM_MAX;
use tickwire_dialects::opendrakan::message::{Lifecycle, Message};
use tickwire_dialects::opendrakan::{
    ClassId, Field, Kind, Level, LevelObject, ObjectId, Registry, Schema, ServerConfig, Writer,
};

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
