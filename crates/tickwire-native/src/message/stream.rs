//! What goes by stream: everything that must arrive, in order.

use alloc::vec::Vec;

use tickwire_session::Token;
use tickwire_session::bulk::{Piece, RESOURCE_NAME_MAX};
use tickwire_wire::DecodeError;

use super::frame::write_frame;
use super::{Reader, Writer};
use crate::limits::{FRAME_MAX, HZ_MAX, MESSAGE_MAX, NAME_MAX, PIECE_MAX, WORDS_MAX};
use crate::reason::EndReason;
use crate::ticket::Ticket;

/// A frame of the client.
#[derive(Clone, Debug, PartialEq)]
pub enum Up<'a> {
    /// Who asks to play, and what.
    Hello(Hello<'a>),
    /// A message for the game.
    Say(&'a [u8]),
    /// A message that is answered exactly once.
    Ask {
        /// The client's number for it.
        number: u32,
        /// The message.
        body: &'a [u8],
    },
    /// A resource is wanted, from an offset on.
    Fetch {
        /// Its name.
        name: &'a str,
        /// Where to begin.
        offset: u64,
    },
    /// The player leaves for good.
    Leave,
    /// How many kept frames of the server were processed.
    Received(u32),
    /// A datagram, where the path takes none.
    Datagram(&'a [u8]),
}

/// A frame of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Down<'a> {
    /// The player takes part.
    Welcome(Welcome),
    /// The connection ends, and why.
    End {
        /// The reason.
        reason: EndReason,
        /// Words for people. With [`EndReason::OtherSchema`], the server's schema.
        words: &'a str,
    },
    /// A message of the game.
    Say(&'a [u8]),
    /// The answer to an Ask.
    Answer {
        /// The client's number for the question.
        number: u32,
        /// How it was taken.
        status: Status,
        /// The game's answer, if it was taken.
        body: &'a [u8],
    },
    /// Something happened at a tick.
    Event {
        /// The tick, its lowest 32 bits.
        tick: u32,
        /// What.
        body: &'a [u8],
    },
    /// Which entity is the player's; 0 for none.
    Owned(u32),
    /// An entity came of the player's input.
    Keyed {
        /// The input's tick, its lowest 32 bits.
        tick: u32,
        /// The entity.
        entity: u32,
    },
    /// A part of a resource.
    Piece {
        /// Its name.
        name: &'a str,
        /// The part.
        piece: Piece<'a>,
    },
    /// There is no such resource, or no such offset.
    NoSuch {
        /// The name that was asked for.
        name: &'a str,
    },
    /// How many kept frames of the client were processed.
    Received(u32),
    /// A datagram, where the path takes none.
    Datagram(&'a [u8]),
}

/// Who asks to play.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello<'a> {
    /// The protocol's version.
    pub version: u16,
    /// The hash of the game's types.
    pub schema: u64,
    /// What the client wants to be.
    pub role: Role,
    /// What the player wants to be called.
    pub name: &'a str,
    /// What the client has of a connection that broke.
    pub resume: Option<Resume>,
}

/// What a client shows to go on where its connection broke.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resume {
    /// Who it was.
    pub ticket: Ticket,
    /// How many kept frames of the server it has processed.
    pub received: u32,
}

/// What a client takes part as.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Role {
    /// It has inputs.
    #[default]
    Player,
    /// It only looks on.
    Spectator,
}

/// What a client needs to know of the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Welcome {
    /// The player's number.
    pub player: u32,
    /// What the client shows by datagram.
    pub token: Token,
    /// What it shows when it comes back after a broken connection. It counts once.
    pub ticket: Ticket,
    /// The server's tick, its lowest 32 bits.
    pub tick: u32,
    /// Ticks a second.
    pub hz: u16,
    /// Ticks from one send to the next.
    pub ticks_a_send: u8,
    /// If the player is the one who was there before: how many of its kept frames were processed.
    pub resumed: Option<u32>,
}

/// How a question was taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// The game answered.
    Done,
    /// The game, or the protocol because too many waited, refused it.
    Refused,
}

mod kind {
    pub(super) const HELLO: u8 = 1;
    pub(super) const SAY: u8 = 2;
    pub(super) const ASK: u8 = 3;
    pub(super) const FETCH: u8 = 4;
    pub(super) const LEAVE: u8 = 5;
    pub(super) const DATAGRAM: u8 = 6;
    pub(super) const WELCOME: u8 = 1;
    pub(super) const ANSWER: u8 = 3;
    pub(super) const PIECE: u8 = 4;
    pub(super) const END: u8 = 5;
    pub(super) const EVENT: u8 = 7;
    pub(super) const OWNED: u8 = 8;
    pub(super) const NO_SUCH: u8 = 9;
    pub(super) const RECEIVED: u8 = 10;
    pub(super) const KEYED: u8 = 11;
}

impl Up<'_> {
    /// What a frame of this kind is called.
    pub(crate) const fn name_of(kind: u8) -> &'static str {
        match kind {
            kind::HELLO => "Hello",
            kind::SAY => "Say",
            kind::ASK => "Ask",
            kind::FETCH => "Fetch",
            kind::LEAVE => "Leave",
            kind::RECEIVED => "Received",
            kind::DATAGRAM => "Datagram",
            _ => "unknown",
        }
    }
}

impl Down<'_> {
    /// What a frame of this kind is called.
    pub(crate) const fn name_of(kind: u8) -> &'static str {
        match kind {
            kind::WELCOME => "Welcome",
            kind::SAY => "Say",
            kind::ANSWER => "Answer",
            kind::PIECE => "Piece",
            kind::END => "End",
            kind::DATAGRAM => "Datagram",
            kind::EVENT => "Event",
            kind::OWNED => "Owned",
            kind::NO_SUCH => "NoSuch",
            kind::RECEIVED => "Received",
            _ => "unknown",
        }
    }
}

impl<'a> Up<'a> {
    /// Whether the frame is kept until the server has processed it.
    pub const fn is_kept(&self) -> bool {
        matches!(self, Self::Say(_) | Self::Ask { .. })
    }

    /// Reads the body of a frame.
    pub fn decode(kind: u8, body: &'a [u8]) -> Result<Self, DecodeError> {
        Self::read(kind, &mut Reader::new(body))
    }

    /// The same from a reader of that body.
    pub(crate) fn read(kind: u8, r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let frame = match kind {
            kind::HELLO => Self::Hello(Hello::decode(r)?),
            kind::SAY => Self::Say(message(r)?),
            kind::ASK => Self::Ask {
                number: r.varint("number")?,
                body: message(r)?,
            },
            kind::FETCH => Self::Fetch {
                name: short_text(r, "resource", RESOURCE_NAME_MAX)?,
                offset: r.u64("offset")?,
            },
            kind::LEAVE => Self::Leave,
            kind::RECEIVED => Self::Received(r.u32("received")?),
            kind::DATAGRAM => Self::Datagram(rest(r, "datagram", FRAME_MAX)?),
            other => return Err(unknown_kind(other)),
        };
        r.finish()?;
        Ok(frame)
    }

    /// Appends the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => write_frame(out, kind::HELLO, |w| hello.encode(w)),
            Self::Say(body) => write_frame(out, kind::SAY, |w| w.bytes(body)),
            Self::Ask { number, body } => write_frame(out, kind::ASK, |w| {
                w.varint(*number);
                w.bytes(body);
            }),
            Self::Fetch { name, offset } => write_frame(out, kind::FETCH, |w| {
                write_short_text(w, name);
                w.u64(*offset);
            }),
            Self::Leave => write_frame(out, kind::LEAVE, |_| ()),
            Self::Received(count) => write_frame(out, kind::RECEIVED, |w| w.u32(*count)),
            Self::Datagram(bytes) => write_frame(out, kind::DATAGRAM, |w| w.bytes(bytes)),
        }
    }
}

impl<'a> Down<'a> {
    /// Whether the frame is kept until the client has processed it.
    pub const fn is_kept(&self) -> bool {
        matches!(
            self,
            Self::Say(_)
                | Self::Answer { .. }
                | Self::Event { .. }
                | Self::Owned(_)
                | Self::Keyed { .. }
        )
    }

    /// Reads the body of a frame.
    pub fn decode(kind: u8, body: &'a [u8]) -> Result<Self, DecodeError> {
        Self::read(kind, &mut Reader::new(body))
    }

    /// The same from a reader of that body.
    pub(crate) fn read(kind: u8, r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let frame = match kind {
            kind::WELCOME => Self::Welcome(Welcome::decode(r)?),
            kind::SAY => Self::Say(message(r)?),
            kind::ANSWER => Self::Answer {
                number: r.varint("number")?,
                status: Status::decode(r)?,
                body: message(r)?,
            },
            kind::PIECE => Self::Piece {
                name: short_text(r, "resource", RESOURCE_NAME_MAX)?,
                piece: decode_piece(r)?,
            },
            kind::END => Self::End {
                reason: EndReason::from_number(r.u16("reason")?),
                words: words(r)?,
            },
            kind::DATAGRAM => Self::Datagram(rest(r, "datagram", FRAME_MAX)?),
            kind::EVENT => Self::Event {
                tick: r.u32("tick")?,
                body: message(r)?,
            },
            kind::OWNED => Self::Owned(r.u32("entity")?),
            kind::KEYED => Self::Keyed {
                tick: r.u32("tick")?,
                entity: r.u32("entity")?,
            },
            kind::RECEIVED => Self::Received(r.u32("received")?),
            kind::NO_SUCH => Self::NoSuch {
                name: short_text(r, "resource", RESOURCE_NAME_MAX)?,
            },
            other => return Err(unknown_kind(other)),
        };
        r.finish()?;
        Ok(frame)
    }

    /// Appends the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Welcome(welcome) => write_frame(out, kind::WELCOME, |w| welcome.encode(w)),
            Self::Say(body) => write_frame(out, kind::SAY, |w| w.bytes(body)),
            Self::Answer {
                number,
                status,
                body,
            } => write_frame(out, kind::ANSWER, |w| {
                w.varint(*number);
                w.u8(u8::from(*status == Status::Refused));
                w.bytes(body);
            }),
            Self::Piece { name, piece } => write_frame(out, kind::PIECE, |w| {
                write_short_text(w, name);
                w.u64(piece.of);
                w.u64(piece.offset);
                w.bytes(piece.bytes);
            }),
            Self::End { reason, words } => write_frame(out, kind::END, |w| {
                w.u16(reason.number());
                w.bytes(words.as_bytes());
            }),
            Self::Datagram(bytes) => write_frame(out, kind::DATAGRAM, |w| w.bytes(bytes)),
            Self::Event { tick, body } => write_frame(out, kind::EVENT, |w| {
                w.u32(*tick);
                w.bytes(body);
            }),
            Self::Owned(entity) => write_frame(out, kind::OWNED, |w| w.u32(*entity)),
            Self::Keyed { tick, entity } => write_frame(out, kind::KEYED, |w| {
                w.u32(*tick);
                w.u32(*entity);
            }),
            Self::Received(count) => write_frame(out, kind::RECEIVED, |w| w.u32(*count)),
            Self::NoSuch { name } => {
                write_frame(out, kind::NO_SUCH, |w| write_short_text(w, name));
            }
        }
    }
}

impl<'a> Hello<'a> {
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            version: r.u16("version")?,
            schema: r.u64("schema")?,
            role: match r.u8("role")? {
                0 => Role::Player,
                1 => Role::Spectator,
                other => return Err(r.refuse("role", other.into())),
            },
            name: short_text(r, "name", NAME_MAX)?,
            resume: match r.is_empty() {
                true => None,
                false => Some(Resume {
                    ticket: Ticket::decode(r)?,
                    received: r.u32("received")?,
                }),
            },
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u16(self.version);
        w.u64(self.schema);
        w.u8(u8::from(self.role == Role::Spectator));
        write_short_text(w, self.name);
        if let Some(Resume { ticket, received }) = self.resume {
            ticket.encode(w);
            w.u32(received);
        }
    }
}

impl Welcome {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let welcome = Self {
            player: r.u32("player")?,
            token: Token(r.u64("token")?),
            ticket: Ticket::decode(r)?,
            tick: r.u32("tick")?,
            hz: r.u16("ticks a second")?,
            ticks_a_send: r.u8("ticks a send")?,
            resumed: match r.is_empty() {
                true => None,
                false => Some(r.u32("received")?),
            },
        };
        if welcome.hz == 0 || welcome.hz > HZ_MAX {
            return Err(r.refuse("ticks a second", welcome.hz.into()));
        }
        if welcome.ticks_a_send == 0 {
            return Err(r.refuse("ticks a send", 0));
        }
        Ok(welcome)
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.player);
        w.u64(self.token.0);
        self.ticket.encode(w);
        w.u32(self.tick);
        w.u16(self.hz);
        w.u8(self.ticks_a_send);
        if let Some(received) = self.resumed {
            w.u32(received);
        }
    }
}

impl Status {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.u8("status")? {
            0 => Ok(Self::Done),
            1 => Ok(Self::Refused),
            other => Err(r.refuse("status", other.into())),
        }
    }
}

fn decode_piece<'a>(r: &mut Reader<'a>) -> Result<Piece<'a>, DecodeError> {
    Ok(Piece {
        of: r.u64("size")?,
        offset: r.u64("offset")?,
        bytes: rest(r, "piece", PIECE_MAX)?,
    })
}

fn message<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    rest(r, "message", MESSAGE_MAX)
}

/// All bytes that are left, at most `most`.
fn rest<'a>(r: &mut Reader<'a>, field: &'static str, most: usize) -> Result<&'a [u8], DecodeError> {
    let length = r.remaining();
    r.limit(field, length as u64, most as u64)?;
    r.bytes(field, length)
}

/// The words of an end are for people: what is no text is shown as far as it is.
fn words<'a>(r: &mut Reader<'a>) -> Result<&'a str, DecodeError> {
    let length = r.remaining();
    r.limit("words", length as u64, WORDS_MAX as u64)?;
    r.text("words", length)
}

/// Text after a byte with its length.
fn short_text<'a>(
    r: &mut Reader<'a>,
    field: &'static str,
    most: usize,
) -> Result<&'a str, DecodeError> {
    let length = usize::from(r.u8(field)?);
    r.limit(field, length as u64, most as u64)?;
    r.text(field, length)
}

fn write_short_text(w: &mut Writer<'_>, text: &str) {
    debug_assert!(
        text.len() <= usize::from(u8::MAX),
        "a text beyond its bound"
    );
    w.u8(u8::try_from(text.len()).unwrap_or(u8::MAX));
    w.bytes(text.as_bytes());
}

fn unknown_kind(kind: u8) -> DecodeError {
    DecodeError::Forbidden {
        field: "kind",
        at_bit: 0,
        value: kind.into(),
    }
}

#[cfg(test)]
mod tests;
