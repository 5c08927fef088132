//! The client: connects, keeps a copy of the server's world, and says what its player does.
//!
//! In: the server's datagrams, and from the player controls, chats and choices. Out: packets, events,
//! and at any moment a picture of every entity, moved on from its last two updates. What the picture
//! looks like and how controls are pressed is the application's.

mod event;
mod prediction;
mod receive;
mod world;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Host, Instant, Loss, Path, PeerStats, Room, RoundTrip, Session, StreamId,
    Traffic, Transmit, Updates,
};
use tickwire_state::WrappingClock;

use super::input::History;
use super::limits::{
    AHEAD, CHAT_MAX, CLIENT_QUEUE, INPUT_PERIOD, LEAVE_PERIOD, NAME_MAX, RETRY_PERIOD, SEND_PERIOD,
    SETTLE, TIMEOUT,
};
use super::message::{Input, Reliable, Selection, Unreliable};
use super::packet::Header;
use super::reliable::{Inbox, Outbox};
use super::{Controls, EntityId, PlayerId, cut_name};

pub use event::{ClientCounters, ClientEvent, EndReason, Phase, SayError};
pub use prediction::{Shown, Track};
pub use world::{Entity, Player};

/// Whom to connect to, and as whom.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server.
    pub server: Addr,
    /// The player's name, 1 to 32 bytes; a longer one is cut, an empty one is `player`.
    pub name: String,
}

/// An lwar client.
#[derive(Debug)]
pub struct Client {
    began: Instant,
    server: Addr,
    phase: Phase,
    player: Option<PlayerId>,
    world: world::World,
    clock: WrappingClock,
    outbox: Outbox,
    inbox: Inbox,
    /// Timestamp of the newest packet.
    newest: Option<u32>,
    /// Timestamp of the newest sending that updates came of.
    newest_update: Option<u32>,
    last_heard: Instant,
    /// When updates last came.
    updates: Updates,
    /// When the phase began.
    since: Instant,
    /// Ship and weapons were chosen.
    has_selected: bool,
    controls: Controls,
    history: History,
    frame: u32,
    /// When the next packet is sent anyway.
    next_packet: Instant,
    /// The game has steered since the last Input.
    is_fresh: bool,
    /// When reliable messages are repeated.
    next_repeat: Instant,
    /// Whether something arrived that the server wants acknowledged.
    ack_due: bool,
    /// What the server said, if that was the last reliable message before this one.
    farewell: Option<String>,
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
    round_trip: RoundTrip,
    traffic: Traffic,
    loss: Loss,
    resent: u64,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        let mut outbox = Outbox::new();
        outbox.push(&Reliable::Connect {
            name: cut_name(&config.name, "player"),
        });
        Self {
            began: now,
            server: config.server,
            phase: Phase::Connecting,
            player: None,
            world: world::World::default(),
            clock: WrappingClock::default(),
            outbox,
            inbox: Inbox::default(),
            newest: None,
            newest_update: None,
            last_heard: now,
            updates: Updates::NONE,
            since: now,
            has_selected: false,
            controls: Controls::default(),
            history: History::default(),
            frame: 0,
            next_packet: now,
            is_fresh: false,
            next_repeat: now,
            ack_due: false,
            farewell: None,
            events: VecDeque::new(),
            counters: ClientCounters::default(),
            round_trip: RoundTrip::new(),
            traffic: Traffic::NONE,
            loss: Loss::new(),
            resent: 0,
        }
    }

    /// How far it has come.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// This client's player, once connected.
    pub const fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// Everybody who is there, this client and the server included.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &Player)> {
        self.world.players.iter().map(|(&id, player)| (id, player))
    }

    /// Everything that is there, as last told.
    pub fn entities(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.world.entities.iter().map(|(&id, entity)| (id, entity))
    }

    /// Where an entity is at this moment, moved on from its last two updates; `None` before the
    /// first.
    pub fn shown(&self, now: Instant, entity: &Entity) -> Option<Shown> {
        entity.track.shown(now, &self.clock)
    }

    /// How long ago the newest updates came.
    pub fn update_age(&self, now: Instant) -> Option<core::time::Duration> {
        self.updates.age(now)
    }

    /// Sets what the player does from now on.
    pub const fn steer(&mut self, controls: Controls) {
        self.controls = controls;
        self.is_fresh = true;
    }

    /// Says something to everybody.
    pub fn chat(&mut self, text: &str) -> Result<(), SayError> {
        let player = self.speaker(text, CHAT_MAX)?;
        self.say(&Reliable::Chat { player, text })
    }

    /// Takes another name.
    pub fn rename(&mut self, name: &str) -> Result<(), SayError> {
        let player = self.speaker(name, NAME_MAX)?;
        self.say(&Reliable::Name { player, name })
    }

    /// Chooses ship and weapons: the first time this is what brings the ship.
    pub fn select(&mut self, selection: Selection) -> Result<(), SayError> {
        let player = self.speaker("selection", NAME_MAX)?;
        self.say(&Reliable::Selection { player, selection })?;
        self.has_selected = true;
        Ok(())
    }

    /// Says that it goes; it is over when the server has heard it, or a second later.
    pub fn disconnect(&mut self, now: Instant) {
        match self.phase {
            Phase::Leaving | Phase::Ended(_) => {}
            Phase::Connecting => self.end(EndReason::Disconnected),
            Phase::Syncing | Phase::Settling | Phase::Playing => {
                // What was never sent would only stand before it.
                self.outbox.drop_unsent();
                self.outbox.push(&Reliable::Disconnect);
                self.enter(now, Phase::Leaving);
                (self.next_packet, self.next_repeat) = (now, now);
            }
        }
    }

    /// Why the server sent this client away, if it did and said so.
    pub fn farewell(&self) -> Option<&str> {
        let was_removed = self.phase == Phase::Ended(EndReason::Removed);
        self.farewell.as_deref().filter(|_| was_removed)
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    /// The player to speak as, if there is one and `text` may be said.
    fn speaker(&self, text: &str, limit: u8) -> Result<PlayerId, SayError> {
        if text.is_empty() || text.len() > limit.into() {
            return Err(SayError::Length { limit });
        }
        match (self.phase, self.player) {
            (Phase::Syncing | Phase::Settling | Phase::Playing, Some(player)) => Ok(player),
            _ => Err(SayError::NotConnected),
        }
    }

    fn say(&mut self, message: &Reliable<'_>) -> Result<(), SayError> {
        if self.outbox.len() >= CLIENT_QUEUE {
            return Err(SayError::TooMuchWaiting);
        }
        self.outbox.push(message);
        Ok(())
    }

    const fn enter(&mut self, now: Instant, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }

    fn end(&mut self, why: EndReason) {
        if !matches!(self.phase, Phase::Ended(_)) {
            self.phase = Phase::Ended(why);
            self.events.push_back(ClientEvent::Ended(why));
        }
    }

    /// How often a packet goes out while nothing calls for one sooner.
    const fn period(&self) -> core::time::Duration {
        match self.phase {
            Phase::Connecting => RETRY_PERIOD,
            Phase::Playing => INPUT_PERIOD,
            _ => SEND_PERIOD,
        }
    }

    /// When patience ends in this phase.
    fn deadline(&self) -> Instant {
        match self.phase {
            Phase::Leaving => self.since + LEAVE_PERIOD,
            // A server that sends, but never a Join, does not answer.
            Phase::Connecting => self.since + TIMEOUT,
            _ => self.last_heard + TIMEOUT,
        }
    }

    /// Whether the packet that is sent anyway goes out at this moment.
    fn is_due(&self, now: Instant) -> bool {
        let is_ahead = self.is_fresh && self.phase == Phase::Playing;
        now >= self.next_packet || (is_ahead && now + AHEAD >= self.next_packet)
    }

    fn write_packet(&mut self, now: Instant, is_due: bool, out: &mut Vec<u8>) {
        let before = out.len();
        // A packet that leaves a little before or after its time counts as of that time: otherwise one
        // that is less late than the last would come too early to repeat anything.
        let counts_as = if is_due && now < self.next_packet + self.period() {
            self.next_packet
        } else {
            now
        };
        let mut w = Header {
            ack: self.inbox.ack(),
            timestamp: now.wrapping_millis_since(self.began),
        }
        .begin(out);
        if counts_as.max(now) >= self.next_repeat {
            self.next_repeat = counts_as + self.period().max(SEND_PERIOD);
            let written = self.outbox.write(now, &mut w);
            self.resent += written.repeated;
            self.traffic.messages_out += written.messages;
        }
        if self.phase == Phase::Playing
            && is_due
            && let Some(player) = self.player
        {
            self.is_fresh = false;
            self.frame += 1;
            self.history.push(self.controls.buttons);
            let (frame, history, aim) = (self.frame, self.history, self.controls.aim);
            let input = Unreliable::Input(Input {
                player,
                frame,
                history,
                aim,
            });
            // What does not fit now is said by the next Input: it holds eight states.
            if w.whole(|w| input.encode(w)).is_ok() {
                self.traffic.messages_out += 1;
            }
        }
        self.traffic.sent(out.len() - before);
    }
}

impl Session for Client {
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive(now, from, bytes);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.deadline() {
            self.end(match self.phase {
                Phase::Connecting => EndReason::Unreachable,
                Phase::Leaving => EndReason::Disconnected,
                _ => EndReason::TimedOut,
            });
        }
        if self.phase == Phase::Settling && (now >= self.since + SETTLE || self.world.is_settled())
        {
            self.enter(now, Phase::Playing);
            self.events.push_back(ClientEvent::Started);
            if !self.has_selected {
                self.events.push_back(ClientEvent::NotSelected);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let is_due = self.is_due(now);
        if matches!(self.phase, Phase::Ended(_)) || !(is_due || self.ack_due) {
            return None;
        }
        self.write_packet(now, is_due, out);
        self.ack_due = false;
        if is_due {
            self.next_packet = self.next_packet.next_due(self.period(), now);
        }
        Some(Transmit::Datagram { to: self.server })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if matches!(self.phase, Phase::Ended(_)) {
            return None;
        }
        let settled = (self.phase == Phase::Settling).then(|| self.since + SETTLE);
        let next = self.next_packet.min(self.deadline());
        Some(settled.map_or(next, |settled| next.min(settled)))
    }

    // lwar has no streams, and its packets are smaller than what any path takes.
    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}
    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}

    fn handle_closed(&mut self, _now: Instant, path: Path, why: Ended) {
        // A refused datagram may mean a server that has not started yet, or restarts, and anybody can
        // forge one: only silence ends a session. A link's end is proved, and nothing comes after it.
        if let Path::Link(link) = path
            && self.server.host == Host::Link(link)
        {
            self.end(match why {
                Ended::Finished => EndReason::Removed,
                Ended::Reset => EndReason::TimedOut,
                Ended::Refused | Ended::Unreachable => EndReason::Unreachable,
            });
        }
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // A client turns nobody away.
    }

    fn shut_down(&mut self, now: Instant) {
        self.disconnect(now);
    }

    fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let name = self
            .world
            .players
            .get(&PlayerId::SERVER)
            .map_or("", |player| &player.name);
        let mut stats = PeerStats::new(name, self.server, self.phase.name());
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.resent = Some(self.resent);
        stats.refused = self.counters.undecodable + self.counters.violations;
        stats.loss = self.loss.share();
        stats.updates = self.updates;
        stats.queued = Some(self.outbox.bytes() as u64);
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
