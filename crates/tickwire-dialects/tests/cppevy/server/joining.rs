//! Open: somebody is connected, and has not joined.

use tickwire_dialects::cppevy::limits::SYNC_ID_REST;
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ActionId, Reason, ServerEvent, SyncId};

use crate::driven::ms;
use crate::script::{ServerScript, stream};
use crate::words::{
    BUY, FLY, HEALTH, ROCK, SHIP, action, asset, attach, client_join, client_leave, dismiss,
    failure, id, join, joined, leave, payload, request, state_id, summon,
};

#[test]
fn a_joiner_is_told_what_there_is_and_the_others_of_it() {
    let mut s = ServerScript::begin();
    let rock = s.act(|now, server| server.summon(now, ROCK).unwrap());
    assert_eq!(rock, id(0));
    let ann = s.join(1);
    assert_eq!(ann.actor, id(1));
    s.forget();

    s.open(2);
    s.send(2, &[join("bob")]);
    let heard = s.hears(2);
    let Some(Object::Success { message, .. }) = heard.first() else {
        panic!("{heard:?}");
    };
    let token = u64::from_le_bytes(message.bytes()[2..].try_into().unwrap());
    assert_eq!(
        heard,
        [
            joined(2, token),
            summon(0, ROCK),
            summon(1, SHIP),
            summon(2, SHIP),
            client_join(1),
        ]
    );
    assert_eq!(s.hears(1), [summon(2, SHIP), client_join(2)]);
    let (actor, name) = (id(2), "bob".into());
    assert_eq!(s.events(), [ServerEvent::Joined { actor, name }]);
    assert_eq!(s.state(2), Some("Joined"));
}

#[test]
fn everything_but_join_is_unavailable_before_it() {
    let mut s = ServerScript::begin();
    s.open(1);
    assert_eq!(s.state(1), Some("Open"));
    let early = [
        (asset(0, "index"), ActionId::ASSET),
        (attach(7), ActionId::ATTACH),
        (leave(), ActionId::LEAVE),
        (action(BUY, &[1]), BUY),
        (action(FLY, &[]), FLY),
        (action(ActionId(0x4444), &[]), ActionId(0x4444)),
    ];
    for (asked, kind) in early {
        s.send(1, &[asked, request(state_id(0, HEALTH))]);
        assert_eq!(s.hears(1), [failure(kind, Reason::Unavailable)]);
    }
    s.send(1, &[action(ActionId::DISABLED, &[])]);
    let disabled = failure(ActionId::DISABLED, Reason::Disabled);
    assert_eq!(s.hears(1), [disabled]);
    assert_eq!(s.events(), []);
    assert!(!s.has_closed(1));
    s.send(1, &[join("ann")]);
    assert_eq!(s.state(1), Some("Joined"));
}

#[test]
fn a_join_that_makes_no_sense_is_an_error_and_may_be_mended() {
    let mut s = ServerScript::begin();
    s.open(1);
    let bad: [&[u8]; 5] = [&[], &[1], &[2, 0, b'a'], &[0, 1], &[1, 0, 0xff]];
    for data in bad {
        s.send(1, &[action(ActionId::JOIN, data)]);
        let refused = failure(ActionId::JOIN, Reason::Error);
        assert_eq!(s.hears(1), [refused], "{data:?}");
    }
    assert_eq!(s.counters().bad_data, 5);
    assert_eq!(s.events(), []);
    s.send(1, &[join("")]);
    assert_eq!(s.state(1), Some("Joined"));
}

#[test]
fn a_full_server_says_so_every_time_and_takes_the_next_when_there_is_room() {
    let mut s = ServerScript::with(Some(1));
    s.join(1);
    s.open(2);
    for _ in 0..2 {
        s.send(2, &[join("bob")]);
        let full = failure(ActionId::JOIN, Reason::Unavailable);
        assert_eq!(s.hears(2), [full]);
    }
    assert_eq!(s.counters().full, 2);
    s.close(1);
    s.send(2, &[join("bob")]);
    assert_eq!(s.state(2), Some("Joined"));
}

#[test]
fn without_a_free_id_there_is_no_joining_until_one_has_rested() {
    let mut s = ServerScript::begin();
    s.act(|now, server| {
        for _ in 0..SyncId::COUNT {
            server.summon(now, ROCK).unwrap();
        }
        server.summon(now, ROCK).unwrap_err();
    });
    s.open(1);
    let refused = failure(ActionId::JOIN, Reason::Unavailable);
    s.send(1, &[join("ann")]);
    assert_eq!(s.hears(1), [refused]);
    s.act(|now, server| server.dismiss(now, id(77)));
    s.pass(SYNC_ID_REST - ms(1));
    s.open(2);
    s.send(2, &[join("bob")]);
    assert_eq!(s.hears(2), [refused]);
    s.pass(ms(1));
    s.send(2, &[join("bob")]);
    let heard = s.hears(2);
    assert!(matches!(heard.first(), Some(Object::Success { .. })));
    assert!(heard.contains(&summon(77, SHIP)));
    assert_eq!(heard.len(), 1 + usize::from(SyncId::COUNT));
}

#[test]
fn a_payload_may_arrive_in_any_pieces() {
    let mut s = ServerScript::begin();
    s.open(1);
    let bytes = payload(0, &[join("ann")]);
    let twice = [bytes.clone(), bytes].concat();
    for byte in twice {
        s.write_bytes(stream(1), &[byte]);
    }
    let heard = s.hears(1);
    assert!(matches!(heard.first(), Some(Object::Success { .. })));
    assert_eq!(
        heard.last(),
        Some(&failure(ActionId::JOIN, Reason::Unavailable))
    );
}

#[test]
fn who_leaves_is_gone_with_its_entity() {
    let mut s = ServerScript::begin();
    s.join(1);
    s.join(2);
    s.forget();
    s.close(1);
    assert_eq!(s.hears(2), [client_leave(0), dismiss(0)]);
    // Its id rests: the next gets another.
    assert_eq!(s.join(3).actor, id(2));
}
