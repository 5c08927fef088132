//! One connection as the server knows it.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{Instant, PeerLink, PeerStats, RoundTrip, SlidingWindow, TokenBucket};

use crate::pixmess::inbox::Inbox;
use crate::pixmess::limits::{
    CHAT_SPAN, CHATS_A_SPAN, CORRECTIONS_A_SECOND, EDITS_A_SECOND, MOVE_REFILL, MOVES_AT_ONCE,
    PING_PERIOD, REQUESTS_A_SECOND, TIMEOUT,
};
use crate::pixmess::message::{FromServer, Look, Shared, Version};
use crate::pixmess::outbox::Outbox;
use crate::pixmess::{Block, BlockId, Cell, ChunkId, Direction, PlayerId};

use super::news::Turn;
use super::sight::Sight;

const SECOND: Duration = Duration::from_secs(1);

/// What the server keeps of a connection, besides its path.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stage: Stage,
    /// What the game was asked about it. Until that is answered, nothing more of it is read.
    pub(super) asked: Option<Question>,
    pub(super) inbox: Inbox,
    pub(super) outbox: Outbox<FromServer<Shared>>,
    pub(super) guest: Option<Guest>,
    pub(super) sight: Sight,
    pub(super) turn: Turn,
    pub(super) rates: Rates,
    last_ping: Instant,
    /// When the ping was sent that is not answered yet.
    pinged: Option<Instant>,
    round_trip: RoundTrip,
    /// Whether steps were refused without a word, for the rate of words about it.
    pub(super) owes_correction: bool,
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
    /// It was told to go.
    Closing,
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
    pub(super) corrections: SlidingWindow,
    pub(super) edits: SlidingWindow,
    pub(super) requests: SlidingWindow,
    pub(super) chats: SlidingWindow,
}

impl Connection {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            stage: Stage::Greeting,
            asked: None,
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            guest: None,
            sight: Sight::default(),
            turn: Turn::default(),
            rates: Rates {
                moves: TokenBucket::new(now, MOVES_AT_ONCE, MOVE_REFILL),
                corrections: SlidingWindow::new(CORRECTIONS_A_SECOND, SECOND),
                edits: SlidingWindow::new(EDITS_A_SECOND, SECOND),
                requests: SlidingWindow::new(REQUESTS_A_SECOND, SECOND),
                chats: SlidingWindow::new(CHATS_A_SPAN, CHAT_SPAN),
            },
            last_ping: now,
            pinged: None,
            round_trip: RoundTrip::new(),
            owes_correction: false,
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
            played: core::mem::replace(&mut self.stage, Stage::Closing) == Stage::Playing,
        }
    }

    /// When something is due that was not heard since, for one that has logged in.
    pub(super) fn deadline(&self, last_heard: Instant) -> Instant {
        let silence = self.silence_deadline(last_heard);
        match self.rates.corrections.next() {
            Some(next) if self.owes_correction => silence.min(next),
            _ => silence,
        }
    }

    /// When silence has a consequence.
    pub(super) fn silence_deadline(&self, last_heard: Instant) -> Instant {
        let ping = last_heard.max(self.last_ping) + PING_PERIOD;
        ping.min(last_heard + TIMEOUT)
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

    pub(super) fn stats(&self, link: &PeerLink, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let name = self.guest.as_ref().map_or("", |guest| &guest.name);
        let spectates = self.guest.as_ref().is_some_and(Guest::is_spectator);
        let state = match self.stage {
            Stage::Greeting => "Greeting",
            Stage::Entering => "Entering",
            Stage::Playing if spectates => "Watching",
            Stage::Playing => "Playing",
            Stage::Closing => "Closing",
        };
        let mut stats = link.stats(name, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.queued = Some(self.outbox.waiting() as u64);
        visit(&stats);
    }
}
