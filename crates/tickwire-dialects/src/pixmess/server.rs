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
mod chat;
mod event;
mod farewell;
mod peer;
mod peers;
mod receive;
mod scene;
mod sight;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

use super::limits::{
    CONNECTIONS_MAX, ENTITIES_MAX, FAREWELL_MAX, LINGER, SETS_MAX, TIMEOUT, WAITING_MAX,
};
use super::message::{FromServer, Look, Shared};
use super::{Block, BlockId, Cell, Direction, EntityId, PlayerId, SetId};
use farewell::{Fault, SHUT_DOWN};
use peer::{Guest, Peer, Stage, Traces};
use peers::Peers;
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
    players: BTreeMap<PlayerId, StreamId>,
    scene: Scene,
    /// Where to look for the next free number.
    next_id: u16,
    next_set: u16,
    /// What is to be done with streams besides writing.
    orders: VecDeque<Transmit>,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
}

impl Server {
    /// A server without clients or entities.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            players_max: config.players,
            peers: Peers::default(),
            players: BTreeMap::new(),
            scene: Scene::default(),
            next_id: 1,
            next_set: 1,
            orders: VecDeque::new(),
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            closing: false,
        }
    }

    /// Tells everybody who holds its chunk that a block is another. Whatever [`Layer`] is provided
    /// from now on must have it.
    ///
    /// [`Layer`]: super::Layer
    pub fn set_block(&mut self, id: BlockId, block: Block) {
        self.show_block(id, block);
    }

    /// Puts an entity that is no player into the world.
    pub fn create_entity(&mut self, at: Cell, look: Look, name: &str) -> Result<EntityId, TooMany> {
        let id = self.free_id().ok_or(TooMany {
            what: "entities",
            limit: ENTITIES_MAX,
        })?;
        let entity = Entity {
            at,
            look,
            name: name.into(),
            owner: None,
        };
        self.show_entity(id.entity(), entity);
        Ok(id.entity())
    }

    /// Moves an entity by one cell. A player's own client is not told: for steps that it did not ask
    /// for there is [`place_entity`](Self::place_entity).
    pub fn move_entity(&mut self, entity: EntityId, direction: Direction) {
        if let Some(to) = self.position(entity).and_then(|at| at.step(direction)) {
            let direction = direction.code();
            self.relocate(
                entity,
                to,
                &FromServer::Movement { entity, direction },
                false,
            );
        }
    }

    /// Puts an entity anywhere. A player's own client is told, too.
    pub fn place_entity(&mut self, entity: EntityId, at: Cell) {
        self.relocate(entity, at, &FromServer::EntityPosition { entity, at }, true);
    }

    /// Takes an entity out of the world. A player's stays as long as the player.
    pub fn destroy_entity(&mut self, entity: EntityId) {
        if self
            .scene
            .entity(entity)
            .is_some_and(|it| it.owner.is_none())
        {
            self.hide_entity(entity);
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
        let mut set = SetId(self.next_set);
        // The root's own number is never free.
        while self.scene.corner(set).is_some() {
            set.0 = set.0.wrapping_add(1);
        }
        self.next_set = set.0.wrapping_add(1);
        self.scene.set_corner(set, at);
        let news = FromServer::LayersetCreate { set, at };
        self.peers.tell_all(&news, Peer::knows_sets);
        Ok(set)
    }

    /// Moves a layer set, with everything on it.
    pub fn move_set(&mut self, set: SetId, at: Cell) {
        if set == SetId::ROOT || self.scene.corner(set).is_none() {
            return;
        }
        self.scene.set_corner(set, at);
        let news = FromServer::LayersetMove { set, at };
        self.peers.tell_all(&news, Peer::knows_sets);
        for on in self.holders_of(set) {
            self.release_far(on);
        }
    }

    /// Takes a layer set away. Nobody holds a chunk of it any more.
    pub fn remove_set(&mut self, set: SetId) {
        if self.scene.remove_set(set).is_none() {
            return;
        }
        for peer in self.peers.iter_mut() {
            peer.sight.held.retain(|chunk| chunk.set != set);
        }
        let news = FromServer::LayersetRemove { set };
        self.peers.tell_all(&news, Peer::knows_sets);
    }

    /// Shows everybody a line.
    pub fn say(&mut self, text: &str) {
        let text = Shared::from(text);
        self.peers.tell_all(&FromServer::Chat { text }, |_| true);
    }

    /// Shows one client a line.
    pub fn tell(&mut self, player: PlayerId, text: &str) {
        if let Some(&on) = self.players.get(&player) {
            self.peers.tell(on, FromServer::Chat { text: text.into() });
        }
    }

    /// Sends somebody away who has logged in, and tells it why.
    pub fn kick(&mut self, now: Instant, player: PlayerId, why: &str) {
        if let Some(&on) = self.players.get(&player) {
            self.dismiss(now, on, why, Departure::Kicked);
        }
    }

    /// The players that are there, with their names; spectators are not among them.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &str)> {
        self.players
            .values()
            .filter_map(|&on| self.peers.get(on))
            .filter(|peer| peer.is_playing())
            .filter_map(|peer| peer.guest.as_ref())
            .filter(|guest| !guest.is_spectator())
            .map(|guest| (guest.player, &*guest.name))
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// A number that neither an entity nor a spectator has, if there may be one more.
    fn free_id(&mut self) -> Option<PlayerId> {
        let bodiless = |player: &&PlayerId| self.scene.entity(player.entity()).is_none();
        let others = self.players.keys().filter(bodiless).count();
        if self.scene.entities() + others >= ENTITIES_MAX {
            return None;
        }
        let mut id = PlayerId(self.next_id);
        while self.scene.entity(id.entity()).is_some() || self.players.contains_key(&id) {
            id.0 = id.0.wrapping_add(1);
        }
        self.next_id = id.0.wrapping_add(1);
        Some(id)
    }

    fn fault(&mut self, now: Instant, on: StreamId, fault: Fault) {
        fault.count(&mut self.counters);
        self.dismiss(now, on, fault.text(), fault.departure());
    }

    /// Sends a connection away, with a kick.
    fn dismiss(&mut self, now: Instant, on: StreamId, reason: &str, why: Departure) {
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        if matches!(peer.stage, Stage::Closing { .. }) {
            return;
        }
        let traces = peer.withdraw();
        peer.stage = Stage::Closing {
            until: now + LINGER,
        };
        if peer.outbox.waiting() > FAREWELL_MAX {
            peer.outbox.clear();
        }
        let reason = reason.into();
        self.peers.tell_last(on, FromServer::Kick { reason });
        self.peers.rearm(on);
        self.depart(on, traces, why);
    }

    /// Ends a connection at once, by this order if it is not over already.
    fn end(&mut self, on: StreamId, order: Option<Transmit>, why: Departure) {
        if let Some(mut peer) = self.peers.remove(on) {
            self.orders.extend(order);
            self.depart(on, peer.withdraw(), why);
        }
    }

    /// Takes a client out of everything that others see, and tells them.
    fn depart(&mut self, on: StreamId, traces: Traces, why: Departure) {
        for chunk in traces.held {
            self.scene.unwatch(chunk, on);
        }
        let Some(Guest { player, name, .. }) = traces.guest else {
            return;
        };
        self.players.remove(&player);
        self.events.retain(|event| !event.asks_about(player));
        if !traces.played {
            return;
        }
        if !name.is_empty() {
            self.hide_entity(player.entity());
            self.say(&alloc::format!("* {name} has left"));
        }
        self.events.push_back(ServerEvent::Left { player, why });
    }

    /// Cuts off those who do not read.
    fn sweep(&mut self) {
        while let Some(on) = self.peers.pop_overrun() {
            // It may be gone by now, or was told to go and has nothing else waiting.
            let behind = |peer: &Peer| peer.outbox.waiting() > WAITING_MAX;
            if self.peers.get(on).is_some_and(behind) {
                self.counters.never_read += 1;
                self.end(on, Some(Transmit::Abort { on }), Departure::FellBehind);
            }
        }
    }

    /// Does what is due for a connection.
    fn look_after(&mut self, now: Instant, on: StreamId) {
        self.correct(now, on);
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        let due = now >= peer.silence_deadline();
        match peer.stage {
            Stage::Greeting if due => self.fault(now, on, Fault::LoginTimeout),
            Stage::Entering | Stage::Playing if now.since(peer.last_heard) >= TIMEOUT => {
                self.fault(now, on, Fault::PingTimeout);
            }
            Stage::Entering | Stage::Playing if due => {
                peer.note_ping(now);
                self.peers.tell_urgently(on, FromServer::Ping);
            }
            Stage::Closing { .. } if due => {
                self.end(on, Some(Transmit::Abort { on }), Departure::Violation);
            }
            _ => {}
        }
        self.peers.rearm(on);
    }
}

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        if self.peers.len() >= CONNECTIONS_MAX {
            self.counters.too_many_connections += 1;
            self.orders.push_back(Transmit::Abort { on });
            return;
        }
        self.peers.insert(on, Peer::new(now, peer));
        if self.closing {
            self.dismiss(now, on, SHUT_DOWN, Departure::ShutDown);
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive(now, on, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if let Path::Stream(on) = path {
            self.peers.set_room(on, room.bytes);
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Path::Stream(on) = path {
            let why = self.last_word(on);
            self.end(on, None, why);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(on) = self.peers.pop_alarm(now) {
            self.look_after(now, on);
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.sweep();
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        match self.peers.write_next(out)? {
            Ok(on) => Some(Transmit::Stream { on }),
            Err(on) => {
                self.peers.remove(on);
                Some(Transmit::Finish { on })
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.peers.next_alarm()
    }

    // pixmess has no datagrams.
    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        for on in self.peers.streams() {
            self.dismiss(now, on, SHUT_DOWN, Departure::ShutDown);
        }
    }

    fn is_finished(&self) -> bool {
        self.peers.len() == 0 && self.orders.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (_, peer) in self.peers.iter() {
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
