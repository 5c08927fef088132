//! The driver: nodes, and the turn that moves everything between them and the outside.
//!
//! In: sessions, which stay in the caller's hands and are lent for a turn. Out: nothing but what the
//! sessions do. This file decides *when* things happen; carrying out one order of a session is in
//! `orders`, serving one socket that is ready in `serve`.

mod orders;
mod serve;

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{self, Duration};

use tickwire_session::{Addr, Ended, Instant, Session};

use crate::bind::{BindError, Bound, Carries};
use crate::node::{Carrier, Node, NodeId};
use crate::outgoing::Outgoing;
use crate::pipe::{self, Links, NodeLinks, link_addr};
use crate::slots::Slots;
use crate::sockets::{Socket, Sockets};
use crate::sys::Arrivals;
use crate::{Counters, limits};

/// Drives sessions on real sockets and memory links, on the caller's thread.
///
/// Every session has a *node*, made by [`bind`](Self::bind), [`open`](Self::open) or
/// [`link`](Self::link). The sessions themselves stay with the caller and are lent for each
/// [`turn`](Self::turn) as a slice, in which a session's position is its node's
/// [`index`](NodeId::index): 0, 1, 2 … in the order in which nodes are made. A node that is
/// [`close`](Self::close)d leaves its position free for the next one that is made; until then,
/// whatever session is passed there is left alone.
///
/// The order of a game loop is: turn, poll events, step the world, publish; the next turn begins by
/// sending what was published.
#[derive(Debug)]
pub struct Driver {
    began: time::Instant,
    nodes: Slots<Node>,
    links: Links,
    sockets: Sockets,
    outgoing: Outgoing,
    arrivals: Arrivals,
    /// What a stream's bytes are read into.
    scratch: Box<[u8]>,
    counters: Counters,
}

impl Driver {
    /// A driver without nodes, whose clock begins now.
    pub fn new() -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this is the one clock")]
        let began = time::Instant::now();
        Ok(Self {
            began,
            nodes: Slots::new(),
            links: Links::default(),
            sockets: Sockets::new()?,
            outgoing: Outgoing::new(),
            arrivals: Arrivals::new(),
            scratch: vec![0; limits::STREAM_READ].into(),
            counters: Counters::default(),
        })
    }

    /// The time: microseconds since the driver began.
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.began.elapsed()
    }

    /// Makes a node for a server, which peers reach at `addr`.
    ///
    /// Port 0 lets the system choose; [`local_addr`](Self::local_addr) tells what it chose, which is
    /// the same for datagrams and streams. `[::]` serves IPv4, too.
    pub fn bind(&mut self, addr: SocketAddr, carries: Carries) -> Result<NodeId, BindError> {
        let bound = Bound::new(addr, carries)?;
        let id = NodeId(self.nodes.insert(Node::new(carries)));
        if let Err(error) = self.register(id, bound, addr.ip()) {
            self.close(id);
            return Err(BindError::new(addr, error));
        }
        Ok(id)
    }

    fn register(&mut self, NodeId(id): NodeId, bound: Bound, ip: IpAddr) -> io::Result<()> {
        let Some(node) = self.nodes.get_mut(id) else {
            return Ok(());
        };
        if let Some(udp) = bound.datagrams {
            let token = self.sockets.insert(Socket::Datagrams { node: id, udp })?;
            let serves_both = ip.is_ipv6() && ip.is_unspecified();
            node.v4 = (ip.is_ipv4() || serves_both).then_some(token);
            node.v6 = ip.is_ipv6().then_some(token);
        }
        if let Some(tcp) = bound.listener {
            let token = self.sockets.insert(Socket::Listener { node: id, tcp })?;
            node.listener = Some(token);
        }
        Ok(())
    }

    /// Makes a node for a client, which dials and sends to whomever its session names.
    ///
    /// It has no sockets until the session does so, and then a port that the system chooses.
    pub fn open(&mut self) -> NodeId {
        let mut node = Node::new(Carries::Both);
        node.roams = true;
        NodeId(self.nodes.insert(node))
    }

    /// Makes a node without sockets, joined to `to` by a memory link: a bot in the server's process.
    ///
    /// Each of the two reaches the other, by datagrams and by streams, at the address returned.
    ///
    /// # Panics
    /// If the node `to` is closed.
    pub fn link(&mut self, to: NodeId) -> (NodeId, Addr) {
        assert!(self.nodes.get(to.0).is_some(), "{to:?} is closed");
        let id = self.nodes.insert(Node::new(Carries::Both));
        let link = self.links.join([id, to.0]);
        (NodeId(id), link_addr(link))
    }

    /// Where a node's sockets are bound; `None` if it has none.
    pub fn local_addr(&self, node: NodeId) -> Option<SocketAddr> {
        let node = self.nodes.get(node.0)?;
        let token = node.v4.or(node.v6).or(node.listener)?;
        match self.sockets.get(token)? {
            Socket::Datagrams { udp, .. } => udp.local_addr().ok(),
            Socket::Listener { tcp, .. } => tcp.local_addr().ok(),
            Socket::Stream(_) | Socket::Farewell(_) => None,
        }
    }

    /// Removes a node with its sockets and links. Its session hears nothing more.
    ///
    /// Streams that the session finished are still finished properly; the others are cut, and peers
    /// hear [`Ended::Reset`]. Its links end as if the session had said
    /// [`Unlink`](tickwire_session::Transmit::Unlink).
    pub fn close(&mut self, node: NodeId) {
        for link in self.links.of(node.0) {
            pipe::unlink(&mut self.nodes, &mut self.links, link, node.0);
        }
        let Some(closed) = self.nodes.remove(node.0) else {
            return;
        };
        for carrier in closed.streams.into_values() {
            self.cut(carrier);
        }
        for token in [closed.v4, closed.v6, closed.listener]
            .into_iter()
            .flatten()
        {
            self.sockets.remove(token);
        }
    }

    /// Drops a stream that no session knows of any more.
    fn cut(&mut self, carrier: Carrier) {
        match carrier {
            Carrier::Socket(token) => {
                if let Some(Socket::Stream(stream)) = self.sockets.remove(token) {
                    stream.abort();
                }
            }
            Carrier::Pipe(pipe) => pipe::end(&mut self.nodes, &pipe, Ended::Reset),
            Carrier::Ended => {}
        }
    }

    /// How many streams are being finished: sessions hear nothing more of them, but their last bytes
    /// may not be out. Before a program ends it goes on turning until this is 0.
    pub fn farewells(&self) -> usize {
        self.sockets.farewells()
    }

    /// What was carried and what was not.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Drains every session, waits for input until `until` at most, hands in what came, wakes the
    /// sessions that want to be woken, drains them again.
    ///
    /// It returns as soon as anything was handed in, and never waits if `until` has passed. How much
    /// is handed in is bounded (see [`limits`]); the rest comes in the next turn, which then does
    /// not wait. `until` is met to a fraction of a millisecond: where the system's wait knows whole
    /// ones only, the last part is slept, and input that arrives during it is handed in at its end.
    ///
    /// # Errors
    /// If the system's wait fails. What peers and networks do is never an error.
    ///
    /// # Panics
    /// If `sessions` has no session at the position of an open node.
    pub fn turn(&mut self, until: Instant, sessions: &mut [&mut dyn Session]) -> io::Result<()> {
        self.drain(sessions);
        self.wait(self.wake_up(until, sessions))?;
        self.hand_in(until, sessions);
        self.drain_stirred(sessions);
        Ok(())
    }

    /// Turns until the moment has come, at least once.
    ///
    /// It costs less than the same turns one by one: nobody but the driver touches the sessions in
    /// between, and while memory links have news the sockets are not asked every time (see
    /// [`limits::LINK_TURNS`]).
    ///
    /// # Errors
    /// As [`turn`](Self::turn).
    ///
    /// # Panics
    /// As [`turn`](Self::turn).
    pub fn run_until(
        &mut self,
        until: Instant,
        sessions: &mut [&mut dyn Session],
    ) -> io::Result<()> {
        self.drain(sessions);
        // The first turn asks: a game that is late makes no other.
        let mut unasked = limits::LINK_TURNS;
        loop {
            if unasked < limits::LINK_TURNS && self.has_link_news() {
                unasked += 1;
            } else {
                unasked = 0;
                self.wait(self.wake_up(until, sessions))?;
            }
            self.hand_in(until, sessions);
            self.drain_stirred(sessions);
            if self.now() >= until {
                return Ok(());
            }
        }
    }

    /// Drains everybody: what the game did to a session since the last turn is not known here.
    fn drain(&mut self, sessions: &mut [&mut dyn Session]) {
        let now = self.now();
        for id in 0..self.nodes.end() {
            if let Some(node) = self.nodes.get_mut(id) {
                node.stirred = false;
                self.drain_one(now, id, lent(sessions, id));
            }
        }
    }

    /// Drains those that something was handed to: the others have nothing new to say.
    fn drain_stirred(&mut self, sessions: &mut [&mut dyn Session]) {
        let now = self.now();
        for id in 0..self.nodes.end() {
            if let Some(node) = self.nodes.get_mut(id)
                && mem::take(&mut node.stirred)
            {
                self.drain_one(now, id, lent(sessions, id));
            }
        }
    }

    fn drain_one(&mut self, now: Instant, id: usize, session: &mut dyn Session) {
        while let Some(transmit) = session.poll_transmit(now, self.outgoing.bytes()) {
            self.carry_out(now, id, transmit);
            self.outgoing.discard_fresh();
        }
        self.outgoing.flush(&self.sockets, &mut self.counters);
    }

    fn has_link_news(&self) -> bool {
        self.nodes.iter().any(|(_, node)| !node.inbox.is_empty())
    }

    /// When to stop waiting, if nothing arrives.
    fn wake_up(&self, until: Instant, sessions: &[&mut dyn Session]) -> Instant {
        if self.has_link_news() || self.sockets.ready() > 0 {
            return Instant::ZERO;
        }
        self.nodes
            .iter()
            .filter_map(|(id, _)| sessions.get(id)?.poll_timeout())
            .chain(self.sockets.next_alarm())
            .fold(until, Instant::min)
    }

    fn wait(&mut self, until: Instant) -> io::Result<()> {
        let left = until.since(self.now());
        self.sockets.poll(left.min(LONGEST_POLL))?;
        let rest = until.since(self.now());
        // More is left if a signal ended the poll: then the caller gets to see why.
        if self.sockets.ready() == 0 && !rest.is_zero() && rest < Duration::from_millis(1) {
            thread::sleep(rest);
            self.sockets.poll(Duration::ZERO)?;
        }
        Ok(())
    }

    fn hand_in(&mut self, until: Instant, sessions: &mut [&mut dyn Session]) {
        let now = self.now();
        let enough = until.max(now + limits::HAND_IN);
        for id in 0..self.nodes.end() {
            if let Some(node) = self.nodes.get_mut(id)
                && !node.inbox.is_empty()
            {
                node.stirred = true;
                let links = NodeLinks {
                    links: &mut self.links,
                    node: id,
                };
                node.inbox
                    .deliver(now, lent(sessions, id), &mut node.streams, links);
            }
        }
        self.sockets.ring_alarms(now);
        for _ in 0..self.sockets.ready() {
            if let Some(token) = self.sockets.take_ready() {
                self.serve(now, enough, token, sessions);
            }
            // The queue is first come, first served: the others are first in the next turn.
            if self.now() >= enough {
                break;
            }
        }
        for id in 0..self.nodes.end() {
            if let Some(node) = self.nodes.get_mut(id) {
                let session = lent(sessions, id);
                if session.poll_timeout().is_some_and(|moment| moment <= now) {
                    node.stirred = true;
                    session.handle_timeout(now);
                }
            }
        }
    }
}

/// Some systems refuse to wait for centuries. A turn that returns for no reason does no harm.
const LONGEST_POLL: Duration = Duration::from_secs(3_600);

/// The session of an open node.
fn lent<'a>(sessions: &'a mut [&mut dyn Session], node: usize) -> &'a mut dyn Session {
    match sessions.get_mut(node) {
        Some(session) => *session,
        None => panic!("node {node} is open, so its session must be lent for the turn"),
    }
}
