//! One pairing as one member sees it: which paths to the other member there may be, and which is used.
//!
//! In: candidates, probes and their answers, the time. Out: probes to send, and for the joiner, who decides,
//! the path that the two use. Every candidate is tried at once; the best of those that answer is used; a path
//! that falls silent is left, and one that comes to work later and is better is taken.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::SocketAddr;
use core::time::Duration;

use tickwire_session::Instant;

use crate::limits::{
    JOIN_PATIENCE, PAIRING_SILENCE, PATH_CHECK, PATH_SILENCE, PROBE_FIRST, PROBE_SLOWEST, PUNCHING,
    RELAY_AFTER, RELAY_KEPT, TRIES_MAX,
};
use crate::message::{Candidate, CandidateKind, RelayEnd};
use crate::probe::{Key, Kind, Probe, Role};

/// How the other member is reached. The first is the best.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum PathKind {
    /// In the same network.
    Local,
    /// Over the Internet, at an address that is the other member's own.
    Public,
    /// Through routers, at an address that one of them made up.
    Punched,
    /// By the rendezvous server's relay.
    Relayed,
}

impl PathKind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Public => "public",
            Self::Punched => "punched",
            Self::Relayed => "relayed",
        }
    }
}

/// What the joiner's embedder has to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Decision {
    /// Use this path from now on.
    Use { kind: PathKind, to: SocketAddr },
    /// The path in use fell silent, and there is no other.
    Lost,
    /// No path was found in time.
    NotFound,
}

#[derive(Debug)]
pub(super) struct Pairing {
    pub(super) number: u32,
    key: Key,
    role: Role,
    began: Instant,
    /// When there last was something new to try.
    punching: Instant,
    tries: Vec<Try>,
    next_probe: Instant,
    interval: Duration,
    /// Of the last probe that was sent.
    probe: u32,
    /// When the other member was last heard of.
    heard: Instant,
    relay: RelayState,
    standing: Standing,
    /// Datagrams to send: at most a few for each try.
    pub(super) outgoing: VecDeque<(SocketAddr, Probe)>,
}

/// What the joiner has decided.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Standing {
    Searching,
    Using {
        to: SocketAddr,
        kind: PathKind,
        since: Instant,
    },
    Ended,
}

/// Where the relay stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RelayState {
    NotWanted,
    Asked,
    Open,
    Refused,
}

/// An address that may be a path.
#[derive(Clone, Copy, Debug)]
struct Try {
    addr: SocketAddr,
    kind: PathKind,
    since: Instant,
    /// The oldest probe that was not answered, or the last that was.
    sent: Option<u32>,
    /// When it last answered.
    answered: Option<Instant>,
}

/// Answers that wait at once: more are not asked for by an honest member.
const ANSWERS: usize = 32;

/// Numbers of probes that may still be answered.
const NUMBERS: u32 = 64;

impl Pairing {
    pub(super) fn new(
        now: Instant,
        number: u32,
        key: Key,
        role: Role,
        candidates: &[Candidate],
    ) -> Self {
        let mut pairing = Self {
            number,
            key,
            role,
            began: now,
            punching: now,
            tries: Vec::new(),
            next_probe: now,
            interval: PROBE_FIRST,
            probe: 0,
            heard: now,
            relay: RelayState::NotWanted,
            standing: Standing::Searching,
            outgoing: VecDeque::new(),
        };
        pairing.add_candidates(now, candidates);
        pairing
    }

    /// Tries what the other member says of itself. An address that is known keeps what is known of it.
    pub(super) fn add_candidates(&mut self, now: Instant, candidates: &[Candidate]) {
        for candidate in candidates {
            let kind = match candidate.kind {
                CandidateKind::Local => PathKind::Local,
                CandidateKind::Public => PathKind::Public,
                CandidateKind::Mapped => PathKind::Punched,
            };
            self.try_also(now, candidate.addr, kind);
        }
    }

    fn try_also(&mut self, now: Instant, addr: SocketAddr, kind: PathKind) {
        if self.tries.iter().any(|tried| tried.addr == addr) {
            return;
        }
        // One that has had its time gives way. Not sooner: a member could aim many probes by few of its own.
        if self.tries.len() >= TRIES_MAX {
            let is_vain = |tried: &Try| {
                let alive = tried.answered.unwrap_or(tried.since);
                tried.kind != PathKind::Relayed && now.since(alive) >= PATH_SILENCE
            };
            let Some(vain) = self.tries.iter().position(is_vain) else {
                return;
            };
            self.tries.remove(vain);
        }
        self.tries.push(Try {
            addr,
            kind,
            since: now,
            sent: None,
            answered: None,
        });
        self.punching = now;
        self.interval = PROBE_FIRST;
        self.next_probe = now;
    }

    pub(super) const fn key(&self) -> &Key {
        &self.key
    }

    /// Whether it is of no use any more.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.standing == Standing::Ended || now.since(self.heard) >= PAIRING_SILENCE
    }

    /// A probe with the right tag.
    pub(super) fn handle_probe(&mut self, now: Instant, from: SocketAddr, probe: Probe) {
        match probe.kind {
            Kind::Probe if probe.role == self.role.other() => {
                self.heard = now;
                if self.outgoing.len() < ANSWERS {
                    let answer = Probe {
                        kind: Kind::Answer,
                        ..probe
                    };
                    self.outgoing.push_back((from, answer));
                }
                // From an address that was not named: a router made it up.
                self.try_also(now, from, PathKind::Punched);
            }
            Kind::Answer if probe.role == self.role => {
                let current = self.probe;
                let tried = self.tries.iter_mut().find(|tried| tried.addr == from);
                // An answer to a probe that was sent there, and lately.
                if let Some(tried) = tried
                    && tried.sent.is_some()
                    && current.wrapping_sub(probe.number) < NUMBERS
                {
                    tried.answered = Some(now);
                    self.heard = now;
                }
            }
            Kind::Bound if probe.role == self.role => self.heard = now,
            Kind::Probe | Kind::Answer | Kind::Bind | Kind::Bound => {}
        }
    }

    pub(super) fn open_relay(&mut self, now: Instant, addr: SocketAddr) {
        self.close_relay();
        self.relay = RelayState::Open;
        // The other member's probe may have come through it before the server's word did.
        self.tries.retain(|tried| tried.addr != addr);
        self.tries.truncate(TRIES_MAX - 1);
        self.tries.push(Try {
            addr,
            kind: PathKind::Relayed,
            since: now,
            sent: None,
            answered: None,
        });
        self.next_probe = now;
        self.interval = PROBE_FIRST;
    }

    /// The server has no relay for it.
    pub(super) const fn refuse_relay(&mut self) {
        self.relay = RelayState::Refused;
    }

    /// The relay ended; it may be asked for again.
    pub(super) fn end_relay(&mut self, why: RelayEnd) {
        self.close_relay();
        if why == RelayEnd::Spent {
            self.relay = RelayState::Refused;
        }
    }

    fn close_relay(&mut self) {
        self.tries.retain(|tried| tried.kind != PathKind::Relayed);
        self.relay = RelayState::NotWanted;
    }

    /// Whether to ask for a relay now; then it was asked for.
    pub(super) fn wants_relay(&mut self, now: Instant) -> bool {
        let is_missing = matches!(self.standing, Standing::Searching)
            && (now.since(self.began) >= RELAY_AFTER || self.tries.is_empty())
            || matches!(self.standing, Standing::Using { kind, .. } if kind != PathKind::Relayed)
                && self.best(now).is_none();
        let wants = self.role == Role::Joiner && self.relay == RelayState::NotWanted && is_missing;
        if wants {
            self.relay = RelayState::Asked;
        }
        wants
    }

    /// Whether to give the relay back now; then it was given back.
    pub(super) fn releases_relay(&mut self, now: Instant) -> bool {
        // One that holds no longer is what the relay was asked for.
        let holds = matches!(self.standing, Standing::Using { to, kind, since }
            if kind != PathKind::Relayed && now.since(since) >= RELAY_KEPT && self.is_alive(now, to));
        let releases = self.role == Role::Joiner && self.relay == RelayState::Open && holds;
        if releases {
            self.close_relay();
        }
        releases
    }

    /// A connection to the server was lost: what was asked there is not answered.
    pub(super) fn lose_control(&mut self) {
        if self.relay == RelayState::Asked {
            self.relay = RelayState::NotWanted;
        }
    }

    /// The best path that answers.
    fn best(&self, now: Instant) -> Option<(PathKind, SocketAddr)> {
        let alive = self.tries.iter().filter(|tried| {
            tried
                .answered
                .is_some_and(|answered| now.since(answered) < PATH_SILENCE)
        });
        let best = alive.min_by_key(|tried| tried.kind)?;
        // Of two that are equally good, the one in use stays.
        match self.standing {
            Standing::Using { to, kind, .. } if kind == best.kind && self.is_alive(now, to) => {
                Some((kind, to))
            }
            _ => Some((best.kind, best.addr)),
        }
    }

    fn is_alive(&self, now: Instant, addr: SocketAddr) -> bool {
        let tried = self.tries.iter().find(|tried| tried.addr == addr);
        let answered = tried.and_then(|tried| tried.answered);
        answered.is_some_and(|answered| now.since(answered) < PATH_SILENCE)
    }

    /// The joiner's decision, if it is another than before.
    pub(super) fn decide(&mut self, now: Instant) -> Option<Decision> {
        if self.role == Role::Host {
            return None;
        }
        match (self.standing, self.best(now)) {
            (Standing::Ended, _) => None,
            (Standing::Using { to, .. }, Some((_, best))) if to == best => None,
            (Standing::Searching | Standing::Using { .. }, Some((kind, to))) => {
                self.standing = Standing::Using {
                    to,
                    kind,
                    since: now,
                };
                Some(Decision::Use { kind, to })
            }
            (Standing::Using { since, .. }, None)
                if now.since(since.max(self.heard)) >= 2 * PATH_SILENCE =>
            {
                self.standing = Standing::Ended;
                Some(Decision::Lost)
            }
            (Standing::Searching, None) if now.since(self.began) >= JOIN_PATIENCE => {
                self.standing = Standing::Ended;
                Some(Decision::NotFound)
            }
            (Standing::Searching | Standing::Using { .. }, None) => None,
        }
    }

    /// Probes what there is to probe, if the time has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if now < self.next_probe {
            return;
        }
        self.probe += 1;
        for tried in &mut self.tries {
            if self.outgoing.len() >= ANSWERS + 2 * TRIES_MAX {
                break;
            }
            let probe = Probe {
                kind: Kind::Probe,
                role: self.role,
                pairing: self.number,
                number: self.probe,
            };
            if tried.kind == PathKind::Relayed {
                let bind = Probe {
                    kind: Kind::Bind,
                    ..probe
                };
                self.outgoing.push_back((tried.addr, bind));
            }
            tried.sent = Some(self.probe);
            self.outgoing.push_back((tried.addr, probe));
        }
        let is_searching = now.since(self.punching) < PUNCHING
            || self.role == Role::Joiner && self.standing == Standing::Searching;
        self.interval = match is_searching {
            true => (self.interval * 5 / 4).min(PROBE_SLOWEST),
            false => PATH_CHECK,
        };
        self.next_probe = now + self.interval;
    }

    /// When something is to be done.
    pub(super) fn wake(&self) -> Instant {
        let over = self.heard + PAIRING_SILENCE;
        self.next_probe.min(over)
    }

    /// The word of STATES.md.
    pub(super) const fn state(&self) -> &'static str {
        match self.standing {
            _ if matches!(self.role, Role::Host) => "Paired",
            Standing::Searching => "Searching",
            Standing::Using { .. } => "Using",
            Standing::Ended => "Ended",
        }
    }

    /// Where the other member is, as far as it is known.
    pub(super) fn addr(&self) -> Option<SocketAddr> {
        match self.standing {
            Standing::Using { to, .. } => Some(to),
            Standing::Searching | Standing::Ended => self.tries.first().map(|tried| tried.addr),
        }
    }
}
