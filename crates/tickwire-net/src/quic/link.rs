//! One connection, as the link that a session knows.
//!
//! In: what `quinn-proto` says happened, and what the session orders. Out: calls to the session, and
//! packets. How strangers become links (the handshake, the ticket) is `endpoint`'s; this file begins
//! when there is a connection, and hands nothing in before it is [`Stage::Open`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::{self, Duration};

use bytes::Bytes;
use quinn_proto::{
    Connection, ConnectionError, ConnectionEvent, Dir, Event, ReadError, SendDatagramError,
    StreamEvent, StreamId as QuicStreamId, Transmit, VarInt,
};
use tickwire_session::{Addr, Ended, Instant, Path, Room, Session, StreamId};

use super::LinkFailure;
use super::congestion::Flight;
use super::failure::code;
use super::stream::{LinkStream, PREAMBLE, State};
use crate::Counters;
use crate::limits::{LINK_SEGMENTS, LINK_STREAMS, STREAM_READ, TICKET_LONGEST};
use crate::node::{Carrier, Node};
use crate::pipe::link_addr;
use crate::stream::Overdrawn;

pub(crate) struct Link {
    pub(super) conn: Connection,
    pub(super) stage: Stage,
    /// The session that it belongs to; a server's is known once the peer is let in.
    owner: Option<Owner>,
    streams: BTreeMap<QuicStreamId, LinkStream>,
    /// Streams that the session dials and that the peer, or the handshake, does not allow yet.
    dials: VecDeque<StreamId>,
    readable: BTreeSet<QuicStreamId>,
    /// What the session believes that datagrams have for room.
    told: Room,
    flight: Arc<Flight>,
    /// Bytes that the queue of datagrams takes when it is empty.
    queue_space: usize,
    /// When it must have come further.
    pub(super) deadline: Option<Instant>,
    /// Its entry among the timers.
    pub(super) timer: Option<Instant>,
    is_touched: bool,
    is_sending: bool,
    /// What ended it.
    lost: Option<ConnectionError>,
}

/// Whose link it is, and how that session names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) node: usize,
    pub(crate) link: u64,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The handshake is under way. A client brings its ticket.
    Handshake { ticket: Vec<u8> },
    /// The server waits for the ticket, of which this has come.
    Ticket { read: Vec<u8> },
    /// The session hears of it.
    Open,
    /// It is over, and only lingers for packets that are under way.
    Over,
}

impl Link {
    pub(super) fn new(conn: Connection, flight: Arc<Flight>, ticket: Vec<u8>) -> Self {
        let mut link = Self {
            conn,
            stage: Stage::Handshake { ticket },
            owner: None,
            streams: BTreeMap::new(),
            dials: VecDeque::new(),
            readable: BTreeSet::new(),
            told: Room::DATAGRAMS,
            flight,
            queue_space: 0,
            deadline: None,
            timer: None,
            is_touched: false,
            is_sending: false,
            lost: None,
        };
        link.queue_space = link.conn.datagrams().send_buffer_space();
        link
    }

    pub(crate) const fn owner(&self) -> Option<Owner> {
        self.owner
    }

    pub(crate) const fn set_owner(&mut self, owner: Owner) {
        self.owner = Some(owner);
    }

    /// Returns what it was before.
    pub(super) const fn set_touched(&mut self, is_touched: bool) -> bool {
        mem::replace(&mut self.is_touched, is_touched)
    }

    /// Returns what it was before.
    pub(super) const fn set_sending(&mut self, is_sending: bool) -> bool {
        mem::replace(&mut self.is_sending, is_sending)
    }

    pub(super) fn handle_event(&mut self, event: ConnectionEvent) {
        self.conn.handle_event(event);
    }

    /// Takes note of what happened. What a session must hear is handed in by [`hand_in`](Self::hand_in).
    pub(super) fn collect(&mut self, counters: &mut Counters) {
        while let Some(event) = self.conn.poll() {
            match event {
                Event::Connected => self.greet(),
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                Event::Stream(StreamEvent::Readable { id }) => {
                    self.readable.insert(id);
                }
                Event::Stream(StreamEvent::Writable { id }) => {
                    if let Some(stream) = self.streams.get_mut(&id) {
                        stream.flush(&mut self.conn, counters);
                    }
                }
                Event::Stream(StreamEvent::Stopped { id, .. }) => {
                    if let Some(stream) = self.streams.get_mut(&id) {
                        stream.stop(&mut self.conn);
                    }
                    self.drop_finished(id);
                }
                Event::Stream(StreamEvent::Finished { id }) => self.drop_finished(id),
                // New streams and datagrams are asked for in every turn that something happened in.
                Event::Stream(StreamEvent::Opened { .. } | StreamEvent::Available { .. })
                | Event::HandshakeDataReady
                | Event::DatagramReceived
                | Event::DatagramsUnblocked => {}
            }
        }
    }

    /// The handshake is over: a client sends its ticket and goes on, a server waits for one.
    fn greet(&mut self) {
        if self.conn.side().is_server() {
            self.stage = Stage::Ticket { read: Vec::new() };
            return;
        }
        let Stage::Handshake { ticket } = mem::replace(&mut self.stage, Stage::Open) else {
            return;
        };
        self.deadline = None;
        // The server allows for one such stream, and for more than the longest ticket.
        if let Some(id) = self.conn.streams().open(Dir::Uni) {
            let mut stream = self.conn.send_stream(id);
            stream.write(&ticket).ok();
            stream.finish().ok();
        }
    }

    /// The ticket, once it has come whole. `Err` if it is too long.
    pub(super) fn take_ticket(&mut self) -> Result<Option<Vec<u8>>, TicketTooLong> {
        let Stage::Ticket { read } = &mut self.stage else {
            return Ok(None);
        };
        // There is one such stream, and its number is known.
        let id = QuicStreamId::new(quinn_proto::Side::Client, Dir::Uni, 0);
        let mut stream = self.conn.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return Ok(None);
        };
        loop {
            match chunks.next(TICKET_LONGEST + 1 - read.len()) {
                Ok(Some(chunk)) => read.extend_from_slice(&chunk.bytes),
                Ok(None) => break,
                Err(ReadError::Blocked) => return Ok(None),
                Err(ReadError::Reset(_)) => return Err(TicketTooLong),
            }
            if read.len() > TICKET_LONGEST {
                return Err(TicketTooLong);
            }
        }
        drop(chunks);
        Ok(Some(mem::take(read)))
    }

    /// Hands in everything that came, and returns whether there is more for the next turn.
    pub(crate) fn hand_in(
        &mut self,
        now: Instant,
        node: &mut Node,
        session: &mut dyn Session,
        counters: &mut Counters,
    ) -> bool {
        let (Some(owner), Stage::Open) = (self.owner, &self.stage) else {
            return false;
        };
        let peer = link_addr(owner.link);
        while let Some(id) = self.conn.streams().accept(Dir::Bi) {
            self.streams.insert(id, LinkStream::accepted(id));
            self.readable.insert(id);
        }
        self.open_dials(now, node, session);
        for id in mem::take(&mut self.readable) {
            if self.read(now, id, node, session, counters) {
                self.readable.insert(id);
            }
        }
        for stream in self.streams.values_mut() {
            if let State::Open(on) = stream.state
                && let Some(room) = stream.poll_room()
            {
                session.handle_room(now, Path::Stream(on), room);
            }
        }
        while let Some(datagram) = self.conn.datagrams().recv() {
            counters.datagrams_received += 1;
            session.handle_datagram(now, peer, &datagram);
        }
        if let Some(room) = self.poll_room() {
            session.handle_room(now, Path::Datagrams(peer), room);
        }
        !self.readable.is_empty()
    }

    fn open_dials(&mut self, now: Instant, node: &mut Node, session: &mut dyn Session) {
        let Some(Owner { link, .. }) = self.owner else {
            return;
        };
        while !self.dials.is_empty()
            && let Some(id) = self.conn.streams().open(Dir::Bi)
            && let Some(on) = self.dials.pop_front()
        {
            let stream = LinkStream::dialled(&mut self.conn, id, on);
            self.streams.insert(id, stream);
            let id = Some(id);
            node.streams.insert(on, Carrier::Quic { link, id });
            session.handle_opened(now, on, link_addr(link));
        }
    }

    /// Hands in what came on a stream, at most [`STREAM_READ`]; returns whether there is more.
    fn read(
        &mut self,
        now: Instant,
        id: QuicStreamId,
        node: &mut Node,
        session: &mut dyn Session,
        counters: &mut Counters,
    ) -> bool {
        let mut left = STREAM_READ;
        while left > 0 {
            match read_chunk(&mut self.conn, id, left) {
                Ok(Some(bytes)) => {
                    left -= bytes.len();
                    counters.stream_bytes_received += bytes.len() as u64;
                    self.hand_in_bytes(now, id, bytes, node, session);
                }
                Ok(None) => {
                    self.end_stream(now, id, Ended::Finished, node, session);
                    // This side ends, too, once what was sent before is out.
                    if let Some(stream) = self.streams.get_mut(&id) {
                        stream.finish(&mut self.conn, counters);
                    }
                    return false;
                }
                Err(Unread::Nothing) => return false,
                Err(Unread::Reset) => {
                    self.end_stream(now, id, Ended::Reset, node, session);
                    if let Some(stream) = self.streams.remove(&id) {
                        stream.abort(&mut self.conn);
                    }
                    return false;
                }
            }
        }
        true
    }

    fn hand_in_bytes(
        &mut self,
        now: Instant,
        id: QuicStreamId,
        mut bytes: Bytes,
        node: &mut Node,
        session: &mut dyn Session,
    ) {
        let (Some(stream), Some(Owner { link, .. })) = (self.streams.get_mut(&id), self.owner)
        else {
            return;
        };
        if stream.state == State::Arriving {
            if bytes.split_to(1)[..] != [PREAMBLE] {
                stream.abort(&mut self.conn);
                self.streams.remove(&id);
                return;
            }
            let on = node.number_accepted();
            stream.state = State::Open(on);
            let id = Some(id);
            node.streams.insert(on, Carrier::Quic { link, id });
            session.handle_opened(now, on, link_addr(link));
        }
        if let State::Open(on) = stream.state
            && !bytes.is_empty()
        {
            session.handle_stream(now, on, &bytes);
        }
    }

    /// Tells the session that a stream of its own is over.
    fn end_stream(
        &mut self,
        now: Instant,
        id: QuicStreamId,
        why: Ended,
        node: &mut Node,
        session: &mut dyn Session,
    ) {
        if let Some(stream) = self.streams.get(&id)
            && let State::Open(on) = stream.state
        {
            node.streams.remove(&on);
            session.handle_closed(now, Path::Stream(on), why);
        }
    }

    fn drop_finished(&mut self, id: QuicStreamId) {
        let is_left = |stream: &LinkStream| stream.state == State::Finishing;
        if self.streams.get(&id).is_some_and(is_left) {
            self.streams.remove(&id);
        }
    }

    /// How many streams are being finished.
    pub(crate) fn closing_streams(&self) -> usize {
        let is_left = |stream: &&LinkStream| stream.state == State::Finishing;
        self.streams.values().filter(is_left).count()
    }

    /// Why it is over, if it is: once.
    pub(crate) fn take_failure(&mut self) -> Option<LinkFailure> {
        let was_connected = !matches!(self.stage, Stage::Handshake { .. });
        let reason = self.lost.take()?;
        Some(LinkFailure::new(&reason, was_connected))
    }

    /// Tells its session, if that heard of it, that every stream and then the link is over.
    pub(crate) fn end(
        &mut self,
        now: Instant,
        why: Ended,
        node: &mut Node,
        session: &mut dyn Session,
    ) {
        let Some(Owner { link, .. }) = self.owner.take() else {
            return;
        };
        self.stage = Stage::Over;
        let cut = match why {
            Ended::Finished => Ended::Reset,
            other => other,
        };
        let open = |stream: &LinkStream| match stream.state {
            State::Open(on) => Some(on),
            State::Arriving | State::Finishing => None,
        };
        let mut ended: Vec<_> = self.streams.values().filter_map(open).collect();
        ended.extend(self.dials.drain(..));
        self.streams.clear();
        for on in ended {
            node.streams.remove(&on);
            session.handle_closed(now, Path::Stream(on), cut);
        }
        session.handle_closed(now, Path::Link(link), why);
    }

    /// Queues one datagram, which pushes out the oldest if the queue is full.
    pub(crate) fn send_datagram(&mut self, bytes: &[u8], counters: &mut Counters) -> Queue {
        self.told.spend(bytes.len());
        match self
            .conn
            .datagrams()
            .send(Bytes::copy_from_slice(bytes), true)
        {
            Ok(()) => {}
            Err(SendDatagramError::TooLarge) => counters.datagrams_oversize += 1,
            Err(_) => counters.datagrams_unsendable += 1,
        }
        // It holds two of the largest.
        match 2 * self.conn.datagrams().send_buffer_space() < self.queue_space {
            true => Queue::Full,
            false => Queue::Open,
        }
    }

    pub(crate) fn send_stream(
        &mut self,
        id: QuicStreamId,
        bytes: &[u8],
        counters: &mut Counters,
    ) -> Result<(), Overdrawn> {
        match self.streams.get_mut(&id) {
            Some(stream) => stream.send(&mut self.conn, bytes, counters),
            None => Ok(()),
        }
    }

    /// Opens a stream, now or when the peer allows it.
    pub(crate) fn dial(&mut self, on: StreamId) -> Result<(), Ended> {
        if matches!(self.stage, Stage::Over) || self.dials.len() >= LINK_STREAMS as usize {
            return Err(Ended::Unreachable);
        }
        self.dials.push_back(on);
        Ok(())
    }

    /// The session leaves a stream in order.
    pub(crate) fn finish(
        &mut self,
        id: Option<QuicStreamId>,
        on: StreamId,
        counters: &mut Counters,
    ) {
        self.dials.retain(|&dialled| dialled != on);
        if let Some(stream) = id.and_then(|id| self.streams.get_mut(&id)) {
            stream.finish(&mut self.conn, counters);
        }
    }

    /// The session drops a stream.
    pub(crate) fn abort(&mut self, id: Option<QuicStreamId>, on: StreamId) {
        self.dials.retain(|&dialled| dialled != on);
        if let Some(stream) = id.and_then(|id| self.streams.remove(&id)) {
            stream.abort(&mut self.conn);
        }
    }

    /// Ends the connection. Its session, if it has one, hears nothing more.
    pub(crate) fn close(&mut self, wall: time::Instant, code: VarInt, reason: &str) {
        self.owner = None;
        self.stage = Stage::Over;
        self.streams.clear();
        self.conn
            .close(wall, code, Bytes::copy_from_slice(reason.as_bytes()));
    }

    /// Its time is over: nobody answered, or the peer did not show what it has to.
    pub(super) fn give_up(&mut self, wall: time::Instant) {
        self.conn.close(wall, code::DONE, Bytes::new());
        // What is closed here is told nowhere else.
        self.lost = Some(ConnectionError::TimedOut);
    }

    pub(crate) fn close_in_order(&mut self, wall: time::Instant) {
        self.close(wall, code::DONE, "");
    }

    /// The next packets to send, appended to an empty buffer.
    pub(crate) fn poll_transmit(
        &mut self,
        wall: time::Instant,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.conn.poll_transmit(wall, LINK_SEGMENTS, out)
    }

    /// What the session has to hear of the room of datagrams: nothing, as long as it is about right.
    pub(crate) fn poll_room(&mut self) -> Option<Room> {
        if !matches!(self.stage, Stage::Open) {
            return None;
        }
        let room = self.room();
        let error = room.bytes.abs_diff(self.told.bytes);
        let is_known =
            room.largest == self.told.largest && error <= room.bytes.max(self.told.bytes) / 4;
        (!is_known).then(|| {
            self.told = room;
            room
        })
    }

    fn room(&mut self) -> Room {
        let Some(largest) = self.conn.datagrams().max_size() else {
            return Room::CLOSED;
        };
        let bytes = if self.conn.datagrams().send_buffer_space() < self.queue_space {
            // What waits is the newest there is; more would only push it out.
            0
        } else {
            let window = self.conn.congestion_state().window();
            // One may always be tried: the figure holds bare acknowledgements, too.
            window
                .saturating_sub(self.flight.bytes())
                .max(largest as u64)
        };
        Room {
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            largest: u16::try_from(largest).unwrap_or(u16::MAX),
        }
    }

    /// When it wants to be woken, on a clock that began at `began`.
    pub(crate) fn next_timeout(&mut self, began: time::Instant) -> Option<Instant> {
        // Rounded up: a moment too early it would have nothing to do.
        let due = |wall: time::Instant| Instant::ZERO + (wall - began) + Duration::from_micros(1);
        let machine = self.conn.poll_timeout().map(due);
        machine.into_iter().chain(self.deadline).min()
    }

    /// This machine has another address.
    pub(crate) fn handle_moved(&mut self) {
        self.conn.local_address_changed();
    }

    /// The peer's address is claimed by whoever has its keys, and may change.
    pub(crate) fn remote_address(&self) -> Addr {
        self.conn.remote_address().into()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("stage", &self.stage)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

/// What a link's queue of datagrams is like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Queue {
    Open,
    /// Another may push out one that waits.
    Full,
}

/// A ticket that is longer than any.
#[derive(Debug)]
pub(super) struct TicketTooLong;

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
