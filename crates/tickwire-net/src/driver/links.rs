//! The links' part of a turn: receiving, handing in, sending.
//!
//! `receive_packets` when a socket is ready, then `serve_links`, which does handshakes and hands in, then, when
//! the sessions have been drained, `flush_links`, which sends. Every packet of a turn goes out in the same few
//! system calls.

use std::time;

use mio::Token;
use tickwire_session::{Instant, Session};
use tracing::info;

use super::{Driver, session_at};
use crate::limits::{DATAGRAMS_A_TURN, HAND_IN, HANDSHAKE_TIME, LINK_BATCHES};
use crate::node::Carrier;
use crate::outgoing::{Route, datagrams};
use crate::pipe::link_addr;
use crate::quic::endpoint::{EndedBy, Entry, Received};
use crate::quic::link::{Delivery, Left, Owner, Queue};
use crate::quic::{Key, Quic};
use crate::sockets::Sockets;
use crate::{Counters, sys};

impl Driver {
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
                let (sockets, counters) = (&self.sockets, &mut self.counters);
                self.quic
                    .receive((now, wall), id, &received, sockets, counters);
            }
            if self.now() >= deadline {
                return true;
            }
        }
        true
    }

    /// Hands in what happened to connections, and sees to strangers for as long as there is time for them.
    pub(super) fn serve_links(&mut self, now: Instant, sessions: &mut [&mut dyn Session]) {
        if self.quic.endpoints.is_empty() {
            return;
        }
        self.quic.fire_timers(now);
        let touched = self.quic.take_touched();
        let is_stranger = |key: &Key| {
            self.quic
                .link_mut(*key)
                .is_some_and(|link| link.is_stranger())
        };
        let (strangers, links): (Vec<_>, Vec<_>) = touched.into_iter().partition(is_stranger);
        self.serve_until(self.now() + HAND_IN, now, links, sessions);
        let deadline = self.now() + HANDSHAKE_TIME;
        self.serve_until(deadline, now, strangers, sessions);
        self.shake_hands(now, deadline);
    }

    /// Serves the first at least. Those for whom there is no time come first in the next turn, which does not
    /// wait.
    fn serve_until(
        &mut self,
        deadline: Instant,
        now: Instant,
        keys: Vec<Key>,
        sessions: &mut [&mut dyn Session],
    ) {
        let mut is_over = false;
        for key in keys {
            match is_over {
                true => self.quic.touch(key),
                false => self.serve_link(now, key, sessions),
            }
            is_over = is_over || self.now() >= deadline;
        }
    }

    /// Sees to those who are not connected, by turns: a first packet is read, a handshake is done.
    fn shake_hands(&mut self, now: Instant, deadline: Instant) {
        let wall = self.wall(now);
        let ids: Vec<_> = self.quic.endpoints.iter().map(|(id, _)| id).collect();
        for id in ids {
            while let Some(endpoint) = self.quic.endpoints.get_mut(id)
                && endpoint.has_strangers()
            {
                if Instant::ZERO + self.began.elapsed() >= deadline {
                    return;
                }
                let packets = &mut self.quic.packets;
                packets.clear();
                let received = endpoint.read_first(now, wall, packets);
                let has_callers = endpoint.has_callers();
                self.quic
                    .settle(id, received, &self.sockets, &mut self.counters);
                if has_callers {
                    self.accept_caller(now, id);
                }
            }
        }
    }

    fn accept_caller(&mut self, now: Instant, id: usize) {
        let wall = self.wall(now);
        let Some(endpoint) = self.quic.endpoints.get_mut(id) else {
            return;
        };
        let packets = &mut self.quic.packets;
        packets.clear();
        let number = self.links.number();
        let (received, evicted) = endpoint.accept(now, wall, number, packets);
        if let Some(connection) = evicted {
            self.quic.touch(Key {
                endpoint: id,
                connection,
            });
        }
        self.quic
            .settle(id, received, &self.sockets, &mut self.counters);
    }

    fn serve_link(&mut self, now: Instant, key: Key, sessions: &mut [&mut dyn Session]) {
        let wall = self.wall(now);
        let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint) else {
            return;
        };
        endpoint.update(now, wall, key.connection, &mut self.counters);
        match endpoint.entry(now, wall, key.connection) {
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
        let mut left = Left::Nothing;
        if let Some(Owner {
            node: id,
            link: number,
        }) = link.owner()
            && let Some(node) = self.nodes.get_mut(id)
        {
            node.dirty = true;
            let mut to = Delivery {
                now,
                link: number,
                node,
                session: session_at(sessions, id),
                counters: &mut self.counters,
            };
            left = link.hand_in(&mut to);
            if let Some(failure) = failure {
                to.node.inbox.forget_room(link_addr(number));
                info!(link = number, reason = %failure, "link ended");
                link.end(failure.ended(), &mut to);
                let host = link.origin().host;
                self.quic.forget(number);
                self.quic.record_failure(number, failure);
                self.quic.endpoints[key.endpoint].release(now, host, EndedBy::Peer);
            }
        }
        match left {
            Left::Nothing => {}
            Left::More => self.quic.touch(key),
            Left::Held => self.quic.hold(key),
        }
        self.quic.send_later(key);
        self.remove_drained(key);
    }

    fn remove_drained(&mut self, key: Key) {
        let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint) else {
            return;
        };
        if endpoint.remove_drained(key.connection) && endpoint.is_empty() {
            let (token, borrows) = (endpoint.socket, endpoint.borrows);
            self.quic.endpoints.remove(key.endpoint);
            if !self.give_back(borrows) {
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
            info!(link = number, "link ended by this side");
            link.close_in_order(wall);
            let host = link.origin().host;
            self.quic.endpoints[key.endpoint].release(now, host, EndedBy::Session);
        }
        if let Some(node) = self.nodes.get_mut(node) {
            let is_over = |carrier: &Carrier| matches!(carrier, Carrier::Quic { link, .. } if *link == number);
            node.streams.retain(|_, carrier| !is_over(carrier));
            node.inbox.forget_room(link_addr(number));
        }
        self.quic.forget(number);
        self.quic.clients.remove(&number);
        self.quic.send_later(key);
        true
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
        let packets = &mut self.packets;
        packets.clear();
        let received = endpoint.receive(now, wall, received.from, received.asked, bytes, packets);
        self.settle(id, received, sockets, counters);
    }

    /// Does what a datagram asks for. An answer lies in `packets`.
    fn settle(
        &mut self,
        id: usize,
        received: Received,
        sockets: &Sockets,
        counters: &mut Counters,
    ) {
        match received {
            Received::Nothing => {}
            Received::Connection(connection) => self.touch(Key {
                endpoint: id,
                connection,
            }),
            Received::Answer(answer) => {
                if let Some(endpoint) = self.endpoints.get(id) {
                    let route = route(endpoint.socket, &answer);
                    self.stage(&route, None, sockets, counters);
                }
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
