//! What a payload of the server makes the client do.

use tickwire_session::{Addr, Instant, Reason};

use super::world::Ignored;
use super::{Client, ClientEvent, EndReason, Phase};
use crate::cppevy::limits::EVENTS_WAITING;
use crate::cppevy::message::{Data, Object, Payload, Piece, Sender, Summon, decode_actor};
use crate::cppevy::{ActionId, Delivery, EventId, StateId};

impl Client {
    pub(super) fn receive_stream(&mut self, now: Instant, mut bytes: &[u8]) {
        self.uplink.traffic.received(bytes.len());
        // Lent to the loop, so that a payload can be read from it while it changes the client.
        let mut assembler = core::mem::take(&mut self.assembler);
        while !self.is_ended() {
            match assembler.next(&mut bytes) {
                Ok(None) => break,
                Ok(Some(payload)) => match Payload::decode(payload, Sender::Server) {
                    Ok(payload) => self.handle_payload(now, &payload),
                    Err(_) => self.end(EndReason::Garbled),
                },
                Err(_) => self.end(EndReason::Garbled),
            }
        }
        self.assembler = assembler;
    }

    fn handle_payload(&mut self, now: Instant, payload: &Payload<'_>) {
        self.uplink.heard(now);
        for object in payload.objects() {
            self.uplink.traffic.messages_in += 1;
            match object {
                Object::Success { action, message } => {
                    let success = self.actions.handle_success(action, message.bytes());
                    self.counters.unasked_answer += u64::from(success.is_err());
                    self.settle(now);
                }
                Object::Failure { action, reason } => {
                    let failure = self.actions.handle_failure(now, action, reason);
                    self.counters.unasked_answer += u64::from(failure.is_err());
                    self.settle(now);
                }
                other => self.handle_object(now, payload.timestamp, &other),
            }
            if self.is_ended() {
                return;
            }
        }
        // What a stream says cannot be dropped, and must not pile up.
        if self.events.len() > EVENTS_WAITING {
            self.end(EndReason::FellBehind);
        }
    }

    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if self.is_ended() {
            return;
        }
        if from != self.config.server {
            self.counters.stranger += 1;
            return;
        }
        if self.events.len() >= EVENTS_WAITING {
            self.counters.overrun += 1;
            return;
        }
        let Ok(payload) = Payload::decode(bytes, Sender::Server) else {
            self.counters.undecodable += 1;
            return;
        };
        self.uplink.traffic.received(bytes.len());
        self.uplink.heard_datagram(now);
        self.clock.add_arrival(now, payload.timestamp);
        self.uplink.updates.add(now);
        for object in payload.objects() {
            self.uplink.traffic.messages_in += 1;
            match object {
                Object::Success { action, .. } => self.handle_input_answer(now, action, None),
                Object::Failure { action, reason } => {
                    self.handle_input_answer(now, action, Some(reason));
                }
                // Anybody can write a datagram that says that a client must go, or who said what.
                Object::Event { event, .. }
                    if self.config.registry.event(event) == Some(Delivery::Assured) =>
                {
                    self.counters.wrong_path += 1;
                }
                other => self.handle_object(now, payload.timestamp, &other),
            }
            if self.is_ended() {
                return;
            }
        }
    }

    /// An answer by UDP. It belongs to no sending in particular.
    fn handle_input_answer(&mut self, now: Instant, action: ActionId, reason: Option<Reason>) {
        let is_input = self
            .config
            .registry
            .action(action)
            .is_some_and(|used| used.delivery == Delivery::Instant);
        match (action, reason) {
            (ActionId::ATTACH, None) => self.handle_attached(now),
            (ActionId::ATTACH, Some(_)) => self.counters.attach_refused += 1,
            _ if !is_input => self.counters.unasked_answer += 1,
            (_, None) => {}
            (_, Some(reason)) => {
                if reason == Reason::Disabled {
                    self.disabled_inputs.insert(action);
                    self.inputs.remove(&action);
                }
                self.events
                    .push_back(ClientEvent::InputRefused { action, reason });
            }
        }
    }

    fn handle_attached(&mut self, now: Instant) {
        // The answer to one showing of several does not tell how long it took.
        if let Some((1, first)) = self.attach_tries.take() {
            self.uplink.round_trip.add_sample(now.since(first));
        }
        if self.phase == Phase::Attaching {
            self.enter(now, Phase::Playing);
            self.events.push_back(ClientEvent::Attached);
        }
    }

    /// What means the same on both paths.
    fn handle_object(&mut self, now: Instant, timestamp: u32, object: &Object<'_>) {
        match *object {
            Object::State { state, value } => self.handle_state(timestamp, state, value),
            Object::Event { event, data } if event.name().is_some() => {
                let heard = self.handle_builtin_event(now, timestamp, event, data);
                self.counters.bad_data += u64::from(heard.is_err());
            }
            Object::Event { event, data } => match self.config.registry.event(event) {
                Some(_) => self.events.push_back(ClientEvent::Happened {
                    event,
                    timestamp,
                    data: data.bytes().into(),
                }),
                None => self.counters.unknown_event += 1,
            },
            // Answers are heard by path; what only clients send did not decode.
            _ => {}
        }
    }

    fn handle_state(&mut self, timestamp: u32, state: StateId, value: Data<'_>) {
        let registry = &self.config.registry;
        if !registry.allows_state(state.component, value.bytes().len()) {
            self.counters.bad_data += 1;
            return;
        }
        match self.world.update(timestamp, state, value) {
            Ok(()) => {}
            Err(Ignored::Stale) => self.counters.stale += 1,
            Err(Ignored::UnknownEntity) => self.counters.unknown_entity += 1,
        }
    }

    /// One of the protocol's own events.
    fn handle_builtin_event(
        &mut self,
        now: Instant,
        timestamp: u32,
        event: EventId,
        data: Data<'_>,
    ) -> Result<(), tickwire_wire::DecodeError> {
        match event {
            EventId::SUMMON => {
                let summon = Summon::decode(data.bytes())?;
                self.world.summon(timestamp, summon);
                self.events.push_back(ClientEvent::Summoned(summon.entity));
            }
            EventId::DISMISS => {
                let id = decode_actor(data.bytes())?;
                match self.world.dismiss(id) {
                    Some(gone) => self.events.push_back(ClientEvent::Dismissed(id, gone)),
                    None => self.counters.unknown_entity += 1,
                }
            }
            EventId::CLIENT_JOIN => {
                let actor = decode_actor(data.bytes())?;
                match self.world.set_actor(actor, true) {
                    Some(()) => self.events.push_back(ClientEvent::ActorJoined(actor)),
                    None => self.counters.unknown_entity += 1,
                }
            }
            EventId::CLIENT_LEAVE => {
                let actor = decode_actor(data.bytes())?;
                if Some(actor) == self.actor {
                    self.end(EndReason::Removed);
                } else if self.world.set_actor(actor, false).is_some() {
                    self.events.push_back(ClientEvent::ActorLeft(actor));
                } else {
                    self.counters.unknown_entity += 1;
                }
            }
            _ => {
                let piece = Piece::decode(data.bytes())?;
                self.handle_piece(now, &piece);
            }
        }
        Ok(())
    }
}
