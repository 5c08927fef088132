//! QUIC endpoints of the driver: making and ending them, and what an operator sets.
//!
//! In: what a program asks for. Out: endpoints and links, whose part of a turn is in `links`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time;

use tickwire_session::{Addr, Host, Instant};

use super::Driver;
use crate::bind::{BindError, client_socket, packet_socket};
use crate::node::NodeId;
use crate::pipe::link_addr;
use crate::quic::endpoint::Endpoint;
use crate::quic::link::Origin;
use crate::quic::{Client, Identity, IdentityError, Key, LinkFailure, Server, Trust};
use crate::sockets::Socket;
use crate::sys;

/// A QUIC server's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ListenerId(pub(super) usize);

/// Why a QUIC server cannot listen.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be had.
    Bind(BindError),
    /// The identity cannot be used.
    Identity(IdentityError),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(error) => error.fmt(f),
            Self::Identity(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ListenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind(error) => error.source(),
            Self::Identity(error) => error.source(),
        }
    }
}

impl Driver {
    /// Opens a port to peers who speak QUIC, for the sessions of any number of nodes.
    ///
    /// Each connection is a link (see [`Host::Link`]) of the node whose protocol it asked for. The nodes
    /// may be bound to ports in the clear as well, or be [`open`](Self::open)ed for this alone.
    ///
    /// A server and a client that knows it by its fingerprint:
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use tickwire_net::Driver;
    /// use tickwire_net::quic::{Client, Identity, Server, Trust};
    /// use tickwire_session::Events;
    /// use tickwire_session::echo::DatagramEcho;
    ///
    /// let mut driver = Driver::new()?;
    /// let node = driver.open();
    /// let identity = Identity::generate()?; // or kept in a folder: `Identity::load_or_create`
    /// let server = Server::new(identity).protocol("echo", node);
    /// let fingerprint = server.fingerprint();
    /// let listener = driver.listen("127.0.0.1:0".parse()?, server)?;
    ///
    /// let client = Client {
    ///     to: driver.listener_addr(listener).expect("it listens"),
    ///     name: "localhost".into(),
    ///     protocol: "echo".into(),
    ///     trust: Trust::Pinned(fingerprint),
    ///     ticket: Vec::new(),
    /// };
    /// let node = driver.open();
    /// let server_link = driver.connect(node, client)?;
    ///
    /// let mut sessions = [(); 2].map(|()| DatagramEcho::default());
    /// let [server, client] = &mut sessions;
    /// let mut answer = None;
    /// while answer.is_none() {
    ///     assert_eq!(driver.link_failure(server_link), None);
    ///     // Datagrams that are sent before the handshake is over are lost.
    ///     client.send(server_link, b"nobody on the way reads this");
    ///     driver.turn(driver.now() + Duration::from_millis(10), &mut [server, client])?;
    ///     answer = client.poll_event();
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn listen(&mut self, addr: SocketAddr, server: Server) -> Result<ListenerId, ListenError> {
        let bind = |error| ListenError::Bind(BindError::new(addr, error));
        let udp = packet_socket(addr).map_err(bind)?;
        let has_mtu = sys::forbid_fragments(&udp, addr.ip()).is_ok();
        let endpoint = Endpoint::listen(self.now(), server, has_mtu);
        let endpoint = endpoint.map_err(ListenError::Identity)?;
        let id = self.quic.endpoints.insert(endpoint);
        let socket = Socket::Quic { endpoint: id, udp };
        match self.sockets.insert(socket) {
            Ok(token) => self.quic.endpoints[id].socket = token,
            Err(error) => {
                self.quic.endpoints.remove(id);
                return Err(bind(error));
            }
        }
        Ok(ListenerId(id))
    }

    /// Where a QUIC server listens.
    pub fn listener_addr(&self, ListenerId(id): ListenerId) -> Option<SocketAddr> {
        let socket = self.sockets.get(self.quic.endpoints.get(id)?.socket)?;
        socket.packets()?.local_addr().ok()
    }

    /// Shows another certificate to those who come from now on; nobody who is there notices. If it cannot be
    /// used, the one before stays.
    pub fn set_identity(
        &mut self,
        ListenerId(id): ListenerId,
        identity: Identity,
    ) -> Result<(), IdentityError> {
        let endpoint = self.quic.endpoints.get_mut(id);
        endpoint.map_or(Ok(()), |endpoint| endpoint.set_identity(identity))
    }

    /// What a QUIC server answers to those who ask for its status, as in
    /// [`status_question`](crate::quic::status_question); nothing, if it is empty.
    pub fn set_status(&mut self, ListenerId(id): ListenerId, text: String) {
        if let Some(endpoint) = self.quic.endpoints.get_mut(id) {
            endpoint.set_status(text);
        }
    }

    /// Reads nothing from these addresses any more. Whoever is connected from there falls silent, and is
    /// gone after [`LINK_IDLE`](crate::limits::LINK_IDLE).
    pub fn set_banned(&mut self, ListenerId(id): ListenerId, banned: BTreeSet<IpAddr>) {
        if let Some(endpoint) = self.quic.endpoints.get_mut(id) {
            endpoint.set_banned(banned);
        }
    }

    /// The same for the address of one link's peer, wherever it is now, besides those that are banned already.
    pub fn ban_peer(&mut self, link: Addr) {
        if let Some(key) = self.find_link(link)
            && let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint)
        {
            endpoint.ban_peer(key.connection);
        }
    }

    /// Lets nobody in any more. Those who are there stay.
    pub fn close_door(&mut self, ListenerId(id): ListenerId) {
        if let Some(endpoint) = self.quic.endpoints.get_mut(id) {
            endpoint.set_most_links(0);
        }
    }

    /// Connects a node to a QUIC server, and returns what its session calls the server; see
    /// [`listen`](Self::listen) for an example.
    ///
    /// The session may send and dial at once: streams open when the handshake is over, and datagrams that were
    /// sent before are lost. If it fails the session hears that the link ended; [`link_failure`](Self::link_failure)
    /// tells why. A session that dials again makes a new connection under the same number, unless the server would
    /// only refuse it again.
    ///
    /// # Errors
    /// If there is no socket to be had, or the trust's files cannot be read.
    ///
    /// # Panics
    /// If the node is closed.
    pub fn connect(&mut self, node: NodeId, client: Client) -> io::Result<Addr> {
        assert!(self.nodes.get(node.0).is_some(), "{node:?} is closed");
        let ip = client.to.ip();
        if matches!(client.trust, Trust::ThisMachine) && !ip.is_loopback() {
            return Err(io::Error::other(format!(
                "{ip} is not this machine: say by which fingerprint its server is to be known"
            )));
        }
        let number = self.links.number();
        self.open_link(node.0, number, client.clone())?;
        self.quic.clients.insert(number, (node.0, client));
        Ok(link_addr(number))
    }

    /// Makes the connection of a client's link.
    fn open_link(&mut self, node: usize, number: u64, client: Client) -> io::Result<Key> {
        let ip = client.to.ip();
        let (now, wall) = self.clock();
        let udp = client_socket(ip)?;
        let has_mtu = sys::forbid_fragments(&udp, ip).is_ok();
        let origin = Origin {
            number,
            since: now,
            host: Addr::from(client.to).host,
        };
        let (endpoint, connection) = Endpoint::connect(origin, wall, client, has_mtu)?;
        let id = self.quic.endpoints.insert(endpoint);
        let socket = Socket::Quic { endpoint: id, udp };
        let token = self.sockets.insert(socket).inspect_err(|_| {
            self.quic.endpoints.remove(id);
        })?;
        self.quic.endpoints[id].socket = token;
        let key = Key {
            endpoint: id,
            connection,
        };
        self.give_link(key, node);
        self.quic.send_later(key);
        Ok(key)
    }

    /// Makes a client's link anew that ended by itself, because its session dials again.
    pub(super) fn reopen_link(&mut self, node: usize, number: u64) -> Option<Key> {
        let (owner, client) = self.quic.clients.get(&number)?;
        let may_pass = self.quic.failure(number).is_none_or(LinkFailure::may_pass);
        if *owner != node || !may_pass {
            return None;
        }
        let key = self.open_link(node, number, client.clone()).ok()?;
        self.quic.forget_failure(number);
        Some(key)
    }

    /// Moves a client's connection to another port, as when its machine changes networks. The server
    /// keeps the link.
    ///
    /// # Errors
    /// If there is no socket to be had.
    pub fn rebind(&mut self, server: Addr) -> io::Result<()> {
        let Some(key) = self.find_link(server) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let Some(link) = self.quic.link_mut(key) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let to = link.remote_address();
        let Host::Ip(ip) = to.host else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let udp = client_socket(ip)?;
        sys::forbid_fragments(&udp, ip).ok();
        let socket = Socket::Quic {
            endpoint: key.endpoint,
            udp,
        };
        let token = self.sockets.insert(socket)?;
        if let Some(endpoint) = self.quic.endpoints.get_mut(key.endpoint) {
            let before = std::mem::replace(&mut endpoint.socket, token);
            self.sockets.remove(before);
        }
        if let Some(link) = self.quic.link_mut(key) {
            link.handle_moved();
        }
        self.quic.send_later(key);
        Ok(())
    }

    /// The network address of the peer at the other end of a QUIC link, as it is at the moment.
    pub fn remote_addr(&mut self, link: Addr) -> Option<Addr> {
        let key = self.find_link(link)?;
        Some(self.quic.link_mut(key)?.remote_address())
    }

    /// Why a QUIC link ended, in more words than its session was told. Only the last
    /// [`LINK_FAILURES`](crate::limits::LINK_FAILURES) are remembered.
    pub fn link_failure(&self, link: Addr) -> Option<&LinkFailure> {
        match link.host {
            Host::Link(number) => self.quic.failure(number),
            Host::Ip(_) => None,
        }
    }

    fn find_link(&self, addr: Addr) -> Option<Key> {
        match addr.host {
            Host::Link(number) => self.quic.find(number),
            Host::Ip(_) => None,
        }
    }

    /// The time, and the same moment as `quinn-proto` wants it.
    pub(super) fn clock(&self) -> (Instant, time::Instant) {
        let now = self.now();
        (now, self.wall(now))
    }

    pub(super) fn wall(&self, now: Instant) -> time::Instant {
        self.began + now.since(Instant::ZERO)
    }

    /// Makes a connection a link of a node.
    pub(super) fn give_link(&mut self, key: Key, node: usize) -> Option<u64> {
        let number = self.quic.link_mut(key)?.set_owner(node);
        self.quic.register(number, key);
        Some(number)
    }

    /// Ends the links of a node, and what was opened for it.
    pub(super) fn close_links(&mut self, node: NodeId) {
        let now = self.now();
        let of_node = |(number, owner): (u64, usize)| (owner == node.0).then_some(number);
        let numbers: Vec<_> = self.quic.owners().filter_map(of_node).collect();
        for number in numbers {
            self.unlink_quic(now, node.0, number);
        }
        self.quic.clients.retain(|_, (owner, _)| *owner != node.0);
        // At once: the program may end before another turn.
        self.flush_links(now);
        let unserved: BTreeMap<_, _> = self
            .quic
            .endpoints
            .iter_mut()
            .filter_map(|(id, endpoint)| {
                let kept = (endpoint.socket, endpoint.borrows);
                endpoint.close_node(node).then_some((id, kept))
            })
            .collect();
        for (id, (token, borrows)) in unserved {
            self.quic.endpoints.remove(id);
            if !self.give_back(borrows) {
                self.sockets.remove(token);
            }
        }
    }
}

/// Tells every peer that this is the end, so that nobody waits for a time-out.
impl Drop for Driver {
    fn drop(&mut self) {
        let nodes: Vec<_> = self.nodes.iter().map(|(id, _)| NodeId(id)).collect();
        for node in nodes {
            self.close_links(node);
        }
    }
}
