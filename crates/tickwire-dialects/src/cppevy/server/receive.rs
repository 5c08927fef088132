//! What a payload of a client makes the server do.

use alloc::vec::Vec;

use tickwire_session::bulk::Sending;
use tickwire_session::{Addr, Denied, Instant, Reason, StreamId};

use super::action_queue::{LineId, Via};
use super::peer::{Peer, Stage};
use super::{Audience, Departure, Server, ServerEvent};
use crate::cppevy::limits::{EVENTS_WAITING, STRANGER_ANSWERS};
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
        let Some(peer) = self.peers.get_mut(&on) else {
            return;
        };
        peer.traffic.received(bytes.len());
        if matches!(peer.stage, Stage::Closing { .. }) {
            return;
        }
        // The assembler is lent to the loop, so that a payload can be read from it while the peer is
        // changed by what it says.
        let mut assembler = core::mem::take(&mut peer.assembler);
        let outcome = loop {
            match assembler.next(&mut bytes) {
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
                Ok(Some(bytes)) => match Payload::decode(bytes, Sender::Client) {
                    Err(error) => break Err(error),
                    Ok(payload) => {
                        let hear = |server: &mut Self, peer: &mut Peer| {
                            server.hear(now, on, peer, &payload)
                        };
                        if let Some(Err(why)) = self.with_peer(on, hear) {
                            return self.close(now, on, why);
                        }
                    }
                },
            }
        };
        match (outcome, self.peers.get_mut(&on)) {
            (Ok(()), Some(peer)) => peer.assembler = assembler,
            (Err(_), Some(_)) => {
                self.counters.undecodable_stream += 1;
                self.close(now, on, Departure::Garbled);
            }
            (_, None) => {}
        }
    }

    /// Works through a payload that came by stream. An error says why the client is to go.
    fn hear(
        &mut self,
        now: Instant,
        on: StreamId,
        peer: &mut Peer,
        payload: &Payload<'_>,
    ) -> Result<(), Departure> {
        peer.last_heard = now;
        for object in payload.objects() {
            peer.traffic.messages_in += 1;
            self.handle_object(now, on, peer, Via::Stream, &object)?;
        }
        // Answers are made faster than they are sent, so waiting for the next sweep would bound
        // nothing.
        if peer.is_behind() {
            return Err(Departure::FellBehind);
        }
        Ok(())
    }

    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if let Some(on) = self.attachments.peer_at(from)
            && let Some(peer) = self.peers.get_mut(&on)
        {
            peer.traffic.received(bytes.len());
        }
        let Ok(payload) = Payload::decode(bytes, Sender::Client) else {
            self.counters.undecodable_datagram += 1;
            if let Some(on) = self.attachments.peer_at(from)
                && let Some(peer) = self.peers.get_mut(&on)
            {
                peer.refused += 1;
            }
            return;
        };
        let is_empty = payload.objects().next().is_none();
        if is_empty && self.attachments.peer_at(from).is_none() {
            self.counters.stranger += 1;
        }
        let mut refusals = 0;
        for object in payload.objects() {
            // An Attach in this very payload makes the address known to the objects behind it.
            match (object, self.attachments.peer_at(from)) {
                (Object::Action { action, data }, _) if action == ActionId::ATTACH => {
                    if self.attach(now, from, data).is_err() {
                        refusals += 1;
                    }
                }
                (_, None) => self.counters.stranger += 1,
                (_, Some(on)) => {
                    let hear = |server: &mut Self, peer: &mut Peer| {
                        peer.traffic.messages_in += 1;
                        server.handle_object(now, on, peer, Via::Datagrams, &object)
                    };
                    if let Some(Err(why)) = self.with_peer(on, hear) {
                        self.close(now, on, why);
                    }
                }
            }
        }
        if let Some(on) = self.attachments.peer_at(from)
            && let Some(peer) = self.peers.get_mut(&on)
        {
            peer.last_heard = now;
        }
        self.refuse_attach(now, from, refusals);
    }

    /// Somebody shows a token. An error wants to be told.
    fn attach(&mut self, now: Instant, from: Addr, data: Data<'_>) -> Result<(), Refused> {
        let Ok(token) = decode_token(data.bytes()) else {
            self.counters.bad_data += 1;
            return Err(Refused);
        };
        match self.attachments.show(from, token) {
            Ok(attached) => {
                let timestamp = self.timestamp(now);
                let (action, message) = (ActionId::ATTACH, Data::EMPTY);
                self.news.close();
                if let Some(peer) = self.peers.get_mut(&attached.peer) {
                    let object = Object::Success { action, message };
                    peer.tell(Via::Datagrams, timestamp, &object);
                    peer.datagrams.attach(from, &self.entities, &self.news);
                }
                Ok(())
            }
            // An answer would tell a third party that the token is right.
            Err(Denied::OtherHost) => {
                self.counters.token_from_elsewhere += 1;
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
        let timestamp = self.timestamp(now);
        if let Some(on) = self.attachments.peer_at(from)
            && let Some(peer) = self.peers.get_mut(&on)
        {
            peer.refused += 1;
            let (action, reason) = (ActionId::ATTACH, Reason::Error);
            for _ in 0..refusals {
                let object = Object::Failure { action, reason };
                peer.tell(Via::Datagrams, timestamp, &object);
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
        on: StreamId,
        peer: &mut Peer,
        via: Via,
        object: &Object<'_>,
    ) -> Result<(), Departure> {
        match *object {
            _ if matches!(peer.stage, Stage::Closing { .. }) => Ok(()),
            Object::StateRequest { state } => {
                self.handle_state_request(now, on, peer, state);
                Ok(())
            }
            Object::Action { action, data } => {
                self.handle_action(now, on, peer, LineId { action, via }, data)
            }
            // A payload with a kind that only servers send did not decode.
            _ => Ok(()),
        }
    }

    fn handle_state_request(
        &mut self,
        now: Instant,
        on: StreamId,
        peer: &mut Peer,
        state: StateId,
    ) {
        let known = peer.actor().is_some()
            && self.attachments.addr_of(on).is_some()
            && self.entities.has_state(state.descriptor());
        if known && peer.requests.honour(now).is_some() {
            peer.datagrams.request(state);
        } else {
            self.counters.request_ignored += 1;
        }
    }

    fn handle_action(
        &mut self,
        now: Instant,
        on: StreamId,
        peer: &mut Peer,
        line: LineId,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let verdict = match line.action {
            ActionId::DISABLED => Err(Reason::Disabled),
            ActionId::JOIN => return self.handle_join(now, on, peer, line.via, data),
            _ if peer.actor().is_none() => Err(Reason::Unavailable),
            // A token is shown by the path that it is for, and anybody can forge a datagram that
            // says Leave.
            ActionId::ATTACH => Err(self.wrong_path()),
            ActionId::LEAVE if line.via == Via::Datagrams => Err(self.wrong_path()),
            ActionId::ASSET => self.handle_asset_request(peer, data),
            ActionId::LEAVE if data.bytes().is_empty() => {
                self.answer_own(now, peer, line, Ok(Vec::new()));
                return Err(Departure::Left);
            }
            ActionId::LEAVE => Err(self.bad_data()),
            action => match self.config.registry.action(action) {
                None => {
                    self.counters.unknown_action += 1;
                    Err(Reason::Error)
                }
                Some(used) if !used.enabled => Err(Reason::Disabled),
                Some(_) => return self.handle_game_action(now, on, peer, line, data),
            },
        };
        self.answer_own(now, peer, line, verdict);
        Ok(())
    }

    fn handle_game_action(
        &mut self,
        now: Instant,
        on: StreamId,
        peer: &mut Peer,
        line: LineId,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let behind = self.events.len() >= EVENTS_WAITING;
        match peer.actions.accept(now, line, data.bytes(), behind) {
            Ok(None) => self.take_turns(now, on, peer, line),
            Ok(Some(reason)) => self.answer_own(now, peer, line, Err(reason)),
            Err(_) => return Err(Departure::FellBehind),
        }
        Ok(())
    }

    /// What an action of the protocol gets whose data makes no sense.
    const fn bad_data(&mut self) -> Reason {
        self.counters.bad_data += 1;
        Reason::Error
    }

    /// What an action of the protocol gets that came by the path that it does not go by.
    const fn wrong_path(&mut self) -> Reason {
        self.counters.wrong_path += 1;
        Reason::Error
    }

    fn answer_own(&mut self, now: Instant, peer: &mut Peer, line: LineId, verdict: Verdict) {
        let action = line.action;
        let message = verdict.as_ref().map(Vec::as_slice).unwrap_or_default();
        let object = match verdict {
            Ok(_) => Object::Success {
                action,
                message: Data::new(message).unwrap_or_default(),
            },
            Err(reason) => {
                peer.refused += u64::from(reason == Reason::Error);
                self.counters.busy += u64::from(reason == Reason::Busy);
                Object::Failure { action, reason }
            }
        };
        peer.tell(line.via, self.timestamp(now), &object);
    }

    fn handle_join(
        &mut self,
        now: Instant,
        on: StreamId,
        peer: &mut Peer,
        via: Via,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let action = ActionId::JOIN;
        let joined = match Join::decode(data.bytes()) {
            Err(_) => Err(self.bad_data()),
            Ok(_) if !matches!(peer.stage, Stage::Open) => Err(Reason::Unavailable),
            Ok(_) if self.events.len() >= EVENTS_WAITING => Err(Reason::Busy),
            Ok(join) => self.place(now, on, peer, join),
        };
        let verdict = joined.map(|joined| encode(|w| joined.encode(w)));
        let welcome = verdict.is_ok();
        self.answer_own(now, peer, LineId { action, via }, verdict);
        if welcome {
            self.introduce(now, peer);
        }
        Ok(())
    }

    /// Gives a client an entity, if there is one.
    fn place(
        &mut self,
        now: Instant,
        on: StreamId,
        peer: &mut Peer,
        join: Join<'_>,
    ) -> Result<Joined, Reason> {
        let most = self.config.clients.map_or(usize::MAX, usize::from);
        let entity = (self.actors.len() < most)
            .then(|| self.ids.give(now))
            .flatten();
        let Some(actor) = entity else {
            self.counters.full += 1;
            return Err(Reason::Unavailable);
        };
        let archetype = self.config.actor;
        self.add_entity(
            now,
            Summon {
                entity: actor,
                archetype,
            },
        );
        let joined = EntityEvent::new(EventId::CLIENT_JOIN, actor);
        self.tell(now, Audience::All, Via::Stream, &joined.object());
        self.actors.insert(actor, on);
        self.lobby.leave(peer.as_visitor(on));
        let name = join.name.into();
        self.events.push_back(ServerEvent::Joined {
            actor,
            name: join.name.into(),
        });
        peer.stage = Stage::Joined {
            actor,
            name,
            since: self.moment(now),
        };
        let token = self.attachments.issue(on, peer.addr.host);
        Ok(Joined { actor, token })
    }

    /// Tells a new client what there is, itself included, and who else plays.
    fn introduce(&mut self, now: Instant, peer: &mut Peer) {
        let timestamp = self.timestamp(now);
        for summon in self.entities.iter() {
            let data = encode(|w| summon.encode(w));
            let (event, data) = (EventId::SUMMON, Data::new(&data).unwrap_or_default());
            peer.tell(Via::Stream, timestamp, &Object::Event { event, data });
        }
        for &actor in self.actors.keys() {
            if Some(actor) != peer.actor() {
                let other = EntityEvent::new(EventId::CLIENT_JOIN, actor);
                peer.tell(Via::Stream, timestamp, &other.object());
            }
        }
    }

    fn handle_asset_request(&mut self, peer: &mut Peer, data: Data<'_>) -> Verdict {
        let Ok(request) = AssetRequest::decode(data.bytes()) else {
            return Err(self.bad_data());
        };
        let bytes = self.assets.get(request.name).ok_or(Reason::Unavailable)?;
        if peer.transfer.is_some() {
            return Err(Reason::Busy);
        }
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let transfer = Sending::new(request.name, bytes.clone(), request.offset.into());
        // Beyond the end there is nothing to send.
        peer.transfer = transfer.ok().filter(|transfer| transfer.rest() > 0);
        Ok(size.to_le_bytes().into())
    }
}
