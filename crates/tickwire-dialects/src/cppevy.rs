//! C++evy: states at a timepoint, events and answered actions, over UDP and TCP together.
//!
//! The server says what is (states, by UDP, again and again) and what happened (events); the client
//! asks for something to be done (actions), and hears of each whether it was. [`Server`] and [`Client`]
//! are sessions; what they say to each other is in [`wire`], when they say it in [`states`]. Which
//! events and actions there are, and how each travels, is a game's [`Registry`].
//!
//! ```text
//!            Server                                        Client
//!   game ─ set_state ─▶ entities ── UDP, 20 Hz ─────▶ entities ─────▶ picture
//!        ─ event ─────────────────── UDP or TCP ────▶ events ───────▶ user
//!        ◀─ Action ───────────────── UDP or TCP ──── act ◀──────────  user
//!        ─ answer ────────────────── UDP or TCP ───▶ succeeded, failed
//!        ─ add_asset ─▶ assets ───── TCP ──────────▶ fetch, checked by hash
//!        ◀─ Uploaded ─ with consent ─ TCP ────────── offer, checked by hash
//! ```
//!
//! A bot is an ordinary [`Client`] over a memory link, without a user. What a user is shown of what a client
//! knows is decided by whoever draws it.

mod bytes;
mod client;
mod fifo;
mod id;
pub mod limits;
pub mod message;
mod outgoing;
mod registry;
mod server;

#[doc = include_str!("cppevy/WIRE.md")]
pub mod wire {}

#[doc = include_str!("cppevy/STATES.md")]
pub mod states {}

pub use bytes::Bytes;
pub use client::{
    ActError, AssetFailure, Client, ClientConfig, ClientCounters, ClientEvent, EndReason, Entity,
    FetchError, Phase,
};
pub use id::{ActionId, Archetype, Component, EventId, StateId, SyncId};
pub use message::{inspect, inspect_next};
pub use registry::{ActionUse, Delivery, Registry};
pub use server::{
    ActionToken, Answer, Audience, BadAsset, Departure, NoFreeId, PublishError, Server,
    ServerConfig, ServerCounters, ServerEvent,
};
pub use tickwire_session::Reason;

/// The port that a C++evy server listens on unless told otherwise, by UDP and TCP.
pub const PORT: u16 = 27_600;

/// Reads C++evy's byte order.
pub type Reader<'a> = tickwire_wire::Reader<'a, tickwire_wire::LittleEndian>;
/// Writes C++evy's byte order.
pub type Writer<'a> = tickwire_wire::Writer<'a, tickwire_wire::LittleEndian>;
