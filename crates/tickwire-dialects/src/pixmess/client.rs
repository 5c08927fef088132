//! The client: logs in, keeps a copy of what it sees, and says what its player does.
//!
//! In: the server's stream, and from the player steps, edits, chats and the chunks to look at. Out:
//! packets, events, and at any moment the blocks of the chunks it holds and the entities in them.
//!
//! Its own steps it takes at once, because the server does not repeat them to it; where the server
//! disagrees it is put right. Block changes it only asks for: they happen when the server says so.

mod event;
mod receive;
mod world;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, RoundTrip, Session, StreamId, TokenBucket,
    Traffic, Transmit,
};

use super::inbox::Inbox;
use super::limits::{
    CLIENT_QUEUE, EVENTS_WAITING, LINGER, MEASURE_PERIOD, MOVE_REFILL, MOVES_AT_ONCE, PING_PERIOD,
    REQUESTS_A_SECOND, TEXT_MAX, TIMEOUT,
};
use super::message::{BlockSet, FromClient, Look, Shared, Version};
use super::outbox::Outbox;
use super::{Block, BlockId, Cell, ChunkId, Direction, EntityId, PlayerId, SetId, Tiles};
use world::World;

pub use event::{ActError, ClientCounters, ClientEvent, EndReason, Phase};
pub use world::Entity;

/// Whom to connect to, and as whom.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server.
    pub server: Addr,
    /// The player's name, 1 to 32 bytes. An empty one makes a spectator, in version 2.
    pub name: String,
    /// What the player looks like.
    pub look: Look,
    /// Which version to speak.
    pub version: Version,
}

/// The only stream of a client.
const STREAM: StreamId = StreamId::Dialled(0);

/// A pixmess client.
#[derive(Debug)]
pub struct Client {
    server: Addr,
    name: String,
    look: Look,
    version: Version,
    phase: Phase,
    world: World,
    inbox: Inbox,
    outbox: Outbox<FromClient<Shared>>,
    /// The layer set that this client's packets mean.
    our_set: SetId,
    room: u32,
    orders: VecDeque<Transmit>,
    moves: TokenBucket,
    /// Whether steps were taken that the server has not confirmed.
    stepped: bool,
    last_heard: Instant,
    /// When the last ping was sent, or the login answered.
    last_ping: Instant,
    /// When the ping was sent that is not answered yet.
    pinged: Option<Instant>,
    /// When a client that leaves is gone, whoever has heard it, and why it leaves.
    leaves: (Instant, EndReason),
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
    round_trip: RoundTrip,
    traffic: Traffic,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            server: config.server,
            name: config.name,
            look: config.look,
            version: config.version,
            phase: Phase::Dialling,
            world: World::default(),
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            our_set: SetId::ROOT,
            room: Room::CLOSED.bytes,
            orders: VecDeque::from([Transmit::Dial {
                on: STREAM,
                to: config.server,
            }]),
            moves: TokenBucket::new(now, MOVES_AT_ONCE, MOVE_REFILL),
            stepped: false,
            last_heard: now,
            last_ping: now,
            pinged: None,
            leaves: (Instant::NEVER, EndReason::Quit),
            events: VecDeque::new(),
            counters: ClientCounters::default(),
            round_trip: RoundTrip::new(),
            traffic: Traffic::NONE,
        }
    }

    /// How far it has come.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// This client's number, once logged in.
    pub const fn player(&self) -> Option<PlayerId> {
        self.world.player
    }

    /// Where this client's player stands.
    pub fn position(&self) -> Option<Cell> {
        self.world.own().map(|own| own.at)
    }

    /// Everything that stands in the chunks held, this client's own entity included.
    pub fn entities(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.world.entities.iter().map(|(&id, entity)| (id, entity))
    }

    /// The chunks held, with their blocks.
    pub fn chunks(&self) -> impl Iterator<Item = (ChunkId, &Tiles)> {
        self.world.chunks.iter().map(|(&id, tiles)| (id, tiles))
    }

    /// The blocks of a chunk, if it is held.
    pub fn chunk(&self, chunk: ChunkId) -> Option<&Tiles> {
        self.world.chunks.get(&chunk)
    }

    /// A block, if its chunk is held.
    pub fn block(&self, id: BlockId) -> Option<Block> {
        let tiles = self.chunk(id.chunk())?;
        Some(tiles.block(id.sublayer, id.cell.split().1))
    }

    /// The movable layer sets, with the cells of the root on which their corners lie.
    pub fn sets(&self) -> impl Iterator<Item = (SetId, Cell)> {
        self.world.sets.iter().map(|(&set, &at)| (set, at))
    }

    /// Takes a step, at once. Whether there is something in the way is the server's to know: it puts
    /// the player back if so.
    pub fn walk(&mut self, now: Instant, direction: Direction) -> Result<(), ActError> {
        self.check_player()?;
        let own = self.world.player.map(PlayerId::entity);
        let own = own.and_then(|own| self.world.entities.get_mut(&own));
        let own = own.ok_or(ActError::NotPlaying)?;
        let to = own.at.step(direction).ok_or(ActError::TooFar)?;
        self.moves.take(now).ok_or(ActError::TooFast)?;
        own.at = to;
        self.stepped = true;
        let direction = direction.code();
        self.outbox.push(FromClient::Movement { direction });
        Ok(())
    }

    /// Asks for a block to be another. It is when [`ClientEvent::BlockChanged`] says so.
    pub fn edit(&mut self, id: BlockId, block: Block) -> Result<(), ActError> {
        let own = self.check_player()?;
        let corner = self.world.corner(id.set).ok_or(ActError::UnknownSet)?;
        let cell = id.cell.low();
        if cell.nearest(own.seen_from(corner)) != id.cell {
            return Err(ActError::TooFar);
        }
        self.select(id.set);
        self.outbox.push(FromClient::BlockSet(BlockSet {
            sublayer: id.sublayer,
            cell,
            block,
        }));
        Ok(())
    }

    /// Asks for a chunk: [`ClientEvent::ChunkLoaded`] or [`ClientEvent::ChunkReleased`] is the answer.
    pub fn request(&mut self, chunk: ChunkId) -> Result<(), ActError> {
        self.check_open()?;
        self.world.corner(chunk.set).ok_or(ActError::UnknownSet)?;
        if self.world.wanted.len() >= REQUESTS_A_SECOND {
            return Err(ActError::TooMuchWaiting);
        }
        self.world.wanted.insert(chunk);
        self.select(chunk.set);
        self.outbox.push(FromClient::LayerRequest(chunk.at));
        Ok(())
    }

    /// Lets a chunk go. The entities in it go when the server has heard it.
    pub fn release(&mut self, chunk: ChunkId) -> Result<(), ActError> {
        self.check_open()?;
        self.world.corner(chunk.set).ok_or(ActError::UnknownSet)?;
        self.world.drop_chunk(chunk);
        self.select(chunk.set);
        self.outbox.push(FromClient::LayerRelease(chunk.at));
        Ok(())
    }

    /// Hears no more of an entity, until its chunk is loaded again.
    pub fn ignore(&mut self, entity: EntityId) -> Result<(), ActError> {
        self.check_open()?;
        if self.world.player.map(PlayerId::entity) == Some(entity) {
            return Err(ActError::NotPlaying);
        }
        self.world.entities.remove(&entity);
        self.outbox.push(FromClient::EntityDestruction { entity });
        Ok(())
    }

    /// Says something to everybody, or gives a command that begins with a slash.
    pub fn chat(&mut self, text: &str) -> Result<(), ActError> {
        self.check_player()?;
        if text.is_empty() || text.len() > TEXT_MAX {
            return Err(ActError::Length { limit: TEXT_MAX });
        }
        self.outbox.push(FromClient::Chat { text: text.into() });
        Ok(())
    }

    /// Says that it goes, after everything else that was said.
    pub fn quit(&mut self, now: Instant, reason: &str) {
        match self.phase {
            Phase::Dialling => self.end(EndReason::Quit),
            Phase::LoggingIn | Phase::Playing => self.leave(now, reason, EndReason::Quit),
            Phase::Leaving | Phase::Ended(_) => {}
        }
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    /// Fails unless something can be said.
    fn check_open(&self) -> Result<(), ActError> {
        match self.phase {
            Phase::Playing if self.outbox.messages() < CLIENT_QUEUE => Ok(()),
            Phase::Playing => Err(ActError::TooMuchWaiting),
            _ => Err(ActError::NotPlaying),
        }
    }

    /// Fails unless this client's player can do something; where it stands.
    fn check_player(&self) -> Result<Cell, ActError> {
        self.check_open()?;
        self.position().ok_or(ActError::NotPlaying)
    }

    fn select(&mut self, set: SetId) {
        if self.our_set != set {
            self.our_set = set;
            self.outbox.push(FromClient::LayersetSelect { set });
        }
    }

    fn tell(&mut self, event: ClientEvent) {
        if self.events.len() >= EVENTS_WAITING {
            self.events.pop_front();
            self.counters.overrun += 1;
        }
        self.events.push_back(event);
    }

    /// Tells the server why this client goes, behind everything else that was said.
    fn leave(&mut self, now: Instant, reason: &str, why: EndReason) {
        let reason = reason.into();
        self.outbox.push(FromClient::Kick { reason });
        self.phase = Phase::Leaving;
        self.leaves = (now + LINGER, why);
    }

    /// What a client that leaves ends with.
    fn end_leaving(&mut self) {
        self.end(self.leaves.1.clone());
    }

    /// Ends it, and the stream if it is still there.
    fn end(&mut self, why: EndReason) {
        if !matches!(self.phase, Phase::Ended(_)) {
            self.phase = Phase::Ended(why.clone());
            self.outbox.clear();
            self.orders.push_back(Transmit::Finish { on: STREAM });
            self.tell(ClientEvent::Ended(why));
        }
    }

    fn ping(&mut self, now: Instant) {
        self.last_ping = now;
        self.pinged = Some(now);
        self.outbox.push_urgent(FromClient::Ping);
    }

    fn hear_pong(&mut self, now: Instant) {
        if let Some(pinged) = self.pinged.take() {
            self.round_trip.add_sample(now.since(pinged));
        }
    }

    /// When the round trip may be measured again. A ping that was not answered is not followed by
    /// another: its answer would seem to be the other's.
    fn next_measure(&self) -> Instant {
        match self.pinged {
            None => self.last_ping + MEASURE_PERIOD,
            Some(_) => Instant::NEVER,
        }
    }

    /// When a ping is due, if nothing more is heard: for the first measurement, or in silence.
    fn next_ping(&self) -> Instant {
        let silence = self.last_heard.max(self.last_ping) + PING_PERIOD;
        match self.round_trip.mean() {
            None => silence.min(self.next_measure()),
            Some(_) => silence,
        }
    }

    /// When something is due, if nothing more is heard.
    fn deadline(&self) -> Instant {
        let silent = self.last_heard + TIMEOUT;
        match self.phase {
            Phase::Dialling | Phase::LoggingIn => silent,
            Phase::Playing => silent.min(self.next_ping()),
            Phase::Leaving => self.leaves.0,
            Phase::Ended(_) => Instant::NEVER,
        }
    }
}

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if on == STREAM && self.phase == Phase::Dialling {
            self.phase = Phase::LoggingIn;
            self.last_heard = now;
            let name = self.name.as_str().into();
            self.outbox.push(FromClient::Login {
                version: self.version.code(),
                look: self.look,
                name,
            });
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == STREAM {
            self.receive(now, bytes);
        }
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if path == Path::Stream(STREAM) {
            self.room = room.bytes;
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if path != Path::Stream(STREAM) {
            return;
        }
        match self.phase {
            Phase::Leaving => self.end_leaving(),
            Phase::Dialling => self.end(EndReason::Unreachable),
            _ => self.end(EndReason::Disconnected),
        }
        // There is nothing left to finish.
        self.orders.clear();
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.deadline() {
            return;
        }
        let silent = now.since(self.last_heard) >= TIMEOUT;
        match self.phase {
            Phase::Dialling => self.end(EndReason::Unreachable),
            Phase::Leaving => self.end_leaving(),
            Phase::LoggingIn | Phase::Playing if silent => self.end(EndReason::TimedOut),
            Phase::Playing => self.ping(now),
            Phase::LoggingIn | Phase::Ended(_) => {}
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        if matches!(self.phase, Phase::Ended(_)) {
            return None;
        }
        if self.room > 0 && !self.outbox.is_empty() {
            // A ping beside something else breaks no silence: a server that measures in silence
            // goes on doing so.
            if self.phase == Phase::Playing && now >= self.next_measure() {
                self.ping(now);
            }
            let before = out.len();
            self.traffic.messages_out += self.outbox.write(self.room, out);
            let written = out.len() - before;
            self.room -= u32::try_from(written).unwrap_or(self.room);
            self.traffic.sent(written);
            return Some(Transmit::Stream { on: STREAM });
        }
        if self.phase == Phase::Leaving && self.outbox.is_empty() {
            self.end_leaving();
            return self.orders.pop_front();
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.deadline()).filter(|at| *at != Instant::NEVER)
    }

    // pixmess has no datagrams.
    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let state = match self.phase {
            Phase::Dialling => "Dialling",
            Phase::LoggingIn => "LoggingIn",
            Phase::Playing => "Playing",
            Phase::Leaving => "Leaving",
            Phase::Ended(_) => "Ended",
        };
        let mut stats = PeerStats::new("", self.server, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.refused = self.counters.violations;
        visit(&stats);
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Client {
    type Event = ClientEvent;

    fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }
}
