//! One resource on its way to a peer.

use tickwire_wire::display_enum;

use alloc::string::String;
use alloc::sync::Arc;

/// What is left to send of a resource.
///
/// Pieces are taken when there is room for them, and borrow the resource: nothing is queued. After the
/// last byte comes one piece more, an empty one, which tells the peer that this was all.
#[derive(Clone, Debug)]
pub struct Sending {
    name: String,
    bytes: Arc<[u8]>,
    offset: usize,
    ended: bool,
}

/// A part of a resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Piece<'a> {
    /// The size of the whole resource.
    pub of: u64,
    /// Where the piece begins.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl Piece<'_> {
    /// Whether it says that this was all.
    pub const fn is_end(&self) -> bool {
        self.bytes.is_empty() && self.offset == self.of
    }
}

display_enum! {
    /// Why a resource cannot be sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum SendError: Error {
        /// There is none of this name.
        Unknown => "there is no resource of this name",
        /// The offset is beyond its end.
        Offset {
            /// Its size.
            size: u64,
        } => "the resource has only {size} bytes",
    }
}

impl Sending {
    /// Begins to send a resource at an offset. At its very end there is only the empty piece to send.
    pub fn new(name: &str, bytes: Arc<[u8]>, offset: u64) -> Result<Self, SendError> {
        let size = bytes.len();
        let offset = usize::try_from(offset)
            .ok()
            .filter(|offset| *offset <= size)
            .ok_or(SendError::Offset { size: size as u64 })?;
        Ok(Self {
            name: name.into(),
            bytes,
            offset,
            ended: false,
        })
    }

    /// The resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next piece, of at most `most` bytes, which counts as sent. `None` when the empty piece was
    /// taken, or while `most` is 0 and there are bytes to send.
    pub fn poll_piece(&mut self, most: usize) -> Option<Piece<'_>> {
        let rest = self.bytes.get(self.offset..)?;
        if self.ended || (most == 0 && !rest.is_empty()) {
            return None;
        }
        let bytes = rest.get(..most).unwrap_or(rest);
        let offset = self.offset;
        self.offset += bytes.len();
        self.ended = bytes.is_empty();
        Some(Piece {
            of: self.bytes.len() as u64,
            offset: offset as u64,
            bytes,
        })
    }

    /// Bytes that are left to send.
    pub fn rest(&self) -> u64 {
        (self.bytes.len() - self.offset) as u64
    }

    /// Whether everything was sent, the empty piece included.
    pub const fn is_ended(&self) -> bool {
        self.ended
    }
}
