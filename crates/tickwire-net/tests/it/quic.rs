//! Links over QUIC, on loopback.

use std::net::{Ipv4Addr, SocketAddr};

use tickwire_net::quic::{Client, Fingerprint, Identity, Server, Trust};
use tickwire_net::{Driver, ListenerId, NodeId};
use tickwire_session::{Addr, Session};

use crate::{GLANCE, PATIENCE};

pub(crate) const PROTOCOL: &str = "test";

/// A server at position 0 and a client at position 1 of one driver, connected.
pub(crate) struct Linked {
    pub(crate) driver: Driver,
    /// What the client calls the server.
    pub(crate) server: Addr,
    /// What the server calls the client.
    pub(crate) client: Addr,
}

impl Linked {
    pub(crate) fn new(sessions: &mut [&mut dyn Session]) -> Self {
        let mut driver = Driver::new().unwrap();
        let (server, listener, fingerprint) = serve(&mut driver);
        let at = driver.listener_addr(listener).unwrap();
        let node = driver.open();
        let server_link = driver.connect(node, client_of(at, fingerprint)).unwrap();
        let deadline = driver.now() + PATIENCE;
        while driver.counters().links_accepted == 0 {
            assert!(driver.now() < deadline, "{:?}", driver.link_failure(server_link));
            let until = driver.now() + GLANCE;
            driver.turn(until, sessions).unwrap();
        }
        assert_eq!(server.index(), 0);
        let mut client = server_link;
        let tickwire_session::Host::Link(number) = &mut client.host else {
            panic!("{server_link} is no link");
        };
        *number += 1;
        Self {
            driver,
            server: server_link,
            client,
        }
    }
}

/// A server with an identity of its own.
pub(crate) fn serve(driver: &mut Driver) -> (NodeId, ListenerId, Fingerprint) {
    let identity = Identity::generate().unwrap();
    let fingerprint = identity.fingerprint();
    let node = driver.open();
    let server = Server::new(identity).protocol(PROTOCOL, node);
    let listener = driver.listen(any_port(), server).unwrap();
    (node, listener, fingerprint)
}

pub(crate) fn client_of(to: SocketAddr, fingerprint: Fingerprint) -> Client {
    Client {
        to,
        name: "localhost".into(),
        protocol: PROTOCOL.into(),
        trust: Trust::Pinned(fingerprint),
        ticket: Vec::new(),
    }
}

pub(crate) fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}
