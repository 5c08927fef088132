//! Peers that did the handshake and mean harm. In each test somebody honest plays on meanwhile.

use std::net::Ipv4Addr;

use quinn_proto::{ConnectionError, TransportConfig, VarInt};
use tickwire_net::limits;
use tickwire_net::quic::{LinkFailure, Server};
use tickwire_session::{Path, Room, StreamId, Transmit};

use super::attacker::Attacker;
use super::{Local, Remote, identity, link_of};
use crate::pattern;

/// A server with an honest client, whose link is number 0, and an attacker that did the handshake.
struct Attack {
    server: Local,
    honest: Remote,
    attacker: Attacker,
}

impl Attack {
    fn new(transport: TransportConfig) -> Self {
        let mut server = Local::new(identity());
        let mut honest = Remote::new(server.client());
        honest.session.dial(StreamId::Dialled(0), honest.server);
        server.until(&mut honest, |server, _| server.session.opened.len() == 1);
        let attacker = Attacker::new(Ipv4Addr::LOCALHOST, server.at, transport);
        let mut attack = Self {
            server,
            honest,
            attacker,
        };
        attack.until(|attack| attack.attacker.is_connected());
        attack
    }

    /// Lets the attacker in.
    fn enter(&mut self) {
        self.attacker.send_ticket(&[], true);
        self.until(|attack| attack.server.driver.counters().links_accepted == 2);
    }

    #[track_caller]
    fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let deadline = self.server.driver.now() + crate::PATIENCE;
        while !done(self) {
            assert!(
                self.server.driver.now() < deadline,
                "{:?}",
                self.server.session
            );
            self.server.turn();
            self.honest.turn();
            self.attacker.pump();
        }
    }

    /// The honest client is heard, on its stream and by datagram.
    #[track_caller]
    fn honest_is_heard(&mut self) {
        let on = StreamId::Accepted(0);
        let before = self.server.session.heard_on(on).len();
        self.honest.session.send(StreamId::Dialled(0), b"still");
        self.honest.send(b"here");
        self.until(|attack| {
            let session = &attack.server.session;
            let from = (link_of(0), b"here".to_vec());
            session.heard_on(on).len() > before && session.datagrams.contains(&from)
        });
    }
}

#[test]
fn a_peer_has_sixteen_streams_however_many_it_asks_for() {
    let mut attack = Attack::new(TransportConfig::default());
    attack.enter();
    // Opened and dropped as fast as the server takes it: ten thousand in all.
    let mut asked = 0;
    attack.until(|attack| {
        let Attack {
            server, attacker, ..
        } = attack;
        while asked < 10_000
            && let Some(id) = attacker.open(0)
        {
            asked += 1;
            attacker.reset(id);
        }
        let session = &server.session;
        let open = session.opened.len() - session.closed.len();
        // One is the honest client's.
        assert!(open <= limits::LINK_STREAMS as usize + 1, "{open}");
        asked == 10_000
    });
    attack.honest_is_heard();
    assert_eq!(attack.attacker.lost, None);
}

#[test]
fn streams_that_never_begin_are_no_sessions_business() {
    let mut attack = Attack::new(TransportConfig::default());
    attack.enter();
    // As many as there may be: without a byte, with a wrong one, and ended without one.
    let mut opened = 0;
    attack.until(|attack| {
        let Some(id) = attack.attacker.conn.streams().open(quinn_proto::Dir::Bi) else {
            return true;
        };
        let mut stream = attack.attacker.conn.send_stream(id);
        match opened % 3 {
            0 => stream.finish().unwrap(),
            1 => assert_eq!(stream.write(&[1]), Ok(1)),
            _ => {}
        }
        opened += 1;
        opened > 1_000
    });
    assert!(opened >= limits::LINK_STREAMS, "{opened}");
    attack.until(|attack| !attack.attacker.resets.is_empty());
    attack.honest_is_heard();
    assert_eq!(attack.server.session.opened, [StreamId::Accepted(0)]);
}

#[test]
fn a_peer_that_does_not_read_holds_a_bounded_number_of_bytes() {
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(1_024));
    let mut attack = Attack::new(transport);
    attack.enter();
    attack.attacker.open(0).unwrap();
    attack.until(|attack| attack.server.session.opened.len() == 2);
    let on = attack.server.session.opened[1];
    attack.server.session.pour(on, &pattern(1_000_000));
    let is_full = |attack: &mut Attack| attack.server.session.room.get(&on) == Some(&0);
    attack.until(is_full);
    for _ in 0..3 {
        attack.honest_is_heard();
        attack.server.session.datagrams.clear();
    }
    assert!(is_full(&mut attack));
    let most = limits::STREAM_PENDING + limits::LINK_SEND_WINDOW as usize;
    let poured = attack.server.session.poured;
    assert!(poured <= most, "{poured}");
}

#[test]
fn a_peer_without_a_ticket_has_eight_datagrams_kept() {
    let mut attack = Attack::new(TransportConfig::default());
    for number in 0..100 {
        let datagram = vec![number].into();
        attack
            .attacker
            .conn
            .datagrams()
            .send(datagram, true)
            .unwrap();
    }
    attack.honest_is_heard();
    attack.enter();
    let first = 100 - u8::try_from(limits::LINK_DATAGRAMS_EARLY).unwrap();
    attack.until(|attack| {
        let session = &attack.server.session;
        session.datagrams.iter().any(|(_, bytes)| *bytes == [99])
    });
    let of_attacker = attack.server.session.datagrams.iter();
    let kept: Vec<_> = of_attacker
        .filter(|(from, _)| *from != link_of(0))
        .map(|(_, bytes)| bytes[0])
        .collect();
    assert_eq!(kept, (first..100).collect::<Vec<_>>());
}

#[test]
fn datagrams_that_are_too_long_are_counted_and_lost() {
    let mut attack = Attack::new(TransportConfig::default());
    attack.enter();
    let count = |attack: &Attack| attack.server.driver.counters().datagrams_oversize;
    // Longer than any packet of QUIC, from outside.
    let raw = std::net::UdpSocket::bind(super::any_port()).unwrap();
    raw.send_to(&[0x43; 8_000], attack.server.at).unwrap();
    attack.until(|attack| count(attack) == 1);
    // Longer than the path takes, from the session.
    let order = Transmit::Datagram { to: link_of(0) };
    attack
        .server
        .session
        .orders
        .push_back((order, vec![0; 1_900]));
    attack.until(|attack| count(attack) == 2);
    attack.honest_is_heard();
}

#[test]
fn a_peer_that_takes_no_datagrams_is_sent_none() {
    let mut transport = TransportConfig::default();
    transport.datagram_receive_buffer_size(None);
    let mut attack = Attack::new(transport);
    attack.enter();
    attack.until(|attack| {
        let rooms = &attack.server.session.rooms;
        rooms.iter().any(|(_, room)| *room == Room::CLOSED)
    });
    let link = attack.server.session.rooms.iter();
    let link = link.rev().find(|(_, room)| *room == Room::CLOSED).unwrap();
    let order = Transmit::Datagram { to: link.0 };
    attack.server.session.orders.push_back((order, vec![0; 10]));
    attack.until(|attack| attack.server.driver.counters().datagrams_unsendable == 1);
    attack.honest_is_heard();
}

#[test]
fn half_a_ticket_is_waited_for_five_seconds() {
    let mut attack = Attack::new(TransportConfig::default());
    attack.attacker.send_ticket(&[1, 2, 3], false);
    attack.until(|attack| attack.attacker.lost.is_some());
    let lost = attack.attacker.lost.take();
    assert!(
        matches!(lost, Some(ConnectionError::ApplicationClosed(_))),
        "{lost:?}"
    );
    attack.honest_is_heard();
    assert_eq!(attack.server.driver.counters().links_accepted, 1);
}

/// Handshakes are cheap for whoever never goes on. Three hosts that hold more of them than there are places
/// push out each other, not the newcomer.
#[cfg(target_os = "linux")]
#[test]
fn those_who_hold_every_place_at_the_door_give_way_to_a_newcomer() {
    let mut server = Local::new(identity());
    let mut attackers = Vec::new();
    for host in 2..=4 {
        for _ in 0..100 {
            let from = Ipv4Addr::new(127, 0, 0, host);
            attackers.push(Attacker::new(from, server.at, TransportConfig::default()));
        }
    }
    let mut newcomer = Remote::new(server.client());
    // Those who wait are let go after five seconds, or for another. By then it would be no wonder.
    let mut held = 0;
    server.until(&mut newcomer, |server, newcomer| {
        attackers.iter_mut().for_each(Attacker::pump);
        held = attackers
            .iter()
            .filter(|attacker| attacker.is_connected())
            .count();
        newcomer.send(b"!");
        !server.session.datagrams.is_empty()
    });
    assert!(held > limits::HALF_OPEN / 2, "{held} still hold a place");
    assert_eq!(server.driver.counters().links_accepted, 1);
}

#[test]
fn an_address_has_its_share_of_links_and_hanging_up_does_not_help() {
    let mut server = Local::with(Server::new(identity()).links_per_address(2));
    let mut first = Remote::new(server.client());
    let mut second = Remote::new(server.client());
    for client in [&mut first, &mut second] {
        let before = server.driver.counters().links_accepted;
        server.until(client, |server, _| {
            server.driver.counters().links_accepted > before
        });
    }
    let refuse = |server: &mut Local| {
        let mut third = Remote::new(server.client());
        server.until(&mut third, |_, third| third.failure().is_some());
        let failure = third.failure();
        assert!(
            matches!(
                failure,
                Some(LinkFailure::Refused { .. } | LinkFailure::Full)
            ),
            "{failure:?}"
        );
    };
    refuse(&mut server);
    drop(second);
    server.until(&mut first, |server, _| server.session.closed.len() == 1);
    refuse(&mut server);
    // One that the session ended is over at once.
    server.session.order(Transmit::Unlink { link: 0 });
    server.until(&mut first, |_, first| !first.session.closed.is_empty());
    assert_eq!(first.session.closed[0].0, Path::Link(0));
    let mut fourth = Remote::new(server.client());
    server.until(&mut fourth, |server, _| {
        server.driver.counters().links_accepted == 3
    });
}
