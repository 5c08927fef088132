//! The client: loads a module, puts snapshots together, shows the world at any moment, and says what
//! the player does.
//!
//! In: the server's stream and datagrams, and from the application events, calls and the moment to
//! show. Out: acknowledgements, events and calls, what happened, and a [`View`] of the world. It finds
//! its way back when the server forgets it, changes the module or restarts. Files, rendering and the
//! rules of movement are the application's; a [`Pilot`] beside the client predicts by them.

mod assembly;
mod border;
mod call;
mod casting;
mod command;
mod connection;
mod drive;
mod event;
mod frame;
pub mod limits;
mod loading;
mod prediction;
mod receive;
mod snapshot;
mod talk;
mod uplink;
mod view;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::bulk::{ContentHash, Overall};
use tickwire_session::{Addr, Calls, Instant, Loss, RoundTrip, Traffic, Transmit};
use tickwire_state::{History, RemoteClock, Tick, Timeline};

use super::limits::NAME_MAX;
use super::message::{Parameters, UpFrame};
use super::{BadText, EventId, Mode, ModuleNumber, ObjectId, SnapshotSeq, Text};
use assembly::Assemblies;
use border::Border;
use call::Asked;
use casting::Casting;
use command::Commands;
use connection::{Connection, Doubt};
use limits::{
    BASELINES, CALL_PATIENCE, CALLS_UNDER_WAY, EVENTS_WAITING, EXTRAPOLATION_MAX, RETRY_FOR,
    SPEED_MAX, TIMELINE,
};
use loading::Loader;
use uplink::{Notes, Uplink};

pub use call::{CallFailure, CallReply};
pub use command::{Flight, ShotLives};
pub use event::{AskError, ClientCounters, ClientEvent, EndReason, Phase, SendError, Whole};
pub use loading::{LoadFault, LoadProgress};
pub use prediction::{Pilot, SteerError, Steering};
pub use snapshot::Snapshot;
pub use view::{Shown, View};

/// Whom to connect to, as whom, and how to show what it sends.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    server: Addr,
    name: String,
    /// Contents that the application has, and that need not be fetched.
    pub held: BTreeSet<ContentHash>,
    /// How long shots fly.
    pub shot_lives: ShotLives,
    /// What moves faster than this, in the game's units a second, jumped and is not blended.
    pub speed_max: f32,
    /// How long to try to come back after the connection was lost; zero is not at all.
    pub retry_for: Duration,
}

impl ClientConfig {
    /// The usual settings. A name has at most [`NAME_MAX`] bytes, and no control characters.
    pub fn new(server: Addr, name: &str) -> Result<Self, BadText> {
        Text::new(name)?;
        if name.len() > NAME_MAX {
            return Err(BadText::TooLong);
        }
        Ok(Self {
            server,
            name: name.into(),
            held: BTreeSet::new(),
            shot_lives: ShotLives::default(),
            speed_max: SPEED_MAX,
            retry_for: RETRY_FOR,
        })
    }
}

/// A reone client.
#[derive(Debug)]
pub struct Client {
    shot_lives: ShotLives,
    speed_max: f32,
    phase: Phase,
    connection: Connection,
    loader: Loader,
    parameters: Option<Parameters>,
    /// The server's tick when it said them. What it said earlier and comes later is not true any more.
    parameters_tick: Option<u32>,
    uplink: Uplink,
    /// When the next Ping or Ready goes out.
    next_ping: Instant,
    /// The server said its parameters, and is owed a Ready.
    owes_ready: bool,
    /// Pings since the server last answered one.
    pings: u32,
    doubt: Option<Doubt>,
    last_datagram: Option<Instant>,
    /// When a datagram of a snapshot came last.
    last_part: Option<Instant>,
    /// When a snapshot was whole last, what was held was forgotten, or the first was asked for.
    last_whole: Instant,
    border: Border,
    assemblies: Assemblies,
    /// The snapshot that the module begins with.
    base: Option<Arc<Snapshot>>,
    baselines: History<Arc<Snapshot>>,
    timeline: Timeline<Arc<Snapshot>>,
    /// The next whole snapshot begins another timeline.
    is_new_timeline: bool,
    clock: RemoteClock,
    /// The newest snapshot that any datagram belongs to.
    newest: SnapshotSeq,
    /// The newest whole snapshot.
    whole: Option<Arc<Snapshot>>,
    mode: Option<Mode>,
    /// The newest event that whole snapshots show the outcome of.
    answered: EventId,
    /// The server's tick at the moment that was shown last; 0 before the first.
    shown: u32,
    commands: Commands,
    casting: Casting,
    calls: Calls<Asked>,
    scratch: Vec<u8>,
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
    traffic: Traffic,
    loss: Loss,
    round_trip: RoundTrip,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            shot_lives: config.shot_lives,
            speed_max: config.speed_max,
            phase: Phase::Connecting,
            connection: Connection::dial(now, config.server, config.name, config.retry_for),
            loader: Loader::new(config.held),
            parameters: None,
            parameters_tick: None,
            uplink: Uplink::new(),
            next_ping: now,
            owes_ready: false,
            pings: 0,
            doubt: None,
            last_datagram: None,
            last_part: None,
            last_whole: now,
            border: Border::default(),
            assemblies: Assemblies::default(),
            base: None,
            baselines: History::new(BASELINES),
            timeline: Timeline::new(TIMELINE, EXTRAPOLATION_MAX),
            is_new_timeline: false,
            clock: RemoteClock::new(),
            newest: SnapshotSeq::NONE,
            whole: None,
            mode: None,
            answered: EventId(0),
            shown: 0,
            commands: Commands::default(),
            casting: Casting::default(),
            calls: Calls::new(CALL_PATIENCE, CALLS_UNDER_WAY),
            scratch: Vec::new(),
            events: VecDeque::new(),
            counters: ClientCounters::default(),
            traffic: Traffic::NONE,
            loss: Loss::new(),
            round_trip: RoundTrip::new(),
        }
    }

    /// How far it has come.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The module that is loaded, or being loaded.
    pub const fn module(&self) -> Option<ModuleNumber> {
        self.loader.module()
    }

    /// How far loading is; `None` until the manifest is here.
    pub fn loading(&self) -> Option<Overall> {
        self.loader.overall()
    }

    /// What the server said that this client is, and how snapshots come.
    pub const fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// The creature that this client steers.
    pub fn own(&self) -> Option<ObjectId> {
        use super::message::Role;
        let parameters = self.parameters?;
        (parameters.role == Role::Player).then_some(parameters.own)
    }

    /// The world as it is to be shown now: late by the server's `lerp`, so that the snapshots around
    /// that moment are usually here. `None` until [`ClientEvent::Started`].
    pub fn sample(&mut self, now: Instant) -> Option<View<'_>> {
        let time = self.render_time(now)?;
        let reach = self.speed_max * self.interval()?.as_secs_f32();
        let sample = self.timeline.sample(time)?;
        let view = View::new(sample, &self.casting, reach);
        self.shown = view.tick();
        Some(view)
    }

    /// The moment of the server's clock that [`sample`](Self::sample) would show.
    pub fn render_time(&self, now: Instant) -> Option<Duration> {
        let lerp = Duration::from_millis(self.parameters?.lerp_ms.into());
        let reached = self.clock.time_at(now)?;
        Some(reached.saturating_sub(lerp))
    }

    /// The moment of the server's clock that a snapshot shows.
    pub fn time_of(&self, sequence: SnapshotSeq) -> Option<Duration> {
        let rate = u64::from(self.parameters?.tick_rate.get());
        let nanos = u64::from(sequence.0) * 1_000_000_000 / rate;
        Some(Duration::from_nanos(nanos))
    }

    /// The newest whole snapshot, nothing blended and nobody hidden.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.whole.as_deref()
    }

    /// A whole snapshot, as long as it is held.
    pub fn snapshot(&self, sequence: SnapshotSeq) -> Option<&Snapshot> {
        let held = self.baselines.get(tick(sequence));
        held.map(|snapshot| &**snapshot)
    }

    /// How long ago a snapshot was whole last.
    pub fn update_age(&self, now: Instant) -> Option<Duration> {
        self.whole.as_ref().map(|_| now.since(self.last_whole))
    }

    /// What the newest whole snapshot was made of.
    pub const fn mode(&self) -> Option<Mode> {
        self.mode
    }

    /// The shots in the air at the moment that [`sample`](Self::sample) shows: begun, and not over.
    pub fn shots(&self, now: Instant) -> impl Iterator<Item = Flight> {
        let shown = self.render_time(now).into_iter();
        shown.flat_map(|time| self.shots_at(time))
    }

    /// The shots in the air at a moment of the server's clock, as far as they were heard of.
    pub fn shots_at(&self, time: Duration) -> impl Iterator<Item = Flight> {
        self.commands.shots().filter_map(move |&shot| {
            let age = time.checked_sub(self.time_of(shot.at)?)?;
            (age < self.shot_lives.of(shot.kind)).then_some(Flight { shot, age })
        })
    }

    /// Takes shots out of the air, because they hit something.
    pub fn end_shots(&mut self, mut is_over: impl FnMut(&super::message::Ballistics) -> bool) {
        self.commands.drop_shots(&mut is_over);
    }

    /// What a creature is made of, if it is known.
    pub fn resref(&self, id: ObjectId) -> Option<&str> {
        self.casting.resref(id)
    }

    /// Ends the session, by ending the stream.
    pub fn disconnect(&mut self) {
        self.hang_up(EndReason::Disconnected);
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    /// The time from one snapshot to the next.
    fn interval(&self) -> Option<Duration> {
        self.time_of(SnapshotSeq(1))
    }

    fn tell(&mut self, event: ClientEvent) {
        // Of one resource's progress, the newest will do.
        if let (ClientEvent::Progress(new), Some(ClientEvent::Progress(old))) =
            (&event, self.events.back_mut())
            && new.name == old.name
        {
            old.clone_from(new);
            return;
        }
        let comes_again = matches!(
            event,
            ClientEvent::Progress(_)
                | ClientEvent::Snapshot(_)
                | ClientEvent::Shot(_)
                | ClientEvent::Animation { .. }
                | ClientEvent::Effect { .. }
        );
        if comes_again && self.events.len() >= EVENTS_WAITING {
            self.counters.overrun += 1;
            return;
        }
        self.events.push_back(event);
    }

    const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Whether the server sends snapshots and takes events.
    const fn is_initialised(&self) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Playing)
    }

    /// When the next Ping or Ready is due.
    fn ping_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Initialising | Phase::Ready => Some(self.next_ping),
            Phase::Playing => {
                let last = self.last_datagram?;
                Some(self.next_ping.max(last + limits::PING_AFTER))
            }
            _ => None,
        }
    }

    /// Says something on the stream.
    fn say(&mut self, frame: &UpFrame<'_>) {
        let pushed = self.connection.outbox.push(frame);
        debug_assert!(pushed.is_ok(), "calls leave room for all else");
        self.traffic.messages_out += 1;
    }

    /// Writes a datagram with what is due.
    fn write_datagram(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let is_due = self.ping_at().is_some_and(|at| now >= at);
        let is_ready = is_due && self.phase == Phase::Ready;
        let ping = self.connection.token().filter(|_| is_due && !is_ready);
        let is_ready = core::mem::take(&mut self.owes_ready) || is_ready;
        if is_due {
            self.next_ping = now + limits::PING_PERIOD;
            self.pings = self.pings.saturating_add(u32::from(ping.is_some()));
        }
        let acknowledged = self.whole.as_ref().map(|whole| whole.sequence);
        let notes = Notes {
            acknowledged: acknowledged.unwrap_or(SnapshotSeq::NONE),
            shown: self.shown,
            ping,
            is_ready,
            takes_events: self.is_initialised(),
        };
        let sent = self.uplink.write(now, notes, out)?;
        self.traffic.messages_out += sent.messages;
        self.traffic.sent(sent.bytes);
        let to = self.connection.server();
        Some(Transmit::Datagram { to })
    }
}

/// The key that histories know a snapshot by.
const fn tick(sequence: SnapshotSeq) -> Tick {
    Tick(sequence.0 as u64)
}
