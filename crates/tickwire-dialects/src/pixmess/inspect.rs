//! Showing what is in a stream.

use tickwire_wire::{DecodeError, Trace};

use super::Reader;
use super::mask::Masks;
use super::message::{FromClient, FromServer};

/// Shows `trace` every packet of one direction of a stream, from its first byte on, up to its end or
/// to the first that cannot be read.
///
/// What a packet leaves out is found in those before it, so a stream cannot be read from its middle.
pub fn inspect(from_client: bool, bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let mut r = Reader::traced(bytes, trace);
    let mut masks = Masks::default();
    while !r.is_empty() {
        r.group("packet", |r| {
            if from_client {
                FromClient::decode(r, &mut masks).map(|_| ())
            } else {
                FromServer::decode(r, &mut masks).map(|_| ())
            }
        })?;
    }
    Ok(())
}
