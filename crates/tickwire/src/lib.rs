//! Authoritative multiplayer for real-time games: the one crate that a game adds.
//!
//! A game says what its world consists of, by deriving [`Replicate`] and [`Archetypes`], and implements
//! [`Game`]. Its [`Server`] spawns, sets and ticks; its [`Client`] sets inputs, updates and draws. In between
//! the world is quantised, coded against what each client has, encrypted, and shown smoothly.
//!
//! ```text
//!   your game ─ spawn, set, advance ─▶ Server ═ QUIC ═▶ Client ─ view, own, events ─▶ your game
//!                     ◀── input, events ──      ◀══════          ◀── set_input, say ──
//! ```
//!
//! The [`guide`] goes through all of it. Neither waits for the other, calls back or needs a thread. Both are sessions underneath
//! ([`native`]), so the same code runs on a simulated network that loses every fifth datagram, which
//! makes a test of them:
//!
//! ```
//! use std::time::Duration;
//!
//! use tickwire::native::{Client, Server};
//! use tickwire::sim::{Chance, Conditions, Network, addr};
//! use tickwire::{Archetypes, ClientConfig, Events, Game, Phase, Replicate, Role};
//!
//! #[derive(Clone, Debug, Default, PartialEq, Replicate)]
//! struct Rock { #[replicate(position, step = 0.01)] at: [f32; 2] }
//!
//! #[derive(Archetypes)]
//! enum Thing { Rock(Rock) }
//!
//! struct Still;
//!
//! impl Game for Still {
//!     type Things = Thing;
//!     type Input = ();
//!     type ToServer = ();
//!     type ToClient = ();
//!     const HZ: u16 = 60;
//! }
//!
//! let mut net = Network::new(7);
//! net.set_conditions(Conditions { loss: Chance::percent(20), ..Conditions::IDEAL });
//! let here = addr::machine(1, 7_777);
//! net.add_node(here);
//! net.add_node(addr::machine(2, 5_000));
//!
//! let mut server = Server::<Still>::new(net.now(), [7; 32], Default::default());
//! server.spawn(Rock { at: [3.0, 4.0] })?;
//! let config = ClientConfig { server: here, name: "Ada".into(), role: Role::Player };
//! let mut client = Client::<Still>::new(net.now(), config);
//! for _ in 0..120 {
//!     server.end_tick(net.now());
//!     net.run_for(Duration::from_micros(16_667), &mut [&mut server, &mut client]);
//!     client.update(net.now());
//! }
//!
//! assert_eq!(client.phase(), Phase::Playing);
//! let seen: Vec<Rock> = client.view().map(|(_, rock)| rock).collect();
//! assert_eq!(seen, [Rock { at: [3.0, 4.0] }]);
//! # Ok::<(), tickwire::WorldError>(())
//! ```
//!
//! Besides, five published game protocols are here, client and server, to the byte: [`lwar`], [`pixmess`],
//! [`cppevy`], [`opendrakan`], [`reone`]; the driver that runs any of them on sockets ([`net`]) and the
//! contract between them ([`session`]).

#![forbid(unsafe_code)]

mod client;
mod entity_map;
mod error;
pub mod guide;
mod memory;
mod place;
pub mod rendezvous;
mod server;

pub use client::{Client, Joining, ServerAt};
pub use entity_map::EntityMap;
pub use error::Error;
pub use server::Server;

pub use tickwire_native::{
    Asked, ClientConfig, ClientEvent, EndReason, EntityId, Game, Phase, PlayerId, ProvisionalId,
    Question, Role, SayError, ServerConfig, ServerEvent, To,
};
pub use tickwire_net::quic::{Fingerprint, Identity, Trust};
pub use tickwire_replica::packet::Form;
pub use tickwire_replica::world::{Audience, Groups, Past, World, WorldError};
pub use tickwire_replica::{Archetype, Archetypes, Replicate};
pub use tickwire_session::{Addr, Events, Instant, Session};
pub use tickwire_state::{PredictionFigures, Tick};

// Inlined, so that the documentation of this crate is whole and its links lead somewhere also where no
// other crate's is built.
#[doc(inline)]
pub use tickwire_dialects::{cppevy, lwar, opendrakan, pixmess, reone};
#[doc(inline)]
pub use tickwire_native as native;
#[doc(inline)]
pub use tickwire_net as net;
#[doc(inline)]
pub use tickwire_replica as replica;
#[doc(inline)]
pub use tickwire_session as session;
#[doc(inline)]
pub use tickwire_sim as sim;
#[doc(inline)]
pub use tickwire_state as state;
#[doc(inline)]
pub use tickwire_wire as wire;

/// What a connection of the native protocol asks for in QUIC's handshake.
pub(crate) const PROTOCOL: &str = "native";

/// The README's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub mod readme {}
