//! A member: whoever hosts a session, joins one or asks which there are.
//!
//! In: what the server says on the control stream, STUN answers and probes by datagram. Out: the code of a
//! host's session; for a joiner the address that its game is to use, and every change of it. The game's own
//! packets do not come by here: they share the socket, and go straight to the path that was found. One
//! session serves a host with all who join it.

mod carriage;
mod control;
mod pairing;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::Hasher;
use core::net::SocketAddr;
use core::time::Duration;

use siphasher::sip::SipHasher24;
use tickwire_session::{
    Addr, Ended, Events, Host, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
    counters,
};

use crate::code::{Code, Fingerprint, Secret};
use crate::limits::{CANDIDATES_MAX, EVENTS_MAX, KEEP_ALIVE, PAIRINGS_A_MEMBER, UDP_PATIENCE};
use crate::message::{Candidate, CandidateKind, Down, Listing, Refusal, Register, RelayEnd, Up};
use crate::probe::{PROBE_LENGTH, Probe, Role};
use crate::stun::{self, TransactionId};
use carriage::Carriage;
use control::Control;
use pairing::{Decision, Pairing};

pub use pairing::PathKind;

/// How long an answer to STUN is waited for before a member goes on without: three questions.
const STUN_PATIENCE: Duration = Duration::from_millis(700);

/// Between the first STUN questions.
const STUN_RETRY: Duration = Duration::from_millis(200);

/// What a member wants of the server.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// To be found. The candidates and the claim are filled in.
    Host(Register),
    /// To get to a session.
    Join(Code),
    /// To know which public sessions there are: of one protocol, or of all.
    List(String),
}

/// What happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MemberEvent {
    /// The session can be joined by this code.
    Registered {
        /// What to tell your friends.
        code: Code,
    },
    /// The server does not do what was asked.
    Refused(Refusal),
    /// The session was found. A path to it is being looked for.
    Admitted {
        /// What the host will show.
        fingerprint: Fingerprint,
        /// What is spoken there.
        protocol: String,
        /// What people call it.
        name: String,
    },
    /// Send to this address from now on.
    Path {
        /// How it leads there.
        kind: PathKind,
        /// Where it leads.
        to: SocketAddr,
    },
    /// The path in use fell silent, and there is no other: join again by the code.
    PathLost {
        /// Why the relay ended, if it did.
        relay: Option<RelayEnd>,
    },
    /// No path was found.
    NoPath,
    /// Somebody knocks at a host.
    Knocked,
    /// The public sessions.
    Listed(Vec<Listing>),
    /// The server answers no datagram: this network lets no UDP out, it seems. [`Member::carry`] goes on by TCP.
    Unheard,
    /// The control connection ended. Paths live on; [`Member::connect`] begins another.
    ControlLost {
        /// How it ended.
        why: Ended,
    },
}

/// A member's session.
#[derive(Debug)]
pub struct Member {
    purpose: Purpose,
    /// Where the server answers STUN; its relays have the same address.
    server: SocketAddr,
    control: Control,
    /// Control streams that were dialled, modulo those that carry.
    dialled: u32,
    /// Those that another took the place of, and that are to be cut.
    stale: Vec<StreamId>,
    carriage: Carriage,
    /// No address is told, and none tried.
    is_hidden: bool,
    /// Whether it was said that nothing is heard.
    is_unheard: bool,
    asked: Asked,
    local: Option<SocketAddr>,
    stun: Stun,
    pairings: BTreeMap<u32, Pairing>,
    claim: Option<(Code, Secret)>,
    relay_end: Option<RelayEnd>,
    events: VecDeque<MemberEvent>,
    is_ending: bool,
    counters: Counters,
}

/// Whether the server was told what this member wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Asked {
    No,
    Yes,
}

/// What the world sees of this member.
#[derive(Debug)]
struct Stun {
    secret: [u8; 32],
    began: Instant,
    next: Instant,
    asked: u64,
    /// Of the question that is asked, and asked again until it is answered.
    transaction: TransactionId,
    is_answered: bool,
    mapped: Option<SocketAddr>,
    is_due: bool,
}

counters! {
    /// What a member did not take.
    pub struct Counters {
        /// Neither STUN nor a probe.
        datagrams_unknown,
        /// Probes with a wrong tag or of no pairing.
        probes_refused,
        /// STUN that answers no question, or not from the server.
        stun_refused,
        /// Control messages that do not decode.
        malformed,
        /// More knocked than a host takes part in at a time.
        knocks_dropped,
    }
}

impl Member {
    /// A member that wants something of the server whose STUN is at `server`. The bytes are a secret of this
    /// run.
    pub fn new(now: Instant, server: SocketAddr, purpose: Purpose, secret: [u8; 32]) -> Self {
        let mut stun = Stun {
            secret,
            began: now,
            next: now,
            asked: 0,
            transaction: TransactionId::default(),
            is_answered: true,
            mapped: None,
            is_due: false,
        };
        stun.handle_timeout(now);
        Self {
            purpose,
            server,
            control: Control::Idle,
            dialled: 0,
            stale: Vec::new(),
            carriage: Carriage::default(),
            is_hidden: false,
            is_unheard: false,
            asked: Asked::No,
            local: None,
            stun,
            pairings: BTreeMap::new(),
            claim: None,
            relay_end: None,
            events: VecDeque::new(),
            is_ending: false,
            counters: Counters::default(),
        }
    }

    /// The address that this member has in its own network.
    pub fn set_local(&mut self, addr: SocketAddr) {
        let is_usable = !addr.ip().is_unspecified() && addr.port() != 0;
        self.local = is_usable.then(|| SocketAddr::new(addr.ip().to_canonical(), addr.port()));
    }

    /// Opens the control stream to the server, whatever it is called.
    pub fn connect(&mut self, now: Instant, server: Addr) {
        self.asked = Asked::No;
        self.stale.extend(self.control.unfinished());
        let on = StreamId::Dialled(self.dialled);
        self.dialled = (self.dialled + 1) % carriage::FIRST;
        self.control.dial(now, on, server);
    }

    /// Has datagrams for the server's relays go on a stream to its [`Gate`](crate::Gate). STUN still asks by
    /// datagram: should it be answered after all, direct paths are looked for.
    pub fn carry(&mut self, gate: Addr) {
        self.carriage.abort();
        self.carriage.dial(gate);
    }

    /// Whether there is such a stream.
    pub const fn is_carried(&self) -> bool {
        self.carriage.is_used()
    }

    /// Sends a packet of QUIC on that stream, to the server or one of its relays.
    pub fn carry_packet(&mut self, to: SocketAddr, packet: &[u8]) {
        let port = if to == self.server { 0 } else { to.port() };
        self.carriage.push(port, packet);
    }

    /// A packet of QUIC that came on that stream, and the address that it would have come from.
    pub fn poll_packet(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        let (port, packet) = self.carriage.packets.pop_front()?;
        let from = match port {
            0 => self.server,
            _ => SocketAddr::new(self.server.ip(), port),
        };
        Some((from, packet))
    }

    /// Uses a relay only, so that neither player learns where the other is. Said before anything else.
    pub const fn use_relay_only(&mut self) {
        self.is_hidden = true;
    }

    /// How many play, for those who look at the list.
    pub fn set_players(&mut self, players: u16) {
        if let Purpose::Host(register) = &mut self.purpose
            && register.players != players
        {
            register.players = players;
            self.update();
        }
    }

    /// The path of a joiner, when it has one.
    pub fn path(&self) -> Option<SocketAddr> {
        self.pairings.values().find_map(|pairing| pairing.addr())
    }

    /// Tells the server, and by it everybody who is looking for a path to here, what is known by now.
    fn update(&mut self) {
        let players = match &self.purpose {
            Purpose::Host(register) => register.players,
            Purpose::Join(_) => 0,
            Purpose::List(_) => return,
        };
        if self.asked == Asked::Yes {
            let candidates = self.candidates();
            self.control.say(&Up::Update {
                players,
                candidates,
            });
        }
    }

    fn candidates(&self) -> Vec<Candidate> {
        if self.is_hidden {
            return Vec::new();
        }
        let mapped = self.stun.mapped;
        let local = self.local.filter(|local| Some(*local) != mapped);
        let mapped_kind = match self.local == mapped {
            true => CandidateKind::Public,
            false => CandidateKind::Mapped,
        };
        let local = local.map(|addr| Candidate {
            kind: CandidateKind::Local,
            addr,
        });
        let mapped = mapped.map(|addr| Candidate {
            kind: mapped_kind,
            addr,
        });
        local
            .into_iter()
            .chain(mapped)
            .take(CANDIDATES_MAX)
            .collect()
    }

    /// Which of the other member's addresses are tried.
    const fn tried<'a>(&self, candidates: &'a [Candidate]) -> &'a [Candidate] {
        match self.is_hidden {
            true => &[],
            false => candidates,
        }
    }

    /// Says what this member wants, once its own address is known or not to be had.
    fn ask(&mut self, now: Instant) {
        let knows = self.stun.mapped.is_some() || now.since(self.stun.began) >= STUN_PATIENCE;
        let needs_address = !matches!(self.purpose, Purpose::List(_));
        if self.asked == Asked::Yes || !self.control.is_open() || (needs_address && !knows) {
            return;
        }
        self.asked = Asked::Yes;
        let candidates = self.candidates();
        let up = match &self.purpose {
            Purpose::Host(register) => Up::Register(Register {
                candidates,
                claim: self.claim,
                ..register.clone()
            }),
            // Who comes back to the server after a path was found only needs it for relays.
            Purpose::Join(_) if !self.pairings.is_empty() => Up::Alive,
            Purpose::Join(code) => Up::Join {
                code: *code,
                candidates,
            },
            Purpose::List(protocol) => Up::List {
                protocol: protocol.clone(),
            },
        };
        self.control.say(&up);
    }

    fn tell(&mut self, event: MemberEvent) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn handle_down(&mut self, now: Instant, down: Down) {
        match down {
            Down::Registered { code, secret } => {
                self.claim = Some((code, secret));
                self.tell(MemberEvent::Registered { code });
            }
            Down::Refused { pairing, .. } if self.pairings.contains_key(&pairing) => {
                self.pairings
                    .get_mut(&pairing)
                    .into_iter()
                    .for_each(Pairing::refuse_relay);
            }
            Down::Refused { why, .. } => self.tell(MemberEvent::Refused(why)),
            Down::Knock {
                pairing,
                key,
                candidates,
            } => {
                if !matches!(self.purpose, Purpose::Host(_))
                    || self.pairings.len() >= PAIRINGS_A_MEMBER
                {
                    self.counters.knocks_dropped += 1;
                    return;
                }
                let candidates = self.tried(&candidates);
                let new = Pairing::new(now, pairing, key, Role::Host, candidates);
                self.pairings.insert(pairing, new);
                self.tell(MemberEvent::Knocked);
            }
            Down::Admitted {
                pairing,
                key,
                candidates,
                fingerprint,
                protocol,
                name,
            } => {
                if !matches!(self.purpose, Purpose::Join(_)) || !self.pairings.is_empty() {
                    return;
                }
                let candidates = self.tried(&candidates);
                let new = Pairing::new(now, pairing, key, Role::Joiner, candidates);
                self.pairings.insert(pairing, new);
                self.tell(MemberEvent::Admitted {
                    fingerprint,
                    protocol,
                    name,
                });
            }
            Down::Relayed { pairing, port } => {
                let addr = SocketAddr::new(self.server.ip(), port);
                if let Some(pairing) = self.pairings.get_mut(&pairing) {
                    pairing.open_relay(now, addr);
                }
            }
            Down::RelayEnded { pairing, why } => {
                if let Some(pairing) = self.pairings.get_mut(&pairing) {
                    pairing.end_relay(why);
                    self.relay_end = Some(why);
                }
            }
            Down::Candidates {
                pairing,
                candidates,
            } => self.handle_candidates(now, pairing, &candidates),
            Down::Listed(listings) => self.tell(MemberEvent::Listed(listings)),
            Down::Alive => {}
        }
    }

    fn handle_candidates(&mut self, now: Instant, pairing: u32, candidates: &[Candidate]) {
        let candidates = self.tried(candidates);
        if let Some(pairing) = self.pairings.get_mut(&pairing) {
            pairing.add_candidates(now, candidates);
        }
    }

    fn handle_stun(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let answer = stun::Message::decode(bytes).ok().filter(|answer| {
            from == self.server
                && answer.class == stun::Class::Success
                && answer.transaction == self.stun.transaction
        });
        let Some(mapped) = answer.and_then(|answer| answer.mapped) else {
            self.counters.stun_refused += 1;
            return;
        };
        self.stun.next = now + KEEP_ALIVE;
        self.stun.is_answered = true;
        if self.stun.mapped.replace(mapped) != Some(mapped) {
            self.update();
        }
        self.ask(now);
    }

    fn handle_probe(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let pairing = Probe::pairing_of(bytes).and_then(|number| self.pairings.get_mut(&number));
        let Some(pairing) = pairing else {
            self.counters.probes_refused += 1;
            return;
        };
        match Probe::decode(bytes, pairing.key()) {
            Ok(probe) => pairing.handle_probe(now, from, probe),
            Err(_) => self.counters.probes_refused += 1,
        }
        self.decide(now);
    }

    /// Lets every pairing decide which path it uses, and asks for relays or gives them back.
    fn decide(&mut self, now: Instant) {
        let mut told = Vec::new();
        for pairing in self.pairings.values_mut() {
            if self.control.is_open() && self.asked == Asked::Yes {
                let number = pairing.number;
                if pairing.wants_relay(now) {
                    self.control.say(&Up::WantRelay { pairing: number });
                }
                if pairing.releases_relay(now) {
                    self.control.say(&Up::ReleaseRelay { pairing: number });
                }
            }
            told.extend(pairing.decide(now));
        }
        for decision in told {
            let event = match decision {
                Decision::Use { kind, to } => MemberEvent::Path { kind, to },
                Decision::Lost => MemberEvent::PathLost {
                    relay: self.relay_end,
                },
                Decision::NotFound => MemberEvent::NoPath,
            };
            self.tell(event);
        }
        self.pairings.retain(|_, pairing| !pairing.is_over(now));
    }

    /// Says once that nothing is heard.
    fn notice_silence(&mut self, now: Instant) {
        let is_silent = self.stun.mapped.is_none() && now >= self.stun.began + UDP_PATIENCE;
        if is_silent && !self.is_unheard {
            self.is_unheard = true;
            self.tell(MemberEvent::Unheard);
        }
    }

    fn handle_carried(&mut self, now: Instant, bytes: &[u8]) {
        match self.carriage.receive(bytes) {
            Ok(datagrams) => {
                for (port, bytes) in datagrams {
                    let from = SocketAddr::new(self.server.ip(), port);
                    if Probe::is_probe(&bytes) {
                        self.handle_probe(now, from, &bytes);
                    } else {
                        self.counters.datagrams_unknown += 1;
                    }
                }
            }
            Err(_) => {
                self.counters.malformed += 1;
                self.carriage.abort();
                self.control.abort();
                self.lose_control(Ended::Reset);
            }
        }
    }

    fn lose_control(&mut self, why: Ended) {
        self.control.lose();
        self.asked = Asked::No;
        self.pairings.values_mut().for_each(Pairing::lose_control);
        if !self.is_ending {
            self.tell(MemberEvent::ControlLost { why });
        }
    }
}

impl Stun {
    fn handle_timeout(&mut self, now: Instant) {
        if now < self.next {
            return;
        }
        self.asked += 1;
        self.is_due = true;
        // A question that is not answered is soon repeated, but not for ever at that rate.
        self.next = now
            + if self.asked < 8 {
                STUN_RETRY
            } else {
                KEEP_ALIVE / 3
            };
        // RFC 8489, section 6.2.1: a question that is asked again has the same transaction. Otherwise an answer
        // that takes longer than `STUN_RETRY` would always be one to a question of before.
        if core::mem::take(&mut self.is_answered) {
            self.transaction = self.number_transaction();
        }
    }

    /// SipHash of a counter, so that nobody who did not see the question can answer it.
    fn number_transaction(&self) -> TransactionId {
        let (key, salt) = self.secret.split_at(16);
        let mut hasher = SipHasher24::new_with_key(key.first_chunk().expect("half of 32 bytes"));
        hasher.write(salt);
        hasher.write_u64(self.asked);
        let random = hasher.finish().to_le_bytes();
        let count = u32::try_from(self.asked).unwrap_or(u32::MAX).to_le_bytes();
        let mut transaction = TransactionId::default();
        let bytes = random.into_iter().chain(count);
        transaction
            .iter_mut()
            .zip(bytes)
            .for_each(|(place, byte)| *place = byte);
        transaction
    }
}

impl Session for Member {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        self.control.open(now, on);
        self.ask(now);
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if self.carriage.is_on(on) {
            return self.handle_carried(now, bytes);
        }
        let Some(frames) = self.control.receive(now, on, bytes) else {
            return;
        };
        match frames {
            Ok(downs) => downs
                .into_iter()
                .for_each(|down| self.handle_down(now, down)),
            Err(_) => {
                self.counters.malformed += 1;
                self.control.abort();
                self.lose_control(Ended::Reset);
            }
        }
        self.decide(now);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        let Host::Ip(ip) = from.host else {
            return;
        };
        let from = SocketAddr::new(ip, from.port);
        if Probe::is_probe(bytes) {
            self.handle_probe(now, from, bytes);
        } else if stun::is_stun(bytes) {
            self.handle_stun(now, from, bytes);
        } else {
            self.counters.datagrams_unknown += 1;
        }
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if let Path::Stream(on) = path {
            match self.carriage.is_on(on) {
                true => self.carriage.set_room(room),
                false => self.control.set_room(on, room),
            }
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, why: Ended) {
        if let Path::Stream(on) = path
            && self.carriage.is_on(on)
        {
            // The control connection went by it.
            self.carriage.lose();
            self.control.abort();
            return self.lose_control(why);
        }
        // A stream of a link ends before the link does.
        if let Path::Stream(on) = path
            && self.control.stream() == Some(on)
        {
            self.lose_control(why);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if !self.is_ending {
            self.stun.handle_timeout(now);
            self.notice_silence(now);
        }
        self.ask(now);
        if self.control.handle_timeout(now).is_err() {
            self.control.abort();
            self.lose_control(Ended::Reset);
        }
        for pairing in self.pairings.values_mut() {
            pairing.handle_timeout(now);
        }
        self.decide(now);
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(on) = self.stale.pop() {
            return Some(Transmit::Abort { on });
        }
        if let Some(transmit) = self.control.poll_transmit(out) {
            return Some(transmit);
        }
        if let Some(transmit) = self.carriage.poll_transmit(out) {
            return Some(transmit);
        }
        if core::mem::take(&mut self.stun.is_due) {
            stun::write_request(&self.stun.transaction, out);
            return Some(Transmit::Datagram {
                to: self.server.into(),
            });
        }
        for pairing in self.pairings.values_mut() {
            while let Some((to, probe)) = pairing.outgoing.pop_front() {
                if self.carriage.is_used() && to.ip() == self.server.ip() {
                    let mut bytes = Vec::with_capacity(PROBE_LENGTH);
                    probe.encode(pairing.key(), &mut bytes);
                    self.carriage.push(to.port(), &bytes);
                    continue;
                }
                probe.encode(pairing.key(), out);
                return Some(Transmit::Datagram { to: to.into() });
            }
        }
        self.carriage.poll_transmit(out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.is_ending {
            return None;
        }
        let pairings = self.pairings.values().map(Pairing::wake);
        let silence = (!self.is_unheard && self.stun.mapped.is_none())
            .then(|| self.stun.began + UDP_PATIENCE);
        let waits = self.asked == Asked::No && self.control.is_open() && self.stun.mapped.is_none();
        let patience = waits.then(|| self.stun.began + STUN_PATIENCE);
        pairings
            .chain([self.stun.next])
            .chain(silence)
            .chain(patience)
            .chain(self.control.wake())
            .min()
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // Nobody is turned away here: those who join ask the game's own server.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.is_ending = true;
        self.pairings.clear();
        self.control.finish();
    }

    fn is_finished(&self) -> bool {
        self.is_ending && self.control.is_idle()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        visit(&PeerStats::new(
            "rendezvous",
            self.server.into(),
            self.control.state(),
        ));
        for pairing in self.pairings.values() {
            if let Some(addr) = pairing.addr() {
                visit(&PeerStats::new("", addr.into(), pairing.state()));
            }
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Member {
    type Event = MemberEvent;

    fn poll_event(&mut self) -> Option<MemberEvent> {
        self.events.pop_front()
    }
}
