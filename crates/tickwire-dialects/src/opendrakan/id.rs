//! Numbers that name things.

use core::fmt;

use tickwire_wire::{LittleEndian, fields, number_fields};

/// An object of the level, or one created later. Never used again once its object is destroyed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ObjectId(pub u32);

/// A class of objects: what decides which extra states an object has. Never on the wire: both sides
/// know the classes of the level's objects, and a created object has its prototype's.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClassId(pub u32);

/// A client of a server: counts connections.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClientId(pub u32);

/// A database of assets. The server's numbers are its own; a client has other ones, see
/// [`Client::loaded`](super::Client::loaded).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DatabaseId(pub u32);

/// An asset: which database, and which of its assets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AssetRef {
    /// The database.
    pub database: DatabaseId,
    /// Its asset.
    pub asset: u16,
}

number_fields!(ObjectId(u32), DatabaseId(u32));
fields!(AssetRef in LittleEndian { asset: "asset", database: "database" });

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}", self.0)
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}", self.0)
    }
}
