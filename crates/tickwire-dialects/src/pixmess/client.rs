//! The client: logs in, keeps a copy of what it sees, and says what its player does.
//!
//! In: the server's stream, and from the player steps, edits, chats and the chunks to look at. Out:
//! packets, events, and at any moment the blocks of the chunks it holds and the entities in them.
//!
//! Its own steps it takes at once, because the server does not repeat them to it; where the server
//! disagrees it is put right. Block changes it only asks for: they happen when the server says so.

mod act;
mod config;
mod event;
mod receive;
mod world;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, StreamLoss, Transmit,
    Uplink,
};

use super::inbox::Inbox;
use super::limits::{EVENTS_WAITING, LINGER, MEASURE_PERIOD, PING_PERIOD, TIMEOUT};
use super::message::{FromClient, Shared, Version};
use super::outbox::Outbox;
use super::{Block, BlockId, Cell, ChunkId, EntityId, PlayerId, SetId, Tiles};
use act::Rates;
use world::World;

pub use config::ClientConfig;
pub use event::{ActError, ClientCounters, ClientEvent, EndReason, Phase};
pub use world::Entity;

/// A pixmess client.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    /// The connection: the second one, if the server did not speak version 2 on the first.
    uplink: Uplink,
    phase: Phase,
    world: World,
    inbox: Inbox,
    outbox: Outbox<FromClient<Shared>>,
    /// The layer set that this client's packets mean.
    our_set: SetId,
    rates: Rates,
    /// Whether it has ever taken a step. Before that, what the server says of where it stands is true.
    stepped: bool,
    /// What the server was told last of where this client stands, unless steps were taken since.
    reported: Option<Cell>,
    /// Whether the server has to be told again.
    owes_report: bool,
    /// When the last ping was sent, or the login answered.
    last_ping: Instant,
    /// When the ping was sent that is not answered yet.
    pinged: Option<Instant>,
    /// When a client that leaves is gone, whoever has heard it, and why it leaves.
    leaves: (Instant, EndReason),
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            uplink: Uplink::dial(now, config.server),
            config,
            phase: Phase::Dialling,
            world: World::default(),
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            our_set: SetId::ROOT,
            rates: Rates::new(now),
            stepped: false,
            reported: None,
            owes_report: false,
            last_ping: now,
            pinged: None,
            leaves: (Instant::NEVER, EndReason::Quit),
            events: VecDeque::new(),
            counters: ClientCounters::default(),
        }
    }

    /// How far it has come.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The version that it speaks, or tries to: a server that does not know version 2 makes it 1.
    pub const fn version(&self) -> Version {
        self.config.version
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
        Some(tiles.block(id.sublayer, id.cell.spot()))
    }

    /// The movable layer sets, with the cells of the root on which their corners lie.
    pub fn sets(&self) -> impl Iterator<Item = (SetId, Cell)> {
        self.world.sets.iter().map(|(&set, &at)| (set, at))
    }

    /// The cell of the root on which a set's corner lies, if there is such a set. The root is one.
    pub fn corner(&self, set: SetId) -> Option<Cell> {
        self.world.corner(set)
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
            self.uplink.end();
            self.tell(ClientEvent::Ended(why));
        }
    }

    /// Ends this connection and opens another, to speak version 1.
    fn step_down(&mut self, now: Instant) {
        self.uplink.redial(now);
        self.config.version = Version::One;
        self.phase = Phase::Dialling;
        self.world = World::default();
        self.outbox = Outbox::new();
    }

    /// Says where this client believes to stand, once everything else is said: so it is one message
    /// however often the server moves it, and true after all that was said before.
    fn report(&mut self) {
        if self.owes_report
            && self.outbox.messages() == 0
            && let Some(at) = self.position()
        {
            self.owes_report = false;
            self.reported = Some(at);
            self.outbox.push(FromClient::EntityPosition { at });
        }
    }

    fn ping(&mut self, now: Instant) {
        self.last_ping = now;
        self.pinged = Some(now);
        self.outbox.push_urgent(FromClient::Ping);
    }

    fn handle_pong(&mut self, now: Instant) {
        if let Some(pinged) = self.pinged.take() {
            self.uplink.round_trip.add_sample(now.since(pinged));
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

    /// When something is due, if nothing more is heard.
    fn deadline(&self) -> Instant {
        let heard = self.uplink.last_heard();
        let silent = heard + TIMEOUT;
        match self.phase {
            Phase::Dialling | Phase::LoggingIn => silent,
            Phase::Playing => silent.min(heard.max(self.last_ping) + PING_PERIOD),
            Phase::Leaving => self.leaves.0,
            Phase::Ended(_) => Instant::NEVER,
        }
    }
}

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if self.uplink.handle_opened(now, on) {
            self.phase = Phase::LoggingIn;
            self.outbox.push(FromClient::Login {
                version: self.config.version.code(),
                look: self.config.look,
                name: self.config.name.as_str().into(),
            });
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == self.uplink.stream() {
            self.receive(now, bytes);
        }
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.uplink.handle_room(path, room);
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        match (self.uplink.handle_closed(path), &self.phase) {
            (None, _) => {}
            (_, Phase::Leaving) => self.end_leaving(),
            (Some(StreamLoss::Unreachable), _) => self.end(EndReason::Unreachable),
            (Some(StreamLoss::Closed), _) => self.end(EndReason::Disconnected),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now < self.deadline() {
            return;
        }
        let silent = now.since(self.uplink.last_heard()) >= TIMEOUT;
        match self.phase {
            Phase::Dialling => self.end(EndReason::Unreachable),
            Phase::Leaving => self.end_leaving(),
            Phase::LoggingIn | Phase::Playing if silent => self.end(EndReason::TimedOut),
            Phase::Playing => self.ping(now),
            Phase::LoggingIn | Phase::Ended(_) => {}
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.uplink.poll_order() {
            return Some(order);
        }
        if matches!(self.phase, Phase::Ended(_)) {
            return None;
        }
        let room = self.uplink.stream_room();
        if room > 0 && self.phase == Phase::Playing {
            self.report();
        }
        if room > 0 && !self.outbox.is_empty() {
            // A ping beside something else breaks no silence: a server that measures in silence
            // goes on doing so.
            if self.phase == Phase::Playing && now >= self.next_measure() {
                self.ping(now);
            }
            let before = out.len();
            self.uplink.traffic.messages_out += self.outbox.write(room, out);
            return Some(self.uplink.sent_on_stream(now, out.len() - before));
        }
        if self.phase == Phase::Leaving && self.outbox.is_empty() {
            self.end_leaving();
            return self.uplink.poll_order();
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.deadline()).filter(|at| *at != Instant::NEVER)
    }

    // pixmess has no datagrams.
    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}

    fn set_busy(&mut self, _is_busy: bool) {
        // A client turns nobody away.
    }

    fn shut_down(&mut self, now: Instant) {
        self.quit(now, "");
    }

    fn is_finished(&self) -> bool {
        self.uplink.is_finished()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let state = match self.phase {
            Phase::Dialling => "Dialling",
            Phase::LoggingIn => "LoggingIn",
            Phase::Playing => "Playing",
            Phase::Leaving => "Leaving",
            Phase::Ended(_) => "Ended",
        };
        let mut stats = self.uplink.stats("", state);
        stats.refused = self.counters.violations;
        stats.queued = Some(self.outbox.waiting() as u64);
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
