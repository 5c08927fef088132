//! Links over QUIC, on loopback: what the tests in here need, each group in a file of its own.

mod attacker;
mod hostile;
mod paths;
mod redial;
mod strangers;
mod trust;

use std::net::{Ipv4Addr, SocketAddr};

use tickwire_net::quic::{Client, Fingerprint, Identity, LinkFailure, Server, Trust};
use tickwire_net::{Driver, ListenerId, NodeId};
use tickwire_session::{Addr, Host, Session, Transmit};

use crate::probe::Probe;
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
            assert!(
                driver.now() < deadline,
                "{:?}",
                driver.link_failure(server_link)
            );
            let until = driver.now() + GLANCE;
            driver.turn(until, sessions).unwrap();
        }
        assert_eq!(server.index(), 0);
        Self {
            driver,
            server: server_link,
            // Links are numbered as they come: the client's was first.
            client: link_of(1),
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

/// A client with a session of its own, on another driver than its server's.
struct Remote {
    driver: Driver,
    session: Probe,
    server: Addr,
}

impl Remote {
    fn new(client: Client) -> Self {
        let mut driver = Driver::new().unwrap();
        let node = driver.open();
        let server = driver.connect(node, client).unwrap();
        Self {
            driver,
            session: Probe::default(),
            server,
        }
    }

    fn turn(&mut self) {
        let now = self.driver.now();
        self.driver.turn(now, &mut [&mut self.session]).unwrap();
    }

    fn send(&mut self, bytes: &[u8]) {
        let order = Transmit::Datagram { to: self.server };
        self.session.orders.push_back((order, bytes.into()));
    }

    fn failure(&self) -> Option<&LinkFailure> {
        self.driver.link_failure(self.server)
    }
}

/// A server with a session of its own.
struct Local {
    driver: Driver,
    session: Probe,
    listener: ListenerId,
    at: SocketAddr,
    fingerprint: Fingerprint,
}

impl Local {
    fn new(identity: Identity) -> Self {
        Self::with(Server::new(identity))
    }

    fn with(server: Server) -> Self {
        let mut driver = Driver::new().unwrap();
        let fingerprint = server.fingerprint();
        let node = driver.open();
        let server = server.protocol(PROTOCOL, node);
        let listener = driver.listen(any_port(), server).unwrap();
        Self {
            at: driver.listener_addr(listener).unwrap(),
            driver,
            session: Probe::default(),
            listener,
            fingerprint,
        }
    }

    fn client(&self) -> Client {
        client_of(self.at, self.fingerprint)
    }

    fn turn(&mut self) {
        let until = self.driver.now() + GLANCE / 5;
        self.driver.turn(until, &mut [&mut self.session]).unwrap();
    }

    /// Lets the two, and what is between them, go on until `done`.
    #[track_caller]
    fn until(&mut self, remote: &mut Remote, mut done: impl FnMut(&mut Self, &mut Remote) -> bool) {
        let deadline = self.driver.now() + PATIENCE;
        while !done(self, remote) {
            let failure = remote.failure();
            assert!(
                self.driver.now() < deadline,
                "{failure:?}, {:?}",
                remote.session
            );
            self.turn();
            remote.turn();
        }
    }
}

fn identity() -> Identity {
    Identity::generate().unwrap()
}

/// A link by its number.
pub(crate) fn link_of(number: u64) -> Addr {
    Addr {
        host: Host::Link(number),
        port: 0,
    }
}
