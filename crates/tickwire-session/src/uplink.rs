//! A client's paths to its server: the twin of [`Peers`](crate::Peers).
//!
//! In: what happens to the stream and to datagrams, the token that the server issued. Out: orders to dial
//! and to end the stream, when the token is to be shown, when something has to be sent so that silence is
//! not taken for death, and when a lost stream is dialled again. What the two sides say, and what an end
//! means to the player, is the protocol's.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::{
    Addr, Instant, Path, PeerStats, Room, RoundTrip, StreamId, Token, Traffic, Transmit, Updates,
};

/// Between two showings of the token while no datagram comes back.
pub const ATTACH_PERIOD: Duration = Duration::from_millis(100);

/// Between two datagrams to a server that is heard: often enough that routers keep the address.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The pause before a lost stream is dialled for the second time; it doubles from one to the next.
pub const RETRY_FIRST: Duration = Duration::from_millis(500);

/// The longest such pause.
pub const RETRY_LONGEST: Duration = Duration::from_secs(8);

/// The connection of a client.
#[derive(Debug)]
pub struct Uplink {
    server: Addr,
    stage: Stage,
    /// Streams dialled before this one.
    number: u32,
    orders: VecDeque<Transmit>,
    stream_room: u32,
    datagram_room: Room,
    attach: Option<Attach>,
    retry: Retry,
    last_heard: Instant,
    datagram_heard: Option<Instant>,
    stream_sent: Instant,
    datagram_sent: Instant,
    /// What was sent and received.
    pub traffic: Traffic,
    /// The way to the server and back.
    pub round_trip: RoundTrip,
    /// The states of the world that came.
    pub updates: Updates,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Dialling { since: Instant },
    Open,
    Lost { again: Instant },
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct Attach {
    token: Token,
    next: Instant,
}

/// Whether, and for how long, a lost connection is dialled again.
#[derive(Clone, Copy, Debug)]
struct Retry {
    patience: Duration,
    /// When the stream was lost, while it is.
    lost: Option<Instant>,
    attempts: u32,
    /// Jitter, different for each client, so that the clients of a server that restarted do not all
    /// come back at the same moment.
    spread: u8,
}

/// How the own stream ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StreamLoss {
    /// It never opened.
    Unreachable,
    /// The server, or the network, ended it.
    Closed,
}

impl Uplink {
    /// Dials a server.
    pub fn dial(now: Instant, server: Addr) -> Self {
        let on = StreamId::Dialled(0);
        Self {
            server,
            stage: Stage::Dialling { since: now },
            number: 0,
            orders: VecDeque::from([Transmit::Dial { on, to: server }]),
            stream_room: Room::CLOSED.bytes,
            datagram_room: Room::DATAGRAMS,
            attach: None,
            retry: Retry {
                patience: Duration::ZERO,
                lost: None,
                attempts: 0,
                spread: 0,
            },
            last_heard: now,
            datagram_heard: None,
            stream_sent: now,
            datagram_sent: now,
            traffic: Traffic::NONE,
            round_trip: RoundTrip::new(),
            updates: Updates::NONE,
        }
    }

    /// A stream that is lost is dialled again for so long.
    #[must_use]
    pub const fn with_retry(mut self, patience: Duration) -> Self {
        self.retry.patience = patience;
        self
    }

    /// Who is dialled, and where datagrams go.
    pub const fn server(&self) -> Addr {
        self.server
    }

    /// Sets the address for the next dial, for a server that is reached by another link.
    pub const fn set_server(&mut self, server: Addr) {
        self.server = server;
        self.datagram_room = Room::DATAGRAMS;
    }

    /// The stream in use.
    pub const fn stream(&self) -> StreamId {
        StreamId::Dialled(self.number)
    }

    /// Whether the stream is open.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// A stream opened. Returns whether it is the one that was dialled.
    pub fn handle_opened(&mut self, now: Instant, on: StreamId) -> bool {
        let Stage::Dialling { since } = self.stage else {
            return false;
        };
        if on != self.stream() {
            return false;
        }
        self.round_trip.add_sample(now.since(since));
        self.stage = Stage::Open;
        self.last_heard = now;
        self.stream_sent = now;
        true
    }

    /// What a path takes from now on. Returns whether it is one of this connection.
    pub fn handle_room(&mut self, path: Path, room: Room) -> bool {
        if path == Path::Stream(self.stream()) {
            self.stream_room = room.bytes;
        } else if path == Path::Datagrams(self.server) {
            self.datagram_room = room;
        } else {
            return false;
        }
        true
    }

    /// A path ended. Datagrams may be refused while a server restarts: only the stream's end counts.
    pub fn handle_closed(&mut self, path: Path) -> Option<StreamLoss> {
        if path != Path::Stream(self.stream()) {
            return None;
        }
        let loss = match self.stage {
            Stage::Dialling { .. } => StreamLoss::Unreachable,
            Stage::Open => StreamLoss::Closed,
            Stage::Lost { .. } | Stage::Ended => return None,
        };
        self.forget_stream();
        self.stage = Stage::Ended;
        Some(loss)
    }

    /// Something of the server came on either path.
    pub const fn heard(&mut self, now: Instant) {
        self.last_heard = now;
    }

    /// A datagram of the server came.
    pub const fn heard_datagram(&mut self, now: Instant) {
        self.last_heard = now;
        self.datagram_heard = Some(now);
    }

    /// When the server was last heard.
    pub const fn last_heard(&self) -> Instant {
        self.last_heard
    }

    /// When a datagram of it last came.
    pub const fn datagram_heard(&self) -> Option<Instant> {
        self.datagram_heard
    }

    /// Whether its datagrams came within this span.
    pub fn hears_datagrams(&self, now: Instant, within: Duration) -> bool {
        let heard = self.datagram_heard;
        heard.is_some_and(|heard| now.since(heard) < within)
    }

    /// Bytes that the stream takes now.
    pub const fn stream_room(&self) -> u32 {
        self.stream_room
    }

    /// What the datagram path takes now.
    pub const fn datagram_room(&self) -> Room {
        self.datagram_room
    }

    /// When the stream was last written to.
    pub const fn stream_sent(&self) -> Instant {
        self.stream_sent
    }

    /// When a datagram was last sent.
    pub const fn datagram_sent(&self) -> Instant {
        self.datagram_sent
    }

    /// The server issued a token; it is to be shown at once.
    pub const fn set_token(&mut self, now: Instant, token: Token) {
        self.attach = Some(Attach { token, next: now });
        let [spread, ..] = token.0.to_le_bytes();
        self.retry.spread = spread;
    }

    /// The token that the server issued on this stream.
    pub fn token(&self) -> Option<Token> {
        self.attach.map(|attach| attach.token)
    }

    /// The token, if it is to be shown now.
    pub fn due_token(&self, now: Instant) -> Option<Token> {
        let attach = self.attach.filter(|attach| now >= attach.next);
        attach.map(|attach| attach.token)
    }

    /// When the token is to be shown next.
    pub fn attach_at(&self) -> Option<Instant> {
        self.attach.map(|attach| attach.next)
    }

    /// The token is to be shown again at this moment.
    pub const fn set_attach_at(&mut self, at: Instant) {
        if let Some(attach) = &mut self.attach {
            attach.next = at;
        }
    }

    /// Bytes were written for the stream.
    pub fn sent_on_stream(&mut self, now: Instant, bytes: usize) -> Transmit {
        let counted = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.stream_room = self.stream_room.saturating_sub(counted);
        self.stream_sent = now;
        self.traffic.sent(bytes);
        Transmit::Stream { on: self.stream() }
    }

    /// A datagram was written.
    pub fn sent_datagram(&mut self, now: Instant, bytes: usize) -> Transmit {
        self.datagram_room.spend(bytes);
        self.datagram_sent = now;
        self.traffic.sent(bytes);
        Transmit::Datagram { to: self.server }
    }

    /// The next thing to be done with a stream besides writing.
    pub fn poll_order(&mut self) -> Option<Transmit> {
        self.orders.pop_front()
    }

    /// Whether everything that was ordered was polled, and nothing follows.
    pub fn is_finished(&self) -> bool {
        self.stage == Stage::Ended && self.orders.is_empty()
    }

    /// Ends the stream for good: politely if it is open.
    pub fn end(&mut self) {
        self.hang_up();
        self.stage = Stage::Ended;
    }

    /// The connection works: the next loss begins with the shortest pause.
    pub const fn set_good(&mut self) {
        self.retry.attempts = 0;
        self.retry.lost = None;
    }

    /// The server answered: the time limit for dialling again starts at the next loss.
    pub const fn set_answered(&mut self) {
        self.retry.lost = None;
    }

    /// The connection is lost, or given up. Returns the pause until it is dialled again; `None` if the
    /// time limit is over and the connection has ended. `at_once`: the first attempt needs no pause,
    /// because the connection worked before.
    pub fn lose(&mut self, now: Instant, at_once: bool) -> Option<Duration> {
        self.hang_up();
        self.forget_stream();
        let lost = *self.retry.lost.get_or_insert(now);
        let pause = self.retry.next_pause(at_once);
        if now.since(lost) + pause > self.retry.patience {
            self.stage = Stage::Ended;
            return None;
        }
        self.stage = Stage::Lost { again: now + pause };
        Some(pause)
    }

    /// Dials again, if that is due. Returns whether it is.
    pub fn redial_if_due(&mut self, now: Instant) -> bool {
        match self.stage {
            Stage::Lost { again } if now >= again => {
                self.redial(now);
                true
            }
            _ => false,
        }
    }

    /// Ends the stream and dials another at once, for a protocol that begins again.
    pub fn redial(&mut self, now: Instant) {
        self.hang_up();
        self.forget_stream();
        self.number = self.number.wrapping_add(1);
        self.stage = Stage::Dialling { since: now };
        self.last_heard = now;
        let (on, to) = (self.stream(), self.server);
        self.orders.push_back(Transmit::Dial { on, to });
    }

    /// When silence counts as the end, or a lost stream is dialled again.
    pub fn deadline(&self, patience: Duration) -> Option<Instant> {
        match self.stage {
            Stage::Dialling { .. } | Stage::Open => Some(self.last_heard + patience),
            Stage::Lost { again } => Some(again),
            Stage::Ended => None,
        }
    }

    /// Its figures. The protocol adds what it measures.
    pub fn stats<'a>(&self, name: &'a str, state: &'static str) -> PeerStats<'a> {
        let mut stats = PeerStats::new(name, self.server, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.updates = self.updates;
        stats
    }

    /// Orders the end of the stream in use. One whose dialling was not polled yet was never dialled.
    fn hang_up(&mut self) {
        let on = self.stream();
        let end = match self.stage {
            Stage::Open => Transmit::Finish { on },
            Stage::Dialling { .. } => Transmit::Abort { on },
            Stage::Lost { .. } | Stage::Ended => return,
        };
        let before = self.orders.len();
        self.orders
            .retain(|order| !matches!(order, Transmit::Dial { on: dialled, .. } if *dialled == on));
        if self.orders.len() == before {
            self.orders.push_back(end);
        }
    }

    /// Nothing that belonged to the stream is left.
    const fn forget_stream(&mut self) {
        self.attach = None;
        self.stream_room = Room::CLOSED.bytes;
        self.datagram_heard = None;
    }
}

impl Retry {
    fn next_pause(&mut self, at_once: bool) -> Duration {
        let pause = match self.attempts {
            0 if at_once => Duration::ZERO,
            attempts => {
                let doubled = RETRY_FIRST.saturating_mul(1 << attempts.min(16));
                doubled.min(RETRY_LONGEST)
            }
        };
        self.attempts = self.attempts.saturating_add(1);
        // Up to a quarter longer.
        pause + pause * u32::from(self.spread) / 1_024
    }
}

#[cfg(test)]
mod tests;
