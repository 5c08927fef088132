//! Showing bytes field by field: see [`inspect`].

use tickwire_replica::packet::PacketReader;
use tickwire_wire::{DecodeError, Place, Trace, Value};

use crate::message::{DatagramDown, DatagramUp, Down, Reader, Up};

/// Shows `trace` every field of a datagram, or of one direction of a stream from its first byte on, as far as
/// it can be read.
///
/// The game's messages and inputs are shown as bytes. Of the world's state the head, the notices and the first
/// record's head are shown, and the rest as bytes: what records hold is relative to earlier packets.
pub fn inspect(
    from_client: bool,
    on_stream: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    if on_stream {
        return inspect_stream(from_client, bytes, trace);
    }
    inspect_datagram(from_client, bytes, 0, trace)
}

fn inspect_stream(
    from_client: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let read = shifted(trace, at, |trace| inspect_next(from_client, rest, trace));
        at += read.map_err(|error| error.behind(bits(at)))?;
    }
    Ok(())
}

/// Shows `trace` the first frame of a piece of a stream; how long it is.
pub fn inspect_next(
    from_client: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<usize, DecodeError> {
    let (kind, head, length) = inspect_head(from_client, bytes, trace)?;
    let body = bytes.get(head..head + length).unwrap_or_default();
    inspect_frame((from_client, kind), body, head, trace)
        .map_err(|error| error.behind(bits(head)))?;
    Ok(head + length)
}

/// A frame's kind, where its body begins and how long that is.
fn inspect_head(
    from_client: bool,
    bytes: &[u8],
    trace: &mut dyn Trace,
) -> Result<(u8, usize, usize), DecodeError> {
    let mut r = Reader::traced(bytes, trace);
    let (kind, length) = r.group("frame", |r| {
        let kind = r.u8("kind")?;
        r.means(match from_client {
            true => Up::name_of(kind),
            false => Down::name_of(kind),
        });
        Ok((kind, r.varint("length")?))
    })?;
    let (head, length) = (r.position(), length as usize);
    if r.remaining() < length {
        // The rest has not arrived, or was not recorded.
        r.bytes("body", length)?;
    }
    Ok((kind, head, length))
}

fn inspect_frame(
    (from_client, kind): (bool, u8),
    body: &[u8],
    at: usize,
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    let is_datagram = shifted(trace, at, |trace| {
        let mut r = Reader::traced(body, trace);
        Ok(match from_client {
            true => matches!(Up::read(kind, &mut r)?, Up::Datagram(_)),
            false => matches!(Down::read(kind, &mut r)?, Down::Datagram(_)),
        })
    })?;
    if is_datagram {
        inspect_datagram(from_client, body, at, trace)?;
    }
    Ok(())
}

fn inspect_datagram(
    from_client: bool,
    bytes: &[u8],
    at: usize,
    trace: &mut dyn Trace,
) -> Result<(), DecodeError> {
    let packet = shifted(trace, at, |trace| {
        let mut r = Reader::traced(bytes, trace);
        if from_client {
            r.group("datagram", |r| DatagramUp::read(r).map(drop))?;
            return r.finish().map(|()| None);
        }
        let datagram = r.group("datagram", DatagramDown::read)?;
        r.finish()?;
        Ok(match datagram {
            DatagramDown::State { packet, .. } => Some(bytes.len() - packet.len()),
            DatagramDown::Latest(_) => None,
        })
    })?;
    if let Some(head) = packet {
        let packet = bytes.get(head..).unwrap_or_default();
        shifted(trace, at + head, |trace| {
            let mut r = PacketReader::new(Reader::traced(packet, trace))?;
            r.notices(|_| {})?;
            // Where a record ends, only who holds its baseline knows: the first is shown, and the others in its body.
            match r.record()? {
                Some(_) => r.skip_body(r.rest().len()),
                None => Ok(()),
            }
        })?;
    }
    Ok(())
}

/// Reads bytes that begin `at` bytes behind the input's begin.
fn shifted<T>(
    trace: &mut dyn Trace,
    at: usize,
    read: impl FnOnce(&mut dyn Trace) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    read(&mut Shifted {
        trace,
        by: bits(at),
    })
}

fn bits(bytes: usize) -> u32 {
    u32::try_from(bytes * 8).unwrap_or(u32::MAX)
}

/// A trace of bytes that do not begin where the input does.
struct Shifted<'a> {
    trace: &'a mut dyn Trace,
    by: u32,
}

impl Trace for Shifted<'_> {
    fn open(&mut self, group: &'static str) {
        self.trace.open(group);
    }

    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>) {
        let at_bit = place.at_bit.saturating_add(self.by);
        self.trace.field(name, Place { at_bit, ..place }, value);
    }

    fn meaning(&mut self, word: &'static str) {
        self.trace.meaning(word);
    }

    fn close(&mut self) {
        self.trace.close();
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use tickwire_wire::FieldLog;

    use super::*;

    #[test]
    fn frames_are_shown_where_they_are() {
        let mut bytes = Vec::new();
        Up::Say(b"hello").encode(&mut bytes);
        Up::Received(7).encode(&mut bytes);
        let mut log = FieldLog::default();
        inspect(true, true, &bytes, &mut log).unwrap();
        let places: Vec<_> = log
            .entries()
            .iter()
            .filter_map(|entry| {
                entry
                    .field
                    .as_ref()
                    .map(|(place, _)| (entry.name, place.at_bit))
            })
            .collect();
        let expected = [
            ("kind", 0),
            ("length", 8),
            ("message", 16),
            ("kind", 56),
            ("length", 64),
            ("received", 72),
        ];
        assert_eq!(places, expected);
    }

    /// A packet of the last send with one record of place 5, packed and relative to nothing.
    #[test]
    fn a_state_is_shown_to_its_first_record() {
        let bytes = [2, 7, 2, 0, 9, 0, 0, 0, 1, 1, 10, 0, 0, 0xab, 0xcd];
        let mut log = FieldLog::default();
        inspect(false, false, &bytes, &mut log).unwrap();
        let fields = log.entries().iter().filter(|entry| entry.field.is_some());
        let names: Vec<_> = fields.map(|entry| entry.name).collect();
        let head = [
            "kind", "margin", "packet", "number", "send", "complete", "settled",
        ];
        assert_eq!(names, [&head[..], &["place", "head", "body"]].concat());
    }

    #[test]
    fn what_is_cut_is_shown_as_far_as_it_goes() {
        let mut bytes = Vec::new();
        Up::Say(b"hello").encode(&mut bytes);
        let mut log = FieldLog::default();
        let cut = inspect(true, true, &bytes[..4], &mut log);
        assert!(matches!(
            cut,
            Err(DecodeError::Truncated { field: "body", .. })
        ));
        assert!(!log.entries().is_empty());
    }
}
