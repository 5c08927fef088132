//! A world that is quantised, diffed and coded once, and followed by many replicas.
//!
//! A game writes its entities into a [`World`]. [`Clients`] know what each client can see and which
//! packets it has received, and send it what changed since, encoded once for all who hold the same. A
//! [`Replica`] follows from packets that may be lost, late, repeated and out of order, and shows the world
//! at any moment. Nothing here knows a network, a clock or a thread.
//!
//! ```text
//!     set, spawn, despawn                                     play(moment)  view, get, events
//!            │                                                       │          ▲
//!            ▼                                                       ▼          │
//!   ┌─ World ──────────┐   ┌─ Clients ────────────┐          ┌─ Replica ────────────────┐
//!   │ places of blocks │──▶│ in view? known?      │ packets  │ versions of blocks       │
//!   │ of entities,     │   │ due? room?           │─ ─ ─ ─ ─▶│ where each entity is     │
//!   │ and as they were │   │ records, shared      │◀─ ─ ─ ─ ─│                          │
//!   └──────────────────┘   └──────────────────────┘   acks   └──────────────────────────┘
//! ```
//!
//! - A *place* is one cell of a grid as one audience sees it. Who may see a place sees all of it, so
//!   secrecy is a matter of storage.
//! - A *block* is up to 64 entities of one type in a place: what is stored, remembered and sent.
//! - A *record* takes a block, or all blocks of a place, from a version that the client is known to hold to
//!   what is true now, in one of two forms ([`coder`]).
//!
//! ```
//! use tickwire_replica::server::{Clients, ClientsConfig, Join, Room};
//! use tickwire_replica::world::{Groups, PlayerId, World, WorldConfig};
//! use tickwire_replica::{Archetypes, Moment, Replica, ReplicaConfig, Replicate};
//!
//! #[derive(Clone, Debug, PartialEq, Replicate)]
//! struct Score {
//!     points: u16,
//! }
//!
//! #[derive(Archetypes, Clone, Debug)]
//! enum Thing {
//!     Score(Score),
//! }
//!
//! let mut world = World::<Thing>::new(WorldConfig { ticks_per_send: 1, ..WorldConfig::default() })?;
//! let id = world.spawn(&Thing::Score(Score { points: 3 }))?;
//! let tick = world.commit();
//!
//! let mut clients = Clients::new(&world, ClientsConfig::default());
//! let join = Join { player: PlayerId(1), groups: Groups(0) };
//! let client = clients.join(&world, join)?;
//! let mut replica = Replica::<Thing>::new(ReplicaConfig { ticks_per_send: 1, ..ReplicaConfig::DEFAULT });
//!
//! let room = Room { datagram: 1_200, path: 12_000 };
//! let mut packet = Vec::new();
//! while clients.poll_packet(&mut world, client, room, &mut packet).is_some() {
//!     let applied = replica.apply(&packet)?;
//!     clients.acknowledge(client, applied.packet);
//!     packet.clear();
//! }
//! replica.play(Moment::of(tick));
//! assert_eq!(replica.get::<Score>(id), Some(Score { points: 3 }));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

// The derives name this crate as a user does.
#[cfg(test)]
extern crate self as tickwire_replica;

mod archetype;
mod block;
pub mod coder;
#[doc(hidden)]
pub mod derive;
mod id;
pub mod limits;
mod number;
pub mod packet;
pub mod quantise;
pub mod record;
pub mod replica;
mod row;
mod schema;
pub mod server;
mod value;
mod window;
pub mod world;

pub use archetype::{Archetype, ArchetypeSchema, Archetypes, Schema};
pub use block::{BlockBuf, BlockView, SLOTS, slots_of};
pub use coder::Quantised;
pub use id::EntityId;
pub use number::{BlockNumber, PacketNumber, PlaceNumber, SendIndex};
pub use replica::{Applied, ApplyError, Event, Moment, Replica, ReplicaConfig};
pub use row::{RowReader, RowWriter};
pub use schema::{Field, Kind, Playback, Scale};
pub use server::Clients;
pub use tickwire_derive::{Archetypes, Replicate};
pub use value::{FieldError, Replicate, Unfit};
pub use world::{World, WorldConfig};

#[doc = include_str!("../WIRE.md")]
pub mod spec {}
