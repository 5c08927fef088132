//! Events: who hears of them, by which path, and in which order.

use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ActionId, Audience, EventId, PublishError};
use tickwire_session::Session;

use super::super::script::{ServerScript, addr, ms, stream};
use super::super::words::{GONG, SPARK, attach, event, id, payload, success};

#[test]
fn events_reach_whom_they_are_for_by_the_path_they_are_registered_for() {
    let mut s = ServerScript::new();
    let ann = id(s.play(1));
    let bob = id(s.play(2));
    let cases = [
        (Audience::All, true, true),
        (Audience::One(bob), false, true),
        (Audience::AllBut(bob), true, false),
    ];
    for (audience, to_ann, to_bob) in cases {
        s.game(|now, server| {
            server.event(now, audience, GONG, b"g").unwrap();
            server.event(now, audience, SPARK, b"s").unwrap();
        });
        for (client, meant) in [(1, to_ann), (2, to_bob)] {
            let (stream, datagrams) = (s.hears(client), s.catches(client));
            assert_eq!(stream, vec![event(GONG, b"g"); meant.into()]);
            assert_eq!(datagrams, vec![event(SPARK, b"s"); meant.into()]);
        }
    }
    let refused = |error, id, data: &[u8]| {
        let mut s = ServerScript::new();
        let got = s.game(|now, server| server.event(now, Audience::One(ann), id, data));
        assert_eq!(got, Err(error));
    };
    refused(PublishError::TooLong, GONG, &[0; 256]);
    refused(PublishError::NotRegistered, EventId::SUMMON, &[]);
    refused(PublishError::NotRegistered, EventId(0x4444), &[]);
}

#[test]
fn instant_events_keep_their_order_whoever_they_are_for() {
    let mut s = ServerScript::new();
    let [ann, bob] = [1, 2].map(|client| id(s.play(client)));
    let told = [
        (Audience::All, 1),
        (Audience::All, 2),
        (Audience::One(bob), 3),
        (Audience::All, 4),
        (Audience::AllBut(ann), 5),
        (Audience::All, 6),
    ];
    s.game(|now, server| {
        for (audience, number) in told {
            server.event(now, audience, SPARK, &[number]).unwrap();
        }
    });
    let mut numbers = |client| -> Vec<u8> {
        let sparks = s.catches(client).into_iter().map(|object| match object {
            Object::Event { data, .. } => data.bytes()[0],
            other => panic!("no event: {other:?}"),
        });
        sparks.collect()
    };
    assert_eq!(numbers(1), [1, 2, 4, 6]);
    assert_eq!(numbers(2), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn who_attaches_hears_only_of_what_happens_from_then_on() {
    let mut s = ServerScript::new();
    s.play(1);
    let joined = s.join(2);
    s.forget();
    // All before the server is asked for what it has to say.
    let now = s.now;
    let spark = |s: &mut ServerScript, number| {
        let told = s.server.event(now, Audience::All, SPARK, &[number]);
        told.unwrap();
    };
    spark(&mut s, 1);
    let shown = payload(0, &[attach(joined.token.0)]);
    s.server.handle_datagram(now, addr(2), &shown);
    spark(&mut s, 2);
    s.drain();
    assert_eq!(s.catches(1), [event(SPARK, &[1]), event(SPARK, &[2])]);
    assert_eq!(
        s.catches(2),
        [success(ActionId::ATTACH, &[]), event(SPARK, &[2])]
    );
}

#[test]
fn events_carry_the_moment_they_happened_even_if_they_had_to_wait() {
    let mut s = ServerScript::new();
    s.play(1);
    s.stuffed = true;
    s.window = 0;
    s.give_room(stream(1));
    let mut moments = Vec::new();
    for _ in 0..3 {
        s.game(|now, server| server.event(now, Audience::All, GONG, &[]).unwrap());
        s.game(|now, server| server.event(now, Audience::All, GONG, &[]).unwrap());
        moments.push(s.timestamp());
        s.advance(ms(30));
    }
    assert_eq!(s.hears(1), []);
    (s.stuffed, s.window) = (false, 64 * 1_024);
    s.give_room(stream(1));
    s.drain();
    let mail = s.stream_mail(1);
    let told: Vec<_> = mail.iter().map(|mail| mail.timestamp).collect();
    assert_eq!(told, moments, "those of one moment share a payload");
    assert!(mail.iter().all(|mail| mail.objects.len() == 2));
}
