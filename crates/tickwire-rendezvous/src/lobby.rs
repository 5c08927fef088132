//! The rendezvous server: the list of sessions, and who is brought together with whom.
//!
//! In: control messages of hosts and joiners, STUN questions. Out: codes, the addresses that two members need
//! of each other, told to both in the same turn, and orders for relays to the embedder, which has the sockets.
//! Nothing of a game goes through here.
//!
//! A control connection over a link has no address that a session can see, and limits are per address: so the
//! embedder is asked for it ([`Lobby::poll_unnamed`]), and until it has answered nothing is read.

mod client;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use tickwire_session::{
    Addr, Ended, Events, Host, HostBuckets, Instant, Path, PeerStats, Room, Session, StreamId,
    TokenBucket, Transmit, counters,
};

use crate::code::{Code, Fingerprint, Mint};
use crate::limits::{
    ANSWERS_WAITING, CLIENTS_A_HOST, CLIENTS_MAX, EVENTS_MAX, LISTED_MAX, PAIRING_SILENCE,
    PAIRINGS_MAX, SESSIONS_A_HOST, SESSIONS_MAX, UNPADDED_ANSWERS, UNPADDED_REFILL,
    WRONG_CODE_REFILL, WRONG_CODES, WRONG_HOSTS_MAX,
};
use crate::message::{Candidate, Down, Listing, Refusal, Register, RelayEnd, Up};
use crate::probe::Key;
use crate::stun;
use client::{Client, Standing};

/// What the embedder is to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LobbyEvent {
    /// Open a relay for this pairing; answer with [`Lobby::open_relay`] or [`Lobby::refuse_relay`].
    OpenRelay {
        /// For whom.
        pairing: u32,
        /// What the members sign with.
        key: Key,
    },
    /// Close the relay of this pairing.
    CloseRelay {
        /// Whose.
        pairing: u32,
    },
}

/// The server's session.
#[derive(Debug)]
pub struct Lobby {
    mint: Mint,
    clients: BTreeMap<StreamId, Client>,
    sessions: BTreeMap<Code, Hosted>,
    pairings: BTreeMap<u32, Paired>,
    /// When pairings were made, the oldest first.
    by_age: BTreeSet<(Instant, u32)>,
    next_pairing: u32,
    /// How many clients and sessions each host address has.
    hosts: BTreeMap<IpAddr, Share>,
    wrong_codes: HostBuckets,
    /// Clients whose address is not known yet.
    unnamed: VecDeque<StreamId>,
    /// Clients that may have something to send.
    dirty: BTreeSet<StreamId>,
    deadlines: BTreeSet<(Instant, StreamId)>,
    unpadded: TokenBucket,
    answers: VecDeque<(Addr, Vec<u8>)>,
    orders: VecDeque<Transmit>,
    events: VecDeque<LobbyEvent>,
    is_ending: bool,
    counters: Counters,
}

/// A session that can be joined.
#[derive(Debug)]
struct Hosted {
    host: StreamId,
    ip: IpAddr,
    protocol: String,
    name: String,
    is_public: bool,
    players: u16,
    fingerprint: Fingerprint,
    candidates: Vec<Candidate>,
}

/// Two members who were told of each other.
#[derive(Debug)]
struct Paired {
    members: [StreamId; 2],
    key: Key,
    began: Instant,
    relay: RelayState,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RelayState {
    None,
    Opening,
    Open,
}

#[derive(Debug, Default)]
struct Share {
    clients: usize,
    sessions: usize,
}

counters! {
    /// What the server did, and what it refused.
    pub struct Counters {
        /// Sessions that got a code.
        registered,
        /// Joiners who were brought to a host.
        joined,
        /// Codes that nobody has.
        wrong_codes,
        /// Joins that were not looked at, because of wrong codes before.
        guesses_refused,
        /// Requests above the rate, or for which there was no place.
        requests_refused,
        /// Connections for which there was no place.
        connections_refused,
        /// Connections that were cut: malformed, silent, or not reading.
        connections_cut,
        /// Relays that were opened.
        relays_opened,
        /// STUN questions that were answered.
        stun_answered,
        /// Datagrams that were not.
        datagrams_refused,
    }
}

impl Lobby {
    /// A server without sessions. `key` is its secret and stays the same when it is restarted, so that hosts
    /// keep their codes; `run` is a secret of this run.
    pub fn new(now: Instant, key: [u8; 32], run: [u8; 32]) -> Self {
        let wrong_codes = HostBuckets::new(WRONG_HOSTS_MAX, WRONG_CODES, WRONG_CODE_REFILL);
        Self {
            mint: Mint::new(key, run),
            clients: BTreeMap::new(),
            sessions: BTreeMap::new(),
            pairings: BTreeMap::new(),
            by_age: BTreeSet::new(),
            next_pairing: 1,
            hosts: BTreeMap::new(),
            wrong_codes,
            unnamed: VecDeque::new(),
            dirty: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            unpadded: TokenBucket::new(now, UNPADDED_ANSWERS, UNPADDED_REFILL),
            answers: VecDeque::new(),
            orders: VecDeque::new(),
            events: VecDeque::new(),
            is_ending: false,
            counters: Counters::default(),
        }
    }

    /// Sessions that can be joined.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// A connection whose network address has to be told by [`name`](Self::name), and its link.
    pub fn poll_unnamed(&mut self) -> Option<(StreamId, Addr)> {
        while let Some(on) = self.unnamed.pop_front() {
            if let Some(client) = self.clients.get(&on) {
                return Some((on, client.peer));
            }
        }
        None
    }

    /// The network address of a connection; `None` if it is gone meanwhile.
    pub fn name(&mut self, now: Instant, on: StreamId, ip: Option<IpAddr>) {
        let Some(ip) = ip.map(network) else {
            return self.cut(on);
        };
        let share = self.hosts.entry(ip).or_default();
        if share.clients >= CLIENTS_A_HOST {
            self.counters.connections_refused += 1;
            self.refuse(on, Refusal::Full, 0);
            return self.finish(on);
        }
        let Some(client) = self.clients.get_mut(&on) else {
            return;
        };
        share.clients += 1;
        client.ip = Some(ip);
        client.standing = Standing::Idle;
        let early = core::mem::take(&mut client.early);
        self.handle_stream(now, on, &early);
    }

    /// A relay was opened on this port.
    pub fn open_relay(&mut self, pairing: u32, port: u16) {
        let Some(paired) = self.pairings.get_mut(&pairing) else {
            return self.tell(LobbyEvent::CloseRelay { pairing });
        };
        paired.relay = RelayState::Open;
        self.counters.relays_opened += 1;
        for member in paired.members {
            self.say(member, &Down::Relayed { pairing, port });
        }
    }

    /// There is no relay to be had.
    pub fn refuse_relay(&mut self, pairing: u32) {
        if let Some(paired) = self.pairings.get_mut(&pairing) {
            paired.relay = RelayState::None;
            let [_, joiner] = paired.members;
            self.refuse(joiner, Refusal::NoRelay, pairing);
        }
    }

    /// A relay ended by itself.
    pub fn end_relay(&mut self, pairing: u32, why: RelayEnd) {
        if let Some(paired) = self.pairings.get_mut(&pairing) {
            paired.relay = RelayState::None;
            for member in paired.members {
                self.say(member, &Down::RelayEnded { pairing, why });
            }
        }
    }

    fn tell(&mut self, event: LobbyEvent) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn say(&mut self, on: StreamId, down: &Down) {
        let Some(client) = self.clients.get_mut(&on) else {
            return;
        };
        match client.say(down) {
            Ok(()) => {
                self.dirty.insert(on);
            }
            Err(_) => self.cut(on),
        }
    }

    fn refuse(&mut self, on: StreamId, why: Refusal, pairing: u32) {
        self.say(on, &Down::Refused { why, pairing });
    }

    /// Drops a connection.
    fn cut(&mut self, on: StreamId) {
        if self.clients.contains_key(&on) {
            self.counters.connections_cut += 1;
            self.orders.push_back(Transmit::Abort { on });
            self.forget(on);
        }
    }

    /// Ends a connection when what was said went out.
    fn finish(&mut self, on: StreamId) {
        if let Some(client) = self.clients.get_mut(&on) {
            client.is_ending = true;
            self.dirty.insert(on);
        }
    }

    /// Nothing more is heard of a connection.
    fn forget(&mut self, on: StreamId) {
        let Some(client) = self.clients.remove(&on) else {
            return;
        };
        self.dirty.remove(&on);
        self.deadlines.remove(&(client.deadline(), on));
        if let Standing::Hosting(code) = client.standing {
            self.remove_session(code);
        }
        if let Some(ip) = client.ip {
            self.release(ip, |share| share.clients -= 1);
        }
        for pairing in client.pairings {
            self.leave_pairing(on, pairing);
        }
    }

    /// A pairing whose members are both gone, or whose relay lost one, is over.
    fn leave_pairing(&mut self, on: StreamId, pairing: u32) {
        let Some(paired) = self.pairings.get(&pairing) else {
            return;
        };
        let [host, joiner] = paired.members;
        let other = if host == on { joiner } else { host };
        if paired.relay != RelayState::None {
            // The relay goes on: a member whose control connection broke may still play. It ends by itself
            // when nothing is carried.
            if self.clients.contains_key(&other) {
                return;
            }
        }
        if !self.clients.contains_key(&other) {
            self.remove_pairing(pairing);
        }
    }

    fn remove_pairing(&mut self, pairing: u32) {
        if let Some(paired) = self.pairings.remove(&pairing) {
            self.by_age.remove(&(paired.began, pairing));
            for member in paired.members {
                if let Some(client) = self.clients.get_mut(&member) {
                    client.pairings.remove(&pairing);
                }
            }
        }
    }

    fn remove_session(&mut self, code: Code) {
        if let Some(hosted) = self.sessions.remove(&code) {
            self.release(hosted.ip, |share| share.sessions -= 1);
        }
    }

    fn release(&mut self, ip: IpAddr, change: impl FnOnce(&mut Share)) {
        if let Some(share) = self.hosts.get_mut(&ip) {
            change(share);
            if share.clients == 0 && share.sessions == 0 {
                self.hosts.remove(&ip);
            }
        }
    }

    fn handle_up(&mut self, now: Instant, on: StreamId, up: Up) {
        let Some(client) = self.clients.get_mut(&on) else {
            return;
        };
        let Some(ip) = client.ip else {
            return;
        };
        if client.requests.take(now).is_none() {
            self.counters.requests_refused += 1;
            return self.refuse(on, Refusal::TooFast, 0);
        }
        match up {
            Up::Register(register) => self.handle_register(on, ip, register),
            Up::Update {
                players,
                candidates,
            } => self.handle_update(on, players, candidates),
            Up::Join { code, candidates } => self.handle_join(now, on, ip, code, candidates),
            Up::WantRelay { pairing } => self.handle_want_relay(on, pairing),
            Up::ReleaseRelay { pairing } => self.handle_release_relay(on, pairing),
            Up::List { protocol } => self.handle_list(on, &protocol),
            Up::Alive => self.say(on, &Down::Alive),
        }
    }

    fn handle_register(&mut self, on: StreamId, ip: IpAddr, register: Register) {
        let Some(Client {
            standing: Standing::Idle,
            ..
        }) = self.clients.get(&on)
        else {
            return self.refuse(on, Refusal::Full, 0);
        };
        let has_room = self
            .hosts
            .get(&ip)
            .is_some_and(|share| share.sessions < SESSIONS_A_HOST);
        if self.is_ending || self.sessions.len() >= SESSIONS_MAX || !has_room {
            self.counters.requests_refused += 1;
            let why = if self.is_ending {
                Refusal::Ending
            } else {
                Refusal::Full
            };
            return self.refuse(on, why, 0);
        }
        let code = self.code_for(&register);
        // The same host came back, before its old connection was given up.
        if let Some(old) = self.sessions.get(&code).map(|hosted| hosted.host) {
            self.cut(old);
        }
        let secret = self.mint.secret(code, &register.fingerprint);
        self.sessions.insert(
            code,
            Hosted {
                host: on,
                ip,
                protocol: register.protocol,
                name: register.name,
                is_public: register.is_public,
                players: register.players,
                fingerprint: register.fingerprint,
                candidates: register.candidates,
            },
        );
        if let Some(share) = self.hosts.get_mut(&ip) {
            share.sessions += 1;
        }
        if let Some(client) = self.clients.get_mut(&on) {
            client.standing = Standing::Hosting(code);
        }
        self.counters.registered += 1;
        self.say(on, &Down::Registered { code, secret });
    }

    /// The code that a host proves to have had, unless another has it now; else a new one.
    fn code_for(&mut self, register: &Register) -> Code {
        if let Some((code, secret)) = register.claim
            && secret == self.mint.secret(code, &register.fingerprint)
            && self
                .sessions
                .get(&code)
                .is_none_or(|hosted| hosted.fingerprint == register.fingerprint)
        {
            return code;
        }
        loop {
            let code = self.mint.code();
            // One in thousands is taken at most: `SESSIONS_MAX` of 64 million.
            if !self.sessions.contains_key(&code) {
                return code;
            }
        }
    }

    fn handle_join(
        &mut self,
        now: Instant,
        on: StreamId,
        ip: IpAddr,
        code: Code,
        candidates: Vec<Candidate>,
    ) {
        // A right code has to pay, too, or the answer would tell a guesser what it wants to know.
        let bucket = self.wrong_codes.get(now, Host::Ip(ip));
        let Some(()) = bucket.and_then(|bucket| bucket.take(now)) else {
            self.counters.guesses_refused += 1;
            return self.refuse(on, Refusal::TooManyTries, 0);
        };
        let Some(hosted) = self.sessions.get(&code) else {
            self.counters.wrong_codes += 1;
            return self.refuse(on, Refusal::NoSession, 0);
        };
        let host = hosted.host;
        let (host_candidates, fingerprint) = (hosted.candidates.clone(), hosted.fingerprint);
        let (protocol, name) = (hosted.protocol.clone(), hosted.name.clone());
        // But only wrong ones are lost: friends who join from one house are many.
        if let Some(bucket) = self.wrong_codes.get(now, Host::Ip(ip)) {
            bucket.give_back();
        }
        if self.pairings.len() >= PAIRINGS_MAX {
            self.counters.requests_refused += 1;
            return self.refuse(on, Refusal::Full, 0);
        }
        let pairing = self.number_pairing();
        let key = self.mint.pairing_key();
        let paired = Paired {
            members: [host, on],
            key,
            began: now,
            relay: RelayState::None,
        };
        self.pairings.insert(pairing, paired);
        self.by_age.insert((now, pairing));
        for member in [host, on] {
            if let Some(client) = self.clients.get_mut(&member) {
                client.pairings.insert(pairing);
            }
        }
        self.counters.joined += 1;
        // Both are told in the same turn, and begin to send when they hear of it.
        self.say(
            host,
            &Down::Knock {
                pairing,
                key,
                candidates,
            },
        );
        self.say(
            on,
            &Down::Admitted {
                pairing,
                key,
                candidates: host_candidates,
                fingerprint,
                protocol,
                name,
            },
        );
    }

    /// A member knows more of its own addresses: those who look for it have to know, too.
    fn handle_update(&mut self, on: StreamId, players: u16, candidates: Vec<Candidate>) {
        let Some(client) = self.clients.get(&on) else {
            return;
        };
        let pairings: Vec<_> = client.pairings.iter().copied().collect();
        if let Standing::Hosting(code) = client.standing
            && let Some(hosted) = self.sessions.get_mut(&code)
        {
            hosted.players = players;
            if hosted.candidates == candidates {
                return;
            }
            hosted.candidates.clone_from(&candidates);
        }
        for pairing in pairings {
            let other = self.pairings.get(&pairing).map(|paired| {
                let [host, joiner] = paired.members;
                if host == on { joiner } else { host }
            });
            let candidates = candidates.clone();
            if let Some(other) = other {
                self.say(
                    other,
                    &Down::Candidates {
                        pairing,
                        candidates,
                    },
                );
            }
        }
    }

    fn number_pairing(&mut self) -> u32 {
        loop {
            let number = self.next_pairing;
            self.next_pairing = number.wrapping_add(1).max(1);
            if !self.pairings.contains_key(&number) {
                return number;
            }
        }
    }

    fn handle_want_relay(&mut self, on: StreamId, pairing: u32) {
        match self.pairings.get_mut(&pairing) {
            Some(paired) if paired.members.contains(&on) && !self.is_ending => {
                if paired.relay == RelayState::None {
                    paired.relay = RelayState::Opening;
                    let key = paired.key;
                    self.tell(LobbyEvent::OpenRelay { pairing, key });
                }
            }
            _ => self.refuse(on, Refusal::NoRelay, pairing),
        }
    }

    fn handle_release_relay(&mut self, on: StreamId, pairing: u32) {
        if let Some(paired) = self.pairings.get_mut(&pairing)
            && paired.members.contains(&on)
            && paired.relay != RelayState::None
        {
            self.tell(LobbyEvent::CloseRelay { pairing });
            self.end_relay(pairing, RelayEnd::Released);
        }
    }

    fn handle_list(&mut self, on: StreamId, protocol: &str) {
        let speaks = |hosted: &Hosted| {
            protocol.is_empty() || hosted.protocol.split(',').any(|spoken| spoken == protocol)
        };
        let public = self
            .sessions
            .iter()
            .filter(|(_, hosted)| hosted.is_public && speaks(hosted));
        let listings = public.take(LISTED_MAX).map(|(&code, hosted)| Listing {
            code,
            protocol: hosted.protocol.clone(),
            name: hosted.name.clone(),
            players: hosted.players,
        });
        let listings = listings.collect();
        self.say(on, &Down::Listed(listings));
    }

    /// Forgets pairings that were made long ago and have no relay.
    fn forget_pairings(&mut self, now: Instant) {
        while let Some(&(began, pairing)) = self.by_age.first()
            && now.since(began) >= PAIRING_SILENCE
        {
            self.by_age.remove(&(began, pairing));
            match self.pairings.get_mut(&pairing) {
                // A joiner that is still there may want a relay later.
                Some(paired)
                    if paired
                        .members
                        .iter()
                        .all(|on| self.clients.contains_key(on)) =>
                {
                    paired.began = now;
                    self.by_age.insert((now, pairing));
                }
                _ => self.remove_pairing(pairing),
            }
        }
    }
}

impl Session for Lobby {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        if self.is_ending || self.clients.len() >= CLIENTS_MAX {
            self.counters.connections_refused += 1;
            self.orders.push_back(Transmit::Abort { on });
            return;
        }
        let client = Client::new(now, peer);
        self.deadlines.insert((client.deadline(), on));
        self.clients.insert(on, client);
        match peer.host {
            Host::Ip(ip) => self.name(now, on, Some(ip)),
            Host::Link(_) => self.unnamed.push_back(on),
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(client) = self.clients.get_mut(&on) else {
            return;
        };
        self.deadlines.remove(&(client.deadline(), on));
        let received = client.receive(now, bytes);
        self.deadlines.insert((client.deadline(), on));
        match received {
            Ok(ups) => ups.into_iter().for_each(|up| self.handle_up(now, on, up)),
            Err(_) => self.cut(on),
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        let Host::Ip(ip) = from.host else {
            return;
        };
        let mut answer = Vec::new();
        let answered = stun::answer(bytes, SocketAddr::new(ip, from.port), &mut answer);
        // Whoever asks with fewer bytes than the answer has could aim the difference at somebody else.
        let is_fair = answer.len() <= bytes.len() || self.unpadded.take(now).is_some();
        if answered.is_none() || !is_fair || self.answers.len() >= ANSWERS_WAITING {
            self.counters.datagrams_refused += 1;
            return;
        }
        self.counters.stun_answered += 1;
        self.answers.push_back((from, answer));
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if let Path::Stream(on) = path
            && let Some(client) = self.clients.get_mut(&on)
        {
            client.backlog.set_room(room);
            self.dirty.insert(on);
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Path::Stream(on) = path {
            self.forget(on);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(deadline, on)) = self.deadlines.first()
            && deadline <= now
        {
            self.deadlines.remove(&(deadline, on));
            self.cut(on);
        }
        self.forget_pairings(now);
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        if let Some((to, answer)) = self.answers.pop_front() {
            out.extend_from_slice(&answer);
            return Some(Transmit::Datagram { to });
        }
        while let Some(&on) = self.dirty.first() {
            if let Some(client) = self.clients.get_mut(&on) {
                if let Some(bytes) = client.backlog.write(out) {
                    client.traffic.sent(bytes);
                    return Some(Transmit::Stream { on });
                }
                if client.is_ending && client.backlog.waiting() == 0 {
                    self.forget(on);
                    return Some(Transmit::Finish { on });
                }
            }
            self.dirty.remove(&on);
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let silent = self.deadlines.first().map(|&(deadline, _)| deadline);
        let old = self
            .by_age
            .first()
            .map(|&(began, _)| began + PAIRING_SILENCE);
        silent.into_iter().chain(old).min()
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // There is no game that could be slow.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.is_ending = true;
        let clients: Vec<_> = self.clients.keys().copied().collect();
        for on in clients {
            self.refuse(on, Refusal::Ending, 0);
            self.finish(on);
        }
    }

    fn is_finished(&self) -> bool {
        self.is_ending && self.clients.is_empty() && self.orders.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for client in self.clients.values() {
            let name = match client.standing {
                Standing::Hosting(code) => self.sessions.get(&code).map(|hosted| &*hosted.name),
                Standing::Unnamed | Standing::Idle => None,
            };
            let mut stats = PeerStats::new(
                name.unwrap_or_default(),
                client.peer,
                client.standing.word(),
            );
            stats.traffic = client.traffic;
            visit(&stats);
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Lobby {
    type Event = LobbyEvent;

    fn poll_event(&mut self) -> Option<LobbyEvent> {
        self.events.pop_front()
    }
}

/// What is counted as one address: all of a house's IPv6 addresses begin with the same 64 bits.
pub(crate) fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
    }
}
