//! Those who were not let in: crowds, floods, the curious, the banned.

use std::net::UdpSocket;

use tickwire_net::Driver;
use tickwire_net::quic::{LinkFailure, status_answer, status_question};
use tickwire_session::{Session, Transmit};

use super::{Local, Remote, any_port, identity, link_of};
use crate::PATIENCE;
use crate::probe::Probe;

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

#[test]
fn a_peer_that_is_banned_does_not_come_back_under_another_number() {
    let mut server = Local::new(identity());
    let mut first = Remote::new(server.client());
    server.until(&mut first, |server, _| {
        server.driver.counters().links_accepted == 1
    });
    server.driver.ban_peer(link_of(0));
    server.session.order(Transmit::Unlink { link: 0 });
    server.until(&mut first, |_, first| first.failure().is_some());
    assert_eq!(first.failure(), Some(&LinkFailure::Finished));
    let mut again = Remote::new(server.client());
    server.until(&mut again, |_, again| again.failure().is_some());
    assert_eq!(again.failure(), Some(&LinkFailure::Unreachable));
}
