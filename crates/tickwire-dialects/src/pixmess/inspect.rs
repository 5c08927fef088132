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
    let mut inspector = Inspector::new(from_client);
    while !r.is_empty() {
        inspector.read(&mut r)?;
    }
    Ok(())
}

/// Shows one direction of a stream, packet by packet from its first byte on.
#[derive(Clone, Debug)]
pub struct Inspector {
    from_client: bool,
    masks: Masks,
}

impl Inspector {
    /// At the beginning of a stream.
    pub fn new(from_client: bool) -> Self {
        Self {
            from_client,
            masks: Masks::default(),
        }
    }

    /// Shows `trace` the next packet, with which `bytes` begins; how long it is. After an error nothing changed.
    pub fn next(&mut self, bytes: &[u8], trace: &mut dyn Trace) -> Result<usize, DecodeError> {
        let mut r = Reader::traced(bytes, trace);
        self.read(&mut r)?;
        Ok(r.position())
    }

    fn read(&mut self, r: &mut Reader<'_>) -> Result<(), DecodeError> {
        r.group("packet", |r| {
            if self.from_client {
                FromClient::decode(r, &mut self.masks).map(drop)
            } else {
                FromServer::decode(r, &mut self.masks).map(drop)
            }
        })
    }
}
