//! What a client sends in datagrams.
//!
//! Every one acknowledges, in its header, the newest snapshot that the client has whole; one that has
//! nothing else to say is a header alone.

use tickwire_session::Token;
use tickwire_wire::{DecodeError, Field, LittleEndian, fields, messages};

use super::{Direction, UpFrame};
use crate::reone::delta::TooMany;
use crate::reone::limits::EVENT_MAX;
use crate::reone::{EventId, PacketSeq, Reader, SnapshotSeq, Writer};

/// From a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Up {}

/// What a packet from a client begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UpHeader {
    /// Counts the client's datagrams, from 1.
    pub packet: PacketSeq,
    /// The newest snapshot that the client has whole.
    pub acknowledged: SnapshotSeq,
    /// The server's tick that the client showed when it made the newest event of the packet, or shows
    /// now if there is none.
    pub tick: u32,
}

/// An element of a list from a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UpElement<'a> {
    /// Shows the token that was received by TCP, and asks for parameters.
    Ping(Token),
    /// The parameters have arrived.
    Ready,
    /// Something the player did.
    Event(Event<'a>),
}

/// Something a player did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event<'a> {
    /// Its number.
    pub id: EventId,
    /// What kind of event; the game's number.
    pub kind: u8,
    content: &'a [u8],
}

impl<'a> Event<'a> {
    /// An event with this content, unless that is longer than [`EVENT_MAX`].
    pub const fn new(id: EventId, kind: u8, content: &'a [u8]) -> Result<Self, TooMany> {
        if content.len() > EVENT_MAX {
            return Err(TooMany);
        }
        Ok(Self { id, kind, content })
    }

    /// Whatever the game says.
    pub const fn content(&self) -> &'a [u8] {
        self.content
    }
}

fields!(UpHeader in LittleEndian { packet: "packet", acknowledged: "acknowledged", tick: "tick" });

messages!(UpElement in LittleEndian {
    128 Ping(token: "token"),
    129 Ready,
    130 Event(event: "event"),
});

impl<'a> Field<'a, LittleEndian> for Event<'a> {
    fn read(r: &mut Reader<'a>, _field: &'static str) -> Result<Self, DecodeError> {
        let (id, kind) = (Field::read(r, "event id")?, r.u8("kind")?);
        let size = r.u8("size")?;
        let content = r.bytes("content", size.into())?;
        Ok(Self { id, kind, content })
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.u32(self.id.0);
        w.u8(self.kind);
        w.u8(u8::try_from(self.content.len()).unwrap_or(u8::MAX));
        w.bytes(self.content);
    }
}

impl Direction for Up {
    type Header = UpHeader;
    type Element<'a> = UpElement<'a>;
    type Frame<'a> = UpFrame<'a>;

    fn decode_header(r: &mut Reader<'_>) -> Result<UpHeader, DecodeError> {
        Field::read(r, "header")
    }

    fn encode_header(header: &UpHeader, w: &mut Writer<'_>) {
        header.write(w);
    }

    fn is_single(_: u8) -> bool {
        true
    }

    fn allows(_: &UpHeader, _: u8) -> bool {
        true
    }
}
