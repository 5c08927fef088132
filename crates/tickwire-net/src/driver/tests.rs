//! What sockets of a test machine do not do by themselves: being full, and being few.

use std::io::Read;
use std::net::{TcpStream, UdpSocket};

use tickwire_session::echo::{DatagramEcho, StreamEcho, StreamHeard};
use tickwire_session::tap::{Input, Observer, Tap};
use tickwire_session::{Events, Transmit};

use super::*;

/// Remembers what its session was told of datagram paths.
#[derive(Default)]
struct Rooms(Vec<(Path, Room)>);

impl Observer for Rooms {
    fn input(&mut self, _now: Instant, input: Input<'_>) {
        if let Input::Room { path, room } = input {
            self.0.push((path, room));
        }
    }

    fn output(&mut self, _now: Instant, _transmit: Transmit, _bytes: &[u8]) {}
}

#[test]
fn a_full_socket_is_told_once_and_again_when_it_takes_something() {
    let mut driver = Driver::new().unwrap();
    let id = driver.open();
    let peer: Addr = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .into();
    let mut session = Tap::new(DatagramEcho::default(), Rooms::default());
    session.session.send(peer, b"makes the socket");
    let now = driver.now();
    driver.turn(now, &mut [&mut session]).unwrap();

    // As if the socket had refused three datagrams to one peer.
    let token = driver.nodes[id.0].v4.unwrap();
    for _ in 0..3 {
        driver.sockets.watch_full(token);
        driver.nodes[id.0].report_full(peer);
    }
    while session.observer.0.len() < 2 {
        let until = driver.now() + Duration::from_secs(30);
        driver.turn(until, &mut [&mut session]).unwrap();
        assert!(driver.now() < until, "nothing was told");
    }
    let path = Path::Datagrams(peer);
    let nothing = Room {
        bytes: 0,
        ..Room::DATAGRAMS
    };
    assert_eq!(
        session.observer.0,
        [(path, nothing), (path, Room::DATAGRAMS)]
    );
    assert!(driver.nodes[id.0].full_paths.is_empty());
}

#[test]
fn a_short_path_is_told_without_its_headers() {
    let largest = |to: &str, mtu| serve::path_room(to.parse().unwrap(), mtu).largest;
    assert_eq!(largest("192.0.2.1", 1_028), 1_000);
    assert_eq!(largest("2001:db8::1", 1_048), 1_000);
    assert_eq!(largest("192.0.2.1", 20), 0);
    // Nobody is told to send more than usual.
    assert_eq!(largest("192.0.2.1", 9_000), Room::DATAGRAMS.largest);
}

/// Turns until `done`.
#[track_caller]
fn turn_until(
    driver: &mut Driver,
    sessions: &mut [StreamEcho; 2],
    mut done: impl FnMut(&mut [StreamEcho; 2]) -> bool,
) {
    let deadline = driver.now() + Duration::from_secs(30);
    while !done(sessions) {
        assert!(driver.now() < deadline, "this should have happened by now");
        let until = driver.now() + Duration::from_millis(5);
        let mut borrowed = sessions
            .each_mut()
            .map(|session| session as &mut dyn Session);
        driver.turn(until, &mut borrowed).unwrap();
    }
}

#[test]
fn a_server_that_has_its_share_of_connections_leaves_the_others_theirs() {
    const SHARE: usize = 5;
    let mut driver = Driver::new().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let servers = [(); 2].map(|()| driver.bind(any, Carries::Streams).unwrap());
    let [crowded, quiet] = servers.map(|node| driver.local_addr(node).unwrap());
    driver.files = limits::FILES_RESERVED + 2 * SHARE;
    let mut sessions = [(); 2].map(|()| StreamEcho::default());

    let mut silent: Vec<_> = (0..SHARE)
        .map(|_| TcpStream::connect(crowded).unwrap())
        .collect();
    let mut opened = Vec::new();
    turn_until(&mut driver, &mut sessions, |[server, _]| {
        opened.extend(std::iter::from_fn(|| server.poll_event()));
        opened.len() == SHARE
    });
    let mut refused = TcpStream::connect(crowded).unwrap();
    refused.set_nonblocking(true).unwrap();
    turn_until(&mut driver, &mut sessions, |_| {
        // It may be closed or reset: somebody who says nothing does not notice.
        !matches!(refused.read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    });
    assert_eq!(driver.counters().connections_refused, 1);

    // The other server has places.
    silent.push(TcpStream::connect(quiet).unwrap());
    turn_until(&mut driver, &mut sessions, |[_, server]| {
        server.poll_event().is_some()
    });

    // One that the session ends makes place for another at once, though its peer does not close.
    let StreamHeard::Opened(on) = opened[0] else {
        panic!("{:?}", opened[0]);
    };
    sessions[0].finish(on);
    turn_until(&mut driver, &mut sessions, |_| true);
    silent.push(TcpStream::connect(crowded).unwrap());
    turn_until(&mut driver, &mut sessions, |[server, _]| {
        server.poll_event().is_some()
    });
    assert_eq!(driver.closing_streams(), 0);
    assert_eq!(driver.counters().connections_refused, 1);
}
