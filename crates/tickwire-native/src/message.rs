//! The messages: frames on the stream, and datagrams.
//!
//! Decoding is total, and bodies of the game are kept as bytes: [`value`] reads them, with the type that
//! the direction has. WIRE.md has the layout.

mod datagram;
mod frame;
mod stream;

pub use datagram::{Acks, DatagramDown, DatagramUp, Inputs, Latest, Margin};
pub use frame::FrameReader;
pub use stream::{Down, Hello, Resume, Role, Status, Up, Welcome};

use alloc::vec::Vec;

use tickwire_replica::{FieldError, Quantised, Replicate};
use tickwire_wire::{BitReader, BitWriter, DecodeError, LittleEndian};

/// The byte order of the protocol.
pub(crate) type Reader<'a> = tickwire_wire::Reader<'a, LittleEndian>;
/// The byte order of the protocol.
pub(crate) type Writer<'a> = tickwire_wire::Writer<'a, LittleEndian>;

/// Reads a message of the game, whole.
pub fn value<T: Replicate>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut r = BitReader::new(bytes);
    let quantised = Quantised::decode(None, &mut r)?;
    r.finish()?;
    Ok(quantised.value())
}

/// Encodes a message of the game.
pub fn bytes_of<T: Replicate>(value: &T) -> Result<Vec<u8>, FieldError> {
    let mut w = BitWriter::new();
    Quantised::new(value)?.encode(None, &mut w);
    Ok(w.into_bytes())
}
