//! A world that is quantised, diffed and coded once, and followed by many replicas.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

mod archetype;
mod block;
pub mod coder;
mod id;
pub mod quantise;
mod row;
mod schema;
mod value;

pub use archetype::{Archetype, ArchetypeSchema, Archetypes, Schema};
pub use block::{BlockBuf, BlockView, SLOTS};
pub use id::EntityId;
pub use row::{RowReader, RowWriter};
pub use schema::{Field, Kind, Playback, Scale};
pub use value::{FieldError, Replicate, Unfit};
