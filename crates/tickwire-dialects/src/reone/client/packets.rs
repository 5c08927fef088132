//! What a client sends by datagram: acknowledgements, Ping and Ready, and the player's events.
//!
//! In: events of the application and acknowledgements of the server. Out: datagrams, each with
//! everything that is not acknowledged, from the oldest on, as far as it fits: the server takes events
//! in order, so a later one without those before it would be of no use.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::{Instant, Token};

use super::SendError;
use super::limits::{EVENT_REPEAT, EVENTS_UNACKNOWLEDGED, UNRELIABLE_WAITING};
use crate::reone::limits::{DATAGRAM_MAX, EVENT_MAX, HEADER};
use crate::reone::message::{Event, PacketWriter, Up, UpElement, UpHeader};
use crate::reone::{EventId, PacketSeq, SnapshotSeq};

#[derive(Debug)]
pub(super) struct PacketSender {
    last_packet: PacketSeq,
    last_event: EventId,
    /// Not acknowledged, in order.
    waiting: VecDeque<Waiting>,
    /// To be sent once.
    once: VecDeque<Once>,
    /// Something is to be sent at once.
    is_due: bool,
    /// When a datagram last held what waits.
    repeated: Instant,
    resent: u64,
}

#[derive(Debug)]
struct Waiting {
    id: EventId,
    kind: u8,
    content: Box<[u8]>,
    /// The server's tick that was shown when it was made.
    shown: u32,
    /// When it was sent first.
    sent: Option<Instant>,
}

#[derive(Debug)]
struct Once {
    kind: u8,
    content: Box<[u8]>,
}

/// What else a datagram says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notes {
    pub(super) acknowledged: SnapshotSeq,
    /// The server's tick that is shown.
    pub(super) shown: u32,
    pub(super) ping: Option<Token>,
    pub(super) is_ready: bool,
    /// Whether the server takes events.
    pub(super) takes_events: bool,
    /// The most bytes that the path takes.
    pub(super) limit: usize,
}

/// What a datagram held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) bytes: usize,
    pub(super) messages: u64,
}

/// The events in a datagram that wait to be acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    events: u64,
    /// What was shown when the last of them was made.
    shown: Option<u32>,
}

/// An acknowledgement of what was never sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeverSent;

impl PacketSender {
    pub(super) const fn new() -> Self {
        Self {
            last_packet: PacketSeq(0),
            last_event: EventId(0),
            waiting: VecDeque::new(),
            once: VecDeque::new(),
            is_due: false,
            repeated: Instant::ZERO,
            resent: 0,
        }
    }

    /// A new connection: numbers begin again. Returns how many events were never acknowledged.
    pub(super) fn restart(&mut self) -> usize {
        let lost = self.waiting.len();
        *self = Self {
            resent: self.resent,
            ..Self::new()
        };
        lost
    }

    /// Events sent more than once.
    pub(super) const fn resent(&self) -> u64 {
        self.resent
    }

    /// Queues an event that is repeated until acknowledged, made while this tick was shown.
    pub(super) fn push(
        &mut self,
        kind: u8,
        content: &[u8],
        shown: u32,
    ) -> Result<EventId, SendError> {
        if content.len() > EVENT_MAX {
            return Err(SendError::TooLong);
        }
        if self.waiting.len() >= EVENTS_UNACKNOWLEDGED {
            return Err(SendError::TooManyWaiting);
        }
        let id = self.last_event.next();
        self.last_event = id;
        self.waiting.push_back(Waiting {
            id,
            kind,
            content: content.into(),
            shown,
            sent: None,
        });
        self.is_due = true;
        Ok(id)
    }

    /// Queues an event that is sent once.
    pub(super) fn push_once(&mut self, kind: u8, content: &[u8]) -> Result<(), SendError> {
        if content.len() > EVENT_MAX {
            return Err(SendError::TooLong);
        }
        if self.once.len() >= UNRELIABLE_WAITING {
            return Err(SendError::TooManyWaiting);
        }
        let content = content.into();
        self.once.push_back(Once { kind, content });
        self.is_due = true;
        Ok(())
    }

    /// A datagram is to be sent at once, if only to acknowledge.
    pub(super) const fn set_due(&mut self) {
        self.is_due = true;
    }

    /// When unacknowledged events are to be repeated, if nothing else is said before.
    pub(super) fn repeat_at(&self) -> Option<Instant> {
        let is_waiting = !self.waiting.is_empty();
        is_waiting.then(|| self.repeated + EVENT_REPEAT)
    }

    /// The server has processed everything up to `id`. Returns when the newest of it was sent first.
    pub(super) fn acknowledge(&mut self, id: EventId) -> Result<Option<Instant>, NeverSent> {
        if id > self.last_event {
            return Err(NeverSent);
        }
        let mut sent = None;
        while let Some(first) = self.waiting.front()
            && first.id <= id
        {
            sent = first.sent;
            self.waiting.pop_front();
        }
        Ok(sent)
    }

    /// Writes a datagram, if there is something to say. A closed path takes what is due with it: when
    /// it opens again, that will be old.
    pub(super) fn write(&mut self, now: Instant, notes: Notes, out: &mut Vec<u8>) -> Option<Sent> {
        let is_repeat = self.repeat_at().is_some_and(|at| now >= at);
        let has_events = notes.takes_events && (self.is_due || is_repeat);
        if !has_events && notes.ping.is_none() && !notes.is_ready {
            return None;
        }
        self.is_due = false;
        self.repeated = now;
        let limit = notes.limit.min(DATAGRAM_MAX);
        if limit < HEADER {
            self.once.clear();
            return None;
        }
        self.last_packet = self.last_packet.next();
        let mut header = UpHeader {
            packet: self.last_packet,
            acknowledged: notes.acknowledged,
            tick: notes.shown,
        };
        let mut writer = PacketWriter::<Up>::new(out, &header, limit);
        let mut messages = 0;
        let ping = notes.ping.map(UpElement::Ping);
        let ready = notes.is_ready.then_some(UpElement::Ready);
        for element in ping.iter().chain(&ready) {
            messages += u64::from(writer.push(element).is_ok());
        }
        if has_events {
            messages += self.write_once(&mut writer);
            let written = self.write_waiting(now, &mut writer);
            messages += written.events;
            // An event that is repeated is still about what its player saw then.
            if let Some(shown) = written.shown {
                header.tick = shown;
                writer.set_header(&header);
            }
        }
        let bytes = writer.finish();
        Some(Sent { bytes, messages })
    }

    /// Writes what is sent once. Returns how much of it there was room for.
    fn write_once(&mut self, writer: &mut PacketWriter<'_, Up>) -> u64 {
        let mut written = 0;
        while let Some(Once { kind, content }) = self.once.front() {
            let event = Event::new(EventId::UNACKNOWLEDGED, *kind, content);
            if let Ok(event) = event
                && writer.push(&UpElement::Event(event)).is_err()
            {
                // The rest goes into the next datagram, at once.
                self.is_due = written > 0;
                break;
            }
            written += 1;
            self.once.pop_front();
        }
        written
    }

    /// Writes what waits to be acknowledged, as far as it fits.
    fn write_waiting(&mut self, now: Instant, writer: &mut PacketWriter<'_, Up>) -> Written {
        let mut written = Written::default();
        for waiting in &mut self.waiting {
            let event = Event::new(waiting.id, waiting.kind, &waiting.content);
            let Ok(event) = event else { continue };
            if writer.push(&UpElement::Event(event)).is_err() {
                break;
            }
            written.events += 1;
            written.shown = Some(waiting.shown);
            match waiting.sent {
                None => waiting.sent = Some(now),
                Some(_) => self.resent += 1,
            }
        }
        written
    }
}
