//! A world that is quantised, diffed and coded once, and followed by many replicas.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

mod block;
pub mod coder;
mod schema;

pub use block::{BlockBuf, BlockView, SLOTS};
pub use schema::{Field, Kind, Playback};
