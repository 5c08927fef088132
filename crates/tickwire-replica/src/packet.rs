//! The frame of a packet: its header, what was left, and the heads of its records.
//!
//! [`PacketWriter`] fills a datagram, never beyond its limit: what does not fit leaves nothing behind.
//! [`PacketReader`] reads any bytes, and gives a value or an error that names the field. What a record's
//! body holds is [`record`](crate::record)'s; what follows from a packet is the replica's.
//! [`spec`](crate::spec) has the layout.

mod notice;
mod reader;
mod writer;

pub use notice::{Notice, Notices};
pub use reader::PacketReader;
pub use writer::PacketWriter;

use crate::coder::Ages;
use crate::number::{BlockNumber, PacketNumber, PlaceNumber, SendIndex};

/// What a packet begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// Which packet to this client it is.
    pub number: PacketNumber,
    /// The send it belongs to: when what it says was true.
    pub send: SendIndex,
}

/// What the last packet of a send says about the send.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Last {
    /// If the last so many packets, this one included, were all applied, then every block that the
    /// client holds is true at this send, mentioned or not, and it lacks none. 0: it cannot know.
    pub complete: u8,
    /// The same, but only about blocks that entities moved to.
    pub settled: u8,
}

/// What a record begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RecordHead {
    /// Whose record it is.
    pub place: PlaceNumber,
    /// What of it.
    pub target: Target,
    /// How its body is coded.
    pub form: Form,
    /// What it is relative to.
    pub ages: Ages,
}

/// What a record holds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// Blocks of the place that changed since the baseline; other records may hold the rest.
    Place,
    /// One block.
    Block(BlockNumber),
}

/// How a record's body is coded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// In nanoseconds; see [`coder`](crate::coder).
    Packed,
    /// In fewer bytes.
    Coded,
}

/// Flags beside a header's send.
mod flag {
    pub(super) const LAST: u32 = 1;
    pub(super) const NOTICES: u32 = 2;
}

/// Bits of a record's head.
mod head {
    pub(super) const ONE_BLOCK: u16 = 1;
    pub(super) const CODED: u16 = 2;
    pub(super) const BASELINE: u32 = 2;
    pub(super) const PREVIOUS: u32 = 8;
    pub(super) const AGE: u16 = 0x3f;
}

#[cfg(test)]
mod tests;
