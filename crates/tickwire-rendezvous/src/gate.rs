//! The server's door for those who have only TCP: streams that carry datagrams to its ports.
//!
//! In: streams of strangers, and what the server's ports have for them. Out: datagrams with the address of the
//! stream they came on, for the embedder to hand to whoever has that port: the lobby's QUIC or a relay. A
//! stream may name any port and reaches those two only, so it is no way to anybody else.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use tickwire_session::{
    Addr, Ended, Host, Instant, Path, PeerStats, Room, Session, StreamId, Traffic, Transmit,
    counters,
};

use crate::carried::Carriage;
use crate::limits::{CARRIED_IN, CLIENTS_A_HOST, CONTROL_SILENCE, GATE_STREAMS};
use crate::lobby::network;

/// A datagram that came on a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Carried {
    /// Whose stream.
    pub from: SocketAddr,
    /// For which port of the server; 0 is the lobby's.
    pub port: u16,
    /// The datagram.
    pub bytes: Vec<u8>,
}

/// The server's session for such streams.
#[derive(Debug, Default)]
pub struct Gate {
    streams: BTreeMap<StreamId, Stream>,
    by_addr: BTreeMap<SocketAddr, StreamId>,
    hosts: BTreeMap<IpAddr, usize>,
    deadlines: BTreeSet<(Instant, StreamId)>,
    /// Streams that may have something to send.
    dirty: BTreeSet<StreamId>,
    incoming: VecDeque<Carried>,
    closed: Vec<SocketAddr>,
    orders: VecDeque<Transmit>,
    is_ending: bool,
    counters: Counters,
}

#[derive(Debug)]
struct Stream {
    peer: SocketAddr,
    carriage: Carriage,
    heard: Instant,
    traffic: Traffic,
}

counters! {
    /// What the door did not take.
    pub struct Counters {
        /// Streams for which there was no place.
        streams_refused,
        /// Streams that were cut: malformed or silent.
        streams_cut,
        /// Datagrams that a stream or the server did not take.
        carried_dropped,
    }
}

impl Gate {
    /// The next datagram that came.
    pub fn poll_carried(&mut self) -> Option<Carried> {
        self.incoming.pop_front()
    }

    /// An address whose stream ended: nothing can be sent to it any more.
    pub fn poll_closed(&mut self) -> Option<SocketAddr> {
        self.closed.pop()
    }

    /// Sends a datagram of one of the server's ports on the stream of this address; 0 is the lobby's.
    pub fn send(&mut self, to: SocketAddr, port: u16, bytes: &[u8]) {
        let stream = self.by_addr.get(&to).copied();
        let sent = stream.and_then(|on| {
            self.streams.get_mut(&on)?.carriage.push(port, bytes).ok()?;
            self.dirty.insert(on);
            Some(())
        });
        if sent.is_none() {
            self.counters.carried_dropped += 1;
        }
    }

    /// Streams that are open.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    fn forget(&mut self, on: StreamId) {
        let Some(stream) = self.streams.remove(&on) else {
            return;
        };
        self.dirty.remove(&on);
        self.deadlines.remove(&(stream.heard + CONTROL_SILENCE, on));
        self.by_addr.remove(&stream.peer);
        let network = network(stream.peer.ip());
        if let Some(count) = self.hosts.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(&network);
            }
        }
        self.closed.push(stream.peer);
    }

    fn cut(&mut self, on: StreamId) {
        if self.streams.contains_key(&on) {
            self.counters.streams_cut += 1;
            self.orders.push_back(Transmit::Abort { on });
            self.forget(on);
        }
    }
}

impl Session for Gate {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        let Host::Ip(ip) = peer.host else {
            self.orders.push_back(Transmit::Abort { on });
            return;
        };
        let peer = SocketAddr::new(ip, peer.port);
        let of_host = self.hosts.entry(network(ip)).or_default();
        let is_full = self.is_ending
            || self.streams.len() >= GATE_STREAMS
            || *of_host >= CLIENTS_A_HOST
            || self.by_addr.contains_key(&peer);
        if is_full {
            if *of_host == 0 {
                self.hosts.remove(&network(ip));
            }
            self.counters.streams_refused += 1;
            self.orders.push_back(Transmit::Abort { on });
            return;
        }
        *of_host += 1;
        self.by_addr.insert(peer, on);
        self.deadlines.insert((now + CONTROL_SILENCE, on));
        let stream = Stream {
            peer,
            carriage: Carriage::new(),
            heard: now,
            traffic: Traffic::NONE,
        };
        self.streams.insert(on, stream);
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(stream) = self.streams.get_mut(&on) else {
            return;
        };
        self.deadlines.remove(&(stream.heard + CONTROL_SILENCE, on));
        stream.heard = now;
        self.deadlines.insert((now + CONTROL_SILENCE, on));
        stream.traffic.received(bytes.len());
        let from = stream.peer;
        let (incoming, counters) = (&mut self.incoming, &mut self.counters);
        let received = stream.carriage.receive(bytes, |port, bytes| {
            if incoming.len() >= CARRIED_IN {
                counters.carried_dropped += 1;
                return;
            }
            let bytes = bytes.to_vec();
            incoming.push_back(Carried { from, port, bytes });
        });
        if received.is_err() {
            self.cut(on);
        }
    }

    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if let Path::Stream(on) = path
            && let Some(stream) = self.streams.get_mut(&on)
        {
            stream.carriage.set_room(room);
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
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        while let Some(&on) = self.dirty.first() {
            if let Some(stream) = self.streams.get_mut(&on)
                && let Some(bytes) = stream.carriage.write(out)
            {
                stream.traffic.sent(bytes);
                return Some(Transmit::Stream { on });
            }
            self.dirty.remove(&on);
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // There is no game that could be slow.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.is_ending = true;
        let streams: Vec<_> = self.streams.keys().copied().collect();
        for on in streams {
            self.orders.push_back(Transmit::Finish { on });
            self.forget(on);
        }
    }

    fn is_finished(&self) -> bool {
        self.is_ending && self.orders.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for stream in self.streams.values() {
            let mut stats = PeerStats::new("", stream.peer.into(), "Carried");
            stats.traffic = stream.traffic;
            visit(&stats);
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}
