//! What one client is told by datagram: answers, events and states, as payloads.
//!
//! In: what is said to this client alone, and what everybody is told ([`Shared`]), of which it only
//! knows how far it has come. Out: one payload at a time. A payload speaks of one moment, so only what
//! is of the same one shares it: what waits for this client, then news, then states. Where the datagrams
//! go is the peer table's to know.

use alloc::vec::Vec;
use core::ops::Range;

use tickwire_session::Instant;

use super::block::Block;
use super::entities::Entities;
use super::news::News;
use super::sending::{Due, Sending};
use crate::cppevy::StateId;
use crate::cppevy::limits::{DATAGRAM_WAITING, DATAGRAMS_A_SENDING, KEEP_ALIVE};
use crate::cppevy::message::{Object, PayloadWriter};
use crate::cppevy::outgoing::Queue;

#[derive(Debug)]
pub(super) struct Datagrams {
    /// Events and answers for this client alone.
    queue: Queue,
    /// How much of the news it has heard; `None` until it has an address.
    heard: Option<u64>,
    /// States that it is to hear of besides those that everybody is.
    due: Due,
    /// Blocks of the sending that are still to come.
    shared: Range<usize>,
    /// Datagrams that may still be filled with states in this sending.
    budget: u32,
    sent: Instant,
    /// An empty payload is to be sent, unless there is something to say.
    keep_alive: bool,
    /// What gave way because too much was waiting.
    lost: u64,
}

/// What everybody is told.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) entities: &'a Entities,
    pub(super) sending: &'a Sending,
    pub(super) news: &'a News,
}

impl Datagrams {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            queue: Queue::default(),
            heard: None,
            due: Due::default(),
            shared: 0..0,
            budget: 0,
            sent: now,
            keep_alive: false,
            lost: 0,
        }
    }

    /// They go to an address, which may be another than before. What was sent to the old one may be
    /// lost, so every state is due. News is heard from the first address on.
    pub(super) fn attach(&mut self, moved: bool, entities: &Entities, news: &News) {
        if moved {
            self.due.extend(entities.descriptors());
        }
        self.heard.get_or_insert_with(|| news.end());
    }

    /// Queues an object for this client alone.
    pub(super) fn tell(&mut self, timestamp: u32, object: &Object<'_>) {
        self.make_way();
        self.queue.push(timestamp, object);
    }

    /// The same for an object that is encoded already.
    pub(super) fn tell_encoded(&mut self, timestamp: u32, object: &[u8]) {
        self.make_way();
        self.queue.push_encoded(timestamp, object, 1);
    }

    /// Queues what everybody was told and this client has not heard: an event for it alone shall not
    /// pass that.
    pub(super) fn take_over(&mut self, news: &News) {
        while let Some((block, heard)) = self.next_news(news) {
            self.heard = Some(heard);
            self.make_way();
            self.queue
                .push_encoded(block.timestamp, &block.objects, block.count);
        }
    }

    /// On this path the oldest gives way.
    fn make_way(&mut self) {
        if self.queue.len() >= DATAGRAM_WAITING {
            self.lost += self.queue.drop_oldest();
        }
    }

    /// What gave way since this was last asked.
    pub(super) const fn take_lost(&mut self) -> u64 {
        core::mem::replace(&mut self.lost, 0)
    }

    /// Takes part in the sending that begins.
    pub(super) const fn begin_sending(&mut self) {
        if self.heard.is_some() {
            self.budget = DATAGRAMS_A_SENDING;
        }
    }

    /// The sending that it takes part in is encoded.
    pub(super) fn take_part(&mut self, sending: &Sending) {
        if self.budget > 0 {
            self.shared = 0..sending.len();
            self.due.remove_all(sending.states_from(0));
        }
    }

    /// Bytes for this client alone that wait.
    pub(super) const fn waiting(&self) -> usize {
        self.queue.bytes()
    }

    /// What it did not get of a sending that ends, it is owed alone. Returns whether there is any.
    pub(super) fn end_sending(&mut self, sending: &Sending) -> bool {
        let is_cut = !self.shared.is_empty();
        if is_cut {
            let missed = sending.states_from(self.shared.start);
            self.due.extend(missed.iter().copied());
            self.shared = 0..0;
        }
        self.budget = 0;
        is_cut
    }

    /// Puts a state into the next sending.
    pub(super) fn request(&mut self, state: StateId) {
        self.due.insert(state.descriptor());
    }

    /// Sends an empty payload if nothing was sent for long.
    pub(super) fn keep_alive(&mut self, now: Instant) {
        if now >= self.deadline() {
            self.keep_alive = true;
            self.sent = now;
        }
    }

    /// Writes the next payload, if there is something to say, and returns how many objects are in it.
    pub(super) fn write(
        &mut self,
        now: Instant,
        timestamp: u32,
        shared: Shared<'_>,
        out: &mut Vec<u8>,
    ) -> Option<u64> {
        let moment = self
            .queue
            .timestamp()
            .or_else(|| self.next_news_moment(shared.news))
            .or_else(|| self.next_states(timestamp, shared.sending));
        let keep_alive = core::mem::take(&mut self.keep_alive);
        if moment.is_none() && !keep_alive {
            return None;
        }
        let moment = moment.unwrap_or(timestamp);
        let mut payload = PayloadWriter::new(out, moment);
        let mut objects = self.queue.fill(&mut payload);
        if self.queue.timestamp() != Some(moment) {
            objects += self.fill_with_news(&mut payload, moment, shared.news);
            if self.next_news_moment(shared.news) != Some(moment) {
                objects += self.fill_with_states(&mut payload, moment, (timestamp, shared));
            }
        }
        if self.budget == 0 {
            self.end_sending(shared.sending);
        }
        self.sent = now;
        payload.finish();
        Some(objects)
    }

    /// The next news that it has not heard, and how much it has heard then.
    fn next_news<'a>(&self, news: &'a News) -> Option<(&'a Block, u64)> {
        news.after(self.heard?)
    }

    fn next_news_moment(&self, news: &News) -> Option<u32> {
        let (block, _) = self.next_news(news)?;
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

    fn next_shared<'a>(&self, sending: &'a Sending) -> Option<&'a Block> {
        sending
            .get(self.shared.start)
            .filter(|_| !self.shared.is_empty())
    }

    /// Fills what is left of a payload with what everybody is told.
    fn fill_with_news(&mut self, payload: &mut PayloadWriter<'_>, moment: u32, news: &News) -> u64 {
        let mut objects = 0;
        while let Some((block, heard)) = self.next_news(news)
            && block.timestamp == moment
            && payload.push_encoded(&block.objects).is_ok()
        {
            self.heard = Some(heard);
            objects += block.count;
        }
        objects
    }

    /// Fills what is left of a payload with states of this client alone, then with blocks of
    /// everybody's as far as they fit.
    fn fill_with_states(
        &mut self,
        payload: &mut PayloadWriter<'_>,
        moment: u32,
        (timestamp, shared): (u32, Shared<'_>),
    ) -> u64 {
        if self.budget == 0 {
            return 0;
        }
        let mut objects = 0;
        let before = payload.length();
        if moment == timestamp {
            self.due.fill(shared.entities, |_, state| {
                payload.push(state)?;
                objects += 1;
                Ok(())
            });
        }
        while self.due.is_empty()
            && let Some(block) = self.next_shared(shared.sending)
            && block.timestamp == moment
            && payload.push_encoded(&block.objects).is_ok()
        {
            self.shared.start += 1;
            objects += block.count;
        }
        self.budget -= u32::from(payload.length() > before);
        objects
    }

    /// When the next one has to go out, if nothing is said until then.
    pub(super) fn deadline(&self) -> Instant {
        self.sent + KEEP_ALIVE
    }
}
