//! The server: connections, who has logged in, and who sees what.
//!
//! In: streams, and from the game what is where. Out: packets, and for the game what clients want and
//! who came and went. The protocol's rules are kept here: logins, rates, timeouts, which client hears
//! of which chunk and entity, in which order. The game's rules are the game's: what blocks there are,
//! who may change them, who may step where.
//!
//! A client's wish is a *question* to the game ([`ServerEvent`]), and nothing more of that client is
//! read until it is answered. So everything a client says takes effect in the order in which it was
//! said, and a question needs no number: each client has one at most.
//!
//! The server keeps where entities stand, because that decides who hears of them, and keeps no
//! blocks: a chunk goes out as the [`Layer`](super::Layer) that the game hands over, compressed once
//! for everybody.

mod answer;
mod blocks;
mod chat;
mod chunks;
mod connection;
mod event;
mod farewell;
mod lines;
mod news;
mod peers;
mod receive;
mod scene;
mod sight;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{
    Addr, Due, Ended, Events, Instant, Path, PeerId, PeerStats, Room, Session, StreamId, Transmit,
};

use super::limits::{ENTITIES_MAX, FAREWELL_MAX, LINGER, SETS_MAX, TIMEOUT, WAITING_MAX};
use super::message::{FromServer, Look};
use super::{Block, BlockId, Cell, Direction, EntityId, PlayerId, SetId};
use connection::{Connection, Guest, Traces};
use farewell::{Fault, SHUT_DOWN};
use lines::Lines;
use news::News;
use peers::{Peer, Peers};
use receive::last_word;
use scene::{Entity, Scene};

pub use event::{ServerCounters, ServerEvent, TooMany};
pub use farewell::Departure;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// How many may play; spectators are not counted.
    pub players: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            players: ENTITIES_MAX / 4,
        }
    }
}

/// A pixmess server.
#[derive(Debug)]
pub struct Server {
    players_max: usize,
    peers: Peers,
    /// Everybody who has logged in, those included that the game has not admitted yet.
    players: BTreeMap<PlayerId, PeerId>,
    /// Their names; spectators have none.
    names: BTreeSet<String>,
    scene: Scene,
    /// How many of the entities are no players.
    creatures: usize,
    lines: Lines,
    news: News,
    /// Where to look for the next free number.
    next_id: u16,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
}

impl Server {
    /// A server without clients or entities.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            players_max: config.players,
            peers: Peers::new(),
            players: BTreeMap::new(),
            names: BTreeSet::new(),
            scene: Scene::default(),
            creatures: 0,
            lines: Lines::new(),
            news: News::default(),
            next_id: 1,
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            closing: false,
        }
    }

    /// A block is another. Everybody who holds its chunk is told when its turn comes; whatever [`Layer`]
    /// is provided from now on must have it.
    ///
    /// [`Layer`]: super::Layer
    pub fn set_block(&mut self, id: BlockId, block: Block) {
        self.scene.set_block(id, block);
    }

    /// Puts an entity that is no player into the world.
    pub fn create_entity(&mut self, at: Cell, look: Look, name: &str) -> Result<EntityId, TooMany> {
        let id = self.free_id().ok_or(TooMany {
            what: "entities",
            limit: ENTITIES_MAX,
        })?;
        self.creatures += 1;
        let entity = Entity::new(at, look, name.into(), None);
        self.scene.insert(id.entity(), entity);
        Ok(id.entity())
    }

    /// Moves an entity by one cell. A player's own client is not told: for steps that it did not ask
    /// for there is [`place_entity`](Self::place_entity).
    pub fn move_entity(&mut self, entity: EntityId, direction: Direction) {
        if let Some(to) = self.position(entity).and_then(|at| at.step(direction)) {
            self.relocate(entity, to, Some(direction));
        }
    }

    /// Puts an entity anywhere. A player's own client is told, too.
    pub fn place_entity(&mut self, entity: EntityId, at: Cell) {
        let owner = self.relocate(entity, at, None);
        if let Some(owner) = owner {
            self.peers
                .tell(owner, FromServer::EntityPosition { entity, at });
            self.release_far(owner);
        }
    }

    /// Takes an entity out of the world. A player's stays as long as the player.
    pub fn destroy_entity(&mut self, entity: EntityId) {
        let there = self.scene.entity(entity);
        if there.is_some_and(|it| it.owner.is_none()) {
            self.creatures -= 1;
            self.scene.remove(entity);
        }
    }

    /// Where an entity stands.
    pub fn position(&self, entity: EntityId) -> Option<Cell> {
        self.scene.entity(entity).map(|entity| entity.at)
    }

    /// Adds a movable layer set whose corner lies on this cell of the root. Clients of version 2 see
    /// it.
    pub fn create_set(&mut self, at: Cell) -> Result<SetId, TooMany> {
        if self.scene.sets().len() >= SETS_MAX {
            return Err(TooMany {
                what: "layer sets",
                limit: SETS_MAX,
            });
        }
        // The root's own number is never free. One that is free may be given again at once: clients hear of
        // its end before that.
        let mut numbers = (1..).map(SetId);
        let free = numbers.find(|set| self.scene.corner(*set).is_none());
        let set = free.unwrap_or_default();
        self.scene.set_corner(set, at);
        let news = FromServer::LayersetCreate { set, at };
        self.peers.tell_of_set(&news);
        Ok(set)
    }

    /// Moves a layer set, with everything on it.
    pub fn move_set(&mut self, set: SetId, at: Cell) {
        if set == SetId::ROOT || self.scene.corner(set).is_none() {
            return;
        }
        self.scene.set_corner(set, at);
        let news = FromServer::LayersetMove { set, at };
        self.peers.tell_of_set(&news);
        for id in self.holders_of(set) {
            self.release_far(id);
        }
    }

    /// Takes a layer set away. Nobody holds a chunk of it any more.
    pub fn remove_set(&mut self, set: SetId) {
        if self.scene.remove_set(set).is_none() {
            return;
        }
        for (_, peer) in self.peers.table.iter_mut() {
            peer.state.sight.forget_set(set);
        }
        let news = FromServer::LayersetRemove { set };
        self.peers.tell_of_set(&news);
    }

    /// Shows everybody a line.
    pub fn say(&mut self, text: &str) {
        self.lines.push(text);
    }

    /// Shows one client a line.
    pub fn tell(&mut self, player: PlayerId, text: &str) {
        if let Some(&id) = self.players.get(&player) {
            self.tell_line(id, text);
        }
    }

    /// Sends somebody away who has logged in, and tells it why.
    pub fn kick(&mut self, now: Instant, player: PlayerId, why: &str) {
        if let Some(&id) = self.players.get(&player) {
            self.dismiss(now, id, why, Departure::Kicked);
        }
    }

    /// The players that are there, with their names; spectators are not among them.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.players
            .values()
            .filter_map(|&id| self.peers.get(id))
            .filter(|peer| peer.state.is_playing())
            .filter_map(|peer| peer.state.guest.as_ref())
            .filter(|guest| !guest.is_spectator())
            .map(|guest| (guest.player, &*guest.name))
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// A number that neither an entity nor a spectator has, if there may be one more.
    fn free_id(&mut self) -> Option<PlayerId> {
        if self.creatures + self.players.len() >= ENTITIES_MAX {
            return None;
        }
        let mut id = PlayerId(self.next_id);
        while self.scene.entity(id.entity()).is_some() || self.players.contains_key(&id) {
            id.0 = id.0.wrapping_add(1);
        }
        self.next_id = id.0.wrapping_add(1);
        Some(id)
    }

    /// Shows one client a line, behind those for everybody.
    fn tell_line(&mut self, id: PeerId, text: &str) {
        self.tell_lines(id);
        self.peers.tell(id, FromServer::Chat { text: text.into() });
    }

    fn fault(&mut self, now: Instant, id: PeerId, fault: Fault) {
        fault.count(&mut self.counters);
        self.dismiss(now, id, fault.text(), fault.departure());
    }

    /// Sends a connection away, with a kick.
    fn dismiss(&mut self, now: Instant, id: PeerId, reason: &str, why: Departure) {
        self.tell_lines(id);
        let Some(Peer { link, state }) = self.peers.get_mut(id) else {
            return;
        };
        if link.is_closing() {
            return;
        }
        if state.outbox.waiting() > FAREWELL_MAX {
            state.outbox.clear();
        }
        let reason = reason.into();
        state.outbox.push(FromServer::Kick { reason });
        let traces = state.withdraw();
        self.peers.table.close(id, now + LINGER);
        self.depart(id, traces, why);
    }

    /// A client goes by itself, and reads nothing more.
    fn let_leave(&mut self, now: Instant, id: PeerId) {
        if let Some(state) = self.peers.state(id) {
            state.outbox.clear();
            let traces = state.withdraw();
            self.peers.table.close(id, now + LINGER);
            self.depart(id, traces, Departure::Quit);
        }
    }

    /// Takes a client out of everything that others see, and tells them.
    fn depart(&mut self, id: PeerId, traces: Traces, why: Departure) {
        for chunk in traces.held {
            self.scene.unwatch(chunk, id);
        }
        let Some(Guest { player, name, .. }) = traces.guest else {
            return;
        };
        self.players.remove(&player);
        self.names.remove(&name);
        self.events.retain(|event| !event.asks_about(player));
        if !traces.played {
            return;
        }
        if !name.is_empty() {
            self.scene.remove(player.entity());
            self.lines.note_left(&name);
        }
        self.events.push_back(ServerEvent::Left { player, why });
    }

    /// Puts an entity elsewhere, by a step or anyhow; whose it is.
    fn relocate(&mut self, id: EntityId, to: Cell, step: Option<Direction>) -> Option<PeerId> {
        let from = self.scene.relocate(id, to, step)?;
        let owner = self.scene.entity(id)?.owner?;
        let guest = self.peers.state(owner)?.guest.as_mut()?;
        guest.at = to;
        if step.is_some() && from.chunk() != to.chunk() {
            self.release_far(owner);
        }
        Some(owner)
    }

    /// Cuts off those who do not read.
    fn sweep(&mut self) {
        while let Some(id) = self.peers.pop_overrun() {
            // It may be gone by now, or was told to go and has nothing else waiting.
            let behind = |peer: &Peer| peer.state.outbox.waiting() > WAITING_MAX;
            if self.peers.get(id).is_some_and(behind)
                && let Some(mut peer) = self.peers.table.abort(id)
            {
                self.counters.never_read += 1;
                self.depart(id, peer.state.withdraw(), Departure::FellBehind);
            }
        }
    }

    /// Does what is due for somebody who has logged in.
    fn look_after(&mut self, now: Instant, id: PeerId) {
        self.correct(now, id);
        let Some(Peer { link, state }) = self.peers.get_mut(id) else {
            return;
        };
        if now.since(link.last_heard) >= TIMEOUT {
            return self.fault(now, id, Fault::PingTimeout);
        }
        if now >= state.silence_deadline(link.last_heard) {
            state.note_ping(now);
            self.peers.tell_urgently(id, FromServer::Ping);
        }
        self.peers.rearm(id);
    }
}

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        let table = &mut self.peers.table;
        let opened = table.open(now, on, peer, Connection::new(now));
        // Whoever has to go for it has not logged in: nobody knows of it.
        if opened.evicted.is_some() {
            self.counters.gave_way += 1;
        }
        if self.closing {
            self.dismiss(now, opened.peer, SHUT_DOWN, Departure::ShutDown);
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if let Some(id) = self.peers.table.on_stream(on) {
            self.receive(now, id, bytes);
        }
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.peers.table.handle_room(path, room);
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Some((id, mut peer)) = self.peers.table.handle_closed(path) {
            let why = last_word(&mut peer.state);
            self.depart(id, peer.state.withdraw(), why);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(due) = self.peers.table.pop_due(now) {
            match due {
                Due::Proof(id) => self.fault(now, id, Fault::LoginTimeout),
                Due::Deadline(id) => self.look_after(now, id),
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        loop {
            self.sweep();
            if let Some(transmit) = self.peers.poll_transmit(out) {
                if let Transmit::Stream { on } = transmit {
                    self.queue_missed(on);
                }
                return Some(transmit);
            }
            if !self.tell_next(now) {
                return None;
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let due = [self.peers.table.next_due(), self.news_due()];
        due.into_iter().flatten().min()
    }

    // pixmess has no datagrams.
    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}

    /// Tells everybody that the server ends, and takes nobody any more.
    fn set_busy(&mut self, is_busy: bool) {
        self.peers.table.set_busy(is_busy);
    }

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        for id in self.peers.ids() {
            self.dismiss(now, id, SHUT_DOWN, Departure::ShutDown);
        }
    }

    fn is_finished(&self) -> bool {
        self.peers.table.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (_, peer) in self.peers.table.iter() {
            peer.state.stats(&peer.link, visit);
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
