//! Tickwire's own protocol: a game's own types, from one server to every player.
//!
//! [`Server`] and [`Client`] are [sessions](tickwire_session::Session), as those of every protocol here are:
//! no socket, no clock, no thread. What a game consists of is its [`Game`].
//!
//! ```text
//!   game: spawn, set, end_tick ─▶ World ─▶ Clients ─▶ packets ══▶ Replica ─▶ Playback ─▶ view
//!                                              ▲                     │
//!                                              └─ acknowledgements ◀─┤
//!   game: input, advance ◀─ InputQueue ◀══════════ inputs ◀─ InputClock ◀─ set_input
//!                                                              │
//!                                                              └▶ Predictor ─▶ own
//! ```
//!
//! Everything that must arrive goes by stream and is kept until the other side has it, so that a broken
//! connection loses nothing; what is soon replaced goes by datagram.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

mod client;
mod game;
mod inspect;
pub mod limits;
pub mod message;
mod reason;
mod reliable;
mod server;
mod ticket;
mod train;

pub use client::{Asked, Client, ClientConfig, ClientCounters, ClientEvent, Phase, ProvisionalId};
pub use game::{Game, schema};
pub use inspect::{inspect, inspect_next};
pub use message::Role;
pub use reason::EndReason;
pub use server::{Question, SayError, Server, ServerConfig, ServerCounters, ServerEvent, To};
pub use ticket::Ticket;
pub use tickwire_replica::EntityId;
pub use tickwire_replica::world::PlayerId;
pub use train::Training;

#[doc = include_str!("WIRE.md")]
pub mod wire {}

#[doc = include_str!("STATES.md")]
pub mod states {}
