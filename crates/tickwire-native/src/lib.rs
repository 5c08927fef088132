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

pub mod limits;
pub mod message;
mod reason;
mod ticket;

pub use reason::EndReason;
pub use ticket::Ticket;

mod client;
mod server;
