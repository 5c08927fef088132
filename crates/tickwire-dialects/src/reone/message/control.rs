//! What a server tells a client about the connection itself, outside of snapshots.

use core::num::NonZeroU16;

use tickwire_wire::DecodeError;

use crate::reone::{ModuleNumber, ObjectId, Reader, Writer};

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

/// What a client is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// It looks on.
    Spectator,
    /// It steers a creature.
    Player,
}

/// How the lists of a snapshot travel.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// Behind a byte that says whether they are coded: see [`huffman`](crate::reone::huffman).
    Huffman,
}

/// Why a client's datagrams are not answered as it expects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Invalid {
    /// It was silent for too long. The module is still the same: it may ping again.
    SameModule,
    /// The module is another: it has to begin with the handshake.
    NewModule,
    /// Nobody knows this address.
    Unknown,
}

const FLAG_HUFFMAN: u8 = 1;

impl Parameters {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let tick_rate = r.u16("tick rate")?;
        let tick_rate = NonZeroU16::new(tick_rate).ok_or_else(|| r.refuse("tick rate", 0))?;
        Ok(Self {
            tick_rate,
            lerp_ms: r.u16("lerp ms")?,
            role: match r.u8("role")? {
                0 => Role::Spectator,
                1 => Role::Player,
                other => return Err(r.refuse("role", other.into())),
            },
            own: ObjectId(r.u32("own creature")?),
            module: ModuleNumber(r.u32("module number")?),
            // An unknown flag may change what later bytes mean, so it is not passed over.
            compression: match r.u8("flags")? {
                0 => Compression::None,
                FLAG_HUFFMAN => Compression::Huffman,
                other => return Err(r.refuse("flags", other.into())),
            },
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16(self.tick_rate.get());
        w.u16(self.lerp_ms);
        w.u8(match self.role {
            Role::Spectator => 0,
            Role::Player => 1,
        });
        w.u32(self.own.0);
        w.u32(self.module.0);
        w.u8(match self.compression {
            Compression::None => 0,
            Compression::Huffman => FLAG_HUFFMAN,
        });
    }
}

impl Invalid {
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::SameModule => 0,
            Self::NewModule => 1,
            Self::Unknown => 2,
        }
    }

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (why, name) = match r.u8("reason")? {
            0 => (Self::SameModule, "same module"),
            1 => (Self::NewModule, "new module"),
            2 => (Self::Unknown, "unknown"),
            other => return Err(r.refuse("reason", other.into())),
        };
        r.means(name);
        Ok(why)
    }
}
