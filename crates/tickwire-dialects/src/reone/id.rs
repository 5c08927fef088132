//! Numbers that name things.

use core::fmt;

use tickwire_wire::{Serial, number_fields};

/// A creature or another object of the module.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ObjectId(pub u32);

/// A snapshot of the server: the first is 1, and they never begin again. 0 stands for none, which in
/// an acknowledgement is the base.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SnapshotSeq(pub u32);

/// A datagram of a client, counted from 1.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PacketSeq(pub u32);

/// An event of a client, counted from 1. 0 is an event that nobody acknowledges.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventId(pub u32);

/// A call of a client and its result.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub u32);

/// A client of a server: counts connections.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClientId(pub u32);

/// Which module the server is in: counts modules.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ModuleNumber(pub u32);

number_fields!(
    ObjectId(u32),
    SnapshotSeq(u32),
    PacketSeq(u32),
    EventId(u32),
    CallId(u32),
    ClientId(u32),
    ModuleNumber(u32),
);

impl SnapshotSeq {
    /// No snapshot; in an acknowledgement, the base.
    pub const NONE: Self = Self(0);

    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// How many snapshots newer this one is than `older`; 0 if it is not.
    pub const fn since(self, older: Self) -> u32 {
        self.0.saturating_sub(older.0)
    }
}

impl EventId {
    /// An event that is sent once and never acknowledged.
    pub const UNACKNOWLEDGED: Self = Self(0);

    /// The one after this.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl PacketSeq {
    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        Self(Serial::next(self.0))
    }

    /// Whether this packet was sent after `other`.
    pub fn is_newer_than(self, other: Self) -> bool {
        self.0.is_newer_than(other.0)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}", self.0)
    }
}

impl fmt::Display for SnapshotSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "snapshot {}", self.0)
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}", self.0)
    }
}
