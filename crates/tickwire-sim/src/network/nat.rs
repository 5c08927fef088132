//! Routers that translate addresses, and what they let in.
//!
//! In: which nodes are behind which router. Out: as which address a datagram goes on, whom a public address
//! means, and whether what arrives there is let in: decided when it arrives, because by then the node behind
//! may have sent something. The kinds are those of RFC 3489, which players still use, in the words of RFC 4787:
//! *mapping* is which public port a node gets, *filtering* who may use it. A router does not send back to its own
//! network what comes from there (no hairpinning), as many do not.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::net::IpAddr;
use core::time::Duration;

use tickwire_session::{Addr, Host, Instant};

use super::{Network, NodeId};

/// How a router translates.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum NatKind {
    /// A node has one public port, and anybody may send to it.
    FullCone,
    /// A node has one public port, and only those whom it sent something may send to it.
    PortRestricted,
    /// A node has a public port for each peer, and only that peer may send to it.
    Symmetric,
    /// Datagrams do not pass; streams do.
    UdpBlocked,
}

/// A router of a network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NatId(usize);

/// A mapping that nothing was sent through for so long is forgotten: what the shortest-lived routers do.
pub const MAPPING_LIFE: Duration = Duration::from_secs(30);

/// First of the public ports.
const FIRST_PORT: u16 = 20_000;

#[derive(Clone, Debug)]
pub(super) struct Nats {
    nats: Vec<Nat>,
    behind: BTreeMap<NodeId, usize>,
}

#[derive(Clone, Debug)]
struct Nat {
    kind: NatKind,
    public: IpAddr,
    /// By public port.
    mappings: BTreeMap<u16, Mapping>,
    next_port: u16,
}

#[derive(Clone, Debug)]
struct Mapping {
    inside: Addr,
    /// Whom the inside has sent something.
    peers: BTreeSet<Addr>,
    used: Instant,
}

/// How a datagram goes on.
pub(super) struct Translated {
    pub(super) peer: NodeId,
    /// As which address its sender is seen.
    pub(super) from: Addr,
}

impl Network {
    /// Adds a router whose public address is this. Nodes are [put behind](Self::put_behind) it.
    ///
    /// # Panics
    /// If another router has it.
    pub fn add_nat(&mut self, kind: NatKind, public: IpAddr) -> NatId {
        let is_taken = self.nats.nats.iter().any(|nat| nat.public == public);
        assert!(!is_taken, "two routers cannot both be {public}");
        self.nats.nats.push(Nat {
            kind,
            public,
            mappings: BTreeMap::new(),
            next_port: FIRST_PORT,
        });
        NatId(self.nats.nats.len() - 1)
    }

    /// Puts a node behind a router: its own address is reached only by those behind the same one.
    pub fn put_behind(&mut self, node: NodeId, NatId(nat): NatId) {
        assert!(
            nat < self.nats.nats.len(),
            "the router is one of this network"
        );
        self.nats.behind.insert(node, nat);
    }

    /// Makes a router forget its mappings, as when it is switched off and on. The next ones have other ports.
    pub fn forget_mappings(&mut self, NatId(nat): NatId) {
        if let Some(nat) = self.nats.nats.get_mut(nat) {
            nat.mappings.clear();
        }
    }

    /// Has a router translate in another way from now on, as when its owner changes a setting.
    pub fn set_nat_kind(&mut self, NatId(nat): NatId, kind: NatKind) {
        if let Some(nat) = self.nats.nats.get_mut(nat) {
            nat.kind = kind;
        }
    }

    /// Whom a datagram from a node to an address means, and as whose it arrives.
    pub(super) fn translate(&mut self, node: NodeId, to: Addr) -> Option<Translated> {
        if matches!(to.host, Host::Link(_)) || self.nats.nats.is_empty() {
            let (peer, from) = (self.peer_at(node, to)?, self.addr_towards(node, to));
            return Some(Translated { peer, from });
        }
        let own = self.nats.behind.get(&node).copied();
        let addr = self.addr(node);
        let inside = self.at.get(&to).copied();
        if let Some(peer) = inside.filter(|peer| self.nats.behind.get(peer).copied() == own) {
            return Some(Translated { peer, from: addr });
        }
        // Whatever becomes of the datagram, the sender's router has made its mapping.
        let now = self.now;
        let from = match own.and_then(|own| self.nats.nats.get_mut(own)) {
            Some(nat) => nat.map(now, addr, to)?,
            None => addr,
        };
        let peer = match self.nats.of_public(to) {
            Some(nat) if own == Some(nat) => return None,
            Some(nat) => {
                // Who may use the port is decided on arrival; whose it is, here.
                let mapping = self.nats.nats.get(nat)?.mappings.get(&to.port)?;
                *self.at.get(&mapping.inside)?
            }
            None => inside.filter(|peer| self.nats.reaches(node, *peer))?,
        };
        Some(Translated { peer, from })
    }

    /// Whether what arrives at an address is let in to the node that was behind it.
    pub(super) fn lets_in(&self, node: NodeId, from: Addr, to: Addr) -> bool {
        let Some(nat) = self
            .nats
            .of_public(to)
            .and_then(|nat| self.nats.nats.get(nat))
        else {
            return true;
        };
        nat.lets_in(self.now, from, to.port) == Some(self.addr(node))
    }
}

impl Nats {
    pub(super) const fn new() -> Self {
        Self {
            nats: Vec::new(),
            behind: BTreeMap::new(),
        }
    }

    fn of_public(&self, addr: Addr) -> Option<usize> {
        self.nats
            .iter()
            .position(|nat| Host::Ip(nat.public) == addr.host)
    }

    /// Whether a node can reach another at the other's own address.
    pub(super) fn reaches(&self, node: NodeId, peer: NodeId) -> bool {
        match self.behind.get(&peer) {
            None => true,
            inside => self.behind.get(&node) == inside,
        }
    }

    /// As which host a node is seen by somebody who is not behind the same router.
    pub(super) fn public_host(&self, node: NodeId, peer: NodeId) -> Option<Host> {
        let own = self.behind.get(&node)?;
        let is_inside = self.behind.get(&peer) == Some(own);
        let nat = self.nats.get(*own).filter(|_| !is_inside)?;
        Some(Host::Ip(nat.public))
    }
}

impl Nat {
    /// The public address of a node that sends to a peer; made if there is none.
    fn map(&mut self, now: Instant, inside: Addr, to: Addr) -> Option<Addr> {
        let kind = self.kind;
        if kind == NatKind::UdpBlocked {
            return None;
        }
        self.mappings
            .retain(|_, mapping| now.since(mapping.used) < MAPPING_LIFE);
        let serves = |mapping: &Mapping| {
            mapping.inside == inside && (kind != NatKind::Symmetric || mapping.peers.contains(&to))
        };
        let port = self
            .mappings
            .iter()
            .find(|(_, mapping)| serves(mapping))
            .map(|(port, _)| *port);
        let port = port.unwrap_or_else(|| {
            let port = self.next_port;
            // Not the next one: a peer could guess it, and real ones are random.
            self.next_port = port.wrapping_add(37).max(FIRST_PORT);
            port
        });
        let mapping = self.mappings.entry(port).or_insert(Mapping {
            inside,
            peers: BTreeSet::new(),
            used: now,
        });
        mapping.peers.insert(to);
        mapping.used = now;
        let host = Host::Ip(self.public);
        Some(Addr { host, port })
    }

    /// The node that what came for a public port goes on to.
    fn lets_in(&self, now: Instant, from: Addr, port: u16) -> Option<Addr> {
        let mapping = self.mappings.get(&port)?;
        let is_open = match self.kind {
            NatKind::FullCone => true,
            NatKind::PortRestricted | NatKind::Symmetric => mapping.peers.contains(&from),
            NatKind::UdpBlocked => false,
        };
        (is_open && now.since(mapping.used) < MAPPING_LIFE).then_some(mapping.inside)
    }
}

#[cfg(test)]
mod tests {
    use tickwire_session::Events;
    use tickwire_session::echo::DatagramEcho;

    use super::*;
    use crate::addr;

    const A: Addr = addr::machine(1, 1_000);
    const SERVER: Addr = addr::machine(200, 9);
    const OTHER: Addr = addr::machine(201, 9);

    /// A node behind a router, and two servers.
    struct World {
        net: Network,
        nat: NatId,
        sessions: [DatagramEcho; 3],
    }

    impl World {
        fn new(kind: NatKind) -> Self {
            let mut net = Network::new(1);
            let node = net.add_node(A);
            net.add_node(SERVER);
            net.add_node(OTHER);
            let nat = net.add_nat(kind, IpAddr::from([203, 0, 113, 1]));
            net.put_behind(node, nat);
            let sessions = [(); 3].map(|()| DatagramEcho::default());
            Self { net, nat, sessions }
        }

        fn run(&mut self, millis: u64) {
            let [a, b, c] = &mut self.sessions;
            self.net
                .run_for(Duration::from_millis(millis), &mut [a, b, c]);
        }

        /// Whether A's question to a server is answered, and from where the server saw it come.
        fn asks(&mut self, to: Addr) -> Option<Addr> {
            self.sessions[0].send(to, b"?");
            self.run(10);
            self.sessions[0].poll_event()?;
            let server = if to == SERVER { 1 } else { 2 };
            let mut seen = None;
            let session = &self.sessions[server];
            tickwire_session::Session::visit_peers(session, &mut |peer| seen = Some(peer.addr));
            seen
        }

        /// Whether the other server gets an answer from a public address.
        fn is_asked_by_other(&mut self, at: Addr) -> bool {
            self.sessions[2].send(at, b"?");
            self.run(10);
            self.sessions[2].poll_event().is_some()
        }
    }

    #[test]
    fn a_full_cone_is_open_to_all() {
        let mut world = World::new(NatKind::FullCone);
        let seen = world.asks(SERVER).unwrap();
        assert_ne!(seen.host, A.host);
        assert!(world.is_asked_by_other(seen));
        assert_eq!(world.asks(OTHER), Some(seen));
    }

    #[test]
    fn a_restricted_port_is_open_to_whom_something_was_sent() {
        let mut world = World::new(NatKind::PortRestricted);
        let seen = world.asks(SERVER).unwrap();
        assert!(!world.is_asked_by_other(seen));
        assert_eq!(world.asks(OTHER), Some(seen));
        assert!(world.is_asked_by_other(seen));
    }

    #[test]
    fn a_symmetric_router_has_a_port_for_each_peer() {
        let mut world = World::new(NatKind::Symmetric);
        let seen = world.asks(SERVER).unwrap();
        let other = world.asks(OTHER).unwrap();
        assert_ne!(seen, other);
        assert!(!world.is_asked_by_other(seen));
        assert!(world.is_asked_by_other(other));
    }

    #[test]
    fn nothing_passes_where_datagrams_do_not() {
        let mut world = World::new(NatKind::UdpBlocked);
        assert_eq!(world.asks(SERVER), None);
    }

    #[test]
    fn a_private_address_means_nothing_outside() {
        let mut world = World::new(NatKind::FullCone);
        world.asks(SERVER).unwrap();
        assert!(!world.is_asked_by_other(A));
    }

    #[test]
    fn a_mapping_that_is_not_used_is_forgotten() {
        let mut world = World::new(NatKind::FullCone);
        let seen = world.asks(SERVER).unwrap();
        world.run(31_000);
        assert!(!world.is_asked_by_other(seen));
        let again = world.asks(SERVER).unwrap();
        assert_ne!(again, seen);
        world.net.forget_mappings(world.nat);
        assert!(!world.is_asked_by_other(again));
    }
}
