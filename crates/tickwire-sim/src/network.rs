//! A network of nodes, driven by virtual time.
//!
//! In: a seed, conditions, and the sessions, which stay in the caller's hands and are borrowed for each
//! run; a session's position in the slice is its node's number. Out: everything the sessions send,
//! carried by [`Link`]s. What happens and when follows from the seed alone. [`run`] is the clock and
//! the drain rule, [`streams`] makes streams out of links that lose things, [`links`] are peers whose
//! identity is proved, [`nat`] routers that stand between.

mod links;
mod nat;
mod run;
mod streams;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use tickwire_session::tap::Observer;
use tickwire_session::{Addr, Ended, Instant, Room, StreamId};

use crate::schedule::{Alarms, Schedule};
use crate::stream::{End, EndKey, Segment};
use crate::{Conditions, Fate, Link, LinkCounters, Rng, StreamConditions, TraceHash};

use links::Links;
use nat::Nats;

pub use nat::{MAPPING_LIFE, NatId, NatKind};
pub use run::{POLLS_PER_DRAIN, StillBusy};
pub use streams::{DIAL_TIMEOUT, RESEND_AFTER, RESEND_AFTER_LONGEST};

/// A seeded network.
///
/// Between every two nodes there is a link in each direction, which datagrams and the segments of
/// streams share. Each link draws from a generator of its own: what one carries does not
/// change what another loses.
///
/// # Panics
/// Every method that takes a node panics if the node is of another network. The `run` methods panic
/// if a session breaks the contract, with a message that names the node.
#[derive(Clone, Debug)]
pub struct Network {
    now: Instant,
    nodes: Vec<Node>,
    at: BTreeMap<Addr, NodeId>,
    conditions: Conditions,
    stream_conditions: StreamConditions,
    routes: BTreeMap<Way, Route>,
    agenda: Schedule<Event>,
    alarms: Alarms<Happening>,
    ends: BTreeMap<EndKey, End>,
    ends_by_id: BTreeMap<(NodeId, StreamId), EndKey>,
    streams_dialled: u64,
    links: Links,
    nats: Nats,
    unroutable: u64,
    trace: TraceHash,
    watcher: Watcher,
    /// Never drawn from: links branch off it, so that the order in which they are made does not matter.
    root: Rng,
    /// For everything that belongs to no link.
    rng: Rng,
    /// What sessions append to, kept between drains.
    out: Vec<u8>,
}

/// Who looks at one node's session. A copy of a network has nobody.
#[derive(Default)]
struct Watcher(Option<(usize, Box<dyn Observer>)>);

impl Watcher {
    /// Whoever looks at this node.
    fn of(&mut self, node: NodeId) -> Option<&mut dyn Observer> {
        let (index, observer) = self.0.as_mut()?;
        (*index == node.0).then_some(&mut **observer)
    }
}

impl Clone for Watcher {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// A node of a network, by its position in the slice of sessions.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// The position.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// One direction between two nodes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Way {
    /// Who sends.
    pub from: NodeId,
    /// Who receives.
    pub to: NodeId,
}

impl Way {
    const fn back(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    addr: Addr,
    /// How far its clock is ahead of the network's.
    ahead: Duration,
    /// When its session was last woken, on the network's clock.
    woken: Option<Instant>,
    /// Its session was called since it was last drained.
    undrained: bool,
    /// Streams accepted so far; numbers are not used twice.
    accepted: u32,
}

/// A link, and what else differs from one direction to another.
#[derive(Clone, Debug)]
struct Route {
    link: Link<Parcel>,
    /// Its conditions were set for it alone.
    own_conditions: bool,
    /// The largest datagram, as far as the sender was told.
    largest: u16,
    /// The sender was told that the queue is full.
    is_full: bool,
}

/// What links carry.
#[derive(Clone, Debug)]
enum Parcel {
    Datagram {
        from: Addr,
        to: Addr,
        bytes: Vec<u8>,
    },
    Segment(Segment),
}

/// What is next to happen. At one moment, in this order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Happening {
    /// The first [`Event`] is due.
    Arranged,
    /// Something arrives.
    Arrival(Way),
    /// A session wants to be woken.
    Wake(NodeId),
}

/// What the network itself has scheduled.
#[derive(Clone, Debug)]
enum Event {
    /// A segment was not carried; try once more.
    Resend { segment: Segment, attempt: u32 },
    /// What an end has written travels now.
    Send(EndKey),
    /// Nobody answers the dialler.
    DialFailed(EndKey),
    /// The caller resets a stream.
    Reset(EndKey),
    /// The other end of a link has left it.
    Unlinked { node: NodeId, link: u64, why: Ended },
    /// The caller changed the largest datagram.
    Largest { way: Way, largest: u16 },
    /// The sender hears what the queue of a bottleneck takes.
    Room { way: Way, to: Addr },
}

impl Network {
    /// A network without nodes, whose links are [`Conditions::IDEAL`].
    pub const fn new(seed: u64) -> Self {
        let root = Rng::new(seed);
        Self {
            now: Instant::ZERO,
            nodes: Vec::new(),
            at: BTreeMap::new(),
            conditions: Conditions::IDEAL,
            stream_conditions: StreamConditions::USUAL,
            routes: BTreeMap::new(),
            agenda: Schedule::new(),
            alarms: Alarms::new(),
            ends: BTreeMap::new(),
            ends_by_id: BTreeMap::new(),
            streams_dialled: 0,
            links: Links::new(),
            nats: Nats::new(),
            unroutable: 0,
            trace: TraceHash::new(),
            watcher: Watcher(None),
            rng: root.branch(u64::MAX),
            root,
            out: Vec::new(),
        }
    }

    /// Adds a node that has this address for datagrams and streams.
    ///
    /// # Panics
    /// If another node has it.
    pub fn add_node(&mut self, addr: Addr) -> NodeId {
        let node = NodeId(self.nodes.len());
        let before = self.at.insert(addr, node);
        assert!(before.is_none(), "two nodes cannot both be {addr}");
        self.nodes.push(Node {
            addr,
            ahead: Duration::ZERO,
            woken: None,
            undrained: false,
            accepted: 0,
        });
        node
    }

    /// The network's clock.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// A node's clock: the `now` for calls that the game makes on its session.
    pub fn now_at(&self, node: NodeId) -> Instant {
        self.now + self.node(node).ahead
    }

    /// Sets how far a node's clock is ahead of the network's, so that nodes disagree on the time.
    ///
    /// # Panics
    /// If that would turn the node's clock back.
    pub fn set_clock_ahead(&mut self, node: NodeId, ahead: Duration) {
        let node = self.node_mut(node);
        assert!(ahead >= node.ahead, "a clock never runs backwards");
        node.ahead = ahead;
    }

    /// The address of a node.
    pub fn addr(&self, node: NodeId) -> Addr {
        self.node(node).addr
    }

    /// Gives a node another address, as a router does that forgot a mapping: the peers see the next
    /// datagram come from there, and what they send to the old address reaches nobody. Streams stay.
    ///
    /// # Panics
    /// If another node has it.
    pub fn set_addr(&mut self, node: NodeId, addr: Addr) {
        let old = core::mem::replace(&mut self.node_mut(node).addr, addr);
        self.at.remove(&old);
        let before = self.at.insert(addr, node);
        assert!(before.is_none(), "two nodes cannot both be {addr}");
        self.report_largest_again(|way| way.to == node);
    }

    /// Sets the conditions of all links, those to come included, that have none of their own.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
        for route in self.routes.values_mut().filter(|r| !r.own_conditions) {
            route.link.set_conditions(conditions);
        }
    }

    /// Sets the conditions between two nodes, in both directions.
    pub fn set_conditions_between(&mut self, a: NodeId, b: NodeId, conditions: Conditions) {
        let way = Way { from: a, to: b };
        self.set_conditions_of(way, conditions);
        self.set_conditions_of(way.back(), conditions);
    }

    /// Sets the conditions of one direction.
    pub fn set_conditions_of(&mut self, way: Way, conditions: Conditions) {
        let route = self.route(way);
        route.own_conditions = true;
        route.link.set_conditions(conditions);
    }

    /// Sets the conditions of streams that are dialled from now on.
    pub const fn set_stream_conditions(&mut self, conditions: StreamConditions) {
        self.stream_conditions = conditions;
    }

    /// Changes the largest datagram of one direction, and reports it to the sender. Until then it is
    /// that of [`Room::DATAGRAMS`].
    pub fn set_largest_datagram(&mut self, way: Way, largest: u16) {
        self.agenda.push(self.now, Event::Largest { way, largest });
    }

    /// Cuts two nodes off from each other. What is on the way arrives.
    pub fn partition(&mut self, a: NodeId, b: NodeId) {
        self.cut(Way { from: a, to: b });
        self.cut(Way { from: b, to: a });
    }

    /// Undoes [`partition`](Self::partition). Streams have waited for it.
    pub fn heal(&mut self, a: NodeId, b: NodeId) {
        self.mend(Way { from: a, to: b });
        self.mend(Way { from: b, to: a });
    }

    /// Cuts one direction.
    pub fn cut(&mut self, way: Way) {
        self.route(way).link.cut();
    }

    /// Undoes [`cut`](Self::cut).
    pub fn mend(&mut self, way: Way) {
        self.route(way).link.heal();
    }

    /// Kills what runs at a node and starts it again: everything on the way from and to it is lost,
    /// and the peers of its streams hear of a reset. The caller puts a fresh session in its place.
    pub fn restart(&mut self, node: NodeId) {
        self.node_mut(node).woken = None;
        self.alarms.set(Happening::Wake(node), None);
        for (&way, route) in &mut self.routes {
            if way.from == node || way.to == node {
                route.link.clear();
                self.alarms.set(Happening::Arrival(way), None);
            }
        }
        self.drop_streams_of(node);
        self.drop_links_of(node);
        self.report_largest_again(|way| way.from == node);
    }

    /// What became of everything carried so far, on all links together.
    pub fn counters(&self) -> LinkCounters {
        let mut sum = LinkCounters::default();
        for route in self.routes.values() {
            sum += *route.link.counters();
        }
        sum
    }

    /// What became of everything carried so far in one direction.
    pub fn counters_of(&self, way: Way) -> LinkCounters {
        self.routes
            .get(&way)
            .map(|route| *route.link.counters())
            .unwrap_or_default()
    }

    /// Datagrams sent to addresses that nobody has.
    pub const fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Shows `observer` everything that goes into and comes out of the session at this position, whose node may be
    /// added later.
    pub fn watch(&mut self, index: usize, observer: Box<dyn Observer>) {
        self.watcher = Watcher(Some((index, observer)));
    }

    /// The hash of everything that went into and came out of the sessions so far.
    pub const fn trace_hash(&self) -> TraceHash {
        self.trace
    }

    fn node(&self, node: NodeId) -> &Node {
        self.nodes
            .get(node.0)
            .expect("the node is one of this network")
    }

    fn node_mut(&mut self, node: NodeId) -> &mut Node {
        self.nodes
            .get_mut(node.0)
            .expect("the node is one of this network")
    }

    fn route(&mut self, way: Way) -> &mut Route {
        assert!(
            way.from.0 < self.nodes.len() && way.to.0 < self.nodes.len(),
            "both nodes are of this network"
        );
        self.routes.entry(way).or_insert_with(|| Route {
            link: Link::new(
                self.conditions,
                self.root
                    .branch(((way.from.0 as u64) << 32) | way.to.0 as u64),
            ),
            own_conditions: false,
            largest: Room::DATAGRAMS.largest,
            is_full: false,
        })
    }

    /// Puts something on the way.
    fn push(&mut self, way: Way, parcel: Parcel, size: usize) -> Fate {
        let now = self.now;
        let link = &mut self.route(way).link;
        let fate = link.push(now, parcel, size);
        let next = link.next_moment();
        self.alarms.set(Happening::Arrival(way), next);
        fate
    }

    /// What has arrived.
    fn pop(&mut self, way: Way) -> Option<Parcel> {
        let now = self.now;
        let link = &mut self.route(way).link;
        let parcel = link.pop(now);
        let next = link.next_moment();
        self.alarms.set(Happening::Arrival(way), next);
        parcel
    }

    /// For directions whose sender does not know its largest datagram any more: it may assume the
    /// usual one, until the report reaches it.
    fn report_largest_again(&mut self, concerns: impl Fn(Way) -> bool) {
        for (&way, route) in self.routes.iter_mut().filter(|(way, _)| concerns(**way)) {
            let largest = core::mem::replace(&mut route.largest, Room::DATAGRAMS.largest);
            if largest != Room::DATAGRAMS.largest {
                self.agenda.push(self.now, Event::Largest { way, largest });
            }
        }
    }

    /// A node as messages name it.
    fn name(&self, node: NodeId) -> impl fmt::Display + use<> {
        let (NodeId(index), addr) = (node, self.node(node).addr);
        fmt::from_fn(move |f| write!(f, "node {index} ({addr})"))
    }
}

#[cfg(test)]
mod tests;
