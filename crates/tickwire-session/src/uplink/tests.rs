use alloc::vec::Vec;

use super::*;
use crate::Host;

const SERVER: Addr = Addr {
    host: Host::Link(1),
    port: 7,
};

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

const fn stream(number: u32) -> StreamId {
    StreamId::Dialled(number)
}

fn orders(uplink: &mut Uplink) -> Vec<Transmit> {
    core::iter::from_fn(|| uplink.poll_order()).collect()
}

/// An uplink whose stream opened after 40 ms.
fn open() -> Uplink {
    let mut uplink = Uplink::dial(at(0), SERVER).with_retry(Duration::from_secs(60));
    orders(&mut uplink);
    assert!(uplink.handle_opened(at(40), stream(0)));
    uplink
}

#[test]
fn it_dials_once_and_measures_the_way() {
    let mut uplink = Uplink::dial(at(0), SERVER);
    let (on, to) = (stream(0), SERVER);
    assert_eq!(orders(&mut uplink), [Transmit::Dial { on, to }]);
    assert!(!uplink.handle_opened(at(40), stream(1)), "somebody else's");
    assert!(uplink.handle_opened(at(40), on));
    assert!(!uplink.handle_opened(at(41), on), "it is open already");
    assert_eq!(uplink.round_trip.mean(), Some(Duration::from_millis(40)));
}

#[test]
fn the_end_is_an_abort_before_opening_and_polite_after() {
    let mut uplink = Uplink::dial(at(0), SERVER);
    uplink.end();
    assert_eq!(orders(&mut uplink), [], "never dialled");
    assert!(uplink.is_finished());

    let mut uplink = Uplink::dial(at(0), SERVER);
    orders(&mut uplink);
    uplink.end();
    assert!(!uplink.is_finished(), "the order is not carried out");
    assert_eq!(orders(&mut uplink), [Transmit::Abort { on: stream(0) }]);

    let mut uplink = open();
    uplink.end();
    uplink.end();
    assert_eq!(orders(&mut uplink), [Transmit::Finish { on: stream(0) }]);
    assert_eq!(uplink.deadline(Duration::from_secs(1)), None);
}

#[test]
fn only_the_own_stream_s_end_counts() {
    let mut uplink = open();
    assert_eq!(uplink.handle_closed(Path::Datagrams(SERVER)), None);
    assert_eq!(uplink.handle_closed(Path::Stream(stream(3))), None);
    let own = Path::Stream(stream(0));
    assert_eq!(uplink.handle_closed(own), Some(StreamLoss::Closed));
    assert_eq!(uplink.handle_closed(own), None);

    let mut uplink = Uplink::dial(at(0), SERVER);
    assert_eq!(uplink.handle_closed(own), Some(StreamLoss::Unreachable));
}

#[test]
fn a_token_is_shown_when_due_and_void_with_its_stream() {
    let mut uplink = open();
    assert_eq!(uplink.due_token(at(50)), None);
    uplink.set_token(at(50), Token(9));
    assert_eq!(uplink.due_token(at(50)), Some(Token(9)));
    uplink.set_attach_at(at(150));
    assert_eq!(uplink.due_token(at(149)), None);
    assert_eq!(uplink.attach_at(), Some(at(150)));
    uplink.redial(at(160));
    assert_eq!((uplink.token(), uplink.attach_at()), (None, None));
    assert_eq!(uplink.stream_room(), 0);
}

#[test]
fn pauses_grow_until_patience_ends() {
    let mut uplink = open();
    let mut now = at(1_000);
    let mut pauses = Vec::new();
    while let Some(pause) = uplink.lose(now, true) {
        pauses.push(pause.as_millis());
        assert!(!uplink.redial_if_due(now) || pause.is_zero());
        now += pause;
        uplink.redial_if_due(now);
        orders(&mut uplink);
    }
    assert_eq!(
        pauses,
        [
            0, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000, 8_000
        ]
    );
    let last = Transmit::Abort { on: stream(10) };
    assert_eq!(orders(&mut uplink), [last]);
    assert!(uplink.is_finished());
}

#[test]
fn a_good_connection_begins_with_the_shortest_pause_again() {
    let mut uplink = open();
    uplink.lose(at(100), true);
    uplink.redial_if_due(at(100));
    assert_eq!(
        orders(&mut uplink),
        [
            Transmit::Finish { on: stream(0) },
            Transmit::Dial {
                on: stream(1),
                to: SERVER
            }
        ]
    );
    uplink.handle_opened(at(140), stream(1));
    uplink.set_good();
    assert_eq!(uplink.lose(at(200_000), true), Some(Duration::ZERO));
}

#[test]
fn clients_of_one_server_come_back_at_different_moments() {
    let pause = |token| {
        let mut uplink = open();
        uplink.set_token(at(50), Token(token));
        uplink.lose(at(100), false).unwrap()
    };
    assert_eq!(pause(0), RETRY_FIRST);
    assert!(pause(200) > pause(100));
    assert!(pause(255) <= RETRY_FIRST * 5 / 4);
}

#[test]
fn what_is_sent_is_counted_and_takes_room() {
    let mut uplink = open();
    assert!(uplink.handle_room(
        Path::Stream(stream(0)),
        Room {
            bytes: 100,
            largest: 0
        }
    ));
    assert!(!uplink.handle_room(Path::Stream(stream(4)), Room::CLOSED));
    assert_eq!(
        uplink.sent_on_stream(at(60), 70),
        Transmit::Stream { on: stream(0) }
    );
    assert_eq!((uplink.stream_room(), uplink.stream_sent()), (30, at(60)));
    uplink.sent_datagram(at(70), 12);
    assert_eq!(uplink.datagram_sent(), at(70));
    assert_eq!(uplink.traffic.bytes_out, 82);
}
