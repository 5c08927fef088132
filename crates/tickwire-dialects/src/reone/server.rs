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
mod client;
mod commands;
mod connection;
mod datagrams;
mod drive;
mod event;
mod frames;
pub mod limits;
mod module;
mod order;
mod playing;
mod receive;
mod scopes;
mod sent_snapshots;
mod turn;
mod world;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU16;
use core::time::Duration;

use tickwire_session::{Addr, Instant, MethodError, Methods, Peer, PeerId, Peers, Token};
use tickwire_state::{SightRange, Vec2};
use tickwire_wire::Serial;

use super::delta::Words;
use super::limits::CALL_MAX;
use super::message::{Compression, DownFrame, Invalid, Method, Refusal, Status};
use super::{
    AnyStatus, CallId, ClientId, EventId, GLOBAL, Item, Mode, ModuleNumber, ObjectId, ScopeError,
    ScopeState, SnapshotSeq, Text,
};
use changes::Changes;
use client::{Client, Stage};
use commands::Commands;
use connection::{Connection, Talk};
use datagrams::{Scratch, Staged};
use limits::{
    CLIENTS, ENDED_TOKENS, LERP, ROOMS_MAX, SIGHT, SNAPSHOT_BYTES, SNAPSHOT_BYTES_MAX, TICK_RATE,
};
use module::{BaseState, Served};
use scopes::{HeldScopes, Scopes};
use world::World;

pub use client::Seat;
pub use commands::Command;
pub use event::{AnswerError, Departure, Question, Reply, ServerCounters, ServerEvent, ShownAt};
pub use module::{Module, ModuleError};
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
    pace: Pace,
    clients_max: usize,
    table: Table,
    peers: Peers<Connection>,
    /// Tokens of streams that ended, as many as are remembered, and in which order they did.
    ended_tokens: BTreeSet<Token>,
    ended_order: VecDeque<Token>,
    methods: Methods<()>,
    /// Addresses that are to be told that their datagrams mean nothing here.
    strangers: VecDeque<(Addr, Invalid)>,
    staged: Staged,
    scratch: Scratch,
    events: VecDeque<ServerEvent>,
    counters: ServerCounters,
    closing: bool,
}

/// How snapshots come, as clients are told.
#[derive(Clone, Copy, Debug)]
struct Pace {
    tick_rate: NonZeroU16,
    lerp_ms: u16,
}

/// What every client's snapshot is made from.
#[derive(Debug)]
struct Table {
    world: World,
    scopes: Scopes,
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
            pace: Pace {
                tick_rate: config.tick_rate,
                lerp_ms: u16::try_from(config.lerp.as_millis()).unwrap_or(u16::MAX),
            },
            clients_max: config.clients,
            table: Table {
                world: World::new(base.objects, cell),
                scopes: Scopes::new(base.variables),
                changes: Changes::default(),
                commands: Commands::default(),
                rules: Rules {
                    sight: config.sight,
                    snapshot_bytes: config.snapshot_bytes.min(SNAPSHOT_BYTES_MAX),
                    compression: config.compression,
                },
            },
            // Nobody has joined, whenever it begins.
            peers: Peers::new(Instant::ZERO, secret, ROOMS_MAX),
            ended_tokens: BTreeSet::new(),
            ended_order: VecDeque::new(),
            methods,
            strangers: VecDeque::new(),
            staged: Staged::default(),
            scratch: Scratch::default(),
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
    pub fn publish(&mut self, tick: u32, objects: impl IntoIterator<Item = Object>) -> SnapshotSeq {
        let Table {
            world,
            scopes,
            changes,
            commands,
            ..
        } = &mut self.table;
        scopes.publish();
        debug_assert!(
            world.newest() == SnapshotSeq::NONE || tick.is_newer_than(world.tick()),
            "ticks never go back nor stand still"
        );
        self.counters.object_refused += world.publish(tick, objects.into_iter());
        changes.begin(world);
        commands.begin(world);
        self.peers.mark_all_ready(|peer| {
            let Peer { link, state } = peer;
            let playing = state.client_mut().and_then(Client::playing_mut);
            let was_due = playing.map(|playing| core::mem::replace(&mut playing.is_due, true));
            // One that was not polled since the last snapshot is sent this one instead.
            if was_due == Some(true) {
                link.updates.hold_back();
            }
            was_due.is_some()
        });
        self.table.world.newest()
    }

    /// Sets a variable, from the next snapshot on: the game's own, whose scope is [`GLOBAL`], which everybody is
    /// told, or a creature's, which its player is told. 0 is as good as none. All that is not in the base of a
    /// module ends with it.
    pub fn set_variable(
        &mut self,
        scope: ObjectId,
        name: &str,
        value: i32,
    ) -> Result<(), ScopeError> {
        let scopes = &mut self.table.scopes;
        let set = scopes.set(scope);
        if set.map_or(0, |state| state.variable(name)) == value {
            return Ok(());
        }
        let name = Words::new(name).map_err(ScopeError::Name)?;
        scopes.change(scope, |state| state.set_variable(name, value))
    }

    /// Puts something into a slot of what a creature carries, or takes it out, from the next snapshot on. Its
    /// player is told.
    pub fn set_item(
        &mut self,
        owner: ObjectId,
        slot: u8,
        item: Option<Item>,
    ) -> Result<(), ScopeError> {
        if owner == GLOBAL {
            return Err(ScopeError::NoCreature);
        }
        let scopes = &mut self.table.scopes;
        if scopes.set(owner).and_then(|state| state.item(slot)) == item.as_ref() {
            return Ok(());
        }
        scopes.change(owner, |state| state.set_item(slot, item))
    }

    /// Forgets everything that belongs to a creature, with the next snapshot.
    pub fn clear_scope(&mut self, owner: ObjectId) {
        self.table.scopes.remove(owner);
    }

    /// Tells clients of something that happens now, at once.
    pub fn command(&mut self, command: Command<'_>) {
        let Table {
            world, commands, ..
        } = &mut self.table;
        self.counters.command_overrun += u64::from(commands.push(world, command));
        self.peers
            .mark_all_ready(|peer| peer.state.client().and_then(Client::playing).is_some());
    }

    /// Decides what a client is that is [`Joining`](ServerEvent::Joining). One that is not is no
    /// mistake: it may have left meanwhile.
    pub fn admit(&mut self, now: Instant, client: ClientId, seat: Seat) {
        let id = peer_id(client);
        let client = self.peer_client(id);
        if let Some(client) = client.filter(|client| matches!(client.stage, Stage::Joining)) {
            client.admit(now, seat);
            self.peers.mark_ready(id);
        }
    }

    /// Makes something else of a client that is there: a player of a spectator, or the reverse. It is told
    /// as at its admission, and is [`Ready`](ServerEvent::Ready) again when it has heard; or a little
    /// earlier, if a Ready was under way, and then it goes on being told. Returns whether it is there; one
    /// that is on its way is [admitted](Self::admit) soon.
    pub fn reseat(&mut self, now: Instant, client: ClientId, seat: Seat) -> bool {
        let id = peer_id(client);
        let client = self.peer_client(id);
        let Some(client) = client.filter(|client| client.playing().is_some()) else {
            return false;
        };
        client.reseat(now, seat);
        self.peers.mark_ready(id);
        true
    }

    /// Moves the place that a spectator looks on from.
    pub fn move_eye(&mut self, client: ClientId, to: Vec2) {
        let seated = self
            .peer_client(peer_id(client))
            .and_then(Client::seated_mut);
        if let Some(seated) = seated.filter(|seated| seated.own().is_none()) {
            seated.eye = to;
        }
    }

    /// The game has processed every event of a client up to this one, so that the snapshots from now on
    /// hold what came of them.
    ///
    /// A game that never says so is handed no more than a few hundred.
    pub fn processed(&mut self, client: ClientId, event: EventId) {
        if let Some(client) = self.peer_client(peer_id(client)) {
            client.order.process(event);
        }
    }

    /// Offers a method of the game's own.
    pub fn register(&mut self, method: &str) -> Result<(), MethodError> {
        self.methods.register(method, ())
    }

    /// Answers a call, once. The answer to a client that is gone is [`AnswerError::Unasked`]. One that had
    /// more than its rate of bytes is refused instead.
    pub fn answer(
        &mut self,
        now: Instant,
        client: ClientId,
        call: CallId,
        reply: Reply<'_>,
    ) -> Result<(), AnswerError> {
        let mut bytes = Vec::new();
        let mut status = match reply {
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
        let id = peer_id(client);
        let client = self.peer_client(id).ok_or(AnswerError::Unasked)?;
        let number = tickwire_session::CallId(call.0);
        client
            .calls
            .answer(number)
            .map_err(|_| AnswerError::Unasked)?;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if client.answer_bytes.take_many(now, length).is_none() {
            self.counters.answer_refused += 1;
            status = Status::Refused;
            bytes.clear();
        }
        self.send(
            id,
            &DownFrame::Result {
                id: call,
                status,
                answer: &bytes,
            },
        );
        Ok(())
    }

    /// Goes on to another module. Everybody loads it, and joins again.
    pub fn change_module(&mut self, now: Instant, module: Module) -> Result<(), ModuleError> {
        let number = ModuleNumber(self.module.number.0.wrapping_add(1));
        let (module, base) = Served::new(number, module)?;
        let BaseState { objects, variables } = base;
        self.table.world.reset(objects);
        self.table.scopes = Scopes::new(variables);
        self.table.commands.clear();
        self.module = module;
        let mut loading = Vec::new();
        for (id, peer) in self.peers.iter_mut() {
            peer.state.forget_fetches();
            if let Some(client) = peer.state.client_mut() {
                client.unload(now);
                loading.push(id);
            }
        }
        for id in loading {
            self.reset_deadline(now, id);
            self.tell_module(id);
        }
        Ok(())
    }

    /// Sends a client away, for one of the game's own reasons.
    pub fn kick(&mut self, now: Instant, client: ClientId, reason: Refusal, text: Text<'_>) {
        let text = text.into();
        let last = DownFrame::Refused { reason, text };
        self.dismiss(now, peer_id(client), &last, Departure::Kicked);
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
        let peers = self.peers.iter();
        peers.filter_map(|(id, peer)| Some((client_id(id), &*peer.state.client()?.name)))
    }

    /// How a client's last snapshot was made; `None` unless it is sent any.
    pub fn mode(&self, client: ClientId) -> Option<Mode> {
        let playing = self.client(client)?.playing()?;
        Some(playing.mode)
    }

    /// The newest snapshot that a client is known to have whole; [`SnapshotSeq::NONE`] if there is none.
    pub fn acknowledged(&self, client: ClientId) -> SnapshotSeq {
        let playing = self.client(client).and_then(Client::playing);
        playing.map_or(SnapshotSeq::NONE, |playing| playing.sent.acknowledged())
    }

    /// The time from a snapshot to its acknowledgement, on average; `None` before the first.
    pub fn round_trip(&self, client: ClientId) -> Option<Duration> {
        self.client(client)?.round_trip()
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
        let snapshot = self.client(client)?.playing()?.sent.snapshot(of)?;
        let objects = snapshot.held().iter().filter_map(|held| {
            let status = world.status(held.slot, held.version);
            Some((world.id(held.slot)?, status.copied()))
        });
        Some(objects.collect())
    }

    /// The variables and the inventory that a client holds if it has a snapshot whole, by scope, as
    /// [`view`](Self::view) tells of objects.
    pub fn scopes(
        &self,
        client: ClientId,
        of: SnapshotSeq,
    ) -> Option<BTreeMap<ObjectId, Arc<ScopeState>>> {
        let playing = self.client(client)?.playing()?;
        let HeldScopes { global, own } = &playing.sent.snapshot(of)?.scopes;
        let own = playing.seated.own().map(|id| (id, own.clone()));
        let all = own.into_iter().chain([(GLOBAL, global.clone())]);
        Some(all.filter(|(_, state)| !state.is_empty()).collect())
    }

    /// What was refused, noticed and done so far.
    pub const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    fn client(&self, client: ClientId) -> Option<&Client> {
        self.peers.get(peer_id(client))?.state.client()
    }

    fn peer_client(&mut self, id: PeerId) -> Option<&mut Client> {
        self.peers.get_mut(id)?.state.client_mut()
    }

    /// Takes down when a client is to be looked after next.
    fn reset_deadline(&mut self, now: Instant, id: PeerId) {
        let client = self.peers.get(id).and_then(|peer| peer.state.client());
        let at = client.and_then(Client::deadline);
        // Whoever is being closed has a deadline that is not its own.
        if client.is_some() {
            // What is due at once is done in this drain, and a deadline is later than now.
            self.peers
                .set_deadline(id, at.map(|at| at.max(now + MOMENT)));
        }
    }

    /// A stream is over. If it was a client's, that is gone with its token.
    fn note_gone(&mut self, id: PeerId, talk: Talk, why: Departure) {
        let Talk::Client(client) = talk else {
            return;
        };
        if self.ended_tokens.insert(client.token) {
            self.ended_order.push_back(client.token);
        }
        if self.ended_order.len() > ENDED_TOKENS
            && let Some(oldest) = self.ended_order.pop_front()
        {
            self.ended_tokens.remove(&oldest);
        }
        let client = client_id(id);
        self.events.push_back(ServerEvent::Left { client, why });
    }
}

/// The shortest time there is.
const MOMENT: Duration = Duration::from_micros(1);

/// A client has the number of its stream's peer.
const fn client_id(id: PeerId) -> ClientId {
    ClientId(id.0)
}

const fn peer_id(client: ClientId) -> PeerId {
    PeerId(client.0)
}
