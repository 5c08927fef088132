//! Peers that do not play by the rules.

use tickwire_native::message::{DatagramUp, Hello, Up};
use tickwire_native::{Game as _, Role, Server, ServerConfig};
use tickwire_replica::Archetypes as _;
use tickwire_session::{Addr, Events as _, Instant, Path, Room, Session as _, StreamId, Transmit};
use tickwire_sim::{Rng, addr};

use crate::duel::{Duel, Thing};

fn below(rng: &mut Rng, end: u64) -> u64 {
    rng.within(0..=end.max(1) - 1)
}

const STREAM: StreamId = StreamId::Accepted(1);

fn server() -> Server<Duel> {
    Server::new(Instant::ZERO, [7; 32], ServerConfig::default())
}

fn peer() -> Addr {
    addr::machine(2, 5_000)
}

fn hello() -> Vec<u8> {
    let mut out = Vec::new();
    Up::Hello(Hello {
        version: 1,
        schema: Thing::schema().hash(),
        role: Role::Player,
        name: "Eve",
        resume: None,
    })
    .encode(&mut out);
    out
}

/// Everything that the server says until it has no more to say.
fn drain(server: &mut Server<Duel>, now: Instant) -> (usize, bool) {
    let (mut bytes, mut ended) = (0, false);
    for _ in 0..10_000 {
        let mut out = Vec::new();
        let Some(transmit) = server.poll_transmit(now, &mut out) else {
            return (bytes, ended);
        };
        bytes += out.len();
        ended |= matches!(transmit, Transmit::Finish { .. } | Transmit::Abort { .. });
    }
    panic!("it never ends");
}

fn open(server: &mut Server<Duel>, now: Instant) {
    server.handle_opened(now, STREAM, peer());
    let room = Room {
        bytes: 1 << 20,
        ..Room::CLOSED
    };
    server.handle_room(now, Path::Stream(STREAM), room);
}

#[test]
fn any_bytes_on_the_stream_are_borne() {
    for seed in 0..500 {
        let mut rng = Rng::new(seed);
        let mut server = server();
        let now = Instant::from_millis(1);
        open(&mut server, now);
        if seed % 2 == 0 {
            server.handle_stream(now, STREAM, &hello());
        }
        for _ in 0..20 {
            let length = below(&mut rng, 60);
            // Short frames of every kind, so that most get past the framing.
            let kind = u8::try_from(below(&mut rng, 12)).expect("small");
            let mut bytes = vec![kind, u8::try_from(length).expect("small")];
            bytes.extend((0..length).map(|_| u8::try_from(below(&mut rng, 256)).expect("a byte")));
            server.handle_stream(now, STREAM, &bytes);
            drain(&mut server, now);
            while server.poll_event().is_some() {}
        }
    }
}

#[test]
fn any_datagram_is_borne_and_strangers_get_no_answer() {
    let mut rng = Rng::new(9);
    let mut server = server();
    let now = Instant::from_millis(1);
    for _ in 0..20_000 {
        let length = below(&mut rng, 40);
        let mut bytes = vec![u8::try_from(below(&mut rng, 5)).expect("small")];
        bytes.extend((0..length).map(|_| u8::try_from(below(&mut rng, 256)).expect("a byte")));
        server.handle_datagram(now, peer(), &bytes);
        assert_eq!(drain(&mut server, now), (0, false));
    }
    let counters = *server.counters();
    assert!(
        counters.stranger > 100 && counters.undecodable > 1_000,
        "{counters:?}"
    );
}

#[test]
fn what_comes_before_hello_ends_the_connection() {
    let mut server = server();
    let now = Instant::from_millis(1);
    open(&mut server, now);
    let mut bytes = Vec::new();
    Up::Say(b"hi").encode(&mut bytes);
    server.handle_stream(now, STREAM, &bytes);
    let (_, ended) = drain(&mut server, now);
    assert!(ended);
    assert!(server.poll_event().is_none());
}

#[test]
fn a_connection_that_says_nothing_goes_after_five_seconds() {
    let mut server = server();
    open(&mut server, Instant::from_millis(1));
    let due = server.poll_timeout().expect("a deadline");
    assert!(due <= Instant::from_millis(5_001), "{due:?}");
    server.handle_timeout(due);
    let (_, ended) = drain(&mut server, due);
    assert!(ended);
}

#[test]
fn a_forged_acknowledgement_acknowledges_nothing_that_was_not_sent() {
    let mut server = server();
    let now = Instant::from_millis(1);
    open(&mut server, now);
    server.handle_stream(now, STREAM, &hello());
    drain(&mut server, now);
    for number in 0..2_000_u16 {
        let mut play = vec![2, 0x10];
        play.extend(number.to_le_bytes());
        play.extend(u32::MAX.to_le_bytes());
        play.extend([0; 4]);
        assert!(DatagramUp::decode(&play).is_ok());
        let mut frame = Vec::new();
        Up::Datagram(&play).encode(&mut frame);
        server.handle_stream(now, STREAM, &frame);
    }
    for tick in 0..60 {
        let now = Instant::from_millis(1 + tick * 1_000 / u64::from(Duel::HZ));
        server.end_tick(now);
        drain(&mut server, now);
    }
}
