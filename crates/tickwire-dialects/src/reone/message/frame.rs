//! Frames: what goes by TCP, each with its kind and the length of its body.
//!
//! A kind that the sender does not use, and a length above what its kind may have, are refused by the
//! first bytes, before anything is kept for the rest.

use alloc::vec::Vec;

use tickwire_session::Token;
use tickwire_wire::{DecodeError, Full};

use super::{Direction, FrameKind, Status};
use crate::reone::limits::{CALL_MAX, FRAME_HEADER, FRAME_MAX, NAME_MAX, PIECE_MAX, STRING_MAX};
use crate::reone::text::bit;
use crate::reone::{CallId, ClientId, ModuleNumber, Reader, Remark, Text, Writer};

/// The version of the protocol that a client's first frame names.
pub const VERSION: u16 = 1;

/// A frame from a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UpFrame<'a> {
    /// The first of a connection.
    Hello {
        /// [`VERSION`], or the server refuses.
        version: u16,
        /// The player's name, of at most [`NAME_MAX`] bytes.
        name: Text<'a>,
    },
    /// Asks for a resource.
    Fetch {
        /// Which.
        name: Text<'a>,
        /// From which byte on.
        offset: u64,
    },
    /// The module is loaded.
    Loaded,
    /// Asks the server something; see [`Call`](super::Call).
    Call {
        /// What the result will be known by.
        id: CallId,
        /// What is asked.
        method: Text<'a>,
        /// About what.
        argument: &'a [u8],
    },
}

/// A frame from the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DownFrame<'a> {
    /// The answer to Hello.
    Welcome {
        /// The client's number.
        client: ClientId,
        /// What its datagrams have to show.
        token: Token,
        /// The module that the server is in.
        module: ModuleNumber,
        /// What that is called.
        name: Text<'a>,
    },
    /// What was asked last is not done, or the connection ends.
    Refused {
        /// Why.
        reason: Refusal,
        /// The same for a person.
        text: Remark<'a>,
    },
    /// A piece of a resource.
    Resource {
        /// Which.
        name: Text<'a>,
        /// Bytes of all of it.
        total: u64,
        /// Where the piece begins.
        offset: u64,
        /// At most [`PIECE_MAX`] bytes; none at the end, and only there.
        piece: &'a [u8],
    },
    /// The answer to a call; see [`Answer`](super::Answer).
    Result {
        /// Which call.
        id: CallId,
        /// How it went.
        status: Status,
        /// What came of it.
        answer: &'a [u8],
    },
    /// The server went on to another module: the client loads again.
    ModuleChanged {
        /// Its number.
        module: ModuleNumber,
        /// What it is called.
        name: Text<'a>,
    },
}

/// Why a server refuses. Games have the numbers from 128 on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Refusal(pub u8);

impl Refusal {
    /// A frame came that does not decode. The connection ends.
    pub const MALFORMED: Self = Self(0);
    /// The first frame was not Hello, or Hello came twice. The connection ends.
    pub const HELLO: Self = Self(1);
    /// Hello named another version. The connection ends.
    pub const VERSION: Self = Self(2);
    /// There is no place for another client. The connection ends.
    pub const FULL: Self = Self(3);
    /// There is no such resource.
    pub const RESOURCE: Self = Self(4);
    /// The resource has fewer bytes than the offset.
    pub const OFFSET: Self = Self(5);
    /// The client asks for more than it takes. The connection ends.
    pub const TOO_SLOW: Self = Self(6);
    /// The server ends. The connection ends.
    pub const SHUTDOWN: Self = Self(7);

    /// The protocol's word for it.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "malformed",
            1 => "hello expected",
            2 => "other version",
            3 => "full",
            4 => "no such resource",
            5 => "offset beyond the end",
            6 => "too slow",
            7 => "shutdown",
            128.. => "game",
            _ => "unknown",
        }
    }
}

const STRING: usize = STRING_MAX + 1;

pub(super) const fn up_kind(kind: u8) -> Option<FrameKind> {
    let (name, limit) = match kind {
        1 => ("Hello", 2 + NAME_MAX + 1),
        4 => ("Fetch", STRING + 8),
        6 => ("Loaded", 0),
        7 => ("Call", 4 + STRING + CALL_MAX),
        _ => return None,
    };
    Some(FrameKind { name, limit })
}

pub(super) const fn down_kind(kind: u8) -> Option<FrameKind> {
    let (name, limit) = match kind {
        2 => ("Welcome", 16 + STRING),
        3 => ("Refused", 1 + STRING),
        5 => ("Resource", STRING + 16 + PIECE_MAX),
        8 => ("Result", 5 + CALL_MAX),
        9 => ("ModuleChanged", 4 + STRING),
        _ => return None,
    };
    Some(FrameKind { name, limit })
}

/// Reads the next frame.
pub fn decode_frame<'a, D: Direction>(r: &mut Reader<'a>) -> Result<D::Frame<'a>, DecodeError> {
    let (kind, length) = decode_header::<D>(r)?;
    let start = r.position();
    let truncated = DecodeError::Truncated {
        field: "body",
        at_bit: bit(start),
    };
    if r.remaining() < length {
        return Err(truncated);
    }
    let end = start + length;
    let frame = D::decode_frame(kind, r, end)?;
    match r.position() {
        at if at > end => Err(truncated),
        at if at < end => Err(DecodeError::Trailing { at_bit: bit(at) }),
        _ => Ok(frame),
    }
}

/// Reads the next frame of a stream that may not have arrived whole; `None` until it has.
pub fn decode_arrived<'a, D: Direction>(
    r: &mut Reader<'a>,
) -> Result<Option<D::Frame<'a>>, DecodeError> {
    let mut header = Reader::new(r.peek(FRAME_HEADER));
    match decode_header::<D>(&mut header) {
        Ok((_, length)) if r.remaining() - FRAME_HEADER < length => Ok(None),
        Ok(_) => decode_frame::<D>(r).map(Some),
        // An unknown kind need not wait for its length.
        Err(DecodeError::Truncated { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Appends a frame, or nothing if it is longer than its kind may be.
pub fn encode_frame<D: Direction>(frame: &D::Frame<'_>, out: &mut Vec<u8>) -> Result<(), Full> {
    let number = D::frame_kind(frame);
    let limit = D::frame(number).map_or(0, |kind| kind.limit);
    let mut w = Writer::new(out, FRAME_HEADER + limit);
    w.whole(|w| {
        w.u8(number);
        w.u32(0);
        D::encode_frame(frame, w);
    })?;
    let length = w.written() - FRAME_HEADER;
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    for (at, byte) in length.to_le_bytes().into_iter().enumerate() {
        w.patch_u8(1 + at, byte);
    }
    Ok(())
}

fn decode_header<D: Direction>(r: &mut Reader<'_>) -> Result<(u8, usize), DecodeError> {
    let number = r.u8("kind")?;
    let Some(kind) = D::frame(number) else {
        return Err(r.refuse("kind", number.into()));
    };
    r.means(kind.name);
    let length = r.u32("length")?;
    let limit = kind.limit.min(FRAME_MAX);
    r.limit("length", length.into(), limit as u64)?;
    Ok((number, usize::try_from(length).unwrap_or(limit)))
}

impl<'a> UpFrame<'a> {
    pub(super) const fn kind(&self) -> u8 {
        match self {
            Self::Hello { .. } => 1,
            Self::Fetch { .. } => 4,
            Self::Loaded => 6,
            Self::Call { .. } => 7,
        }
    }

    pub(super) fn decode(kind: u8, r: &mut Reader<'a>, end: usize) -> Result<Self, DecodeError> {
        Ok(match kind {
            1 => Self::Hello {
                version: r.u16("version")?,
                name: Text::decode_within(r, "name", NAME_MAX)?,
            },
            4 => Self::Fetch {
                name: Text::decode(r, "name")?,
                offset: r.u64("offset")?,
            },
            6 => Self::Loaded,
            7 => Self::Call {
                id: CallId(r.u32("call id")?),
                method: Text::decode(r, "method")?,
                argument: rest(r, "argument", end)?,
            },
            other => return Err(r.refuse("kind", other.into())),
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match *self {
            Self::Hello { version, name } => {
                w.u16(version);
                name.encode(w);
            }
            Self::Fetch { name, offset } => {
                name.encode(w);
                w.u64(offset);
            }
            Self::Loaded => {}
            Self::Call {
                id,
                method,
                argument,
            } => {
                w.u32(id.0);
                method.encode(w);
                w.bytes(argument);
            }
        }
    }
}

impl<'a> DownFrame<'a> {
    /// A refusal in the protocol's own words.
    pub const fn refused(reason: Refusal) -> Self {
        let text = Remark::from_static(reason.name());
        Self::Refused { reason, text }
    }

    pub(super) const fn kind(&self) -> u8 {
        match self {
            Self::Welcome { .. } => 2,
            Self::Refused { .. } => 3,
            Self::Resource { .. } => 5,
            Self::Result { .. } => 8,
            Self::ModuleChanged { .. } => 9,
        }
    }

    pub(super) fn decode(kind: u8, r: &mut Reader<'a>, end: usize) -> Result<Self, DecodeError> {
        Ok(match kind {
            2 => Self::Welcome {
                client: ClientId(r.u32("client id")?),
                token: Token(r.u64("token")?),
                module: ModuleNumber(r.u32("module number")?),
                name: Text::decode(r, "module name")?,
            },
            3 => {
                let reason = Refusal(r.u8("reason")?);
                r.means(reason.name());
                let text = Remark::decode(r, "text")?;
                Self::Refused { reason, text }
            }
            5 => Self::decode_resource(r, end)?,
            8 => Self::Result {
                id: CallId(r.u32("call id")?),
                status: Status::decode(r)?,
                answer: rest(r, "answer", end)?,
            },
            9 => Self::ModuleChanged {
                module: ModuleNumber(r.u32("module number")?),
                name: Text::decode(r, "module name")?,
            },
            other => return Err(r.refuse("kind", other.into())),
        })
    }

    fn decode_resource(r: &mut Reader<'a>, end: usize) -> Result<Self, DecodeError> {
        let name = Text::decode(r, "name")?;
        let total = r.u64("total size")?;
        let offset = r.u64("offset")?;
        let length = end.saturating_sub(r.position());
        let is_inside = offset
            .checked_add(length as u64)
            .is_some_and(|end| end <= total);
        // No bytes are the end, and nothing else is.
        if !is_inside || (length == 0) != (offset == total) {
            return Err(r.refuse("offset", offset));
        }
        r.limit("piece", length as u64, PIECE_MAX as u64)?;
        let piece = r.bytes("piece", length)?;
        Ok(Self::Resource {
            name,
            total,
            offset,
            piece,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match *self {
            Self::Welcome {
                client,
                token,
                module,
                name,
            } => {
                w.u32(client.0);
                w.u64(token.0);
                w.u32(module.0);
                name.encode(w);
            }
            Self::Refused { reason, text } => {
                w.u8(reason.0);
                text.encode(w);
            }
            Self::Resource {
                name,
                total,
                offset,
                piece,
            } => {
                name.encode(w);
                w.u64(total);
                w.u64(offset);
                w.bytes(piece);
            }
            Self::Result { id, status, answer } => {
                w.u32(id.0);
                w.u8(status.number());
                w.bytes(answer);
            }
            Self::ModuleChanged { module, name } => {
                w.u32(module.0);
                name.encode(w);
            }
        }
    }
}

/// All bytes up to the end of the frame.
fn rest<'a>(r: &mut Reader<'a>, field: &'static str, end: usize) -> Result<&'a [u8], DecodeError> {
    let length = end.saturating_sub(r.position());
    r.bytes(field, length)
}
