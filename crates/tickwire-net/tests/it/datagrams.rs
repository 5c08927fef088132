//! UDP: families, floods and what cannot be carried.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tickwire_net::{Carries, Driver, NodeId, limits};
use tickwire_session::echo::DatagramEcho;
use tickwire_session::{Addr, Events, Host, Instant, Room, Transmit};

use crate::bystander::{self, DESERTED};
use crate::probe::Probe;
use crate::{addr_of, turn, turn_until};

/// A driver with one server on it.
fn bound() -> (Driver, NodeId) {
    let mut driver = Driver::new().unwrap();
    let server = driver.bind("127.0.0.1:0".parse().unwrap(), Carries::Datagrams);
    (driver, server.unwrap())
}

/// Binds a server, lets a client reach it at `host`, and checks that what comes back comes from
/// there.
#[track_caller]
fn check_echo(bound: &str, host: IpAddr) {
    let mut driver = Driver::new().unwrap();
    let server = driver
        .bind(bound.parse().unwrap(), Carries::Datagrams)
        .unwrap();
    driver.open();
    let to = Addr {
        host: Host::Ip(host),
        port: addr_of(&driver, server).port,
    };

    let mut sessions = [(); 2].map(|()| DatagramEcho::default());
    for n in 0..200_u8 {
        sessions[1].send(to, &[n; 20]);
    }
    let mut answers = Vec::new();
    turn_until(&mut driver, &mut sessions, |[_, client]| {
        answers.extend(std::iter::from_fn(|| client.poll_event()));
        answers.len() == 200
    });
    for (n, heard) in (0..200_u8).zip(answers) {
        assert_eq!((heard.from, heard.bytes), (to, vec![n; 20]));
    }
    // Both ends are here, so everything counts twice.
    assert_eq!(driver.counters().datagrams_received, 400);
    assert_eq!(driver.counters().datagrams_sent, 400);
}

#[test]
fn ipv4_is_echoed() {
    check_echo("127.0.0.1:0", Ipv4Addr::LOCALHOST.into());
}

#[test]
fn ipv6_is_echoed() {
    check_echo("[::1]:0", Ipv6Addr::LOCALHOST.into());
}

#[test]
fn a_dual_stack_server_is_reached_by_both_and_sees_plain_ipv4() {
    check_echo("[::]:0", Ipv4Addr::LOCALHOST.into());
    check_echo("[::]:0", Ipv6Addr::LOCALHOST.into());
}

/// A connected socket takes nothing from an address that it did not ask.
#[cfg(target_os = "linux")]
#[test]
fn a_server_on_all_addresses_answers_from_the_one_that_was_asked() {
    for bound in ["0.0.0.0:0", "[::]:0"] {
        let mut driver = Driver::new().unwrap();
        let server = driver.bind(bound.parse().unwrap(), Carries::Both).unwrap();
        let port = addr_of(&driver, server).port;
        let clients: Vec<_> = [1, 2, 3]
            .map(|last| {
                let client = bystander::udp_anywhere();
                client
                    .connect((Ipv4Addr::new(127, 0, 0, last), port))
                    .unwrap();
                client.send(&[b'?', last]).unwrap();
                (client, last)
            })
            .into();
        let mut sessions = [DatagramEcho::default()];
        for (client, last) in clients {
            let mut answer = [0; 2];
            turn_until(&mut driver, &mut sessions, |_| {
                client.recv(&mut answer).is_ok()
            });
            assert_eq!(answer, [b'!', last]);
        }
    }
}

#[test]
fn a_server_without_datagrams_is_told_that_there_are_none() {
    let mut driver = Driver::new().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let server = driver.bind(any, Carries::Streams).unwrap();
    let (bot, link) = driver.link(server);
    let mut sessions = [(); 2].map(|()| Probe::default());
    let to = Addr::from(DESERTED);
    sessions[server.index()].order(Transmit::Datagram { to });
    sessions[bot.index()].order(Transmit::Datagram { to: link });
    turn_until(&mut driver, &mut sessions, |[server, bot]| {
        server.rooms == [(to, Room::CLOSED)] && bot.rooms == [(link, Room::CLOSED)]
    });
    assert_eq!(driver.counters().datagrams_unsendable, 2);
}

#[test]
fn one_client_reaches_both_families() {
    let mut driver = Driver::new().unwrap();
    let v4 = driver.bind("127.0.0.1:0".parse().unwrap(), Carries::Datagrams);
    let v6 = driver.bind("[::1]:0".parse().unwrap(), Carries::Datagrams);
    driver.open();
    let [v4, v6] = [v4, v6].map(|node| addr_of(&driver, node.unwrap()));

    let mut sessions = [(); 3].map(|()| DatagramEcho::default());
    for _ in 0..10 {
        sessions[2].send(v4, b"four");
        sessions[2].send(v6, b"six");
    }
    let mut heard = [0, 0];
    turn_until(&mut driver, &mut sessions, |[_, _, client]| {
        for answer in std::iter::from_fn(|| client.poll_event()) {
            heard[usize::from(answer.from == v6)] += 1;
        }
        heard == [10, 10]
    });
}

#[test]
fn a_flood_is_read_in_bounded_portions() {
    let (mut driver, server) = bound();
    let flooder = bystander::udp();
    let to = driver.local_addr(server).unwrap();
    for _ in 0..5_000 {
        flooder.send_to(b"flood", to).unwrap();
    }

    // On loopback what was sent has arrived, as much of it as the kernel's buffer holds. So no turn
    // waits, and the first that finds nothing comes after the last.
    let mut sessions = [Probe::default()];
    let mut portions = Vec::new();
    loop {
        let before = sessions[0].datagrams.len();
        turn(&mut driver, &mut sessions, Duration::ZERO);
        match sessions[0].datagrams.len() - before {
            0 => break,
            portion => portions.push(portion),
        }
    }
    // Fewer than the most if the machine was slow: a turn is bounded in time, too.
    assert!(
        portions.iter().all(|&n| n <= limits::DATAGRAMS_A_TURN),
        "{portions:?}"
    );
    assert!(portions.len() > 1, "{portions:?}");
}

#[test]
fn an_expensive_flood_does_not_hold_up_a_step() {
    let (mut driver, server) = bound();
    let flooder = bystander::udp();
    let to = driver.local_addr(server).unwrap();
    for _ in 0..4 * limits::DATAGRAM_BATCH {
        flooder.send_to(b"flood", to).unwrap();
    }
    // One batch takes longer than a turn has, so the rest is left to the next.
    let mut sessions = [Probe::default()];
    sessions[0].labour = limits::HAND_IN / 32;
    turn(&mut driver, &mut sessions, Duration::ZERO);
    assert_eq!(sessions[0].datagrams.len(), limits::DATAGRAM_BATCH);
}

#[test]
fn an_oversize_datagram_is_dropped_whole() {
    let (mut driver, server) = bound();
    let sender = bystander::udp();
    let to = driver.local_addr(server).unwrap();
    for length in [limits::DATAGRAM_LARGEST + 1, limits::DATAGRAM_LARGEST] {
        sender.send_to(&vec![7; length], to).unwrap();
    }

    let mut sessions = [Probe::default()];
    turn_until(&mut driver, &mut sessions, |[server]| {
        !server.datagrams.is_empty()
    });
    let [server] = &sessions;
    assert_eq!(server.datagrams.len(), 1);
    assert_eq!(server.datagrams[0].1.len(), limits::DATAGRAM_LARGEST);
    assert_eq!(driver.counters().datagrams_oversize, 1);
}

#[test]
fn a_peer_that_refuses_does_not_disturb_the_others() {
    let (mut driver, server) = bound();
    driver.open();
    let server = addr_of(&driver, server);

    let mut sessions = [(); 2].map(|()| DatagramEcho::default());
    for _ in 0..3 {
        // The kernel answers with an ICMP error, which some systems report on the next call.
        for _ in 0..10 {
            sessions[1].send(DESERTED.into(), b"is anybody there");
        }
        sessions[1].send(server, b"hello");
        turn_until(&mut driver, &mut sessions, |[_, client]| {
            client.poll_event().is_some()
        });
    }
}

#[test]
fn what_cannot_be_sent_is_counted_and_the_rest_goes_out() {
    let (mut driver, server) = bound();
    let listener = bystander::udp();
    let fine: Addr = listener.local_addr().unwrap().into();
    let wrong_family = SocketAddr::from((Ipv6Addr::LOCALHOST, 9)).into();
    let too_long = vec![0; 70_000];

    let mut sessions = [Probe::default()];
    for (to, bytes) in [
        (fine, b"first".to_vec()),
        (wrong_family, b"lost".to_vec()),
        (fine, too_long),
        (fine, b"last".to_vec()),
    ] {
        let order = (Transmit::Datagram { to }, bytes);
        sessions[server.index()].orders.push_back(order);
    }
    let mut heard = Vec::new();
    turn_until(&mut driver, &mut sessions, |_| {
        let mut bytes = [0; 100];
        while let Ok(length) = listener.recv(&mut bytes) {
            heard.push(bytes[..length].to_vec());
        }
        heard.len() == 2
    });
    assert_eq!(heard, [b"first".to_vec(), b"last".to_vec()]);
    assert_eq!(driver.counters().datagrams_unsendable, 2);
    assert_eq!(driver.counters().datagrams_sent, 2);
}

#[test]
fn a_session_is_woken_when_it_asked_to_be() {
    let mut driver = Driver::new().unwrap();
    driver.open();
    let moment = driver.now() + Duration::from_micros(2_500);
    let mut session = Probe::default();
    session.wake_at = Some(moment);
    // The turn may last for ever, so that it is the session that ends it.
    while session.woken == 0 {
        driver.turn(Instant::NEVER, &mut [&mut session]).unwrap();
    }
    assert!(driver.now() >= moment);
}

#[test]
fn running_ends_when_the_moment_has_come() {
    let mut driver = Driver::new().unwrap();
    let until = driver.now() + Duration::from_micros(3_300);
    driver.run_until(until, &mut []).unwrap();
    assert!(driver.now() >= until);
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_hears_that_nobody_listens_and_still_reaches_others() {
    let (mut driver, server) = bound();
    let client = driver.open();
    let deserted = Addr::from(DESERTED);
    let mut sessions = [(); 2].map(|()| Probe::default());
    let to = addr_of(&driver, server);
    for to in [deserted, to, deserted, to] {
        let order = (Transmit::Datagram { to }, vec![1]);
        sessions[client.index()].orders.push_back(order);
    }
    turn_until(&mut driver, &mut sessions, |[server, client]| {
        client.closed.len() == 2 && server.datagrams.len() == 2
    });
    let refused = (
        tickwire_session::Path::Datagrams(deserted),
        tickwire_session::Ended::Refused,
    );
    assert_eq!(sessions[client.index()].closed, [refused, refused]);
    assert_eq!(driver.counters().datagrams_unsendable, 0);
}
