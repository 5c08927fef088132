//! QUIC on the socket of a node, beside what the node's session itself sends and receives there.
//!
//! A session that finds out how a peer can be reached, through routers that tell ports apart, has to do so from
//! the very port that QUIC then uses. Packets of QUIC have the second bit of their first byte set (RFC 9000,
//! section 17); they go to the endpoint, and everything else to the session. A client's endpoint may be
//! [redirected](Driver::redirect): its connections go on as if nothing had happened, over another path.

use std::io;
use std::net::SocketAddr;

use mio::Token;
use tickwire_session::Addr;

use super::{Driver, ListenError, ListenerId};
use crate::node::NodeId;
use crate::pipe::link_addr;
use crate::quic::endpoint::Endpoint;
use crate::quic::link::Origin;
use crate::quic::{Client, Key, Server};
use crate::sockets::Socket;
use crate::sys;

/// No socket has it: what is sent there is dropped.
const NOWHERE: Token = Token(usize::MAX);

impl Driver {
    /// As [`listen`](Self::listen), on the port of a node that was [bound](Self::bind) for datagrams.
    ///
    /// # Panics
    /// If the node has no datagram socket, or shares it already.
    pub fn listen_on(&mut self, socket: NodeId, server: Server) -> Result<ListenerId, ListenError> {
        let (token, addr) = self.own_socket(socket);
        let has_mtu = self.forbid_fragments(token, addr);
        let endpoint = Endpoint::listen(self.now(), server, has_mtu);
        let mut endpoint = endpoint.map_err(ListenError::Identity)?;
        endpoint.socket = token;
        endpoint.borrows = Some(socket);
        let id = self.quic.endpoints.insert(endpoint);
        self.share(socket, id);
        Ok(ListenerId(id))
    }

    /// As [`connect`](Self::connect), from the port of a node that was [bound](Self::bind) for datagrams.
    /// Several nodes may connect from there, all to one server.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// If one of the nodes is closed, or the socket's has no datagram socket.
    pub fn connect_on(
        &mut self,
        socket: NodeId,
        node: NodeId,
        mut client: Client,
    ) -> io::Result<Addr> {
        assert!(self.nodes.get(node.0).is_some(), "{node:?} is closed");
        let (now, wall) = self.clock();
        let origin = Origin {
            number: self.links.number(),
            since: now,
            host: Addr::from(client.to).host,
        };
        let shared = self.nodes.get(socket.0).and_then(|socket| socket.endpoint);
        let (id, connection) = match shared.filter(|id| self.quic.endpoints.contains(*id)) {
            Some(id) => {
                let endpoint = &mut self.quic.endpoints[id];
                client.to = endpoint.believed(client.to);
                (id, endpoint.dial(origin, wall, client)?)
            }
            None => {
                let (token, addr) = self.own_socket(socket);
                let has_mtu = self.forbid_fragments(token, addr);
                client.to = self.destination(socket, client.to);
                let (mut endpoint, connection) = Endpoint::connect(origin, wall, client, has_mtu)?;
                endpoint.socket = token;
                endpoint.borrows = Some(socket);
                let id = self.quic.endpoints.insert(endpoint);
                self.share(socket, id);
                (id, connection)
            }
        };
        let key = Key {
            endpoint: id,
            connection,
        };
        self.give_link(key, node.0);
        self.quic.send_later(key);
        Ok(link_addr(origin.number))
    }

    /// Has everything that clients on this node's socket send go to another address of the same server, or
    /// to a relay. Whatever arrives there is read as the server's: QUIC knows who sent it.
    pub fn redirect(&mut self, socket: NodeId, to: SocketAddr) {
        let to = self.destination(socket, to);
        let shared = self.nodes.get(socket.0).and_then(|socket| socket.endpoint);
        if let Some(endpoint) = shared.and_then(|id| self.quic.endpoints.get_mut(id)) {
            endpoint.redirect(to);
        }
    }

    /// An endpoint that shares its socket is gone; returns whether it was one.
    pub(super) fn give_back(&mut self, socket: Option<NodeId>) -> bool {
        let Some(NodeId(id)) = socket else {
            return false;
        };
        if let Some(node) = self.nodes.get_mut(id) {
            node.endpoint = None;
        }
        true
    }

    /// The node of a shared socket is closed: the endpoint stays, and reaches nobody.
    pub(super) fn strand(&mut self, endpoint: Option<usize>) {
        if let Some(endpoint) = endpoint.and_then(|id| self.quic.endpoints.get_mut(id)) {
            endpoint.socket = NOWHERE;
            endpoint.borrows = None;
        }
    }

    fn own_socket(&self, socket: NodeId) -> (Token, SocketAddr) {
        let node = self.nodes.get(socket.0).expect("the socket's node is open");
        assert!(
            node.endpoint.is_none(),
            "{socket:?} shares its socket already"
        );
        let token = node
            .v4
            .or(node.v6)
            .expect("the node is bound for datagrams");
        let addr = self.local_addr(socket).expect("the node is bound");
        (token, addr)
    }

    fn forbid_fragments(&self, token: Token, addr: SocketAddr) -> bool {
        let udp = self.sockets.get(token).and_then(Socket::packets);
        udp.is_some_and(|udp| sys::forbid_fragments(udp, addr.ip()).is_ok())
    }

    fn destination(&self, socket: NodeId, to: SocketAddr) -> SocketAddr {
        self.nodes
            .get(socket.0)
            .map_or(to, |node| node.destination(to))
    }

    fn share(&mut self, socket: NodeId, endpoint: usize) {
        if let Some(node) = self.nodes.get_mut(socket.0) {
            node.endpoint = Some(endpoint);
        }
    }
}
