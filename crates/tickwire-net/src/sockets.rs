//! The sockets of all nodes, and which of them are ready.
//!
//! The system reports a socket once, when it becomes ready, and not again before it was read empty.
//! So readiness is kept here: a socket stays in the queue until whoever serves it says that it was
//! emptied. The same queue takes sockets that are due by the clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::mem;
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpListener, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use tickwire_session::Instant;

use crate::farewell::Farewell;
use crate::slots::Slots;
use crate::stream::Stream;
use crate::{limits, sys};

#[derive(Debug)]
pub(crate) struct Sockets {
    poll: Poll,
    events: Events,
    entries: Slots<Entry>,
    ready: VecDeque<Token>,
    alarms: BinaryHeap<Reverse<(Instant, Token)>>,
    /// Streams and farewells.
    connections: usize,
    farewells: usize,
}

#[derive(Debug)]
struct Entry {
    socket: Socket,
    /// It is in the ready queue.
    queued: bool,
    /// The system has an error to tell of it, which is not read with its datagrams.
    failed: bool,
    /// It is among the alarms, at this moment; others there were for a socket before it.
    alarm: Option<Instant>,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Datagrams { node: usize, udp: UdpSocket },
    Listener { node: usize, tcp: TcpListener },
    Stream(Stream),
    Farewell(Farewell),
}

impl Sockets {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(limits::EVENTS_A_TURN),
            entries: Slots::new(),
            ready: VecDeque::new(),
            alarms: BinaryHeap::new(),
            connections: 0,
            farewells: 0,
        })
    }

    pub(crate) const fn connections(&self) -> usize {
        self.connections
    }

    pub(crate) const fn farewells(&self) -> usize {
        self.farewells
    }

    pub(crate) fn insert(&mut self, mut socket: Socket) -> io::Result<Token> {
        let token = Token(self.entries.vacant());
        let (source, interest) = socket.source();
        self.poll.registry().register(source, token, interest)?;
        self.count(&socket, 1);
        self.entries.insert(Entry {
            socket,
            queued: false,
            failed: false,
            alarm: None,
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
        let mut socket = self.entries.remove(token.0)?.socket;
        self.count(&socket, -1);
        // Dropping the socket would end the registration as well, on most systems.
        self.poll.registry().deregister(socket.source().0).ok();
        Some(socket)
    }

    fn count(&mut self, socket: &Socket, by: isize) {
        let farewell = matches!(socket, Socket::Farewell(_));
        if farewell || matches!(socket, Socket::Stream(_)) {
            self.connections = self.connections.saturating_add_signed(by);
        }
        if farewell {
            self.farewells = self.farewells.saturating_add_signed(by);
        }
    }

    /// Lets a stream end without its session.
    pub(crate) fn bid_farewell(&mut self, now: Instant, token: Token) {
        let Some(Socket::Stream(stream)) = self.remove(token) else {
            return;
        };
        let Some(farewell) = stream.finish(now) else {
            return;
        };
        let deadline = farewell.deadline();
        // What cannot be watched is closed by being dropped: the kernel sends what it has.
        if let Ok(token) = self.insert(Socket::Farewell(farewell)) {
            self.mark(token);
            self.wake_at(deadline, token);
        }
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
            && entry.alarm.is_none_or(|earlier| moment < earlier)
        {
            entry.alarm = Some(moment);
            self.alarms.push(Reverse((moment, token)));
        }
    }

    pub(crate) fn next_alarm(&self) -> Option<Instant> {
        self.alarms.peek().map(|&Reverse((moment, _))| moment)
    }

    pub(crate) fn ring_alarms(&mut self, now: Instant) {
        while let Some(&Reverse((moment, token))) = self.alarms.peek()
            && moment <= now
        {
            self.alarms.pop();
            if let Some(entry) = self.entries.get_mut(token.0)
                && entry.alarm == Some(moment)
            {
                entry.alarm = None;
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
            Self::Datagrams { udp, .. } => (udp, Interest::READABLE),
            Self::Listener { tcp, .. } => (tcp, Interest::READABLE),
            Self::Stream(stream) => (stream.source(), CONNECTION),
            Self::Farewell(farewell) => (farewell.source(), CONNECTION),
        }
    }
}

const CONNECTION: Interest = Interest::READABLE.add(Interest::WRITABLE);
