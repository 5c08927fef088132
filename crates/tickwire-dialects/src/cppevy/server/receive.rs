//! What a payload of a client makes the server do.
//!
//! In: stretches of streams, and datagrams. Out: answers to the protocol's own actions, and the game's
//! actions in the [`action_queue`](super::action_queue) of their client. A payload that does not
//! decode changes nothing but counters; on a stream it ends the session.

use alloc::vec::Vec;

use tickwire_session::bulk::Sending;
use tickwire_session::{Addr, Denied, Instant, NotAdmitted, PeerId, Reason, StreamId};

use super::action_queue::{LineId, Via};
use super::client_state::Stage;
use super::{Audience, Departure, Server, ServerEvent};
use crate::cppevy::limits::{EVENTS_WAITING, KEEP_ALIVE, STRANGER_ANSWERS};
use crate::cppevy::message::{
    AssetRequest, Data, EntityEvent, Join, Joined, Object, Payload, Sender, Summon, decode_token,
    encode,
};
use crate::cppevy::{ActionId, EventId, StateId};

/// A token was not accepted, and whoever showed it may know.
struct Refused;

/// What becomes of one of the protocol's own actions.
type Verdict = Result<Vec<u8>, Reason>;

impl Server {
    pub(super) fn receive_stream(&mut self, now: Instant, on: StreamId, mut bytes: &[u8]) {
        let Some(id) = self.peers.on_stream(on) else {
            return;
        };
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        peer.link.traffic.received(bytes.len());
        if peer.link.is_closing() {
            return;
        }
        // The assembler is lent to the loop, so that a payload can be read from it while the client is
        // changed by what it says.
        let mut assembler = core::mem::take(&mut peer.state.assembler);
        loop {
            let payload = match assembler.next(&mut bytes) {
                Ok(None) => break,
                Ok(Some(payload)) => Payload::decode(payload, Sender::Client),
                Err(error) => Err(error),
            };
            let Ok(payload) = payload else {
                self.counters.undecodable_stream += 1;
                return self.close(now, id, Departure::Garbled);
            };
            if let Err(why) = self.handle_payload(now, id, &payload) {
                return self.close(now, id, why);
            }
        }
        if let Some(peer) = self.peers.get_mut(id) {
            peer.state.assembler = assembler;
        }
    }

    /// Works through a payload that came by stream. An error says why the client is to go.
    fn handle_payload(
        &mut self,
        now: Instant,
        id: PeerId,
        payload: &Payload<'_>,
    ) -> Result<(), Departure> {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.link.last_heard = now;
        }
        for object in payload.objects() {
            self.handle_object(now, id, Via::Stream, &object)?;
        }
        // Answers are made faster than they are sent, so waiting for the next sending would bound
        // nothing.
        match self.peers.get(id) {
            Some(peer) if peer.state.is_behind() => Err(Departure::FellBehind),
            _ => Ok(()),
        }
    }

    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        let holder = self.peers.at_addr(from);
        let payload = Payload::decode(bytes, Sender::Client);
        if let Some(peer) = holder.and_then(|id| self.peers.get_mut(id)) {
            peer.link.traffic.received(bytes.len());
            peer.link.refused += u64::from(payload.is_err());
        }
        let Ok(payload) = payload else {
            self.counters.undecodable_datagram += 1;
            return;
        };
        if holder.is_none() && payload.objects().next().is_none() {
            self.counters.stranger += 1;
        }
        let mut refusals = 0;
        for object in payload.objects() {
            // An Attach in this very payload makes the address known to the objects behind it.
            match (object, self.peers.at_addr(from)) {
                (Object::Action { action, data }, _) if action == ActionId::ATTACH => {
                    refusals += usize::from(self.attach(now, from, data).is_err());
                }
                (_, None) => self.counters.stranger += 1,
                (_, Some(id)) => {
                    if let Err(why) = self.handle_object(now, id, Via::Datagrams, &object) {
                        self.close(now, id, why);
                    }
                }
            }
        }
        let holder = self.peers.at_addr(from);
        if let Some(peer) = holder.and_then(|id| self.peers.get_mut(id)) {
            peer.link.last_heard = now;
        }
        self.refuse_attach(now, from, refusals);
    }

    /// Somebody shows a token. An error wants to be told.
    fn attach(&mut self, now: Instant, from: Addr, data: Data<'_>) -> Result<(), Refused> {
        let Ok(token) = decode_token(data.bytes()) else {
            self.counters.bad_data += 1;
            return Err(Refused);
        };
        match self.peers.show_token(now, from, token) {
            Ok(attached) => {
                let (action, message) = (ActionId::ATTACH, Data::EMPTY);
                let object = Object::Success { action, message };
                self.tell_one(now, attached.peer, Via::Datagrams, &object);
                self.news.close();
                if let Some(peer) = self.peers.get_mut(attached.peer) {
                    let datagrams = &mut peer.state.datagrams;
                    datagrams.attach(attached.moved, &self.entities, &self.news);
                }
                self.peers.bring_forward(attached.peer, now + KEEP_ALIVE);
                Ok(())
            }
            // An answer would tell a third party that the token is right.
            Err(Denied::OtherHost) => {
                self.counters.token_from_elsewhere += 1;
                Ok(())
            }
            Err(Denied::TooMany) => {
                self.counters.token_ignored += 1;
                Ok(())
            }
            Err(Denied::NotTheirOwn) => {
                self.counters.foreign_token += 1;
                Err(Refused)
            }
            Err(Denied::Unknown) => {
                self.counters.wrong_token += 1;
                Err(Refused)
            }
        }
    }

    /// Answers tokens that were refused, all of a datagram in one: so an address that has proved
    /// nothing never gets more bytes than it sent.
    fn refuse_attach(&mut self, now: Instant, from: Addr, refusals: usize) {
        if refusals == 0 {
            return;
        }
        if let Some(id) = self.peers.at_addr(from) {
            let (action, reason) = (ActionId::ATTACH, Reason::Error);
            for _ in 0..refusals {
                self.tell_one(now, id, Via::Datagrams, &Object::Failure { action, reason });
            }
            if let Some(peer) = self.peers.get_mut(id) {
                peer.link.refused += 1;
            }
        } else if self.strangers.len() < STRANGER_ANSWERS {
            self.strangers.push_back((from, refusals));
        } else {
            self.counters.overrun += 1;
        }
    }

    /// Decides about an object of a client. An error says why the client is to go.
    fn handle_object(
        &mut self,
        now: Instant,
        id: PeerId,
        via: Via,
        object: &Object<'_>,
    ) -> Result<(), Departure> {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.link.traffic.messages_in += 1;
        }
        match *object {
            Object::StateRequest { state } => {
                self.handle_state_request(now, id, state);
                Ok(())
            }
            Object::Action { action, data } => {
                self.handle_action(now, id, LineId { action, via }, data)
            }
            // A payload with a kind that only servers send did not decode.
            _ => Ok(()),
        }
    }

    fn handle_state_request(&mut self, now: Instant, id: PeerId, state: StateId) {
        let is_known = self.entities.has_state(state.descriptor());
        if let Some(peer) = self.peers.get_mut(id)
            && is_known
            && peer.link.datagrams().is_some()
            && peer.state.requests.take(now).is_some()
        {
            peer.state.datagrams.request(state);
        } else {
            self.counters.request_ignored += 1;
        }
    }

    fn handle_action(
        &mut self,
        now: Instant,
        id: PeerId,
        line: LineId,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let actor = self.peers.get(id).and_then(|peer| peer.state.actor());
        let verdict = match (line.action, actor) {
            (ActionId::DISABLED, _) => Err(Reason::Disabled),
            (ActionId::JOIN, _) => {
                self.handle_join(now, id, line, data);
                return Ok(());
            }
            (_, None) => Err(Reason::Unavailable),
            (ActionId::PIECE, Some(actor)) => self.handle_upload_piece(id, line, (actor, data)),
            (_, Some(_)) => return self.handle_joined_action(now, id, line, data),
        };
        self.answer_own(now, id, line, verdict);
        Ok(())
    }

    /// An action of a client that has joined.
    fn handle_joined_action(
        &mut self,
        now: Instant,
        id: PeerId,
        line: LineId,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let verdict = match line.action {
            // A token is shown by the path that it is for, and anybody can forge a datagram that
            // says Leave.
            ActionId::ATTACH => Err(self.wrong_path()),
            ActionId::LEAVE if line.via == Via::Datagrams => Err(self.wrong_path()),
            ActionId::ASSET => self.handle_asset_request(now, id, data),
            ActionId::OFFER => return self.handle_offer(now, id, line, data),
            ActionId::LEAVE if data.bytes().is_empty() => {
                self.answer_own(now, id, line, Ok(Vec::new()));
                return Err(Departure::Left);
            }
            ActionId::LEAVE => Err(self.bad_data()),
            action => match self.config.registry.action(action) {
                None => {
                    self.counters.unknown_action += 1;
                    Err(Reason::Error)
                }
                Some(used) if !used.enabled => Err(Reason::Disabled),
                Some(_) => return self.handle_game_action(now, id, line, data),
            },
        };
        self.answer_own(now, id, line, verdict);
        Ok(())
    }

    pub(super) fn handle_game_action(
        &mut self,
        now: Instant,
        id: PeerId,
        line: LineId,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let game_is_behind = self.events.len() >= EVENTS_WAITING;
        let Some(peer) = self.peers.get_mut(id) else {
            return Ok(());
        };
        let actions = &mut peer.state.actions;
        match actions.accept(now, line, data.bytes(), game_is_behind) {
            Ok(None) => self.take_turns(now, id, line),
            Ok(Some(reason)) => self.answer_own(now, id, line, Err(reason)),
            Err(_) => return Err(Departure::FellBehind),
        }
        Ok(())
    }

    /// What an action of the protocol gets whose data makes no sense.
    pub(super) const fn bad_data(&mut self) -> Reason {
        self.counters.bad_data += 1;
        Reason::Error
    }

    /// What an action of the protocol gets that came by the path that it does not go by.
    pub(super) const fn wrong_path(&mut self) -> Reason {
        self.counters.wrong_path += 1;
        Reason::Error
    }

    pub(super) fn answer_own(&mut self, now: Instant, id: PeerId, line: LineId, verdict: Verdict) {
        let action = line.action;
        let object = match &verdict {
            Ok(message) => Object::Success {
                action,
                message: Data::new(message).unwrap_or_default(),
            },
            Err(reason) => {
                self.counters.busy += u64::from(*reason == Reason::Busy);
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.link.refused += u64::from(*reason == Reason::Error);
                }
                let reason = *reason;
                Object::Failure { action, reason }
            }
        };
        self.tell_one(now, id, line.via, &object);
    }

    fn handle_join(&mut self, now: Instant, id: PeerId, line: LineId, data: Data<'_>) {
        let peer = self.peers.get(id);
        let is_open = peer.is_some_and(|peer| matches!(peer.state.stage, Stage::Open));
        let joined = match Join::decode(data.bytes()) {
            Err(_) => Err(self.bad_data()),
            Ok(_) if !is_open => Err(Reason::Unavailable),
            Ok(_) if self.events.len() >= EVENTS_WAITING => Err(Reason::Busy),
            Ok(join) => self.place(now, id, join),
        };
        let verdict = joined.map(|joined| encode(|w| joined.encode(w)));
        let is_welcome = verdict.is_ok();
        self.answer_own(now, id, line, verdict);
        if is_welcome {
            self.introduce(now, id);
            // Whoever has joined need not prove anything any more, and may fall silent at once.
            self.set_deadline(id);
        }
    }

    /// Gives a client an entity, if there is one and it may join now.
    fn place(&mut self, now: Instant, id: PeerId, join: Join<'_>) -> Result<Joined, Reason> {
        let most = self.config.clients.map_or(usize::MAX, usize::from);
        // What is full costs the host none of the joins that it is allowed.
        if self.actors.len() >= most || !self.ids.has_free(now) {
            self.counters.full += 1;
            return Err(Reason::Unavailable);
        }
        self.peers.admit(now, id).map_err(|why| {
            self.counters.too_many_joins += 1;
            match why {
                NotAdmitted::TooFast { .. } => Reason::Busy,
                NotAdmitted::Busy => Reason::Unavailable,
            }
        })?;
        let (Some(entity), Some(token)) = (self.ids.give(now), self.peers.issue_token(id)) else {
            return Err(Reason::Unavailable);
        };
        let archetype = self.config.actor;
        self.add_entity(now, Summon { entity, archetype });
        let joined = EntityEvent::new(EventId::CLIENT_JOIN, entity);
        self.tell(now, Audience::All, Via::Stream, &joined.object());
        self.actors.insert(entity, id);
        let (actor, name) = (entity, join.name.into());
        self.events.push_back(ServerEvent::Joined { actor, name });
        let since = self.moment(now);
        if let Some(peer) = self.peers.get_mut(id) {
            let name = join.name.into();
            peer.state.stage = Stage::Joined { actor, name, since };
        }
        Ok(Joined { actor, token })
    }

    /// Tells a new client what there is, itself included, and who else plays.
    fn introduce(&mut self, now: Instant, id: PeerId) {
        let timestamp = self.timestamp(now);
        let Some(peer) = self.peers.mark_ready(id) else {
            return;
        };
        for summon in self.entities.iter() {
            let data = encode(|w| summon.encode(w));
            let (event, data) = (EventId::SUMMON, Data::new(&data).unwrap_or_default());
            let object = Object::Event { event, data };
            peer.state.tell(Via::Stream, timestamp, &object);
        }
        for (&actor, _) in self.actors.iter().filter(|(_, other)| **other != id) {
            let other = EntityEvent::new(EventId::CLIENT_JOIN, actor);
            peer.state.tell(Via::Stream, timestamp, &other.object());
        }
    }

    fn handle_asset_request(&mut self, now: Instant, id: PeerId, data: Data<'_>) -> Verdict {
        let Ok(request) = AssetRequest::decode(data.bytes()) else {
            return Err(self.bad_data());
        };
        let bytes = self.assets.get(request.name).ok_or(Reason::Unavailable)?;
        let peer = self.peers.get_mut(id).ok_or(Reason::Unavailable)?;
        if peer.state.transfer.is_some() {
            return Err(Reason::Busy);
        }
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let transfer = Sending::new(request.name, bytes.clone(), request.offset.into());
        // Beyond the end there is nothing to send.
        peer.state.transfer = transfer.ok().filter(|transfer| transfer.rest() > 0);
        self.peers.bring_forward(id, now + KEEP_ALIVE);
        Ok(size.to_le_bytes().into())
    }
}
