//! What the protocol's own events and actions carry in their data.
//!
//! Each is read to its last byte: a byte too many is as wrong as one too few.

use alloc::vec::Vec;

use tickwire_session::Token;
use tickwire_session::bulk::ContentHash;
use tickwire_wire::DecodeError;

use super::{Data, Object};
use crate::cppevy::limits::{DATA_MAX, PIECE_MAX, VERSION};
use crate::cppevy::{ActionId, Archetype, EventId, Reader, SyncId, Writer};

/// What a client says of itself when it joins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Join<'a> {
    /// What it calls itself.
    pub name: &'a str,
}

impl<'a> Join<'a> {
    /// Reads the data of a Join. Another version than ours does not decode.
    pub fn decode(data: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(data);
        let version = r.u16("version")?;
        if version != VERSION {
            return Err(r.refuse("version", version.into()));
        }
        let name = r.text("name", r.remaining())?;
        Ok(Self { name })
    }

    /// Writes the data.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u16(VERSION);
        w.bytes(self.name.as_bytes());
    }
}

/// What a client is told when it has joined.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Joined {
    /// Its entity, and so its name among the clients.
    pub actor: SyncId,
    /// What it shows by UDP.
    pub token: Token,
}

impl Joined {
    /// Reads the message of a Join that succeeded.
    pub fn decode(message: &[u8]) -> Result<Self, DecodeError> {
        Reader::read_all(message, |r| {
            Ok(Self {
                actor: read_sync_id(r, "actor")?,
                token: Token(r.u64("token")?),
            })
        })
    }

    /// Writes the message.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u16(self.actor.number());
        w.u64(self.token.0);
    }
}

/// An entity that is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Summon {
    /// Which.
    pub entity: SyncId,
    /// What it is.
    pub archetype: Archetype,
}

impl Summon {
    /// Reads the data of a Summon.
    pub fn decode(data: &[u8]) -> Result<Self, DecodeError> {
        Reader::read_all(data, |r| {
            Ok(Self {
                entity: read_sync_id(r, "sync id")?,
                archetype: Archetype(r.u8("archetype")?),
            })
        })
    }

    /// Writes the data.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u16(self.entity.number());
        w.u8(self.archetype.0);
    }
}

/// Which asset a client wants, and from where on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AssetRequest<'a> {
    /// How much of it the client has already.
    pub offset: u32,
    /// Its name.
    pub name: &'a str,
}

impl<'a> AssetRequest<'a> {
    /// Reads the data of an Asset action.
    pub fn decode(data: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(data);
        let offset = r.u32("offset")?;
        let name = r.text("name", r.remaining())?;
        Ok(Self { offset, name })
    }

    /// Writes the data.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.offset);
        w.bytes(self.name.as_bytes());
    }
}

/// What a client has for the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Offer<'a> {
    /// Its bytes.
    pub size: u32,
    /// What they hash to.
    pub hash: ContentHash,
    /// Its name.
    pub name: &'a str,
}

impl<'a> Offer<'a> {
    /// Reads the data of an Offer action.
    pub fn decode(data: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(data);
        let size = r.u32("size")?;
        let hash = r.bytes("hash", 32)?;
        let name = r.text("name", r.remaining())?;
        // As many bytes were read as there are in a hash.
        let hash = ContentHash(hash.try_into().unwrap_or_default());
        Ok(Self { size, hash, name })
    }

    /// Writes the data.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.size);
        w.bytes(&self.hash.0);
        w.bytes(self.name.as_bytes());
    }
}

/// A piece of an asset, or of what was offered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Piece<'a> {
    /// Where in the asset it belongs.
    pub offset: u32,
    /// Its bytes, 1 to [`PIECE_MAX`].
    pub bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// Reads the data of an Asset event or a Piece action.
    pub fn decode(data: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(data);
        let offset = r.u32("offset")?;
        let bytes = r.bytes("piece", r.remaining())?;
        r.limit("piece", bytes.len() as u64, PIECE_MAX as u64)?;
        Ok(Self { offset, bytes })
    }

    /// Writes the data.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.offset);
        w.bytes(self.bytes);
    }
}

/// An event whose data is a sync id and nothing else.
pub(crate) struct EntityEvent {
    event: EventId,
    data: [u8; 2],
}

impl EntityEvent {
    pub(crate) const fn new(event: EventId, entity: SyncId) -> Self {
        Self {
            event,
            data: entity.number().to_le_bytes(),
        }
    }

    pub(crate) fn object(&self) -> Object<'_> {
        Object::Event {
            event: self.event,
            data: Data::new(&self.data).unwrap_or_default(),
        }
    }
}

/// Reads the data of Dismiss, ClientJoin and ClientLeave.
pub(crate) fn decode_actor(data: &[u8]) -> Result<SyncId, DecodeError> {
    Reader::read_all(data, |r| read_sync_id(r, "sync id"))
}

/// Reads the data of an Attach.
pub(crate) fn decode_token(data: &[u8]) -> Result<Token, DecodeError> {
    Reader::read_all(data, |r| r.u64("token")).map(Token)
}

/// Data as bytes.
pub(crate) fn encode(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Writer::new(&mut out, DATA_MAX));
    out
}

fn read_sync_id(r: &mut Reader<'_>, field: &'static str) -> Result<SyncId, DecodeError> {
    let number = r.u16(field)?;
    SyncId::new(number).ok_or_else(|| r.refuse(field, number.into()))
}

/// The fields of known data, for the trace: numbers, then what is left as text or bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    numbers: &'static [Number],
    rest: Rest,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    U8(&'static str),
    U16(&'static str),
    U32(&'static str),
    U64(&'static str),
    /// 32 bytes.
    Hash(&'static str),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rest {
    None,
    Text(&'static str),
    Bytes(&'static str),
}

impl Layout {
    /// Data of which only the game knows more.
    pub(super) const PLAIN: Self = Self {
        numbers: &[],
        rest: Rest::Bytes("data"),
    };

    pub(super) const fn of_event(event: EventId) -> Self {
        match event {
            EventId::SUMMON => Self::exactly(&[Number::U16("sync id"), Number::U8("archetype")]),
            EventId::DISMISS => Self::exactly(&[Number::U16("sync id")]),
            EventId::CLIENT_JOIN | EventId::CLIENT_LEAVE => Self::exactly(&[Number::U16("actor")]),
            EventId::ASSET => Self {
                numbers: &[Number::U32("offset")],
                rest: Rest::Bytes("piece"),
            },
            _ => Self::PLAIN,
        }
    }

    pub(super) const fn of_action(action: ActionId) -> Self {
        match action {
            ActionId::JOIN => Self {
                numbers: &[Number::U16("version")],
                rest: Rest::Text("name"),
            },
            ActionId::ATTACH => Self::exactly(&[Number::U64("token")]),
            ActionId::ASSET => Self {
                numbers: &[Number::U32("offset")],
                rest: Rest::Text("name"),
            },
            ActionId::OFFER => Self {
                numbers: &[Number::U32("size"), Number::Hash("hash")],
                rest: Rest::Text("name"),
            },
            ActionId::PIECE => Self {
                numbers: &[Number::U32("offset")],
                rest: Rest::Bytes("piece"),
            },
            _ => Self::PLAIN,
        }
    }

    pub(super) const fn of_success(action: ActionId) -> Self {
        match action {
            ActionId::JOIN => Self::exactly(&[Number::U16("actor"), Number::U64("token")]),
            ActionId::ASSET => Self::exactly(&[Number::U32("total size")]),
            _ => Self::PLAIN,
        }
    }

    const fn exactly(numbers: &'static [Number]) -> Self {
        Self {
            numbers,
            rest: Rest::None,
        }
    }

    /// Whether `data` has this form.
    pub(super) fn fits(self, data: &[u8]) -> bool {
        let numbers = self.numbers.iter().map(|number| number.size()).sum();
        match (data.get(numbers..), self.rest) {
            (None, _) => false,
            (Some(rest), Rest::None) => rest.is_empty(),
            (Some(rest), Rest::Text(_)) => core::str::from_utf8(rest).is_ok(),
            (Some(_), Rest::Bytes(_)) => true,
        }
    }

    /// Reads data that fits, for the trace alone.
    pub(super) fn trace(self, r: &mut Reader<'_>, size: usize) -> Result<(), DecodeError> {
        let end = r.position() + size;
        for number in self.numbers {
            match *number {
                Number::U8(field) => r.u8(field).map(drop)?,
                Number::U16(field) => r.u16(field).map(drop)?,
                Number::U32(field) => r.u32(field).map(drop)?,
                Number::U64(field) => r.u64(field).map(drop)?,
                Number::Hash(field) => r.bytes(field, 32).map(drop)?,
            }
        }
        let left = end - r.position();
        match self.rest {
            Rest::None => Ok(()),
            Rest::Text(field) => r.text(field, left).map(drop),
            Rest::Bytes(field) => r.bytes(field, left).map(drop),
        }
    }
}

impl Number {
    const fn size(self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::U16(_) => 2,
            Self::U32(_) => 4,
            Self::U64(_) => 8,
            Self::Hash(_) => 32,
        }
    }
}
