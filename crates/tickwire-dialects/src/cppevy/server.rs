//! The server: entities with states for everybody, events, and an answer to every action.
//!
//! In: streams and datagrams, and from the game entities with their states, events, and decisions
//! about actions. Out: payloads, and for the game who joined, what each wants done, who left. The
//! protocol's own actions (Join, Attach, Asset, Leave) are answered here; what any other means is the
//! game's. The entity of a client comes with it and goes with it, and everything else that there is
//! the game summons.

mod action_queue;
mod answer;
mod assets;
mod block;
mod client_state;
mod datagrams;
mod depart;
mod entities;
mod event;
mod news;
mod receive;
mod sending;
mod sync_ids;
mod upload;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tickwire_session::bulk::Shelf;
use tickwire_session::{
    Addr, Ended, Events, Instant, Path, Peer, PeerId, PeerStats, Peers, Reason, Room, Session,
    StreamId, Transmit,
};

use super::limits::{AHEAD, NARROW_PATHS, STATE_PERIOD};
use super::message::{Data, EntityEvent, Object, PayloadWriter, Summon, encode};
use super::{ActionId, Archetype, Component, Delivery, EventId, Registry, SyncId, Writer};
use action_queue::Via;
use client_state::{ClientState, Stage};
use datagrams::Shared;
use entities::Entities;
use news::News;
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
    /// Bytes of content that a client may offer, up to [`UPLOAD_MAX`](super::limits::UPLOAD_MAX). 0: none
    /// is taken.
    pub uploads: u32,
}

/// A C++evy server.
#[derive(Debug)]
pub struct Server {
    began: Instant,
    config: ServerConfig,
    ids: SyncIds,
    entities: Entities,
    peers: Peers<ClientState>,
    actors: BTreeMap<SyncId, PeerId>,
    assets: Shelf,
    /// Addresses that are not attached, and how many tokens of each are to be refused.
    strangers: VecDeque<(Addr, usize)>,
    next_send: Instant,
    /// The game has said something about entities since the last sending.
    is_fresh: bool,
    sending: Sending,
    news: News,
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
            peers: Peers::new(now, secret, NARROW_PATHS),
            actors: BTreeMap::new(),
            assets: Shelf::new(INDEX),
            strangers: VecDeque::new(),
            next_send: now,
            is_fresh: false,
            sending: Sending::default(),
            news: News::default(),
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
        assets::insert(&mut self.assets, name, bytes)
    }

    /// Offers an asset no longer.
    pub fn remove_asset(&mut self, name: &str) {
        self.assets.remove(name);
    }

    /// Sets how many clients may play from now on. Those who play stay, even if they are more.
    pub const fn set_places(&mut self, clients: u16) {
        self.config.clients = Some(clients);
    }

    /// Sends a client away.
    pub fn kick(&mut self, now: Instant, actor: SyncId) {
        if let Some(&id) = self.actors.get(&actor) {
            self.send_away(now, id, Departure::Kicked);
        }
    }

    /// The clients that play, with their names.
    pub fn actors(&self) -> impl Iterator<Item = (SyncId, &str)> {
        let stages = self.peers.iter().map(|(_, peer)| &peer.state.stage);
        stages.filter_map(|stage| match stage {
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
        let news = &self.news;
        self.peers.mark_all_ready(|Peer { link, state }| {
            let meant = state.actor().is_some_and(|actor| to.includes(actor));
            match via {
                Via::Stream if meant => state.stream.push_encoded(timestamp, &bytes),
                Via::Datagrams if meant && link.datagrams().is_some() => {
                    state.datagrams.take_over(news);
                    state.datagrams.tell_encoded(timestamp, &bytes);
                }
                _ => return false,
            }
            true
        });
    }

    /// Queues an object for one client.
    fn tell_one(&mut self, now: Instant, id: PeerId, via: Via, object: &Object<'_>) {
        let timestamp = self.timestamp(now);
        if let Some(peer) = self.peers.mark_ready(id) {
            peer.state.tell(via, timestamp, object);
        }
    }

    /// Begins a sending: what changed, and what is to be repeated, to everybody who is attached.
    fn send(&mut self, now: Instant) {
        self.is_fresh = false;
        self.next_send = self.next_send.next_due(STATE_PERIOD, now);
        let moment = self.moment(now);
        let due = self.entities.take_due(now, moment);
        let mut behind = Vec::new();
        for (id, Peer { link, state }) in self.peers.iter_mut() {
            self.counters.overrun += state.datagrams.take_lost();
            if state.datagrams.end_sending(&self.sending) {
                link.updates.hold_back();
            }
            state.begin_sending(moment);
            if state.is_behind() {
                behind.push(id);
            }
        }
        self.sending.begin(&due);
        for id in behind {
            self.close(now, id, Departure::FellBehind);
        }
    }

    /// Encodes what everybody is told, and marks everybody ready whom it concerns.
    fn share(&mut self, timestamp: u32) {
        let is_new = self.sending.encode(timestamp, &self.entities);
        let has_news = self.news.take_added();
        self.news.close();
        if is_new || has_news {
            let sending = &self.sending;
            self.peers.mark_all_ready(|Peer { link, state }| {
                if is_new {
                    state.datagrams.take_part(sending);
                }
                link.datagrams().is_some()
            });
        }
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
        self.next_send = self.next_send.max(now);
        let opened = self.peers.open(now, on, peer, ClientState::new(now));
        // Whoever had to go had not joined: nobody knows of it.
        self.counters.too_many_streams += u64::from(opened.evicted.is_some());
        if self.closing {
            self.close(now, opened.peer, Departure::ShutDown);
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if let Some(id) = self.peers.handle_room(path, room) {
            // Without room there is nothing to keep alive.
            self.set_deadline(id);
        }
    }

    fn handle_closed(&mut self, now: Instant, path: Path, _why: Ended) {
        let gone = self.peers.handle_closed(path);
        if let Some(actor) = gone.and_then(|(_, peer)| peer.state.actor()) {
            self.leave_world(now, actor, Departure::Disconnected);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_due(now);
        if now >= self.next_send && !self.actors.is_empty() {
            self.send(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.is_fresh && now + AHEAD >= self.next_send && !self.actors.is_empty() {
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
        self.share(timestamp);
        let shared = Shared {
            entities: &self.entities,
            sending: &self.sending,
            news: &self.news,
        };
        let transmit = self
            .peers
            .poll_transmit(out, |_, Peer { link, state }, out| {
                state.write(link, (now, timestamp), shared, out)
            });
        if transmit.is_none() {
            self.news.clear();
        }
        transmit
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let sending = (!self.actors.is_empty()).then_some(self.next_send);
        [sending, self.peers.next_due()].into_iter().flatten().min()
    }

    fn set_busy(&mut self, is_busy: bool) {
        self.peers.set_busy(is_busy);
    }

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        self.close_all(now);
    }

    fn is_finished(&self) -> bool {
        self.peers.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (_, Peer { link, state }) in self.peers.iter() {
            let (name, word) = state.name_and_state(link.datagrams().is_some());
            let mut stats = link.stats(name, word);
            stats.queued = Some(state.queued() as u64);
            visit(&stats);
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
