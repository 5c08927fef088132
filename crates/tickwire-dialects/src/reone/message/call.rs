//! Calls: what a client asks over TCP, and what it is answered.
//!
//! A frame carries the method's name and bytes; here they get their meaning. The bytes of an answer
//! do not say which method they belong to: whoever asked knows.

use alloc::vec::Vec;

use tickwire_wire::{DecodeError, coded_enum};

use crate::reone::delta::TooMany;
use crate::reone::limits::{CALL_MAX, CONTAINER_MAX};
use crate::reone::{ObjectId, Reader, Text, Writer};

/// What can be asked.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Method {
    /// Which resource an object is made of.
    Resref,
    /// What an object carries.
    Inventory,
    /// A variable of the game.
    Global,
    /// A variable of the caller's own creature.
    Local,
    /// Nothing: a line for the server's log.
    Log,
}

/// A call with its argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call<'a> {
    /// Which resource is this object made of?
    Resref(ObjectId),
    /// What does this object carry?
    Inventory(ObjectId),
    /// What is this variable of the game?
    Global(Text<'a>),
    /// What is this variable of my own creature?
    Local(Text<'a>),
    /// Write this to the log.
    Log(Text<'a>),
}

/// What a call that succeeded is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer<'a> {
    /// The resource's name.
    Resref(Text<'a>),
    /// The names of the items.
    Inventory(Texts<'a>),
    /// The variable's value; 0 if there is none of this name.
    Global(i32),
    /// The variable's value; 0 if there is none of this name.
    Local(i32),
    /// It was written.
    Log,
}

coded_enum! {
    /// How a call went.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Status: u8 {
        /// It was answered.
        0 Ok "ok",
        /// There is no such method.
        1 UnknownMethod "unknown method",
        /// The argument does not decode, or names nothing there is.
        2 BadArgument "bad argument",
        /// Not for this client, or not now.
        3 Refused "refused",
    }
}

/// Why a call makes no sense.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CallError {
    /// There is no such method.
    UnknownMethod,
    /// The argument does not decode.
    BadArgument(DecodeError),
}

impl CallError {
    /// What the client is told.
    pub const fn status(self) -> Status {
        match self {
            Self::UnknownMethod => Status::UnknownMethod,
            Self::BadArgument(_) => Status::BadArgument,
        }
    }
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Resref,
        Self::Inventory,
        Self::Global,
        Self::Local,
        Self::Log,
    ];

    /// Its name on the wire.
    pub const fn name(self) -> Text<'static> {
        Text::from_static(match self {
            Self::Resref => "resref",
            Self::Inventory => "inventory",
            Self::Global => "global",
            Self::Local => "local",
            Self::Log => "log",
        })
    }

    /// The method of this name.
    pub fn from_name(name: Text<'_>) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

impl<'a> Call<'a> {
    /// What is asked.
    pub const fn method(&self) -> Method {
        match self {
            Self::Resref(_) => Method::Resref,
            Self::Inventory(_) => Method::Inventory,
            Self::Global(_) => Method::Global,
            Self::Local(_) => Method::Local,
            Self::Log(_) => Method::Log,
        }
    }

    /// Reads what a Call frame carries.
    pub fn decode(method: Text<'_>, argument: &'a [u8]) -> Result<Self, CallError> {
        let method = Method::from_name(method).ok_or(CallError::UnknownMethod)?;
        let mut r = Reader::new(argument);
        let call = Self::decode_argument(method, &mut r);
        call.and_then(|call| r.finish().map(|()| call))
            .map_err(CallError::BadArgument)
    }

    /// Appends the argument.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out, CALL_MAX);
        match self {
            Self::Resref(object) | Self::Inventory(object) => w.u32(object.0),
            Self::Global(text) | Self::Local(text) | Self::Log(text) => text.encode(&mut w),
        }
    }

    fn decode_argument(method: Method, r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match method {
            Method::Resref => Self::Resref(ObjectId(r.u32("id")?)),
            Method::Inventory => Self::Inventory(ObjectId(r.u32("id")?)),
            Method::Global => Self::Global(Text::decode(r, "variable")?),
            Method::Local => Self::Local(Text::decode(r, "variable")?),
            Method::Log => Self::Log(Text::decode(r, "line")?),
        })
    }
}

impl<'a> Answer<'a> {
    /// Reads the answer to a call of `method`.
    pub fn decode(method: Method, bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let answer = match method {
            Method::Resref => Self::Resref(Text::decode(&mut r, "resref")?),
            Method::Inventory => Self::Inventory(Texts::decode(&mut r, "item")?),
            Method::Global => Self::Global(r.i32("value")?),
            Method::Local => Self::Local(r.i32("value")?),
            Method::Log => Self::Log,
        };
        r.finish()?;
        Ok(answer)
    }

    /// Appends the answer.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out, CALL_MAX);
        match self {
            Self::Resref(text) => text.encode(&mut w),
            Self::Inventory(items) => w.bytes(items.bytes),
            Self::Global(value) | Self::Local(value) => w.i32(*value),
            Self::Log => {}
        }
    }
}

/// A container of strings, as its bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Texts<'a> {
    /// The size and the strings, found to be good.
    bytes: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Writes strings to `buffer`, which is emptied first, and holds on to them there.
    pub fn new<'t>(
        texts: impl IntoIterator<Item = Text<'t>>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self, TooMany> {
        buffer.clear();
        buffer.push(0);
        let mut size = 0;
        for text in texts {
            if size == CONTAINER_MAX {
                return Err(TooMany);
            }
            size += 1;
            buffer.extend_from_slice(text.as_str().as_bytes());
            buffer.push(0);
        }
        if let Some(first) = buffer.first_mut() {
            *first = u8::try_from(size).unwrap_or(u8::MAX);
        }
        Ok(Self { bytes: buffer })
    }

    /// The strings, in order.
    pub fn iter(&self) -> impl Iterator<Item = Text<'a>> + use<'a> {
        let mut r = Reader::new(self.bytes);
        let size = r.u8("size").unwrap_or(0);
        (0..size).filter_map(move |_| Text::decode(&mut r, "text").ok())
    }

    fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, DecodeError> {
        let start = r.position();
        let ahead = r.peek(usize::MAX);
        for _ in 0..r.u8("size")? {
            Text::decode(r, field)?;
        }
        let length = r.position() - start;
        Ok(Self {
            bytes: ahead.get(..length).unwrap_or(ahead),
        })
    }
}
