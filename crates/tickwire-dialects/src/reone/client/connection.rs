//! The stream and its ends: greeting, losing it and coming back.
//!
//! In: what becomes of the stream. Out: what that means for the rest of the client. Dialling, pauses and
//! the orders for them are [`Uplink`]'s.

use alloc::string::String;
use core::time::Duration;

use tickwire_session::{Addr, Backlog, Instant, Uplink};

use super::limits::{HANDSHAKE_PATIENCE, SILENCE_MAX};
use super::{Client, ClientEvent, EndReason, Phase};
use crate::reone::limits::STREAM_WAITING;
use crate::reone::message::{Down, Up, UpFrame, VERSION, encode_frame};
use crate::reone::{Inbox, Text};

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) link: Uplink,
    pub(super) inbox: Inbox<Down>,
    /// Frames that wait for the server to read.
    pub(super) outbox: Backlog,
    /// What the player is called.
    name: String,
    /// Whether the server ever welcomed this client. It comes back only to one that did.
    was_welcome: bool,
}

impl Connection {
    pub(super) fn dial(now: Instant, server: Addr, name: String, retry_for: Duration) -> Self {
        Self {
            link: Uplink::dial(now, server).with_retry(retry_for),
            inbox: Inbox::new(),
            outbox: Backlog::new(STREAM_WAITING),
            name,
            was_welcome: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// When the connection is given up, or dialled again.
    pub(super) fn deadline(&self, phase: Phase) -> Option<Instant> {
        self.link.deadline(match phase {
            Phase::Connecting | Phase::Handshaking => HANDSHAKE_PATIENCE,
            _ => SILENCE_MAX,
        })
    }

    pub(super) const fn was_welcome(&self) -> bool {
        self.was_welcome
    }

    pub(super) const fn set_welcome(&mut self) {
        self.was_welcome = true;
        self.link.set_answered();
    }

    /// Says who this is, on the stream that has just opened.
    fn greet(&mut self) {
        // The configuration took no other name.
        let name = self.name.clone();
        let name = Text::new(&name).unwrap_or(Text::EMPTY);
        let version = VERSION;
        self.say(&UpFrame::Hello { version, name });
    }

    /// Says something on the stream.
    pub(super) fn say(&mut self, frame: &UpFrame<'_>) {
        let pushed = self.outbox.push(|out| encode_frame::<Up>(frame, out));
        debug_assert!(pushed.is_ok(), "calls leave room for all else");
        self.link.traffic.messages_out += 1;
    }

    /// The stream is over. Returns the pause before the next is dialled; `None` if there is to be none.
    fn lose(&mut self, now: Instant, is_at_once: bool) -> Option<Duration> {
        self.outbox = Backlog::new(STREAM_WAITING);
        if !self.was_welcome {
            self.link.end();
            return None;
        }
        self.link.lose(now, is_at_once)
    }
}

impl Client {
    /// Says Hello on the stream that has just opened.
    pub(super) fn greet(&mut self) {
        self.phase = Phase::Handshaking;
        self.connection.greet();
    }

    /// The connection is lost, or given up; comes back later, or ends for this reason.
    pub(super) fn lose(&mut self, now: Instant, why: EndReason) {
        self.lose_then(now, why, false);
    }

    /// Gives the connection up, and comes back, at once the first time.
    pub(super) fn shake_hands_again(&mut self, now: Instant) {
        self.lose_then(now, EndReason::ServerClosed, true);
    }

    fn lose_then(&mut self, now: Instant, why: EndReason, is_at_once: bool) {
        if self.is_over() || self.phase == Phase::Reconnecting {
            return;
        }
        self.end_calls();
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
        if self.connection.link.redial_if_due(now) {
            // Until now, the stream before may have gone on.
            self.connection.inbox = Inbox::new();
            self.phase = Phase::Connecting;
        }
    }

    /// Ends the session from this side.
    pub(super) fn hang_up(&mut self, why: EndReason) {
        if !self.is_over() {
            self.connection.link.end();
            self.end_calls();
            self.end(why);
        }
    }

    fn end_calls(&mut self) {
        self.calls.disconnect();
        self.take_results();
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
            Phase::Connecting => self.lose(now, EndReason::Unreachable),
            _ => self.lose(now, EndReason::TimedOut),
        }
    }
}
