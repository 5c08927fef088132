//! Links over QUIC: streams and datagrams of one proved peer, encrypted.
//!
//! A connection is a [`Host::Link`](tickwire_session::Host::Link) like a memory pair, so that every
//! session runs over it unchanged. `quinn-proto` is the protocol machine and `rustls` the handshake;
//! what is ours is how they are driven: without threads, from [`Driver::turn`](crate::Driver::turn),
//! through the driver's own batches of datagrams.
//!
//! What a link looks like on the wire:
//!
//! * The game protocol is negotiated by ALPN, as `tickwire/NAME`: one port serves them all.
//! * The client's first stream is unidirectional and holds its ticket, maybe an empty one. Until the
//!   server has checked it, no session hears of the peer, and little of what it sends is buffered.
//! * Every stream that a session dials begins with one zero byte, because QUIC does not tell the peer
//!   of a stream that carries nothing.
//! * Datagrams are QUIC datagrams, one each.
//! * A connection ends with an application code: 0 in order, 1 if the ticket was refused, 2 if the
//!   server is full.
//!
//! `identity` holds what a server proves and `trust` what a client wants proved; `config` sets every
//! window, buffer and timer. `endpoint` is a socket with its connections, `door` what is spent on
//! strangers, `share` what one address may have, `link` one connection, `stream` one stream of it. `status` is asked and answered on the same
//! port without a connection.

pub(crate) mod config;
mod congestion;
mod door;
pub(crate) mod endpoint;
mod failure;
mod identity;
mod ids;
pub(crate) mod link;
mod share;
mod status;
pub(crate) mod stream;
mod ticket;
mod trust;

pub use config::{Client, Server};
pub use congestion::Congestion;
pub use failure::LinkFailure;
pub use identity::{Fingerprint, Identity, IdentityError, NoFingerprint, derive_secret};
pub use status::{StatusNumber, status_answer, status_question};
pub use ticket::{CheckTicket, TicketError, TicketIssuer};
pub use trust::Trust;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::mem;

use slab::Slab;
use tickwire_session::{Instant, Session};

use crate::Counters;
use crate::driver::divert::Diverted;
use crate::limits::LINK_FAILURES;
use crate::outgoing::{Outgoing, Route};
use crate::sockets::Sockets;
use endpoint::Endpoint;
use link::Link;

/// Where a connection is: its endpoint, and its number there.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Key {
    pub(crate) endpoint: usize,
    pub(crate) connection: usize,
}

/// Every QUIC endpoint of a driver.
#[derive(Debug)]
pub(crate) struct Quic {
    pub(crate) endpoints: Slab<Endpoint>,
    /// The connections that sessions know of, by the link's number.
    by_link: BTreeMap<u64, Key>,
    /// When connections want to be woken: one heap for all. An entry may be too early, never too late.
    timers: BinaryHeap<Reverse<(Instant, Key)>>,
    /// Connections that something happened to: each is served once a turn.
    touched: Vec<Key>,
    /// Connections that may have packets to send: after the sessions were drained.
    sending: Vec<Key>,
    /// Connections whose sessions do not want what came on streams.
    held: BTreeSet<Key>,
    /// Packets on their way; apart from what sessions send in the clear.
    outgoing: Outgoing,
    /// Why the last links ended, by number.
    failures: BTreeMap<u64, LinkFailure>,
    /// What the links of clients were made with, and whose they are, for as long as their nodes are open.
    pub(crate) clients: BTreeMap<u64, (usize, Client)>,
    /// Packets that go by another way.
    pub(crate) diverted: Diverted,
    /// Where a connection writes its packets.
    pub(crate) packets: Vec<u8>,
}

impl Quic {
    pub(crate) fn new() -> Self {
        Self {
            endpoints: Slab::new(),
            by_link: BTreeMap::new(),
            timers: BinaryHeap::new(),
            touched: Vec::new(),
            sending: Vec::new(),
            held: BTreeSet::new(),
            outgoing: Outgoing::new(),
            failures: BTreeMap::new(),
            clients: BTreeMap::new(),
            diverted: Diverted::default(),
            packets: Vec::new(),
        }
    }

    pub(crate) fn link_mut(&mut self, key: Key) -> Option<&mut Link> {
        self.endpoints
            .get_mut(key.endpoint)?
            .link_mut(key.connection)
    }

    /// The connection that a session knows by this number.
    pub(crate) fn find(&self, link: u64) -> Option<Key> {
        self.by_link.get(&link).copied()
    }

    pub(crate) fn register(&mut self, link: u64, key: Key) {
        self.by_link.insert(link, key);
    }

    /// A session hears nothing more of a link. Returns whether it was there.
    pub(crate) fn forget(&mut self, link: u64) -> bool {
        self.by_link.remove(&link).is_some()
    }

    /// Has a connection served in this turn.
    pub(crate) fn touch(&mut self, key: Key) {
        if let Some(link) = self.link_mut(key)
            && !link.set_touched(true)
        {
            self.touched.push(key);
        }
    }

    pub(crate) fn take_touched(&mut self) -> Vec<Key> {
        let touched = mem::take(&mut self.touched);
        for &key in &touched {
            if let Some(link) = self.link_mut(key) {
                link.set_touched(false);
            }
        }
        touched
    }

    /// Has a connection served again when its session wants to read on.
    pub(crate) fn hold(&mut self, key: Key) {
        self.held.insert(key);
    }

    /// Touches the connections whose sessions want to read on.
    pub(crate) fn read_on(&mut self, sessions: &[&mut dyn Session]) {
        for key in mem::take(&mut self.held) {
            let Some(link) = self.link_mut(key) else {
                continue;
            };
            let session = link.owner().and_then(|owner| sessions.get(owner.node));
            match session.map(|session| link.is_wanted(&**session)) {
                Some(true) => self.touch(key),
                Some(false) => self.hold(key),
                None => {}
            }
        }
    }

    /// Has a connection send what it has when the sessions have been drained.
    pub(crate) fn send_later(&mut self, key: Key) {
        if let Some(link) = self.link_mut(key)
            && !link.set_sending(true)
        {
            self.sending.push(key);
        }
    }

    pub(crate) fn take_sending(&mut self) -> Vec<Key> {
        let sending = mem::take(&mut self.sending);
        for &key in &sending {
            if let Some(link) = self.link_mut(key) {
                link.set_sending(false);
            }
        }
        sending
    }

    /// Adds what lies in `packets` to what is on its way.
    pub(crate) fn stage(
        &mut self,
        route: &Route,
        segment: Option<u16>,
        sockets: &Sockets,
        counters: &mut Counters,
    ) {
        if self.diverted.takes(route.to, segment, &self.packets) {
            return;
        }
        self.outgoing.bytes().extend_from_slice(&self.packets);
        self.outgoing.stage(route, segment, sockets, counters);
    }

    pub(crate) fn flush(&mut self, sockets: &Sockets, counters: &mut Counters) {
        self.outgoing.flush(sockets, counters);
        // A packet that a full socket did not take is lost, and treated as any other.
        self.outgoing.take_full();
    }

    /// Every link that a session knows of, and the position of its node.
    pub(crate) fn owners(&self) -> impl Iterator<Item = (u64, usize)> {
        let links = self
            .endpoints
            .iter()
            .flat_map(|(_, endpoint)| endpoint.links());
        links.filter_map(|link| link.owner().map(|owner| (owner.link, owner.node)))
    }

    /// How many streams are being finished.
    pub(crate) fn closing_streams(&self) -> usize {
        let links = self
            .endpoints
            .iter()
            .flat_map(|(_, endpoint)| endpoint.links());
        links.map(Link::closing_streams).sum()
    }

    /// When something is to be done, if nothing arrives: at once if that is zero.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        let has_work = !self.touched.is_empty()
            || self
                .endpoints
                .iter()
                .any(|(_, endpoint)| endpoint.has_strangers());
        if has_work {
            return Some(Instant::ZERO);
        }
        self.timers.peek().map(|&Reverse((moment, _))| moment)
    }

    /// Sees to it that a connection is woken by `moment`.
    pub(crate) fn wake_at(&mut self, moment: Instant, key: Key) {
        if let Some(link) = self.link_mut(key)
            && link.timer.is_none_or(|earlier| moment < earlier)
        {
            link.timer = Some(moment);
            self.timers.push(Reverse((moment, key)));
        }
    }

    /// Touches the connections whose time has come.
    pub(crate) fn fire_timers(&mut self, now: Instant) {
        while let Some(&Reverse((moment, key))) = self.timers.peek()
            && moment <= now
        {
            self.timers.pop();
            if let Some(link) = self.link_mut(key)
                && link.timer == Some(moment)
            {
                link.timer = None;
                self.touch(key);
            }
        }
    }

    /// Remembers why a link ended, for whoever asks; the oldest are forgotten.
    pub(crate) fn record_failure(&mut self, link: u64, failure: LinkFailure) {
        self.failures.insert(link, failure);
        if self.failures.len() > LINK_FAILURES {
            self.failures.pop_first();
        }
    }

    pub(crate) fn forget_failure(&mut self, link: u64) {
        self.failures.remove(&link);
    }

    pub(crate) fn failure(&self, link: u64) -> Option<&LinkFailure> {
        self.failures.get(&link)
    }
}
