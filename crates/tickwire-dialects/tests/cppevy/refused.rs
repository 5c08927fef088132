//! Bytes that no peer may send: each is refused whole, counted, and changes nothing.

use tickwire_dialects::cppevy::message::{Object, Payload, Sender};
use tickwire_dialects::cppevy::{ClientEvent, Departure, EndReason, Reason, ServerEvent};

use super::words::{
    GONG, HEALTH, ROCK, STEER, action, event, failure, id, payload, request, state, state_id,
    success, summon,
};
use crate::driven::ms;
use crate::script::{ClientScript, SERVER, ServerScript, addr, stream};

/// A payload with this half size and these bytes behind the header.
fn raw(half_size: u8, body: &[u8]) -> Vec<u8> {
    [&[1, 2, 3, 4, half_size][..], body].concat()
}

/// Payloads that are wrong whoever sends them, and what is wrong.
fn malformed(good: &Object<'_>) -> Vec<(&'static str, Vec<u8>)> {
    let whole = payload(0, &[*good]);
    let body = whole[5..].to_vec();
    let half = whole[4];
    let mut all = vec![
        ("nothing", vec![]),
        ("half a header", vec![0, 0, 0, 0]),
        ("half size 254", raw(254, &[0xff; 508])),
        ("half size 255", raw(255, &[0xff; 510])),
        (
            "longer than it says",
            raw(half, &[&body[..], &[0]].concat()),
        ),
        ("shorter than it says", raw(half, &body[..body.len() - 1])),
        ("says more than there is", raw(half + 1, &body)),
        ("padding alone, twice", raw(1, &[0xff, 0xff])),
        (
            "kind 0",
            raw(half + 2, &[&body[..], &[0, 0, 0, 0]].concat()),
        ),
        (
            "kind 7",
            raw(half + 2, &[&body[..], &[7, 0, 0, 0]].concat()),
        ),
        (
            "padding before an object",
            raw(half + 1, &[&[0xff, 0xff][..], &body].concat()),
        ),
    ];
    // Behind a good object, every kind cut short.
    for kind in 1..=6 {
        let cut = [&body[..], &[kind, 0]].concat();
        all.push(("a cut descriptor", raw(half + 1, &cut)));
        let cut = [&body[..], &[kind, 0, 0, 9]].concat();
        all.push(("data over the end", raw(half + 2, &cut)));
    }
    all
}

/// An action of four bytes: an even payload.
fn steer() -> Object<'static> {
    action(STEER, &[])
}

fn wrong_for_server() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = malformed(&steer());
    let foreign = [
        state(state_id(0, HEALTH), &[1]),
        event(GONG, &[]),
        success(STEER, &[]),
        failure(STEER, Reason::Busy),
    ];
    for object in foreign {
        all.push(("what servers send", payload(0, &[steer(), object])));
    }
    // Two requests and one byte: were it padding, it would be 0xff.
    let wanted = request(state_id(0, HEALTH));
    let mut odd = payload(0, &[wanted]);
    *odd.last_mut().expect("not empty") = 0xfe;
    all.push(("padding that is not 0xff", odd));
    all
}

fn wrong_for_client() -> Vec<(&'static str, Vec<u8>)> {
    let good = event(GONG, &[]);
    let mut all = malformed(&good);
    for object in [steer(), request(state_id(0, HEALTH))] {
        all.push(("what clients send", payload(0, &[good, object])));
    }
    for reason in [0, 7, 0xff] {
        let mut bytes = payload(0, &[good, failure(STEER, Reason::Busy)]);
        *bytes.last_mut().expect("not empty") = reason;
        all.push(("a reason that does not exist", bytes));
    }
    all
}

#[test]
fn a_bad_datagram_is_dropped_whole_by_a_server() {
    for (what, bytes) in wrong_for_server() {
        assert!(Payload::decode(&bytes, Sender::Client).is_err(), "{what}");
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
    for (what, bytes) in wrong_for_server() {
        let mut s = ServerScript::begin();
        s.play(1);
        s.write_bytes(stream(1), &bytes);
        // On a stream a payload that is cut is one that has not come yet.
        let waits = matches!(
            what,
            "nothing" | "half a header" | "shorter than it says" | "says more than there is"
        );
        if waits {
            assert!(!s.has_closed(1), "{what}");
            continue;
        }
        if what == "longer than it says" {
            // What is too long begins the next payload.
            assert!(!s.has_closed(1));
            continue;
        }
        assert!(s.has_closed(1), "{what}");
        let left = ServerEvent::Left {
            actor: id(0),
            why: Departure::Garbled,
        };
        assert_eq!(s.events(), [left], "{what}");
        assert_eq!(s.counters().undecodable_stream, 1, "{what}");
    }
}

#[test]
fn a_bad_datagram_is_dropped_whole_by_a_client() {
    for (what, bytes) in wrong_for_client() {
        assert!(Payload::decode(&bytes, Sender::Server).is_err(), "{what}");
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
    for (what, bytes) in wrong_for_client() {
        let cut = Payload::decode(&bytes, Sender::Server).unwrap_err();
        let mut c = ClientScript::playing();
        c.tell_bytes(&bytes);
        let waits = matches!(
            what,
            "nothing" | "half a header" | "shorter than it says" | "says more than there is"
        );
        if waits || what == "longer than it says" {
            assert!(!c.has_closed(), "{what}: {cut}");
            continue;
        }
        let over = ClientEvent::Ended(EndReason::Garbled);
        assert_eq!(c.events(), [over], "{what}");
        assert!(c.has_closed(), "{what}");
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
