//! One client as the server knows it.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::bulk::Sending;
use tickwire_session::{Addr, Instant, PeerStats, StreamId, Traffic};

use super::action_queue::{ActionQueue, Via};
use super::datagrams::{Datagrams, Told};
use super::event::Departure;
use super::lobby::Visitor;
use super::news::News;
use super::requests::Requests;
use crate::cppevy::limits::{FAREWELL, KEEP_ALIVE, PIECE_MAX, STREAM_KEEP_ALIVE, STREAM_WAITING};
use crate::cppevy::message::{Assembler, Data, Object, Piece, encode};
use crate::cppevy::outgoing::StreamOut;
use crate::cppevy::{EventId, SyncId};

#[derive(Debug)]
pub(super) struct Peer {
    /// Where its stream comes from.
    pub(super) addr: Addr,
    /// When its stream was opened.
    opened: Instant,
    pub(super) stage: Stage,
    pub(super) assembler: Assembler,
    pub(super) stream: StreamOut,
    pub(super) actions: ActionQueue,
    /// The asset that it fetches.
    pub(super) transfer: Option<Sending>,
    pub(super) last_heard: Instant,
    pub(super) datagrams: Datagrams,
    pub(super) requests: Requests,
    pub(super) traffic: Traffic,
    pub(super) refused: u64,
    stream_sent: Instant,
}

/// How far a client has come (see `STATES.md`).
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// It has not joined.
    Open,
    /// It has an entity.
    Joined {
        actor: SyncId,
        name: String,
        /// The moment of its Summons: a state that is not newer would be ignored.
        since: u64,
    },
    /// It is only told what was left to tell; if it left by itself, that includes what becomes of
    /// actions that the game was shown before.
    Closing { until: Instant, left: bool },
}

impl Peer {
    pub(super) fn new(now: Instant, addr: Addr) -> Self {
        Self {
            addr,
            opened: now,
            stage: Stage::Open,
            assembler: Assembler::default(),
            stream: StreamOut::default(),
            actions: ActionQueue::new(now),
            transfer: None,
            last_heard: now,
            datagrams: Datagrams::new(now),
            requests: Requests::default(),
            traffic: Traffic::NONE,
            refused: 0,
            stream_sent: now,
        }
    }

    /// Its entity, if it has joined and not left.
    pub(super) const fn actor(&self) -> Option<SyncId> {
        match self.stage {
            Stage::Joined { actor, .. } => Some(actor),
            Stage::Open | Stage::Closing { .. } => None,
        }
    }

    /// Itself among the streams that have not joined.
    pub(super) const fn as_visitor(&self, on: StreamId) -> Visitor {
        Visitor {
            on,
            host: self.addr.host,
            since: self.opened,
        }
    }

    /// Whether more waits for it than is kept for a client that does not read.
    pub(super) const fn is_behind(&self) -> bool {
        self.stream.waiting() > STREAM_WAITING
    }

    /// From now on it is only told what waits.
    pub(super) fn close(&mut self, now: Instant, why: Departure, news: &News) {
        if !matches!(self.stage, Stage::Closing { .. }) {
            self.stage = Stage::Closing {
                until: now + FAREWELL,
                left: why == Departure::Left,
            };
            self.transfer = None;
            self.datagrams.close(news);
        }
    }

    /// It does not read, so it is not waited for.
    pub(super) const fn hurry(&mut self, now: Instant) {
        if let Stage::Closing { until, .. } = &mut self.stage {
            *until = now;
        }
    }

    /// Queues an object by one of its paths.
    pub(super) fn tell(&mut self, via: Via, timestamp: u32, object: &Object<'_>) {
        match via {
            Via::Stream => self.stream.push(timestamp, object),
            Via::Datagrams => self.datagrams.tell(timestamp, object),
        }
    }

    /// Takes part in the sending that begins, if its states are news to this client.
    pub(super) const fn begin_sending(&mut self, moment: u64) {
        if let Stage::Joined { since, .. } = self.stage
            && moment > since
        {
            self.datagrams.begin_sending();
        }
    }

    /// Writes the next part of the stream. Pieces of an asset go one at a time, and only when the
    /// stream has passed on everything before: so nothing ever waits for more than one of them. A
    /// stream that has less room for good gets one a second.
    pub(super) fn write_stream(
        &mut self,
        now: Instant,
        timestamp: u32,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let patient = self.stream.is_idle() && now >= self.stream_sent + KEEP_ALIVE;
        if (self.stream.is_clear() || patient)
            && let Some(transfer) = &mut self.transfer
        {
            if let Some(piece) = transfer.poll_piece(PIECE_MAX) {
                let piece = Piece {
                    // Assets have fewer than 2³² bytes.
                    offset: u32::try_from(piece.offset).unwrap_or(u32::MAX),
                    bytes: piece.bytes,
                };
                let data = encode(|w| piece.encode(w));
                let data = Data::new(&data).unwrap_or_default();
                let event = EventId::ASSET;
                self.stream.push(timestamp, &Object::Event { event, data });
            }
            self.transfer.take_if(|transfer| transfer.rest() == 0);
        }
        if now >= self.stream_sent + STREAM_KEEP_ALIVE {
            self.stream.keep_alive(timestamp);
        }
        let written = self.stream.write(out)?;
        self.stream_sent = now;
        self.traffic.sent(written.bytes);
        self.traffic.messages_out += written.objects;
        Some(())
    }

    /// Writes the next datagram, if there is one, and returns where it goes.
    pub(super) fn write_datagram(
        &mut self,
        now: Instant,
        timestamp: u32,
        told: Told<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Addr> {
        let to = self.datagrams.to()?;
        let written = self.datagrams.write(now, timestamp, told, out)?;
        self.traffic.sent(written.bytes);
        self.traffic.messages_out += written.objects;
        Some(to)
    }

    /// Whether everything was handed over.
    pub(super) fn is_told(&self) -> bool {
        let owes = self.has_left() && self.actions.owes();
        self.stream.is_idle() && self.datagrams.is_idle() && !owes
    }

    /// Whether it has gone by itself, and is owed answers.
    pub(super) const fn has_left(&self) -> bool {
        matches!(self.stage, Stage::Closing { left: true, .. })
    }

    /// When it next has to be sent something unasked.
    pub(super) fn deadline(&self) -> Instant {
        let stream = match &self.transfer {
            _ if !self.stream.has_room() => Instant::NEVER,
            Some(_) => self.stream_sent + KEEP_ALIVE,
            None => self.stream_sent + STREAM_KEEP_ALIVE,
        };
        match self.stage {
            Stage::Closing { until, .. } => until,
            _ => self
                .datagrams
                .deadline()
                .map_or(stream, |datagram| datagram.min(stream)),
        }
    }

    /// Its figures.
    pub(super) fn stats(&self) -> PeerStats<'_> {
        let (name, state) = match (&self.stage, self.datagrams.to()) {
            (Stage::Open, _) => ("", "Open"),
            (Stage::Joined { name, .. }, None) => (&**name, "Joined"),
            (Stage::Joined { name, .. }, Some(_)) => (&**name, "Attached"),
            (Stage::Closing { .. }, _) => ("", "Closing"),
        };
        let mut stats = PeerStats::new(name, self.datagrams.to().unwrap_or(self.addr), state);
        stats.traffic = self.traffic;
        stats.refused = self.refused;
        stats
    }
}
