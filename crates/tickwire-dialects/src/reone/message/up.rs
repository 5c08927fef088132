//! What a client sends in datagrams.
//!
//! Every one acknowledges, in its header, the newest snapshot that the client has whole; one that has
//! nothing else to say is a header alone.

use tickwire_session::Token;
use tickwire_wire::DecodeError;

use super::{Direction, FrameKind, ListType, UpFrame, frame};
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

impl Direction for Up {
    type Header = UpHeader;
    type Element<'a> = UpElement<'a>;
    type Frame<'a> = UpFrame<'a>;

    fn decode_header(r: &mut Reader<'_>) -> Result<UpHeader, DecodeError> {
        Ok(UpHeader {
            packet: PacketSeq(r.u32("packet")?),
            acknowledged: SnapshotSeq(r.u32("acknowledged")?),
            tick: r.u32("tick")?,
        })
    }

    fn encode_header(header: &UpHeader, w: &mut Writer<'_>) {
        w.u32(header.packet.0);
        w.u32(header.acknowledged.0);
        w.u32(header.tick);
    }

    fn list(number: u8) -> Option<ListType> {
        let name = match number {
            128 => "Ping",
            129 => "Ready",
            130 => "Event",
            _ => return None,
        };
        Some(ListType {
            name,
            is_single: true,
            is_final: false,
        })
    }

    fn list_number(element: &UpElement<'_>) -> u8 {
        match element {
            UpElement::Ping(_) => 128,
            UpElement::Ready => 129,
            UpElement::Event(_) => 130,
        }
    }

    fn decode_element<'a>(number: u8, r: &mut Reader<'a>) -> Result<UpElement<'a>, DecodeError> {
        Ok(match number {
            128 => UpElement::Ping(Token(r.u64("token")?)),
            129 => UpElement::Ready,
            130 => {
                let id = EventId(r.u32("event id")?);
                let kind = r.u8("kind")?;
                let size = r.u8("size")?;
                let content = r.bytes("content", size.into())?;
                UpElement::Event(Event { id, kind, content })
            }
            other => return Err(r.refuse("list type", other.into())),
        })
    }

    fn encode_element(element: &UpElement<'_>, w: &mut Writer<'_>) {
        match element {
            UpElement::Ping(token) => w.u64(token.0),
            UpElement::Ready => {}
            UpElement::Event(event) => {
                w.u32(event.id.0);
                w.u8(event.kind);
                w.u8(u8::try_from(event.content.len()).unwrap_or(u8::MAX));
                w.bytes(event.content);
            }
        }
    }

    fn allows(_: &UpHeader, _: u8) -> bool {
        true
    }

    fn frame(kind: u8) -> Option<FrameKind> {
        frame::up_kind(kind)
    }

    fn frame_kind(frame: &UpFrame<'_>) -> u8 {
        frame.kind()
    }

    fn decode_frame<'a>(
        kind: u8,
        r: &mut Reader<'a>,
        end: usize,
    ) -> Result<UpFrame<'a>, DecodeError> {
        UpFrame::decode(kind, r, end)
    }

    fn encode_frame(frame: &UpFrame<'_>, w: &mut Writer<'_>) {
        frame.encode(w);
    }
}
