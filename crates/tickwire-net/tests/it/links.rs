//! Memory links.

use tickwire_net::{Carries, Driver, limits};
use tickwire_session::echo::DatagramEcho;
use tickwire_session::{Addr, Ended, Events, Host, Path, Room, StreamId, Transmit};

use crate::probe::Probe;
use crate::{pattern, turn_until};

const DIALLED: StreamId = StreamId::Dialled(0);
const ACCEPTED: StreamId = StreamId::Accepted(0);

/// A server and a bot joined to it, and the link's address.
fn linked(carries: Carries) -> (Driver, Addr) {
    let mut driver = Driver::new().unwrap();
    let server = driver
        .bind("127.0.0.1:0".parse().unwrap(), carries)
        .unwrap();
    let (_, link) = driver.link(server);
    (driver, link)
}

/// A link's number.
fn number(link: Addr) -> u64 {
    match link.host {
        Host::Link(number) => number,
        Host::Ip(_) => panic!("{link} is no link"),
    }
}

/// The same, with a stream open between them.
fn piped() -> (Driver, [Probe; 2]) {
    let (mut driver, link) = linked(Carries::Both);
    let mut sessions = [(); 2].map(|()| Probe::default());
    sessions[1].dial(DIALLED, link);
    turn_until(&mut driver, &mut sessions, |[server, bot]| {
        server.opened == [ACCEPTED] && bot.opened == [DIALLED]
    });
    (driver, sessions)
}

#[test]
fn datagrams_cross_and_both_ends_have_one_address() {
    let (mut driver, link) = linked(Carries::Datagrams);
    let mut sessions = [(); 2].map(|()| DatagramEcho::default());
    sessions[0].send(link, b"from the server");
    sessions[1].send(link, b"from the bot");
    let mut heard = Vec::new();
    turn_until(&mut driver, &mut sessions, |sessions| {
        heard.extend(sessions.iter_mut().filter_map(Events::poll_event));
        heard.len() == 2
    });
    assert!(heard.iter().all(|heard| heard.from == link));
    assert_eq!(driver.counters().datagrams_linked, 4);
    assert_eq!(driver.counters().datagrams_sent, 0);
}

#[test]
fn what_a_link_cannot_carry_is_dropped_and_counted() {
    let (mut driver, link) = linked(Carries::Datagrams);
    let mut sessions = [(); 2].map(|()| Probe::default());
    let order = |length| (Transmit::Datagram { to: link }, vec![1; length]);
    let flood = (0..limits::LINK_DATAGRAMS + 10).map(|_| order(1));
    sessions[1]
        .orders
        .push_back(order(limits::DATAGRAM_LARGEST + 1));
    sessions[1].orders.extend(flood);
    turn_until(&mut driver, &mut sessions, |[server, _]| {
        server.datagrams.len() == limits::LINK_DATAGRAMS
    });
    assert_eq!(driver.counters().datagrams_oversize, 1);
    assert_eq!(driver.counters().datagrams_overrun, 10);
    // The sender was told, once, that there was no room, and then that there is again.
    turn_until(&mut driver, &mut sessions, |[_, bot]| bot.rooms.len() == 2);
    let bytes = [0, u32::MAX];
    let rooms = bytes.map(|bytes| {
        (
            link,
            Room {
                bytes,
                ..Room::DATAGRAMS
            },
        )
    });
    assert_eq!(sessions[1].rooms, rooms);
}

#[test]
fn a_stream_carries_more_than_its_room_in_order() {
    let (mut driver, mut sessions) = piped();
    let bytes = pattern(1_000_000);
    sessions[0].pour(ACCEPTED, &bytes);
    sessions[1].pour(DIALLED, &bytes);
    turn_until(&mut driver, &mut sessions, |[server, bot]| {
        server.heard_on(ACCEPTED).len() == bytes.len() && bot.heard_on(DIALLED).len() == bytes.len()
    });
    assert_eq!(sessions[0].heard_on(ACCEPTED), bytes);
    assert_eq!(sessions[1].heard_on(DIALLED), bytes);
}

#[test]
fn finishing_delivers_the_last_bytes_and_aborting_resets() {
    for (order, why) in [
        (Transmit::Finish { on: DIALLED }, Ended::Finished),
        (Transmit::Abort { on: DIALLED }, Ended::Reset),
    ] {
        let (mut driver, mut sessions) = piped();
        sessions[1].send(DIALLED, b"last words");
        sessions[1].order(order);
        // Sent too late: the bot has left.
        sessions[0].send(ACCEPTED, b"wait");
        turn_until(&mut driver, &mut sessions, |[server, _]| {
            server.closed == [(Path::Stream(ACCEPTED), why)]
        });
        assert_eq!(sessions[0].heard_on(ACCEPTED), b"last words");
        assert!(sessions[1].closed.is_empty() && sessions[1].heard.is_empty());
    }
}

#[test]
fn a_session_that_overdraws_its_room_loses_the_stream() {
    let (mut driver, mut sessions) = piped();
    sessions[1].send(DIALLED, &vec![0; limits::STREAM_PENDING + 1]);
    turn_until(&mut driver, &mut sessions, |[server, bot]| {
        server.closed == [(Path::Stream(ACCEPTED), Ended::Reset)]
            && bot.closed == [(Path::Stream(DIALLED), Ended::Reset)]
    });
    assert_eq!(driver.counters().streams_overdrawn, 1);
}

#[test]
fn dialling_a_node_that_takes_no_streams_is_refused() {
    let (mut driver, link) = linked(Carries::Datagrams);
    let mut sessions = [(); 2].map(|()| Probe::default());
    sessions[1].dial(DIALLED, link);
    turn_until(&mut driver, &mut sessions, |[_, bot]| {
        bot.closed == [(Path::Stream(DIALLED), Ended::Refused)]
    });
}

#[test]
fn closing_a_node_tells_the_other_end_of_its_link() {
    let mut driver = Driver::new().unwrap();
    let server = driver.open();
    let (bot, link) = driver.link(server);
    let mut sessions = [(); 2].map(|()| Probe::default());
    sessions[bot.index()].dial(DIALLED, link);
    turn_until(&mut driver, &mut sessions, |[server, _]| {
        server.opened == [ACCEPTED]
    });

    driver.close(bot);
    // Another takes the position at once, and its stream has the same number.
    let (next, next_link) = driver.link(server);
    assert_eq!(next, bot);
    sessions[next.index()] = Probe::default();
    sessions[next.index()].dial(DIALLED, next_link);
    sessions[server.index()].send(ACCEPTED, b"for the one that left");
    turn_until(&mut driver, &mut sessions, |[server, next]| {
        server.opened.len() == 2 && !next.opened.is_empty()
    });
    let [server, next] = &mut sessions;
    assert_eq!(
        server.closed,
        [
            (Path::Stream(ACCEPTED), Ended::Reset),
            (Path::Link(number(link)), Ended::Finished)
        ]
    );
    assert!(next.heard.is_empty());
    assert_eq!(driver.counters().orders_stray, 1);

    // The old link leads nowhere.
    server.dial(DIALLED, link);
    turn_until(&mut driver, &mut sessions, |[server, _]| {
        server.closed.last() == Some(&(Path::Stream(DIALLED), Ended::Unreachable))
    });
}
