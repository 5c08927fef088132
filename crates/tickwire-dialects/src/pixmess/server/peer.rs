//! One connection as the server knows it.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{Addr, Instant, PeerStats, Room, RoundTrip, TokenBucket, Traffic};

use crate::pixmess::inbox::Inbox;
use crate::pixmess::limits::{
    CHAT_SPAN, CHATS_A_SPAN, CORRECTIONS_A_SECOND, EDITS_A_SECOND, LOGIN_PATIENCE, MOVE_REFILL,
    MOVES_AT_ONCE, PING_PERIOD, REQUESTS_A_SECOND, TIMEOUT,
};
use crate::pixmess::message::{FromServer, Look, Shared, Version};
use crate::pixmess::outbox::Outbox;
use crate::pixmess::pace::Pace;
use crate::pixmess::{Block, BlockId, Cell, ChunkId, Direction, PlayerId};

use super::news::Turn;
use super::sight::Sight;

const SECOND: Duration = Duration::from_secs(1);

/// A connection.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) addr: Addr,
    pub(super) stage: Stage,
    /// What the game was asked about it. Until that is answered, nothing more of it is read.
    pub(super) asked: Option<Question>,
    pub(super) inbox: Inbox,
    pub(super) outbox: Outbox<FromServer<Shared>>,
    pub(super) room: u32,
    pub(super) guest: Option<Guest>,
    pub(super) sight: Sight,
    pub(super) turn: Turn,
    pub(super) rates: Rates,
    opened: Instant,
    pub(super) last_heard: Instant,
    last_ping: Instant,
    /// When the ping was sent that is not answered yet.
    pinged: Option<Instant>,
    pub(super) round_trip: RoundTrip,
    pub(super) traffic: Traffic,
    /// Whether steps were refused without a word, for the rate of words about it.
    pub(super) owes_correction: bool,
    /// Whether it is among those who may have something to be written.
    pub(super) ready: bool,
    pub(super) refused: u64,
    /// When it is looked after next: never later than something is due.
    pub(super) alarm: Instant,
}

/// How far a connection has come (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// It has not logged in.
    Greeting,
    /// It has, and the game has not decided yet.
    Entering,
    /// It takes part.
    Playing,
    /// It was told to go, and has this long to read that.
    Closing { until: Instant },
}

/// What the game is asked about a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Question {
    Login,
    Move(Direction),
    Edit(BlockId, Block),
    Block(BlockId),
    Chunk(ChunkId),
}

/// Who logged in.
#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub(super) player: PlayerId,
    /// Empty for a spectator.
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) version: Version,
    /// Where it stands, or looks from.
    pub(super) at: Cell,
    /// How many of the lines for everybody it was told.
    pub(super) lines_read: u64,
}

impl Guest {
    pub(super) const fn is_spectator(&self) -> bool {
        self.name.is_empty()
    }
}

/// What is left of a connection in the tables of others.
#[derive(Debug)]
pub(super) struct Traces {
    pub(super) held: Vec<ChunkId>,
    pub(super) guest: Option<Guest>,
    /// Whether the game had admitted it.
    pub(super) played: bool,
}

/// How often a client may do what.
#[derive(Debug)]
pub(super) struct Rates {
    pub(super) moves: TokenBucket,
    pub(super) corrections: Pace,
    pub(super) edits: Pace,
    pub(super) requests: Pace,
    pub(super) chats: Pace,
}

impl Peer {
    pub(super) fn new(now: Instant, addr: Addr) -> Self {
        Self {
            addr,
            stage: Stage::Greeting,
            asked: None,
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            room: Room::CLOSED.bytes,
            guest: None,
            sight: Sight::default(),
            turn: Turn::default(),
            rates: Rates {
                moves: TokenBucket::new(now, MOVES_AT_ONCE, MOVE_REFILL),
                corrections: Pace::new(CORRECTIONS_A_SECOND, SECOND),
                edits: Pace::new(EDITS_A_SECOND, SECOND),
                requests: Pace::new(REQUESTS_A_SECOND, SECOND),
                chats: Pace::new(CHATS_A_SPAN, CHAT_SPAN),
            },
            opened: now,
            last_heard: now,
            last_ping: now,
            pinged: None,
            round_trip: RoundTrip::new(),
            traffic: Traffic::NONE,
            owes_correction: false,
            ready: false,
            refused: 0,
            alarm: Instant::NEVER,
        }
    }

    /// Whether what it says is read.
    pub(super) fn is_listened_to(&self) -> bool {
        self.asked.is_none() && matches!(self.stage, Stage::Greeting | Stage::Playing)
    }

    pub(super) fn is_playing(&self) -> bool {
        self.stage == Stage::Playing
    }

    /// Whether it can be told of movable layer sets.
    pub(super) fn knows_sets(&self) -> bool {
        let guest = self.guest.as_ref();
        self.is_playing() && guest.is_some_and(|guest| guest.version == Version::Two)
    }

    /// Ceases to be anybody, which happens once.
    pub(super) fn withdraw(&mut self) -> Traces {
        Traces {
            held: core::mem::take(&mut self.sight).chunks().collect(),
            guest: self.guest.take(),
            played: self.is_playing(),
        }
    }

    /// When something is due, if nothing more is heard.
    pub(super) fn deadline(&self) -> Instant {
        let silence = self.silence_deadline();
        match self.rates.corrections.next() {
            Some(next) if self.owes_correction => silence.min(next),
            _ => silence,
        }
    }

    /// When silence has a consequence.
    pub(super) fn silence_deadline(&self) -> Instant {
        match self.stage {
            Stage::Greeting => self.opened + LOGIN_PATIENCE,
            Stage::Entering | Stage::Playing => {
                let ping = self.last_heard.max(self.last_ping) + PING_PERIOD;
                ping.min(self.last_heard + TIMEOUT)
            }
            Stage::Closing { until } => until,
        }
    }

    pub(super) fn note_ping(&mut self, now: Instant) {
        self.last_ping = now;
        self.pinged = Some(now);
    }

    /// A pong answers the last ping. One that comes after another ping was sent would measure too
    /// little; it also says that the path is slower than a ping period, which is worth a wrong number.
    pub(super) fn note_pong(&mut self, now: Instant) {
        if let Some(pinged) = self.pinged.take() {
            self.round_trip.add_sample(now.since(pinged));
        }
    }

    /// Writes what there is room for.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        self.traffic.messages_out += self.outbox.write(self.room, out);
        let written = out.len() - before;
        self.room -= u32::try_from(written).unwrap_or(self.room);
        self.traffic.sent(written);
    }

    pub(super) fn can_write(&self) -> bool {
        self.room > 0 && !self.outbox.is_empty()
    }

    pub(super) fn stats(&self) -> PeerStats<'_> {
        let name = self.guest.as_ref().map_or("", |guest| &guest.name);
        let spectates = self.guest.as_ref().is_some_and(Guest::is_spectator);
        let state = match self.stage {
            Stage::Greeting => "Greeting",
            Stage::Entering => "Entering",
            Stage::Playing if spectates => "Watching",
            Stage::Playing => "Playing",
            Stage::Closing { .. } => "Closing",
        };
        let mut stats = PeerStats::new(name, self.addr, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.refused = self.refused;
        stats
    }
}
