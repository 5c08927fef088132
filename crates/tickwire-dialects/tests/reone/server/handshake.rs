//! Hello, and what comes instead.

use tickwire_dialects::reone::message::{Refusal, UpFrame};
use tickwire_dialects::reone::server_limits::{CONNECTIONS_SPARE, HELLO_PATIENCE};
use tickwire_dialects::reone::{ClientId, Departure, ServerConfig, ServerEvent};
use tickwire_session::{Session, StreamId};

use super::script::{ANN, BOB, Said, Script, config, ms, text};

const HELLO: UpFrame<'static> = UpFrame::Hello {
    version: 1,
    name: tickwire_dialects::reone::Text::EMPTY,
};

#[track_caller]
fn check_refused(script: &mut Script, on: StreamId, reason: Refusal) {
    assert_eq!(script.frames(on), [Said::Refused(reason.0)]);
    assert_eq!(script.finished, [on]);
    // Whatever comes afterwards is not heard.
    script.write(on, &[HELLO]);
    assert_eq!(script.frames(on), []);
}

#[test]
fn hello_is_welcomed_byte_by_byte() {
    let mut script = Script::new(config());
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
    let mut script = Script::new(config());
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
        let mut script = Script::new(config());
        let on = script.open(0, ANN);
        script.write(on, &[frame]);
        check_refused(&mut script, on, Refusal::HELLO);
    }
}

#[test]
fn another_version_is_refused() {
    let mut script = Script::new(config());
    let on = script.open(0, ANN);
    let (version, name) = (2, text("ann"));
    script.write(on, &[UpFrame::Hello { version, name }]);
    check_refused(&mut script, on, Refusal::VERSION);
    assert_eq!(script.server.clients().count(), 0);
}

#[test]
fn a_second_hello_is_refused() {
    let mut script = Script::new(config());
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
            let mut script = Script::new(config());
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
    let mut script = Script::new(config());
    let on = script.open(0, ANN);
    script.pass(HELLO_PATIENCE - ms(1));
    assert!(script.finished.is_empty());
    script.pass(ms(1));
    check_refused(&mut script, on, Refusal::HELLO);
    assert_eq!(script.server.poll_timeout(), None);
}

#[test]
fn streams_without_hello_are_bounded() {
    let mut script = Script::new(config());
    let spare = u32::try_from(CONNECTIONS_SPARE).unwrap();
    for number in 0..spare {
        script.open(number, BOB);
    }
    assert!(script.finished.is_empty());
    let on = script.open(spare, BOB);
    assert_eq!(script.frames(on), [Said::Refused(Refusal::FULL.0)]);
    assert_eq!(script.finished, [on]);
    // Those that said hello are not among them.
    script.write(StreamId::Accepted(0), &[HELLO]);
    script.greet(spare + 1, ANN);
}

#[test]
fn one_client_too_many_is_refused() {
    let mut script = Script::new(ServerConfig {
        clients: 1,
        ..config()
    });
    script.greet(0, ANN);
    let on = script.open(1, BOB);
    script.write(on, &[HELLO]);
    check_refused(&mut script, on, Refusal::FULL);
    assert_eq!(script.server.counters().full, 1);
}

#[test]
fn a_peer_that_does_not_read_its_refusal_is_cut_off() {
    let mut script = Script::new(config());
    let on = StreamId::Accepted(0);
    script.server.handle_opened(script.now, on, ANN);
    script.write_bytes(on, b"\x63");
    script.pass(ms(2_999));
    assert!(script.finished.is_empty() && script.aborted.is_empty());
    script.pass(ms(1));
    assert_eq!(script.aborted, [on]);
}

#[test]
fn everybody_is_told_that_the_server_ends() {
    let mut script = Script::new(config());
    let ann = script.greet(0, ANN);
    let open = script.open(1, BOB);
    script.events();
    assert!(!script.server.is_finished());
    script.server.shut_down(script.now);
    script.drain();
    for on in [ann.on, open] {
        assert_eq!(script.frames(on), [Said::Refused(Refusal::SHUTDOWN.0)]);
        assert!(script.finished.contains(&on));
    }
    let (client, why) = (ann.client, Departure::ShutDown);
    assert_eq!(script.events(), [ServerEvent::Left { client, why }]);
    assert!(script.server.is_finished());
    let late = script.open(2, BOB);
    assert_eq!(script.frames(late), [Said::Refused(Refusal::SHUTDOWN.0)]);
    assert!(script.server.is_finished());
}
