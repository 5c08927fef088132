//! Tickwire's own protocol: a game's own types, from one server to every player.
//!
//! [`Server`] and [`Client`] are [sessions](tickwire_session::Session), as those of every protocol here are:
//! no socket, no clock, no thread. What a game consists of is its [`Game`].

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;
// The derives name the crate as a user does.
#[cfg(test)]
extern crate std;

mod client;
mod game;
pub mod limits;
pub mod message;
mod reason;
mod reliable;
mod server;
mod ticket;

pub use client::{Asked, Client, ClientConfig, ClientCounters, ClientEvent, Phase};
pub use game::Game;
pub use message::Role;
pub use reason::EndReason;
pub use server::{
    AdvanceError, Question, SayError, Server, ServerConfig, ServerCounters, ServerEvent, To,
};
pub use ticket::Ticket;
pub use tickwire_replica::EntityId;
pub use tickwire_replica::world::PlayerId;
