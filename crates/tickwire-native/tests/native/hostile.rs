//! Peers that do not play by the rules.

use tickwire_native::message::{DatagramUp, Down, FrameReader, Hello, Resume, Up, bytes_of};
use tickwire_native::{
    Client, ClientConfig, EndReason, Game as _, Phase, Role, Server, ServerConfig, ServerEvent,
    Ticket,
};
use tickwire_session::{
    Addr, Ended, Events as _, Instant, Path, Room, Session as _, StreamId, Transmit,
};
use tickwire_sim::{Rng, addr};
use tickwire_wire::DecodeError;

use crate::duel::{Duel, Word};

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
    hello_with(None)
}

fn hello_with(resume: Option<Resume>) -> Vec<u8> {
    let mut out = Vec::new();
    Up::Hello(Hello {
        version: 1,
        schema: tickwire_native::schema::<Duel>().hash(),
        role: Role::Player,
        name: "Eve",
        resume,
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
    open_on(server, now, STREAM);
}

fn open_on(server: &mut Server<Duel>, now: Instant, on: StreamId) {
    server.handle_opened(now, on, peer());
    let room = Room {
        bytes: 1 << 20,
        ..Room::CLOSED
    };
    server.handle_room(now, Path::Stream(on), room);
}

/// Joins, and loses the connection at once. Returns the ticket.
fn join_and_break(server: &mut Server<Duel>, now: Instant) -> Ticket {
    open(server, now);
    server.handle_stream(now, STREAM, &hello());
    let mut out = Vec::new();
    server.poll_transmit(now, &mut out).expect("a Welcome");
    let mut ticket = None;
    FrameReader::default()
        .receive(&out, |kind, body| {
            if let Down::Welcome(welcome) = Down::decode(kind, body)? {
                ticket = Some(welcome.ticket);
            }
            Ok::<_, DecodeError>(())
        })
        .expect("frames");
    server.handle_closed(now, Path::Stream(STREAM), Ended::Reset);
    ticket.expect("a ticket")
}

fn events(server: &mut Server<Duel>) -> Vec<String> {
    core::iter::from_fn(|| server.poll_event())
        .map(|event| format!("{event:?}"))
        .collect()
}

#[test]
fn whoever_comes_back_stays_although_nobody_may_join() {
    let mut server = server();
    let now = Instant::from_millis(1);
    let ticket = join_and_break(&mut server, now);
    server.set_busy(true);
    let again = StreamId::Accepted(2);
    open_on(&mut server, now, again);
    let received = 0;
    let hello = hello_with(Some(Resume { ticket, received }));
    server.handle_stream(now, again, &hello);
    // Longer than newcomers have for their Hello, and not silent.
    let later = Instant::from_millis(8_000);
    server.handle_stream(later, again, &[10, 4, 0, 0, 0, 0]);
    server.handle_timeout(later);
    let (_, ended) = drain(&mut server, later);
    assert!(!ended);
    // When that connection breaks as well, somebody notices.
    server.handle_closed(later, Path::Stream(again), Ended::Reset);
    let told = [
        "Joined(1, \"Eve\", Player)",
        "Away(1)",
        "Back(1)",
        "Away(1)",
    ];
    assert_eq!(events(&mut server), told);
}

#[test]
fn whoever_comes_back_with_a_count_that_cannot_be_is_gone_last() {
    let mut server = server();
    let now = Instant::from_millis(1);
    let ticket = join_and_break(&mut server, now);
    let again = StreamId::Accepted(2);
    open_on(&mut server, now, again);
    let received = 77;
    let hello = hello_with(Some(Resume { ticket, received }));
    server.handle_stream(now, again, &hello);
    let (_, ended) = drain(&mut server, now);
    assert!(ended);
    let last = events(&mut server).pop();
    assert_eq!(last.as_deref(), Some("Left(1, Malformed)"));
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

#[test]
fn however_many_latest_messages_come_one_waits_for_the_game() {
    let mut server = server();
    let now = Instant::from_millis(1);
    open(&mut server, now);
    server.handle_stream(now, STREAM, &hello());
    for number in 1..=10_000_u16 {
        let body = bytes_of(&Word(number.into())).expect("a word");
        let mut datagram = vec![3, 5];
        datagram.extend(number.to_le_bytes());
        datagram.extend(body);
        let mut frame = Vec::new();
        Up::Datagram(&datagram).encode(&mut frame);
        server.handle_stream(now, STREAM, &frame);
    }
    assert!(matches!(
        server.poll_event(),
        Some(ServerEvent::Joined { .. })
    ));
    let Some(ServerEvent::Latest { message, .. }) = server.poll_event() else {
        panic!("nothing was heard");
    };
    assert_eq!(message, Word(10_000));
    assert!(server.poll_event().is_none());
}

#[test]
fn a_client_that_never_was_there_is_not_welcomed_back() {
    for (is_back, expected) in [
        (false, Phase::Playing),
        (true, Phase::Ended(EndReason::Malformed)),
    ] {
        let now = Instant::from_millis(1);
        let config = ClientConfig {
            server: peer(),
            name: "Ada".into(),
            role: Role::Player,
        };
        let mut client = Client::<Duel>::new(now, config);
        let Some(Transmit::Dial { on, .. }) = client.poll_transmit(now, &mut Vec::new()) else {
            panic!("it dials");
        };
        client.handle_opened(now, on, peer());
        // Player, token, ticket and tick; ticks a second and a send; what was received.
        let mut body = vec![1; 4 + 8 + 16 + 4];
        body.extend([60, 0, 3]);
        body.extend(is_back.then_some([0; 4]).into_iter().flatten());
        let mut frame = vec![1, u8::try_from(body.len()).expect("a short frame")];
        frame.extend(body);
        client.handle_stream(now, on, &frame);
        assert_eq!(client.phase(), expected);
    }
}

#[test]
fn however_often_a_client_asks_to_be_sent_everything_it_is_once_a_send() {
    let mut server = server();
    let now = Instant::from_millis(1);
    open(&mut server, now);
    server.handle_stream(now, STREAM, &hello());
    let forget = [2, 0x08, 0, 0, 0, 0];
    let mut frame = Vec::new();
    Up::Datagram(&forget).encode(&mut frame);
    for sends in 1..=3 {
        (0..1_000).for_each(|_| server.handle_stream(now, STREAM, &frame));
        (0..Duel::TICKS_A_SEND).for_each(|_| {
            server.end_tick(now);
        });
        assert_eq!(server.counters().forget, sends);
    }
}

#[test]
fn whoever_asks_for_more_than_may_wait_is_sent_away() {
    let mut server = server();
    let now = Instant::from_millis(1);
    open(&mut server, now);
    server.handle_stream(now, STREAM, &hello());
    drain(&mut server, now);
    let mut bytes = Vec::new();
    let fetch = Up::Fetch {
        name: "manifest",
        offset: 0,
    };
    (0..17).for_each(|_| fetch.encode(&mut bytes));
    server.handle_stream(now, STREAM, &bytes);
    let (_, ended) = drain(&mut server, now);
    assert!(ended);
    assert_eq!(server.counters().too_many_messages, 1);
}

/// Takes part by stream and by datagram.
fn attached() -> (Server<Duel>, Instant) {
    let (mut server, now) = (server(), Instant::from_millis(1));
    open(&mut server, now);
    server.handle_stream(now, STREAM, &hello());
    let mut out = Vec::new();
    server.poll_transmit(now, &mut out).expect("a Welcome");
    let mut attach = Vec::new();
    // Kind, length, and the player before it.
    let token = out[6..14].try_into().expect("a token");
    DatagramUp::Attach(tickwire_session::Token(u64::from_le_bytes(token))).encode(&mut attach);
    server.handle_datagram(now, peer(), &attach);
    (server, now)
}

#[test]
fn forged_datagrams_do_not_touch_a_players_session() {
    let (mut server, now) = attached();
    assert_eq!(server.counters().bad_token, 0);
    let mut rng = Rng::new(5);
    for port in 0..20_000_u16 {
        // A third by the player's own address, which on a plain path anybody can write on an envelope.
        let from = match port % 3 {
            0 => peer(),
            _ => addr::machine(3, port.max(1)),
        };
        let length = below(&mut rng, 40);
        let mut bytes = vec![1 + u8::try_from(below(&mut rng, 3)).expect("small")];
        bytes.extend((0..length).map(|_| u8::try_from(below(&mut rng, 256)).expect("a byte")));
        server.handle_datagram(now, from, &bytes);
    }
    for tick in 0..60 {
        let now = Instant::from_millis(1 + tick * 1_000 / u64::from(Duel::HZ));
        server.end_tick(now);
        let (_, ended) = drain(&mut server, now);
        assert!(!ended);
    }
    assert_eq!(server.players().count(), 1);
    let counters = *server.counters();
    assert!(
        counters.stranger > 100 && counters.bad_token > 100,
        "{counters:?}"
    );
}

#[test]
fn a_ticket_counts_until_its_player_is_known_to_have_the_next() {
    let mut server = server();
    let now = Instant::from_millis(1);
    let ticket = join_and_break(&mut server, now);
    let resume = Some(Resume {
        ticket,
        received: 0,
    });
    let come = |server: &mut Server<Duel>, stream| {
        let on = StreamId::Accepted(stream);
        open_on(server, now, on);
        server.handle_stream(now, on, &hello_with(resume));
    };
    come(&mut server, 2);
    assert!(!drain(&mut server, now).1);
    // The Welcome may have got lost. Whoever comes again replaces the connection before.
    come(&mut server, 3);
    assert!(drain(&mut server, now).1);
    assert_eq!(
        (server.counters().resumed, server.counters().bad_ticket),
        (2, 0)
    );
    let mut received = Vec::new();
    Up::Received(0).encode(&mut received);
    server.handle_stream(now, StreamId::Accepted(3), &received);
    // From here on it is somebody else with the same ticket.
    come(&mut server, 4);
    assert!(drain(&mut server, now).1);
    assert_eq!(server.counters().bad_ticket, 1);
    assert_eq!(server.players().count(), 1);
    let told = ["Joined(1, \"Eve\", Player)", "Away(1)", "Back(1)"];
    assert_eq!(events(&mut server), told);
}

#[test]
fn one_host_cannot_take_every_place() {
    let config = ServerConfig {
        players: 4,
        players_a_host: 2,
        ..ServerConfig::default()
    };
    let mut server = Server::new(Instant::ZERO, [7; 32], config);
    let now = Instant::from_millis(1);
    let come = |server: &mut Server<Duel>, stream: u32, host| {
        let on = StreamId::Accepted(stream);
        server.handle_opened(now, on, addr::machine(host, 5_000));
        server.handle_stream(now, on, &hello());
        server.players().count()
    };
    let joined = [(1, 2), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4)];
    let joined = joined.map(|(stream, host)| come(&mut server, stream, host));
    assert_eq!(joined, [1, 2, 2, 3, 4, 4]);
    // Who is away keeps its place, and hanging up gains none.
    server.handle_closed(now, Path::Stream(StreamId::Accepted(1)), Ended::Reset);
    assert_eq!(come(&mut server, 7, 2), 4);
}

#[test]
fn a_server_that_was_restarted_does_not_know_old_tickets() {
    let now = Instant::from_millis(1);
    let ticket = join_and_break(&mut server(), now);
    let mut restarted = Server::<Duel>::new(now, [8; 32], ServerConfig::default());
    open(&mut restarted, now);
    let received = 0;
    let hello = hello_with(Some(Resume { ticket, received }));
    restarted.handle_stream(now, STREAM, &hello);
    assert!(drain(&mut restarted, now).1);
    assert_eq!(restarted.counters().bad_ticket, 1);
    assert_eq!(events(&mut restarted), Vec::<String>::new());
}

#[test]
fn questions_under_way_are_bounded_and_the_next_is_refused() {
    let (mut server, now) = attached();
    let body = bytes_of(&Word(2)).expect("a word");
    let mut bytes = Vec::new();
    for number in 0..65 {
        let body = &body;
        Up::Ask { number, body }.encode(&mut bytes);
    }
    server.handle_stream(now, STREAM, &bytes);
    let asked = events(&mut server).len() - 1;
    assert_eq!((asked, server.counters().too_many_questions), (64, 1));
    assert_eq!(server.players().count(), 1);
}
