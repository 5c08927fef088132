//! One client as the server knows it.
//!
//! What outlives a stage (its name, its events, its calls) stands in [`Client`]; what belongs to a stage
//! stands in that stage, and goes with it. What moves a client from one to the next is in `STATES.md`.
//! Its paths are the table's: see [`tickwire_session::Peers`].

use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;

use tickwire_session::{
    CallsWaiting, Instant, Loss, PeerLink, PeerStats, RoundTrip, Token, TokenBucket,
};
use tickwire_state::Vec2;

use super::commands::CommandNumber;
use super::limits::{
    ANSWER_BYTE_REFILL, ANSWER_BYTES_AT_ONCE, CALLS_WAITING, LOADING_PATIENCE, LOOSE_EVENT_REFILL,
    LOOSE_EVENTS_AT_ONCE, PARAMETERS_PERIOD, READY_UNDER_WAY, SILENCE,
};
use super::order::EventOrder;
use super::playing::Playing;
use super::sent_snapshots::Acknowledged;
use super::world::World;
use crate::reone::message::Role;
use crate::reone::{Mode, ObjectId, PacketSeq, SnapshotSeq};

#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: String,
    /// What its datagrams have to show.
    pub(super) token: Token,
    pub(super) stage: Stage,
    pub(super) order: EventOrder,
    pub(super) loose_events: TokenBucket,
    pub(super) calls: CallsWaiting,
    /// Bytes of answers that it may be sent.
    pub(super) answer_bytes: TokenBucket,
    packets: Packets,
    round_trip: RoundTrip,
}

/// Where a client stands.
#[derive(Debug)]
pub(super) enum Stage {
    /// It loads the module.
    Loading(Loading),
    /// It has loaded, and has to ping by then.
    Loaded { until: Instant },
    /// It has pinged, and the game has not decided.
    Joining,
    /// It is sent parameters until it is ready.
    Initialising(Seated),
    /// It is sent snapshots.
    Playing(Box<Playing>),
    /// It was silent for too long. Its stream and its token stay.
    Removed(Removed),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Loading {
    /// A frame has to come, or be taken, before this.
    until: Instant,
    /// It pinged already: a datagram may overtake the end of loading, which goes by TCP.
    pub(super) has_pinged: bool,
    /// The module changed, so it may say Hello once more.
    pub(super) may_greet: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    pub(super) since: Instant,
    /// The module is still the one that it has loaded.
    pub(super) is_loaded: bool,
}

/// What the game made of a client, and whether the client knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seated {
    pub(super) seat: Seat,
    /// Where it looks from: a spectator's place, or where its creature was last.
    pub(super) eye: Vec2,
    last_heard: Instant,
    /// When Parameters are to be sent.
    pub(super) parameters_at: Option<Instant>,
    reseated: Option<Reseated>,
}

/// The seat changed. A Ready does not say which Parameters it answers, so one that may have been under way
/// does not end their repetition.
#[derive(Clone, Copy, Debug)]
struct Reseated {
    /// The newest packet at that moment: a Ready in it, or before, is about the old seat.
    after: Option<PacketSeq>,
    /// A Ready before this moment may be about the old seat.
    until: Instant,
}

/// What the game makes of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seat {
    /// It steers a creature, and sees what is around that.
    Player(ObjectId),
    /// It looks on from a place; see [`move_eye`](super::Server::move_eye).
    Spectator(Vec2),
}

/// The client's packets, counted.
#[derive(Debug)]
struct Packets {
    newest: Option<PacketSeq>,
    loss: Loss,
}

impl Client {
    pub(super) fn new(now: Instant, name: &str, token: Token) -> Self {
        Self {
            name: name.into(),
            token,
            stage: Stage::Loading(Loading::begin(now)),
            order: EventOrder::default(),
            loose_events: TokenBucket::new(now, LOOSE_EVENTS_AT_ONCE, LOOSE_EVENT_REFILL),
            calls: CallsWaiting::new(CALLS_WAITING),
            answer_bytes: TokenBucket::new(now, ANSWER_BYTES_AT_ONCE, ANSWER_BYTE_REFILL),
            packets: Packets {
                newest: None,
                loss: Loss::new(),
            },
            round_trip: RoundTrip::new(),
        }
    }

    /// The module changed: it loads again.
    pub(super) fn unload(&mut self, now: Instant) {
        self.stage = match self.stage {
            // It has to be told that the module is another.
            Stage::Removed(removed) => Stage::Removed(Removed {
                is_loaded: false,
                ..removed
            }),
            _ => Stage::Loading(Loading {
                may_greet: true,
                ..Loading::begin(now)
            }),
        };
        self.order.resume();
    }

    /// It was silent for too long.
    pub(super) fn remove(&mut self, now: Instant) {
        self.stage = Stage::Removed(Removed {
            since: now,
            is_loaded: true,
        });
        self.order.resume();
    }

    /// It says Hello once more. Returns whether it may: after a change of module, once.
    pub(super) fn greet_again(&mut self, now: Instant) -> bool {
        match &mut self.stage {
            Stage::Loading(loading) => core::mem::take(&mut loading.may_greet),
            Stage::Removed(Removed {
                is_loaded: false, ..
            }) => {
                self.stage = Stage::Loading(Loading::begin(now));
                true
            }
            _ => false,
        }
    }

    /// A frame came, or was taken whole: whoever loads makes progress.
    pub(super) fn advance(&mut self, now: Instant) {
        if let Stage::Loading(loading) = &mut self.stage {
            loading.until = now + LOADING_PATIENCE;
        }
    }

    /// The game decided what it is.
    pub(super) fn admit(&mut self, now: Instant, seat: Seat) {
        self.stage = Stage::Initialising(Seated {
            seat,
            eye: seat.eye().unwrap_or_default(),
            last_heard: now,
            parameters_at: Some(now),
            reseated: None,
        });
    }

    /// The game made something else of it. No snapshots until it says Ready.
    pub(super) fn reseat(&mut self, now: Instant, seat: Seat) {
        let Some(seated) = self.seated() else { return };
        self.stage = Stage::Initialising(Seated {
            seat,
            eye: seat.eye().unwrap_or(seated.eye),
            last_heard: seated.last_heard,
            parameters_at: Some(now),
            reseated: Some(Reseated {
                after: self.packets.newest,
                until: now + READY_UNDER_WAY,
            }),
        });
    }

    /// It said Ready in this packet, for the first time since it got its seat. Returns whether snapshots
    /// begin; commands before `untold` come with those.
    pub(super) fn begin_playing(
        &mut self,
        now: Instant,
        packet: PacketSeq,
        newest: SnapshotSeq,
        untold: CommandNumber,
    ) -> bool {
        let Stage::Initialising(mut seated) = self.stage else {
            return false;
        };
        let after = seated.reseated.and_then(|reseated| reseated.after);
        if after.is_some_and(|after| !packet.is_newer_than(after)) {
            return false;
        }
        seated.settle(now);
        // Whoever begins again may count its packets from 1 again.
        self.packets.newest = Some(packet);
        let playing = Playing::begin(seated, newest, untold);
        self.stage = Stage::Playing(Box::new(playing));
        true
    }

    /// What it is, if the game has decided.
    const fn seated(&self) -> Option<&Seated> {
        match &self.stage {
            Stage::Initialising(seated) => Some(seated),
            Stage::Playing(playing) => Some(&playing.seated),
            _ => None,
        }
    }

    pub(super) const fn seated_mut(&mut self) -> Option<&mut Seated> {
        match &mut self.stage {
            Stage::Initialising(seated) => Some(seated),
            Stage::Playing(playing) => Some(&mut playing.seated),
            _ => None,
        }
    }

    /// What it is sent, if it is sent snapshots.
    pub(super) const fn playing(&self) -> Option<&Playing> {
        match &self.stage {
            Stage::Playing(playing) => Some(playing),
            _ => None,
        }
    }

    pub(super) const fn playing_mut(&mut self) -> Option<&mut Playing> {
        match &mut self.stage {
            Stage::Playing(playing) => Some(playing),
            _ => None,
        }
    }

    /// When it is to be looked after, at the latest.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Loading(Loading { until, .. }) | Stage::Loaded { until } => Some(*until),
            Stage::Joining | Stage::Removed(_) => None,
            Stage::Initialising(seated) => seated.deadline(true),
            Stage::Playing(playing) => playing.seated.deadline(playing.is_unanswered()),
        }
    }

    /// Whether it does not come on with loading.
    pub(super) fn is_stuck(&self, now: Instant) -> bool {
        match self.stage {
            Stage::Loading(Loading { until, .. }) | Stage::Loaded { until } => now >= until,
            _ => false,
        }
    }

    /// Whether it has been silent for so long that its player is to be taken out.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        let is_unanswered = self.playing().is_none_or(Playing::is_unanswered);
        let seated = self.seated().filter(|_| is_unanswered);
        seated.is_some_and(|seated| now >= seated.last_heard + SILENCE)
    }

    /// Takes note of a packet that decoded. Returns whether it is newer than all before.
    pub(super) fn note_packet(&mut self, now: Instant, packet: PacketSeq) -> bool {
        if let Some(seated) = self.seated_mut() {
            seated.last_heard = now;
        }
        self.packets.add(packet)
    }

    /// It says that it has a snapshot whole. Returns whether that can be.
    pub(super) fn acknowledge(&mut self, now: Instant, seq: SnapshotSeq, world: &World) -> bool {
        let Stage::Playing(playing) = &mut self.stage else {
            return true;
        };
        match playing.acknowledge(seq, world) {
            (Acknowledged::Newest { sent }, answered) => {
                self.round_trip.add_sample(now.since(sent));
                self.order.settle(answered);
                true
            }
            (Acknowledged::Again, _) => true,
            (Acknowledged::NeverSent, _) => false,
        }
    }

    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.mean()
    }

    pub(super) fn stats(&self, link: &PeerLink) -> PeerStats<'_> {
        let state = match &self.stage {
            Stage::Loading(_) => "Loading",
            Stage::Loaded { .. } => "Loaded",
            Stage::Joining => "Joining",
            Stage::Initialising(_) => "Initialising",
            Stage::Playing(playing) => match playing.mode {
                Mode::Performant => "Performant",
                Mode::Fallback => "Fallback",
            },
            Stage::Removed(_) => "Removed",
        };
        let mut stats = link.stats(&self.name, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.loss = self.packets.loss.share();
        stats
    }
}

impl Loading {
    fn begin(now: Instant) -> Self {
        Self {
            until: now + LOADING_PATIENCE,
            has_pinged: false,
            may_greet: false,
        }
    }
}

impl Seated {
    /// When Parameters are due, or its silence counts if it is to count.
    fn deadline(&self, counts_silence: bool) -> Option<Instant> {
        let silent = counts_silence.then_some(self.last_heard + SILENCE);
        [self.parameters_at, silent].into_iter().flatten().min()
    }

    /// It said Ready once more, and then it may be about the seat that it has.
    pub(super) fn confirm(&mut self, now: Instant) {
        if self.reseated.is_some() {
            self.settle(now);
        }
    }

    /// It said Ready: it needs no more Parameters, unless that may be about those before.
    fn settle(&mut self, now: Instant) {
        if self.reseated.is_none_or(|reseated| now >= reseated.until) {
            self.reseated = None;
            self.parameters_at = None;
        }
    }

    /// Whether Parameters are to be sent now. Until the client is known to have heard them they are due
    /// again later: it is not yet ready, or its Ready may be about the seat before.
    pub(super) fn take_parameters(&mut self, now: Instant, is_initialising: bool) -> bool {
        let is_due = self.parameters_at.is_some_and(|at| now >= at);
        if is_due {
            let is_repeated = is_initialising || self.reseated.is_some();
            self.parameters_at = is_repeated.then_some(now + PARAMETERS_PERIOD);
        }
        is_due
    }

    pub(super) const fn own(&self) -> Option<ObjectId> {
        match self.seat {
            Seat::Player(own) => Some(own),
            Seat::Spectator(_) => None,
        }
    }
}

impl Seat {
    pub(super) const fn role(self) -> (Role, ObjectId) {
        match self {
            Self::Player(own) => (Role::Player, own),
            Self::Spectator(_) => (Role::Spectator, ObjectId(0)),
        }
    }

    const fn eye(self) -> Option<Vec2> {
        match self {
            Self::Player(_) => None,
            Self::Spectator(eye) => Some(eye),
        }
    }
}

impl Packets {
    /// Counts a packet. Returns whether it is newer than all before.
    fn add(&mut self, packet: PacketSeq) -> bool {
        let missing = match self.newest {
            Some(newest) if !packet.is_newer_than(newest) => return false,
            Some(newest) => packet.0.wrapping_sub(newest.0) - 1,
            None => 0,
        };
        self.newest = Some(packet);
        self.loss.add_arrival(missing);
        true
    }
}
