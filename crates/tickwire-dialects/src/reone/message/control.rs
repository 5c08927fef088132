//! What a server tells a client about the connection itself, outside of snapshots.

use core::num::NonZeroU16;

use tickwire_wire::{LittleEndian, coded_enum, fields};

use crate::reone::{ModuleNumber, ObjectId};

/// What the client must know before snapshots come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parameters {
    /// Snapshots a second.
    pub tick_rate: NonZeroU16,
    /// How long the client blends from one snapshot to the next.
    pub lerp_ms: u16,
    /// What the client is.
    pub role: Role,
    /// The creature that a player steers; a spectator's has no meaning and is 0.
    pub own: ObjectId,
    /// The module that the server is in.
    pub module: ModuleNumber,
    /// Whether snapshots may come Huffman-coded.
    pub compression: Compression,
}

coded_enum! {
    /// What a client is.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Role: u8 {
        /// It looks on.
        0 Spectator,
        /// It steers a creature.
        1 Player,
    }
}

coded_enum! {
    /// How the lists of a snapshot travel: the flags of the wire, of which there is one. An unknown flag may
    /// change what later bytes mean, so it is not passed over.
    #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
    pub enum Compression: u8 {
        /// As they are.
        #[default]
        0 None,
        /// Behind a byte that says whether they are coded: see [`huffman`](crate::reone::huffman).
        1 Huffman,
    }
}

coded_enum! {
    /// Why a client's datagrams are not answered as it expects.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Invalid: u8 {
        /// It was silent for too long. The module is still the same: it may ping again.
        0 SameModule "same module",
        /// The module is another: it has to begin with the handshake.
        1 NewModule "new module",
        /// Nobody knows this address.
        2 Unknown "unknown",
    }
}

fields!(Parameters in LittleEndian {
    tick_rate: "tick rate", lerp_ms: "lerp ms", role: "role", own: "own creature", module: "module number",
    compression: "flags",
});
