//! What the server's bytes make the client do.

use alloc::sync::Arc;
use core::time::Duration;

use tickwire_session::{Addr, Instant, KEEP_ALIVE};
use tickwire_state::{RemoteClock, Tick};

use super::assembly::{Known, NoRoom, Spoilt};
use super::{Client, ClientEvent, EndReason, Phase};
use crate::opendrakan::Reader;
use crate::opendrakan::limits::{
    ASSEMBLY_AGE_MAX, DATABASES_ACCEPTED, REATTACH_AFTER, RECEIVE_MAX, SEND_TICKS, TICKS_PER_SECOND,
};
use crate::opendrakan::message::{Confirm, Message, Way};
use crate::opendrakan::snapshot::Snapshot;

impl Client {
    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        if from != self.uplink.server() {
            self.counters.stranger += 1;
            return;
        }
        if bytes.len() > RECEIVE_MAX {
            self.counters.undecodable += 1;
            return;
        }
        // A datagram counts as a whole: what is wrong at its end undoes its beginning.
        let mut r = Reader::new(bytes);
        while !r.is_empty() {
            if Message::decode(&mut r, Way::ServerDatagram).is_err() {
                self.counters.undecodable += 1;
                return;
            }
        }
        self.uplink.traffic.received(bytes.len());
        if !self.uplink.hears_datagrams(now, REATTACH_AFTER) {
            self.uplink.set_attach_at(now + KEEP_ALIVE);
        }
        self.uplink.heard_datagram(now);
        if self.loaded.is_none() {
            self.counters.not_loaded += 1;
            return;
        }
        let mut r = Reader::new(bytes);
        let mut touched = None;
        while let Ok(message) = Message::decode(&mut r, Way::ServerDatagram) {
            self.uplink.traffic.messages_in += 1;
            let tick = self.handle_piece(&message).unwrap_or_else(|NoRoom| {
                self.counters.no_room += 1;
                None
            });
            // A datagram usually speaks of one snapshot; it is looked at once, when all is in.
            if touched != tick
                && let Some(before) = touched
            {
                self.try_complete(now, before);
            }
            touched = tick;
        }
        if let Some(tick) = touched {
            self.try_complete(now, tick);
        }
    }

    /// Adds to a snapshot; returns its tick if it may be complete now.
    fn handle_piece(&mut self, message: &Message<'_>) -> Result<Option<Tick>, NoRoom> {
        let (Message::ConfirmSnapshot(Confirm { tick, .. }) | Message::ObjectChanged { tick, .. }) =
            *message
        else {
            return Ok(None);
        };
        if self.is_settled(tick) {
            // A confirmation is repeated because its acknowledgement was lost.
            let is_confirm = matches!(message, Message::ConfirmSnapshot(_));
            self.acknowledge_due |= is_confirm && self.acknowledged == Some(tick);
            return Ok(None);
        }
        match *message {
            Message::ObjectChanged { object, change, .. } => {
                self.assemblies.add(tick, object, change)?;
            }
            Message::ConfirmSnapshot(confirm) => {
                self.assemblies.at(tick)?.confirm.get_or_insert(confirm);
            }
            _ => {}
        }
        Ok(Some(tick))
    }

    /// Whether a snapshot is complete already, or too old to be wanted.
    fn is_settled(&self, tick: Tick) -> bool {
        self.history.get(tick).is_some() || tick < self.oldest_wanted()
    }

    fn oldest_wanted(&self) -> Tick {
        let newest = self.history.newest().map(|(tick, _)| tick);
        newest.map_or(Tick::NONE, |newest| newest.before(ASSEMBLY_AGE_MAX))
    }

    /// Completes a snapshot if everything is here.
    fn try_complete(&mut self, now: Instant, tick: Tick) {
        let (Some(loaded), Ok(assembly)) = (&self.loaded, self.assemblies.at(tick)) else {
            return;
        };
        let Some(confirm) = assembly.confirm else {
            return;
        };
        let reference = match confirm.reference {
            Tick::NONE => None,
            wanted => match self.history.get(wanted) {
                Some(snapshot) => Some(&**snapshot),
                // It was given up, or never complete: what builds on it cannot be either.
                None => {
                    self.counters.reference_missing += 1;
                    self.assemblies.remove(tick);
                    return;
                }
            },
        };
        let known = Known {
            registry: &self.registry,
            classes: &loaded.classes,
            reference,
        };
        self.counters.bad_bundle += assembly.resolve(&known);
        match assembly.build(&known) {
            Ok(None) => {}
            Ok(Some(snapshot)) => {
                self.assemblies.remove(tick);
                self.complete(now, confirm, snapshot);
            }
            Err(why) => {
                let counter = match why {
                    Spoilt::TooManyChanges => &mut self.counters.count_mismatch,
                    Spoilt::CreatedTwice => &mut self.counters.created_twice,
                    Spoilt::UnknownObject => &mut self.counters.unknown_object,
                    Spoilt::TooManyObjects => &mut self.counters.no_room,
                };
                *counter += 1;
                self.assemblies.remove(tick);
            }
        }
    }

    fn complete(&mut self, now: Instant, confirm: Confirm, snapshot: Snapshot) {
        let (tick, time) = (confirm.tick, snapshot.time);
        self.set_clock(now, confirm.reference, time);
        let snapshot = Arc::new(snapshot);
        self.history.insert(tick, snapshot.clone());
        // The server refers to what it knows to be here, and that only moves on.
        self.history.drop_older(confirm.reference);
        self.assemblies.drop_older(self.oldest_wanted());
        // Too late to be shown, but good to refer to.
        self.counters.late += u64::from(self.timeline.insert(time, snapshot).is_err());
        self.note_loss(tick);
        self.time_reference(now, confirm.reference);
        if self.acknowledged.is_none_or(|newest| newest < tick) {
            self.acknowledged = Some(tick);
            self.acknowledge_due = true;
            self.uplink.updates.add(now);
        }
        if self.phase == Phase::Waiting {
            self.phase = Phase::Playing;
            self.tell(ClientEvent::Started);
        }
        self.tell(ClientEvent::Completed { tick });
    }

    /// A full snapshot may have been repeated for a while before it was complete, and says little of
    /// the server's clock. The first delta says it right.
    fn set_clock(&mut self, now: Instant, reference: Tick, time: Duration) {
        let is_full = reference == Tick::NONE;
        if !is_full && self.clock_is_rough {
            self.clock = RemoteClock::new();
            self.clock_is_rough = false;
        }
        if !is_full || self.clock.time_at(now).is_none() {
            self.clock_is_rough |= is_full;
            self.clock.add_arrival(now, time);
        }
    }

    /// A server refers to the newest snapshot that was acknowledged: the first that refers to one tells how long its
    /// acknowledgement and this took, and half a period, on average, until the server sent again.
    fn time_reference(&mut self, now: Instant, reference: Tick) {
        let timed = self.timed_ack.take_if(|(tick, _)| reference >= *tick);
        // Of a later reference, the acknowledgement that was timed got lost.
        if let Some((_, left)) = timed.filter(|(tick, _)| reference == *tick) {
            let waited = Duration::from_secs(SEND_TICKS) / (2 * TICKS_PER_SECOND);
            let took = now.since(left).saturating_sub(waited);
            self.uplink.round_trip.add_sample(took);
        }
    }

    fn note_loss(&mut self, tick: Tick) {
        let steps = match self.acknowledged {
            Some(newest) if tick > newest => (tick.0 - newest.0) / SEND_TICKS,
            Some(_) => return,
            None => 1,
        };
        let missing = u32::try_from(steps.saturating_sub(1)).unwrap_or(u32::MAX);
        self.loss.add_arrival(missing);
    }

    pub(super) fn receive_stream(&mut self, now: Instant, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        self.uplink.traffic.received(bytes.len());
        self.uplink.heard(now);
        let mut inbox = core::mem::take(&mut self.inbox);
        let decoded = inbox.receive(Way::ServerStream, bytes, |message| {
            self.uplink.traffic.messages_in += 1;
            self.handle_stream_message(now, &message);
        });
        self.inbox = inbox;
        if decoded.is_err() {
            self.counters.undecodable += 1;
            self.end(EndReason::Undecodable);
        }
    }

    fn handle_stream_message(&mut self, now: Instant, message: &Message<'_>) {
        match *message {
            Message::Attach { token } => self.uplink.set_token(now, token),
            Message::DatabaseEntry { database, path } => {
                if self.phase != Phase::Handshaking {
                    self.counters.unexpected += 1;
                } else if self.wanted.len() >= DATABASES_ACCEPTED {
                    self.end(EndReason::TooManyDatabases);
                } else {
                    self.wanted.add_database(database, path);
                    self.ask_to_load();
                }
            }
            Message::LoadLevel { databases, path } => {
                if self.phase == Phase::Handshaking && !self.wanted.has_level() {
                    self.wanted.set_level(databases, path);
                    self.ask_to_load();
                } else {
                    self.counters.unexpected += 1;
                }
            }
            Message::GlobalMessage {
                channel,
                real_time,
                body,
            } => self.tell(ClientEvent::GlobalMessage {
                channel,
                at: span(real_time),
                body: body.into(),
            }),
            Message::ObjectMessage {
                channel,
                sender,
                receiver,
                real_time,
                body,
            } => self.tell(ClientEvent::ObjectMessage {
                channel,
                sender,
                receiver,
                at: span(real_time),
                body: body.into(),
            }),
            _ => self.handle_timed(message),
        }
    }

    /// Keeps an animation or a sound until its moment is shown.
    fn handle_timed(&mut self, message: &Message<'_>) {
        // Nothing is shown yet, and its moment will be over when something is.
        let Some(loaded) = &self.loaded else {
            self.counters.not_loaded += 1;
            return;
        };
        let translate = |asset| loaded.databases.translate(asset);
        let (at, event) = match *message {
            Message::ObjectAnimation {
                real_time,
                object,
                animation,
                channel,
                speed,
            } => {
                let at = span(real_time);
                let event = translate(animation).map(|animation| ClientEvent::Animation {
                    at,
                    object,
                    animation,
                    channel,
                    speed,
                });
                (at, event)
            }
            Message::Sound { real_time, sound } => {
                let at = span(real_time);
                let event = translate(sound).map(|sound| ClientEvent::Sound { at, sound });
                (at, event)
            }
            _ => return,
        };
        let Some(event) = event else {
            self.counters.unknown_database += 1;
            return;
        };
        if let Some(early) = self.timed.push(at, event) {
            self.counters.released_early += 1;
            self.tell(early);
        }
    }
}

/// A moment that decoding found to be one.
fn span(real_time: f64) -> Duration {
    Duration::try_from_secs_f64(real_time).unwrap_or_default()
}
