//! Packets of QUIC that go by another way than a socket.
//!
//! Where only TCP gets out, a session may carry packets on a stream of its own. In: addresses whose packets are
//! to be [diverted](Driver::divert), and packets that came by that way. Out: the packets that connections have
//! for those addresses. QUIC itself knows nothing of it.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;

use tickwire_session::{Addr, Host};

use super::Driver;
use crate::limits::{DIVERTED_ADDRS, DIVERTED_PACKETS};
use crate::node::NodeId;
use crate::outgoing::datagrams;
use crate::sys::Received;

/// What goes by another way.
#[derive(Debug, Default)]
pub(crate) struct Diverted {
    to: BTreeSet<SocketAddr>,
    packets: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl Diverted {
    /// Takes packets, if they are for a diverted address. The newest push out the oldest, as on a link.
    pub(crate) fn takes(&mut self, to: SocketAddr, segment: Option<u16>, bytes: &[u8]) -> bool {
        if self.to.is_empty() || !self.to.contains(&canonical(to)) {
            return false;
        }
        for range in datagrams(bytes.len(), segment.map_or(usize::MAX, usize::from)) {
            if self.packets.len() >= DIVERTED_PACKETS {
                self.packets.pop_front();
            }
            self.packets
                .push_back((canonical(to), bytes[range].to_vec()));
        }
        true
    }
}

impl Driver {
    /// Has packets for this address go to [`poll_diverted`](Self::poll_diverted) instead of a socket. Beyond
    /// [`DIVERTED_ADDRS`] addresses nothing changes.
    pub fn divert(&mut self, to: SocketAddr) {
        let diverted = &mut self.quic.diverted.to;
        if diverted.len() < DIVERTED_ADDRS {
            diverted.insert(canonical(to));
        }
    }

    /// Undoes [`divert`](Self::divert).
    pub fn end_diversion(&mut self, to: SocketAddr) {
        self.quic.diverted.to.remove(&canonical(to));
    }

    /// A packet for a diverted address. To be called after every turn until there is nothing more.
    pub fn poll_diverted(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.quic.diverted.packets.pop_front()
    }

    /// Hands a packet that came by another way to the QUIC on a node's socket, as if it had come from this
    /// address. What it says is handed in with the next turn.
    pub fn inject(&mut self, socket: NodeId, from: SocketAddr, packet: &[u8]) {
        let endpoint = self.nodes.get(socket.0).and_then(|node| node.endpoint);
        let from = self
            .nodes
            .get(socket.0)
            .map_or(from, |node| node.destination(from));
        self.inject_into(endpoint, from, packet);
    }

    /// The same for the QUIC of one link, which has a socket of its own.
    pub fn inject_link(&mut self, link: Addr, from: SocketAddr, packet: &[u8]) {
        let key = match link.host {
            Host::Link(number) => self.quic.find(number),
            Host::Ip(_) => None,
        };
        self.inject_into(key.map(|key| key.endpoint), from, packet);
    }

    fn inject_into(&mut self, endpoint: Option<usize>, from: SocketAddr, packet: &[u8]) {
        let Some(endpoint) = endpoint else {
            return;
        };
        let received = Received {
            from,
            asked: None,
            bytes: Ok(packet),
        };
        if !self.quic.claims(endpoint, &received) {
            return;
        }
        let clock = self.clock();
        let (sockets, counters) = (&self.sockets, &mut self.counters);
        self.quic
            .receive(clock, endpoint, &received, sockets, counters);
    }
}

fn canonical(addr: SocketAddr) -> SocketAddr {
    SocketAddr::new(addr.ip().to_canonical(), addr.port())
}
