//! A stream opens, and a token ties datagrams to it.

use tickwire_dialects::opendrakan::message::{Message, Way};
use tickwire_dialects::opendrakan::{ClientId, ServerEvent};
use tickwire_session::Token;

use crate::script::{ServerScript, config, each, machine};

#[test]
fn a_new_stream_is_told_token_table_and_level() {
    let mut script = ServerScript::with(config(3));
    let ann = machine(2, 5_000);
    let on = script.open(0, ann);
    let mut told = Vec::new();
    each(Way::ServerStream, &script.streams[&on], |message| {
        told.push(match message {
            Message::Attach { .. } => "attach".to_owned(),
            Message::DatabaseEntry { database, path } => format!("{} {path}", database.0),
            Message::LoadLevel { databases, path } => format!("{databases}: {path}"),
            other => panic!("unexpected {other:?}"),
        });
    });
    assert_eq!(
        told,
        [
            "attach",
            "0 common/dragon.db",
            "1 common/sword.db",
            "2: levels/a.lvl"
        ]
    );
    assert_eq!(script.events(), [], "it has proved nothing");
}

#[test]
fn nothing_is_sent_by_datagram_before_the_token_is_shown() {
    let mut script = ServerScript::with(config(3));
    let on = script.open(0, machine(2, 5_000));
    script.ticks(30);
    assert!(script.datagrams.is_empty());
    let token = script.token_on(on);
    script.send(machine(2, 6_000), &[Message::Attach { token }]);
    assert!(script.datagrams.is_empty(), "an answer waits for its tick");
    script.ticks(3);
    assert_eq!(script.datagrams[0].0, machine(2, 6_000));
    let (client, addr) = (ClientId(1), machine(2, 5_000));
    assert_eq!(script.events(), [ServerEvent::Joined { client, addr }]);
}

#[test]
fn a_wrong_token_gets_no_answer() {
    let mut script = ServerScript::with(config(3));
    let on = script.open(0, machine(2, 5_000));
    let Token(token) = script.token_on(on);
    for wrong in [0, token ^ 1, !token] {
        let token = Token(wrong);
        script.send(machine(2, 5_000), &[Message::Attach { token }]);
    }
    script.ticks(6);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().wrong_token, 3);
}

#[test]
fn a_token_from_another_host_is_ignored() {
    let mut script = ServerScript::with(config(3));
    let on = script.open(0, machine(2, 5_000));
    let token = script.token_on(on);
    script.send(machine(3, 5_000), &[Message::Attach { token }]);
    script.ticks(6);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().foreign_host, 1);
}

#[test]
fn the_newest_address_with_the_token_wins() {
    let mut script = ServerScript::with(config(3));
    let on = script.attach(0, machine(2, 5_000));
    let token = script.token_on(on);
    let tick = script.next_send_tick();
    script.send(machine(2, 5_001), &[Message::Attach { token }]);
    script.next_send_tick();
    assert!(
        script
            .datagrams
            .iter()
            .all(|(to, _)| *to == machine(2, 5_001))
    );
    // The old address is a stranger now.
    script.acknowledge(machine(2, 5_000), tick);
    assert_eq!(script.session.counters().stranger, 1);
    script.acknowledge(machine(2, 5_001), tick);
    assert_eq!(script.session.counters().stranger, 1);
}

#[test]
fn tokens_differ_and_depend_on_the_secret() {
    let mut script = ServerScript::with(config(3));
    let first = script.open(0, machine(2, 5_000));
    let second = script.open(1, machine(2, 5_000));
    assert_ne!(script.token_on(first), script.token_on(second));
}
