//! The server: a world of objects, and a snapshot of every third tick to everybody.
//!
//! In: what clients do, and from the game changes of the world, one [`commit`](Server::commit) a tick.
//! Out: snapshots, each as its difference to what its client has acknowledged, messages and one-shot
//! events over streams, and for the game who came, acted and went. The game's rules, and the files of
//! levels and savegames, are the game's.

mod budget;
mod event;
mod level;
mod peer;
mod persist;
mod receive;
mod sending;
mod talk;
mod world;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{
    Addr, Attachments, Ended, Events, Instant, Path, PeerStats, Room, Rooms, Session, StreamId,
    Transmit,
};
use tickwire_state::Tick;

use super::limits::{
    BYTES_PER_SECOND, CLIENTS, DATABASES_MAX, DATAGRAM_MIN, ROOMS_MAX, SEND_TICKS, TIMEOUT,
};
use super::message::{Lifecycle, Message};
use super::snapshot::{Object, Snapshot};
use super::stream::Outbox;
use super::{ClientId, DatabaseId, ObjectId, Registry, path};
use peer::{Moment, Peer};
use sending::Sending;
use world::{Entry, World};

pub use event::{Departure, ServerCounters, ServerEvent};
pub use level::{CreateError, Level, LevelError, LevelObject, State, StateError};
pub use persist::RestoreError;
pub use talk::{Animation, ObjectTalk, SendError, To};

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// What it serves.
    pub level: Level,
    /// The extra states of every class, as the clients know them.
    pub registry: Registry,
    /// How many clients there may be.
    pub clients: usize,
    /// Bytes a second for each client's snapshots.
    pub bytes_per_second: u32,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            level: Level::default(),
            registry: Registry::new(),
            clients: CLIENTS,
            bytes_per_second: BYTES_PER_SECOND,
        }
    }
}

/// An OpenDrakan server.
#[derive(Debug)]
pub struct Server {
    world: World,
    level_path: String,
    databases: Vec<String>,
    clients_max: usize,
    bytes_per_second: u32,
    attachments: Attachments<ClientId>,
    peers: BTreeMap<ClientId, Peer>,
    streams: BTreeMap<StreamId, ClientId>,
    rooms: Rooms,
    accepted: u32,
    partings: VecDeque<Parting>,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
}

/// A stream that is to be ended.
#[derive(Debug)]
struct Parting {
    on: StreamId,
    /// What was said to the client before it had to go, as far as its stream takes it.
    outbox: Outbox,
    /// It reads nothing: there is no use in waiting.
    is_abrupt: bool,
}

impl Server {
    /// A server at tick 0. The bytes are a secret of this run: whoever knows them can take over the
    /// datagrams of a client on the same host.
    pub fn new(config: ServerConfig, secret: [u8; 32]) -> Result<Self, LevelError> {
        let Level {
            path: level_path,
            databases,
            objects,
        } = config.level;
        if databases.len() > DATABASES_MAX as usize {
            return Err(LevelError::TooManyDatabases);
        }
        for path in core::iter::once(&level_path).chain(&databases) {
            path::validate(path).map_err(|why| LevelError::Path {
                path: path.clone(),
                why,
            })?;
        }
        let mut world = World::new(config.registry);
        for LevelObject {
            id: object,
            class,
            lifecycle,
            states,
        } in objects
        {
            world
                .add_level_object(object, class, lifecycle)
                .map_err(|why| LevelError::Object { object, why })?;
            for state in states {
                world
                    .set_level_state(object, state)
                    .map_err(|why| LevelError::State { object, why })?;
            }
        }
        Ok(Self {
            world,
            level_path,
            databases,
            clients_max: config.clients,
            bytes_per_second: config.bytes_per_second,
            attachments: Attachments::new(secret),
            peers: BTreeMap::new(),
            streams: BTreeMap::new(),
            rooms: Rooms::new(ROOMS_MAX),
            accepted: 0,
            partings: VecDeque::new(),
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            closing: false,
        })
    }

    /// Creates a clone of an object of the level, or of another clone, with untouched states.
    ///
    /// Clients are told the level's object that it descends from.
    pub fn create(&mut self, prototype: ObjectId) -> Result<ObjectId, CreateError> {
        self.world.create(prototype)
    }

    /// Sets a state. Between two snapshots, clients show it on its way.
    pub fn set(&mut self, object: ObjectId, state: State) -> Result<(), StateError> {
        self.world.set(object, state, false)
    }

    /// Sets a state that did not pass through what lies in between: a teleport, a cut.
    pub fn jump(&mut self, object: ObjectId, state: State) -> Result<(), StateError> {
        self.world.set(object, state, true)
    }

    /// Moves an object's life on; [`Lifecycle::Destroyed`] takes it out of the world for good.
    pub fn set_lifecycle(
        &mut self,
        object: ObjectId,
        lifecycle: Lifecycle,
    ) -> Result<(), StateError> {
        self.world.set_lifecycle(object, lifecycle)
    }

    /// Ends a tick: what was done since the last one is true now. To be called 60 times a second.
    ///
    /// Every third tick is sent to every client, as its difference to what that client acknowledged.
    pub fn commit(&mut self, now: Instant) -> Tick {
        let tick = self.world.commit();
        // Clients that have acknowledged the same snapshot are sent the same bytes.
        let mut built: Vec<Arc<Sending>> = Vec::new();
        for peer in self.peers.values_mut() {
            if peer.largest < DATAGRAM_MIN {
                let is_due = peer.addr.is_some() && tick.0.is_multiple_of(SEND_TICKS);
                self.counters.path_too_narrow += u64::from(is_due);
                continue;
            }
            let world = &self.world;
            let moment = Moment {
                now,
                tick,
                remembered: world.remembered(),
            };
            let skipped = peer.schedule(moment, |reference, limit| {
                let same = |sending: &&Arc<Sending>| {
                    sending.reference == reference && sending.limit == limit
                };
                if let Some(sending) = built.iter().find(same) {
                    return sending.clone();
                }
                let sending = Arc::new(Sending::build(world, reference, limit));
                built.push(sending.clone());
                sending
            });
            self.counters.skipped += u64::from(skipped);
        }
        let references = self.peers.values().filter_map(Peer::oldest_reference);
        self.world.forget_before(references.min().unwrap_or(tick));
        tick
    }

    /// The last committed tick.
    pub const fn tick(&self) -> Tick {
        self.world.tick()
    }

    /// The world as it is now, whole: for tools and tests. Sending never needs it.
    pub fn snapshot(&self) -> Snapshot {
        let tick = self.world.tick();
        let objects = self.world.objects();
        Snapshot {
            tick,
            time: Duration::from_secs_f64(sending::real_time(tick)),
            objects: objects
                .map(|entry| (entry.id, Arc::new(build_object(entry))))
                .collect(),
        }
    }

    /// One object as it is now.
    pub fn object(&self, id: ObjectId) -> Option<Object> {
        self.world.get(id).map(build_object)
    }

    /// Sends a client away, by ending its stream: the protocol has no word for it.
    pub fn kick(&mut self, client: ClientId) {
        self.depart(client, Departure::Kicked);
    }

    /// The clients that are there.
    pub fn clients(&self) -> impl Iterator<Item = ClientId> {
        self.peers.keys().copied()
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// Tells a new client its token and what to load.
    fn greet(&mut self, now: Instant, on: StreamId, addr: Addr) {
        let client = ClientId(self.accepted);
        self.accepted += 1;
        let mut peer = Peer::new(now, on, addr, self.bytes_per_second);
        let token = self.attachments.issue(client, addr.host);
        let mut push = |message: &Message<'_>| {
            // An empty outbox takes the largest table.
            let queued = peer.outbox.push(message);
            debug_assert!(queued.is_ok(), "the greeting fits");
            peer.traffic.messages_out += 1;
        };
        push(&Message::Attach { token });
        let mut count = 0;
        for path in &self.databases {
            let database = DatabaseId(count);
            push(&Message::DatabaseEntry { database, path });
            count += 1;
        }
        push(&Message::LoadLevel {
            databases: count,
            path: &self.level_path,
        });
        self.streams.insert(on, client);
        self.peers.insert(client, peer);
        self.tell(ServerEvent::Joined { client, addr });
    }

    /// Forgets a client, and ends its stream unless it ended by itself.
    fn depart(&mut self, client: ClientId, why: Departure) {
        let Some(peer) = self.peers.remove(&client) else {
            return;
        };
        self.attachments.remove(client);
        self.streams.remove(&peer.stream);
        if why != Departure::Disconnected {
            self.partings.push_back(Parting {
                on: peer.stream,
                outbox: peer.outbox,
                is_abrupt: why == Departure::FellBehind,
            });
        }
        self.tell(ServerEvent::Left { client, why });
    }
}

fn build_object(entry: &Entry) -> Object {
    let mut object = Object::untouched(Some(entry.class), entry.prototype, None);
    object.lifecycle = entry.lifecycle;
    let mut values = (0..).map_while(|index| entry.value(index));
    for (index, value) in values.by_ref().take(super::BASIC.len()).enumerate() {
        object.set_basic(index, value);
    }
    object.extra = values.collect();
    object
}

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        if self.closing || self.peers.len() >= self.clients_max {
            self.counters.full += 1;
            self.partings.push_back(Parting {
                on,
                outbox: Outbox::new(),
                is_abrupt: false,
            });
            return;
        }
        self.greet(now, on, peer);
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        match path {
            Path::Stream(on) => {
                let client = self.streams.get(&on);
                if let Some(peer) = client.and_then(|client| self.peers.get_mut(client)) {
                    peer.set_stream_room(room);
                }
                let parting = self.partings.iter_mut().find(|parting| parting.on == on);
                if let Some(parting) = parting {
                    parting.outbox.set_room(room);
                }
            }
            Path::Datagrams(addr) => {
                self.rooms.set(addr, room);
                let client = self.attachments.peer_at(addr);
                if let Some(peer) = client.and_then(|client| self.peers.get_mut(&client)) {
                    peer.set_largest(room.largest);
                }
            }
            Path::Link(_) => {}
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        match path {
            Path::Stream(on) => {
                // It may have ended by itself before we got to it.
                self.partings.retain(|parting| parting.on != on);
                if let Some(&client) = self.streams.get(&on) {
                    self.depart(client, Departure::Disconnected);
                }
            }
            // Only the stream's end or silence ends a session: datagrams may be refused for a moment.
            Path::Datagrams(addr) => self.rooms.remove(addr),
            // Its streams have ended before it.
            Path::Link(_) => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let silent = |(client, peer): (&ClientId, &Peer)| {
            (now >= peer.last_heard + TIMEOUT).then_some(*client)
        };
        let silent: Vec<_> = self.peers.iter().filter_map(silent).collect();
        for client in silent {
            self.depart(client, Departure::TimedOut);
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(parting) = self.partings.front_mut() {
            let on = parting.on;
            if parting.is_abrupt {
                self.partings.pop_front();
                return Some(Transmit::Abort { on });
            }
            if parting.outbox.write(out).is_some() {
                return Some(Transmit::Stream { on });
            }
            self.partings.pop_front();
            return Some(Transmit::Finish { on });
        }
        self.peers
            .values_mut()
            .find_map(|peer| peer.write_stream(out).or_else(|| peer.write_datagram(out)))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = self.peers.values().map(|peer| peer.last_heard + TIMEOUT);
        deadlines.min()
    }

    fn shut_down(&mut self, _now: Instant) {
        self.closing = true;
        let clients: Vec<_> = self.peers.keys().copied().collect();
        for client in clients {
            self.depart(client, Departure::ShutDown);
        }
    }

    fn is_finished(&self) -> bool {
        self.peers.is_empty() && self.partings.is_empty()
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
