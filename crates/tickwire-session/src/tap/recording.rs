//! Recording what goes by, and reading it again.
//!
//! A recording is a magic number and then records, each `u32 length` and that many bytes: `u64`
//! microseconds, `u8` kind, the kind's fields, and for datagrams and streams the bytes to the end of
//! the record. All little-endian. A recording cut off anywhere reads up to the last whole record,
//! which is what a crash leaves behind.
//!
//! One that can be played back begins with [`About`] and holds what the game told the session. One that
//! was ended properly has an [`Index`] behind everything else, and behind that an end of fixed length
//! that says where the index is.

use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, Ipv6Addr};

use tickwire_wire::{DecodeError, LittleEndian};

use super::index::Index;
use super::{Input, Observer};
use crate::{Addr, Ended, Host, Instant, Path, Room, StreamId, Transmit};

pub(super) type Reader<'a> = tickwire_wire::Reader<'a, LittleEndian>;
pub(super) type Writer<'a> = tickwire_wire::Writer<'a, LittleEndian>;

/// Records everything through `sink`, which gets whole records.
///
/// The sink is a closure, so that this crate needs no file: a driver appends to one, a test to a
/// `Vec`.
pub struct Recorder<F> {
    sink: F,
    record: Vec<u8>,
    /// Bytes so far.
    written: u64,
    index: Index,
}

impl<F: FnMut(&[u8])> Recorder<F> {
    /// Begins a recording.
    pub fn new(mut sink: F) -> Self {
        sink(Recording::MAGIC);
        Self {
            sink,
            record: Vec::new(),
            written: Recording::MAGIC.len() as u64,
            index: Index::default(),
        }
    }

    /// Says what is recorded. Comes first.
    pub fn about(&mut self, now: Instant, about: &About<'_>) {
        self.write(now, 32, |w| {
            w.u8(match about.side {
                Recorded::Client => 0,
                Recorded::Server => 1,
            });
            write_addr(w, about.peer);
            let name = about.protocol.as_bytes();
            let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
            w.u8(length);
            w.bytes(name.get(..length.into()).unwrap_or_default());
            w.bytes(about.words);
        });
    }

    /// Records what the game told the session, in the game's own words.
    pub fn game(&mut self, now: Instant, words: &[u8]) {
        self.write(now, 33, |w| w.bytes(words));
    }

    /// Says that from here on everything is told anew, so that playing back may begin here.
    pub fn mark(&mut self, now: Instant) {
        self.index.push(now, self.written);
        self.write(now, 34, |_| ());
    }

    /// Ends the recording with its index. Nothing may follow.
    pub fn finish(&mut self, now: Instant) {
        let at = self.written;
        let index = core::mem::take(&mut self.index);
        self.write(now, 35, |w| index.write(w));
        self.write(now, 36, |w| w.u64(at));
    }

    fn write(&mut self, now: Instant, kind: u8, fields: impl FnOnce(&mut Writer<'_>)) {
        self.record.clear();
        let mut w = Writer::new(&mut self.record, 4 + Recording::RECORD_MAX);
        w.u32(0);
        w.u64(now.as_micros());
        w.u8(kind);
        fields(&mut w);
        // Longer than any driver hands in; there is nobody here to tell, and a cut record would
        // be worse than a missing one.
        if w.finish().is_err() {
            return;
        }
        let length = u32::try_from(self.record.len() - 4).unwrap_or(u32::MAX);
        if let Some(place) = self.record.first_chunk_mut::<4>() {
            *place = length.to_le_bytes();
        }
        self.written += self.record.len() as u64;
        (self.sink)(&self.record);
    }
}

impl<F> fmt::Debug for Recorder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl<F: FnMut(&[u8]) + Send> Observer for Recorder<F> {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        match input {
            Input::Opened { on, peer } => self.write(now, 0, |w| {
                write_stream_id(w, on);
                write_addr(w, peer);
            }),
            Input::Stream { on, bytes } => self.write(now, 1, |w| {
                write_stream_id(w, on);
                w.bytes(bytes);
            }),
            Input::Datagram { from, bytes } => self.write(now, 2, |w| {
                write_addr(w, from);
                w.bytes(bytes);
            }),
            Input::Room { path, room } => self.write(now, 3, |w| {
                write_path(w, path);
                w.u32(room.bytes);
                w.u16(room.largest);
            }),
            Input::Closed { path, why } => self.write(now, 4, |w| {
                write_path(w, path);
                w.u8(match why {
                    Ended::Finished => 0,
                    Ended::Reset => 1,
                    Ended::Refused => 2,
                    Ended::Unreachable => 3,
                });
            }),
            Input::Timeout => self.write(now, 5, |_| ()),
        }
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { to } => self.write(now, 16, |w| {
                write_addr(w, to);
                w.bytes(bytes);
            }),
            Transmit::Stream { on } => self.write(now, 17, |w| {
                write_stream_id(w, on);
                w.bytes(bytes);
            }),
            Transmit::Dial { on, to } => self.write(now, 18, |w| {
                write_stream_id(w, on);
                write_addr(w, to);
            }),
            Transmit::Finish { on } => self.write(now, 19, |w| write_stream_id(w, on)),
            Transmit::Abort { on } => self.write(now, 20, |w| write_stream_id(w, on)),
            Transmit::Segments { to, size } => self.write(now, 21, |w| {
                write_addr(w, to);
                w.u16(size);
                w.bytes(bytes);
            }),
            Transmit::Unlink { link } => self.write(now, 22, |w| w.u64(link)),
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Record<'a> {
    /// A `handle_*` call.
    Input(Input<'a>),
    /// A result of `poll_transmit`, with its bytes.
    Output(Transmit, &'a [u8]),
    /// What is recorded.
    About(About<'a>),
    /// What the game told the session, in the game's own words.
    Game(&'a [u8]),
    /// From here on everything is told anew.
    Mark,
    /// Where the marks are; see [`Index::decode`].
    Index(&'a [u8]),
    /// The end of a recording, and at which of its bytes the index begins.
    End {
        /// Counted from the first byte of the file.
        index: u64,
    },
}

/// What a recording is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct About<'a> {
    /// Which side was watched.
    pub side: Recorded,
    /// The other side: a client's server, or the client of a server for whom it is played back.
    pub peer: Addr,
    /// The protocol's name, at most 255 bytes of it.
    pub protocol: &'a str,
    /// What else is needed to make such a session again, in the game's own words.
    pub words: &'a [u8],
}

/// Whose session was watched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Recorded {
    Client,
    Server,
}

impl<'a> Record<'a> {
    /// Reads one record, without the length in front of it, and when it happened.
    pub fn decode(bytes: &'a [u8]) -> Result<(Instant, Self), DecodeError> {
        read_record(&mut Reader::new(bytes))
    }
}

/// Reads a recording, record by record.
///
/// It needs all of the bytes. Whoever reads a file too large for that takes the pieces: first
/// [`MAGIC`](Self::MAGIC), then again and again a `u32` length of at most
/// [`RECORD_MAX`](Self::RECORD_MAX) and that many bytes for [`Record::decode`].
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    rest: &'a [u8],
}

/// The bytes do not begin as a recording does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadRecording;

impl fmt::Display for BadRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a recording of this version")
    }
}

impl core::error::Error for BadRecording {}

impl<'a> Recording<'a> {
    /// First bytes of every recording; the last is the version.
    pub const MAGIC: &'static [u8; 8] = b"tickrec\x02";

    /// Bytes of a record, its length not counted: no datagram is longer, and drivers hand in streams
    /// in smaller pieces.
    pub const RECORD_MAX: usize = 128 * 1_024;

    /// Bytes of the record that ends a recording, its length included.
    pub const END: usize = 4 + 9 + 8;

    /// Opens a recording.
    pub fn new(bytes: &'a [u8]) -> Result<Self, BadRecording> {
        let rest = bytes.strip_prefix(Self::MAGIC).ok_or(BadRecording)?;
        Ok(Self { rest })
    }
}

impl<'a> Iterator for Recording<'a> {
    type Item = Result<(Instant, Record<'a>), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let Some((record, rest)) = rest.split_at_checked(length) else {
            // The end was cut off: what a crash leaves.
            self.rest = &[];
            return None;
        };
        self.rest = rest;
        Some(Record::decode(record))
    }
}

fn read_record<'a>(r: &mut Reader<'a>) -> Result<(Instant, Record<'a>), DecodeError> {
    let now = Instant::from_micros(r.u64("time")?);
    let record = match r.u8("kind")? {
        kind @ 0..16 => Record::Input(read_input(r, kind)?),
        32 => Record::About(read_about(r)?),
        33 => Record::Game(read_rest(r)?),
        34 => Record::Mark,
        35 => Record::Index(read_rest(r)?),
        36 => Record::End {
            index: r.u64("index")?,
        },
        kind => {
            let transmit = read_transmit(r, kind)?;
            Record::Output(transmit, read_rest(r)?)
        }
    };
    r.finish()?;
    Ok((now, record))
}

fn read_about<'a>(r: &mut Reader<'a>) -> Result<About<'a>, DecodeError> {
    let side = match r.u8("side")? {
        0 => Recorded::Client,
        1 => Recorded::Server,
        other => return Err(r.refuse("side", other.into())),
    };
    let peer = read_addr(r)?;
    let length = r.u8("length")?;
    let name = r.bytes("protocol", length.into())?;
    let protocol = core::str::from_utf8(name).map_err(|_| r.refuse("protocol", 0))?;
    Ok(About {
        side,
        peer,
        protocol,
        words: read_rest(r)?,
    })
}

fn read_input<'a>(r: &mut Reader<'a>, kind: u8) -> Result<Input<'a>, DecodeError> {
    Ok(match kind {
        0 => Input::Opened {
            on: read_stream_id(r)?,
            peer: read_addr(r)?,
        },
        1 => Input::Stream {
            on: read_stream_id(r)?,
            bytes: read_rest(r)?,
        },
        2 => Input::Datagram {
            from: read_addr(r)?,
            bytes: read_rest(r)?,
        },
        3 => Input::Room {
            path: read_path(r)?,
            room: Room {
                bytes: r.u32("room")?,
                largest: r.u16("largest")?,
            },
        },
        4 => Input::Closed {
            path: read_path(r)?,
            why: read_ended(r)?,
        },
        5 => Input::Timeout,
        _ => return Err(r.refuse("kind", kind.into())),
    })
}

fn read_transmit(r: &mut Reader<'_>, kind: u8) -> Result<Transmit, DecodeError> {
    let has_bytes = matches!(kind, 16 | 17 | 21);
    let transmit = match kind {
        16 => Transmit::Datagram { to: read_addr(r)? },
        17 => Transmit::Stream {
            on: read_stream_id(r)?,
        },
        18 => Transmit::Dial {
            on: read_stream_id(r)?,
            to: read_addr(r)?,
        },
        19 => Transmit::Finish {
            on: read_stream_id(r)?,
        },
        20 => Transmit::Abort {
            on: read_stream_id(r)?,
        },
        21 => Transmit::Segments {
            to: read_addr(r)?,
            size: r.u16("size")?,
        },
        22 => Transmit::Unlink {
            link: r.u64("link")?,
        },
        _ => return Err(r.refuse("kind", kind.into())),
    };
    if !has_bytes {
        r.finish()?;
    }
    Ok(transmit)
}

fn read_rest<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    r.bytes("bytes", r.remaining())
}

fn read_ended(r: &mut Reader<'_>) -> Result<Ended, DecodeError> {
    Ok(match r.u8("why")? {
        0 => Ended::Finished,
        1 => Ended::Reset,
        2 => Ended::Refused,
        3 => Ended::Unreachable,
        other => return Err(r.refuse("why", other.into())),
    })
}

fn write_addr(w: &mut Writer<'_>, addr: Addr) {
    match addr.host {
        Host::Ip(ip) => {
            w.u8(0);
            // One form for both families; reading turns mapped addresses back.
            w.bytes(&match ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
                IpAddr::V6(v6) => v6.octets(),
            });
        }
        Host::Link(link) => {
            w.u8(1);
            w.u64(link);
        }
    }
    w.u16(addr.port);
}

fn read_addr(r: &mut Reader<'_>) -> Result<Addr, DecodeError> {
    let host = match r.u8("host kind")? {
        0 => {
            let octets = r
                .bytes("ip", 16)?
                .first_chunk::<16>()
                .copied()
                .unwrap_or_default();
            Host::Ip(IpAddr::V6(Ipv6Addr::from(octets)).to_canonical())
        }
        1 => Host::Link(r.u64("link")?),
        other => return Err(r.refuse("host kind", other.into())),
    };
    Ok(Addr {
        host,
        port: r.u16("port")?,
    })
}

fn write_stream_id(w: &mut Writer<'_>, on: StreamId) {
    let (kind, number) = match on {
        StreamId::Accepted(number) => (0, number),
        StreamId::Dialled(number) => (1, number),
    };
    w.u8(kind);
    w.u32(number);
}

fn read_stream_id(r: &mut Reader<'_>) -> Result<StreamId, DecodeError> {
    match r.u8("stream kind")? {
        0 => Ok(StreamId::Accepted(r.u32("stream")?)),
        1 => Ok(StreamId::Dialled(r.u32("stream")?)),
        other => Err(r.refuse("stream kind", other.into())),
    }
}

fn write_path(w: &mut Writer<'_>, path: Path) {
    match path {
        Path::Datagrams(addr) => {
            w.u8(0);
            write_addr(w, addr);
        }
        Path::Stream(on) => {
            w.u8(1);
            write_stream_id(w, on);
        }
        Path::Link(link) => {
            w.u8(2);
            w.u64(link);
        }
    }
}

fn read_path(r: &mut Reader<'_>) -> Result<Path, DecodeError> {
    match r.u8("path kind")? {
        0 => Ok(Path::Datagrams(read_addr(r)?)),
        1 => Ok(Path::Stream(read_stream_id(r)?)),
        2 => Ok(Path::Link(r.u64("link")?)),
        other => Err(r.refuse("path kind", other.into())),
    }
}
