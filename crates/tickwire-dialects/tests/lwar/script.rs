//! Conversations with one side of lwar: the script speaks for the other, in raw messages, and owns
//! the clock.
//!
//! [`ServerScript`] holds a server and speaks for any number of clients; [`ClientScript`] holds a
//! client and speaks for its server. Both hold every datagram that is sent to what all of them must keep: see
//! [`Packet::decode`].

mod client;
mod packet;
mod server;

pub(crate) use client::{ClientScript, SERVER};
pub(crate) use packet::Packet;
pub(crate) use server::{ServerScript, first_id};

use std::time::Duration;

use tickwire_session::Addr;
pub(crate) use tickwire_sim::addr::link;

pub(crate) use crate::driven::ms;

pub(crate) const ANN: Addr = link(1);
pub(crate) const BOB: Addr = link(2);
pub(crate) const CID: Addr = link(3);

/// A step of a game, 60 a second.
pub(crate) const STEP: Duration = Duration::from_micros(16_667);
