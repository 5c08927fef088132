//! Drives any session on real UDP and TCP sockets, over QUIC, and over memory links.
//!
//! A [`Driver`] has the clock, the sockets and the links that sessions know nothing of: it hands in
//! what arrived, carries out what they order and wakes them when they asked to be. It does so within
//! [`Driver::turn`], on the thread of whoever calls it, so that a game loop stays a loop. Everything
//! is bounded, in each turn and in total, by [`limits`].
//!
//! ```text
//!                 one turn
//!    sockets ──▶ ┌─────────────────────────────────────────────┐
//!    (UDP, TCP)  │ drain ─▶ wait ─▶ hand in ─▶ wake ─▶ drain   │
//!         ▲      └───┬─────────────────┬──────────────────┬────┘
//!         │          ▼ poll_transmit   ▼ handle_*         ▼ poll_transmit
//!         │      ┌─────────────────────────────────────────────┐      ┌──────┐
//!         └───── │ sessions, by position: server, client, bot … │ ◀──▶ │ game │
//!    links ◀───▶ └─────────────────────────────────────────────┘      └──────┘
//! ```
//!
//! A server, a client on the network and a bot in the same process:
//!
//! ```
//! use std::time::Duration;
//!
//! use tickwire_net::{Carries, Driver};
//! use tickwire_session::Events;
//! use tickwire_session::echo::DatagramEcho;
//!
//! let mut driver = Driver::new()?;
//! let server = driver.bind("127.0.0.1:0".parse()?, Carries::Datagrams)?;
//! let client = driver.open();
//! let (bot, server_link) = driver.link(server);
//! assert_eq!([server, client, bot].map(|node| node.index()), [0, 1, 2]);
//!
//! let mut sessions = [(); 3].map(|()| DatagramEcho::default());
//! let server_addr = driver.local_addr(server).expect("a server has a socket");
//! sessions[client.index()].send(server_addr.into(), b"over the network");
//! sessions[bot.index()].send(server_link, b"through memory");
//!
//! let deadline = driver.now() + Duration::from_secs(5);
//! let mut answers = 0;
//! while answers < 2 && driver.now() < deadline {
//!     let [server, client, bot] = &mut sessions;
//!     driver.turn(deadline, &mut [server, client, bot])?;
//!     answers += [client, bot].map(|peer| peer.poll_event()).iter().flatten().count();
//! }
//! assert_eq!(answers, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

//! What it does not do: it starts no threads, and it cannot answer IPv6 link-local peers, whose addresses
//! mean nothing without the name of an interface. Ports that are [bound](Driver::bind) are in the clear;
//! [`Driver::listen`] and [`Driver::connect`] encrypt, see [`quic`].

#![deny(unsafe_code)]

mod asked;
mod bind;
mod closing;
mod counters;
mod driver;
mod inbox;
pub mod limits;
mod node;
mod outgoing;
mod pipe;
pub mod quic;
pub mod rendezvous;
mod secret;
mod sockets;
mod stream;
#[allow(
    unsafe_code,
    reason = "the batched system calls have no safe interface"
)]
mod sys;

pub use bind::{BindError, Carries, local_ip_towards};
pub use counters::Counters;
pub use driver::{Driver, ListenError, ListenerId};
pub use node::NodeId;
pub use secret::secret;
