//! Content that clients offer: taken by consent, within bounds, whole or not at all.

use tickwire_dialects::cppevy::limits::{UPLOAD_MAX, UPLOAD_PATIENCE};
use tickwire_dialects::cppevy::message::{Object, Piece};
use tickwire_dialects::cppevy::{ActionId, ActionToken, Answer, Reason, ServerEvent};

use crate::driven::ms;
use crate::script::ServerScript;
use crate::words::{action, bytes, failure, id, offer, success};

const SKIN: &[u8] = &[7; 300];

fn part(offset: u32, bytes_of_it: &[u8]) -> Object<'static> {
    let piece = Piece {
        offset,
        bytes: bytes_of_it,
    };
    action(ActionId::PIECE, &bytes(|w| piece.encode(w)))
}

/// The one offer that the game was told of.
#[track_caller]
fn offered(s: &mut ServerScript) -> ActionToken {
    match &s.events()[..] {
        [ServerEvent::Offered { token, .. }] => *token,
        other => panic!("not one offer: {other:?}"),
    }
}

/// A client that plays and may send [`SKIN`].
#[track_caller]
fn consented() -> ServerScript {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(1, &[offer(SKIN, "skin")]);
    let token = offered(&mut s);
    s.act(|now, server| {
        server
            .answer(now, token, Answer::Success(&[]))
            .expect("it was asked")
    });
    assert_eq!(s.hears(1), [success(ActionId::OFFER, &[])]);
    s
}

#[test]
fn what_was_offered_and_wanted_arrives_whole() {
    let mut s = consented();
    s.send(1, &[part(0, &SKIN[..240])]);
    assert_eq!(s.events(), []);
    s.send(1, &[part(240, &SKIN[240..])]);
    let done = success(ActionId::PIECE, &[]);
    assert_eq!(s.hears(1), [done, done]);
    let uploaded = ServerEvent::Uploaded {
        actor: id(0),
        name: "skin".into(),
        bytes: SKIN.into(),
    };
    assert_eq!(s.events(), [uploaded]);
    // It is over: another piece belongs to nothing, another offer is one.
    s.send(1, &[part(300, &[7])]);
    let nothing = failure(ActionId::PIECE, Reason::Unavailable);
    assert_eq!(s.hears(1), [nothing]);
    s.send(1, &[offer(SKIN, "skin")]);
    offered(&mut s);
}

#[test]
fn without_consent_nothing_is_taken() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(1, &[offer(SKIN, "skin"), part(0, &SKIN[..240])]);
    let token = offered(&mut s);
    let unavailable = failure(ActionId::PIECE, Reason::Unavailable);
    assert_eq!(s.hears(1), [unavailable]);
    // A second offer waits behind the first, so that each answer meets its own.
    s.send(1, &[offer(SKIN, "other")]);
    assert_eq!(s.hears(1), []);
    let no = Answer::Failure(Reason::Waiting);
    s.act(|now, server| server.answer(now, token, no).unwrap());
    let [waiting, busy] = [Reason::Waiting, Reason::Busy].map(|why| failure(ActionId::OFFER, why));
    assert_eq!(s.hears(1), [waiting, busy]);
    s.send(1, &[part(0, &SKIN[..240])]);
    assert_eq!(s.hears(1), [unavailable]);
    assert_eq!(s.events(), []);
}

#[test]
fn a_game_that_forgets_an_offer_has_not_consented() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(1, &[offer(SKIN, "skin")]);
    let token = offered(&mut s);
    s.live(ms(5_000), &[1]);
    let forgotten = failure(ActionId::OFFER, Reason::Unavailable);
    assert_eq!(s.hears(1), [forgotten]);
    s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
    s.send(1, &[part(0, &SKIN[..240])]);
    let unavailable = failure(ActionId::PIECE, Reason::Unavailable);
    assert_eq!(s.hears(1), [unavailable]);
}

#[test]
fn offers_that_nobody_could_take_are_refused_and_counted() {
    let hostile = [
        "",
        "../skin",
        "/etc/passwd",
        "a//b",
        "a\\b",
        "c:skin",
        "two\nlines",
        ".",
    ];
    let large = vec![1; 1_001];
    let mut s = ServerScript::begin();
    s.play(1);
    let refused = failure(ActionId::OFFER, Reason::Error);
    for name in hostile {
        s.send(1, &[offer(SKIN, name)]);
        assert_eq!(s.hears(1), [refused], "{name:?}");
    }
    s.send(1, &[offer(&large, "skin")]);
    s.send(1, &[offer(&[], "skin")]);
    assert_eq!(s.hears(1), [refused, refused]);
    assert_eq!(s.counters().upload_refused, hostile.len() as u64 + 2);
    s.send(1, &[action(ActionId::OFFER, &[0; 35])]);
    assert_eq!(s.hears(1), [refused]);
    assert_eq!(s.counters().bad_data, 1);
    // By datagram they may be forged.
    s.cast(1, &[offer(SKIN, "skin"), part(0, &SKIN[..240])]);
    assert_eq!(s.counters().wrong_path, 2);
    assert_eq!(s.events(), []);
    const { assert!(1_000 < UPLOAD_MAX) };
}

#[test]
fn a_server_that_takes_nothing_says_so() {
    let mut s = ServerScript::with_uploads(0);
    s.play(1);
    s.send(1, &[offer(SKIN, "skin")]);
    assert_eq!(s.hears(1), [failure(ActionId::OFFER, Reason::Disabled)]);
}

#[test]
fn what_is_not_what_was_offered_leaves_nothing() {
    let other = [8; 60];
    let broken: [&[(u32, &[u8])]; 6] = [
        // Out of order, twice, beyond the end, empty, and other bytes.
        &[(240, &SKIN[240..])],
        &[(0, &SKIN[..240]), (0, &SKIN[..240])],
        &[(0, &SKIN[..240]), (240, &SKIN[..240])],
        &[(0, &[])],
        &[(0, &SKIN[..240]), (240, &other)],
        &[(u32::MAX, &[7])],
    ];
    for pieces in broken {
        let mut s = consented();
        for (offset, bytes) in pieces {
            s.send(1, &[part(*offset, bytes)]);
        }
        let error = failure(ActionId::PIECE, Reason::Error);
        assert_eq!(s.hears(1).last(), Some(&error), "{pieces:?}");
        assert_eq!(s.counters().upload_broken, 1, "{pieces:?}");
        s.send(1, &[part(0, &SKIN[..240])]);
        let over = failure(ActionId::PIECE, Reason::Unavailable);
        assert_eq!(s.hears(1), [over]);
        assert_eq!(s.events(), [], "{pieces:?}");
    }
}

#[test]
fn what_takes_too_long_is_forgotten() {
    let mut s = consented();
    s.send(1, &[part(0, &SKIN[..240])]);
    s.live(UPLOAD_PATIENCE - ms(1), &[1]);
    assert_eq!(s.counters().upload_stalled, 0);
    s.forget();
    s.live(ms(1_000), &[1]);
    assert_eq!(s.counters().upload_stalled, 1);
    s.send(1, &[part(240, &SKIN[240..])]);
    let over = failure(ActionId::PIECE, Reason::Unavailable);
    assert_eq!(s.hears(1), [over]);
    assert_eq!(s.events(), []);
}
