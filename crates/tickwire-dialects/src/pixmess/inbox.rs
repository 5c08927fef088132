//! Bytes of a stream until they are packets.

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use super::Reader;
use super::mask::Masks;

/// What arrived of a peer's stream and was not read yet, and what its masks are by now.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// How many of them were read.
    read: usize,
    masks: Masks,
}

impl Inbox {
    /// Adds what arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.read);
        self.read = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// How many bytes are not read yet.
    pub(super) fn unread(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// Whether a packet that is `sought` is among those that were not read yet. They are lost then: it
    /// is for the end of a stream.
    pub(super) fn drain_for<'a, M>(
        &'a mut self,
        decode: impl Fn(&mut Reader<'a>, &mut Masks) -> Result<M, DecodeError>,
        sought: impl Fn(&M) -> bool,
    ) -> bool {
        let unread = self.bytes.get(self.read..).unwrap_or_default();
        let mut r = Reader::new(unread);
        self.read = self.bytes.len();
        while let Ok(message) = decode(&mut r, &mut self.masks) {
            if sought(&message) {
                return true;
            }
        }
        false
    }

    /// The next packet, once all of it is there. After an error there is nothing more to be had: where
    /// the next packet begins is not known.
    pub(super) fn next<'a, M>(
        &'a mut self,
        decode: impl FnOnce(&mut Reader<'a>, &mut Masks) -> Result<M, DecodeError>,
    ) -> Result<Option<M>, DecodeError> {
        let unread = self.bytes.get(self.read..).unwrap_or_default();
        let mut r = Reader::new(unread);
        match decode(&mut r, &mut self.masks) {
            Ok(message) => {
                self.read += r.position();
                Ok(Some(message))
            }
            // Lengths were checked before: no packet makes this grow without end.
            Err(DecodeError::Truncated { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
