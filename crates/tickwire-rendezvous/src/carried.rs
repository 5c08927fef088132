//! Datagrams on a stream, for networks that let only TCP out.
//!
//! In: a datagram and the port of the server that it is for, or came from; 0 is the server's own, whichever that is
//! behind its firewall. Out: a frame of a length, the port and the datagram. What is in it (QUIC, probes) is encrypted or signed already, so the stream itself is in the
//! clear. A stream that does not take a datagram loses it, as any other path would: otherwise old datagrams
//! would delay new ones.

use alloc::vec::Vec;

use tickwire_session::{Backlog, Room};
use tickwire_wire::{DecodeError, Full};

use crate::limits::{CARRIED_LARGEST, CARRIED_WAITING};
use crate::message::{FrameReader, Reader, Writer};

/// A stream that carries datagrams, at either end.
#[derive(Debug)]
pub(crate) struct Carriage {
    backlog: Backlog,
    frames: FrameReader,
}

impl Carriage {
    pub(crate) fn new() -> Self {
        Self {
            backlog: Backlog::new(CARRIED_WAITING),
            frames: FrameReader::default(),
        }
    }

    pub(crate) const fn set_room(&mut self, room: Room) {
        self.backlog.set_room(room);
    }

    /// Queues a datagram, or drops it.
    pub(crate) fn push(&mut self, port: u16, datagram: &[u8]) -> Result<(), Full> {
        self.backlog.push(|out| write_carried(port, datagram, out))
    }

    /// Moves what the stream takes to `out`; returns how many bytes that is, if any.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> Option<usize> {
        self.backlog.write(out)
    }

    /// Takes bytes, and hands every whole datagram to `handle`. After an error the stream cannot be read on.
    pub(crate) fn receive(
        &mut self,
        bytes: &[u8],
        mut handle: impl FnMut(u16, &[u8]),
    ) -> Result<(), DecodeError> {
        self.frames.receive(bytes, |frame| {
            let (port, datagram) = read_carried(frame)?;
            handle(port, datagram);
            Ok(())
        })
    }
}

/// Reads a frame behind its length.
pub fn read_carried(frame: &[u8]) -> Result<(u16, &[u8]), DecodeError> {
    let mut r = Reader::new(frame);
    let port = r.u16("port")?;
    r.limit("datagram", r.remaining() as u64, CARRIED_LARGEST as u64)?;
    let datagram = r.bytes("datagram", r.remaining())?;
    Ok((port, datagram))
}

/// Appends a frame with its length.
pub fn write_carried(port: u16, datagram: &[u8], out: &mut Vec<u8>) -> Result<(), Full> {
    if datagram.len() > CARRIED_LARGEST {
        return Err(Full);
    }
    let length = datagram.len() + 2;
    let mut w = Writer::new(out, length + 2);
    w.u16(u16::try_from(length).map_err(|_| Full)?);
    w.u16(port);
    w.bytes(datagram);
    w.finish()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn datagrams_come_out_whole_however_the_stream_is_cut() {
        let mut stream = Vec::new();
        write_carried(27_500, b"one", &mut stream).unwrap();
        write_carried(27_501, b"", &mut stream).unwrap();
        write_carried(27_502, &[7; CARRIED_LARGEST], &mut stream).unwrap();
        for size in [1, 2, 5, 1_000, stream.len()] {
            let mut carriage = Carriage::new();
            let mut came = Vec::new();
            for piece in stream.chunks(size) {
                let received =
                    carriage.receive(piece, |port, bytes| came.push((port, bytes.to_vec())));
                received.unwrap();
            }
            assert_eq!(
                came,
                [
                    (27_500, b"one".to_vec()),
                    (27_501, Vec::new()),
                    (27_502, vec![7; CARRIED_LARGEST])
                ],
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn what_is_too_long_or_too_short_is_refused() {
        let mut stream = Vec::new();
        let long = [0; CARRIED_LARGEST + 1];
        assert!(write_carried(1, &long, &mut stream).is_err());
        assert_eq!(stream, []);
        assert!(read_carried(&[1]).is_err());
        assert!(read_carried(&[&[1, 0], &long[..]].concat()).is_err());
    }

    #[test]
    fn what_a_stream_does_not_take_is_lost_and_nothing_else() {
        let mut carriage = Carriage::new();
        let taken = (0..1_000).filter(|_| carriage.push(9, &[1; 1_000]).is_ok());
        let taken = taken.count();
        assert!(taken * 1_004 <= CARRIED_WAITING && (taken + 1) * 1_004 > CARRIED_WAITING);
        carriage.set_room(Room {
            bytes: u32::MAX,
            largest: 0,
        });
        let mut out = Vec::new();
        carriage.write(&mut out).unwrap();
        assert_eq!(out.len(), taken * 1_004);
    }
}
