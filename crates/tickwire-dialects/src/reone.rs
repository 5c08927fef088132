//! reone: a role-playing engine's creatures by UDP, each snapshot by its difference to one that the
//! client has, and what must arrive by TCP.
//!
//! A client loads a module over TCP: its resources, and the *base*, a snapshot that everybody begins
//! from. After that the server sends a snapshot a tick by UDP, as the difference to the newest one that
//! the client acknowledged, or to the base when that one is too old. What the two say is in [`wire`].
//!
//! ```text
//!   Frame ── stream ──▶ Inbox                  TCP: Hello, Welcome, Fetch, Resource, Call, Result, …
//!   Element ── PacketWriter ──▶ bytes          UDP: header, then lists of elements
//!   bytes ──▶ Packet::decode ──▶ elements()    a packet is good or bad as a whole
//! ```

mod client;
pub mod delta;
pub mod huffman;
mod id;
mod inspect;
pub mod limits;
pub mod message;
mod resource;
mod scope;
mod server;
mod status;
mod stream;
mod text;

#[doc = include_str!("reone/WIRE.md")]
pub mod wire {}

#[doc = include_str!("reone/STATES.md")]
pub mod states {}

pub use crate::reone_structure as structure;
pub use client::{
    AskError, CallFailure, CallReply, Client, ClientConfig, ClientCounters, ClientEvent, EndReason,
    Flight, LoadFault, LoadProgress, Phase, Pilot, SendError, ShotLives, Shown, Snapshot,
    SteerError, Steering, View, Whole, limits as client_limits,
};
pub use id::{CallId, ClientId, EventId, ModuleNumber, ObjectId, PacketSeq, SnapshotSeq};
pub use inspect::{inspect, inspect_datagram, inspect_next};
pub use resource::{BASE, MANIFEST};
pub use scope::{GLOBAL, Item, ScopeError, ScopeState};
pub use server::{
    AnswerError, Command, Departure, Module, ModuleError, Object, Question, Reply, Seat, Server,
    ServerConfig, ServerCounters, ServerEvent, ShownAt, limits as server_limits,
};
pub use status::{AnyStatus, CreatureStatus, Mode, SpatialStatus};
pub use stream::Inbox;
pub use text::{BadText, Remark, Text};
pub use tickwire_state::{SightRange, Vec2, Vec3};

/// The port that a reone server listens on, for TCP and UDP, unless told otherwise.
pub const PORT: u16 = 2_003;

/// Reads reone's byte order.
pub type Reader<'a> = tickwire_wire::Reader<'a, tickwire_wire::LittleEndian>;
/// Writes reone's byte order.
pub type Writer<'a> = tickwire_wire::Writer<'a, tickwire_wire::LittleEndian>;
