//! Cursors over the bytes and bits of a protocol.
//!
//! [`Reader`] and [`BitReader`] never panic: whatever bytes they are given, each read yields a value
//! or a [`DecodeError`] that names the field and its place. Handed a [`Trace`], they also report
//! every field they pass, so that a decoder is its own inspector. [`Writer`] and [`BitWriter`] are
//! their mirror, and a [`Writer`] never exceeds the size it was given.
//!
//! What a field means, and whether its value is allowed, belongs to the protocol.
//!
//! ```
//! use tickwire_wire::{BigEndian, DecodeError, Reader};
//!
//! let mut r = Reader::<BigEndian>::new(&[0x01, 0x02, 0x03]);
//! assert_eq!(r.u16("sequence"), Ok(0x0102));
//! assert_eq!(
//!     r.u32("entity"),
//!     Err(DecodeError::Truncated { field: "entity", at_bit: 16 })
//! );
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing)]

extern crate alloc;

mod bits;
mod display_enum;
mod endian;
mod error;
mod field;
pub mod range;
mod reader;
mod serial;
mod trace;
mod writer;

pub use bits::{BitReader, BitWriter};
pub use endian::{BigEndian, Endian, LittleEndian};
pub use error::DecodeError;
pub use field::{Field, Messages};
pub use reader::Reader;
pub use serial::Serial;
pub use trace::{Entry, FieldLog, Place, Trace, Value};
pub use writer::{Full, Writer};
