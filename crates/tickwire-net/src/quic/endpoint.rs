//! A UDP socket's QUIC connections, and how strangers become links.
//!
//! In: datagrams. Out: which connection each belongs to, answers to those that belong to none, and, for
//! a server, whom to let in: a peer has done the handshake, asked for a protocol that is served, and
//! brought a ticket that is good, before any session hears of it.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time;

use bytes::BytesMut;
use mio::Token;
use quinn_proto::crypto::rustls::HandshakeData;
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Endpoint as Machine, EndpointConfig, ServerConfig, Transmit,
    VarInt,
};
use ring::hmac;
use tickwire_session::{Addr, Host, Instant, Waiting};
use tracing::{debug, info};

use super::config::{server_transport, window};
use super::congestion::Flight;
use super::door::{Answer, Door, FirstPacket, Reading};
use super::failure::code;
use super::link::{Link, Origin, Stage};
use super::share::Shares;
use super::status::Status;
use super::{Client, Identity, IdentityError, Server, TicketError};
use crate::limits::{BANNED, CONNECT_PATIENCE, HALF_OPEN, HANDSHAKE_PATIENCE, LINK_RECEIVE_WINDOW};
use crate::{Counters, NodeId};

pub(crate) struct Endpoint {
    machine: Machine,
    pub(crate) socket: Token,
    /// The node whose socket that is; its own if there is none.
    pub(crate) borrows: Option<NodeId>,
    redirect: Option<Redirect>,
    /// By the number that `quinn-proto` gave them.
    links: Vec<Option<Box<Link>>>,
    /// What a server has besides.
    listening: Option<Box<Listening>>,
    /// Where datagrams are copied to: `quinn-proto` keeps parts of them.
    buffer: BytesMut,
}

struct Listening {
    server: Server,
    config: ServerConfig,
    door: Door,
    status: Status,
    /// Nobody reads what comes from there.
    banned: BTreeSet<IpAddr>,
    /// Connections that were not let in yet.
    half_open: Waiting<usize>,
    shares: Shares,
    /// Connections of all kinds.
    links: usize,
}

/// Where a client's packets really go.
#[derive(Clone, Copy, Debug)]
struct Redirect {
    /// The address that its connections were made to, and believe in.
    believed: SocketAddr,
    actual: SocketAddr,
}

/// What a datagram brought.
#[derive(Debug)]
pub(crate) enum Received {
    Nothing,
    /// Something for this connection.
    Connection(usize),
    /// An answer, which was written to the buffer.
    Answer(Transmit),
}

/// Who ended a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EndedBy {
    Session,
    Peer,
}

/// How far a peer is that was not let in.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It has not shown everything yet, or was let in before.
    Waits,
    /// It may talk to the session of this node.
    Granted(NodeId),
    /// It was told to go.
    Refused,
}

impl Endpoint {
    pub(crate) fn listen(now: Instant, server: Server, mtu: bool) -> Result<Self, IdentityError> {
        let config = server.config()?;
        let endpoint = Arc::new(server.endpoint_config());
        let accepting = Some(Arc::new(config.clone()));
        let shares = Shares::new(server.links_per_address);
        let door = Door::new(now, server.ids());
        Ok(Self {
            machine: Machine::new(endpoint, accepting, mtu, None),
            socket: Token(0),
            borrows: None,
            redirect: None,
            links: Vec::new(),
            listening: Some(Box::new(Listening {
                server,
                config,
                door,
                status: Status::new(now),
                banned: BTreeSet::new(),
                half_open: Waiting::new(HALF_OPEN),
                shares,
                links: 0,
            })),
            buffer: BytesMut::new(),
        })
    }

    /// A client's, with its one connection, whose number is returned.
    pub(crate) fn connect(
        origin: Origin,
        wall: time::Instant,
        client: Client,
        mtu: bool,
    ) -> io::Result<(Self, usize)> {
        let reset = hmac::Key::new(hmac::HMAC_SHA256, &crate::secret()?);
        let mut config = EndpointConfig::new(Arc::new(reset));
        // As a server's.
        config.grease_quic_bit(false);
        let config = Arc::new(config);
        let to = client.to;
        let mut endpoint = Self {
            machine: Machine::new(config, None, mtu, None),
            socket: Token(0),
            borrows: None,
            redirect: Some(Redirect {
                believed: to,
                actual: to,
            }),
            links: Vec::new(),
            listening: None,
            buffer: BytesMut::new(),
        };
        let connection = endpoint.dial(origin, wall, client)?;
        Ok((endpoint, connection))
    }

    /// Makes a client's connection, whose number is returned.
    pub(crate) fn dial(
        &mut self,
        origin: Origin,
        wall: time::Instant,
        client: Client,
    ) -> io::Result<usize> {
        let flight = Arc::new(Flight::default());
        let (handle, conn) = self
            .machine
            .connect(wall, client.config(&flight)?, client.to, &client.name)
            .map_err(io::Error::other)?;
        let mut link = Link::new(conn, origin, flight, client.ticket);
        link.deadline = Some(origin.since + CONNECT_PATIENCE);
        self.insert(handle, link);
        Ok(handle.0)
    }

    /// What a client's connections call the server; the same for all of them.
    pub(crate) fn believed(&self, to: SocketAddr) -> SocketAddr {
        self.redirect.map_or(to, |redirect| redirect.believed)
    }

    /// Sends a client's packets elsewhere from now on.
    pub(crate) fn redirect(&mut self, to: SocketAddr) {
        if let Some(redirect) = &mut self.redirect {
            redirect.actual = to;
        }
    }

    /// Where a packet for this address goes.
    pub(crate) fn actual(&self, to: SocketAddr) -> SocketAddr {
        self.redirect.map_or(to, |redirect| redirect.actual)
    }

    /// Whether a datagram on a shared socket is for this endpoint.
    pub(crate) fn claims(&self, datagram: &[u8]) -> bool {
        let is_quic = datagram.first().is_some_and(|first| first & 0x40 != 0);
        is_quic || self.listening.is_some() && Status::is_asked(datagram)
    }

    fn insert(&mut self, handle: ConnectionHandle, link: Link) {
        if self.links.len() <= handle.0 {
            self.links.resize_with(handle.0 + 1, || None);
        }
        self.links[handle.0] = Some(Box::new(link));
    }

    pub(crate) fn link_mut(&mut self, connection: usize) -> Option<&mut Link> {
        self.links.get_mut(connection)?.as_deref_mut()
    }

    pub(crate) fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().filter_map(Option::as_deref)
    }

    /// Whether nothing is left of it: a client's, after its connection.
    pub(crate) fn is_empty(&self) -> bool {
        self.listening.is_none() && self.links.iter().all(Option::is_none)
    }

    /// Takes a datagram. An answer is written to `out`, which is empty.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        wall: time::Instant,
        from: SocketAddr,
        asked: Option<IpAddr>,
        datagram: &[u8],
        out: &mut Vec<u8>,
    ) -> Received {
        if let Some(listening) = &mut self.listening {
            if listening.banned.contains(&from.ip().to_canonical()) {
                return Received::Nothing;
            }
            if Status::is_asked(datagram) {
                return match listening.status.answer(now, datagram, out) {
                    true => Received::Answer(Transmit {
                        destination: from,
                        ecn: None,
                        size: out.len(),
                        segment_size: None,
                        src_ip: asked,
                    }),
                    false => Received::Nothing,
                };
            }
            match listening.door.reading(now, datagram) {
                Reading::Now => {}
                Reading::Never => return Received::Nothing,
                Reading::Later => {
                    let bytes = datagram.into();
                    listening.door.keep(FirstPacket { from, asked, bytes });
                    return Received::Nothing;
                }
            }
        }
        self.read(now, wall, (from, asked), datagram, out)
    }

    /// Reads a first packet that waits, if there is one.
    pub(crate) fn read_first(
        &mut self,
        now: Instant,
        wall: time::Instant,
        out: &mut Vec<u8>,
    ) -> Received {
        let door = self.listening.as_mut().map(|listening| &mut listening.door);
        match door.and_then(Door::next_unread) {
            None => Received::Nothing,
            Some(FirstPacket { from, asked, bytes }) => {
                self.read(now, wall, (from, asked), &bytes, out)
            }
        }
    }

    fn read(
        &mut self,
        now: Instant,
        wall: time::Instant,
        (from, asked): (SocketAddr, Option<IpAddr>),
        datagram: &[u8],
        out: &mut Vec<u8>,
    ) -> Received {
        // On a socket of its own nothing else arrives that QUIC would take for the server's.
        let from = match self.borrows {
            Some(_) => self.believed(from),
            None => from,
        };
        self.buffer.extend_from_slice(datagram);
        let datagram = self.buffer.split();
        match self.machine.handle(wall, from, asked, None, datagram, out) {
            None => Received::Nothing,
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(link) = self.link_mut(handle.0) {
                    link.handle_event(event);
                }
                Received::Connection(handle.0)
            }
            Some(DatagramEvent::Response(answer)) => Received::Answer(answer),
            Some(DatagramEvent::NewConnection(incoming)) => {
                let Some(listening) = &mut self.listening else {
                    self.machine.ignore(incoming);
                    return Received::Nothing;
                };
                match listening.door.knock(now, incoming) {
                    Answer::Waits => {}
                    Answer::Ignore(incoming) => self.machine.ignore(incoming),
                    Answer::Retry(incoming) => match self.machine.retry(incoming, out) {
                        Ok(answer) => return Received::Answer(answer),
                        Err(error) => self.machine.ignore(error.into_incoming()),
                    },
                }
                Received::Nothing
            }
        }
    }

    /// Whether a stranger waits: to be read, or for a handshake.
    pub(crate) fn has_strangers(&self) -> bool {
        let listening = self.listening.as_deref();
        listening.is_some_and(|listening| !listening.door.is_empty())
    }

    /// Whether somebody waits for a handshake.
    pub(crate) fn has_callers(&self) -> bool {
        let listening = self.listening.as_deref();
        listening.is_some_and(|listening| listening.door.has_waiting())
    }

    /// Does the server's part of one handshake: a quarter of a millisecond. Returns what came of it, and who
    /// had to go for it.
    pub(crate) fn accept(
        &mut self,
        now: Instant,
        wall: time::Instant,
        number: u64,
        out: &mut Vec<u8>,
    ) -> (Received, Option<usize>) {
        let Some(listening) = &mut self.listening else {
            return (Received::Nothing, None);
        };
        let Some(incoming) = listening.door.next() else {
            return (Received::Nothing, None);
        };
        let origin = Origin {
            number,
            since: now,
            host: Addr::from(incoming.remote_address()).host,
        };
        if listening.links >= listening.server.links
            || listening.shares.is_used_up(now, origin.host)
        {
            let answer = self.machine.refuse(incoming, out);
            return (Received::Answer(answer), None);
        }
        let flight = Arc::new(Flight::default());
        let mut config = listening.config.clone();
        config.transport_config(Arc::new(server_transport(
            &flight,
            listening.server.congestion,
        )));
        let config = Some(Arc::new(config));
        match self.machine.accept(incoming, wall, out, config) {
            Ok((handle, conn)) => {
                debug!(
                    link = number,
                    peer = %conn.remote_address(),
                    "handshake begins"
                );
                let evicted = listening.half_open.enter(now, origin.host, handle.0);
                listening.links += 1;
                let mut link = Link::new(conn, origin, flight, Vec::new());
                link.deadline = Some(now + HANDSHAKE_PATIENCE);
                self.insert(handle, link);
                if let Some(link) = evicted.and_then(|evicted| self.link_mut(evicted)) {
                    link.give_up(wall);
                }
                (Received::Connection(handle.0), evicted)
            }
            Err(error) => {
                let answer = error.response.map_or(Received::Nothing, Received::Answer);
                (answer, None)
            }
        }
    }

    /// Has a connection and the endpoint tell each other what they need to know, and takes note of what
    /// happened to the connection.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        wall: time::Instant,
        connection: usize,
        counters: &mut Counters,
    ) {
        let Some(link) = self
            .links
            .get_mut(connection)
            .and_then(Option::as_deref_mut)
        else {
            return;
        };
        if link.conn.poll_timeout().is_some_and(|due| due <= wall) {
            link.conn.handle_timeout(wall);
        }
        if link.deadline.is_some_and(|deadline| deadline <= now) {
            link.deadline = None;
            link.give_up(wall);
        }
        while let Some(event) = link.conn.poll_endpoint_events() {
            if let Some(event) = self
                .machine
                .handle_event(ConnectionHandle(connection), event)
            {
                link.conn.handle_event(event);
            }
        }
        link.collect(counters);
    }

    /// Lets a peer in, if it has shown everything.
    pub(crate) fn entry(&mut self, now: Instant, wall: time::Instant, connection: usize) -> Entry {
        let link = self
            .links
            .get_mut(connection)
            .and_then(Option::as_deref_mut);
        let (Some(listening), Some(link)) = (&mut self.listening, link) else {
            return Entry::Waits;
        };
        let ticket = match link.take_ticket() {
            Ok(None) => return Entry::Waits,
            Ok(Some(ticket)) => Ok(ticket),
            Err(_) => Err(TicketError::Forged),
        };
        let Origin { number, host, .. } = link.origin();
        let peer = link.remote_address();
        let (code, reason) = match listening.judge(now, link, ticket) {
            Ok((node, protocol)) => {
                info!(link = number, %peer, protocol, "link opened");
                listening.shares.add(host);
                listening.leave_door(connection, link.origin());
                link.deadline = None;
                link.stage = Stage::Open;
                link.conn.set_receive_window(window(LINK_RECEIVE_WINDOW));
                return Entry::Granted(node);
            }
            Err(refused) => refused,
        };
        info!(link = number, %peer, reason, "link refused");
        link.close(wall, code, &reason);
        Entry::Refused
    }

    /// A link that was let in is over.
    pub(crate) fn release(&mut self, now: Instant, host: Host, by: EndedBy) {
        if let Some(listening) = &mut self.listening {
            match by {
                EndedBy::Session => listening.shares.remove(host),
                EndedBy::Peer => listening.shares.rest(now, host),
            }
        }
    }

    /// Forgets a connection of which nothing is under way any more. Returns whether it did.
    pub(crate) fn remove_drained(&mut self, connection: usize) -> bool {
        let Some(link) = self.links.get(connection).and_then(Option::as_deref) else {
            return false;
        };
        if !link.conn.is_drained() {
            return false;
        }
        if let Some(listening) = &mut self.listening {
            listening.leave_door(connection, link.origin());
            listening.links -= 1;
        }
        self.links[connection] = None;
        true
    }

    /// A node is closed: nobody new gets to it. Returns whether the endpoint serves nothing any more.
    pub(crate) fn close_node(&mut self, node: NodeId) -> bool {
        let Some(listening) = &mut self.listening else {
            return false;
        };
        listening.server.protocols.retain(|(_, of)| *of != node);
        listening.server.protocols.is_empty()
    }

    /// What is answered to whoever asks.
    pub(crate) fn set_status(&mut self, text: String) {
        if let Some(listening) = &mut self.listening {
            listening.status.text = text;
        }
    }

    pub(crate) fn set_banned(&mut self, banned: BTreeSet<IpAddr>) {
        if let Some(listening) = &mut self.listening {
            listening.banned = banned;
        }
    }

    pub(crate) fn ban_peer(&mut self, connection: usize) {
        let link = self.link_mut(connection).map(|link| link.remote_address());
        if let (Some(listening), Some(Host::Ip(ip))) =
            (&mut self.listening, link.map(|addr| addr.host))
        {
            if listening.banned.len() >= BANNED {
                listening.banned.pop_first();
            }
            listening.banned.insert(ip);
        }
    }

    /// Has at most so many connections; those that are there stay.
    pub(crate) fn set_most_links(&mut self, most: usize) {
        if let Some(listening) = &mut self.listening {
            listening.server.links = most;
        }
    }

    /// Shows another certificate to those who come from now on.
    pub(crate) fn set_identity(&mut self, identity: Identity) -> Result<(), IdentityError> {
        if let Some(listening) = &mut self.listening {
            let before = std::mem::replace(&mut listening.server.identity, identity);
            match listening.server.config() {
                Ok(config) => listening.config = config,
                Err(error) => {
                    listening.server.identity = before;
                    return Err(error);
                }
            }
            info!(fingerprint = %listening.server.fingerprint(), "another certificate is shown");
            let accepting = Arc::new(listening.config.clone());
            self.machine.set_server_config(Some(accepting));
        }
        Ok(())
    }
}

impl Listening {
    /// Whom a peer may talk to, and how that is called; or what it is told.
    fn judge(
        &mut self,
        now: Instant,
        link: &Link,
        ticket: Result<Vec<u8>, TicketError>,
    ) -> Result<(NodeId, String), (VarInt, String)> {
        let checker = self.server.tickets.as_deref_mut();
        ticket
            .and_then(|ticket| checker.map_or(Ok(()), |checker| checker.check(&ticket)))
            .map_err(|error| (code::TICKET_REFUSED, error.to_string()))?;
        if self.shares.is_used_up(now, link.origin().host) {
            let words = "there are as many from this address as may be";
            return Err((code::FULL, words.into()));
        }
        let asked = link.conn.crypto_session().handshake_data();
        let asked = asked.and_then(|data| data.downcast::<HandshakeData>().ok()?.protocol);
        let mut served = self.server.protocols.iter();
        // The handshake fails without a protocol of the list; its node was closed meanwhile.
        let (name, node) = served
            .find(|(name, _)| Some(name) == asked.as_ref())
            .ok_or_else(|| (code::FULL, "this protocol is served no longer".into()))?;
        Ok((*node, String::from_utf8_lossy(name).into_owned()))
    }

    /// A connection is half open no longer.
    fn leave_door(&mut self, connection: usize, origin: Origin) {
        let Origin { since, host, .. } = origin;
        self.half_open.leave(since, host, connection);
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
