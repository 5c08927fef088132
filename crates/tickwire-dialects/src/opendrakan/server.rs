//! The server: a world of objects, and a snapshot of every third tick to everybody.
//!
//! In: what clients do, and from the game changes of the world, one [`commit`](Server::commit) a tick.
//! Out: snapshots, each as its difference to what its client has acknowledged, messages and one-shot
//! events over streams, and for the game who came, acted and went. The game's rules, and the files of
//! levels and savegames, are the game's.

mod admission;
mod budget;
mod client_state;
mod event;
mod level;
mod persist;
mod receive;
mod sending;
mod snapshots;
mod talk;
mod world;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, Peer, PeerId, PeerStats, Peers, Room, Session, StreamId,
    Transmit,
};
use tickwire_state::Tick;

use super::limits::{BYTES_PER_SECOND, CLIENTS, DATABASES_MAX, ROOMS_MAX};
use super::message::Lifecycle;
use super::snapshot::{Object, Snapshot};
use super::{ClientId, ObjectId, Registry, path};
use client_state::ClientState;
use sending::Sending;
use snapshots::{Moment, Skipped};
use world::World;

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
    peers: Peers<ClientState>,
    /// How many of them have joined.
    joined: usize,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
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
                    .set_level_state(object, state.parts())
                    .map_err(|why| LevelError::State { object, why })?;
            }
        }
        Ok(Self {
            world,
            level_path,
            databases,
            clients_max: config.clients,
            bytes_per_second: config.bytes_per_second,
            // No limit of the table begins before somebody comes.
            peers: Peers::new(Instant::ZERO, secret, ROOMS_MAX),
            joined: 0,
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
        self.world.set(object, state.parts(), false)
    }

    /// Sets a state that did not pass through what lies in between: a teleport, a cut.
    pub fn jump(&mut self, object: ObjectId, state: State) -> Result<(), StateError> {
        self.world.set(object, state.parts(), true)
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
        let (world, counters) = (&self.world, &mut self.counters);
        let mut oldest = tick;
        // Clients that have acknowledged the same snapshot are sent the same bytes.
        let mut built: Vec<Arc<Sending>> = Vec::new();
        self.peers.mark_all_ready(|Peer { link, state }| {
            let Some(player) = state.player_mut() else {
                return false;
            };
            let moment = Moment {
                now,
                tick,
                remembered: world.remembered(),
                room: link.datagram_room(),
            };
            let skipped = player.snapshots.schedule(moment, |reference, limit| {
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
            match skipped {
                Some(Skipped::OverBudget) => counters.skipped += 1,
                Some(Skipped::PathTooNarrow) => counters.path_too_narrow += 1,
                None => {}
            }
            let reference = player.snapshots.oldest_reference(now);
            oldest = reference.map_or(oldest, |reference| oldest.min(reference));
            player.snapshots.is_due()
        });
        self.world.forget_before(oldest);
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
                .map(|entry| (entry.id, Arc::new(entry.object.clone())))
                .collect(),
        }
    }

    /// One object as it is now.
    pub fn object(&self, id: ObjectId) -> Option<Object> {
        self.world.get(id).map(|entry| entry.object.clone())
    }

    /// Sends a client away, by ending its stream: the protocol has no word for it.
    pub fn kick(&mut self, now: Instant, client: ClientId) {
        self.close(now, peer_id(client), Departure::Kicked);
    }

    /// The clients that take part.
    pub fn clients(&self) -> impl Iterator<Item = ClientId> {
        let joined =
            |(id, peer): (PeerId, &Peer<ClientState>)| peer.state.player().map(|_| client_id(id));
        self.peers.iter().filter_map(joined)
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }
}

/// A client has the number of its connection.
const fn client_id(PeerId(number): PeerId) -> ClientId {
    ClientId(number)
}

const fn peer_id(ClientId(number): ClientId) -> PeerId {
    PeerId(number)
}

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.open(now, on, peer);
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.peers.handle_room(path, room);
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Some((id, peer)) = self.peers.handle_closed(path) {
            self.note_gone(id, &peer.state.stage, Departure::Disconnected);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_due(now);
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.peers
            .poll_transmit(out, |_, Peer { link, state }, out| state.write(link, out))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.peers.next_due()
    }

    fn set_busy(&mut self, is_busy: bool) {
        self.peers.set_busy(is_busy);
    }

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        let everybody: Vec<_> = self.peers.iter().map(|(id, _)| id).collect();
        for id in everybody {
            self.close(now, id, Departure::ShutDown);
        }
    }

    fn is_finished(&self) -> bool {
        self.peers.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (_, Peer { link, state }) in self.peers.iter() {
            visit(&state.stats(link));
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
