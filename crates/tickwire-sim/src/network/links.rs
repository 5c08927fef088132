//! Links: pairs of nodes that know each other by a number and not by an address.
//!
//! In: [`Network::join`], and the orders of sessions that end a link. Out: where an address leads
//! from one node, and the end of a link, told to the other side after the latency. Datagrams and
//! streams over a link share the route between the two nodes with everything else. (A node may also
//! have a link for its address: then its peers know it by that, and the link has no end.)

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tickwire_session::tap::Input;
use tickwire_session::{Addr, Ended, Host, Path, Session};

use super::{Event, Network, NodeId, Way};
use crate::SHORTEST;
use crate::addr;
use crate::stream::EndKey;

/// For each end of a link that its session has not left or seen end, the node at the other end.
#[derive(Clone, Debug)]
pub(super) struct Links {
    far: BTreeMap<(u64, NodeId), NodeId>,
    next: u64,
}

impl Links {
    pub(super) const fn new() -> Self {
        Self {
            far: BTreeMap::new(),
            next: 0,
        }
    }
}

impl Network {
    /// Joins two nodes by a link, as a memory pair or a QUIC connection would: each knows the other
    /// by the address returned, for datagrams and streams, whatever its own address is.
    ///
    /// # Panics
    /// If they are the same node.
    pub fn join(&mut self, a: NodeId, b: NodeId) -> Addr {
        assert!(a != b, "a link has two ends");
        // A node may have been given the address of a link; its number is taken.
        while self.at.contains_key(&addr::link(self.links.next)) {
            self.links.next += 1;
        }
        let link = self.links.next;
        self.links.next += 1;
        self.links.far.insert((link, a), b);
        self.links.far.insert((link, b), a);
        addr::link(link)
    }

    /// Who is reached from a node at an address.
    pub(super) fn peer_at(&self, node: NodeId, to: Addr) -> Option<NodeId> {
        let Some((link, far)) = self.joined(node, to) else {
            let peer = *self.at.get(&to)?;
            return self.nats.reaches(node, peer).then_some(peer);
        };
        self.links.far.contains_key(&(link, far)).then_some(far)
    }

    /// How whoever is reached at `to` sees the node.
    pub(super) fn addr_towards(&self, node: NodeId, to: Addr) -> Addr {
        match self.joined(node, to) {
            Some(_) => to,
            None => {
                let addr = self.addr(node);
                let peer = self.at.get(&to);
                let host = peer.and_then(|peer| self.nats.public_host(node, *peer));
                let host = host.unwrap_or(addr.host);
                Addr { host, ..addr }
            }
        }
    }

    /// Whether what comes from an address still concerns a node: not, if it came over a link that its
    /// session has left.
    pub(super) fn reaches(&self, node: NodeId, from: Addr) -> bool {
        matches!(from.host, Host::Ip(_))
            || self.joined(node, from).is_some()
            || self.at.contains_key(&from)
    }

    /// The link of a node that an address names, and who is at the other end.
    fn joined(&self, node: NodeId, addr: Addr) -> Option<(u64, NodeId)> {
        let Host::Link(link) = addr.host else {
            return None;
        };
        let far = *self.links.far.get(&(link, node))?;
        Some((link, far))
    }

    /// A session ends a link, or the session itself is gone. One that ended already was told to it in
    /// the same batch.
    pub(super) fn unlink(&mut self, node: NodeId, link: u64, why: Ended) {
        let Some(far) = self.links.far.remove(&(link, node)) else {
            return;
        };
        for key in self.streams_over(node, link) {
            self.remove(key);
        }
        let way = Way {
            from: node,
            to: far,
        };
        let latency = self.route(way).link.conditions().slowest().max(SHORTEST);
        let event = Event::Unlinked {
            node: far,
            link,
            why,
        };
        self.agenda.push(self.now + latency, event);
    }

    /// A node hears that the other end left a link: the streams over it first.
    pub(super) fn end_link(
        &mut self,
        node: NodeId,
        link: u64,
        why: Ended,
        sessions: &mut [&mut dyn Session],
    ) {
        for key in self.streams_over(node, link) {
            self.close(key, Ended::Reset, sessions);
        }
        // A session that is told of its streams may leave the link itself.
        if self.links.far.remove(&(link, node)).is_some() {
            let path = Path::Link(link);
            self.hand_in(node, Input::Closed { path, why }, sessions);
        }
    }

    /// A node was killed: its peers hear that its links are cut.
    pub(super) fn drop_links_of(&mut self, node: NodeId) {
        let ends = self.links.far.keys();
        let links: Vec<_> = ends.filter(|(_, at)| *at == node).copied().collect();
        for (link, _) in links {
            self.unlink(node, link, Ended::Reset);
        }
    }

    fn streams_over(&self, node: NodeId, link: u64) -> Vec<EndKey> {
        let over = addr::link(link);
        self.ends
            .iter()
            .filter(|(_, end)| end.node == node && end.peer_addr == over)
            .map(|(&key, _)| key)
            .collect()
    }
}
