//! More connections than there are places, and what becomes of them.

use tickwire_dialects::opendrakan::message::Message;
use tickwire_dialects::opendrakan::{Departure, ServerConfig, ServerEvent};
use tickwire_session::{JOINS_A_HOST, Session, StreamId, WAITING_MAX};

use crate::script::{ServerScript, config, machine, ms};

const ANN: tickwire_session::Addr = machine(2, 5_000);

/// Opens so many streams from one host, which say nothing.
fn crowd(script: &mut ServerScript, count: usize) {
    for number in (1_000..).take(count) {
        script.open(number, machine(9, 1));
    }
}

fn joined(script: &mut ServerScript) -> usize {
    let events = script.events().into_iter();
    let joined = events.filter(|event| matches!(event, ServerEvent::Joined { .. }));
    joined.count()
}

#[test]
fn silent_connections_do_not_lock_newcomers_out() {
    let mut script = ServerScript::with(config(3));
    crowd(&mut script, WAITING_MAX);
    assert!(script.ended.is_empty());
    script.attach(0, ANN);
    assert_eq!(script.state(ANN), "Syncing");
    // The oldest of the crowd made room, and nobody told the game of any.
    assert_eq!(script.ended, [StreamId::Accepted(1_000)]);
    assert_eq!(script.session.counters().crowded_out, 1);
    assert_eq!(joined(&mut script), 1);
    script.next_send_tick();
    assert_eq!(script.datagrams[0].0, ANN);
}

#[test]
fn who_shows_no_token_within_five_seconds_goes() {
    let mut script = ServerScript::with(config(3));
    let on = script.open(0, ANN);
    let token = script.token_on(on);
    script.pass(ms(4_999));
    assert_eq!(script.state(ANN), "Attaching");
    script.pass(ms(1));
    assert_eq!(script.ended, [on]);
    assert_eq!(script.session.counters().attach_overdue, 1);
    script.send(ANN, &[Message::Attach { token }]);
    script.ticks(6);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.events(), []);
    assert_eq!(script.session.poll_timeout(), None);
}

#[test]
fn a_full_server_closes_the_connection() {
    let mut script = ServerScript::with(ServerConfig {
        clients: 1,
        ..config(3)
    });
    let on = script.open(0, ANN);
    let second = script.open(1, machine(3, 5_000));
    let token = script.token_on(second);
    let last = script.token_on(on);
    script.send(ANN, &[Message::Attach { token: last }]);
    // It was let in to attach, and somebody else was faster.
    script.send(machine(3, 5_000), &[Message::Attach { token }]);
    assert_eq!(script.ended, [second]);
    let third = script.open(2, machine(4, 5_000));
    assert_eq!(script.ended, [second, third]);
    assert!(!script.streams.contains_key(&third), "it is told nothing");
    assert_eq!(script.session.counters().full, 2);
    assert_eq!(script.session.clients().count(), 1);
    // A place that is free again can be had.
    script.close(on);
    script.attach(3, machine(5, 5_000));
    assert_eq!(script.state(machine(5, 5_000)), "Syncing");
}

#[test]
fn a_busy_server_closes_newcomers_and_keeps_those_who_play() {
    let mut script = ServerScript::with(config(3));
    script.attach(0, ANN);
    let session: &mut dyn Session = &mut script.session;
    session.set_busy(true);
    let on = script.attach(1, machine(3, 5_000));
    assert_eq!(script.ended, [on]);
    assert_eq!(script.session.counters().busy, 1);
    script.ticks(3);
    assert_eq!(script.datagrams.len(), 1);
    script.session.set_busy(false);
    script.attach(2, machine(4, 5_000));
    assert_eq!(joined(&mut script), 2);
}

#[test]
fn a_lan_party_joins_at_once_and_one_more_a_moment_later() {
    let mut script = ServerScript::with(ServerConfig {
        clients: 512,
        ..config(3)
    });
    let party = JOINS_A_HOST + 1;
    let tokens: Vec<_> = (0..party)
        .map(|number| {
            let on = script.open(number, ANN);
            script.token_on(on)
        })
        .collect();
    let show = |script: &mut ServerScript, number: u32| {
        let from = machine(2, 6_000 + u16::try_from(number).unwrap());
        let token = tokens[number as usize];
        script.send(from, &[Message::Attach { token }]);
    };
    (0..party).for_each(|number| show(&mut script, number));
    assert_eq!(joined(&mut script), JOINS_A_HOST as usize);
    assert_eq!(script.session.counters().joins_too_fast, 1);
    assert!(script.ended.is_empty(), "it may try again");
    script.pass(ms(100));
    show(&mut script, JOINS_A_HOST);
    assert_eq!(joined(&mut script), 1);
}

#[test]
fn those_who_are_cut_off_leave_once() {
    let mut script = ServerScript::with(config(3));
    let on = script.attach(0, ANN);
    script.close(on);
    script.close(on);
    let left = ServerEvent::Left {
        client: tickwire_dialects::opendrakan::ClientId(1),
        why: Departure::Disconnected,
    };
    assert_eq!(script.events()[1..], [left]);
}
