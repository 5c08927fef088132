//! Connections that do not join, joins by the hundred, and floods: each bound holds, and whoever means to
//! play does.

use std::time::Duration;

use tickwire_dialects::cppevy::limits::{FAREWELL, STREAM_WAITING};
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ActionId, Departure, Reason, ServerEvent};
use tickwire_session::{Addr, Ended, Host, PROOF_PATIENCE, Session, StreamId, WAITING_MAX};

use crate::driven::{Window, ms};
use crate::script::{ServerScript, WIDE, addr, stream};
use crate::words::{action, failure, id, join, payload};

/// A connection of nobody in particular.
fn idle(number: usize) -> StreamId {
    StreamId::Accepted(1_000 + u32::try_from(number).expect("not so many"))
}

fn link(number: usize) -> Addr {
    Addr {
        host: Host::Link(number as u64),
        port: 0,
    }
}

/// So many connections of one machine that say nothing.
fn open_idle(s: &mut ServerScript, count: usize, peer: Addr) {
    for number in 0..count {
        s.opened(idle(number), peer);
    }
}

fn connections(s: &ServerScript) -> usize {
    let mut count = 0;
    s.session.visit_peers(&mut |_| count += 1);
    count
}

#[test]
fn idle_connections_do_not_keep_the_next_from_joining() {
    let mut s = ServerScript::begin();
    s.play(1);
    open_idle(&mut s, WAITING_MAX + 44, addr(9));
    assert_eq!(connections(&s), 1 + WAITING_MAX);
    assert_eq!(s.counters().too_many_streams, 44);
    let gone = (0..WAITING_MAX).filter(|number| s.has_ended(idle(*number)));
    assert!(gone.eq(0..44), "the oldest give way");
    // Of that very machine, too.
    s.join_from(2, addr(9));
    s.join(3);
    assert_eq!(s.state(1), Some("Attached"));
}

#[test]
fn connections_that_are_being_closed_keep_no_place() {
    let mut s = ServerScript::begin();
    // They are owed an answer that they do not read, and have sent nonsense.
    s.window = Window::Once(0);
    let answered = payload(0, &[action(ActionId::DISABLED, &[])]);
    for number in 0..2 * WAITING_MAX {
        let on = idle(number);
        s.opened(on, link(number));
        s.write_bytes(on, &answered);
        s.write_bytes(on, &[0, 0, 0, 0, 0xff]);
    }
    assert_eq!(connections(&s), WAITING_MAX);
    s.window = WIDE;
    s.join(1);
    s.pass(FAREWELL);
    assert_eq!(connections(&s), 1);
}

#[test]
fn who_never_joins_is_let_go_whatever_it_says() {
    let mut s = ServerScript::begin();
    s.open(1);
    s.join(2);
    s.forget();
    s.live(PROOF_PATIENCE - ms(100), &[1, 2]);
    s.send(1, &[action(ActionId::JOIN, &[9, 9])]);
    assert_eq!(
        s.hears(1).last(),
        Some(&failure(ActionId::JOIN, Reason::Error))
    );
    assert!(!s.has_closed(1));
    s.pass(ms(100));
    assert!(s.has_closed(1));
    assert_eq!(s.counters().join_overdue, 1);
    assert_eq!(s.events(), [], "it never played");
    s.live(PROOF_PATIENCE, &[2]);
    assert_eq!(s.state(2), Some("Joined"));
}

/// Another connection of this machine asks to join; what it is told.
fn try_to_join(s: &mut ServerScript, number: usize, peer: Addr) -> Vec<Object<'static>> {
    let on = idle(number);
    s.opened(on, peer);
    s.write_bytes(on, &payload(0, &[join("bot")]));
    s.hears_on(on)
}

#[test]
fn a_lan_party_behind_one_address_joins_at_once() {
    let mut s = ServerScript::begin();
    for number in 0..64 {
        let heard = try_to_join(&mut s, number, addr(9));
        assert!(matches!(heard.first(), Some(Object::Success { .. })));
    }
    let busy = failure(ActionId::JOIN, Reason::Busy);
    assert_eq!(try_to_join(&mut s, 64, addr(9)), [busy]);
    assert_eq!(s.counters().too_many_joins, 1);
    // Busy means to ask again, which is what a client of ours does.
    s.pass(ms(50));
    s.forget();
    s.write_bytes(idle(64), &payload(0, &[join("bot")]));
    let heard = s.hears_on(idle(64));
    assert!(matches!(heard.first(), Some(Object::Success { .. })));
}

#[test]
fn one_machine_that_joins_and_leaves_does_not_use_up_the_sync_ids() {
    let mut s = ServerScript::begin();
    let mut joined = 0;
    // 400 attempts a second for ten seconds: an id rests for five.
    for number in 0..4_000 {
        let heard = try_to_join(&mut s, number, addr(9));
        joined += usize::from(matches!(heard.first(), Some(Object::Success { .. })));
        s.closed(idle(number), Ended::Reset);
        s.pass(Duration::from_micros(2_500));
        s.forget();
    }
    assert!((600..800).contains(&joined), "{joined} joins");
    assert_eq!(s.counters().full, 0);
    for client in 1..9 {
        s.join(client);
    }
}

#[test]
fn while_the_game_is_too_slow_nobody_joins_and_nobody_goes() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.session.set_busy(true);
    s.open(2);
    s.send(2, &[join("bob")]);
    assert_eq!(s.hears(2), [failure(ActionId::JOIN, Reason::Unavailable)]);
    assert_eq!(s.state(1), Some("Attached"));
    s.session.set_busy(false);
    s.send(2, &[join("bob")]);
    assert_eq!(s.state(2), Some("Joined"));
}

#[test]
fn a_flood_whose_answers_are_not_read_ends_before_they_pile_up() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.window = Window::Once(0);
    s.give_room(stream(1), 0);
    let flood = vec![action(ActionId::DISABLED, &[]); 126];
    let payloads = STREAM_WAITING / (4 * flood.len());
    for _ in 0..payloads {
        s.send(1, &flood);
    }
    assert_eq!(s.state(1), Some("Attached"));
    s.send(1, &flood);
    let (actor, why) = (id(0), Departure::FellBehind);
    assert_eq!(s.events(), [ServerEvent::Left { actor, why }]);
    assert!(s.has_closed(1));
}
