//! A member's stream to the server's [`Gate`](crate::Gate), where UDP does not get out.
//!
//! In: datagrams for ports of the server, and bytes of the stream. Out: bytes for the stream, and datagrams of the
//! server's ports. Until the stream is open datagrams wait, as many as one holds.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::{Addr, Room, StreamId, Transmit};
use tickwire_wire::DecodeError;

use crate::carried;
use crate::limits::CARRIED_IN;

/// The first number of these streams, far from those of the control stream; each try has another.
pub(super) const FIRST: u32 = 1 << 31;

#[derive(Debug, Default)]
pub(super) struct Carriage {
    stream: Option<Stream>,
    /// Streams that were dialled.
    dialled: u32,
    /// Those that are to be cut.
    cut: Vec<StreamId>,
    /// Packets of the game's QUIC or of the control connection's, and the port that they came from.
    pub(super) packets: VecDeque<(u16, Vec<u8>)>,
}

#[derive(Debug)]
struct Stream {
    on: StreamId,
    dial: Option<Addr>,
    carried: carried::Carriage,
}

impl Carriage {
    pub(super) fn dial(&mut self, gate: Addr) {
        let on = StreamId::Dialled(FIRST + self.dialled % FIRST);
        self.dialled = self.dialled.wrapping_add(1);
        self.stream = Some(Stream {
            on,
            dial: Some(gate),
            carried: carried::Carriage::new(),
        });
    }

    /// Whether there is a stream, or will be one.
    pub(super) const fn is_used(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether a stream is this one.
    pub(super) fn is_on(&self, on: StreamId) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.on == on)
    }

    pub(super) fn set_room(&mut self, room: Room) {
        if let Some(stream) = &mut self.stream {
            stream.carried.set_room(room);
        }
    }

    /// Queues a datagram. One that the stream does not take is lost, as on any path.
    pub(super) fn push(&mut self, port: u16, datagram: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.carried.push(port, datagram).ok();
        }
    }

    /// Takes bytes of the stream. Packets of QUIC are kept; the others are returned.
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<Vec<(u16, Vec<u8>)>, DecodeError> {
        let mut others = Vec::new();
        let Some(stream) = &mut self.stream else {
            return Ok(others);
        };
        let packets = &mut self.packets;
        stream.carried.receive(bytes, |port, bytes| {
            let is_quic = bytes.first().is_some_and(|first| first & 0x40 != 0);
            if !is_quic {
                others.push((port, bytes.to_vec()));
            } else if packets.len() < CARRIED_IN {
                packets.push_back((port, bytes.to_vec()));
            }
        })?;
        Ok(others)
    }

    /// The stream ended.
    pub(super) fn lose(&mut self) {
        self.stream = None;
    }

    /// Ends the stream.
    pub(super) fn abort(&mut self) {
        // One that nobody dialled yet is not there.
        let stream = self.stream.take().filter(|stream| stream.dial.is_none());
        self.cut.extend(stream.map(|stream| stream.on));
    }

    pub(super) fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(on) = self.cut.pop() {
            return Some(Transmit::Abort { on });
        }
        let stream = self.stream.as_mut()?;
        if let Some(to) = stream.dial.take() {
            return Some(Transmit::Dial { on: stream.on, to });
        }
        stream.carried.write(out)?;
        Some(Transmit::Stream { on: stream.on })
    }
}
