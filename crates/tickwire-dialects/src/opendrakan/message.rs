//! The messages: bytes to meaning and back.
//!
//! Each is a type, the length of what follows, and its fields. The same framing serves streams and
//! datagrams; which types ([`Kind`]) may appear depends on who sends and on which path ([`Way`]), and any
//! other type does not decode. Lengths are checked against what is there and against the type before a
//! field is read.

mod action;
mod body;
mod frame;
mod kind;
mod snapshot;

use tickwire_session::Token;
use tickwire_state::Tick;

use super::{AssetRef, DatabaseId, ObjectId};

pub use action::{Action, ActionState, AnalogAction};
pub(super) use frame::encode_bundle;
pub use kind::{Kind, Way};
pub use snapshot::{BasicChanges, Confirm, Lifecycle, ObjectChange};

/// A message. Times are seconds of the server's clock, which is tick / 60.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// One database of the server, by the number that asset references use.
    DatabaseEntry {
        /// Its number.
        database: DatabaseId,
        /// Its file, relative to the engine's root.
        path: &'a str,
    },
    /// What to load.
    LoadLevel {
        /// How many databases the table has.
        databases: u32,
        /// The level's file.
        path: &'a str,
    },
    /// What is new about an object in a snapshot.
    ObjectChanged {
        /// The snapshot.
        tick: Tick,
        /// Whose.
        object: ObjectId,
        /// What.
        change: ObjectChange<'a>,
    },
    /// What makes a snapshot complete.
    ConfirmSnapshot(Confirm),
    /// From the game to all of a client.
    GlobalMessage {
        /// What it is about.
        channel: u32,
        /// When it was sent.
        real_time: f64,
        /// Whatever the game says.
        body: &'a [u8],
    },
    /// From one object to another.
    ObjectMessage {
        /// What it is about.
        channel: u32,
        /// Who says it.
        sender: ObjectId,
        /// To whom.
        receiver: ObjectId,
        /// When it was sent.
        real_time: f64,
        /// Whatever the game says.
        body: &'a [u8],
    },
    /// An object begins an animation.
    ObjectAnimation {
        /// When.
        real_time: f64,
        /// Which object.
        object: ObjectId,
        /// Which animation.
        animation: AssetRef,
        /// On which of the object's channels.
        channel: i32,
        /// 1 for the animation's own speed.
        speed: f32,
    },
    /// A client has a snapshot whole.
    AcknowledgeSnapshot {
        /// Which.
        tick: Tick,
    },
    /// A player pressed, holds or released something.
    Action(Action),
    /// A player moved a stick.
    AnalogAction(AnalogAction),
    /// A sound begins.
    Sound {
        /// When.
        real_time: f64,
        /// Which.
        sound: AssetRef,
    },
    /// Which datagrams belong to this stream.
    Attach {
        /// The server's secret for this client.
        token: Token,
    },
}

impl Message<'_> {
    /// Its type.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::DatabaseEntry { .. } => Kind::DatabaseEntry,
            Self::LoadLevel { .. } => Kind::LoadLevel,
            Self::ObjectChanged { change, .. } => change.kind(),
            Self::ConfirmSnapshot(_) => Kind::ConfirmSnapshot,
            Self::GlobalMessage { .. } => Kind::GlobalMessage,
            Self::ObjectMessage { .. } => Kind::ObjectMessage,
            Self::ObjectAnimation { .. } => Kind::ObjectAnimation,
            Self::AcknowledgeSnapshot { .. } => Kind::AcknowledgeSnapshot,
            Self::Action(_) => Kind::Action,
            Self::AnalogAction(_) => Kind::AnalogAction,
            Self::Sound { .. } => Kind::Sound,
            Self::Attach { .. } => Kind::Attach,
        }
    }
}
