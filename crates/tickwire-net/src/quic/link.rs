//! One connection, as the link that a session knows.
//!
//! In: what `quinn-proto` says happened, and what the session orders. Out: calls to the session, and
//! packets. How strangers become links (the handshake, the ticket) is `endpoint`'s; this file begins
//! when there is a connection, and hands nothing in before it is [`Stage::Open`].

mod datagrams;
mod streams;

pub(crate) use datagrams::Queue;
pub(crate) use streams::Left;

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::{self, Duration};

use bytes::Bytes;
use quinn_proto::{
    Connection, ConnectionError, ConnectionEvent, Dir, Event, ReadError, StreamId as QuicStreamId,
    Transmit, VarInt,
};
use tickwire_session::{Addr, Ended, Host, Instant, Path, Room, Session, StreamId};

use super::LinkFailure;
use super::congestion::Flight;
use super::failure::code;
use crate::Counters;
use crate::limits::{LINK_SEGMENTS, TICKET_LONGEST};
use crate::node::Node;
use crate::pipe::link_addr;
use crate::stream::Overdrawn;
use datagrams::Datagrams;
use streams::Streams;

pub(crate) struct Link {
    pub(super) conn: Connection,
    pub(super) stage: Stage,
    origin: Origin,
    /// The session that it belongs to; a server's is known once the peer is let in.
    owner: Option<Owner>,
    streams: Streams,
    datagrams: Datagrams,
    /// When it must have come further.
    pub(super) deadline: Option<Instant>,
    /// Its entry among the timers.
    pub(super) timer: Option<Instant>,
    is_touched: bool,
    is_sending: bool,
    /// What ended it.
    lost: Option<ConnectionError>,
}

/// How a connection began. Its number names it in every log line, and to its session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    pub(crate) since: Instant,
    /// Where the peer was then; it may move.
    pub(crate) host: Host,
}

/// Whose link it is, and how that session names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) node: usize,
    pub(crate) link: u64,
}

/// The session that a link belongs to, for as long as something is handed in.
pub(crate) struct Delivery<'a> {
    pub(crate) now: Instant,
    pub(crate) link: u64,
    pub(crate) node: &'a mut Node,
    pub(crate) session: &'a mut dyn Session,
    pub(crate) counters: &'a mut Counters,
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
    pub(super) fn new(
        mut conn: Connection,
        origin: Origin,
        flight: Arc<Flight>,
        ticket: Vec<u8>,
    ) -> Self {
        Self {
            datagrams: Datagrams::new(&mut conn, flight),
            conn,
            stage: Stage::Handshake { ticket },
            origin,
            owner: None,
            streams: Streams::default(),
            deadline: None,
            timer: None,
            is_touched: false,
            is_sending: false,
            lost: None,
        }
    }

    pub(crate) const fn origin(&self) -> Origin {
        self.origin
    }

    pub(crate) const fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// Gives it to the session of a node; returns the number by which that knows it.
    pub(crate) const fn set_owner(&mut self, node: usize) -> u64 {
        let link = self.origin.number;
        self.owner = Some(Owner { node, link });
        link
    }

    /// Whether it is a peer's whom no session has heard of.
    pub(crate) fn is_stranger(&self) -> bool {
        let is_new = matches!(self.stage, Stage::Handshake { .. } | Stage::Ticket { .. });
        is_new && self.conn.side().is_server()
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
                Event::Stream(event) => {
                    self.streams.handle_event(&mut self.conn, &event, counters);
                }
                // Datagrams are asked for in every turn that something happened in.
                Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => {
                }
            }
        }
        if matches!(self.stage, Stage::Ticket { .. }) {
            self.datagrams.hold(&mut self.conn);
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

    /// Hands in everything that came and is wanted.
    pub(crate) fn hand_in(&mut self, to: &mut Delivery<'_>) -> Left {
        if !matches!(self.stage, Stage::Open) {
            return Left::Nothing;
        }
        let peer = link_addr(to.link);
        let left = self.streams.hand_in(&mut self.conn, to);
        while let Some(datagram) = self.datagrams.receive(&mut self.conn) {
            to.counters.datagrams_received += 1;
            to.session.handle_datagram(to.now, peer, &datagram);
        }
        if let Some(room) = self.poll_room() {
            to.session.handle_room(to.now, Path::Datagrams(peer), room);
        }
        left
    }

    /// Whether its session wants what was held back.
    pub(crate) fn is_wanted(&self, session: &dyn Session) -> bool {
        self.streams.is_wanted(session)
    }

    /// How many streams are being finished.
    pub(crate) fn closing_streams(&self) -> usize {
        self.streams.closing()
    }

    /// Why it is over, if it is: once.
    pub(crate) fn take_failure(&mut self) -> Option<LinkFailure> {
        let was_connected = !matches!(self.stage, Stage::Handshake { .. });
        let reason = self.lost.take()?;
        Some(LinkFailure::new(&reason, was_connected))
    }

    /// Tells its session that every stream and then the link is over.
    pub(crate) fn end(&mut self, why: Ended, to: &mut Delivery<'_>) {
        self.owner = None;
        self.stage = Stage::Over;
        let cut = match why {
            Ended::Finished => Ended::Reset,
            other => other,
        };
        self.streams.end(cut, to);
        to.session.handle_closed(to.now, Path::Link(to.link), why);
    }

    /// Queues one datagram, which pushes out the oldest if the queue is full.
    pub(crate) fn send_datagram(&mut self, bytes: &[u8], counters: &mut Counters) -> Queue {
        self.datagrams.send(&mut self.conn, bytes, counters)
    }

    pub(crate) fn send_stream(
        &mut self,
        id: QuicStreamId,
        bytes: &[u8],
        counters: &mut Counters,
    ) -> Result<(), Overdrawn> {
        self.streams.send(&mut self.conn, id, bytes, counters)
    }

    /// Opens a stream, now or when the peer allows it.
    pub(crate) fn dial(&mut self, on: StreamId) -> Result<(), Ended> {
        match self.stage {
            Stage::Over => Err(Ended::Unreachable),
            _ => self.streams.dial(on),
        }
    }

    /// The session leaves a stream in order.
    pub(crate) fn finish(
        &mut self,
        id: Option<QuicStreamId>,
        on: StreamId,
        counters: &mut Counters,
    ) {
        self.streams.finish(&mut self.conn, id, on, counters);
    }

    /// The session drops a stream.
    pub(crate) fn abort(&mut self, id: Option<QuicStreamId>, on: StreamId) {
        self.streams.abort(&mut self.conn, id, on);
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
        let is_stranger =
            self.conn.side().is_server() && matches!(self.stage, Stage::Handshake { .. });
        if !is_stranger {
            return self.conn.poll_transmit(wall, LINK_SEGMENTS, out);
        }
        // `quinn-proto` lets a packet begin below three times what was received and end above it. One that
        // does is lost; the server's part of a handshake is shorter.
        let transmit = self.conn.poll_transmit(wall, 1, out)?;
        let stats = self.conn.stats();
        let received = FIRST_PACKET_SHORTEST + stats.udp_rx.bytes;
        (stats.udp_tx.bytes <= 3 * received).then_some(transmit)
    }

    /// What the session has to hear of the room of datagrams.
    pub(crate) fn poll_room(&mut self) -> Option<Room> {
        match self.stage {
            Stage::Open => self.datagrams.poll_room(&mut self.conn),
            _ => None,
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
            .field("origin", &self.origin)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

/// What a connection begins with is at least this long (RFC 9000 section 14.1). `quinn-proto` does not count it.
const FIRST_PACKET_SHORTEST: u64 = 1_200;

/// A ticket that is longer than any.
#[derive(Debug)]
pub(super) struct TicketTooLong;
