//! One client as the server knows it: where it stands, what it sees and what it has.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{
    Addr, CallsWaiting, Instant, Loss, PeerStats, RoundTrip, StreamId, Token, TokenBucket, Traffic,
};
use tickwire_state::{Circle, Sight, SightRange, Vec2};

use super::commands::{CommandNumber, Commands, Scene};
use super::limits::{
    CALLS_WAITING, HISTORY, LOOSE_EVENT_REFILL, LOOSE_EVENTS_AT_ONCE, READY_UNDER_WAY, SEEN_MAX,
    SILENCE,
};
use super::order::EventOrder;
use super::view::{Acknowledged, Views};
use super::world::{SlotNumber, World};
use crate::reone::limits::DATAGRAM_MAX;
use crate::reone::message::{Role, UpHeader};
use crate::reone::{Mode, ObjectId, PacketSeq, SnapshotSeq};

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) stream: StreamId,
    pub(super) stream_addr: Addr,
    pub(super) token: Token,
    pub(super) name: String,
    /// The module changed: it may say hello again.
    pub(super) may_greet: bool,
    pub(super) stage: Stage,
    /// It has loaded the module that the server is in.
    pub(super) is_loaded: bool,
    /// It pinged before the end of its loading was heard of.
    pub(super) has_pinged: bool,
    /// It pinged although it is ready: it may have lost everything.
    pub(super) may_restart: bool,
    pub(super) addr: Option<Addr>,
    /// The largest datagram that its path takes.
    pub(super) largest: usize,
    pub(super) last_heard: Instant,
    pub(super) parameters_at: Option<Instant>,
    /// A Ready in a packet that is not after this one was said of other parameters.
    ready_after: Option<PacketSeq>,
    /// Its seat changed, and a Ready that comes before this may not be about that.
    doubted_until: Option<Instant>,
    pub(super) seat: Seat,
    pub(super) order: EventOrder,
    pub(super) loose_events: TokenBucket,
    pub(super) calls: CallsWaiting,
    pub(super) views: Views,
    /// The newest snapshot is to be sent.
    pub(super) is_due: bool,
    /// It stands in the line of clients that have a datagram to be sent.
    pub(super) is_queued: bool,
    /// From this on, commands are to be told at once.
    pub(super) untold: CommandNumber,
    /// Commands that it has for sure and that others may not have.
    known: BTreeSet<CommandNumber>,
    pub(super) mode: Mode,
    eye: Vec2,
    sight: Sight<SlotNumber>,
    round_trip: RoundTrip,
    loss: Loss,
    packet: Option<PacketSeq>,
    pub(super) traffic: Traffic,
    pub(super) refused: u64,
}

/// Where a client stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// It loads the module.
    Loading,
    /// It has loaded, and has not pinged.
    Loaded,
    /// It has pinged, and the game has not decided.
    Joining,
    /// It is sent parameters until it is ready.
    Initialising,
    /// It is sent snapshots.
    Playing,
    /// It was silent for too long.
    Removed,
}

/// What the game makes of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seat {
    /// It steers a creature, and sees what is around that.
    Player(ObjectId),
    /// It looks on from a place; see [`move_eye`](super::Server::move_eye).
    Spectator(Vec2),
}

impl Peer {
    pub(super) fn new(
        now: Instant,
        (stream, stream_addr): (StreamId, Addr),
        token: Token,
        name: String,
    ) -> Self {
        Self {
            stream,
            stream_addr,
            token,
            name,
            may_greet: false,
            stage: Stage::Loading,
            is_loaded: false,
            has_pinged: false,
            may_restart: false,
            addr: None,
            largest: DATAGRAM_MAX,
            last_heard: now,
            parameters_at: None,
            ready_after: None,
            doubted_until: None,
            seat: Seat::Spectator(Vec2::default()),
            order: EventOrder::default(),
            loose_events: TokenBucket::new(now, LOOSE_EVENTS_AT_ONCE, LOOSE_EVENT_REFILL),
            calls: CallsWaiting::new(CALLS_WAITING),
            views: Views::new(now),
            is_due: false,
            is_queued: false,
            untold: CommandNumber::default(),
            known: BTreeSet::new(),
            mode: Mode::Fallback,
            eye: Vec2::default(),
            sight: Sight::new(),
            round_trip: RoundTrip::new(),
            loss: Loss::new(),
            packet: None,
            traffic: Traffic::NONE,
            refused: 0,
        }
    }

    /// The module changed: everything begins again, but for who it is.
    pub(super) fn unload(&mut self) {
        // One that was removed stays so: it has to be told that the module is another.
        if self.stage != Stage::Removed {
            self.stage = Stage::Loading;
        }
        self.is_loaded = false;
        self.has_pinged = false;
        self.may_greet = true;
        self.halt();
    }

    /// It is another, and is sent nothing until it has heard of that.
    pub(super) fn initialise_again(&mut self, now: Instant) {
        self.stage = Stage::Initialising;
        self.parameters_at = Some(now);
        self.ready_after = self.packet;
        self.doubted_until = Some(now + READY_UNDER_WAY);
        self.is_due = false;
        self.may_restart = false;
    }

    /// Whether a Ready in this packet is about what it is now.
    pub(super) fn can_be_ready(&self, packet: PacketSeq) -> bool {
        self.ready_after
            .is_none_or(|after| packet.is_newer_than(after))
    }

    /// It said Ready: it needs no more parameters, unless that may be about those before.
    pub(super) fn settle_parameters(&mut self, now: Instant) {
        if self.doubted_until.is_none_or(|until| now >= until) {
            self.doubted_until = None;
            self.parameters_at = None;
        }
    }

    /// Whether it may not have heard what it is, although it said Ready.
    pub(super) const fn is_doubted(&self) -> bool {
        self.doubted_until.is_some()
    }

    /// It is sent nothing more for now.
    pub(super) fn halt(&mut self) {
        self.parameters_at = None;
        self.ready_after = None;
        self.doubted_until = None;
        self.is_due = false;
        self.may_restart = false;
        self.order.resume();
        self.begin_again();
    }

    /// It holds nothing but the base.
    pub(super) fn begin_again(&mut self) {
        self.views.reset();
        self.sight.clear();
        self.known.clear();
    }

    /// When it counts as gone, if nothing is heard of it.
    pub(super) fn removed_at(&self) -> Option<Instant> {
        let at = self.last_heard + SILENCE;
        match self.stage {
            Stage::Initialising => Some(at),
            // The moment must come after the sending that filled the count.
            Stage::Playing if self.views.unacknowledged() >= HISTORY => {
                Some(at.max(self.views.newest_sent() + MOMENT))
            }
            _ => None,
        }
    }

    /// Takes note of what its path carries; `None`: as much as usual.
    pub(super) fn set_largest(&mut self, largest: u16) {
        self.largest = usize::from(largest).min(DATAGRAM_MAX);
    }

    /// Takes note of a datagram that decoded. Returns whether it is newer than all before.
    pub(super) fn hear(&mut self, now: Instant, bytes: usize, header: &UpHeader) -> bool {
        self.last_heard = now;
        self.traffic.received(bytes);
        self.traffic.messages_in += 1;
        let missing = match self.packet {
            Some(before) if !header.packet.is_newer_than(before) => return false,
            Some(before) => header.packet.0.wrapping_sub(before.0) - 1,
            None => 0,
        };
        self.packet = Some(header.packet);
        self.loss.add_arrival(missing);
        true
    }

    /// It is ready: packets are counted from the one that says so.
    pub(super) const fn count_from(&mut self, packet: PacketSeq) {
        self.packet = Some(packet);
    }

    /// It says that it has a snapshot whole. Returns whether that can be.
    pub(super) fn acknowledge(&mut self, now: Instant, seq: SnapshotSeq, world: &World) -> bool {
        match self.views.acknowledge(seq, world.newest()) {
            Acknowledged::Newest { sent } => {
                self.round_trip.add_sample(now.since(sent));
                if let Some(view) = self.views.view(seq) {
                    self.known.extend(&view.commands);
                    self.order.settle(view.answered);
                }
                true
            }
            Acknowledged::Again => true,
            Acknowledged::NeverSent => {
                self.refused += 1;
                false
            }
        }
    }

    /// Looks around, and writes down what is in range, by slot.
    pub(super) fn look(&mut self, world: &World, range: SightRange, seen: &mut Vec<SlotNumber>) {
        let own = self.own().and_then(|own| world.find(own));
        // Where a creature was lost sight of is where its player goes on looking.
        if let Some(at) = own.and_then(|own| world.position(own)) {
            self.eye = at;
        }
        self.sight.look(world.grid(), self.eye, range);
        seen.clear();
        let in_range = self.sight.seen().iter().take(SEEN_MAX);
        seen.extend(in_range);
        if let Some(own) = own
            && let Err(at) = seen.binary_search(&own)
        {
            seen.insert(at, own);
        }
    }

    /// Whether something that happens somewhere concerns it.
    pub(super) fn notices(&self, scene: Scene, range: SightRange) -> bool {
        match scene {
            Scene::Place(at) => Circle {
                center: self.eye,
                radius: range.radius,
            }
            .has(at),
            Scene::Object { id, slot } => {
                self.own() == Some(id) || slot.is_some_and(|slot| self.sight.has(slot))
            }
        }
    }

    /// Whether it has a command for sure.
    pub(super) fn knows(&self, number: CommandNumber) -> bool {
        self.known.contains(&number)
    }

    /// Forgets commands that nobody is told any more.
    pub(super) fn forget_commands(&mut self, commands: &Commands) {
        let first = commands.first();
        while self.known.first().is_some_and(|number| *number < first) {
            self.known.pop_first();
        }
    }

    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.mean()
    }

    pub(super) const fn own(&self) -> Option<ObjectId> {
        match self.seat {
            Seat::Player(own) => Some(own),
            Seat::Spectator(_) => None,
        }
    }

    pub(super) const fn set_eye(&mut self, eye: Vec2) {
        self.eye = eye;
    }

    pub(super) fn stats(&self) -> PeerStats<'_> {
        let state = match self.stage {
            Stage::Loading => "Loading",
            Stage::Loaded => "Loaded",
            Stage::Joining => "Joining",
            Stage::Initialising => "Initialising",
            Stage::Playing => match self.mode {
                Mode::Performant => "Performant",
                Mode::Fallback => "Fallback",
            },
            Stage::Removed => "Removed",
        };
        let addr = self.addr.unwrap_or(self.stream_addr);
        let mut stats = PeerStats::new(&self.name, addr, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.refused = self.refused;
        stats.loss = self.loss.share();
        stats
    }
}

impl Seat {
    pub(super) const fn role(self) -> (Role, ObjectId) {
        match self {
            Self::Player(own) => (Role::Player, own),
            Self::Spectator(_) => (Role::Spectator, ObjectId(0)),
        }
    }
}

/// Any time at all.
const MOMENT: Duration = Duration::from_micros(1);
