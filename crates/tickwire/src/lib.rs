//! Authoritative multiplayer for real-time games: the one crate that a game adds.
//!
//! It gathers the parts, under short names: protocols ([`lwar`], [`pixmess`], [`cppevy`],
//! [`opendrakan`], [`reone`]), the driver that runs them on sockets
//! ([`net`]), the simulator that runs them on a bad network ([`sim`]), and the contract between them
//! ([`session`]). The README's server is the place to start; here are a server and a client on a
//! simulated network that loses every fifth datagram, which makes a test of them:
//!
//! ```
//! use std::time::Duration;
//!
//! use tickwire::Events;
//! use tickwire::lwar::{Client, ClientConfig, Phase, Server, ServerConfig, ServerEvent};
//! use tickwire::sim::{Chance, Conditions, Network, addr};
//!
//! let mut net = Network::new(7);
//! net.set_conditions(Conditions { loss: Chance::percent(20), ..Conditions::IDEAL });
//! let here = addr::machine(1, tickwire::lwar::PORT);
//! net.add_node(here);
//! net.add_node(addr::machine(2, 5_000));
//!
//! let mut server = Server::new(net.now(), ServerConfig::default(), [7; 32]);
//! let config = ClientConfig { server: here, name: "Ada".into() };
//! let mut client = Client::new(net.now(), config);
//!
//! net.run_for(Duration::from_secs(5), &mut [&mut server, &mut client]);
//!
//! assert_eq!(client.phase(), Phase::Playing);
//! let joined = server.poll_event();
//! assert!(matches!(joined, Some(ServerEvent::Joined { name, .. }) if name == "Ada"));
//! ```

#![forbid(unsafe_code)]

// Inlined, so that the documentation of this crate is whole and its links lead somewhere also where no
// other crate's is built.
#[doc(inline)]
pub use tickwire_dialects::{cppevy, lwar, opendrakan, pixmess, reone};
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

#[doc(inline)]
pub use tickwire_session::{Addr, Events, Instant, Session};

/// The README's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub mod readme {}
