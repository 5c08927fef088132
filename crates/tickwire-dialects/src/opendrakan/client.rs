//! The client: loads what the server says, puts snapshots together, and shows the world at any moment.
//!
//! In: the server's stream and datagrams, and from the application what it has loaded, the moment to
//! show and what the player does. Out: acknowledgements and actions, events, and a [`View`] of the
//! world. Files, rendering and prediction are the application's.

mod assembly;
mod event;
mod load;
mod receive;
mod timed;
mod view;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{
    ATTACH_PERIOD, Addr, Ended, Events, Instant, KEEP_ALIVE, Loss, Path, PeerStats, Room, Session,
    StreamId, StreamLoss, Transmit, Uplink,
};
use tickwire_state::{History, RemoteClock, Tick, Timeline, Vec2};
use tickwire_wire::Full;

use super::limits::{
    DELAY, EVENTS_WAITING, EXTRAPOLATION_MAX, HISTORY, REATTACH_AFTER, TIMELINE, TIMEOUT,
    UPLINK_DATAGRAM,
};
use super::message::{Action, ActionState, AnalogAction, Message};
use super::snapshot::Snapshot;
use super::stream::{Inbox, Outbox};
use super::{Registry, Writer};
use assembly::Assemblies;
use load::{DatabaseMap, Wanted};
use timed::Timed;

pub use event::{ActError, ClientCounters, ClientEvent, EndReason, Phase};
pub use load::{Classes, LoadError, LoadedLevel};
pub use view::{Shown, View};

/// Whom to connect to, and how to show what it sends.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server, for the stream and for datagrams.
    pub server: Addr,
    /// The extra states of every class, as the server knows them.
    pub registry: Registry,
    /// How long after it was true the world is shown.
    pub delay: Duration,
}

impl ClientConfig {
    /// The usual settings.
    pub const fn new(server: Addr, registry: Registry) -> Self {
        Self {
            server,
            registry,
            delay: DELAY,
        }
    }
}

/// An OpenDrakan client.
#[derive(Debug)]
pub struct Client {
    registry: Registry,
    delay: Duration,
    phase: Phase,
    uplink: Uplink,
    inbox: Inbox,
    outbox: Outbox,
    wanted: Wanted,
    loaded: Option<Loaded>,
    assemblies: Assemblies,
    history: History<Arc<Snapshot>>,
    timeline: Timeline<Arc<Snapshot>>,
    clock: RemoteClock,
    /// The clock was read off a full snapshot.
    clock_is_rough: bool,
    /// The moment shown last.
    shown: Option<Duration>,
    /// The newest complete snapshot.
    acknowledged: Option<Tick>,
    acknowledge_due: bool,
    timed: Timed,
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
    loss: Loss,
    /// An acknowledgement whose echo is awaited, and when it left.
    timed_ack: Option<(Tick, Instant)>,
}

#[derive(Debug)]
struct Loaded {
    classes: Classes,
    databases: DatabaseMap,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            registry: config.registry,
            delay: config.delay,
            phase: Phase::Connecting,
            uplink: Uplink::dial(now, config.server),
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            wanted: Wanted::default(),
            loaded: None,
            assemblies: Assemblies::default(),
            history: History::new(HISTORY),
            timeline: Timeline::new(TIMELINE, EXTRAPOLATION_MAX),
            clock: RemoteClock::new(),
            clock_is_rough: false,
            shown: None,
            acknowledged: None,
            acknowledge_due: false,
            timed: Timed::default(),
            events: VecDeque::new(),
            counters: ClientCounters::default(),
            loss: Loss::new(),
            timed_ack: None,
        }
    }

    /// How far it has come.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The application has loaded what [`ClientEvent::Load`] asked for. From now on snapshots are put
    /// together.
    ///
    /// After [`LoadError::MissingDatabase`] it may be tried again with more.
    pub fn loaded(&mut self, level: LoadedLevel) -> Result<(), LoadError> {
        if self.phase != Phase::Loading {
            return Err(LoadError::NotAsked);
        }
        let databases = DatabaseMap::build(&self.wanted, &level)?;
        self.loaded = Some(Loaded {
            classes: level.classes,
            databases,
        });
        self.phase = Phase::Waiting;
        Ok(())
    }

    /// The world as it is to be shown now: late by the configured delay, so that the snapshots around
    /// that moment are usually here. `None` until [`ClientEvent::Started`].
    ///
    /// Animations and sounds whose moment is reached by this come with the next events.
    pub fn sample(&mut self, now: Instant) -> Option<View<'_>> {
        self.sample_at(self.render_time(now)?)
    }

    /// The world at a moment of the server's clock, for applications with a clock of their own. Never
    /// an earlier one than the last time, nor more than 250 ms after the newest snapshot.
    pub fn sample_at(&mut self, time: Duration) -> Option<View<'_>> {
        let shown = self.timeline.sample(time)?.time();
        self.shown = Some(shown);
        while let Some(event) = self.timed.pop(shown) {
            self.tell(event);
        }
        self.timeline.sample(shown).map(View::new)
    }

    /// The moment of the server's clock that [`sample`](Self::sample) would show.
    pub fn render_time(&self, now: Instant) -> Option<Duration> {
        let reached = self.clock.time_at(now)?;
        Some(reached.saturating_sub(self.delay))
    }

    /// The newest complete snapshot, nothing blended.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.history.newest().map(|(_, snapshot)| &**snapshot)
    }

    /// The complete snapshot of a tick, while it is held.
    pub fn snapshot(&self, tick: Tick) -> Option<&Snapshot> {
        self.history.get(tick).map(|snapshot| &**snapshot)
    }

    /// How long ago the newest snapshot was complete.
    pub fn update_age(&self, now: Instant) -> Option<Duration> {
        self.uplink.updates.age(now)
    }

    /// Tells the server that the player pressed, holds or released something, at the moment that the
    /// player sees.
    pub fn act(&mut self, now: Instant, code: u32, state: ActionState) -> Result<(), ActError> {
        let real_time = self.seen_time(now);
        self.say(&Message::Action(Action {
            real_time,
            code,
            state,
        }))
    }

    /// Tells the server where the player moved a stick.
    pub fn steer(&mut self, now: Instant, code: u32, place: Vec2) -> Result<(), ActError> {
        let Vec2 { x, y } = place;
        if !x.is_finite() || !y.is_finite() {
            return Err(ActError::NotFinite);
        }
        let real_time = self.seen_time(now);
        self.say(&Message::AnalogAction(AnalogAction {
            real_time,
            code,
            x,
            y,
        }))
    }

    /// Ends the session, by ending the stream.
    pub fn disconnect(&mut self) {
        self.end(EndReason::Disconnected);
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    /// The moment that the player sees, in seconds.
    fn seen_time(&self, now: Instant) -> f64 {
        let seen = self.shown.or_else(|| self.render_time(now));
        seen.unwrap_or_default().as_secs_f64()
    }

    fn say(&mut self, message: &Message<'_>) -> Result<(), ActError> {
        if matches!(self.phase, Phase::Connecting | Phase::Ended(_)) {
            return Err(ActError::NotConnected);
        }
        self.outbox
            .push(message)
            .map_err(|Full| ActError::TooMuchWaiting)?;
        self.uplink.traffic.messages_out += 1;
        Ok(())
    }

    /// Asks the application to load, once all of it is known.
    fn ask_to_load(&mut self) {
        let Some(level) = self.wanted.complete() else {
            return;
        };
        let databases = self.wanted.databases().iter();
        let event = ClientEvent::Load {
            level: level.into(),
            databases: databases.map(|(id, path)| (*id, path.clone())).collect(),
        };
        self.phase = Phase::Loading;
        self.tell(event);
    }

    fn tell(&mut self, event: ClientEvent) {
        if self.events.len() >= EVENTS_WAITING && !matches!(event, ClientEvent::Ended(_)) {
            self.counters.overrun += 1;
            return;
        }
        self.events.push_back(event);
    }

    const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Ends the session, and the stream if it has not ended.
    fn end(&mut self, why: EndReason) {
        if !self.is_over() {
            self.uplink.end();
            self.phase = Phase::Ended(why);
            self.tell(ClientEvent::Ended(why));
        }
    }

    /// Whether the path takes this client's datagrams.
    fn takes_datagrams(&self) -> bool {
        self.uplink.datagram_room().largest >= UPLINK_DATAGRAM
    }

    /// Writes a datagram with what is due: the token, an acknowledgement, or both.
    fn write_datagram(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.takes_datagrams() {
            return None;
        }
        let before = out.len();
        let mut w = Writer::new(out, UPLINK_DATAGRAM.into());
        let token = self.uplink.due_token(now);
        let attach = token.map(|token| Message::Attach { token });
        let tick = self.acknowledged.filter(|_| self.acknowledge_due);
        let acknowledge = tick.map(|tick| Message::AcknowledgeSnapshot { tick });
        for message in attach.iter().chain(&acknowledge) {
            // The datagram is as long as both together.
            if message.encode(&mut w).is_ok() {
                self.uplink.traffic.messages_out += 1;
            }
        }
        if out.len() == before {
            return None;
        }
        self.acknowledge_due = false;
        self.timed_ack = self.timed_ack.or_else(|| tick.map(|tick| (tick, now)));
        let pause = match self.uplink.hears_datagrams(now, REATTACH_AFTER) {
            true => KEEP_ALIVE,
            false => ATTACH_PERIOD,
        };
        self.uplink.set_attach_at(now + pause);
        Some(self.uplink.sent_datagram(now, out.len() - before))
    }
}

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if self.uplink.handle_opened(now, on) {
            self.phase = Phase::Handshaking;
            self.tell(ClientEvent::Connected);
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == self.uplink.stream() {
            self.receive_stream(now, bytes);
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.uplink.handle_room(path, room);
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Some(loss) = self.uplink.handle_closed(path) {
            self.end(match loss {
                StreamLoss::Unreachable => EndReason::Unreachable,
                StreamLoss::Closed => EndReason::ServerClosed,
            });
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.uplink.deadline(TIMEOUT).is_some_and(|end| now >= end) {
            self.end(match self.phase {
                Phase::Connecting => EndReason::Unreachable,
                _ => EndReason::TimedOut,
            });
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.uplink.poll_order() {
            return Some(order);
        }
        if self.is_over() {
            return None;
        }
        if let Some(written) = self.outbox.write(self.uplink.stream_room(), out) {
            return Some(self.uplink.sent_on_stream(now, written));
        }
        self.write_datagram(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let attach = self.uplink.attach_at();
        // On a path that takes no datagrams nothing is due.
        let attach = attach.filter(|_| self.takes_datagrams() && !self.is_over());
        let deadline = self.uplink.deadline(TIMEOUT);
        [attach, deadline].into_iter().flatten().min()
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // A client turns nobody away.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.disconnect();
    }

    fn is_finished(&self) -> bool {
        self.uplink.is_finished()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let state = match self.phase {
            Phase::Connecting => "Connecting",
            Phase::Handshaking => "Handshaking",
            Phase::Loading => "Loading",
            Phase::Waiting => "Waiting",
            Phase::Playing => "Playing",
            Phase::Ended(_) => "Ended",
        };
        let mut stats = self.uplink.stats("", state);
        stats.refused = self.counters.undecodable;
        stats.loss = self.loss.share();
        stats.interpolation = Some(self.delay);
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
