//! Both implementations, by the same checks.

use std::net::Ipv4Addr;

use mio::{Interest, Token};

use super::*;

type Receive = fn(&UdpSocket, &mut [Slot], &mut Vec<Arrival>) -> io::Result<()>;
type Send = fn(&UdpSocket, &[Departure], &[u8]) -> io::Result<usize>;
type Wait = fn(&mut Poll, &mut Events, Duration) -> io::Result<()>;

fn implementations() -> Vec<(Receive, Send)> {
    vec![
        #[cfg(target_os = "linux")]
        (linux::receive, linux::send),
        (portable::receive, portable::send),
    ]
}

fn waits() -> Vec<Wait> {
    vec![
        #[cfg(target_os = "linux")]
        linux::poll,
        portable::poll,
    ]
}

/// Two sockets, and the address of the second.
fn pair() -> (UdpSocket, UdpSocket, SocketAddr) {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let (a, b) = (bind(), bind());
    let addr = b.local_addr().unwrap();
    (a, b, addr)
}

fn departures(to: SocketAddr, lengths: &[usize]) -> (Vec<Departure>, Vec<u8>) {
    let mut at = 0;
    let mut departures = Vec::new();
    for length in lengths {
        departures.push(Departure {
            to: to.into(),
            from: None,
            bytes: at..at + length,
            segment: None,
        });
        at += length;
    }
    let bytes = (0..at).map(|n| n.to_le_bytes()[0]).collect();
    (departures, bytes)
}

#[test]
fn a_batch_arrives_as_it_was_sent() {
    for (receive, send) in implementations() {
        let (a, b, to) = pair();
        let (departures, bytes) = departures(to, &[5, 0, DATAGRAM_LARGEST, 1]);
        assert_eq!(send(&a, &departures, &bytes).unwrap(), 4);

        let mut arrivals = Arrivals::new();
        receive(&b, &mut arrivals.slots, &mut arrivals.found).unwrap();
        let got: Vec<_> = arrivals.iter().collect();
        assert_eq!(got.len(), 4);
        for (received, departure) in got.into_iter().zip(departures) {
            assert_eq!(received.from, a.local_addr().unwrap());
            assert_eq!(received.bytes, Ok(&bytes[departure.bytes]));
            assert_eq!(received.asked, None);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_address_that_was_asked_is_told_and_answered_from() {
    // The address that a server is bound to, and one that peers ask it at.
    let cases = [
        ("0.0.0.0:0", "127.0.0.2"),
        ("[::]:0", "127.0.0.2"),
        ("[::]:0", "::1"),
    ];
    for (bound, asked) in cases {
        let bound: SocketAddr = bound.parse().unwrap();
        let asked: IpAddr = asked.parse().unwrap();
        let server = UdpSocket::bind(bound).unwrap();
        linux::report_asked(&server, bound.ip()).unwrap();
        let to = SocketAddr::new(asked, server.local_addr().unwrap().port());
        let any = match asked {
            IpAddr::V4(_) => "0.0.0.0:0",
            IpAddr::V6(_) => "[::]:0",
        };
        let client = std::net::UdpSocket::bind(any).unwrap();
        client.connect(to).unwrap();
        client.send(b"hello").unwrap();

        let mut arrivals = Arrivals::new();
        linux::receive(&server, &mut arrivals.slots, &mut arrivals.found).unwrap();
        let received = arrivals.iter().next().unwrap();
        let source = received.asked.unwrap();
        assert_eq!(source.to_canonical(), asked);

        // A connected socket takes nothing from elsewhere.
        let answer = Departure {
            to: received.from.into(),
            from: Some(source),
            bytes: 0..5,
            segment: None,
        };
        assert_eq!(linux::send(&server, &[answer], b"there").unwrap(), 1);
        client.set_nonblocking(true).unwrap();
        let mut answer = [0; 9];
        assert_eq!(client.recv(&mut answer).unwrap(), 5);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn one_departure_carries_several_datagrams() {
    let (a, b, to) = pair();
    let (mut departures, bytes) = departures(to, &[10, 4]);
    departures[0].segment = Some(4);
    departures[0].from = Some(Ipv4Addr::LOCALHOST.into());
    assert_eq!(departures[0].datagrams(), 3);
    // A kernel that cannot is met with single datagrams: see `outgoing`.
    if linux::send(&a, &departures, &bytes).is_err() {
        return;
    }
    let mut arrivals = Arrivals::new();
    linux::receive(&b, &mut arrivals.slots, &mut arrivals.found).unwrap();
    let got: Vec<_> = arrivals
        .iter()
        .map(|received| received.bytes.unwrap())
        .collect();
    assert_eq!(
        got,
        [&bytes[..4], &bytes[4..8], &bytes[8..10], &bytes[10..]]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_limit_is_raised_as_far_as_it_may_and_never_lowered() {
    let before = linux::raise_file_limit(0);
    let after = linux::raise_file_limit(before + 1);
    assert!((before..=before + 1).contains(&after));
    assert_eq!(linux::raise_file_limit(0), after);
}

#[test]
fn no_more_arrive_than_there_are_slots() {
    for (receive, send) in implementations() {
        let (a, b, to) = pair();
        let (departures, bytes) = departures(to, &[3; 10]);
        assert_eq!(send(&a, &departures, &bytes).unwrap(), 10);

        let mut arrivals = Arrivals::new();
        receive(&b, &mut arrivals.slots[..4], &mut arrivals.found).unwrap();
        assert_eq!(arrivals.iter().count(), 4);
    }
}

#[cfg(unix)]
#[test]
fn a_datagram_above_the_largest_is_oversize_and_not_cut() {
    for (receive, send) in implementations() {
        let (a, b, to) = pair();
        let (departures, bytes) = departures(to, &[DATAGRAM_LARGEST + 1, 3 * DATAGRAM_LARGEST, 4]);
        assert_eq!(send(&a, &departures, &bytes).unwrap(), 3);

        let mut arrivals = Arrivals::new();
        receive(&b, &mut arrivals.slots, &mut arrivals.found).unwrap();
        let lengths: Vec<_> = arrivals
            .iter()
            .map(|received| received.bytes.map(<[u8]>::len))
            .collect();
        assert_eq!(lengths, [Err(Oversize), Err(Oversize), Ok(4)]);
    }
}

#[test]
fn an_empty_socket_says_so() {
    for (receive, _) in implementations() {
        let (a, _, _) = pair();
        let mut arrivals = Arrivals::new();
        let error = receive(&a, &mut arrivals.slots, &mut arrivals.found).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}

#[test]
fn what_cannot_be_sent_ends_the_batch_before_it() {
    for (_, send) in implementations() {
        let (a, _, to) = pair();
        let (departures, bytes) = departures(to, &[3, 70_000, 3]);
        assert_eq!(send(&a, &departures, &bytes).unwrap(), 1);
        assert!(send(&a, &departures[1..], &bytes).is_err());
        assert_eq!(send(&a, &departures[2..], &bytes).unwrap(), 1);
    }
}

#[test]
fn a_wait_ends_when_a_socket_is_ready_or_its_time_is_up() {
    const BRIEF: Duration = Duration::from_micros(2_300);
    const LONG: Duration = Duration::from_secs(600);
    for wait in waits() {
        let (a, mut b, to) = pair();
        let mut poll = Poll::new().unwrap();
        let mut events = Events::with_capacity(4);
        poll.registry()
            .register(&mut b, Token(7), Interest::READABLE)
            .unwrap();
        wait(&mut poll, &mut events, BRIEF).unwrap();
        assert!(events.is_empty());

        // However long it may wait, it does not if there is something.
        a.send_to(b"news", to).unwrap();
        wait(&mut poll, &mut events, LONG).unwrap();
        let ready: Vec<_> = events.iter().map(|event| event.token()).collect();
        assert_eq!(ready, [Token(7)]);

        // Told once, it is not told again.
        wait(&mut poll, &mut events, Duration::ZERO).unwrap();
        assert!(events.is_empty());
    }
}

#[test]
fn a_system_that_tells_nothing_is_asked_nothing() {
    assert_eq!(portable::SEGMENTS, 1);
    assert!(!portable::is_full(&io::ErrorKind::OutOfMemory.into()));
    assert_eq!(portable::raise_file_limit(7), 7);
    let (a, b, to) = pair();
    drop(b);
    portable::report_asked(&a, to.ip()).unwrap();
    portable::keep_errors(&a, to.ip()).unwrap();
    assert!(portable::forbid_fragments(&a, to.ip()).is_err());
    let (departures, bytes) = departures(to, &[1]);
    portable::send(&a, &departures, &bytes).unwrap();
    let told = portable::take_error(&a).map_err(|error| error.kind());
    assert_eq!(told, Err(io::ErrorKind::WouldBlock));
}

#[cfg(target_os = "linux")]
#[test]
fn a_refusal_names_where_the_datagram_was_sent() {
    let (a, b, to) = pair();
    drop(b);
    linux::keep_errors(&a, to.ip()).unwrap();
    let (departures, bytes) = departures(to, &[1]);
    linux::send(&a, &departures, &bytes).unwrap();
    // On loopback the answer is there before the call returns.
    assert_eq!(linux::take_error(&a).unwrap(), Failure::Refused(to));
    let told = linux::take_error(&a).map_err(|error| error.kind());
    assert_eq!(told, Err(io::ErrorKind::WouldBlock));
}
