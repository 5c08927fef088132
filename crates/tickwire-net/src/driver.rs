//! The driver: nodes, and the turn that moves everything between them and the outside.
//!
//! In: sessions, which stay in the caller's hands and are borrowed for a turn. Out: nothing but what
//! the sessions do. This file decides *when* things happen and for how long; carrying out one order of
//! a session is in `orders`, serving one socket that is ready in `serve`.

pub(crate) mod divert;
mod links;
mod orders;
mod quic;
mod serve;
mod shared;

pub use quic::{ListenError, ListenerId};

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{self, Duration};

use mio::Token;
use slab::Slab;
use tickwire_session::{Addr, Ended, Host, Instant, Path, Room, Session, StreamId};

use crate::asked::Asked;
use crate::bind::{BindError, Bound, Carries};
use crate::node::{Carrier, Node, NodeId};
use crate::outgoing::Outgoing;
use crate::pipe::{self, Links, NodeLinks, link_addr};
use crate::quic::Quic;
use crate::sockets::{Socket, Sockets};
use crate::sys::{self, Arrivals};
use crate::{Counters, limits};

/// Drives sessions on real sockets and memory links, on the caller's thread.
///
/// Every session has a *node*, made by [`bind`](Self::bind), [`open`](Self::open) or
/// [`link`](Self::link). The sessions themselves stay with the caller and are borrowed for each
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
    nodes: Slab<Node>,
    /// One more than the highest position that a node ever had.
    positions: usize,
    /// Where the next drain begins: behind the session that took all the time of the last one.
    first_drained: usize,
    links: Links,
    sockets: Sockets,
    outgoing: Outgoing,
    quic: Quic,
    arrivals: Arrivals,
    /// Streams with bytes that their sessions did not want.
    held: Vec<Token>,
    /// What a stream's bytes are read into.
    scratch: Box<[u8]>,
    /// Files that the process may have open.
    files: usize,
    counters: Counters,
}

impl Driver {
    /// A driver without nodes, whose clock begins now.
    ///
    /// It lets the process have more files open, if it may: see [`limits::FILES`].
    pub fn new() -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this is the one clock")]
        let began = time::Instant::now();
        Ok(Self {
            began,
            nodes: Slab::new(),
            positions: 0,
            first_drained: 0,
            links: Links::default(),
            sockets: Sockets::new()?,
            outgoing: Outgoing::new(),
            quic: Quic::new(),
            arrivals: Arrivals::new(),
            held: Vec::new(),
            scratch: vec![0; limits::STREAM_READ].into(),
            files: sys::raise_file_limit(limits::FILES),
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
        let id = NodeId(self.insert(Node::new(carries)));
        if let Err(error) = self.register(id, bound, addr.ip()) {
            self.close(id);
            return Err(BindError::new(addr, error));
        }
        Ok(id)
    }

    fn insert(&mut self, node: Node) -> usize {
        let id = self.nodes.insert(node);
        self.positions = self.positions.max(id + 1);
        id
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
            node.asked = ip.is_unspecified().then(Asked::default);
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
        NodeId(self.insert(node))
    }

    /// Makes a node without sockets, joined to `to` by a memory link: a bot in the server's process.
    ///
    /// Each of the two reaches the other, by datagrams and by streams, at the address returned.
    ///
    /// # Panics
    /// If the node `to` is closed.
    pub fn link(&mut self, to: NodeId) -> (NodeId, Addr) {
        assert!(self.nodes.get(to.0).is_some(), "{to:?} is closed");
        let id = self.insert(Node::new(Carries::Both));
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
            Socket::Quic { .. } | Socket::Stream(_) | Socket::Closing(_) => None,
        }
    }

    /// Removes a node with its sockets and links. Its session hears nothing more.
    ///
    /// Streams that the session finished are still finished properly; the others are cut, and peers
    /// hear [`Ended::Reset`]. Its links end as if the session had said
    /// [`Unlink`](tickwire_session::Transmit::Unlink).
    pub fn close(&mut self, node: NodeId) {
        self.close_links(node);
        for link in self.links.of(node.0) {
            pipe::unlink(&mut self.nodes, &mut self.links, link, node.0);
        }
        let Some(closed) = self.nodes.try_remove(node.0) else {
            return;
        };
        self.strand(closed.endpoint);
        for (on, carrier) in closed.streams {
            self.cut(on, carrier);
        }
        for token in [closed.v4, closed.v6, closed.listener]
            .into_iter()
            .flatten()
        {
            self.sockets.remove(token);
        }
    }

    /// Drops a stream that no session knows of any more.
    fn cut(&mut self, on: StreamId, carrier: Carrier) {
        match carrier {
            Carrier::Socket(token) => {
                if let Some(Socket::Stream(stream)) = self.sockets.remove(token) {
                    stream.abort();
                }
            }
            Carrier::Pipe(pipe) => pipe::end(&mut self.nodes, &pipe, Ended::Reset),
            Carrier::Quic { link, id } => {
                if let Some(key) = self.quic.find(link)
                    && let Some(link) = self.quic.link_mut(key)
                {
                    link.abort(id, on);
                    self.quic.send_later(key);
                }
            }
            Carrier::Ended => {}
        }
    }

    /// How many streams are being finished: sessions hear nothing more of them, but their last bytes
    /// may not be out. Before a program ends it goes on turning until this is 0.
    pub fn closing_streams(&self) -> usize {
        self.sockets.closing() + self.quic.closing_streams()
    }

    /// What was carried and what was not.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Drains every session, waits for input until `until` at most, hands in what came, wakes the
    /// sessions that want to be woken, drains them again.
    ///
    /// It returns as soon as anything was handed in, and never waits if `until` has passed. How long
    /// it drains and how much is handed in is bounded (see [`limits`]); the rest comes in the next
    /// turn, which then does not wait. `until` is met to a fraction of a millisecond: where the
    /// system's wait knows whole ones only, the last part is slept, and input that arrives during it is
    /// handed in at its end.
    ///
    /// # Errors
    /// If the system's wait fails. What peers and networks do is never an error.
    ///
    /// # Panics
    /// If `sessions` has no session at the position of an open node.
    pub fn turn(&mut self, until: Instant, sessions: &mut [&mut dyn Session]) -> io::Result<()> {
        self.mark_all_dirty();
        self.drain(sessions);
        self.read_on(sessions);
        self.wait(self.wake_up(until, sessions))?;
        self.hand_in(until, sessions);
        self.drain(sessions);
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
        self.mark_all_dirty();
        self.drain(sessions);
        // The first turn asks: a game that is late makes no other.
        let mut unasked = limits::LINK_TURNS;
        loop {
            if unasked < limits::LINK_TURNS && self.has_link_news() {
                unasked += 1;
            } else {
                unasked = 0;
                self.read_on(sessions);
                self.wait(self.wake_up(until, sessions))?;
            }
            self.hand_in(until, sessions);
            self.drain(sessions);
            if self.now() >= until {
                return Ok(());
            }
        }
    }

    /// Puts streams whose sessions want to read again among those to serve.
    fn read_on(&mut self, sessions: &[&mut dyn Session]) {
        self.quic.read_on(sessions);
        let sockets = &mut self.sockets;
        self.held.retain(|&token| {
            let end = sockets.stream_mut(token).map(|stream| stream.end());
            let session = end.and_then(|end| sessions.get(end.node));
            let wants =
                |session: &&mut dyn Session| end.is_some_and(|end| session.is_reading(end.on));
            let is_held = session.is_some_and(|session| !wants(session));
            if !is_held {
                sockets.mark(token);
            }
            is_held
        });
    }

    /// What the game did to its sessions since the last turn is not known here.
    fn mark_all_dirty(&mut self) {
        for (_, node) in &mut self.nodes {
            node.dirty = true;
        }
    }

    /// Drains sessions, then sends what they left with their links.
    fn drain(&mut self, sessions: &mut [&mut dyn Session]) {
        let now = self.now();
        self.drain_sessions(now, sessions);
        self.flush_links(now);
    }

    /// Drains those that may have something to say, as far as the time reaches. The rest stay dirty.
    fn drain_sessions(&mut self, now: Instant, sessions: &mut [&mut dyn Session]) {
        let deadline = now + limits::DRAIN;
        for step in 0..self.positions {
            let id = (self.first_drained + step) % self.positions;
            if !self.nodes.get(id).is_some_and(|node| node.dirty) {
                continue;
            }
            let is_done = self.drain_one(now, deadline, id, session_at(sessions, id));
            if let Some(node) = self.nodes.get_mut(id) {
                node.dirty = !is_done;
            }
            if self.now() >= deadline {
                // The others come first in the next turn.
                self.first_drained = (id + 1) % self.positions;
                return;
            }
        }
    }

    /// Carries out the orders of a session; returns whether those were all.
    fn drain_one(
        &mut self,
        now: Instant,
        deadline: Instant,
        id: usize,
        session: &mut dyn Session,
    ) -> bool {
        let mut polls = 0;
        let is_done = loop {
            let Some(transmit) = session.poll_transmit(now, self.outgoing.bytes()) else {
                break true;
            };
            self.carry_out(now, id, transmit);
            self.outgoing.discard_fresh();
            polls += 1;
            if polls % POLLS == 0 && self.now() >= deadline {
                break false;
            }
        };
        self.outgoing.flush(&self.sockets, &mut self.counters);
        for (socket, path) in self.outgoing.take_full() {
            self.sockets.watch_full(socket);
            if let Some(node) = self.nodes.get_mut(id) {
                node.report_full(path);
            }
        }
        is_done
    }

    fn has_link_news(&self) -> bool {
        self.nodes.iter().any(|(_, node)| !node.inbox.is_empty())
    }

    /// When to stop waiting, if nothing arrives.
    fn wake_up(&self, until: Instant, sessions: &[&mut dyn Session]) -> Instant {
        let has_dirty = self.nodes.iter().any(|(_, node)| node.dirty);
        if has_dirty || self.has_link_news() || self.sockets.ready() > 0 {
            return Instant::ZERO;
        }
        self.nodes
            .iter()
            .filter_map(|(id, _)| sessions.get(id)?.poll_timeout())
            .chain(self.sockets.next_timer())
            .chain(self.quic.next_wake())
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
        self.deliver_inboxes(now, sessions);
        self.reopen_links(now, sessions);
        self.sockets.fire_timers(now);
        let deadline = until.max(self.now() + limits::HAND_IN);
        for _ in 0..self.sockets.ready() {
            if let Some(token) = self.sockets.take_ready() {
                self.serve(now, deadline, token, sessions);
            }
            // The queue is first come, first served: the others are first in the next turn.
            if self.now() >= deadline {
                break;
            }
        }
        self.serve_links(now, sessions);
        for (id, node) in &mut self.nodes {
            let session = session_at(sessions, id);
            if session.poll_timeout().is_some_and(|moment| moment <= now) {
                node.dirty = true;
                session.handle_timeout(now);
            }
        }
    }

    /// Hands in what came over links. Each node has its part of the time, so that none silences
    /// another, and sockets have time of their own.
    fn deliver_inboxes(&mut self, now: Instant, sessions: &mut [&mut dyn Session]) {
        let began = self.began;
        let waiting = self.nodes.iter().filter(|(_, node)| !node.inbox.is_empty());
        let share = limits::HAND_IN / u32::try_from(waiting.count().max(1)).unwrap_or(u32::MAX);
        for (id, node) in &mut self.nodes {
            if node.inbox.is_empty() {
                continue;
            }
            node.dirty = true;
            let links = NodeLinks {
                links: &mut self.links,
                node: id,
            };
            let deadline = began.elapsed() + share;
            node.inbox.deliver(
                now,
                session_at(sessions, id),
                &mut node.streams,
                links,
                || began.elapsed() >= deadline,
            );
        }
    }

    /// Tells sessions whose links were full that there is room again, once half of it is.
    fn reopen_links(&mut self, now: Instant, sessions: &mut [&mut dyn Session]) {
        let full = |(id, node): (usize, &Node)| {
            let paths = node.full_paths.iter().copied();
            paths.map(move |path| (id, path)).collect::<Vec<_>>()
        };
        let paths: Vec<_> = self.nodes.iter().flat_map(full).collect();
        for (id, path) in paths {
            let Host::Link(link) = path.host else {
                continue;
            };
            let far = self.links.far(link, id).and_then(|far| self.nodes.get(far));
            if far.is_some_and(|far| far.inbox.datagrams() > limits::LINK_DATAGRAMS / 2) {
                continue;
            }
            if let Some(node) = self.nodes.get_mut(id) {
                node.full_paths.remove(&path);
                node.dirty = true;
                if self.links.has(link, id) {
                    let session = session_at(sessions, id);
                    session.handle_room(now, Path::Datagrams(path), Room::DATAGRAMS);
                }
            }
        }
    }
}

/// Orders of one session that are carried out between two looks at the clock: looking costs a tenth
/// of what sending a datagram does.
const POLLS: usize = 8;

/// Some systems refuse to wait for centuries. A turn that returns for no reason does no harm.
const LONGEST_POLL: Duration = Duration::from_secs(3_600);

/// The session of an open node.
fn session_at<'a>(sessions: &'a mut [&mut dyn Session], node: usize) -> &'a mut dyn Session {
    match sessions.get_mut(node) {
        Some(session) => *session,
        None => panic!("node {node} is open, so its session must be passed to the turn"),
    }
}

#[cfg(test)]
mod tests;
