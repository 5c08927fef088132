//! Showing bytes field by field: see [`inspect`].

use alloc::vec::Vec;

use tickwire_wire::{DecodeError, Place, Trace, Value};

use super::message::packet::decode_lists;
use super::message::{Compression, Direction, Down, Packet, Up, decode_frame};
use super::{Reader, SnapshotSeq, huffman};

/// Shows `trace` every field of a datagram, or of a piece of a stream that begins with a frame, as far
/// as it can be read.
///
/// Whether a server's snapshots are Huffman-coded was said in an earlier datagram, which is not here.
/// So they are taken as they make sense: without coding if that reads to the end, else with it. Bytes
/// that make no sense either way are shown as whichever makes sense for longer.
/// [`inspect_datagram`] is told.
pub fn inspect(
    from_client: bool,
    on_stream: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    match (from_client, on_stream) {
        (true, true) => inspect_stream::<Up>(bytes, trace),
        (false, true) => inspect_stream::<Down>(bytes, trace),
        (true, false) => inspect_packet::<Up>(bytes, trace),
        (false, false) => inspect_datagram(guess(bytes), bytes, trace),
    }
}

/// Shows `trace` the first frame of a piece of a stream; how long it is.
pub fn inspect_next(
    from_client: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<usize, DecodeError> {
    let mut r = Reader::traced(bytes, trace);
    r.group("frame", |r| match from_client {
        true => decode_frame::<Up>(r).map(drop),
        false => decode_frame::<Down>(r).map(drop),
    })?;
    Ok(r.position())
}

/// Shows `trace` every field of a server's datagram, with or without Huffman coding agreed on.
///
/// A field of coded lists is said to be where its code is.
pub fn inspect_datagram(
    compression: Compression,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    match compression {
        Compression::None => inspect_packet::<Down>(bytes, trace),
        Compression::Huffman => inspect_coded(bytes, trace),
    }
}

/// Whether a server's datagram looks as if coding had been agreed on.
fn guess(bytes: &[u8]) -> Compression {
    let Err(plain) = Packet::<Down>::decode(bytes) else {
        return Compression::None;
    };
    match Packet::<Down>::decode_coded(bytes, &mut Vec::new()) {
        Err(coded) if coded.at_bit() <= plain.at_bit() => Compression::None,
        _ => Compression::Huffman,
    }
}

fn inspect_stream<D: Direction>(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let mut r = Reader::traced(bytes, trace);
    while !r.is_empty() {
        r.group("frame", |r| decode_frame::<D>(r).map(|_| ()))?;
    }
    Ok(())
}

fn inspect_packet<D: Direction>(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let mut r = Reader::traced(bytes, trace);
    let header = r.group("header", D::decode_header)?;
    decode_lists::<D>(&mut r, |number| D::allows(&header, number), drop)
}

fn inspect_coded(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let mut r = Reader::traced(bytes, &mut *trace);
    let header = r.group("header", Down::decode_header)?;
    let allows = |number| Down::allows(&header, number);
    if header.sequence == SnapshotSeq::NONE {
        return decode_lists::<Down>(&mut r, allows, drop);
    }
    let coded = match huffman::open(&mut r)? {
        huffman::Lists::Plain(_) => return decode_lists::<Down>(&mut r, allows, drop),
        huffman::Lists::Coded(coded) => coded,
    };
    let (mut plain, mut starts) = (Vec::new(), Vec::new());
    let verdict = coded.unfold_with(|byte, at_bit| {
        plain.push(byte);
        starts.push(at_bit);
    });
    starts.push(match verdict {
        Ok(()) => super::text::bit(bytes.len()),
        Err(error) => error.at_bit(),
    });
    let mut unfolded = Unfolded { trace, starts };
    let mut r = Reader::traced(&plain, &mut unfolded);
    let lists = decode_lists::<Down>(&mut r, allows, drop);
    // A fault of the code comes first: what it cut off is no fault of the lists.
    verdict?;
    lists.map_err(|error| unfolded.place_error(error))
}

/// Shows fields of unfolded bytes where their codes are.
struct Unfolded<'a> {
    trace: &'a mut dyn Trace,
    /// The bit at which each byte's code begins, and where the last one ends.
    starts: Vec<u32>,
}

impl Unfolded<'_> {
    fn start(&self, at_bit: u32) -> u32 {
        let byte = usize::try_from(at_bit / 8).unwrap_or(usize::MAX);
        let start = self.starts.get(byte).or_else(|| self.starts.last());
        start.copied().unwrap_or(at_bit)
    }

    fn place_error(&self, mut error: DecodeError) -> DecodeError {
        use DecodeError::{Forbidden, NotUtf8, TooLong, Trailing, Truncated};
        if let Truncated { at_bit, .. }
        | Forbidden { at_bit, .. }
        | TooLong { at_bit, .. }
        | NotUtf8 { at_bit, .. }
        | Trailing { at_bit } = &mut error
        {
            *at_bit = self.start(*at_bit);
        }
        error
    }
}

impl Trace for Unfolded<'_> {
    fn open(&mut self, group: &'static str) {
        self.trace.open(group);
    }

    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>) {
        let at_bit = self.start(place.at_bit);
        let end = self.start(place.at_bit + place.bits);
        let bits = end.saturating_sub(at_bit);
        self.trace.field(name, Place { at_bit, bits }, value);
    }

    fn meaning(&mut self, word: &'static str) {
        self.trace.meaning(word);
    }

    fn close(&mut self) {
        self.trace.close();
    }
}
