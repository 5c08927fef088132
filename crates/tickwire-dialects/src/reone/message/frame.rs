//! Frames: what goes by TCP, each with its kind and the length of its body.
//!
//! A kind that the sender does not use, and a length above what its kind may have, are refused by the
//! first bytes, before anything is kept for the rest.

use alloc::vec::Vec;

use tickwire_session::Token;
use tickwire_wire::{DecodeError, Field, Full, LittleEndian, Messages as _, messages};

use super::{Direction, Status};
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

/// The most bytes of a kind's body.
pub(super) const fn limit(kind: u8) -> usize {
    match kind {
        1 => 2 + NAME_MAX + 1,
        2 => 16 + STRING,
        3 => 1 + STRING,
        4 => STRING + 8,
        5 => STRING + 16 + PIECE_MAX,
        7 => 4 + STRING + CALL_MAX,
        8 => 5 + CALL_MAX,
        9 => 4 + STRING,
        _ => 0,
    }
}

impl Field<'_, LittleEndian> for Refusal {
    fn read(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let refusal = Self(r.u8(field)?);
        r.means(refusal.name());
        Ok(refusal)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.u8(self.0);
    }
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
    let number = frame.number();
    let limit = D::frame(number).map_or(0, |kind| kind.limit);
    let mut w = Writer::new(out, FRAME_HEADER + limit);
    w.whole(|w| {
        w.u8(number);
        w.u32(0);
        frame.write_fields(w);
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

messages!(UpFrame in LittleEndian {
    1 Hello { version: "version", name: "name" by Name },
    4 Fetch { name: "name", offset: "offset" },
    6 Loaded,
    7 Call { id: "call id", method: "method", argument: "argument" },
});

messages!(DownFrame in LittleEndian {
    2 Welcome { client: "client id", token: "token", module: "module number", name: "module name" },
    3 Refused { reason: "reason", text: "text" },
    5 Resource { name: "name", total: "total size", offset: "offset", piece: "piece" },
    8 Result { id: "call id", status: "status", answer: "answer" },
    9 ModuleChanged { module: "module number", name: "module name" },
});

/// A string that is no longer than a player's name.
struct Name;

impl Name {
    fn read<'a>(r: &mut Reader<'a>, field: &'static str) -> Result<Text<'a>, DecodeError> {
        Text::decode_within(r, field, NAME_MAX)
    }

    fn write(name: &Text<'_>, w: &mut Writer<'_>) {
        name.encode(w);
    }
}

impl<'a> DownFrame<'a> {
    /// A refusal in the protocol's own words.
    pub const fn refused(reason: Refusal) -> Self {
        let text = Remark::from_static(reason.name());
        Self::Refused { reason, text }
    }

    pub(super) fn decode(kind: u8, r: &mut Reader<'a>, end: usize) -> Result<Self, DecodeError> {
        match kind {
            5 => Self::decode_resource(r, end),
            _ => Self::read_fields(kind, r, end)?.ok_or_else(|| r.refuse("kind", kind.into())),
        }
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
}
