//! A player, and a connection that may be one's.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use tickwire_replica::server::ClientId;
use tickwire_replica::world::PlayerId;
use tickwire_replica::{EntityId, PacketNumber};
use tickwire_session::bulk::Sending;
use tickwire_session::{Host, Instant, PeerId, RoundTrip, TokenBucket};
use tickwire_state::Tick;

use super::inputs::{InputQueue, Wanted};
use crate::game::Game;
use crate::limits::{MESSAGES_A_SECOND, MESSAGES_AT_ONCE, STREAM_WAITING};
use crate::message::{FrameReader, Role};
use crate::reliable::{Counted, Outbox};
use crate::ticket::Ticket;

/// What one connection is about.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) frames: FrameReader,
    /// What a connection without a player is told. A player's own outbox outlives its connections.
    pub(super) farewell: Outbox,
    pub(super) player: Option<PlayerId>,
    /// The client's datagrams come by stream, so the server's go there.
    pub(super) is_stream_only: bool,
    /// It has shown its token by datagram: the next send goes by datagram, whatever comes by stream
    /// meanwhile. A client that hears no datagram sends both.
    pub(super) is_tried: bool,
    pub(super) sending: Option<Sending>,
    /// Resources that are wanted next, and from where on.
    pub(super) fetches: VecDeque<(String, u64)>,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            frames: FrameReader::default(),
            farewell: Outbox::new(STREAM_WAITING),
            player: None,
            is_stream_only: false,
            is_tried: false,
            sending: None,
            fetches: VecDeque::new(),
        }
    }
}

/// One who takes part, connected or not.
pub(super) struct Player<G: Game> {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) host: Host,
    pub(super) ticket: Ticket,
    /// What it came back with last, until it is known to have the one that came with the Welcome: otherwise a
    /// player whose connection breaks once more at that moment could not come back.
    pub(super) old_ticket: Option<Ticket>,
    pub(super) presence: Presence,
    /// Its place among those who are sent the world.
    pub(super) client: ClientId,
    pub(super) own: Option<EntityId>,
    /// Where it looks from while it has no entity of its own.
    pub(super) looks_from: Option<EntityId>,
    /// How far it sees.
    pub(super) sight: f32,
    pub(super) inputs: InputQueue<G::Input>,
    /// The tick for which its input was taken last, and that input.
    pub(super) wanted: (Tick, Option<Wanted<G::Input>>),
    pub(super) outbox: Outbox,
    pub(super) counted: Counted,
    pub(super) questions: BTreeSet<u32>,
    pub(super) messages: TokenBucket,
    /// The newest heard on each channel.
    pub(super) latest_heard: BTreeMap<u8, LatestHeard<G::ToServer>>,
    pub(super) latest: BTreeMap<u8, LatestOut>,
    /// It is to be sent everything anew, from the next send on. However often a client asks, it costs that
    /// much once a send.
    pub(super) is_lacking: bool,
    /// It has not been written the last send yet.
    pub(super) is_due: bool,
    /// More was said than may wait for it: it goes with the next tick.
    pub(super) is_overrun: bool,
    pub(super) flights: Flights,
}

/// Where a player is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Presence {
    Here(PeerId),
    Away { since: Instant },
}

/// A message of which only the newest counts.
#[derive(Debug)]
pub(super) struct LatestOut {
    pub(super) number: u16,
    pub(super) body: Vec<u8>,
    /// In how many sends it is still to be sent.
    pub(super) repeats: u8,
    pub(super) is_due: bool,
}

/// The newest message of a channel.
#[derive(Debug)]
pub(super) struct LatestHeard<M> {
    pub(super) number: u16,
    /// Until the game has read it.
    pub(super) unread: Option<M>,
}

impl<G: Game> Player<G> {
    pub(super) fn new(now: Instant, newcomer: Newcomer) -> Self {
        let Newcomer {
            name,
            role,
            host,
            ticket,
            peer,
            client,
        } = newcomer;
        let refill = Duration::from_secs(1) / MESSAGES_A_SECOND;
        Self {
            name,
            role,
            host,
            ticket,
            old_ticket: None,
            presence: Presence::Here(peer),
            client,
            own: None,
            looks_from: None,
            sight: G::SIGHT,
            inputs: InputQueue::new(G::HZ),
            wanted: (Tick::NONE, None),
            outbox: Outbox::new(STREAM_WAITING),
            counted: Counted::default(),
            questions: BTreeSet::new(),
            messages: TokenBucket::new(now, MESSAGES_AT_ONCE, refill),
            latest_heard: BTreeMap::new(),
            latest: BTreeMap::new(),
            is_lacking: false,
            is_due: false,
            is_overrun: false,
            flights: Flights::default(),
        }
    }

    /// Takes what it wants for a tick. Whoever asks twice gets the same.
    pub(super) fn take_input(&mut self, tick: Tick) {
        if self.wanted.0 != tick {
            self.wanted = (tick, self.inputs.take(tick).cloned());
        }
    }

    /// A send begins. Returns whether the one before it is not written yet, and gives way to it.
    pub(super) fn begin_send(&mut self) -> bool {
        let was_due = core::mem::replace(&mut self.is_due, true);
        self.inputs.begin_send();
        for latest in self.latest.values_mut() {
            latest.is_due = latest.repeats > 0;
        }
        was_due
    }

    pub(super) const fn peer(&self) -> Option<PeerId> {
        match self.presence {
            Presence::Here(peer) => Some(peer),
            Presence::Away { .. } => None,
        }
    }
}

impl<G: Game> fmt::Debug for Player<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("name", &self.name)
            .field("role", &self.role)
            .field("presence", &self.presence)
            .finish_non_exhaustive()
    }
}

/// Somebody who is let in.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) host: Host,
    pub(super) ticket: Ticket,
    pub(super) peer: PeerId,
    pub(super) client: ClientId,
}

/// When packets left, so that acknowledgements tell the round trip.
#[derive(Debug, Default)]
pub(super) struct Flights {
    /// The newest ones, oldest first, without gaps.
    left: VecDeque<(PacketNumber, Instant)>,
    pub(super) newest: PacketNumber,
    pub(super) round_trip: RoundTrip,
}

impl Flights {
    /// Packets whose departure is remembered: a second of them, at three to a send.
    const MOST: usize = 64;

    pub(super) fn add(&mut self, now: Instant, packet: PacketNumber) {
        if self.left.len() >= Self::MOST {
            self.left.pop_front();
        }
        self.left.push_back((packet, now));
        self.newest = packet;
    }

    /// A packet was acknowledged for the first time.
    pub(super) fn acknowledge(&mut self, now: Instant, packet: PacketNumber) {
        let at = self
            .left
            .binary_search_by_key(&packet, |(packet, _)| *packet);
        if let Some((_, left)) = at.ok().and_then(|at| self.left.get(at)).copied() {
            self.round_trip.add_sample(now.since(left));
            // Older ones that are acknowledged later were repeated acknowledgements, not slow packets.
            self.left.retain(|(left, _)| *left > packet);
        }
    }
}
