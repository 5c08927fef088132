//! A payload: header, then objects to the end. A datagram is one; a stream is one after another.

use alloc::vec::Vec;

use tickwire_wire::{DecodeError, Full, Trace};

use super::{Object, Sender};
use crate::cppevy::limits::{HALF_MAX, HEADER, PADDING, PAYLOAD_MAX};
use crate::cppevy::{Reader, Writer};

/// What every payload begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// When the payload's states were true and its events happened: milliseconds of the sender's
    /// clock, which wraps after 49 days.
    pub timestamp: u32,
    /// Half of the bytes that follow.
    pub half_size: u8,
}

impl Header {
    /// Reads the header.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let timestamp = r.u32("timestamp")?;
        let half_size = r.u8("half size")?;
        r.limit("half size", half_size.into(), HALF_MAX.into())?;
        Ok(Self {
            timestamp,
            half_size,
        })
    }

    /// Bytes of the whole payload.
    const fn length(self) -> usize {
        HEADER + 2 * self.half_size as usize
    }
}

/// A payload in which nothing is wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Payload<'a> {
    /// The moment it speaks of; see [`Header::timestamp`].
    pub timestamp: u32,
    sender: Sender,
    body: &'a [u8],
}

impl<'a> Payload<'a> {
    /// Reads a payload that is exactly as long as it says, and of which every object decodes.
    pub fn decode(bytes: &'a [u8], sender: Sender) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let header = Header::decode(&mut r)?;
        let body = bytes.get(HEADER..).unwrap_or_default();
        if bytes.len() != header.length() || !is_whole(body, sender) {
            // Field by field, to say what is wrong.
            let mut r = Reader::new(bytes);
            read(&mut r, sender)?;
            r.finish()?;
        }
        Ok(Self {
            timestamp: header.timestamp,
            sender,
            body,
        })
    }

    /// The objects, in order.
    pub const fn objects(&self) -> Objects<'a> {
        Objects {
            rest: self.body,
            sender: self.sender,
        }
    }
}

/// The objects of a [`Payload`].
#[derive(Clone, Copy, Debug)]
pub struct Objects<'a> {
    rest: &'a [u8],
    sender: Sender,
}

impl<'a> Iterator for Objects<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        // Only the end and the padding do not decode: the others did before.
        let (object, rest) = Object::split(self.rest, self.sender)?;
        self.rest = rest;
        Some(object)
    }
}

/// Writes one payload at the end of a buffer.
#[derive(Debug)]
pub struct PayloadWriter<'a> {
    w: Writer<'a>,
}

impl<'a> PayloadWriter<'a> {
    /// Begins a payload that speaks of this moment.
    pub fn new(out: &'a mut Vec<u8>, timestamp: u32) -> Self {
        let mut w = Writer::new(out, PAYLOAD_MAX);
        w.u32(timestamp);
        w.u8(0);
        Self { w }
    }

    /// Adds an object, or nothing if the whole of it does not fit.
    pub fn push(&mut self, object: &Object<'_>) -> Result<(), Full> {
        self.w.whole(|w| object.encode(w))
    }

    /// Adds an object that is encoded already.
    pub(crate) fn push_encoded(&mut self, object: &[u8]) -> Result<(), Full> {
        self.w.whole(|w| w.bytes(object))
    }

    /// Whether it has no object yet.
    pub const fn is_empty(&self) -> bool {
        self.w.written() == HEADER
    }

    /// Bytes so far, header included.
    pub(crate) const fn length(&self) -> usize {
        self.w.written()
    }

    /// Pads the payload to an even size and states that size. Returns the payload's length.
    pub fn finish(mut self) -> usize {
        if (self.w.written() - HEADER) % 2 == 1 {
            self.w.u8(PADDING);
        }
        let length = self.w.written();
        #[expect(clippy::cast_possible_truncation, reason = "below PAYLOAD_MAX")]
        self.w.patch_u8(HEADER - 1, ((length - HEADER) / 2) as u8);
        length
    }
}

/// Cuts a stream into payloads.
///
/// It holds at most one payload that has not arrived whole, so a peer cannot make it grow.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    held: Vec<u8>,
    /// What is held was returned.
    taken: bool,
}

impl Assembler {
    /// Moves bytes from the front of `input` until they make a payload. `None` when the input ends
    /// before that.
    ///
    /// The payload's objects are the caller's to decode. An error means that the stream cannot be
    /// read any further.
    pub(crate) fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, DecodeError> {
        if core::mem::take(&mut self.taken) {
            self.held.clear();
        }
        self.fill(HEADER, input);
        if self.held.len() < HEADER {
            return Ok(None);
        }
        let length = Header::decode(&mut Reader::new(&self.held))?.length();
        self.fill(length, input);
        if self.held.len() < length {
            return Ok(None);
        }
        self.taken = true;
        Ok(Some(&self.held))
    }

    /// Moves bytes until `length` are held.
    fn fill(&mut self, length: usize, input: &mut &[u8]) {
        let missing = length.saturating_sub(self.held.len());
        let (now, later) = input.split_at(missing.min(input.len()));
        self.held.extend_from_slice(now);
        *input = later;
    }
}

/// Shows `trace` every field of a datagram, or of a stretch of a stream that begins with a payload,
/// as far as it can be read.
pub fn inspect(
    from_client: bool,
    on_stream: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    let sender = if from_client {
        Sender::Client
    } else {
        Sender::Server
    };
    let mut r = Reader::traced(bytes, trace);
    read(&mut r, sender)?;
    while on_stream && !r.is_empty() {
        read(&mut r, sender)?;
    }
    r.finish()
}

/// Shows `trace` the first payload of a piece of a stream; how long it is.
pub fn inspect_next(
    from_client: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<usize, DecodeError> {
    let sender = if from_client {
        Sender::Client
    } else {
        Sender::Server
    };
    let mut r = Reader::traced(bytes, trace);
    read(&mut r, sender)?;
    Ok(r.position())
}

/// Whether objects fill all of a payload's body but the padding. Says the same as [`read`], only
/// sooner: most of what a client does is to read states.
fn is_whole(mut body: &[u8], sender: Sender) -> bool {
    while let Some(rest) = Object::skip(body, sender) {
        body = rest;
    }
    matches!(body, [] | [PADDING])
}

/// Reads a payload, and leaves the cursor behind it.
fn read(r: &mut Reader<'_>, sender: Sender) -> Result<Header, DecodeError> {
    let start = r.position();
    let header = r.group("header", Header::decode)?;
    let end = start + header.length();
    while r.position() < end && !r.is_empty() {
        if r.position() + 1 == end && r.peek(1) == [PADDING] {
            r.u8("padding")?;
            break;
        }
        r.group("object", |r| Object::decode(r, sender))?;
    }
    // Too short for what the header says, or, in a stream, reaching into the next payload.
    if r.position() != end {
        let at_bit = u32::try_from(8 * r.position().min(end)).unwrap_or(u32::MAX);
        return Err(DecodeError::Truncated {
            field: "payload",
            at_bit,
        });
    }
    Ok(header)
}
