//! The client: loads a module, puts snapshots together, shows the world at any moment, and says what
//! the player does.
//!
//! In: the server's stream and datagrams, and from the application events, calls and the moment to
//! show. Out: acknowledgements, events and calls, what happened, and a [`View`] of the world. It finds
//! its way back when the server forgets it, changes the module or restarts. Files, rendering and the
//! rules of movement are the application's; a [`Pilot`] beside the client predicts by them.
//!
//! Inside, each thing changes for one reason: `Connection` with the stream, `Admission` with what the
//! server knows of this client, `Reception` with the datagrams of snapshots, `Showing` with snapshots that
//! are whole. The client passes on what one of them means for the others.

mod admission;
mod assembly;
mod call;
mod command;
mod connection;
mod drive;
mod event;
mod frame;
pub mod limits;
mod loading;
mod module_fence;
mod packets;
mod prediction;
mod receive;
mod reception;
mod resref_cache;
mod showing;
mod snapshot;
mod talk;
mod view;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::bulk::{ContentHash, Overall};
use tickwire_session::{Addr, Calls, Instant, Loss, Transmit};

use super::limits::NAME_MAX;
use super::message::{Ballistics, Parameters, UpFrame};
use super::{BadText, Mode, ModuleNumber, ObjectId, SnapshotSeq, Text};
use admission::{Admission, Due};
use call::Asked;
use command::Commands;
use connection::Connection;
use limits::{CALL_PATIENCE, CALLS_UNDER_WAY, EVENTS_WAITING, RETRY_FOR, SPEED_MAX};
use loading::Loader;
use packets::{Notes, PacketSender};
use reception::Reception;
use resref_cache::ResrefCache;
use showing::Showing;

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
    phase: Phase,
    connection: Connection,
    loader: Loader,
    admission: Admission,
    packets: PacketSender,
    reception: Reception,
    showing: Showing,
    commands: Commands,
    resrefs: ResrefCache,
    calls: Calls<Asked>,
    scratch: Vec<u8>,
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
    loss: Loss,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            phase: Phase::Connecting,
            connection: Connection::dial(now, config.server, config.name, config.retry_for),
            loader: Loader::new(config.held),
            admission: Admission::new(now),
            packets: PacketSender::new(),
            reception: Reception::new(now),
            showing: Showing::new(config.speed_max),
            commands: Commands::new(config.shot_lives),
            resrefs: ResrefCache::default(),
            calls: Calls::new(CALL_PATIENCE, CALLS_UNDER_WAY),
            scratch: Vec::new(),
            events: VecDeque::new(),
            counters: ClientCounters::default(),
            loss: Loss::new(),
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
        self.admission.parameters()
    }

    /// The creature that this client steers.
    pub fn own(&self) -> Option<ObjectId> {
        self.admission.own()
    }

    /// The world as it is to be shown now: late by the server's `lerp`, so that the snapshots around
    /// that moment are usually here. `None` until [`ClientEvent::Started`].
    pub fn sample(&mut self, now: Instant) -> Option<View<'_>> {
        let pace = self.admission.pace()?;
        self.showing.sample(now, pace, &self.resrefs)
    }

    /// The moment of the server's clock that [`sample`](Self::sample) would show.
    pub fn render_time(&self, now: Instant) -> Option<Duration> {
        self.showing.time_at(now, self.admission.pace()?)
    }

    /// The moment of the server's clock that a snapshot shows.
    pub fn time_of(&self, sequence: SnapshotSeq) -> Option<Duration> {
        Some(self.admission.pace()?.time_of(sequence))
    }

    /// The newest whole snapshot, nothing blended and nobody hidden.
    pub fn newest(&self) -> Option<&Snapshot> {
        self.reception.whole().map(|whole| &**whole)
    }

    /// A whole snapshot, as long as it is held.
    pub fn snapshot(&self, sequence: SnapshotSeq) -> Option<&Snapshot> {
        let held = self.reception.snapshot(sequence);
        held.map(|snapshot| &**snapshot)
    }

    /// How long ago a snapshot was whole last.
    pub fn update_age(&self, now: Instant) -> Option<Duration> {
        self.reception.age(now)
    }

    /// What the newest whole snapshot was made of.
    pub const fn mode(&self) -> Option<Mode> {
        self.reception.mode()
    }

    /// The shots in the air at the moment that [`sample`](Self::sample) shows: begun, and not over.
    pub fn shots(&self, now: Instant) -> impl Iterator<Item = Flight> {
        let shown = self.render_time(now).into_iter();
        shown.flat_map(|time| self.shots_at(time))
    }

    /// The shots in the air at a moment of the server's clock, as far as they were heard of.
    pub fn shots_at(&self, time: Duration) -> impl Iterator<Item = Flight> {
        let pace = self.admission.pace().into_iter();
        pace.flat_map(move |pace| self.commands.shots_at(pace, time))
    }

    /// Changes how long shots fly: a server may say at which pace it tells of them again.
    pub fn set_shot_lives(&mut self, lives: ShotLives) {
        self.commands.set_lives(lives);
    }

    /// Takes shots out of the air, because they hit something.
    pub fn end_shots(&mut self, mut is_over: impl FnMut(&Ballistics) -> bool) {
        self.commands.drop_shots(&mut is_over);
    }

    /// What a creature is made of, if it is known.
    pub fn resref(&self, id: ObjectId) -> Option<&str> {
        self.resrefs.resref(id)
    }

    /// Ends the session, by ending the stream.
    pub fn disconnect(&mut self) {
        self.hang_up(EndReason::Disconnected);
    }

    /// Datagrams that are held because their snapshots are not whole: of
    /// [`ASSEMBLIES_MAX`](limits::ASSEMBLIES_MAX) snapshots, which have fewer than 256 each.
    pub fn datagrams_held(&self) -> usize {
        self.reception.datagrams_held()
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
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

    /// Says something on the stream.
    fn say(&mut self, frame: &UpFrame<'_>) {
        self.connection.say(frame);
    }

    /// Writes a datagram with what is due.
    fn write_datagram(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let Due { is_ping, is_ready } = self.admission.take_due(now, self.phase);
        let link = &mut self.connection.link;
        let notes = Notes {
            acknowledged: self.reception.acknowledged(),
            shown: self.showing.tick(),
            ping: link.token().filter(|_| is_ping),
            is_ready,
            takes_events: matches!(self.phase, Phase::Ready | Phase::Playing),
            limit: link.datagram_room().largest.into(),
        };
        let sent = self.packets.write(now, notes, out)?;
        link.traffic.messages_out += sent.messages;
        Some(link.sent_datagram(now, sent.bytes))
    }
}
