//! What the server keeps of one client besides its place in the table of peers.
//!
//! In: answers, events and pieces of an asset for it, and what everybody is told ([`Shared`]). Out:
//! the next bytes of its stream, its next datagram, and when it is to be looked after. Its paths,
//! address and figures are the table's, in [`PeerLink`].

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::bulk::Sending;
use tickwire_session::{Instant, PeerLink, SlidingWindow, Wrote};

use super::action_queue::{ActionQueue, Via};
use super::datagrams::{Datagrams, Shared};
use super::upload::Upload;
use crate::cppevy::limits::{
    KEEP_ALIVE, PIECE_MAX, REQUESTS_A_SECOND, STREAM_KEEP_ALIVE, STREAM_WAITING, TIMEOUT,
};
use crate::cppevy::message::{Assembler, Data, Object, Piece, encode};
use crate::cppevy::outgoing::{StreamOut, takes_payloads};
use crate::cppevy::{EventId, SyncId};

#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) stage: Stage,
    pub(super) assembler: Assembler,
    pub(super) stream: StreamOut,
    pub(super) actions: ActionQueue,
    /// The asset that it fetches.
    pub(super) transfer: Option<Sending>,
    pub(super) datagrams: Datagrams,
    pub(super) requests: SlidingWindow,
    /// What it offered, or sends.
    pub(super) upload: Option<Upload>,
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
    /// It is only told what was left to tell. If it left by itself, that includes the answers to
    /// actions that the game was shown before.
    Closing { left: bool },
}

impl ClientState {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            stage: Stage::Open,
            assembler: Assembler::default(),
            stream: StreamOut::default(),
            actions: ActionQueue::new(now),
            transfer: None,
            datagrams: Datagrams::new(now),
            requests: SlidingWindow::new(REQUESTS_A_SECOND, Duration::from_secs(1)),
            upload: None,
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

    /// Its name and the word for its stage.
    pub(super) fn name_and_state(&self, is_attached: bool) -> (&str, &'static str) {
        match &self.stage {
            Stage::Open => ("", "Open"),
            Stage::Joined { name, .. } if is_attached => (name, "Attached"),
            Stage::Joined { name, .. } => (name, "Joined"),
            Stage::Closing { .. } => ("", "Closing"),
        }
    }

    /// Bytes that wait on both paths.
    pub(super) const fn queued(&self) -> usize {
        self.stream.waiting() + self.datagrams.waiting()
    }

    /// Whether more waits for it than is kept for a client that does not read.
    pub(super) const fn is_behind(&self) -> bool {
        self.stream.waiting() > STREAM_WAITING
    }

    /// Whether it left by itself, and is still owed answers.
    pub(super) const fn has_left(&self) -> bool {
        matches!(self.stage, Stage::Closing { left: true })
    }

    /// From now on it is only told what waits on its stream.
    pub(super) fn close(&mut self, left: bool) {
        self.stage = Stage::Closing { left };
        self.transfer = None;
        self.upload = None;
    }

    /// Queues an object by one of its paths.
    pub(super) fn tell(&mut self, via: Via, timestamp: u32, object: &Object<'_>) {
        match via {
            Via::Stream => self.stream.push(timestamp, object),
            Via::Datagrams => self.datagrams.tell(timestamp, object),
        }
    }

    /// Takes part in the sending that begins, if its states are newer than this client's Summons.
    pub(super) const fn begin_sending(&mut self, moment: u64) {
        if let Stage::Joined { since, .. } = self.stage
            && moment > since
        {
            self.datagrams.begin_sending();
        }
    }

    /// Writes what comes next on either path.
    pub(super) fn write(
        &mut self,
        link: &mut PeerLink,
        (now, timestamp): (Instant, u32),
        shared: Shared<'_>,
        out: &mut Vec<u8>,
    ) -> Wrote {
        // A piece of an asset goes only when the stream has passed on everything before it, so that
        // an event or an answer waits for one piece at most.
        if self.stream.is_clear(link.stream_room()) {
            self.push_piece(timestamp);
        }
        if let Some(objects) = self.stream.write(link.stream_room(), out) {
            self.stream_sent = now;
            link.traffic.messages_out += objects;
            return Wrote::Stream;
        }
        if link.datagrams().is_some()
            && takes_payloads(link.datagram_room())
            && let Some(objects) = self.datagrams.write(now, timestamp, shared, out)
        {
            link.traffic.messages_out += objects;
            link.updates.add(now);
            return Wrote::Datagram;
        }
        let owes_answers = self.has_left() && self.actions.awaits_game();
        match self.stream.is_idle() && !owes_answers {
            true => Wrote::Nothing,
            false => Wrote::Blocked,
        }
    }

    /// Queues the next piece of the asset that it fetches.
    fn push_piece(&mut self, timestamp: u32) {
        let Some(transfer) = &mut self.transfer else {
            return;
        };
        if let Some(piece) = transfer.poll_piece(PIECE_MAX) {
            let piece = Piece {
                // Assets have fewer than 2³² bytes.
                offset: u32::try_from(piece.offset).unwrap_or(u32::MAX),
                bytes: piece.bytes,
            };
            let data = encode(|w| piece.encode(w));
            let (event, data) = (EventId::ASSET, Data::new(&data).unwrap_or_default());
            self.stream.push(timestamp, &Object::Event { event, data });
        }
        self.transfer.take_if(|transfer| transfer.rest() == 0);
    }

    /// Queues what has to be sent because nothing was for long.
    pub(super) fn keep_alive(&mut self, now: Instant, timestamp: u32) {
        if now >= self.stream_deadline() {
            // A stream whose room became less for good is never clear: its asset still comes, slowly.
            match &self.transfer {
                Some(_) if self.stream.is_idle() => self.push_piece(timestamp),
                _ => self.stream.keep_alive(timestamp),
            }
            self.stream_sent = now;
        }
        self.datagrams.keep_alive(now);
    }

    fn stream_deadline(&self) -> Instant {
        let period = match self.transfer {
            Some(_) => KEEP_ALIVE,
            None => STREAM_KEEP_ALIVE,
        };
        self.stream_sent + period
    }

    /// When it next has to be looked after.
    pub(super) fn deadline(&self, link: &PeerLink) -> Instant {
        let stream = (link.stream_room() > 0).then(|| self.stream_deadline());
        let datagrams = link.datagrams().map(|_| self.datagrams.deadline());
        let upload = self.upload.as_ref().and_then(Upload::deadline);
        [stream, datagrams, self.actions.deadline(), upload]
            .into_iter()
            .flatten()
            .fold(link.last_heard + TIMEOUT, Instant::min)
    }
}
