//! pixmess: a world of tiles over TCP alone, draft 1 of its protocol and what Tickwire adds to it.
//!
//! The world is cut into chunks. A client asks for those around it, gets them compressed, and hears
//! from then on what changes in them: blocks, and the entities that walk there. Packets leave out
//! fields that say what they said before ([`mask`]). [`Server`] and [`Client`] are sessions; what they
//! say to each other is in [`wire`], when they say it in [`states`].
//!
//! ```text
//!            Server                                     Client
//!   game ── answers, changes ─▶ scene          chunks, entities ──▶ picture
//!    ▲                            │ who sees it          ▲
//!    │                            ▼                      │
//!    │                         queue ── masks ── TCP ─▶ decode
//!    │                         decode ◀─ TCP ── masks ── queue
//!    │                            │                      ▲
//!    └──── questions, news ───────┘                      └─ walk, edit, chat, request ── player
//! ```

mod client;
mod gzip;
mod inbox;
mod inspect;
pub mod limits;
pub mod mask;
pub mod message;
mod name;
mod outbox;
mod place;
mod server;
mod tiles;

#[doc = include_str!("pixmess/WIRE.md")]
pub mod wire {}

#[doc = include_str!("pixmess/STATES.md")]
pub mod states {}

pub use client::{
    ActError, Client, ClientConfig, ClientCounters, ClientEvent, EndReason, Entity, Phase,
};
pub use inspect::{Inspector, inspect};
pub use message::{Look, Version};
pub use name::BadName;
pub use place::{
    BlockId, Cell, ChunkId, ChunkXy, Direction, EntityId, Low, PlayerId, SetId, Spot, Sublayer,
};
pub use server::{Departure, Server, ServerConfig, ServerCounters, ServerEvent, TooMany};
pub use tiles::{Block, Layer, Tiles, decompress};

/// The port that a pixmess server listens on unless told otherwise.
pub const PORT: u16 = 4_646;

/// Reads pixmess's byte order.
pub type Reader<'a> = tickwire_wire::Reader<'a, tickwire_wire::LittleEndian>;
/// Writes pixmess's byte order.
pub type Writer<'a> = tickwire_wire::Writer<'a, tickwire_wire::LittleEndian>;
