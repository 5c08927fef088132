//! How a session ends.

use tickwire_dialects::opendrakan::message::{Message, Way};
use tickwire_dialects::opendrakan::{ClientId, Departure, ServerEvent, To};
use tickwire_session::Session as _;
use tickwire_state::Tick;

use crate::golden::unhex;
use crate::script::{ServerScript, config, each, machine, ms};

const CLIENT: ClientId = ClientId(1);

fn left(script: &mut ServerScript) -> Vec<Departure> {
    let why = |event| match event {
        ServerEvent::Left { why, .. } => Some(why),
        _ => None,
    };
    script.events().into_iter().filter_map(why).collect()
}

#[test]
fn the_end_of_the_stream_ends_the_session() {
    let mut script = ServerScript::with(config(2));
    let ann = machine(2, 5_000);
    let on = script.attach(0, ann);
    let token = script.token_on(on);
    script.close(on);
    assert_eq!(left(&mut script), [Departure::Disconnected]);
    script.datagrams.clear();
    script.ticks(6);
    assert!(script.datagrams.is_empty());
    // Its token is void.
    script.send(ann, &[Message::Attach { token }]);
    script.ticks(6);
    assert!(script.datagrams.is_empty());
}

#[test]
fn fifteen_seconds_of_silence_end_it() {
    let mut script = ServerScript::with(config(2));
    let ann = machine(2, 5_000);
    let on = script.attach(0, ann);
    script.pass(ms(14_000));
    // Any packet counts, however little it says.
    script.acknowledge(ann, Tick(7));
    script.pass(ms(14_999));
    assert_eq!(left(&mut script), []);
    script.pass(ms(1));
    assert_eq!(left(&mut script), [Departure::TimedOut]);
    assert_eq!(script.ended, [on]);
}

#[test]
fn a_stream_that_does_not_decode_is_closed() {
    let cases = [
        // No such type, or not on this path, or not from a client.
        "ff",
        "0808000201000000000000",
        "041c00",
        "0e0800",
        // Lengths that no such message has.
        "090c00",
        "0a1500",
        // Contents that it must not have.
        "090d00000000000000f83f0400000003",
        "0a1400000000000000f83f060000000000c07f00000000",
    ];
    for digits in cases {
        let mut script = ServerScript::with(config(2));
        let on = script.attach(0, machine(2, 5_000));
        script.write_bytes(on, &unhex(digits));
        assert_eq!(left(&mut script), [Departure::Undecodable], "{digits}");
        assert_eq!(script.ended, [on], "{digits}");
    }
}

#[test]
fn who_does_not_read_is_cut_off() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    script.give_room(on, 0);
    for _ in 0..30 {
        script
            .session
            .send_global(To::All, 1, &[0; 50_000])
            .expect("it is short enough");
    }
    script.pass(ms(1));
    assert_eq!(left(&mut script), [Departure::FellBehind]);
    assert_eq!(script.ended, [on]);
}

#[test]
fn a_stream_is_never_sent_more_than_it_takes() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    script.streams.clear();
    script.give_room(on, 10);
    script.session.send_global(To::All, 1, b"hello").unwrap();
    script.pass(ms(1));
    assert_eq!(script.streams[&on].len(), 10);
    script.give_room(on, 100);
    let mut bodies = Vec::new();
    each(Way::ServerStream, &script.streams[&on], |message| {
        if let Message::GlobalMessage { body, .. } = message {
            bodies.push(body.to_vec());
        }
    });
    assert_eq!(bodies, [b"hello"]);
}

#[test]
fn kicking_and_shutting_down_close_the_streams() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    let other = script.attach(1, machine(3, 5_000));
    script.session.kick(script.now, CLIENT);
    script.pass(ms(1));
    assert_eq!(script.ended, [on]);
    script.session.shut_down(script.now);
    assert!(!script.session.is_finished());
    script.pass(ms(1));
    assert_eq!(script.ended, [on, other]);
    assert!(script.session.is_finished());
    assert_eq!(left(&mut script), [Departure::Kicked, Departure::ShutDown]);
    let late = script.open(2, machine(4, 5_000));
    assert_eq!(script.ended, [on, other, late]);
}

#[test]
fn who_is_sent_away_still_hears_what_was_said() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    script.streams.clear();
    script.session.send_global(To::All, 1, b"bye").unwrap();
    script.session.kick(script.now, CLIENT);
    script.pass(ms(1));
    assert!(script.streams[&on].ends_with(b"bye"));
    assert_eq!(script.ended, [on]);
}

#[test]
fn who_is_sent_away_and_does_not_read_is_cut_off_after_a_while() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    script.give_room(on, 0);
    script.session.send_global(To::All, 1, b"bye").unwrap();
    script.session.kick(script.now, CLIENT);
    script.pass(ms(1_999));
    assert!(script.ended.is_empty());
    script.pass(ms(1));
    assert_eq!(script.ended, [on]);
}

#[test]
fn who_is_gone_before_being_sent_away_is_told_nothing() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    script.streams.clear();
    script.session.send_global(To::All, 1, b"bye").unwrap();
    script.session.kick(script.now, CLIENT);
    // The stream ends by itself before anybody drains.
    script.close(on);
    assert!(script.streams.is_empty() && script.ended.is_empty());
    assert!(script.session.is_finished());
}
