//! Bytes that no peer may send: each is refused whole, counted, and changes nothing.
//!
//! They are the golden files of what is refused, and all that the other side may send.

use tickwire_dialects::cppevy::message::{Payload, Sender};
use tickwire_dialects::cppevy::{ClientEvent, Departure, EndReason, ServerEvent};

use super::vectors::{accepted, sender};
use super::words::{GONG, HEALTH, ROCK, event, id, payload, state, state_id, summon};
use crate::driven::ms;
use crate::golden::files;
use crate::script::{ClientScript, SERVER, ServerScript, addr, stream};

/// What a side may not send.
fn wrong_for(whom: Sender) -> Vec<(&'static str, Vec<u8>)> {
    let refused = files("cppevy").into_iter();
    let refused = refused.filter(|it| it.name.starts_with("refused-") && sender(it) == whom);
    let foreign = accepted().into_iter();
    let foreign = foreign.filter(|(golden, said)| sender(golden) != whom && !said.is_empty());
    let all = refused.chain(foreign.map(|(golden, _)| golden));
    all.map(|golden| (golden.name, golden.bytes)).collect()
}

/// Whether there is nothing wrong with them on a stream: more may come, or they are two payloads.
fn may_go_on(bytes: &[u8], whom: Sender) -> bool {
    match bytes.get(4) {
        None => true,
        Some(&half @ 0..=253) => {
            let length = 5 + 2 * usize::from(half);
            let whole = bytes.get(..length);
            whole.is_none_or(|whole| Payload::decode(whole, whom).is_ok())
        }
        Some(_) => false,
    }
}

#[test]
fn a_bad_datagram_is_dropped_whole_by_a_server() {
    for (what, bytes) in wrong_for(Sender::Client) {
        let mut s = ServerScript::begin();
        s.play(1);
        s.send_bytes(addr(1), &bytes);
        s.expects_nothing();
        assert_eq!(s.events(), [], "{what}");
        assert_eq!(s.counters().undecodable_datagram, 1, "{what}");
        assert_eq!(s.state(1), Some("Attached"), "{what}");
        // It is not even a sign of life.
        for _ in 0..3 {
            s.pass(ms(5_000));
            s.send_bytes(addr(1), &bytes);
        }
        s.pass(ms(100));
        assert_eq!(s.state(1), None, "{what}");
    }
}

#[test]
fn a_bad_payload_closes_the_stream_at_a_server() {
    for (what, bytes) in wrong_for(Sender::Client) {
        let mut s = ServerScript::begin();
        s.play(1);
        s.write_bytes(stream(1), &bytes);
        let goes_on = may_go_on(&bytes, Sender::Client);
        assert_eq!(s.has_closed(1), !goes_on, "{what}");
        if !goes_on {
            let (actor, why) = (id(0), Departure::Garbled);
            let left = ServerEvent::Left { actor, why };
            assert_eq!(s.events(), [left], "{what}");
            assert_eq!(s.counters().undecodable_stream, 1, "{what}");
        }
    }
}

#[test]
fn a_bad_datagram_is_dropped_whole_by_a_client() {
    for (what, bytes) in wrong_for(Sender::Server) {
        let mut c = ClientScript::playing();
        c.send_bytes(SERVER, &bytes);
        assert_eq!(c.events(), [], "{what}");
        assert_eq!(c.counters().undecodable, 1, "{what}");
        c.send_bytes(addr(3), &payload(0, &[event(GONG, &[])]));
        assert_eq!(c.events(), [], "a stranger");
        assert_eq!(c.counters().stranger, 1);
    }
}

#[test]
fn a_bad_payload_ends_a_client() {
    for (what, bytes) in wrong_for(Sender::Server) {
        let mut c = ClientScript::playing();
        c.tell_bytes(&bytes);
        let goes_on = may_go_on(&bytes, Sender::Server);
        assert_eq!(c.has_closed(), !goes_on, "{what}");
        if !goes_on {
            let over = ClientEvent::Ended(EndReason::Garbled);
            assert_eq!(c.events(), [over], "{what}");
        }
    }
}

#[test]
fn the_objects_before_a_bad_one_take_no_effect() {
    let mut c = ClientScript::playing();
    c.tell(&[summon(7, ROCK)]);
    c.pass(ms(5));
    let mut bytes = payload(
        c.timestamp(),
        &[state(state_id(7, HEALTH), &[9]), event(GONG, &[])],
    );
    // The event becomes something that does not exist.
    bytes[10] = 9;
    c.forget();
    c.send_bytes(SERVER, &bytes);
    assert_eq!(c.session.state(c.now, id(7), HEALTH), None);
    assert_eq!(c.counters().undecodable, 1);
}
