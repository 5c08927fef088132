//! OpenDrakan: an engine's snapshots over UDP, and everything that must arrive over TCP.
//!
//! The server sends the world of every third tick as its difference to the snapshot that a client has
//! acknowledged: changes in any order, and a confirmation that says how many they are. A client that
//! has them all has the snapshot, to the bit; it shows the world in between two of them. [`Server`] and
//! [`Client`] are sessions; what they say to each other is in [`wire`], when they say it in [`states`].
//!
//! ```text
//!            Server                                     Client
//!   game ─ set, jump, create ─▶ world          timeline ─ sample ─▶ View ─▶ picture
//!                       commit │ 60 Hz              ▲
//!                              ▼ 20 Hz              │ complete
//!            changes, confirmation ──── UDP ──▶ assemblies
//!                  acknowledged    ◀─── UDP ──── acknowledgement
//!   game ─ talk ─▶ messages, sounds ─── TCP ──▶ events ─▶ game
//!   game ◀─ events ────── actions  ◀─── TCP ──── act, steer ─ player
//! ```

pub mod bundle;
mod client;
mod id;
pub mod limits;
pub mod message;
mod path;
pub mod savegame;
mod schema;
mod server;
mod snapshot;
mod stream;
mod value;

use tickwire_wire::{DecodeError, Trace};

#[doc = include_str!("opendrakan/WIRE.md")]
pub mod wire {}

#[doc = include_str!("opendrakan/STATES.md")]
pub mod states {}

pub use client::{
    ActError, Classes, Client, ClientConfig, ClientCounters, ClientEvent, EndReason, LoadError,
    LoadedLevel, Phase, Shown, View,
};
pub use id::{AssetRef, ClassId, ClientId, DatabaseId, ObjectId};
pub use path::BadPath;
pub use schema::{
    BASIC, Field, ROTATION, RUNNING, Registry, SCALE, Schema, TRANSLATION, TooLarge, VISIBILITY,
};
pub use server::{
    Animation, CreateError, Departure, Level, LevelError, LevelObject, ObjectTalk, RestoreError,
    SendError, Server, ServerConfig, ServerCounters, ServerEvent, State, StateError, To,
};
pub use snapshot::{Jumped, Object, Pose, Snapshot};
pub use tickwire_state::{Quat, Tick, Vec2, Vec3};
pub use value::{Kind, Value};

/// The port that an OpenDrakan server listens on, for TCP and UDP, unless told otherwise.
pub const PORT: u16 = 41_414;

/// Reads OpenDrakan's byte order.
pub type Reader<'a> = tickwire_wire::Reader<'a, tickwire_wire::LittleEndian>;
/// Writes OpenDrakan's byte order.
pub type Writer<'a> = tickwire_wire::Writer<'a, tickwire_wire::LittleEndian>;

/// Shows `trace` every field of a datagram, or of a piece of a stream that begins with a message.
///
/// Extra states are shown as bytes: how to read them depends on a class that the bytes do not name.
pub fn inspect(
    from_client: bool,
    on_stream: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    let way = message::Way::new(from_client, on_stream);
    let mut r = Reader::traced(bytes, trace);
    while !r.is_empty() {
        r.group("message", |r| message::Message::decode(r, way))?;
    }
    Ok(())
}

/// Shows `trace` the first message of a piece of a stream; how long it is.
pub fn inspect_next(
    from_client: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<usize, DecodeError> {
    let way = message::Way::new(from_client, true);
    let mut r = Reader::traced(bytes, trace);
    r.group("message", |r| message::Message::decode(r, way))?;
    Ok(r.position())
}
