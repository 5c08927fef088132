//! One client as the server knows it.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;

use tickwire_session::{Addr, Instant, PeerStats, StreamId, Traffic};
use tickwire_wire::Serial;

use super::super::SyncId;
use super::super::limits::{
    DATAGRAM_WAITING, DATAGRAMS_A_SENDING, FAREWELL, KEEP_ALIVE, REQUESTS_A_SECOND,
    STREAM_KEEP_ALIVE, STREAM_WAITING,
};
use super::super::message::{Assembler, Data, Object, PayloadWriter, encode};
use super::super::outgoing::{Queue, StreamOut};
use super::super::{EventId, StateId};
use super::assets::Transfer;
use super::desk::{Desk, Via};
use super::entities::Entities;
use super::lobby::Visitor;
use super::news::News;
use super::sending::{Due, Sending, Shared};

#[derive(Debug)]
pub(super) struct Peer {
    /// Where its stream comes from.
    pub(super) addr: Addr,
    /// When its stream was opened.
    opened: Instant,
    pub(super) stage: Stage,
    pub(super) assembler: Assembler,
    pub(super) stream: StreamOut,
    pub(super) desk: Desk,
    pub(super) transfer: Option<Transfer>,
    pub(super) last_heard: Instant,
    /// Where its datagrams go: from the first token shown to the end of its stream.
    pub(super) attached: Option<Addr>,
    pub(super) traffic: Traffic,
    pub(super) refused: u64,
    /// Events and answers for the next datagram.
    datagrams: Queue,
    /// States that this client is to hear of besides those that everybody is, by descriptor.
    due: BTreeSet<u16>,
    /// Where to go on among them, so that each gets its turn.
    next_due: u16,
    /// Payloads of the sending that are still to come.
    shared: Range<usize>,
    /// How much of the news it has heard.
    heard: u64,
    /// Datagrams that may still be filled with states in this sending.
    budget: u32,
    /// When the last requests were honoured, oldest first.
    requests: VecDeque<Instant>,
    stream_sent: Instant,
    datagram_sent: Instant,
}

/// Has heard of everything that will ever happen: nothing more is told.
const NOTHING_MORE: u64 = u64::MAX;

/// What everybody is told.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) entities: &'a Entities,
    pub(super) sending: &'a Sending,
    pub(super) news: &'a News,
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
        /// Timestamp of its Summons.
        since: u32,
    },
    /// It is only told what was left to tell.
    Closing { until: Instant },
}

impl Peer {
    pub(super) fn new(now: Instant, addr: Addr) -> Self {
        Self {
            addr,
            opened: now,
            stage: Stage::Open,
            assembler: Assembler::default(),
            stream: StreamOut::default(),
            desk: Desk::new(now),
            transfer: None,
            last_heard: now,
            attached: None,
            traffic: Traffic::NONE,
            refused: 0,
            datagrams: Queue::default(),
            due: BTreeSet::new(),
            next_due: 0,
            shared: 0..0,
            heard: NOTHING_MORE,
            budget: 0,
            requests: VecDeque::new(),
            stream_sent: now,
            datagram_sent: now,
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
    pub(super) fn close(&mut self, now: Instant) {
        if !matches!(self.stage, Stage::Closing { .. }) {
            self.stage = Stage::Closing {
                until: now + FAREWELL,
            };
            self.transfer = None;
            self.due.clear();
            self.shared = 0..0;
            self.heard = NOTHING_MORE;
            self.budget = 0;
        }
    }

    /// It does not read, so it is not waited for.
    pub(super) const fn hurry(&mut self, now: Instant) {
        if let Stage::Closing { until } = &mut self.stage {
            *until = now;
        }
    }

    /// Queues an object by one of its paths. On the lossy one the oldest gives way.
    pub(super) fn tell(&mut self, via: Via, timestamp: u32, object: &Object<'_>) {
        match via {
            Via::Stream => self.stream.push(timestamp, object),
            Via::Datagrams => {
                self.make_way();
                self.datagrams.push(timestamp, object);
            }
        }
    }

    /// The same for an object that is encoded already.
    pub(super) fn tell_encoded(&mut self, via: Via, timestamp: u32, object: &[u8]) {
        match via {
            Via::Stream => self.stream.push_encoded(timestamp, object),
            Via::Datagrams => {
                self.make_way();
                self.datagrams.push_encoded(timestamp, object, 1);
            }
        }
    }

    /// What is said to it alone by datagram shall not pass what everybody was told before.
    pub(super) fn take_over(&mut self, news: &News) {
        while let Some((block, heard)) = news.after(self.heard) {
            self.heard = heard;
            self.make_way();
            let (timestamp, count) = (block.timestamp, block.count);
            self.datagrams
                .push_encoded(timestamp, &block.objects, count);
        }
    }

    fn make_way(&mut self) {
        if self.datagrams.len() >= DATAGRAM_WAITING {
            self.datagrams.drop_oldest();
        }
    }

    /// Its datagrams go to this address. A new one knows nothing: every state is due. Of what
    /// happens it hears from its first one on.
    pub(super) fn attach(&mut self, to: Addr, entities: &Entities, news: &News) {
        let before = self.attached.replace(to);
        if before != Some(to) {
            self.due.extend(entities.descriptors());
        }
        if before.is_none() {
            self.heard = news.end();
        }
    }

    /// Takes part in the sending that begins, if its states are news to this client.
    pub(super) fn begin_sending(&mut self, timestamp: u32) {
        if let Stage::Joined { since, .. } = self.stage
            && timestamp.is_newer_than(since)
        {
            self.budget = DATAGRAMS_A_SENDING;
        }
    }

    /// The sending that it takes part in is encoded.
    pub(super) fn take_part(&mut self, sending: &Sending) {
        if self.budget == 0 {
            return;
        }
        self.shared = 0..sending.len();
        if !self.due.is_empty() {
            for state in sending.states_from(0) {
                self.due.remove(state);
            }
        }
    }

    /// What it did not get of a sending that ends, it is owed alone.
    pub(super) fn end_sending(&mut self, sending: &Sending) {
        if !self.shared.is_empty() {
            self.due.extend(sending.states_from(self.shared.start));
            self.shared = 0..0;
        }
        self.budget = 0;
    }

    /// Puts a state into the next sending, if the client has not asked too often.
    pub(super) fn request(&mut self, now: Instant, state: StateId) -> Option<()> {
        let fresh = |at: &Instant| now.since(*at) < Duration::from_secs(1);
        self.requests.retain(fresh);
        if self.requests.len() >= REQUESTS_A_SECOND {
            return None;
        }
        self.requests.push_back(now);
        self.due.insert(state.descriptor());
        Some(())
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
            if let Some(piece) = transfer.piece() {
                let data = encode(|w| piece.encode(w));
                let data = Data::new(&data).unwrap_or_default();
                let event = EventId::ASSET;
                self.stream.push(timestamp, &Object::Event { event, data });
            }
            transfer.advance();
            self.transfer.take_if(|transfer| transfer.piece().is_none());
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

    /// Writes the next datagram, if there is something to say: what happened first, then states.
    pub(super) fn write_datagram(
        &mut self,
        now: Instant,
        timestamp: u32,
        told: Told<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let happened = self.datagrams.timestamp();
        let happened = happened.or_else(|| self.next_news(told.news));
        let moment = happened.or_else(|| self.next_states(timestamp, told.sending));
        if moment.is_none() && now < self.datagram_sent + KEEP_ALIVE {
            return None;
        }
        let moment = moment.unwrap_or(timestamp);
        let mut payload = PayloadWriter::new(out, moment);
        let mut objects = self.datagrams.fill(&mut payload);
        // Only what is of one moment shares a payload, and in its order.
        if self.datagrams.timestamp() != Some(moment) {
            objects += self.fill_with_news(&mut payload, moment, told.news);
            if self.next_news(told.news) != Some(moment) {
                objects += self.fill_with_states(&mut payload, moment, (timestamp, told));
            }
        }
        let bytes = payload.finish();
        if self.budget == 0 {
            self.end_sending(told.sending);
        }
        self.datagram_sent = now;
        self.traffic.sent(bytes);
        self.traffic.messages_out += objects;
        Some(())
    }

    /// The moment of the next news that it has not heard.
    fn next_news(&self, news: &News) -> Option<u32> {
        let (block, _) = news.after(self.heard)?;
        Some(block.timestamp)
    }

    /// The moment of the next states that it is to hear of; its own are true now.
    fn next_states(&self, timestamp: u32, sending: &Sending) -> Option<u32> {
        match self.budget {
            0 => None,
            _ if !self.due.is_empty() => Some(timestamp),
            _ => Some(self.next_shared(sending)?.timestamp),
        }
    }

    fn next_shared<'a>(&self, sending: &'a Sending) -> Option<Shared<'a>> {
        sending
            .get(self.shared.start)
            .filter(|_| !self.shared.is_empty())
    }

    /// Fills what is left of a payload with what everybody is told.
    fn fill_with_news(&mut self, payload: &mut PayloadWriter<'_>, moment: u32, news: &News) -> u64 {
        let mut objects = 0;
        while let Some((block, heard)) = news.after(self.heard)
            && block.timestamp == moment
            && payload.push_encoded(&block.objects).is_ok()
        {
            self.heard = heard;
            objects += block.count;
        }
        objects
    }

    /// Fills what is left of a payload with states of this client alone, then with everybody's as
    /// far as they fit in the portions that are the same for everybody.
    fn fill_with_states(
        &mut self,
        payload: &mut PayloadWriter<'_>,
        moment: u32,
        (timestamp, told): (u32, Told<'_>),
    ) -> u64 {
        let mut objects = 0;
        let before = payload.length();
        if self.budget > 0 && moment == timestamp {
            let due = Due {
                states: &mut self.due,
                next: &mut self.next_due,
            };
            due.fill(payload, told.entities, |_| objects += 1);
        }
        while self.budget > 0
            && self.due.is_empty()
            && let Some(shared) = self.next_shared(told.sending)
            && shared.timestamp == moment
            && payload.push_encoded(shared.objects).is_ok()
        {
            self.shared.start += 1;
            objects += shared.count;
        }
        self.budget -= u32::from(payload.length() > before);
        objects
    }

    /// Whether everything was handed over.
    pub(super) fn is_told(&self) -> bool {
        self.stream.is_idle() && self.datagrams.is_empty()
    }

    /// When it next has to be sent something unasked.
    pub(super) fn deadline(&self) -> Instant {
        let stream = match &self.transfer {
            _ if !self.stream.has_room() => Instant::NEVER,
            Some(_) => self.stream_sent + KEEP_ALIVE,
            None => self.stream_sent + STREAM_KEEP_ALIVE,
        };
        match self.stage {
            Stage::Closing { until } => until,
            _ if self.attached.is_some() => stream.min(self.datagram_sent + KEEP_ALIVE),
            _ => stream,
        }
    }

    /// Its figures.
    pub(super) fn stats(&self) -> PeerStats<'_> {
        let (name, state) = match (&self.stage, self.attached) {
            (Stage::Open, _) => ("", "Open"),
            (Stage::Joined { name, .. }, None) => (&**name, "Joined"),
            (Stage::Joined { name, .. }, Some(_)) => (&**name, "Attached"),
            (Stage::Closing { .. }, _) => ("", "Closing"),
        };
        let mut stats = PeerStats::new(name, self.attached.unwrap_or(self.addr), state);
        stats.traffic = self.traffic;
        stats.refused = self.refused;
        stats
    }
}
