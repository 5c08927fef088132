//! The way to Ready, and back after the server forgot this client.
//!
//! In: Parameters, Invalid, and arriving snapshots. Out: when to send Ping or Ready, and how to recover once
//! an Invalid is believed. Anybody can forge a datagram. So delayed Parameters do not undo newer ones, and an
//! Invalid raises a suspicion, which a snapshot refutes.

use tickwire_session::Instant;
use tickwire_wire::Serial;

use super::Phase;
use super::limits::{INVALID_PATIENCE, PING_AFTER, PING_PERIOD, UNKNOWN_PINGS};
use super::showing::Pace;
use crate::reone::ObjectId;
use crate::reone::message::{Compression, Invalid, Parameters, Role};

#[derive(Debug)]
pub(super) struct Admission {
    parameters: Option<Parameters>,
    /// How snapshots are coded, by the last parameters of any module. Those of the module before may come
    /// when its parameters mean nothing any more.
    compression: Compression,
    /// The server's tick when it said them. What it said earlier and comes later is not true any more.
    parameters_tick: Option<u32>,
    /// When the next Ping or Ready goes out.
    next_ping: Instant,
    /// The server said its parameters, and is owed a Ready.
    owes_ready: bool,
    /// Pings since the server last answered one.
    pings: u32,
    suspicion: Option<Suspicion>,
    last_datagram: Option<Instant>,
}

/// The server says that it does not know this client, or not as it was.
#[derive(Clone, Copy, Debug)]
struct Suspicion {
    why: Invalid,
    /// When it is to be believed, if no snapshot comes before.
    due: Instant,
}

/// What is to be said now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Due {
    pub(super) is_ping: bool,
    pub(super) is_ready: bool,
}

/// What makes the server know this client again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Recovery {
    /// To show the token again.
    Ping,
    /// To begin with the handshake.
    Handshake,
}

/// The server has said other parameters since.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct HeldUp;

impl Admission {
    /// The server knows nothing of this client.
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            parameters: None,
            compression: Compression::None,
            parameters_tick: None,
            next_ping: now,
            owes_ready: false,
            pings: 0,
            suspicion: None,
            last_datagram: None,
        }
    }

    /// Another module begins: the server will say what this client is in it.
    pub(super) const fn change_module(&mut self) {
        self.parameters = None;
        self.parameters_tick = None;
        self.suspicion = None;
    }

    /// Asks the server for its parameters, beginning now.
    pub(super) const fn initialise(&mut self, now: Instant) {
        self.accept_any_tick();
        self.next_ping = now;
        self.pings = 0;
    }

    /// Whoever asks anew takes any answer: a tick that was forged must not keep the true ones out.
    pub(super) const fn accept_any_tick(&mut self) {
        self.parameters_tick = None;
    }

    /// The server said its parameters at this tick. Returns those before.
    pub(super) fn handle_parameters(
        &mut self,
        now: Instant,
        tick: u32,
        parameters: &Parameters,
    ) -> Result<Option<Parameters>, HeldUp> {
        // Those of one tick cannot be told apart. The later arrival counts: if that is the wrong one, the
        // server says the right one again at a later tick.
        if self
            .parameters_tick
            .is_some_and(|newest| tick.is_older_than(newest))
        {
            return Err(HeldUp);
        }
        self.parameters_tick = Some(tick);
        // Whoever says its parameters has not heard Ready.
        self.owes_ready = true;
        self.next_ping = now + PING_PERIOD;
        self.pings = 0;
        self.suspicion = None;
        self.compression = parameters.compression;
        Ok(self.parameters.replace(*parameters))
    }

    /// A datagram came, of whatever kind.
    pub(super) const fn handle_datagram(&mut self, now: Instant) {
        self.last_datagram = Some(now);
    }

    /// A part of a snapshot came. Returns whether it refutes an Invalid.
    pub(super) const fn handle_snapshot(&mut self) -> bool {
        self.pings = 0;
        self.suspicion.take().is_some()
    }

    /// The server says that it does not know this client as it was; a part of a snapshot came last at
    /// `last_part`.
    pub(super) fn handle_invalid(
        &mut self,
        now: Instant,
        why: Invalid,
        last_part: Option<Instant>,
    ) {
        let due = match last_part {
            Some(last) => now.max(last + INVALID_PATIENCE),
            None => now,
        };
        self.suspicion = Some(Suspicion { why, due });
    }

    /// When an Invalid is to be believed.
    pub(super) fn suspicion_at(&self) -> Option<Instant> {
        self.suspicion.as_ref().map(|suspicion| suspicion.due)
    }

    /// The connection ended, and whatever the server said of it is over.
    pub(super) const fn clear_suspicion(&mut self) {
        self.suspicion = None;
    }

    /// What an Invalid asks for, once it is to be believed.
    pub(super) fn take_recovery(&mut self, now: Instant) -> Option<Recovery> {
        let suspicion = self.suspicion.take_if(|suspicion| now >= suspicion.due)?;
        Some(match suspicion.why {
            Invalid::NewModule => Recovery::Handshake,
            Invalid::Unknown if self.pings >= UNKNOWN_PINGS => Recovery::Handshake,
            Invalid::SameModule | Invalid::Unknown => Recovery::Ping,
        })
    }

    /// When the next Ping or Ready is due.
    pub(super) fn ping_at(&self, phase: Phase) -> Option<Instant> {
        match phase {
            Phase::Initialising | Phase::Ready => Some(self.next_ping),
            Phase::Playing => Some(self.next_ping.max(self.last_datagram? + PING_AFTER)),
            _ => None,
        }
    }

    /// What is to be said now, which then is not due any more.
    pub(super) fn take_due(&mut self, now: Instant, phase: Phase) -> Due {
        let is_due = self.ping_at(phase).is_some_and(|at| now >= at);
        let says_ready = is_due && phase == Phase::Ready;
        let is_ping = is_due && !says_ready;
        if is_due {
            self.next_ping = now + PING_PERIOD;
            self.pings = self.pings.saturating_add(u32::from(is_ping));
        }
        Due {
            is_ping,
            is_ready: core::mem::take(&mut self.owes_ready) || says_ready,
        }
    }

    /// What the server said that this client is, and how snapshots come.
    pub(super) const fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// How the server's snapshots are coded.
    pub(super) const fn compression(&self) -> Compression {
        self.compression
    }

    /// The creature that this client steers.
    pub(super) fn own(&self) -> Option<ObjectId> {
        let parameters = self.parameters?;
        (parameters.role == Role::Player).then_some(parameters.own)
    }

    /// When snapshots are, and how late they are shown.
    pub(super) fn pace(&self) -> Option<Pace> {
        self.parameters.as_ref().map(Pace::new)
    }
}
