//! The stream and its ends: dialling, greeting, losing it and coming back.
//!
//! In: what becomes of the stream. Out: orders to dial and to hang up, with pauses that grow from one
//! attempt to the next.

use alloc::collections::VecDeque;
use alloc::string::String;
use core::time::Duration;

use tickwire_session::{Addr, Instant, StreamId, Token, Transmit};

use super::limits::{HANDSHAKE_PATIENCE, RETRY_FIRST, RETRY_LONGEST, SILENCE_MAX};
use super::{Client, ClientEvent, EndReason, Phase};
use crate::reone::message::{Down, Up, UpFrame, VERSION};
use crate::reone::{Inbox, Outbox, Text};

#[derive(Debug)]
pub(super) struct Connection {
    server: Addr,
    /// What the player is called.
    name: String,
    pub(super) inbox: Inbox<Down>,
    pub(super) outbox: Outbox<Up>,
    /// Streams dialled before this one.
    number: u32,
    orders: VecDeque<Transmit>,
    /// When it was dialled, or opened.
    advanced: Instant,
    /// When the server was heard last, on either path.
    last_heard: Instant,
    token: Option<Token>,
    /// The last part of the last token: a number that other clients do not have.
    spread: u8,
    /// Whether the server ever welcomed this client.
    was_welcome: bool,
    retry_for: Duration,
    /// When there was a connection last, while there is none.
    lost: Option<Instant>,
    /// Since a snapshot was whole.
    attempts: u32,
    /// When to dial again, while waiting to.
    retry_at: Option<Instant>,
}

impl Connection {
    pub(super) fn dial(now: Instant, server: Addr, name: String, retry_for: Duration) -> Self {
        let on = StreamId::Dialled(0);
        Self {
            server,
            name,
            inbox: Inbox::new(),
            outbox: Outbox::new(),
            number: 0,
            orders: VecDeque::from([Transmit::Dial { on, to: server }]),
            advanced: now,
            last_heard: now,
            token: None,
            spread: 0,
            was_welcome: false,
            retry_for,
            lost: None,
            attempts: 0,
            retry_at: None,
        }
    }

    pub(super) const fn server(&self) -> Addr {
        self.server
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn stream(&self) -> StreamId {
        StreamId::Dialled(self.number)
    }

    pub(super) const fn token(&self) -> Option<Token> {
        self.token
    }

    pub(super) fn poll_order(&mut self) -> Option<Transmit> {
        self.orders.pop_front()
    }

    /// Something of the server came.
    pub(super) const fn hear(&mut self, now: Instant) {
        self.last_heard = now;
    }

    pub(super) const fn last_heard(&self) -> Instant {
        self.last_heard
    }

    /// When the connection, or the wait for one, is given up.
    pub(super) fn deadline(&self, phase: Phase) -> Option<Instant> {
        match phase {
            Phase::Ended(_) => None,
            Phase::Reconnecting => self.retry_at,
            Phase::Connecting | Phase::Handshaking => Some(self.advanced + HANDSHAKE_PATIENCE),
            Phase::Loading | Phase::Initialising | Phase::Ready | Phase::Playing => {
                Some(self.last_heard + SILENCE_MAX)
            }
        }
    }

    /// The handshake came a step further; returns how long that took.
    pub(super) const fn advance(&mut self, now: Instant) -> Duration {
        let took = now.since(self.advanced);
        self.advanced = now;
        took
    }

    pub(super) const fn was_welcome(&self) -> bool {
        self.was_welcome
    }

    pub(super) const fn set_welcome(&mut self, token: Token) {
        self.token = Some(token);
        let [spread, ..] = token.0.to_le_bytes();
        self.spread = spread;
        self.was_welcome = true;
        self.lost = None;
    }

    /// A snapshot is whole: whatever was wrong before is over.
    pub(super) const fn set_good(&mut self) {
        self.attempts = 0;
    }

    /// Says who this is, on the stream that has just opened.
    fn greet(&mut self) {
        // The configuration took no other name.
        let name = Text::new(&self.name).unwrap_or(Text::EMPTY);
        let version = VERSION;
        let pushed = self.outbox.push(&UpFrame::Hello { version, name });
        debug_assert!(pushed.is_ok(), "nothing waits on a new stream");
    }

    /// Ends the stream, unless it has not been dialled yet.
    fn end_stream(&mut self, is_open: bool) {
        let on = self.stream();
        let before = self.orders.len();
        self.orders
            .retain(|order| !matches!(order, Transmit::Dial { .. }));
        if self.orders.len() == before {
            self.orders.push_back(match is_open {
                true => Transmit::Finish { on },
                false => Transmit::Abort { on },
            });
        }
    }

    fn redial(&mut self, now: Instant) {
        self.number = self.number.wrapping_add(1);
        // Until now, the stream before may have gone on.
        self.inbox = Inbox::new();
        self.advanced = now;
        self.last_heard = now;
        self.retry_at = None;
        let on = self.stream();
        let to = self.server;
        self.orders.push_back(Transmit::Dial { on, to });
    }

    /// The stream is over. Returns the pause before the next is dialled; `None` if there is to be none.
    fn lose(&mut self, now: Instant, is_at_once: bool) -> Option<Duration> {
        self.outbox = Outbox::new();
        self.token = None;
        let pause = self.pause(now, is_at_once);
        self.retry_at = pause.map(|pause| now + pause);
        pause
    }

    /// The pause before the next attempt to come back; `None` if there is none to be.
    fn pause(&mut self, now: Instant, is_at_once: bool) -> Option<Duration> {
        let lost = *self.lost.get_or_insert(now);
        let pause = match self.attempts {
            0 if is_at_once => Duration::ZERO,
            attempts => {
                let doubled = RETRY_FIRST.saturating_mul(1 << attempts.min(16));
                doubled.min(RETRY_LONGEST)
            }
        };
        // Clients that lost the same server at the same moment do not all come back at the same: up to
        // a quarter longer, by the token that each had.
        let pause = pause + pause * u32::from(self.spread) / 1_024;
        self.attempts = self.attempts.saturating_add(1);
        let is_in_time = now.since(lost) + pause <= self.retry_for;
        (self.was_welcome && is_in_time).then_some(pause)
    }
}

impl Client {
    /// Says Hello on the stream that has just opened.
    pub(super) fn greet(&mut self) {
        self.phase = Phase::Handshaking;
        self.connection.greet();
        self.traffic.messages_out += 1;
    }

    /// The connection is lost; comes back later, or ends for this reason.
    pub(super) fn lose(&mut self, now: Instant, why: EndReason) {
        self.lose_then(now, why, false);
    }

    /// Gives the connection up, and comes back, at once the first time.
    pub(super) fn shake_hands_again(&mut self, now: Instant) {
        self.connection.end_stream(true);
        self.lose_then(now, EndReason::ServerClosed, true);
    }

    /// Ends the connection from this side, and comes back later, or ends for this reason.
    pub(super) fn give_up_connection(&mut self, now: Instant, why: EndReason) {
        let is_open = self.phase != Phase::Connecting;
        self.connection.end_stream(is_open);
        self.lose(now, why);
    }

    fn lose_then(&mut self, now: Instant, why: EndReason, is_at_once: bool) {
        if self.is_over() || self.phase == Phase::Reconnecting {
            return;
        }
        self.calls.disconnect();
        self.take_results();
        self.loader.disconnect();
        self.admission.clear_suspicion();
        let Some(after) = self.connection.lose(now, is_at_once) else {
            self.end(why);
            return;
        };
        self.phase = Phase::Reconnecting;
        self.counters.reconnected += 1;
        self.tell(ClientEvent::Reconnecting { after });
        self.redial_if_due(now);
    }

    fn redial_if_due(&mut self, now: Instant) {
        if self.connection.retry_at.is_some_and(|at| now >= at) {
            self.connection.redial(now);
            self.phase = Phase::Connecting;
        }
    }

    /// Ends the session from this side.
    pub(super) fn hang_up(&mut self, why: EndReason) {
        if self.is_over() {
            return;
        }
        if self.phase != Phase::Reconnecting {
            let is_open = self.phase != Phase::Connecting;
            self.connection.end_stream(is_open);
        }
        self.calls.disconnect();
        self.take_results();
        self.end(why);
    }

    fn end(&mut self, why: EndReason) {
        self.phase = Phase::Ended(why);
        self.tell(ClientEvent::Ended(why));
    }

    pub(super) fn handle_connection_timeout(&mut self, now: Instant) {
        let deadline = self.connection.deadline(self.phase);
        if deadline.is_none_or(|at| now < at) {
            return;
        }
        match self.phase {
            Phase::Reconnecting => self.redial_if_due(now),
            Phase::Connecting => self.give_up_connection(now, EndReason::Unreachable),
            _ => self.give_up_connection(now, EndReason::TimedOut),
        }
    }
}
