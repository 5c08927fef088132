//! Serving one socket that is ready: reading what a turn may read, and handing it in.
//!
//! A socket that still has something goes back to the end of the queue, so that the others come
//! first, and the next turn does not wait.

use std::io;
use std::net::{IpAddr, SocketAddr};

use mio::Token;
use mio::net::TcpStream;
use tickwire_session::{Addr, Ended, Host, Instant, Path, Room, Session};

use super::{Driver, session_at};
use crate::closing::Progress;
use crate::limits::{
    ACCEPT_REST, ACCEPTS_A_TURN, CONNECTIONS, DATAGRAMS_A_TURN, FAILURES_A_TURN, FILES_RESERVED,
};
use crate::node::{Carrier, End, Node};
use crate::sockets::Socket;
use crate::stream::{Outcome, Stream};
use crate::sys::{self, Failure, Received};

impl Driver {
    /// Serves a socket that is ready, until there is nothing more or the deadline has come.
    pub(super) fn serve(
        &mut self,
        now: Instant,
        deadline: Instant,
        token: Token,
        sessions: &mut [&mut dyn Session],
    ) {
        let more = match self.sockets.get_mut(token) {
            None => false,
            Some(&mut Socket::Datagrams { node, .. }) => {
                self.mark_dirty(node);
                let session = session_at(sessions, node);
                self.report_failures(now, token, session);
                self.report_room_again(now, token, node, session);
                self.receive(now, deadline, token, node, session)
            }
            Some(&mut Socket::Quic { endpoint, .. }) => {
                self.receive_packets(now, deadline, token, endpoint)
            }
            Some(&mut Socket::Listener { node, .. }) => self.accept(now, token, node),
            Some(Socket::Stream(stream)) => {
                let end = stream.end();
                let session = session_at(sessions, end.node);
                let outcome = stream.hand_in(now, session, &mut self.scratch, &mut self.counters);
                self.mark_dirty(end.node);
                if matches!(outcome, Outcome::Finished | Outcome::Gone)
                    && let Some(node) = self.nodes.get_mut(end.node)
                {
                    node.streams.remove(&end.on);
                }
                match outcome {
                    Outcome::Finished => self.sockets.close_gracefully(now, token),
                    Outcome::Gone => drop(self.sockets.remove(token)),
                    Outcome::Held => self.held.push(token),
                    Outcome::More | Outcome::Waits => {}
                }
                outcome == Outcome::More
            }
            Some(Socket::Closing(closing)) => {
                let progress = closing.advance(now, &mut self.scratch);
                if progress == Progress::Over {
                    self.sockets.remove(token);
                }
                progress == Progress::More
            }
        };
        if more {
            self.sockets.mark(token);
        }
    }

    /// A node's session is being handed something, and may have something to say.
    fn mark_dirty(&mut self, node: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.dirty = true;
        }
    }

    /// Tells a client's session where nobody listens, and what a path does not take. Whether that ends
    /// anything is for the session to say: whoever sees a datagram on its way can forge such an answer
    /// to it.
    fn report_failures(&mut self, now: Instant, token: Token, session: &mut dyn Session) {
        if !self.sockets.take_failed(token) {
            return;
        }
        let Some(Socket::Datagrams { udp, .. }) = self.sockets.get(token) else {
            return;
        };
        for _ in 0..FAILURES_A_TURN {
            // Nothing more to tell; whatever else is wrong shows in what follows.
            let Ok(failure) = sys::take_error(udp) else {
                return;
            };
            self.counters.receive_errors += 1;
            match failure {
                Failure::Refused(to) => {
                    session.handle_closed(now, Path::Datagrams(to.into()), Ended::Refused);
                }
                Failure::TooLong { to, mtu } => {
                    session.handle_room(now, Path::Datagrams(to.into()), path_room(to.ip(), mtu));
                }
                Failure::Other => {}
            }
        }
        self.sockets.set_failed(token);
        self.sockets.mark(token);
    }

    /// A socket that was full takes datagrams again: its session hears of every path that it was told
    /// takes none.
    fn report_room_again(
        &mut self,
        now: Instant,
        token: Token,
        node: usize,
        session: &mut dyn Session,
    ) {
        if !self.sockets.take_full(token) {
            return;
        }
        let Some(node) = self.nodes.get_mut(node) else {
            return;
        };
        let is_ip = |path: &Addr| matches!(path.host, Host::Ip(_));
        for path in node.full_paths.extract_if(.., is_ip) {
            session.handle_room(now, Path::Datagrams(path), Room::DATAGRAMS);
        }
    }

    /// Hands in datagrams; returns whether there may be more.
    fn receive(
        &mut self,
        now: Instant,
        deadline: Instant,
        token: Token,
        node: usize,
        session: &mut dyn Session,
    ) -> bool {
        let mut left = DATAGRAMS_A_TURN;
        while left > 0 {
            let Some(rest) = self.read_batch(token, left) else {
                return false;
            };
            left = rest;
            let node = self.nodes.get_mut(node);
            let mut asked = node.and_then(|node| node.asked.as_mut());
            for Received {
                from,
                asked: at,
                bytes,
            } in self.arrivals.iter()
            {
                if let (Some(asked), Some(at)) = (&mut asked, at) {
                    asked.insert(from, at);
                }
                match bytes {
                    Ok(bytes) => {
                        self.counters.datagrams_received += 1;
                        session.handle_datagram(now, from.into(), bytes);
                    }
                    Err(_) => self.counters.datagrams_oversize += 1,
                }
            }
            if self.now() >= deadline {
                return true;
            }
        }
        true
    }

    /// Reads a batch of at most `left` datagrams; returns how many more may be read, and nothing if none
    /// is there.
    pub(super) fn read_batch(&mut self, token: Token, left: usize) -> Option<usize> {
        let udp = self.sockets.get(token).and_then(Socket::packets)?;
        match self.arrivals.receive(udp, left) {
            Ok(count) => Some(left - count),
            Err(error) => {
                match error.kind() {
                    io::ErrorKind::WouldBlock => return None,
                    io::ErrorKind::Interrupted => {}
                    // An unreachable peer's answer to something sent earlier. The socket is fine, but
                    // a storm of these counts against the turn, too.
                    _ => self.counters.receive_errors += 1,
                }
                Some(left - 1)
            }
        }
    }

    /// Accepts connections; returns whether there may be more.
    fn accept(&mut self, now: Instant, token: Token, node: usize) -> bool {
        let share = self.connections_share();
        for _ in 0..ACCEPTS_A_TURN {
            let Some(Socket::Listener { tcp, .. }) = self.sockets.get(token) else {
                return false;
            };
            match tcp.accept() {
                // A stream that only waits for its peer to close gives way first. Dropping the new
                // one closes it.
                Ok(_)
                    if self.sockets.connections(node) >= share
                        && !self.sockets.drop_oldest_closing(node) =>
                {
                    self.counters.connections_refused += 1;
                }
                Ok((tcp, from)) => self.welcome(node, tcp, from),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return false,
                    // The caller has hung up meanwhile.
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    _ => {
                        self.counters.accept_errors += 1;
                        self.sockets.wake_at(now + ACCEPT_REST, token);
                        return false;
                    }
                },
            }
        }
        true
    }

    /// How many connections each server may have.
    fn connections_share(&self) -> usize {
        let listens = |(_, node): &(usize, &Node)| node.listener.is_some();
        let listeners = self.nodes.iter().filter(listens).count();
        let files = self.files.saturating_sub(FILES_RESERVED);
        CONNECTIONS.min(files / listeners.max(1))
    }

    fn welcome(&mut self, id: usize, tcp: TcpStream, from: SocketAddr) {
        let Some(node) = self.nodes.get_mut(id) else {
            return;
        };
        let on = node.number_accepted();
        let stream = Stream::new(tcp, from, End { node: id, on });
        let Ok(token) = self.sockets.insert(Socket::Stream(stream)) else {
            self.counters.accept_errors += 1;
            return;
        };
        self.counters.connections_accepted += 1;
        node.streams.insert(on, Carrier::Socket(token));
        // Its session hears of it when everything that was ready before has been served.
        self.sockets.mark(token);
    }
}

/// What a path takes whose packets may have `mtu` bytes, headers included.
pub(super) fn path_room(to: IpAddr, mtu: u32) -> Room {
    let headers = match to {
        IpAddr::V4(_) => 28,
        IpAddr::V6(_) => 48,
    };
    let largest = u16::try_from(mtu.saturating_sub(headers)).unwrap_or(u16::MAX);
    Room {
        largest: largest.min(Room::DATAGRAMS.largest),
        ..Room::DATAGRAMS
    }
}
