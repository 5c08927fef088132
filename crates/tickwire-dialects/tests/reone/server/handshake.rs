//! Hello, and what comes instead.

use tickwire_dialects::reone::message::{Refusal, UpFrame};
use tickwire_dialects::reone::server_limits::SILENCE;
use tickwire_dialects::reone::{ClientId, Departure, Seat, ServerConfig, ServerEvent, Vec2};
use tickwire_session::{JOINS_A_HOST, PROOF_PATIENCE, Session, StreamId, WAITING_MAX};

use super::script::{ANN, BOB, HELLO, Said, Script, config, text};
use crate::driven::{Window, ms};

#[track_caller]
fn check_refused(script: &mut Script, on: StreamId, reason: Refusal) {
    assert_eq!(script.frames(on), [Said::Refused(reason.0)]);
    assert_eq!(script.finished(), [on]);
    // Whatever comes afterwards is not heard.
    script.write(on, &[HELLO]);
    assert_eq!(script.frames(on), []);
}

#[test]
fn hello_is_welcomed_byte_by_byte() {
    let mut script = Script::begin(config());
    let on = script.open(0, ANN);
    script.write_bytes(on, b"\x01\x06\0\0\0\x01\0ann\0");
    let bytes = script.streams.remove(&on).unwrap();
    let token = &bytes[9..17];
    let mut expected = b"\x02\x1a\0\0\0\x01\0\0\0".to_vec();
    expected.extend(token);
    expected.extend(b"\x01\0\0\0end_m01aa\0");
    assert_eq!(bytes, expected);
    let (client, name, addr) = (ClientId(1), "ann".to_owned(), ANN);
    assert_eq!(
        script.events(),
        [ServerEvent::Connected { client, name, addr }]
    );
}

#[test]
fn hello_may_come_byte_by_byte() {
    let mut script = Script::begin(config());
    let on = script.open(0, ANN);
    for byte in b"\x01\x06\0\0\0\x01\0ann\0" {
        assert_eq!(script.frames(on), []);
        script.write_bytes(on, &[*byte]);
    }
    assert!(matches!(script.frames(on)[..], [Said::Welcome { .. }]));
}

#[test]
fn anything_before_hello_is_refused() {
    let (name, offset) = (text("manifest"), 0);
    for frame in [UpFrame::Fetch { name, offset }, UpFrame::Loaded] {
        let mut script = Script::begin(config());
        let on = script.open(0, ANN);
        script.write(on, &[frame]);
        check_refused(&mut script, on, Refusal::HELLO);
    }
}

#[test]
fn another_version_is_refused() {
    let mut script = Script::begin(config());
    let on = script.open(0, ANN);
    let (version, name) = (2, text("ann"));
    script.write(on, &[UpFrame::Hello { version, name }]);
    check_refused(&mut script, on, Refusal::VERSION);
    assert_eq!(script.session.clients().count(), 0);
}

#[test]
fn a_second_hello_is_refused() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    script.write(ann.on, &[HELLO]);
    check_refused(&mut script, ann.on, Refusal::HELLO);
    let (client, why) = (ann.client, Departure::Undecodable);
    assert_eq!(script.events()[1..], [ServerEvent::Left { client, why }]);
}

#[test]
fn what_does_not_decode_is_refused_before_it_has_arrived() {
    // A megabyte of nothing, an unknown kind, a server's frame, too long a frame.
    let beginnings: [&[u8]; 4] = [
        b"\x06\0\0\x10\0",
        b"\x0a\0\0\0\0",
        b"\x02\x10\0\0\0",
        b"\x04\xff\xff\xff\xff",
    ];
    for bytes in beginnings {
        for is_greeted in [false, true] {
            let mut script = Script::begin(config());
            let on = match is_greeted {
                true => script.greet(0, ANN).on,
                false => script.open(0, ANN),
            };
            script.write_bytes(on, bytes);
            check_refused(&mut script, on, Refusal::MALFORMED);
        }
    }
}

#[test]
fn a_stream_that_says_nothing_is_closed_in_time() {
    let mut script = Script::begin(config());
    let on = script.open(0, ANN);
    script.pass(PROOF_PATIENCE - ms(1));
    assert!(script.orders.is_empty());
    script.pass(ms(1));
    check_refused(&mut script, on, Refusal::HELLO);
    assert_eq!(script.session.poll_timeout(), None);
}

#[test]
fn silent_streams_keep_no_newcomer_out() {
    let mut script = Script::begin(config());
    let crowd = u32::try_from(WAITING_MAX).unwrap();
    // Whoever said Hello has a place of its own.
    script.greet(9_999, BOB);
    for number in 0..crowd {
        script.open(number, BOB);
    }
    assert!(script.orders.is_empty());
    script.greet(crowd, ANN);
    assert_eq!(
        script.aborted(),
        [StreamId::Accepted(0)],
        "the oldest of Bob's"
    );
    assert_eq!(script.session.clients().count(), 2);
    assert_eq!(script.session.counters().crowded_out, 1);
}

#[test]
fn a_lan_party_joins_at_once_and_a_flood_does_not() {
    let mut script = Script::begin(ServerConfig {
        clients: 1_000,
        ..config()
    });
    for number in 0..JOINS_A_HOST {
        script.greet(number, BOB);
    }
    let on = script.open(1_000, BOB);
    script.write(on, &[HELLO]);
    check_refused(&mut script, on, Refusal::FULL);
    assert_eq!(script.session.counters().not_admitted, 1);
    script.greet(1_001, ANN);
}

#[test]
fn while_the_game_is_too_slow_newcomers_are_told_so_and_nobody_goes() {
    let (mut script, ann) = Script::playing(config());
    let session: &mut dyn Session = &mut script.session;
    session.set_busy(true);
    let on = script.open(1, BOB);
    script.write(on, &[HELLO]);
    let said = String::from_utf8_lossy(&script.streams[&on]).into_owned();
    assert!(said.contains("busy"), "{said}");
    check_refused(&mut script, on, Refusal::FULL);
    assert_eq!(script.publish(&[]), script.told(ANN).sequence);
    assert_eq!(script.session.clients().count(), 1);
    script.session.set_busy(false);
    script.greet(2, BOB);
    script.close(ann.on);
}

#[test]
fn whoever_was_removed_gives_way_to_a_newcomer() {
    let mut script = Script::begin(ServerConfig {
        clients: 1,
        ..config()
    });
    let ann = script.join(0, ANN, Seat::Spectator(Vec2::default()));
    for _ in 0..32 {
        script.publish(&[]);
    }
    script.pass(SILENCE);
    script.events();
    script.greet(1, BOB);
    assert_eq!(script.frames(ann.on), [Said::Refused(Refusal::FULL.0)]);
    let (client, why) = (ann.client, Departure::Replaced);
    assert_eq!(script.events()[0], ServerEvent::Left { client, why });
}

#[test]
fn one_client_too_many_is_refused() {
    let mut script = Script::begin(ServerConfig {
        clients: 1,
        ..config()
    });
    script.greet(0, ANN);
    let on = script.open(1, BOB);
    script.write(on, &[HELLO]);
    check_refused(&mut script, on, Refusal::FULL);
    assert_eq!(script.session.counters().full, 1);
}

#[test]
fn a_peer_that_does_not_read_its_refusal_is_cut_off() {
    let mut script = Script::begin(config());
    script.window = Window::Once(0);
    let on = script.open(0, ANN);
    script.write_bytes(on, b"\x63");
    script.pass(ms(2_999));
    assert!(script.orders.is_empty());
    script.pass(ms(1));
    assert_eq!(script.aborted(), [on]);
}

#[test]
fn everybody_is_told_that_the_server_ends() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    let open = script.open(1, BOB);
    script.events();
    assert!(!script.session.is_finished());
    script.act(|now, server| server.shut_down(now));
    for on in [ann.on, open] {
        assert_eq!(script.frames(on), [Said::Refused(Refusal::SHUTDOWN.0)]);
        assert!(script.finished().contains(&on));
    }
    let (client, why) = (ann.client, Departure::ShutDown);
    assert_eq!(script.events(), [ServerEvent::Left { client, why }]);
    assert!(script.session.is_finished());
    let late = script.open(2, BOB);
    assert_eq!(script.frames(late), [Said::Refused(Refusal::SHUTDOWN.0)]);
    assert!(script.session.is_finished());
}
