//! The sockets of all nodes, and which of them are ready.
//!
//! The system reports a socket once, when it becomes ready, and not again before it was read empty.
//! So readiness is kept here: a socket stays in the queue until whoever serves it says that it was
//! emptied. The same queue takes sockets that are due by the clock.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::io;
use std::mem;
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpListener, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use tickwire_session::Instant;

use crate::closing::Closing;
use crate::stream::Stream;
use crate::{limits, sys};

#[derive(Debug)]
pub(crate) struct Sockets {
    poll: Poll,
    events: Events,
    entries: Slab<Entry>,
    ready: VecDeque<Token>,
    timers: BinaryHeap<Reverse<(Instant, Token)>>,
    /// How many streams each node has, those that are closing included.
    connections: BTreeMap<usize, usize>,
    /// Closing streams by node and deadline.
    closing: BTreeSet<(usize, Instant, Token)>,
}

#[derive(Debug)]
struct Entry {
    socket: Socket,
    /// It is in the ready queue.
    queued: bool,
    /// The system has an error to tell of it, which is not read with its datagrams.
    failed: bool,
    /// It is among the timers, at this moment; others there were for a socket before it.
    timer: Option<Instant>,
    /// Of a datagram socket: it was full, and is watched until it takes something again.
    full: bool,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Datagrams {
        node: usize,
        udp: UdpSocket,
    },
    /// Of a QUIC endpoint.
    Quic {
        endpoint: usize,
        udp: UdpSocket,
    },
    Listener {
        node: usize,
        tcp: TcpListener,
    },
    Stream(Stream),
    Closing(Closing),
}

impl Sockets {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(limits::EVENTS_A_TURN),
            entries: Slab::new(),
            ready: VecDeque::new(),
            timers: BinaryHeap::new(),
            connections: BTreeMap::new(),
            closing: BTreeSet::new(),
        })
    }

    /// Streams of a node, those that are closing included.
    pub(crate) fn connections(&self, node: usize) -> usize {
        self.connections.get(&node).copied().unwrap_or(0)
    }

    pub(crate) fn closing(&self) -> usize {
        self.closing.len()
    }

    pub(crate) fn insert(&mut self, mut socket: Socket) -> io::Result<Token> {
        let token = Token(self.entries.vacant_key());
        let (source, interest) = socket.source();
        self.poll.registry().register(source, token, interest)?;
        if let Some(node) = socket.owner() {
            *self.connections.entry(node).or_default() += 1;
        }
        if let Socket::Closing(closing) = &socket {
            let (node, deadline) = (closing.node(), closing.deadline());
            self.closing.insert((node, deadline, token));
        }
        self.entries.insert(Entry {
            socket,
            queued: false,
            failed: false,
            timer: None,
            full: false,
        });
        Ok(token)
    }

    pub(crate) fn get(&self, token: Token) -> Option<&Socket> {
        Some(&self.entries.get(token.0)?.socket)
    }

    pub(crate) fn get_mut(&mut self, token: Token) -> Option<&mut Socket> {
        Some(&mut self.entries.get_mut(token.0)?.socket)
    }

    pub(crate) fn stream_mut(&mut self, token: Token) -> Option<&mut Stream> {
        match self.get_mut(token)? {
            Socket::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, token: Token) -> Option<Socket> {
        let mut socket = self.entries.try_remove(token.0)?.socket;
        if let Some(node) = socket.owner()
            && let Some(count) = self.connections.get_mut(&node)
        {
            *count -= 1;
        }
        if let Socket::Closing(closing) = &socket {
            let (node, deadline) = (closing.node(), closing.deadline());
            self.closing.remove(&(node, deadline, token));
        }
        // Dropping the socket would end the registration as well, on most systems.
        self.poll.registry().deregister(socket.source().0).ok();
        Some(socket)
    }

    /// Lets a stream end without its session.
    pub(crate) fn close_gracefully(&mut self, now: Instant, token: Token) {
        let Some(Socket::Stream(stream)) = self.remove(token) else {
            return;
        };
        let Some(closing) = stream.finish(now) else {
            return;
        };
        let deadline = closing.deadline();
        // What cannot be watched is closed by being dropped: the kernel sends what it has.
        if let Ok(token) = self.insert(Socket::Closing(closing)) {
            self.mark(token);
            self.wake_at(deadline, token);
        }
    }

    /// Closes at once the stream of a node that has been closing for longest; returns whether there
    /// was one.
    pub(crate) fn drop_oldest_closing(&mut self, node: usize) -> bool {
        let range = (node, Instant::ZERO, Token(0))..(node + 1, Instant::ZERO, Token(0));
        let oldest = self.closing.range(range).next().copied();
        oldest.is_some_and(|(_, _, token)| self.remove(token).is_some())
    }

    /// A datagram socket took nothing: it is watched until it does.
    pub(crate) fn watch_full(&mut self, token: Token) {
        self.set_full(token, true);
    }

    /// Whether a datagram socket that was full was reported as ready; it counts as such no more.
    pub(crate) fn take_full(&mut self, token: Token) -> bool {
        self.set_full(token, false)
    }

    /// Returns what it was before. Nobody waits for a socket that is not full: each datagram that
    /// leaves would wake the driver.
    fn set_full(&mut self, token: Token, full: bool) -> bool {
        let Some(entry) = self.entries.get_mut(token.0) else {
            return false;
        };
        let before = mem::replace(&mut entry.full, full);
        if before != full
            && let Socket::Datagrams { udp, .. } = &mut entry.socket
        {
            let interest = if full { BOTH } else { Interest::READABLE };
            // A socket that cannot be watched stays full until it is closed; nothing is sent to
            // those it could not send to, which is what they would get anyway.
            self.poll.registry().reregister(udp, token, interest).ok();
        }
        before
    }

    /// Puts a socket into the queue of those to serve.
    pub(crate) fn mark(&mut self, token: Token) {
        if let Some(entry) = self.entries.get_mut(token.0) {
            entry.mark(token, &mut self.ready);
        }
    }

    /// How many sockets are to be served, those included that were closed since they were marked.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The next socket to serve. One may be named that was meanwhile replaced: reading from a socket
    /// that is not ready does no harm.
    pub(crate) fn take_ready(&mut self) -> Option<Token> {
        let token = self.ready.pop_front()?;
        if let Some(entry) = self.entries.get_mut(token.0) {
            entry.queued = false;
        }
        Some(token)
    }

    /// Whether an error is to be read; it is not, from now on.
    pub(crate) fn take_failed(&mut self, token: Token) -> bool {
        let entry = self.entries.get_mut(token.0);
        entry.is_some_and(|entry| mem::take(&mut entry.failed))
    }

    /// There is another error to read.
    pub(crate) fn set_failed(&mut self, token: Token) {
        if let Some(entry) = self.entries.get_mut(token.0) {
            entry.failed = true;
        }
    }

    /// Marks a socket at `moment`, whatever happens before. One moment at a time: an earlier one
    /// stands.
    pub(crate) fn wake_at(&mut self, moment: Instant, token: Token) {
        if let Some(entry) = self.entries.get_mut(token.0)
            && entry.timer.is_none_or(|earlier| moment < earlier)
        {
            entry.timer = Some(moment);
            self.timers.push(Reverse((moment, token)));
        }
    }

    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timers.peek().map(|&Reverse((moment, _))| moment)
    }

    pub(crate) fn fire_timers(&mut self, now: Instant) {
        while let Some(&Reverse((moment, token))) = self.timers.peek()
            && moment <= now
        {
            self.timers.pop();
            if let Some(entry) = self.entries.get_mut(token.0)
                && entry.timer == Some(moment)
            {
                entry.timer = None;
                entry.mark(token, &mut self.ready);
            }
        }
    }

    /// Waits until a socket is ready, at most for `longest`, and not for the last part of a
    /// millisecond where the system cannot.
    pub(crate) fn poll(&mut self, longest: Duration) -> io::Result<()> {
        match sys::poll(&mut self.poll, &mut self.events, longest) {
            Ok(()) => {}
            // A signal: the caller may want to look at what it asked for.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        for event in &self.events {
            let token = event.token();
            let Some(entry) = self.entries.get_mut(token.0) else {
                continue;
            };
            if let Socket::Stream(stream) = &mut entry.socket {
                stream.readable |=
                    event.is_readable() || event.is_read_closed() || event.is_error();
            }
            entry.failed |= event.is_error();
            entry.mark(token, &mut self.ready);
        }
        Ok(())
    }
}

impl Entry {
    fn mark(&mut self, token: Token, ready: &mut VecDeque<Token>) {
        if !self.queued {
            self.queued = true;
            ready.push_back(token);
        }
    }
}

impl Socket {
    /// What to register, and for what.
    fn source(&mut self) -> (&mut dyn Source, Interest) {
        match self {
            // Nobody waits until a datagram can be sent: one that cannot is dropped.
            Self::Datagrams { udp, .. } | Self::Quic { udp, .. } => (udp, Interest::READABLE),
            Self::Listener { tcp, .. } => (tcp, Interest::READABLE),
            Self::Stream(stream) => (stream.source(), BOTH),
            Self::Closing(closing) => (closing.source(), BOTH),
        }
    }

    /// The node in whose share of connections it counts.
    const fn owner(&self) -> Option<usize> {
        match self {
            Self::Stream(stream) => Some(stream.end().node),
            Self::Closing(closing) => Some(closing.node()),
            Self::Datagrams { .. } | Self::Quic { .. } | Self::Listener { .. } => None,
        }
    }

    /// What moves datagrams.
    pub(crate) const fn packets(&self) -> Option<&UdpSocket> {
        match self {
            Self::Datagrams { udp, .. } | Self::Quic { udp, .. } => Some(udp),
            Self::Listener { .. } | Self::Stream(_) | Self::Closing(_) => None,
        }
    }
}

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);
