//! The server: entities with states for everybody, events, and an answer to every action.
//!
//! In: streams and datagrams, and from the game entities with their states, events, and decisions
//! about actions. Out: payloads, and for the game who joined, what each wants done, who left. The
//! protocol's own actions (Join, Attach, Asset, Leave) are answered here; what any other means is the
//! game's. The entity of a client comes with it and goes with it, and everything else that there is
//! the game summons.

mod answer;
mod assets;
mod block;
mod datagrams;
mod depart;
mod desk;
mod entities;
mod event;
mod lobby;
mod news;
mod peer;
mod receive;
mod requests;
mod sending;
mod sync_ids;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::RangeBounds;

use tickwire_session::{
    Addr, Attachments, Ended, Events, Instant, Path, PeerStats, Reason, Room, Session, StreamId,
    Transmit,
};

use super::limits::{AHEAD, STATE_PERIOD};
use super::message::{Data, EntityEvent, Object, PayloadWriter, Summon, encode};
use super::{ActionId, Archetype, Component, Delivery, EventId, Registry, SyncId, Writer};
use assets::Assets;
use datagrams::Told;
use desk::Via;
use entities::Entities;
use lobby::Lobby;
use news::News;
use peer::{Peer, Stage};
use sending::Sending;
use sync_ids::SyncIds;

pub use assets::BadAsset;
pub(super) use assets::INDEX;
pub use event::{
    ActionToken, Answer, Audience, Departure, NoFreeId, PublishError, ServerCounters, ServerEvent,
};

/// How a server is set up.
#[derive(Clone, Debug, Default)]
pub struct ServerConfig {
    /// The game's events and actions.
    pub registry: Registry,
    /// What the entity of a client is.
    pub actor: Archetype,
    /// How many clients may play; `None`: as many as there are sync ids.
    pub clients: Option<u16>,
}

/// A C++evy server.
#[derive(Debug)]
pub struct Server {
    began: Instant,
    config: ServerConfig,
    ids: SyncIds,
    entities: Entities,
    peers: BTreeMap<StreamId, Peer>,
    lobby: Lobby,
    actors: BTreeMap<SyncId, StreamId>,
    attachments: Attachments<StreamId>,
    assets: Assets,
    /// Addresses that are not attached, and how many tokens of each are to be refused.
    strangers: VecDeque<(Addr, usize)>,
    /// Ends of streams that nothing is left to tell.
    refused_streams: VecDeque<Transmit>,
    next_send: Instant,
    /// The game has said something about entities since the last sending.
    is_fresh: bool,
    sending: Sending,
    news: News,
    /// Whose turn to send it is: those before have nothing to say.
    polled: Option<StreamId>,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
}

impl Server {
    /// A server without clients or entities, whose clock begins now. The secret keeps tokens from
    /// being guessed.
    pub fn new(now: Instant, secret: [u8; 32], config: ServerConfig) -> Self {
        Self {
            began: now,
            config,
            ids: SyncIds::new(),
            entities: Entities::default(),
            peers: BTreeMap::new(),
            lobby: Lobby::default(),
            actors: BTreeMap::new(),
            attachments: Attachments::new(secret),
            assets: Assets::new(),
            strangers: VecDeque::new(),
            refused_streams: VecDeque::new(),
            next_send: now,
            is_fresh: false,
            sending: Sending::default(),
            news: News::default(),
            polled: None,
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            closing: false,
        }
    }

    /// Puts an entity into everybody's world. It can be seen once it has a state.
    pub fn summon(&mut self, now: Instant, archetype: Archetype) -> Result<SyncId, NoFreeId> {
        let entity = self.ids.give(now).ok_or(NoFreeId)?;
        self.add_entity(now, Summon { entity, archetype });
        Ok(entity)
    }

    /// Takes an entity out of everybody's world. One that is gone already is no mistake; a client's
    /// own stays as long as the client.
    pub fn dismiss(&mut self, now: Instant, entity: SyncId) {
        if !self.actors.contains_key(&entity) {
            self.remove_entity(now, entity);
        }
    }

    /// Says what is true of an entity from now on. One that is gone is no mistake.
    pub fn set_state(
        &mut self,
        entity: SyncId,
        component: Component,
        value: &[u8],
    ) -> Result<(), PublishError> {
        let value = Data::new(value).ok_or(PublishError::TooLong)?;
        let registry = &self.config.registry;
        if !registry.allows_state(component, value.bytes().len()) {
            return Err(PublishError::WrongLength);
        }
        self.entities.set(entity, component, value);
        self.is_fresh = true;
        Ok(())
    }

    /// Says that something happened now, by the path that the event is registered for.
    pub fn event(
        &mut self,
        now: Instant,
        to: Audience,
        event: EventId,
        data: &[u8],
    ) -> Result<(), PublishError> {
        let data = Data::new(data).ok_or(PublishError::TooLong)?;
        let delivery = match event.name() {
            Some(_) => None,
            None => self.config.registry.event(event),
        };
        let via = match delivery.ok_or(PublishError::NotRegistered)? {
            Delivery::Instant => Via::Datagrams,
            Delivery::Assured => Via::Stream,
        };
        self.tell(now, to, via, &Object::Event { event, data });
        Ok(())
    }

    /// Offers an asset, in place of one that had this name.
    pub fn add_asset(&mut self, name: &str, bytes: &[u8]) -> Result<(), BadAsset> {
        self.assets.add(name, bytes)
    }

    /// Sets how many clients may play from now on. Those who play stay, even if they are more.
    pub const fn set_places(&mut self, clients: u16) {
        self.config.clients = Some(clients);
    }

    /// Sends a client away.
    pub fn kick(&mut self, now: Instant, actor: SyncId) {
        if let Some(&on) = self.actors.get(&actor) {
            self.send_away(now, on, Departure::Kicked);
        }
    }

    /// The clients that play, with their names.
    pub fn actors(&self) -> impl Iterator<Item = (SyncId, &str)> {
        self.peers.values().filter_map(|peer| match &peer.stage {
            Stage::Joined { actor, name, .. } => Some((*actor, &**name)),
            Stage::Open | Stage::Closing { .. } => None,
        })
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    fn add_entity(&mut self, now: Instant, summon: Summon) {
        self.entities.add(summon, self.moment(now));
        let data = encode(|w| summon.encode(w));
        let (event, data) = (EventId::SUMMON, Data::new(&data).unwrap_or_default());
        self.tell(
            now,
            Audience::All,
            Via::Stream,
            &Object::Event { event, data },
        );
    }

    fn remove_entity(&mut self, now: Instant, entity: SyncId) {
        if self.entities.remove(entity).is_some() {
            self.ids.release(now, entity);
            let dismiss = EntityEvent::new(EventId::DISMISS, entity);
            self.tell(now, Audience::All, Via::Stream, &dismiss.object());
        }
    }

    /// Tells every client that plays and is meant of something that happened.
    fn tell(&mut self, now: Instant, to: Audience, via: Via, event: &Object<'_>) {
        let timestamp = self.timestamp(now);
        if (via, to) == (Via::Datagrams, Audience::All) {
            self.counters.overrun += self.news.push(timestamp, event);
            return;
        }
        if via == Via::Datagrams {
            self.news.close();
        }
        let mut bytes = Vec::new();
        event.encode(&mut Writer::new(&mut bytes, usize::MAX));
        let meant = |peer: &&mut Peer| peer.actor().is_some_and(|actor| to.includes(actor));
        for peer in self.peers.values_mut().filter(meant) {
            match via {
                Via::Stream => peer.stream.push_encoded(timestamp, &bytes),
                Via::Datagrams if peer.datagrams.to().is_none() => {}
                Via::Datagrams => {
                    peer.datagrams.take_over(&self.news);
                    peer.datagrams.tell_encoded(timestamp, &bytes);
                }
            }
        }
    }

    /// Works on a peer that is out of the table meanwhile, since what it does concerns the others.
    fn with_peer<T>(
        &mut self,
        on: StreamId,
        work: impl FnOnce(&mut Self, &mut Peer) -> T,
    ) -> Option<T> {
        let mut peer = self.peers.remove(&on)?;
        let result = work(self, &mut peer);
        self.peers.insert(on, peer);
        Some(result)
    }

    /// Begins a sending: what changed, and what is to be repeated, to everybody.
    fn send(&mut self, now: Instant) {
        self.is_fresh = false;
        self.next_send = self.next_send.next_due(STATE_PERIOD, now);
        let moment = self.moment(now);
        let due = self.entities.take_due(now, moment);
        for peer in self.peers.values_mut() {
            self.counters.overrun += peer.datagrams.take_lost();
            peer.datagrams.end_sending(&self.sending);
            peer.begin_sending(moment);
        }
        self.sending.begin(&due);
    }

    /// What the first of these peers has to say that has something.
    fn poll_peers(
        &mut self,
        now: Instant,
        range: impl RangeBounds<StreamId>,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let timestamp = self.timestamp(now);
        let told = Told {
            entities: &self.entities,
            sending: &self.sending,
            news: &self.news,
        };
        for (&on, peer) in self.peers.range_mut(range) {
            if peer.write_stream(now, timestamp, out).is_some() {
                self.polled = Some(on);
                return Some(Transmit::Stream { on });
            }
            if let Some(to) = peer.write_datagram(now, timestamp, told, out) {
                self.polled = Some(on);
                return Some(Transmit::Datagram { to });
            }
        }
        None
    }

    /// Milliseconds of the server's clock.
    fn moment(&self, now: Instant) -> u64 {
        u64::try_from(now.since(self.began).as_millis()).unwrap_or(u64::MAX)
    }

    /// The same on the wire, where it wraps.
    fn timestamp(&self, now: Instant) -> u32 {
        now.wrapping_millis_since(self.began)
    }
}

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        if self.closing {
            self.refused_streams.push_back(Transmit::Finish { on });
            return;
        }
        self.next_send = self.next_send.max(now);
        let peer = Peer::new(now, peer);
        if let Some(gone) = self.lobby.enter(peer.as_visitor(on)) {
            self.counters.too_many_streams += 1;
            self.forget(gone);
            // It has said nothing that matters, and waiting for it to close would keep its place.
            self.refused_streams.push_back(Transmit::Abort { on: gone });
        }
        self.peers.insert(on, peer);
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        // Datagrams are smaller than what any path takes.
        if let Path::Stream(on) = path
            && let Some(peer) = self.peers.get_mut(&on)
        {
            peer.stream.set_room(room);
        }
    }

    fn handle_closed(&mut self, now: Instant, path: Path, _why: Ended) {
        // Nobody's datagrams end a session: an address may come back.
        if let Path::Stream(on) = path {
            self.close(now, on, Departure::Disconnected);
            self.forget(on);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.next_send {
            return;
        }
        self.sweep(now);
        self.send(now);
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.is_fresh && now + AHEAD >= self.next_send && !self.actors.is_empty() {
            self.sweep(now);
            self.send(now);
        }
        let timestamp = self.timestamp(now);
        if let Some((to, refusals)) = self.strangers.pop_front() {
            let mut payload = PayloadWriter::new(out, timestamp);
            let (action, reason) = (ActionId::ATTACH, Reason::Error);
            for _ in 0..refusals {
                // A refusal is no longer than what it refuses, so they fit as that did.
                payload.push(&Object::Failure { action, reason }).ok();
            }
            payload.finish();
            return Some(Transmit::Datagram { to });
        }
        if self.sending.encode(timestamp, &self.entities) {
            for peer in self.peers.values_mut() {
                peer.datagrams.take_part(&self.sending);
            }
        }
        self.news.close();
        // Looking at everybody again for every datagram would cost more than the datagrams.
        let begin = self.polled.take();
        let transmit = match begin {
            Some(begin) => self
                .poll_peers(now, begin.., out)
                .or_else(|| self.poll_peers(now, ..begin, out)),
            None => self.poll_peers(now, .., out),
        };
        if transmit.is_none() {
            self.news.clear();
        }
        transmit.or_else(|| self.poll_ended_stream(now))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let next = self.peers.values().map(Peer::deadline).min()?;
        Some(next.min(self.next_send))
    }

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        self.news.close();
        let timestamp = self.timestamp(now);
        for (&on, peer) in &mut self.peers {
            if let Some(actor) = peer.actor() {
                peer.tell(
                    Via::Stream,
                    timestamp,
                    &EntityEvent::new(EventId::CLIENT_LEAVE, actor).object(),
                );
            }
            peer.close(now, Departure::ShutDown, &self.news);
            self.attachments.remove(on);
        }
        while let Some((&actor, _)) = self.actors.first_key_value() {
            self.leave_world(now, actor, Departure::ShutDown);
        }
    }

    fn is_finished(&self) -> bool {
        self.peers.is_empty() && self.refused_streams.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for peer in self.peers.values() {
            visit(&peer.stats());
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Server {
    type Event = ServerEvent;

    fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }
}
