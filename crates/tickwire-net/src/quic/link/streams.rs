//! The streams of one link.
//!
//! In: what `quinn-proto` says of streams, and what the session orders. Out: calls to the session. How one
//! stream keeps what its carrier does not take yet is `stream`'s.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;

use bytes::Bytes;
use quinn_proto::{Connection, Dir, ReadError, StreamEvent, StreamId as QuicStreamId};
use tickwire_session::{Ended, Path, Session, StreamId};

use super::Delivery;
use crate::Counters;
use crate::limits::{LINK_STREAMS, STREAM_READ};
use crate::node::Carrier;
use crate::pipe::link_addr;
use crate::quic::stream::{LinkStream, PREAMBLE, State};
use crate::stream::Overdrawn;

/// What a turn did not hand in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Left {
    Nothing,
    /// There is more for the next turn.
    More,
    /// There is more, and the session wants none of it yet. Flow control slows the peer down.
    Held,
}

#[derive(Debug, Default)]
pub(super) struct Streams {
    by_id: BTreeMap<QuicStreamId, LinkStream>,
    /// Streams that the session dials and that the peer, or the handshake, does not allow yet.
    dials: VecDeque<StreamId>,
    readable: BTreeSet<QuicStreamId>,
}

impl Streams {
    pub(super) fn handle_event(
        &mut self,
        conn: &mut Connection,
        event: &StreamEvent,
        counters: &mut Counters,
    ) {
        match *event {
            StreamEvent::Readable { id } => {
                self.readable.insert(id);
            }
            StreamEvent::Writable { id } => {
                if let Some(stream) = self.by_id.get_mut(&id) {
                    stream.flush(conn, counters);
                }
            }
            StreamEvent::Stopped { id, .. } => {
                if let Some(stream) = self.by_id.get_mut(&id) {
                    stream.stop(conn);
                }
                self.drop_finished(id);
            }
            StreamEvent::Finished { id } => self.drop_finished(id),
            // New streams are asked for in every turn that something happened in.
            StreamEvent::Opened { .. } | StreamEvent::Available { .. } => {}
        }
    }

    /// Hands in what came and is wanted, as far as a turn allows.
    pub(super) fn hand_in(&mut self, conn: &mut Connection, to: &mut Delivery<'_>) -> Left {
        while let Some(id) = conn.streams().accept(Dir::Bi) {
            self.by_id.insert(id, LinkStream::accepted(id));
            self.readable.insert(id);
        }
        self.open_dials(conn, to);
        for id in mem::take(&mut self.readable) {
            if self.read(conn, id, to) {
                self.readable.insert(id);
            }
        }
        for stream in self.by_id.values_mut() {
            if let State::Open(on) = stream.state
                && let Some(room) = stream.poll_room()
            {
                to.session.handle_room(to.now, Path::Stream(on), room);
            }
        }
        match self.readable.is_empty() {
            true => Left::Nothing,
            false if self.is_wanted(to.session) => Left::More,
            false => Left::Held,
        }
    }

    /// Whether a session wants any of what came.
    pub(super) fn is_wanted(&self, session: &dyn Session) -> bool {
        let wants = |id| !self.is_held(id, session);
        self.readable.iter().any(wants)
    }

    fn is_held(&self, id: &QuicStreamId, session: &dyn Session) -> bool {
        let stream = self.by_id.get(id);
        stream.is_some_and(
            |stream| matches!(stream.state, State::Open(on) if !session.is_reading(on)),
        )
    }

    fn open_dials(&mut self, conn: &mut Connection, to: &mut Delivery<'_>) {
        while !self.dials.is_empty()
            && let Some(id) = conn.streams().open(Dir::Bi)
            && let Some(on) = self.dials.pop_front()
        {
            self.by_id.insert(id, LinkStream::dialled(conn, id, on));
            to.open(on, id);
        }
    }

    /// Hands in what came on a stream, at most [`STREAM_READ`]; returns whether there may be more.
    fn read(&mut self, conn: &mut Connection, id: QuicStreamId, to: &mut Delivery<'_>) -> bool {
        let mut left = STREAM_READ;
        while left > 0 && !self.is_held(&id, to.session) {
            // Whether the rest is wanted can be asked once the session knows of the stream.
            let most = match self.by_id.get(&id).map(|stream| stream.state) {
                Some(State::Arriving) => 1,
                _ => left,
            };
            match read_chunk(conn, id, most) {
                Ok(Some(bytes)) => {
                    left -= bytes.len();
                    to.counters.stream_bytes_received += bytes.len() as u64;
                    self.hand_in_bytes(conn, id, &bytes, to);
                }
                Ok(None) => {
                    self.end_stream(id, Ended::Finished, to);
                    // This side ends, too, once what was sent before is out.
                    if let Some(stream) = self.by_id.get_mut(&id) {
                        stream.finish(conn, to.counters);
                    }
                    return false;
                }
                Err(Unread::Nothing) => return false,
                Err(Unread::Reset) => {
                    self.end_stream(id, Ended::Reset, to);
                    if let Some(stream) = self.by_id.remove(&id) {
                        stream.abort(conn);
                    }
                    return false;
                }
            }
        }
        true
    }

    fn hand_in_bytes(
        &mut self,
        conn: &mut Connection,
        id: QuicStreamId,
        bytes: &[u8],
        to: &mut Delivery<'_>,
    ) {
        let Some(stream) = self.by_id.get_mut(&id) else {
            return;
        };
        match stream.state {
            State::Arriving if bytes == [PREAMBLE] => {
                let on = to.node.number_accepted();
                stream.state = State::Open(on);
                to.open(on, id);
            }
            State::Arriving => {
                stream.abort(conn);
                self.by_id.remove(&id);
            }
            State::Open(on) => to.session.handle_stream(to.now, on, bytes),
            State::Finishing => {}
        }
    }

    /// Tells the session that a stream of its own is over.
    fn end_stream(&self, id: QuicStreamId, why: Ended, to: &mut Delivery<'_>) {
        if let Some(stream) = self.by_id.get(&id)
            && let State::Open(on) = stream.state
        {
            to.close(on, why);
        }
    }

    /// Tells the session that all of them are over.
    pub(super) fn end(&mut self, why: Ended, to: &mut Delivery<'_>) {
        let open = |stream: LinkStream| match stream.state {
            State::Open(on) => Some(on),
            State::Arriving | State::Finishing => None,
        };
        let streams = mem::take(&mut self.by_id).into_values().filter_map(open);
        for on in streams.chain(mem::take(&mut self.dials)) {
            to.close(on, why);
        }
    }

    /// Forgets all of them; nobody is told.
    pub(super) fn clear(&mut self) {
        self.by_id.clear();
    }

    fn drop_finished(&mut self, id: QuicStreamId) {
        let is_left = |stream: &LinkStream| stream.state == State::Finishing;
        if self.by_id.get(&id).is_some_and(is_left) {
            self.by_id.remove(&id);
        }
    }

    /// How many are being finished.
    pub(super) fn closing(&self) -> usize {
        let is_left = |stream: &&LinkStream| stream.state == State::Finishing;
        self.by_id.values().filter(is_left).count()
    }

    pub(super) fn send(
        &mut self,
        conn: &mut Connection,
        id: QuicStreamId,
        bytes: &[u8],
        counters: &mut Counters,
    ) -> Result<(), Overdrawn> {
        match self.by_id.get_mut(&id) {
            Some(stream) => stream.send(conn, bytes, counters),
            None => Ok(()),
        }
    }

    /// Opens a stream, now or when the peer allows it.
    pub(super) fn dial(&mut self, on: StreamId) -> Result<(), Ended> {
        if self.dials.len() >= LINK_STREAMS as usize {
            return Err(Ended::Unreachable);
        }
        self.dials.push_back(on);
        Ok(())
    }

    /// The session leaves a stream in order.
    pub(super) fn finish(
        &mut self,
        conn: &mut Connection,
        id: Option<QuicStreamId>,
        on: StreamId,
        counters: &mut Counters,
    ) {
        self.dials.retain(|&dialled| dialled != on);
        if let Some(stream) = id.and_then(|id| self.by_id.get_mut(&id)) {
            stream.finish(conn, counters);
        }
    }

    /// The session drops a stream.
    pub(super) fn abort(&mut self, conn: &mut Connection, id: Option<QuicStreamId>, on: StreamId) {
        self.dials.retain(|&dialled| dialled != on);
        if let Some(stream) = id.and_then(|id| self.by_id.remove(&id)) {
            stream.abort(conn);
        }
    }
}

impl Delivery<'_> {
    fn open(&mut self, on: StreamId, id: QuicStreamId) {
        let (link, id) = (self.link, Some(id));
        self.node.streams.insert(on, Carrier::Quic { link, id });
        self.session.handle_opened(self.now, on, link_addr(link));
    }

    fn close(&mut self, on: StreamId, why: Ended) {
        self.node.streams.remove(&on);
        self.session.handle_closed(self.now, Path::Stream(on), why);
    }
}

enum Unread {
    Nothing,
    Reset,
}

fn read_chunk(
    conn: &mut Connection,
    id: QuicStreamId,
    most: usize,
) -> Result<Option<Bytes>, Unread> {
    let mut stream = conn.recv_stream(id);
    // One that this side stopped has nothing more to say.
    let mut chunks = stream.read(true).map_err(|_| Unread::Nothing)?;
    match chunks.next(most) {
        Ok(chunk) => Ok(chunk.map(|chunk| chunk.bytes)),
        Err(ReadError::Blocked) => Err(Unread::Nothing),
        Err(ReadError::Reset(_)) => Err(Unread::Reset),
    }
}
