//! Links over QUIC, on loopback.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use tickwire_net::quic::{
    Client, Fingerprint, Identity, LinkFailure, Server, TicketIssuer, Trust, status_answer,
    status_question,
};
use tickwire_net::{Driver, ListenerId, NodeId, limits};
use tickwire_session::{Addr, Ended, Host, Path, Room, Session, StreamId, Transmit};
use tickwire_sim::Chance;

use crate::probe::Probe;
use crate::relay::Relay;
use crate::{GLANCE, PATIENCE, pattern};

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

#[test]
fn a_server_with_another_fingerprint_is_refused() {
    let mut server = Local::new(identity());
    let stranger = identity().fingerprint();
    let mut client = Remote::new(client_of(server.at, stranger));
    client.session.dial(StreamId::Dialled(0), client.server);
    server.until(&mut client, |_, client| client.session.closed.len() == 2);
    let closed = [Path::Stream(StreamId::Dialled(0)), Path::Link(0)];
    assert_eq!(
        client.session.closed,
        closed.map(|path| (path, Ended::Refused))
    );
    let Some(LinkFailure::Untrusted { reason }) = client.failure() else {
        panic!("{:?}", client.failure());
    };
    let shown = server.fingerprint.to_string();
    assert!(
        reason.contains(&shown) && reason.contains(&stranger.to_string()),
        "{reason}"
    );
    assert_eq!(server.driver.counters().links_accepted, 0);
}

#[test]
fn a_server_is_trusted_at_first_use_and_not_after_its_key_changed() {
    let folder = tempfile::tempdir().unwrap();
    let trust = Trust::FirstUse {
        known_hosts: folder.path().join("known_hosts"),
        host: "the server".into(),
    };
    let mut first = Local::new(identity());
    let ask = |server: &Local| Client {
        trust: trust.clone(),
        ..server.client()
    };
    for _ in 0..2 {
        let mut client = Remote::new(ask(&first));
        let before = first.driver.counters().links_accepted;
        first.until(&mut client, |server, _| {
            server.driver.counters().links_accepted > before
        });
    }
    let mut changed = Local::new(identity());
    let mut client = Remote::new(ask(&changed));
    changed.until(&mut client, |_, client| client.failure().is_some());
    let failure = client.failure().unwrap().to_string();
    assert!(failure.contains("ITS IDENTITY HAS CHANGED"), "{failure}");
}

#[test]
fn an_unknown_protocol_is_refused_in_the_handshake() {
    let mut server = Local::new(identity());
    let mut client = Remote::new(Client {
        protocol: "another".into(),
        ..server.client()
    });
    server.until(&mut client, |_, client| client.failure().is_some());
    assert!(matches!(
        client.failure(),
        Some(LinkFailure::Refused { .. })
    ));
    assert_eq!(client.session.closed, [(Path::Link(0), Ended::Refused)]);
}

#[test]
fn only_a_good_ticket_lets_a_client_in_and_only_once() {
    let secret = [9; 32];
    let issuer = TicketIssuer::new(&secret);
    let mut server = Local::with(Server::new(identity()).tickets(TicketIssuer::new(&secret)));
    let ticket = issuer.issue(Duration::from_secs(60)).unwrap();
    let mut altered = issuer.issue(Duration::from_secs(60)).unwrap();
    altered[20] ^= 1;
    let expired = issuer.issue(Duration::ZERO).unwrap();
    let long = vec![0; limits::TICKET_LONGEST + 1];
    let tries = [
        (ticket.clone(), None),
        (ticket, Some("the ticket was used before")),
        (altered, Some("the ticket is not of this server")),
        (expired, Some("the ticket has expired")),
        (Vec::new(), Some("this server asks for a ticket")),
        (long, Some("the ticket is not of this server")),
    ];
    for (ticket, complaint) in tries {
        let mut client = Remote::new(Client {
            ticket,
            ..server.client()
        });
        server.session.datagrams.clear();
        client.session.dial(StreamId::Dialled(0), client.server);
        match complaint {
            None => server.until(&mut client, |server, _| server.session.opened.len() == 1),
            Some(complaint) => {
                server.until(&mut client, |_, client| client.failure().is_some());
                let reason = complaint.into();
                assert_eq!(
                    client.failure(),
                    Some(&LinkFailure::TicketRefused { reason })
                );
            }
        }
    }
    // No session ever heard of the others.
    assert_eq!(server.session.opened.len(), 1);
    assert_eq!(server.driver.counters().links_refused, 5);
}

#[test]
fn a_client_that_moves_to_another_port_keeps_its_link() {
    let mut server = Local::new(identity());
    let mut client = Remote::new(server.client());
    let on = StreamId::Dialled(0);
    client.session.dial(on, client.server);
    server.until(&mut client, |server, _| server.session.opened.len() == 1);
    let before = server.driver.remote_addr(link_of(0)).unwrap();

    client.driver.rebind(client.server).unwrap();
    client.session.send(on, b"on the stream");
    client.send(b"as a datagram");
    server.until(&mut client, |server, _| {
        server.session.heard_on(StreamId::Accepted(0)) == b"on the stream"
            && server.session.datagrams.len() == 1
    });
    assert_eq!(server.session.datagrams[0].0, link_of(0));
    assert_ne!(server.driver.remote_addr(link_of(0)).unwrap(), before);

    // And the other way.
    let order = Transmit::Datagram { to: link_of(0) };
    server.session.orders.push_back((order, b"answer".to_vec()));
    server.until(&mut client, |_, client| client.session.datagrams.len() == 1);
    assert!(server.session.closed.is_empty() && client.session.closed.is_empty());
}

#[test]
fn a_client_hears_at_once_that_its_server_has_restarted() {
    let folder = tempfile::tempdir().unwrap();
    let kept = || Identity::load_or_create(folder.path()).unwrap();
    let mut server = Local::new(kept());
    let mut relay = Relay::to(server.at);
    let mut client = Remote::new(client_of(relay.addr(), server.fingerprint));
    server.until(&mut client, |server, _| {
        relay.pump(server.driver.now());
        server.driver.counters().links_accepted == 1
    });

    // As if the first were killed: nobody is told.
    let mut restarted = Local::new(kept());
    relay.target = restarted.at;
    std::mem::forget(server);
    client.send(b"?");
    let began = restarted.driver.now();
    restarted.until(&mut client, |server, client| {
        relay.pump(server.driver.now());
        !client.session.closed.is_empty()
    });
    assert_eq!(client.session.closed, [(Path::Link(0), Ended::Reset)]);
    assert_eq!(client.failure(), Some(&LinkFailure::Restarted));
    assert!(restarted.driver.now().since(began) < Duration::from_secs(5));
}

#[test]
fn a_lossy_path_carries_streams_whole_and_datagrams_mostly() {
    let mut server = Local::new(identity());
    let mut relay = Relay::to(server.at);
    let mut client = Remote::new(client_of(relay.addr(), server.fingerprint));
    relay.loss = Chance::percent(5);
    relay.delay = Duration::from_millis(5);
    relay.jitter = Duration::from_millis(2);
    let on = StreamId::Dialled(0);
    client.session.dial(on, client.server);
    server.until(&mut client, |server, client| {
        relay.pump(server.driver.now());
        server.session.opened.len() == 1 && client.session.opened.len() == 1
    });

    let bytes = pattern(200_000);
    client.session.pour(on, &bytes);
    let mut sent = 0;
    let mut next = server.driver.now();
    server.until(&mut client, |server, client| {
        let now = server.driver.now();
        relay.pump(now);
        if now >= next && sent < 100 {
            next = now + Duration::from_millis(10);
            sent += 1;
            client.send(&pattern(300));
        }
        server.session.heard_on(StreamId::Accepted(0)).len() == bytes.len() && sent == 100
    });
    assert!(server.session.heard_on(StreamId::Accepted(0)) == bytes);
    let arrived = server.session.datagrams.len();
    assert!(
        arrived > 50,
        "{arrived} of 100 datagrams beside a bulk transfer"
    );
}

#[test]
fn a_session_hears_of_room_and_of_larger_packets() {
    let mut server = Local::new(identity());
    let mut client = Remote::new(server.client());
    server.until(&mut client, |_, client| {
        let rooms = client.session.rooms.iter();
        rooms.map(|(_, room)| room.largest).max() > Some(1_300)
    });
    let rooms: Vec<_> = client.session.rooms.iter().map(|(_, room)| *room).collect();
    assert!(rooms[0].largest >= Room::DATAGRAMS.largest, "{rooms:?}");
    assert!(rooms.iter().all(|room| room.bytes < u32::MAX), "{rooms:?}");

    // More than the window at once: what waits is little, and the session is told to stop.
    let most = rooms[rooms.len() - 1];
    client.session.rooms.clear();
    for number in 0..=u8::MAX {
        client.send(&vec![number; most.largest.into()]);
    }
    server.until(&mut client, |_, client| {
        client.session.rooms.iter().any(|(_, room)| room.bytes == 0)
    });
    server.until(&mut client, |_, client| {
        client
            .session
            .rooms
            .last()
            .is_some_and(|(_, room)| room.bytes > 0)
    });
    // The newest came through, and much of the rest was never sent.
    server.until(&mut client, |server, _| {
        let last = server.session.datagrams.last();
        last.is_some_and(|(_, bytes)| bytes[0] == u8::MAX)
    });
    assert!(
        server.session.datagrams.len() < 200,
        "{}",
        server.session.datagrams.len()
    );
}

/// A link by its number.
fn link_of(number: u64) -> Addr {
    Addr {
        host: Host::Link(number),
        port: 0,
    }
}

/// Acknowledgements ride on what is sent anyway: a bare one costs as much as a snapshot.
#[test]
fn a_server_sends_hardly_more_packets_than_snapshots() {
    let mut server = Local::new(identity());
    let mut relay = Relay::to(server.at);
    relay.delay = Duration::from_millis(25);
    let mut client = Remote::new(client_of(relay.addr(), server.fingerprint));
    server.until(&mut client, |server, _| {
        relay.pump(server.driver.now());
        server.driver.counters().links_accepted == 1
    });

    // 20 snapshots and 60 inputs a second. The first second is not counted: packets grow in it, and the
    // two agree on how often they acknowledge.
    let began = server.driver.now();
    let (mut steps, mut packets) = (0, 0);
    server.until(&mut client, |server, client| {
        let now = server.driver.now();
        relay.pump(now);
        while began + Duration::from_secs(1) * steps / 60 <= now {
            client.send(&[1; 40]);
            if steps % 3 == 0 {
                let order = Transmit::Datagram { to: link_of(0) };
                server.session.orders.push_back((order, vec![2; 300]));
            }
            steps += 1;
            if steps == 60 {
                packets = relay.from_server;
            }
        }
        steps >= 240
    });
    let snapshots = 60;
    let sent = relay.from_server - packets;
    assert!(
        sent * 10 <= snapshots * 13,
        "{sent} packets for {snapshots} snapshots"
    );
}

#[test]
fn a_hundred_who_join_at_once_all_get_in() {
    let mut server = Local::new(identity());
    let mut driver = Driver::new().unwrap();
    let mut sessions = [(); 100].map(|()| Probe::default());
    for _ in 0..sessions.len() {
        let node = driver.open();
        driver.connect(node, server.client()).unwrap();
    }
    let deadline = driver.now() + PATIENCE;
    while server.driver.counters().links_accepted < 100 {
        assert!(driver.now() < deadline, "{:?}", server.driver.counters());
        server.turn();
        let now = driver.now();
        let mut sessions = sessions
            .each_mut()
            .map(|session| session as &mut dyn Session);
        driver.turn(now, &mut sessions).unwrap();
    }
}

/// Strangers that send first packets, as fast as this machine can, do not lock out those who come, and
/// are not answered with more than they sent.
#[test]
fn a_flood_of_first_packets_stops_nobody() {
    let mut server = Local::new(identity());
    let flood = UdpSocket::bind(any_port()).unwrap();
    flood.set_nonblocking(true).unwrap();
    let mut client = Remote::new(server.client());
    let (mut sent, mut answered) = (0, 0);
    let mut number = 0_u64;
    let mut buffer = [0; 2_048];
    server.until(&mut client, |server, client| {
        for _ in 0..200 {
            number += 1;
            let packet = first_packet(number);
            sent += flood.send_to(&packet, server.at).unwrap_or(0);
        }
        while let Ok((length, _)) = flood.recv_from(&mut buffer) {
            answered += length;
        }
        client.send(b"!");
        number > 100_000 && !server.session.datagrams.is_empty()
    });
    assert!(answered <= sent, "{answered} bytes for {sent}");
    assert_eq!(server.driver.counters().links_accepted, 1);
}

/// What looks like the beginning of a connection: an Initial packet with a connection id of its own.
fn first_packet(number: u64) -> Vec<u8> {
    let mut packet = vec![0xc3, 0, 0, 0, 1, 8];
    packet.extend(number.to_be_bytes());
    // No source id, no token, and a length of two bytes that reaches to the end.
    packet.extend([0, 0, 0x44, 0x9e]);
    packet.resize(1_200, 7);
    packet
}

#[test]
fn a_server_says_what_it_is_without_a_handshake() {
    let mut server = Local::new(identity());
    server
        .driver
        .set_status(server.listener, "players 3".into());
    let asking = UdpSocket::bind(any_port()).unwrap();
    asking.set_nonblocking(true).unwrap();
    let number = [3; 8];
    asking
        .send_to(&status_question(number, 256), server.at)
        .unwrap();
    let mut buffer = [0; 2_048];
    let deadline = server.driver.now() + PATIENCE;
    let length = loop {
        assert!(server.driver.now() < deadline, "no answer");
        server.turn();
        if let Ok(length) = asking.recv(&mut buffer) {
            break length;
        }
    };
    assert_eq!(status_answer(number, &buffer[..length]), Some("players 3"));
}

#[test]
fn those_who_are_banned_or_late_do_not_get_in_and_others_stay() {
    let mut server = Local::new(identity());
    let mut first = Remote::new(server.client());
    server.until(&mut first, |server, _| {
        server.driver.counters().links_accepted == 1
    });
    server.driver.close_door(server.listener);
    let mut late = Remote::new(server.client());
    server.until(&mut late, |_, late| late.failure().is_some());
    assert!(matches!(late.failure(), Some(LinkFailure::Refused { .. })));
    first.send(b"still here");
    server.until(&mut first, |server, _| server.session.datagrams.len() == 1);

    server
        .driver
        .set_banned(server.listener, [server.at.ip()].into());
    let mut banned = Remote::new(server.client());
    server.until(&mut banned, |_, banned| banned.failure().is_some());
    assert_eq!(banned.failure(), Some(&LinkFailure::Unreachable));
}
