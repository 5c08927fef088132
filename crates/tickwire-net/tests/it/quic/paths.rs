//! What a network does to a link: it moves, loses, delays, and is narrow.

use std::time::Duration;

use tickwire_net::limits;
use tickwire_net::quic::{Identity, LinkFailure};
use tickwire_session::{Ended, Path, Room, StreamId, Transmit};
use tickwire_sim::Chance;

use super::{Local, Remote, client_of, identity, link_of};
use crate::pattern;
use crate::relay::Relay;

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

    // As if the first were killed: nobody is told. Silence alone would end the link after more than a test waits.
    let mut restarted = Local::new(kept());
    relay.target = restarted.at;
    std::mem::forget(server);
    client.send(b"?");
    restarted.until(&mut client, |server, client| {
        relay.pump(server.driver.now());
        !client.session.closed.is_empty()
    });
    assert_eq!(client.session.closed, [(Path::Link(0), Ended::Reset)]);
    assert_eq!(client.failure(), Some(&LinkFailure::Restarted));
}

#[test]
fn a_lossy_path_carries_streams_whole_and_datagrams_mostly() {
    let mut server = Local::new(identity());
    let mut relay = Relay::to(server.at);
    let mut client = Remote::new(client_of(relay.addr(), server.fingerprint));
    relay.loss = Chance::percent(5);
    relay.delay = Duration::from_millis(45);
    relay.jitter = Duration::from_millis(10);
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
fn a_session_that_does_not_read_slows_its_peer_down() {
    let mut server = Local::new(identity());
    let mut client = Remote::new(server.client());
    let on = StreamId::Dialled(0);
    client.session.dial(on, client.server);
    server.until(&mut client, |server, _| server.session.opened.len() == 1);

    server.session.is_holding = true;
    let bytes = pattern(1_000_000);
    client.session.pour(on, &bytes);
    server.until(&mut client, |_, client| client.session.room[&on] == 0);
    let poured = client.session.poured;
    let most = limits::LINK_STREAM_WINDOW as usize + limits::STREAM_PENDING;
    assert!(
        poured <= most + limits::LINK_SEND_WINDOW as usize,
        "{poured}"
    );
    assert!(server.session.heard_on(StreamId::Accepted(0)).is_empty());
    // Datagrams do not wait behind it.
    client.send(b"newer");
    server.until(&mut client, |server, _| server.session.datagrams.len() == 1);

    server.session.is_holding = false;
    server.until(&mut client, |server, _| {
        server.session.heard_on(StreamId::Accepted(0)).len() == bytes.len()
    });
    assert!(server.session.heard_on(StreamId::Accepted(0)) == bytes);
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
