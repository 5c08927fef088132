//! TCP: back-pressure, and the ways in which a stream ends.

use std::net::SocketAddr;

use tickwire_net::{Carries, Driver, NodeId, limits};
use tickwire_session::{Ended, Path, StreamId, Transmit};

use crate::bystander::{Bystander, DESERTED};
use crate::probe::Probe;
use crate::{GLANCE, PATIENCE, addr_of, pattern, turn, turn_until};

const DIALLED: StreamId = StreamId::Dialled(0);
const ACCEPTED: StreamId = StreamId::Accepted(0);

/// A driver with a server.
fn server(addr: &str) -> (Driver, NodeId) {
    let mut driver = Driver::new().unwrap();
    let server = driver
        .bind(addr.parse().unwrap(), Carries::Streams)
        .unwrap();
    (driver, server)
}

/// A server and a client with a stream open between them.
fn connected(addr: &str) -> (Driver, [Probe; 2]) {
    let (mut driver, server) = server(addr);
    let client = driver.open();
    let mut sessions = [(); 2].map(|()| Probe::default());
    sessions[client.index()].dial(DIALLED, addr_of(&driver, server));
    turn_until(&mut driver, &mut sessions, |[server, client]| {
        server.opened == [ACCEPTED] && client.opened == [DIALLED]
    });
    (driver, sessions)
}

/// A server with a stream open to a plain socket.
fn visited() -> (Driver, [Probe; 1], Bystander) {
    let (mut driver, server) = server("127.0.0.1:0");
    let bystander = Bystander::dial(driver.local_addr(server).unwrap());
    let mut sessions = [Probe::default()];
    turn_until(&mut driver, &mut sessions, |[server]| {
        server.opened == [ACCEPTED]
    });
    (driver, sessions, bystander)
}

/// Turns until every finished stream is gone.
#[track_caller]
fn part<const N: usize>(driver: &mut Driver, sessions: &mut [Probe; N]) {
    let deadline = driver.now() + limits::CLOSING_PATIENCE / 2;
    while driver.closing_streams() > 0 {
        assert!(driver.now() < deadline, "a farewell takes too long");
        turn(driver, sessions, GLANCE);
    }
}

#[test]
fn bytes_cross_in_order_both_ways_in_both_families() {
    for addr in ["127.0.0.1:0", "[::1]:0"] {
        let (mut driver, mut sessions) = connected(addr);
        let bytes = pattern(3_000_000);
        sessions[0].pour(ACCEPTED, &bytes);
        sessions[1].pour(DIALLED, &bytes);
        turn_until(&mut driver, &mut sessions, |[server, client]| {
            server.heard_on(ACCEPTED).len() == bytes.len()
                && client.heard_on(DIALLED).len() == bytes.len()
        });
        assert!(sessions[0].heard_on(ACCEPTED) == bytes);
        assert!(sessions[1].heard_on(DIALLED) == bytes);
        assert_eq!(driver.counters().stream_bytes_sent, 6_000_000);
        assert_eq!(driver.counters().stream_bytes_received, 6_000_000);
    }
}

#[test]
fn a_peer_that_does_not_read_is_sent_a_bounded_amount() {
    let (mut driver, mut sessions, mut bystander) = visited();
    // More than the kernel's buffers hold, at both ends together.
    let bytes = pattern(24 * 1_024 * 1_024);
    sessions[0].pour(ACCEPTED, &bytes);
    turn_until(&mut driver, &mut sessions, |[server]| {
        server.room.get(&ACCEPTED) == Some(&0)
    });
    let stuck_at = sessions[0].poured;
    assert!(stuck_at < bytes.len());
    let taken = driver.counters().stream_bytes_sent;
    assert!(stuck_at as u64 - taken <= limits::STREAM_PENDING as u64);

    // Once it reads, everything comes.
    turn_until(&mut driver, &mut sessions, |_| {
        bystander.read();
        bystander.heard.len() == bytes.len()
    });
    assert!(bystander.heard == bytes);
    assert!(bystander.ended.is_none());
}

#[test]
fn one_turn_reads_a_bounded_amount_and_the_end_comes_after_everything() {
    let (mut driver, mut sessions, mut bystander) = visited();
    let bytes = pattern(1_000_000);
    let mut written = 0;
    let deadline = driver.now() + PATIENCE;
    while sessions[0].closed.is_empty() {
        assert!(driver.now() < deadline, "the end should have come by now");
        if written < bytes.len() {
            written += bystander.write(&bytes[written..]);
            if written == bytes.len() {
                bystander.finish_writing();
            }
        }
        let before = sessions[0].heard_on(ACCEPTED).len();
        turn(&mut driver, &mut sessions, GLANCE);
        let read = sessions[0].heard_on(ACCEPTED).len() - before;
        assert!(read <= limits::STREAM_READ);
    }
    assert!(sessions[0].heard_on(ACCEPTED) == bytes);
    let path = Path::Stream(ACCEPTED);
    assert_eq!(sessions[0].closed, [(path, Ended::Finished)]);
}

#[test]
fn finishing_delivers_everything_even_to_a_peer_that_goes_on_sending() {
    let (mut driver, mut sessions, mut bystander) = visited();
    let farewell = pattern(limits::STREAM_PENDING);
    turn_until(&mut driver, &mut sessions, |[server]| {
        server.room.get(&ACCEPTED) == Some(&limits::STREAM_PENDING)
    });
    sessions[0].send(ACCEPTED, &farewell);
    sessions[0].order(Transmit::Finish { on: ACCEPTED });
    // A socket that is closed with these unread, or is sent them later, resets the connection.
    let mut chatter = 400_000;
    while chatter > 0 {
        chatter -= bystander.write(&pattern(chatter.min(50_000)));
        turn(&mut driver, &mut sessions, GLANCE);
    }
    turn_until(&mut driver, &mut sessions, |_| {
        bystander.read();
        bystander.ended.is_some()
    });
    assert!(bystander.heard == farewell);
    assert!(matches!(bystander.ended, Some(Ok(()))));
    assert_eq!(driver.closing_streams(), 1);

    drop(bystander);
    part(&mut driver, &mut sessions);
    // The session heard nothing after it finished.
    assert!(sessions[0].heard_on(ACCEPTED).is_empty());
    assert!(sessions[0].closed.is_empty());
}

#[test]
fn what_was_given_before_the_peer_finished_is_still_sent() {
    let (mut driver, mut sessions, mut bystander) = visited();
    let bytes = pattern(8 * 1_024 * 1_024);
    sessions[0].pour(ACCEPTED, &bytes);
    turn_until(&mut driver, &mut sessions, |[server]| {
        server.room.get(&ACCEPTED) == Some(&0)
    });
    bystander.finish_writing();
    turn_until(&mut driver, &mut sessions, |[server]| {
        server.closed == [(Path::Stream(ACCEPTED), Ended::Finished)]
    });
    turn_until(&mut driver, &mut sessions, |_| {
        bystander.read();
        bystander.ended.is_some()
    });
    assert!(matches!(bystander.ended, Some(Ok(()))));
    assert!(bystander.heard == bytes[..sessions[0].poured]);
}

#[test]
fn aborting_resets_the_peer() {
    let (mut driver, mut sessions) = connected("127.0.0.1:0");
    sessions[0].order(Transmit::Abort { on: ACCEPTED });
    turn_until(&mut driver, &mut sessions, |[_, client]| {
        client.closed == [(Path::Stream(DIALLED), Ended::Reset)]
    });
    assert!(sessions[0].closed.is_empty());
    assert_eq!(driver.closing_streams(), 0);
}

#[test]
fn finishing_is_heard_as_finished_by_the_peer() {
    let (mut driver, mut sessions) = connected("127.0.0.1:0");
    sessions[1].send(DIALLED, b"that is all");
    sessions[1].order(Transmit::Finish { on: DIALLED });
    turn_until(&mut driver, &mut sessions, |[server, _]| {
        server.closed == [(Path::Stream(ACCEPTED), Ended::Finished)]
    });
    assert_eq!(sessions[0].heard_on(ACCEPTED), b"that is all");
    part(&mut driver, &mut sessions);
}

#[test]
fn dialling_where_nobody_listens_is_refused() {
    let mut driver = Driver::new().unwrap();
    driver.open();
    let mut sessions = [Probe::default()];
    sessions[0].dial(DIALLED, DESERTED.into());
    turn_until(&mut driver, &mut sessions, |[client]| {
        client.closed == [(Path::Stream(DIALLED), Ended::Refused)]
    });
    assert!(sessions[0].opened.is_empty());
}

#[test]
fn dialling_what_cannot_be_reached_says_so() {
    let mut driver = Driver::new().unwrap();
    driver.open();
    let mut sessions = [Probe::default()];
    // The broadcast address: no system connects to it.
    let nowhere = SocketAddr::from(([255, 255, 255, 255], 9));
    sessions[0].dial(DIALLED, nowhere.into());
    turn_until(&mut driver, &mut sessions, |[client]| {
        client.closed == [(Path::Stream(DIALLED), Ended::Unreachable)]
    });
}

#[test]
fn a_dial_that_is_given_up_is_not_heard_of() {
    let (mut driver, server) = server("127.0.0.1:0");
    driver.open();
    let mut sessions = [(); 2].map(|()| Probe::default());
    sessions[1].dial(DIALLED, addr_of(&driver, server));
    sessions[1].order(Transmit::Abort { on: DIALLED });
    let second = StreamId::Dialled(1);
    sessions[1].dial(second, addr_of(&driver, server));
    turn_until(&mut driver, &mut sessions, |[_, client]| {
        client.opened.contains(&second)
    });
    assert_eq!(sessions[1].opened, [second]);
    assert!(sessions[1].closed.is_empty());
}

#[test]
fn a_session_that_overdraws_its_room_loses_the_stream() {
    let (mut driver, mut sessions) = connected("127.0.0.1:0");
    sessions[1].send(DIALLED, &vec![0; limits::STREAM_PENDING + 1]);
    turn_until(&mut driver, &mut sessions, |[server, client]| {
        server.closed == [(Path::Stream(ACCEPTED), Ended::Reset)]
            && client.closed == [(Path::Stream(DIALLED), Ended::Reset)]
    });
    assert_eq!(driver.counters().streams_overdrawn, 1);
}

#[test]
fn closing_a_node_cuts_its_streams() {
    let (mut driver, server) = server("127.0.0.1:0");
    let client = driver.open();
    let mut sessions = [(); 2].map(|()| Probe::default());
    sessions[client.index()].dial(DIALLED, addr_of(&driver, server));
    turn_until(&mut driver, &mut sessions, |[server, client]| {
        !server.opened.is_empty() && !client.opened.is_empty()
    });
    driver.close(server);
    turn_until(&mut driver, &mut sessions, |[_, client]| {
        client.closed == [(Path::Stream(DIALLED), Ended::Reset)]
    });
    assert!(sessions[server.index()].closed.is_empty());
}

#[test]
fn a_peer_that_vanishes_resets_the_stream() {
    let (mut driver, mut sessions, bystander) = visited();
    // A socket that is closed with bytes unread resets its connection.
    sessions[0].send(ACCEPTED, b"unread");
    turn_until(&mut driver, &mut sessions, |_| {
        bystander.has_something_to_read()
    });
    drop(bystander);
    turn_until(&mut driver, &mut sessions, |[server]| {
        server.closed == [(Path::Stream(ACCEPTED), Ended::Reset)]
    });
}
