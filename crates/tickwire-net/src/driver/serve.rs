//! Serving one socket that is ready: reading what a turn may read, and handing it in.
//!
//! A socket that still has something goes back to the end of the queue, so that the others come
//! first, and the next turn does not wait.

use std::io;
use std::net::SocketAddr;

use mio::Token;
use mio::net::TcpStream;
use tickwire_session::{Ended, Instant, Path, Session};

use super::{Driver, lent};
use crate::farewell::Parting;
use crate::limits::{ACCEPT_REST, ACCEPTS_A_TURN, CONNECTIONS, DATAGRAMS_A_TURN, REFUSALS_A_TURN};
use crate::node::{Carrier, End};
use crate::sockets::Socket;
use crate::stream::{Outcome, Stream};
use crate::sys;

impl Driver {
    /// Serves a socket that is ready, until there is nothing more or the moment `enough` has come.
    pub(super) fn serve(
        &mut self,
        now: Instant,
        enough: Instant,
        token: Token,
        sessions: &mut [&mut dyn Session],
    ) {
        let more = match self.sockets.get_mut(token) {
            None => false,
            Some(&mut Socket::Datagrams { node, .. }) => {
                self.stir(node);
                let session = lent(sessions, node);
                self.report_refusals(now, token, session);
                self.receive(now, enough, token, session)
            }
            Some(&mut Socket::Listener { node, .. }) => self.accept(now, token, node),
            Some(Socket::Stream(stream)) => {
                let end = stream.end();
                let session = lent(sessions, end.node);
                let outcome = stream.hand_in(now, session, &mut self.scratch, &mut self.counters);
                self.stir(end.node);
                if matches!(outcome, Outcome::Finished | Outcome::Gone)
                    && let Some(node) = self.nodes.get_mut(end.node)
                {
                    node.streams.remove(&end.on);
                }
                match outcome {
                    Outcome::Finished => self.sockets.bid_farewell(now, token),
                    Outcome::Gone => drop(self.sockets.remove(token)),
                    Outcome::More | Outcome::Waits => {}
                }
                outcome == Outcome::More
            }
            Some(Socket::Farewell(farewell)) => {
                let parting = farewell.go_on(now, &mut self.scratch);
                if parting == Parting::Over {
                    self.sockets.remove(token);
                }
                parting == Parting::More
            }
        };
        if more {
            self.sockets.mark(token);
        }
    }

    /// Notes that a node's session is being handed something.
    fn stir(&mut self, node: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.stirred = true;
        }
    }

    /// Tells a client's session at which addresses nobody listens. Whether that ends anything is for
    /// the session to say: whoever sees a datagram on its way can forge such an answer to it.
    fn report_refusals(&mut self, now: Instant, token: Token, session: &mut dyn Session) {
        if !self.sockets.take_failed(token) {
            return;
        }
        let Some(Socket::Datagrams { udp, .. }) = self.sockets.get(token) else {
            return;
        };
        for _ in 0..REFUSALS_A_TURN {
            match sys::take_error(udp) {
                Ok(Some(to)) => {
                    self.counters.receive_errors += 1;
                    session.handle_closed(now, Path::Datagrams(to.into()), Ended::Refused);
                }
                Ok(None) => self.counters.receive_errors += 1,
                // Nothing more to tell; whatever else is wrong shows in what follows.
                Err(_) => return,
            }
        }
        self.sockets.set_failed(token);
        self.sockets.mark(token);
    }

    /// Hands in datagrams; returns whether there may be more.
    fn receive(
        &mut self,
        now: Instant,
        enough: Instant,
        token: Token,
        session: &mut dyn Session,
    ) -> bool {
        let Some(Socket::Datagrams { udp, .. }) = self.sockets.get(token) else {
            return false;
        };
        let mut left = DATAGRAMS_A_TURN;
        while left > 0 {
            match self.arrivals.receive(udp, left) {
                Ok(count) => left -= count,
                Err(error) => {
                    match error.kind() {
                        io::ErrorKind::WouldBlock => return false,
                        io::ErrorKind::Interrupted => {}
                        // An unreachable peer's answer to something sent earlier. The socket is
                        // fine, but a storm of these counts against the turn, too.
                        _ => self.counters.receive_errors += 1,
                    }
                    left -= 1;
                }
            }
            for (from, datagram) in self.arrivals.iter() {
                match datagram {
                    Ok(bytes) => {
                        self.counters.datagrams_received += 1;
                        session.handle_datagram(now, from.into(), bytes);
                    }
                    Err(_) => self.counters.datagrams_oversize += 1,
                }
            }
            if self.now() >= enough {
                return true;
            }
        }
        true
    }

    /// Accepts connections; returns whether there may be more.
    fn accept(&mut self, now: Instant, token: Token, node: usize) -> bool {
        for _ in 0..ACCEPTS_A_TURN {
            let Some(Socket::Listener { tcp, .. }) = self.sockets.get(token) else {
                return false;
            };
            match tcp.accept() {
                // Dropping it closes it.
                Ok(_) if self.sockets.connections() >= CONNECTIONS => {
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
