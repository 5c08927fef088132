//! The server: a module to load, and after that a snapshot a tick to everybody, of what each has in range.
//!
//! In: streams and datagrams of clients, and from the game a module, the world once for every snapshot,
//! commands, answers to calls, and who is what. Out: frames, snapshots as differences to what each client
//! has, and for the game who came, did, asked and went. What an event means, who may have which creature
//! and how anything moves is the game's.
//!
//! [`publish`](Server::publish) costs a comparison and a look-up for every object, whoever is there.
//! What a client is sent is worked out when it is polled: a search of the grid, one pass over what it
//! has in range and what it has, and a copy of bytes that are encoded once for all clients that have the
//! same version of an object.

mod changes;
mod commands;
mod connection;
mod datagrams;
mod drive;
mod event;
mod frames;
pub mod limits;
mod module;
mod order;
mod peer;
mod receive;
mod view;
mod world;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::num::NonZeroU16;
use core::time::Duration;

use tickwire_session::{Addr, Attachments, Instant, MethodError, Methods, Rooms, StreamId, Token};
use tickwire_state::{SightRange, Vec2};
use tickwire_wire::Serial;

use super::limits::CALL_MAX;
use super::message::{Compression, DownFrame, Invalid, Method, Refusal, Status};
use super::{
    AnyStatus, CallId, ClientId, EventId, Mode, ModuleNumber, ObjectId, SnapshotSeq, Text,
};
use changes::Changes;
use commands::Commands;
use connection::Connection;
use datagrams::{Desk, Staged};
use limits::{
    CLIENTS, ENDED_TOKENS, LERP, ROOMS_MAX, SIGHT, SNAPSHOT_BYTES, SNAPSHOT_BYTES_MAX, TICK_RATE,
};
use module::Served;
use peer::{Peer, Stage};
use world::World;

pub use commands::Command;
pub use event::{AnswerError, Departure, Question, Reply, Seen, ServerCounters, ServerEvent};
pub use module::{Module, ModuleError};
pub use peer::Seat;
pub use world::Object;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// What it serves first.
    pub module: Module,
    /// Snapshots a second. The game has to publish them at this rate.
    pub tick_rate: NonZeroU16,
    /// How long clients are to blend from one snapshot to the next.
    pub lerp: Duration,
    /// How far clients see.
    pub sight: SightRange,
    /// How many clients there may be.
    pub clients: usize,
    /// Bytes of changes in a client's snapshot. What is above waits for a later one.
    pub snapshot_bytes: usize,
    /// Whether snapshots are Huffman-coded.
    pub compression: Compression,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            module: Module::default(),
            tick_rate: TICK_RATE,
            lerp: LERP,
            sight: SIGHT,
            clients: CLIENTS,
            snapshot_bytes: SNAPSHOT_BYTES,
            compression: Compression::None,
        }
    }
}

/// A reone server.
#[derive(Debug)]
pub struct Server {
    module: Served,
    tick_rate: NonZeroU16,
    lerp_ms: u16,
    clients_max: usize,
    table: Table,
    connections: BTreeMap<StreamId, Connection>,
    peers: BTreeMap<ClientId, Peer>,
    attachments: Attachments<ClientId>,
    /// Tokens of streams that ended, as many as are remembered, and in which order they did.
    ended_tokens: BTreeSet<Token>,
    ended_order: VecDeque<Token>,
    methods: Methods<()>,
    rooms: Rooms,
    accepted: u32,
    /// Addresses that are to be told that their datagrams mean nothing here.
    strangers: VecDeque<(Addr, Invalid)>,
    aborts: VecDeque<StreamId>,
    waking_streams: VecDeque<StreamId>,
    waking: VecDeque<ClientId>,
    staged: Staged,
    staged_for: ClientId,
    desk: Desk,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
}

/// What every client's snapshot is made from.
#[derive(Debug)]
struct Table {
    world: World,
    changes: Changes,
    commands: Commands,
    rules: Rules,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    sight: SightRange,
    snapshot_bytes: usize,
    compression: Compression,
}

impl Server {
    /// A server in its first module, before its first snapshot. The bytes are a secret of this run:
    /// whoever knows them can take over the datagrams of a client on the same host.
    pub fn new(config: ServerConfig, secret: [u8; 32]) -> Result<Self, ModuleError> {
        let (module, base) = Served::new(ModuleNumber(1), config.module)?;
        let mut methods = Methods::new();
        for method in Method::ALL {
            let registered = methods.register(method.name().as_str(), ());
            debug_assert!(registered.is_ok(), "the protocol's own methods fit");
        }
        // A search looks at a handful of cells, and at none too many if everything is in sight.
        let cell = config.sight.radius.clamp(1.0, 1e9);
        Ok(Self {
            module,
            tick_rate: config.tick_rate,
            lerp_ms: u16::try_from(config.lerp.as_millis()).unwrap_or(u16::MAX),
            clients_max: config.clients,
            table: Table {
                world: World::new(base, cell),
                changes: Changes::default(),
                commands: Commands::default(),
                rules: Rules {
                    sight: config.sight,
                    snapshot_bytes: config.snapshot_bytes.min(SNAPSHOT_BYTES_MAX),
                    compression: config.compression,
                },
            },
            connections: BTreeMap::new(),
            peers: BTreeMap::new(),
            attachments: Attachments::new(secret),
            ended_tokens: BTreeSet::new(),
            ended_order: VecDeque::new(),
            methods,
            rooms: Rooms::new(ROOMS_MAX),
            accepted: 1,
            strangers: VecDeque::new(),
            aborts: VecDeque::new(),
            waking_streams: VecDeque::new(),
            waking: VecDeque::new(),
            staged: Staged::default(),
            staged_for: ClientId(0),
            desk: Desk::default(),
            events: VecDeque::new(),
            counters: ServerCounters::default(),
            closing: false,
        })
    }

    /// Takes the world as it is now: the next snapshot. An object that is not among these is gone.
    ///
    /// To be called as often a second as [`ServerConfig::tick_rate`] says. `tick` is the game's, and is
    /// passed on to clients, who tell by it what is late: it is above 0, and each is later than the one
    /// before, for as long as the server runs and whatever the module. It may wrap.
    pub fn publish(
        &mut self,
        now: Instant,
        tick: u32,
        objects: impl IntoIterator<Item = Object>,
    ) -> SnapshotSeq {
        let Table {
            world,
            changes,
            commands,
            ..
        } = &mut self.table;
        debug_assert!(
            world.newest() == SnapshotSeq::NONE || tick.is_newer_than(world.tick()),
            "ticks never go back nor stand still"
        );
        self.counters.object_refused += world.publish(tick, objects.into_iter());
        changes.begin(world);
        commands.begin(world);
        self.remove_silent(now);
        for (client, peer) in &mut self.peers {
            if peer.stage == Stage::Playing {
                // One that was not polled since the last snapshot is sent this one instead.
                peer.is_due = true;
                if !core::mem::replace(&mut peer.is_queued, true) {
                    self.waking.push_back(*client);
                }
            }
        }
        self.table.world.newest()
    }

    /// Tells clients of something that happens now, at once.
    pub fn command(&mut self, command: Command<'_>) {
        let Table {
            world, commands, ..
        } = &mut self.table;
        self.counters.command_overrun += u64::from(commands.push(world, command));
        for (client, peer) in &mut self.peers {
            let is_playing = peer.stage == Stage::Playing;
            if is_playing && !core::mem::replace(&mut peer.is_queued, true) {
                self.waking.push_back(*client);
            }
        }
    }

    /// Decides what a client is that is [`Joining`](ServerEvent::Joining). One that is not is no
    /// mistake: it may have left meanwhile.
    pub fn admit(&mut self, now: Instant, client: ClientId, seat: Seat) {
        let peer = self.peers.get_mut(&client);
        let Some(peer) = peer.filter(|peer| peer.stage == Stage::Joining) else {
            return;
        };
        peer.seat = seat;
        if let Seat::Spectator(eye) = seat {
            peer.set_eye(eye);
        }
        peer.stage = Stage::Initialising;
        peer.last_heard = now;
        peer.parameters_at = Some(now);
        self.wake(client);
    }

    /// Makes something else of a client that is there: a player of a spectator, or the reverse. It is told
    /// as at its admission, and is [`Ready`](ServerEvent::Ready) again when it has heard; or a little
    /// earlier, if a Ready was under way, and then it goes on being told. Returns whether it is there; one
    /// that is on its way is [admitted](Self::admit) soon.
    pub fn reseat(&mut self, now: Instant, client: ClientId, seat: Seat) -> bool {
        let peer = self.peers.get_mut(&client);
        let Some(peer) = peer.filter(|peer| peer.stage == Stage::Playing) else {
            return false;
        };
        peer.seat = seat;
        if let Seat::Spectator(eye) = seat {
            peer.set_eye(eye);
        }
        peer.initialise_again(now);
        self.wake(client);
        true
    }

    /// Moves the place that a spectator looks on from.
    pub fn move_eye(&mut self, client: ClientId, to: Vec2) {
        let peer = self.peers.get_mut(&client);
        if let Some(peer) = peer.filter(|peer| peer.own().is_none()) {
            peer.set_eye(to);
        }
    }

    /// The game has processed every event of a client up to this one, so that the snapshots from now on
    /// hold what came of them.
    ///
    /// A game that never says so is handed no more than a few hundred.
    pub fn processed(&mut self, client: ClientId, event: EventId) {
        if let Some(peer) = self.peers.get_mut(&client) {
            peer.order.process(event);
        }
    }

    /// Offers a method of the game's own.
    pub fn register(&mut self, method: &str) -> Result<(), MethodError> {
        self.methods.register(method, ())
    }

    /// Answers a call, once. The answer to a client that is gone is [`AnswerError::Unasked`].
    pub fn answer(
        &mut self,
        client: ClientId,
        call: CallId,
        reply: Reply<'_>,
    ) -> Result<(), AnswerError> {
        let mut bytes = Vec::new();
        let status = match reply {
            Reply::Answer(answer) => {
                answer.encode(&mut bytes);
                Status::Ok
            }
            Reply::Bytes(answer) if answer.len() > CALL_MAX => return Err(AnswerError::TooLong),
            Reply::Bytes(answer) => {
                bytes.extend_from_slice(answer);
                Status::Ok
            }
            Reply::Failed(status) => status,
        };
        let peer = self.peers.get_mut(&client).ok_or(AnswerError::Unasked)?;
        let number = tickwire_session::CallId(call.0);
        peer.calls
            .answer(number)
            .map_err(|_| AnswerError::Unasked)?;
        self.send(
            client,
            &DownFrame::Result {
                id: call,
                status,
                answer: &bytes,
            },
        );
        Ok(())
    }

    /// Goes on to another module. Everybody loads it, and joins again.
    pub fn change_module(&mut self, module: Module) -> Result<(), ModuleError> {
        let number = ModuleNumber(self.module.number.0.wrapping_add(1));
        let (module, base) = Served::new(number, module)?;
        self.table.world.reset(base);
        self.table.commands.clear();
        self.module = module;
        for connection in self.connections.values_mut() {
            connection.forget_fetches();
        }
        for peer in self.peers.values_mut() {
            peer.unload();
        }
        let clients: Vec<_> = self.peers.keys().copied().collect();
        for client in clients {
            self.tell_module(client);
        }
        Ok(())
    }

    /// Sends a client away, for one of the game's own reasons.
    pub fn kick(&mut self, now: Instant, client: ClientId, reason: Refusal, text: Text<'_>) {
        if let Some(peer) = self.peers.get(&client) {
            let last = DownFrame::Refused { reason, text };
            self.dismiss(now, peer.stream, &last, Departure::Kicked);
        }
    }

    /// The module that the server is in.
    pub const fn module(&self) -> ModuleNumber {
        self.module.number
    }

    /// The newest snapshot; [`SnapshotSeq::NONE`] before the first.
    pub const fn newest(&self) -> SnapshotSeq {
        self.table.world.newest()
    }

    /// The clients that are connected, with their names.
    pub fn clients(&self) -> impl Iterator<Item = (ClientId, &str)> {
        self.peers.iter().map(|(id, peer)| (*id, &*peer.name))
    }

    /// How a client's last snapshot was made; `None` unless it is sent any.
    pub fn mode(&self, client: ClientId) -> Option<Mode> {
        let peer = self.peers.get(&client)?;
        (peer.stage == Stage::Playing).then_some(peer.mode)
    }

    /// The newest snapshot that a client is known to have whole; [`SnapshotSeq::NONE`] if there is none.
    pub fn acknowledged(&self, client: ClientId) -> SnapshotSeq {
        let peer = self.peers.get(&client);
        peer.map_or(SnapshotSeq::NONE, |peer| peer.views.acknowledged())
    }

    /// The time from a snapshot to its acknowledgement, on average; `None` before the first.
    pub fn round_trip(&self, client: ClientId) -> Option<Duration> {
        self.peers.get(&client)?.round_trip()
    }

    /// What a client holds if it has a snapshot whole, by id; `None` if it was not sent that, or not
    /// lately. An object of which it holds a version that is forgotten here has no status.
    ///
    /// For tools and tests. Sending never needs it.
    pub fn view(
        &self,
        client: ClientId,
        of: SnapshotSeq,
    ) -> Option<BTreeMap<ObjectId, Option<AnyStatus>>> {
        let world = &self.table.world;
        let view = self.peers.get(&client)?.views.view(of)?;
        let objects = view.held().iter().filter_map(|held| {
            let status = world.status(held.slot, held.version);
            Some((world.id(held.slot)?, status.copied()))
        });
        Some(objects.collect())
    }

    /// What was refused, noticed and done so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// Forgets a client and its token.
    fn forget(&mut self, client: ClientId, why: Departure) {
        let Some(peer) = self.peers.remove(&client) else {
            return;
        };
        self.attachments.remove(client);
        if self.ended_tokens.insert(peer.token) {
            self.ended_order.push_back(peer.token);
        }
        if self.ended_order.len() > ENDED_TOKENS
            && let Some(oldest) = self.ended_order.pop_front()
        {
            self.ended_tokens.remove(&oldest);
        }
        self.events.push_back(ServerEvent::Left { client, why });
    }
}
