//! A world that is quantised, diffed and coded once, and followed by many replicas.

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
