//! A seeded network that drives any session.
//!
//! [`Network`] carries what sessions send each other over [`Link`]s with latency, jitter, loss,
//! duplication, reordering, bandwidth and partitions, in virtual time. Everything that happens is a
//! function of one seed, so that a failure found once is found again: [`Scenario`] runs many seeds and
//! says which one to replay. The sessions are those that run on real sockets; nothing in them knows.
//!
//! ```text
//!             run_until(t, sessions)                           ┌────────┐
//!                      │                             ┌────────▶│ Link   │── lost, cut, queue full
//!                      ▼                             │         └───┬────┘
//!  ┌─────────┐  poll_transmit   ┌─────────┐  push    │             │ pop, when its moment has come
//!  │ session │ ───────────────▶ │ Network │ ─────────┘             ▼
//!  └─────────┘                  └─────────┘          ┌─────────────────────────────┐
//!       ▲                                            │ handle_* of another session │
//!       └── publish, poll_event: the game,           └─────────────────────────────┘
//!           between two runs
//! ```
//!
//! ```
//! use std::time::Duration;
//! use tickwire_session::{Events, echo::DatagramEcho};
//! use tickwire_sim::{Conditions, Network, addr};
//!
//! let mut net = Network::new(42);
//! net.set_conditions(Conditions {
//!     latency: Duration::from_millis(30),
//!     ..Conditions::IDEAL
//! });
//! // A node's number is its session's position in the slice.
//! let server_addr = addr::loopback(4_000);
//! net.add_node(server_addr);
//! net.add_node(addr::loopback(4_001));
//! let (mut server, mut client) = (DatagramEcho::default(), DatagramEcho::default());
//!
//! client.send(server_addr, b"hello");
//! net.run_for(Duration::from_millis(59), &mut [&mut server, &mut client]);
//! assert_eq!(client.poll_event(), None);
//! net.run_for(Duration::from_millis(1), &mut [&mut server, &mut client]);
//! assert_eq!(client.poll_event().unwrap().bytes, b"hello");
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

pub mod addr;
mod conditions;
mod lag;
mod link;
mod network;
mod ordered;
mod preset;
mod rng;
mod schedule;
mod seeds;
mod stream;
mod trace;

pub use conditions::{Bottleneck, Bursts, Conditions, Pauses};
pub use lag::{Lag, Lagged};
pub use link::{Fate, IN_FLIGHT, Link, LinkCounters, SHORTEST};
pub use network::{
    DIAL_TIMEOUT, Network, NodeId, POLLS_PER_DRAIN, RESEND_AFTER, RESEND_AFTER_LONGEST, StillBusy,
    Way,
};
pub use preset::{PRESETS, Preset};
pub use rng::{Chance, Rng};
pub use seeds::{FailedSeed, Failure, SEEDS_PER_COMPARISON, Scenario};
pub use stream::StreamConditions;
pub use trace::TraceHash;
