//! One stream of a link.
//!
//! In: bytes that the session sends. What `quinn-proto` does not take yet waits here, at most
//! [`STREAM_PENDING`], and what is left of that is the room that the session is told, as for TCP.

use std::io::{self, Write};

use quinn_proto::{Connection, StreamId as QuicStreamId, VarInt, WriteError};
use tickwire_session::{Room, StreamId};

use crate::Counters;
use crate::limits::STREAM_PENDING;
use crate::stream::{Overdrawn, Pending, stream_room};

/// A stream, by its number in the connection.
#[derive(Debug)]
pub(super) struct LinkStream {
    id: QuicStreamId,
    pub(super) state: State,
    pending: Pending,
    /// What the session may send, as far as it knows.
    room: usize,
    /// The peer reads no more: what the session sends is dropped. That the stream is over shows in what
    /// is read.
    is_stopped: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// The peer opened it, and its first byte has not come.
    Arriving,
    /// A session has it.
    Open(StreamId),
    /// Its session has left; what waits is still sent.
    Finishing,
}

/// What every stream begins with.
pub(super) const PREAMBLE: u8 = 0;

const CUT: VarInt = VarInt::from_u32(0);

impl LinkStream {
    pub(super) fn accepted(id: QuicStreamId) -> Self {
        Self {
            id,
            state: State::Arriving,
            pending: Pending::default(),
            room: 0,
            is_stopped: false,
        }
    }

    /// A stream that this side opens.
    pub(super) fn dialled(conn: &mut Connection, id: QuicStreamId, on: StreamId) -> Self {
        let mut stream = Self::accepted(id);
        stream.state = State::Open(on);
        stream.write(conn, &[PREAMBLE]);
        stream
    }

    /// Takes bytes from the session.
    pub(super) fn send(
        &mut self,
        conn: &mut Connection,
        bytes: &[u8],
        counters: &mut Counters,
    ) -> Result<(), Overdrawn> {
        self.room = self.room.checked_sub(bytes.len()).ok_or(Overdrawn)?;
        counters.stream_bytes_sent += self.write(conn, bytes);
        Ok(())
    }

    /// Writes what waits, and ends the stream if that was all of one that its session left.
    pub(super) fn flush(&mut self, conn: &mut Connection, counters: &mut Counters) {
        counters.stream_bytes_sent += self.write(conn, &[]);
        if self.state == State::Finishing && self.pending.len() == 0 {
            self.end_sending(conn);
        }
    }

    fn write(&mut self, conn: &mut Connection, bytes: &[u8]) -> u64 {
        if self.is_stopped {
            return 0;
        }
        let mut writer = Writer(conn.send_stream(self.id));
        match self.pending.write_after(&mut writer, bytes) {
            Ok(written) => written as u64,
            Err(_) => {
                self.stop(conn);
                0
            }
        }
    }

    /// What the session has to hear of the room that is left.
    pub(super) fn poll_room(&mut self) -> Option<Room> {
        let room = STREAM_PENDING - self.pending.len();
        (room != self.room).then(|| {
            self.room = room;
            stream_room(room)
        })
    }

    /// The peer reads no more.
    pub(super) fn stop(&mut self, conn: &mut Connection) {
        self.is_stopped = true;
        self.pending = Pending::default();
        conn.send_stream(self.id).reset(CUT).ok();
    }

    /// The session has left, or the peer has finished: sends what waits, then the end.
    pub(super) fn finish(&mut self, conn: &mut Connection, counters: &mut Counters) {
        self.state = State::Finishing;
        // The peer's further bytes are nobody's. It may have ended already.
        conn.recv_stream(self.id).stop(CUT).ok();
        self.flush(conn, counters);
    }

    fn end_sending(&self, conn: &mut Connection) {
        // One that was stopped cannot be finished in order.
        if conn.send_stream(self.id).finish().is_err() {
            conn.send_stream(self.id).reset(CUT).ok();
        }
    }

    /// Drops everything that is under way.
    pub(super) fn abort(&self, conn: &mut Connection) {
        conn.send_stream(self.id).reset(CUT).ok();
        conn.recv_stream(self.id).stop(CUT).ok();
    }
}

/// A stream as something to write to.
struct Writer<'a>(quinn_proto::SendStream<'a>);

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| match error {
            WriteError::Blocked => io::ErrorKind::WouldBlock.into(),
            WriteError::Stopped(_) | WriteError::ClosedStream => io::ErrorKind::BrokenPipe.into(),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
