//! Carrying out what a session orders: the results of `poll_transmit`, one by one.
//!
//! Nothing here calls a session, which is being drained at the time. What it must hear of an order
//! (a pipe that opened, a peer that cannot be dialled) goes to its inbox and is handed in with the
//! next input.

use std::io;
use std::net::{IpAddr, SocketAddr};

use mio::Token;
use tickwire_session::{Addr, Ended, Host, Instant, Path, Room, StreamId, Transmit};

use super::Driver;
use crate::bind::client_socket;
use crate::limits::DATAGRAM_LARGEST;
use crate::node::{Carrier, End};
use crate::outgoing::{Route, datagrams};
use crate::pipe::{self, link_addr};
use crate::sockets::Socket;
use crate::stream::{Overdrawn, Stream, dial_failure};

impl Driver {
    /// Carries out one order of a node's session, whose bytes are the fresh ones of `outgoing`.
    pub(super) fn carry_out(&mut self, now: Instant, node: usize, transmit: Transmit) {
        match transmit {
            Transmit::Datagram { to } => self.send_datagrams(now, node, to, None),
            Transmit::Segments { to, size } => {
                self.send_datagrams(now, node, to, Some(size.max(1)));
            }
            Transmit::Stream { on } => self.send_stream(End { node, on }),
            Transmit::Dial { on, to } => self.dial(End { node, on }, to),
            Transmit::Finish { on } => match self.take_stream(node, on) {
                Some(Carrier::Socket(token)) => self.sockets.close_gracefully(now, token),
                Some(Carrier::Pipe(pipe)) => pipe::end(&mut self.nodes, &pipe, Ended::Finished),
                Some(Carrier::Quic { link, id }) => self.finish_quic(link, id, on),
                Some(Carrier::Ended) | None => {}
            },
            Transmit::Abort { on } => {
                if let Some(carrier) = self.take_stream(node, on) {
                    self.cut(on, carrier);
                }
            }
            Transmit::Unlink { link } => {
                if !self.unlink_quic(now, node, link)
                    && !pipe::unlink(&mut self.nodes, &mut self.links, link, node)
                {
                    self.counters.orders_stray += 1;
                }
            }
        }
    }

    /// Sends the fresh bytes as one datagram, or as several of `segment` bytes.
    fn send_datagrams(&mut self, now: Instant, node: usize, to: Addr, segment: Option<u16>) {
        let ip = match to.host {
            Host::Ip(ip) => ip,
            Host::Link(link) => {
                let sent = self.send_quic_datagrams(now, node, link, segment);
                return sent.unwrap_or_else(|| self.send_link_datagrams(node, link, segment));
            }
        };
        let socket = self.socket_towards(node, ip);
        let Some(node) = self.nodes.get_mut(node) else {
            return;
        };
        let Ok(socket) = socket else {
            self.counters.datagrams_unsendable += 1;
            node.inbox.set_room(to, Room::CLOSED);
            return;
        };
        let to = node.destination((ip, to.port).into());
        let from = node.asked.as_ref().and_then(|asked| asked.get(to));
        let route = Route { socket, to, from };
        self.outgoing
            .stage(&route, segment, &self.sockets, &mut self.counters);
    }

    /// The node's socket for one family of addresses; a client's is made here.
    fn socket_towards(&mut self, id: usize, to: IpAddr) -> io::Result<Token> {
        let node = self.nodes.get_mut(id).ok_or(io::ErrorKind::NotFound)?;
        if let Some(token) = node.datagrams(to) {
            return Ok(token);
        }
        if !node.roams {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        let token = self.sockets.insert(Socket::Datagrams {
            node: id,
            udp: client_socket(to)?,
        })?;
        match to {
            IpAddr::V4(_) => node.v4 = Some(token),
            IpAddr::V6(_) => node.v6 = Some(token),
        }
        Ok(token)
    }

    fn send_link_datagrams(&mut self, node: usize, link: u64, segment: Option<u16>) {
        let far = self.links.far(link, node);
        let Some(far) = far.and_then(|far| self.nodes.get_mut(far)) else {
            self.counters.datagrams_unsendable += 1;
            return;
        };
        if !far.carries.datagrams() {
            self.counters.datagrams_unsendable += 1;
            if let Some(near) = self.nodes.get_mut(node) {
                near.inbox.set_room(link_addr(link), Room::CLOSED);
            }
            return;
        }
        let fresh = self.outgoing.fresh();
        let mut is_full = false;
        for range in datagrams(fresh.len(), segment.map_or(usize::MAX, usize::from)) {
            // A socket at the other end would drop it; a link does not hide that.
            if range.len() > DATAGRAM_LARGEST {
                self.counters.datagrams_oversize += 1;
                continue;
            }
            match far.inbox.push_datagram(link_addr(link), &fresh[range]) {
                Ok(()) => self.counters.datagrams_linked += 1,
                Err(_) => {
                    self.counters.datagrams_overrun += 1;
                    is_full = true;
                }
            }
        }
        if is_full && let Some(near) = self.nodes.get_mut(node) {
            near.report_full(link_addr(link));
        }
    }

    fn send_stream(&mut self, near: End) {
        let Some(node) = self.nodes.get(near.node) else {
            return;
        };
        let bytes = self.outgoing.fresh();
        let sent = match node.streams.get(&near.on) {
            Some(&Carrier::Socket(token)) => {
                // The session is told of the room that is left with the next input.
                self.sockets.mark(token);
                match self.sockets.stream_mut(token) {
                    Some(stream) => stream.send(bytes, &mut self.counters),
                    None => Ok(()),
                }
            }
            Some(Carrier::Pipe(_)) => pipe::send(&mut self.nodes, near, bytes),
            Some(&Carrier::Quic { link, id }) => match (self.quic.find(link), id) {
                (Some(key), Some(id)) => {
                    // It is sent with everything else, and then the session hears of the room left.
                    self.quic.send_later(key);
                    self.quic.touch(key);
                    let link = self.quic.link_mut(key);
                    link.map_or(Ok(()), |link| {
                        link.send_stream(id, bytes, &mut self.counters)
                    })
                }
                _ => Ok(()),
            },
            Some(Carrier::Ended) | None => {
                self.counters.orders_stray += 1;
                Ok(())
            }
        };
        if let Err(Overdrawn) = sent {
            self.counters.streams_overdrawn += 1;
            if let Some(carrier) = self.take_stream(near.node, near.on) {
                self.cut(near.on, carrier);
            }
            self.announce_end(near, Ended::Reset);
        }
    }

    fn dial(&mut self, near: End, to: Addr) {
        let Some(node) = self.nodes.get(near.node) else {
            return;
        };
        if node.streams.contains_key(&near.on) || matches!(near.on, StreamId::Accepted(_)) {
            self.counters.orders_stray += 1;
            return;
        }
        let dialled = match to.host {
            Host::Ip(ip) => self.dial_socket(near, (ip, to.port).into()),
            Host::Link(link) => match self.links.far(link, near.node) {
                Some(far) => pipe::dial(&mut self.nodes, near, far, link),
                None => self.dial_quic(near, link),
            },
        };
        if let Err(why) = dialled {
            self.announce_end(near, why);
        }
    }

    fn dial_socket(&mut self, near: End, to: SocketAddr) -> Result<(), Ended> {
        let token = Stream::dial(to, near)
            .and_then(|stream| self.sockets.insert(Socket::Stream(stream)))
            .map_err(|error| dial_failure(&error))?;
        if let Some(node) = self.nodes.get_mut(near.node) {
            node.streams.insert(near.on, Carrier::Socket(token));
        }
        Ok(())
    }

    fn dial_quic(&mut self, near: End, link: u64) -> Result<(), Ended> {
        let key = self.owned_link(near.node, link);
        let key = key.or_else(|| self.reopen_link(near.node, link));
        let key = key.ok_or(Ended::Unreachable)?;
        let connection = self.quic.link_mut(key).ok_or(Ended::Unreachable)?;
        connection.dial(near.on)?;
        // It is opened, and its session told, with the next input.
        self.quic.touch(key);
        if let Some(node) = self.nodes.get_mut(near.node) {
            let dialling = Carrier::Quic { link, id: None };
            node.streams.insert(near.on, dialling);
        }
        Ok(())
    }

    fn finish_quic(&mut self, link: u64, id: Option<quinn_proto::StreamId>, on: StreamId) {
        if let Some(key) = self.quic.find(link)
            && let Some(link) = self.quic.link_mut(key)
        {
            link.finish(id, on, &mut self.counters);
            self.quic.send_later(key);
        }
    }

    /// Takes a stream away from its session, which asked for it.
    fn take_stream(&mut self, node: usize, on: StreamId) -> Option<Carrier> {
        let carrier = self.nodes.get_mut(node)?.streams.remove(&on);
        if carrier.is_none() {
            self.counters.orders_stray += 1;
        }
        carrier
    }

    /// Leaves word for a session that a stream of its own has ended.
    fn announce_end(&mut self, near: End, why: Ended) {
        if let Some(node) = self.nodes.get_mut(near.node) {
            node.streams.insert(near.on, Carrier::Ended);
            node.inbox.push_closed(Path::Stream(near.on), why);
        }
    }
}
