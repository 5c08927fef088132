//! QUIC endpoints of the driver: making them, moving their packets, and their part of a turn.
//!
//! What a turn does: `receive_packets` when a socket is ready, then `serve_links`, which does
//! handshakes and hands in, then, when the sessions have been drained, `flush_links`, which sends. Every
//! packet of a turn goes out in the same few system calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time;

use mio::Token;
use tickwire_session::{Addr, Host, Instant, Session};

use super::{Driver, session_at};
use crate::bind::{BindError, client_socket, packet_socket};
use crate::limits::{DATAGRAMS_A_TURN, HAND_IN, HANDSHAKE_TIME, LINK_BATCHES};
use crate::node::{Carrier, NodeId};
use crate::outgoing::{Route, datagrams};
use crate::pipe::link_addr;
use crate::quic::endpoint::{Endpoint, Entry, Received};
use crate::quic::link::{Owner, Queue};
use crate::quic::{Client, Identity, IdentityError, Key, LinkFailure, Quic, Server, Trust};
use crate::sockets::{Socket, Sockets};
use crate::{Counters, sys};

/// A QUIC server's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ListenerId(pub(super) usize);

/// Why a QUIC server cannot listen.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be had.
    Bind(BindError),
    /// The identity cannot be used.
    Identity(IdentityError),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(error) => error.fmt(f),
            Self::Identity(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ListenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind(error) => error.source(),
            Self::Identity(error) => error.source(),
        }
    }
}

impl Driver {
    /// Opens a port to peers who speak QUIC, for the sessions of any number of nodes.
    ///
    /// Each connection is a link (see [`Host::Link`]) of the node whose protocol it asked for. The nodes
    /// may be bound to ports in the clear as well, or be [`open`](Self::open)ed for this alone.
    pub fn listen(&mut self, addr: SocketAddr, server: Server) -> Result<ListenerId, ListenError> {
        let bind = |error| ListenError::Bind(BindError::new(addr, error));
        let udp = packet_socket(addr).map_err(bind)?;
        let has_mtu = sys::forbid_fragments(&udp, addr.ip()).is_ok();
        let endpoint = Endpoint::listen(self.now(), server, has_mtu);
        let endpoint = endpoint.map_err(ListenError::Identity)?;
        let id = self.quic.endpoints.insert(endpoint);
        let socket = Socket::Quic { endpoint: id, udp };
        match self.sockets.insert(socket) {
            Ok(token) => self.quic.endpoints[id].socket = token,
            Err(error) => {
                self.quic.endpoints.remove(id);
                return Err(bind(error));
            }
        }
        Ok(ListenerId(id))
    }

    /// Where a QUIC server listens.
    pub fn listener_addr(&self, ListenerId(id): ListenerId) -> Option<SocketAddr> {
        let socket = self.sockets.get(self.quic.endpoints.get(id)?.socket)?;
        socket.packets()?.local_addr().ok()
    }

    /// Shows another certificate to those who come from now on; nobody who is there notices.
    pub fn set_identity(
        &mut self,
        ListenerId(id): ListenerId,
        identity: Identity,
    ) -> Result<(), IdentityError> {
        let endpoint = self.quic.endpoints.get_mut(id);
        endpoint.map_or(Ok(()), |endpoint| endpoint.set_identity(identity))
    }

    /// What a QUIC server answers to those who ask for its status, as in
    /// [`status_question`](crate::quic::status_question); nothing, if it is empty.
    pub fn set_status(&mut self, ListenerId(id): ListenerId, text: String) {
        if let Some(endpoint) = self.quic.endpoints.get_mut(id) {
            endpoint.set_status(text);
        }
    }

    /// Reads nothing from these addresses any more. Whoever is connected from there falls silent, and is
    /// gone after [`LINK_IDLE`](crate::limits::LINK_IDLE).
    pub fn set_banned(&mut self, ListenerId(id): ListenerId, banned: BTreeSet<IpAddr>) {
        if let Some(endpoint) = self.quic.endpoints.get_mut(id) {
            endpoint.set_banned(banned);
        }
    }

    /// Lets nobody in any more. Those who are there stay.
    pub fn close_door(&mut self, ListenerId(id): ListenerId) {
        if let Some(endpoint) = self.quic.endpoints.get_mut(id) {
            endpoint.set_most_links(0);
        }
    }

    /// Connects a node to a QUIC server, and returns what its session calls the server.
    ///
    /// The session may send and dial at once: streams open, and datagrams arrive, when the handshake is
    /// over. If it fails the session hears that the link ended; [`link_failure`](Self::link_failure)
    /// tells why.
    ///
    /// # Errors
    /// If there is no socket to be had, or the trust's files cannot be read.
    ///
    /// # Panics
    /// If the node is closed.
    pub fn connect(&mut self, node: NodeId, client: Client) -> io::Result<Addr> {
        assert!(self.nodes.get(node.0).is_some(), "{node:?} is closed");
        let ip = client.to.ip();
        if matches!(client.trust, Trust::ThisMachine) && !ip.is_loopback() {
            return Err(io::Error::other(format!(
                "{ip} is not this machine: say by which fingerprint its server is to be known"
            )));
        }
        let (now, wall) = self.clock();
        let udp = client_socket(ip)?;
        let has_mtu = sys::forbid_fragments(&udp, ip).is_ok();
        let (endpoint, connection) = Endpoint::connect(now, wall, client, has_mtu)?;
        let id = self.quic.endpoints.insert(endpoint);
        let socket = Socket::Quic { endpoint: id, udp };
        let token = self.sockets.insert(socket).inspect_err(|_| {
            self.quic.endpoints.remove(id);
        })?;
        self.quic.endpoints[id].socket = token;
        let key = Key {
            endpoint: id,
            connection,
        };
        let link = self.give_link(key, node.0);
        self.quic.send_later(key);
        Ok(link_addr(link))
    }

    /// Moves a client's connection to another port, as when its machine changes networks. The server
    /// keeps the link.
    ///
    /// # Errors
    /// If there is no socket to be had.
    pub fn rebind(&mut self, server: Addr) -> io::Result<()> {
        let Some(key) = self.find_link(server) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let Some(link) = self.quic.link_mut(key) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let to = link.remote_address();
        let Host::Ip(ip) = to.host else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let udp = client_socket(ip)?;
        sys::forbid_fragments(&udp, ip).ok();
        let socket = Socket::Quic {
            endpoint: key.endpoint,
            udp,
        };
        let token = self.sockets.insert(socket)?;
        if let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint) {
            let before = std::mem::replace(&mut endpoint.socket, token);
            self.sockets.remove(before);
        }
        if let Some(link) = self.quic.link_mut(key) {
            link.handle_moved();
        }
        self.quic.send_later(key);
        Ok(())
    }

    /// The network address of the peer at the other end of a QUIC link, as it is at the moment.
    pub fn remote_addr(&mut self, link: Addr) -> Option<Addr> {
        let key = self.find_link(link)?;
        Some(self.quic.link_mut(key)?.remote_address())
    }

    /// Why a QUIC link ended, in more words than its session was told. Only the last
    /// [`LINK_FAILURES`](crate::limits::LINK_FAILURES) are remembered.
    pub fn link_failure(&self, link: Addr) -> Option<&LinkFailure> {
        match link.host {
            Host::Link(number) => self.quic.failure(number),
            Host::Ip(_) => None,
        }
    }

    fn find_link(&self, addr: Addr) -> Option<Key> {
        match addr.host {
            Host::Link(number) => self.quic.find(number),
            Host::Ip(_) => None,
        }
    }

    /// The time, and the same moment as `quinn-proto` wants it.
    pub(super) fn clock(&self) -> (Instant, time::Instant) {
        let now = self.now();
        (now, self.wall(now))
    }

    pub(super) fn wall(&self, now: Instant) -> time::Instant {
        self.began + now.since(Instant::ZERO)
    }

    /// Makes a connection a link of a node.
    pub(super) fn give_link(&mut self, key: Key, node: usize) -> u64 {
        let link = self.links.number();
        if let Some(connection) = self.quic.link_mut(key) {
            connection.set_owner(Owner { node, link });
        }
        self.quic.register(link, key);
        link
    }

    /// Reads packets from a socket; returns whether there may be more.
    pub(super) fn receive_packets(
        &mut self,
        now: Instant,
        deadline: Instant,
        token: Token,
        id: usize,
    ) -> bool {
        let wall = self.wall(now);
        let mut left = DATAGRAMS_A_TURN;
        while left > 0 {
            let Some(rest) = self.read_batch(token, left) else {
                return false;
            };
            left = rest;
            for received in self.arrivals.iter() {
                let quic = &mut self.quic;
                quic.receive(
                    (now, wall),
                    id,
                    &received,
                    &self.sockets,
                    &mut self.counters,
                );
            }
            if self.now() >= deadline {
                return true;
            }
        }
        true
    }

    /// Does what handshakes there is time for, and hands in what happened to connections.
    pub(super) fn serve_links(&mut self, now: Instant, sessions: &mut [&mut dyn Session]) {
        if self.quic.endpoints.is_empty() {
            return;
        }
        self.quic.fire_timers(now);
        self.shake_hands(now);
        let deadline = self.now() + HAND_IN;
        let mut is_over = false;
        for key in self.quic.take_touched() {
            // The others come first in the next turn, which does not wait.
            match is_over {
                true => self.quic.touch(key),
                false => self.serve_link(now, key, sessions),
            }
            is_over = is_over || self.now() >= deadline;
        }
    }

    fn shake_hands(&mut self, now: Instant) {
        let wall = self.wall(now);
        let deadline = self.now() + HANDSHAKE_TIME;
        let ids: Vec<_> = self.quic.endpoints.iter().map(|(id, _)| id).collect();
        for id in ids {
            while let Some(endpoint) = self.quic.endpoints.get_mut(id)
                && endpoint.has_callers()
            {
                if Instant::ZERO + self.began.elapsed() >= deadline {
                    return;
                }
                let (token, packets) = (endpoint.socket, &mut self.quic.packets);
                packets.clear();
                match endpoint.accept(now, wall, packets) {
                    Received::Nothing => {}
                    Received::Connection(connection) => self.quic.touch(Key {
                        endpoint: id,
                        connection,
                    }),
                    Received::Answer(answer) => {
                        let route = route(token, &answer);
                        self.quic
                            .stage(&route, None, &self.sockets, &mut self.counters);
                    }
                }
            }
        }
    }

    fn serve_link(&mut self, now: Instant, key: Key, sessions: &mut [&mut dyn Session]) {
        let wall = self.wall(now);
        let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint) else {
            return;
        };
        endpoint.update(now, wall, key.connection, &mut self.counters);
        match endpoint.entry(wall, key.connection) {
            Entry::Waits => {}
            Entry::Granted(node) => {
                self.counters.links_accepted += 1;
                self.give_link(key, node.0);
            }
            Entry::Refused => self.counters.links_refused += 1,
        }
        let Some(link) = self.quic.link_mut(key) else {
            return;
        };
        let failure = link.take_failure();
        let mut has_more = false;
        if let Some(Owner {
            node: id,
            link: number,
        }) = link.owner()
            && let Some(node) = self.nodes.get_mut(id)
        {
            let session = session_at(sessions, id);
            node.dirty = true;
            has_more = link.hand_in(now, node, session, &mut self.counters);
            if let Some(failure) = failure {
                node.inbox.forget_room(link_addr(number));
                link.end(now, failure.ended(), node, session);
                self.quic.forget(number);
                self.quic.record_failure(number, failure);
            }
        }
        if has_more {
            self.quic.touch(key);
        }
        self.quic.send_later(key);
        self.remove_drained(key);
    }

    fn remove_drained(&mut self, key: Key) {
        let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint) else {
            return;
        };
        if endpoint.remove_drained(key.connection) && endpoint.is_empty() {
            let (token, shares) = (endpoint.socket, endpoint.shares);
            self.quic.endpoints.remove(key.endpoint);
            if !self.unshare(shares) {
                self.sockets.remove(token);
            }
        }
    }

    /// Sends what connections have, after the sessions were drained.
    pub(super) fn flush_links(&mut self, now: Instant) {
        for key in self.quic.take_sending() {
            self.transmit(now, key);
            self.watch(key);
        }
        self.quic.flush(&self.sockets, &mut self.counters);
    }

    /// Stages the packets that a connection may send now.
    fn transmit(&mut self, now: Instant, key: Key) {
        let wall = self.wall(now);
        for _ in 0..LINK_BATCHES {
            let Quic {
                endpoints, packets, ..
            } = &mut self.quic;
            let Some(endpoint) = endpoints.get_mut(key.endpoint) else {
                return;
            };
            let token = endpoint.socket;
            let Some(link) = endpoint.link_mut(key.connection) else {
                return;
            };
            packets.clear();
            let Some(transmit) = link.poll_transmit(wall, packets) else {
                return;
            };
            let mut route = route(token, &transmit);
            route.to = endpoint.actual(route.to);
            let size = transmit.segment_size.and_then(|size| size.try_into().ok());
            self.quic
                .stage(&route, size, &self.sockets, &mut self.counters);
        }
        self.quic.touch(key);
    }

    /// Has a connection woken in time, and its session told of the room that datagrams have.
    fn watch(&mut self, key: Key) {
        let began = self.began;
        let Some(link) = self.quic.link_mut(key) else {
            return;
        };
        if let Some(Owner { node, link: number }) = link.owner()
            && let Some(room) = link.poll_room()
            && let Some(node) = self.nodes.get_mut(node)
        {
            node.inbox.set_room(link_addr(number), room);
        }
        if let Some(moment) = link.next_timeout(began) {
            self.quic.wake_at(moment, key);
        }
    }

    /// Carries out an order for datagrams over a link. Returns `None` if it is no QUIC link of the node.
    pub(super) fn send_quic_datagrams(
        &mut self,
        now: Instant,
        node: usize,
        number: u64,
        segment: Option<u16>,
    ) -> Option<()> {
        let key = self.owned_link(node, number)?;
        let fresh = self.outgoing.fresh().len();
        for range in datagrams(fresh, segment.map_or(usize::MAX, usize::from)) {
            let link = self.quic.link_mut(key)?;
            let queue = link.send_datagram(&self.outgoing.fresh()[range], &mut self.counters);
            if queue == Queue::Full {
                self.transmit(now, key);
            }
        }
        self.quic.send_later(key);
        Some(())
    }

    /// The connection of a link that belongs to a node.
    pub(super) fn owned_link(&mut self, node: usize, number: u64) -> Option<Key> {
        let key = self.quic.find(number)?;
        let owner = self.quic.link_mut(key)?.owner()?;
        (owner.node == node).then_some(key)
    }

    /// Ends a link at this end; returns whether it was one of the node.
    pub(super) fn unlink_quic(&mut self, now: Instant, node: usize, number: u64) -> bool {
        let Some(key) = self.owned_link(node, number) else {
            return false;
        };
        // What the session said last goes first.
        self.transmit(now, key);
        let wall = self.wall(now);
        if let Some(link) = self.quic.link_mut(key) {
            link.close_in_order(wall);
        }
        if let Some(node) = self.nodes.get_mut(node) {
            let is_over = |carrier: &Carrier| matches!(carrier, Carrier::Quic { link, .. } if *link == number);
            node.streams.retain(|_, carrier| !is_over(carrier));
            node.inbox.forget_room(link_addr(number));
        }
        self.quic.forget(number);
        self.quic.send_later(key);
        true
    }

    /// Ends the links of a node, and what was opened for it.
    pub(super) fn close_links(&mut self, node: NodeId) {
        let now = self.now();
        let of_node = |(number, owner): (u64, usize)| (owner == node.0).then_some(number);
        let numbers: Vec<_> = self.quic.owners().filter_map(of_node).collect();
        for number in numbers {
            self.unlink_quic(now, node.0, number);
        }
        // At once: the program may end before another turn.
        self.flush_links(now);
        let unserved: BTreeMap<_, _> = self
            .quic
            .endpoints
            .iter_mut()
            .filter_map(|(id, endpoint)| {
                let kept = (endpoint.socket, endpoint.shares);
                endpoint.close_node(node).then_some((id, kept))
            })
            .collect();
        for (id, (token, shares)) in unserved {
            self.quic.endpoints.remove(id);
            if !self.unshare(shares) {
                self.sockets.remove(token);
            }
        }
    }
}

/// Tells every peer that this is the end, so that nobody waits for a time-out.
impl Drop for Driver {
    fn drop(&mut self) {
        let nodes: Vec<_> = self.nodes.iter().map(|(id, _)| NodeId(id)).collect();
        for node in nodes {
            self.close_links(node);
        }
    }
}

impl Quic {
    /// Whether a datagram on a shared socket is an endpoint's.
    pub(super) fn claims(&self, id: usize, received: &sys::Received<'_>) -> bool {
        let endpoint = self.endpoints.get(id);
        endpoint.is_some_and(|endpoint| received.bytes.is_ok_and(|bytes| endpoint.claims(bytes)))
    }

    /// Takes a datagram that arrived at an endpoint's socket.
    pub(super) fn receive(
        &mut self,
        (now, wall): (Instant, time::Instant),
        id: usize,
        received: &sys::Received<'_>,
        sockets: &Sockets,
        counters: &mut Counters,
    ) {
        let Some(endpoint) = self.endpoints.get_mut(id) else {
            return;
        };
        let Ok(bytes) = received.bytes else {
            counters.datagrams_oversize += 1;
            return;
        };
        let token = endpoint.socket;
        let packets = &mut self.packets;
        packets.clear();
        match endpoint.receive(now, wall, received.from, received.asked, bytes, packets) {
            Received::Nothing => {}
            Received::Connection(connection) => self.touch(Key {
                endpoint: id,
                connection,
            }),
            Received::Answer(answer) => {
                let route = route(token, &answer);
                self.stage(&route, None, sockets, counters);
            }
        }
    }
}

fn route(socket: Token, transmit: &quinn_proto::Transmit) -> Route {
    Route {
        socket,
        to: transmit.destination,
        from: transmit.src_ip,
    }
}
