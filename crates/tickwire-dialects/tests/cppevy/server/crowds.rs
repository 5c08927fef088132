//! Many connections that do not join, and floods: each bound holds, and whoever means to play does.

use tickwire_dialects::cppevy::limits::{
    FAREWELL, JOIN_PATIENCE, STREAM_WAITING, UNJOINED_A_HOST, UNJOINED_MAX,
};
use tickwire_dialects::cppevy::{ActionId, Departure, Reason, ServerEvent};
use tickwire_session::{Addr, Host, Session, StreamId};

use super::super::script::{ServerScript, addr, ms, stream};
use super::super::words::{action, failure, id, payload};

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
        s.server.handle_opened(s.now, idle(number), peer);
    }
    s.drain();
}

fn connections(s: &ServerScript) -> usize {
    let mut count = 0;
    s.server.visit_peers(&mut |_| count += 1);
    count
}

#[test]
fn idle_connections_of_a_host_do_not_keep_the_next_from_joining() {
    let mut s = ServerScript::new();
    s.play(1);
    let late = UNJOINED_A_HOST + 44;
    open_idle(&mut s, late, addr(9));
    assert_eq!(connections(&s), 1 + UNJOINED_A_HOST);
    assert_eq!(s.counters().too_many_streams, 44);
    let gone = (0..late).filter(|number| s.has_ended(idle(*number)));
    assert!(gone.eq(0..44), "the oldest give way");
    // Of that very machine, too.
    s.join_from(2, addr(9));
    assert_eq!(s.counters().too_many_streams, 45);
    s.join(3);
    assert_eq!(
        s.counters().too_many_streams,
        45,
        "others are not its affair"
    );
    assert_eq!(s.state(1), Some("Attached"));
}

#[test]
fn idle_connections_of_many_hosts_give_way_oldest_first() {
    let mut s = ServerScript::new();
    for number in 0..UNJOINED_MAX {
        s.server.handle_opened(s.now, idle(number), link(number));
    }
    s.drain();
    assert_eq!(s.counters().too_many_streams, 0);
    for client in 1..=5 {
        s.join(client);
        s.now += ms(1);
    }
    assert!(s.has_ended(idle(0)) && !s.has_ended(idle(1)));
    assert_eq!(s.counters().too_many_streams, 1);
}

#[test]
fn connections_that_are_being_closed_keep_no_place() {
    let mut s = ServerScript::new();
    // They are owed an answer that they do not read, and have sent nonsense.
    (s.stuffed, s.window) = (true, 0);
    let answered = payload(0, &[action(ActionId::DISABLED, &[])]);
    for number in 0..2 * UNJOINED_MAX {
        let on = idle(number);
        s.server.handle_opened(s.now, on, link(number));
        s.server.handle_stream(s.now, on, &answered);
        s.server.handle_stream(s.now, on, &[0, 0, 0, 0, 0xff]);
        s.drain();
    }
    assert_eq!(connections(&s), UNJOINED_MAX);
    (s.stuffed, s.window) = (false, 64 * 1_024);
    s.join(1);
    s.advance(FAREWELL);
    assert_eq!(connections(&s), 1);
}

#[test]
fn who_never_joins_is_let_go_whatever_it_says() {
    let mut s = ServerScript::new();
    s.open(1);
    s.join(2);
    s.forget();
    s.live(JOIN_PATIENCE - ms(100), &[1, 2]);
    s.send(1, &[action(ActionId::JOIN, &[9, 9])]);
    assert_eq!(
        s.hears(1).last(),
        Some(&failure(ActionId::JOIN, Reason::Error))
    );
    assert!(!s.has_closed(1));
    s.advance(ms(200));
    assert!(s.has_closed(1));
    assert_eq!(s.counters().join_overdue, 1);
    assert_eq!(s.events(), [], "it never played");
    s.live(JOIN_PATIENCE, &[2]);
    assert_eq!(s.state(2), Some("Joined"));
}

#[test]
fn a_flood_whose_answers_are_not_read_ends_before_they_pile_up() {
    let mut s = ServerScript::new();
    s.play(1);
    (s.stuffed, s.window) = (true, 0);
    s.give_room(stream(1));
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
