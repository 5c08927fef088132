//! Events: who hears of them, by which path, and in which order.

use tickwire_dialects::cppevy::limits::{DATA_MAX, NEWS_WAITING};
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ActionId, Audience, Component, EventId, PublishError, StateId};
use tickwire_session::Session;
use tickwire_sim::addr::machine;

use crate::driven::{Window, ms};
use crate::script::{ServerScript, WIDE, addr, stream};
use crate::words::{GONG, SPARK, attach, client_leave, event, id, payload, state, success};

#[test]
fn events_reach_whom_they_are_for_by_the_path_they_are_registered_for() {
    let mut s = ServerScript::begin();
    let ann = id(s.play(1));
    let bob = id(s.play(2));
    let cases = [
        (Audience::All, true, true),
        (Audience::One(bob), false, true),
        (Audience::AllBut(bob), true, false),
    ];
    for (audience, to_ann, to_bob) in cases {
        s.act(|now, server| {
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
        let mut s = ServerScript::begin();
        let got = s.act(|now, server| server.event(now, Audience::One(ann), id, data));
        assert_eq!(got, Err(error));
    };
    refused(PublishError::TooLong, GONG, &[0; 256]);
    refused(PublishError::NotRegistered, EventId::SUMMON, &[]);
    refused(PublishError::NotRegistered, EventId(0x4444), &[]);
}

#[test]
fn instant_events_keep_their_order_whoever_they_are_for() {
    let mut s = ServerScript::begin();
    let [ann, bob] = [1, 2].map(|client| id(s.play(client)));
    let told = [
        (Audience::All, 1),
        (Audience::All, 2),
        (Audience::One(bob), 3),
        (Audience::All, 4),
        (Audience::AllBut(ann), 5),
        (Audience::All, 6),
    ];
    s.act(|now, server| {
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
    let mut s = ServerScript::begin();
    s.play(1);
    let joined = s.join(2);
    s.forget();
    // All before the server is asked for what it has to say.
    let now = s.now;
    let spark = |s: &mut ServerScript, number| {
        let told = s.session.event(now, Audience::All, SPARK, &[number]);
        told.unwrap();
    };
    spark(&mut s, 1);
    let shown = payload(0, &[attach(joined.token.0)]);
    s.session.handle_datagram(now, addr(2), &shown);
    spark(&mut s, 2);
    s.drain();
    assert_eq!(s.catches(1), [event(SPARK, &[1]), event(SPARK, &[2])]);
    assert_eq!(
        s.catches(2),
        [success(ActionId::ATTACH, &[]), event(SPARK, &[2])]
    );
}

#[test]
fn who_is_sent_away_hears_the_assured_events_before_it_and_no_more_datagrams() {
    let mut s = ServerScript::begin();
    let [ann, bob] = [1, 2].map(|client| id(s.play(client)));
    s.act(|now, server| {
        server.event(now, Audience::All, GONG, &[1]).unwrap();
        server.event(now, Audience::All, SPARK, &[1]).unwrap();
        server.kick(now, ann);
        server.event(now, Audience::All, GONG, &[2]).unwrap();
    });
    let farewell = [event(GONG, &[1]), client_leave(ann.number())];
    assert_eq!((s.hears(1), s.catches(1)), (farewell.into(), vec![]));
    assert_eq!(s.catches(2), [event(SPARK, &[1])]);
    s.forget();
    s.act(|now, server| {
        server.event(now, Audience::All, GONG, &[3]).unwrap();
        server.shut_down(now);
    });
    let farewell = [event(GONG, &[3]), client_leave(bob.number())];
    assert_eq!(s.hears(2), farewell);
}

#[test]
fn what_happens_between_two_datagrams_reaches_everybody() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.play(2);
    let now = s.now;
    s.session.event(now, Audience::All, SPARK, &[1]).unwrap();
    // The first client has heard of it, the second has not.
    let mut first = Vec::new();
    s.session
        .poll_transmit(now, &mut first)
        .expect("a datagram");
    s.session.event(now, Audience::All, SPARK, &[2]).unwrap();
    s.drain();
    assert_eq!(first, payload(s.timestamp(), &[event(SPARK, &[1])]));
    assert_eq!(s.catches(1), [event(SPARK, &[2])]);
    assert_eq!(s.catches(2), [event(SPARK, &[1]), event(SPARK, &[2])]);
}

#[test]
fn events_follow_a_client_to_its_new_address() {
    let mut s = ServerScript::begin();
    let joined = s.join(1);
    s.cast(1, &[attach(joined.token.0)]);
    s.forget();
    let (now, elsewhere) = (s.now, machine(1, 6_000));
    s.session.event(now, Audience::All, SPARK, &[1]).unwrap();
    let shown = payload(0, &[attach(joined.token.0)]);
    s.session.handle_datagram(now, elsewhere, &shown);
    s.session.event(now, Audience::All, SPARK, &[2]).unwrap();
    s.drain();
    assert_eq!(s.catches(1), []);
    let mail = s.datagram_mail(elsewhere).into_iter();
    let heard: Vec<_> = mail.flat_map(|mail| mail.objects).collect();
    let attached = success(ActionId::ATTACH, &[]);
    assert_eq!(heard, [attached, event(SPARK, &[1]), event(SPARK, &[2])]);
}

#[test]
fn events_of_two_moments_stand_apart_and_states_go_with_the_last() {
    let mut s = ServerScript::begin();
    let actor = id(s.play(1));
    s.pass(ms(1_000));
    s.forget();
    let before = s.now;
    let component = Component::new(2).unwrap();
    s.session.event(before, Audience::All, SPARK, &[1]).unwrap();
    let first = s.timestamp();
    // Not asked until the next sending.
    s.now = s.session.poll_timeout().unwrap();
    s.session.set_state(actor, component, &[9]).unwrap();
    s.session.handle_timeout(s.now);
    s.session.event(s.now, Audience::All, SPARK, &[2]).unwrap();
    s.drain();
    let mail = s.datagram_mail(addr(1));
    let told: Vec<_> = mail.iter().map(|mail| mail.timestamp).collect();
    assert_eq!(told, [first, s.timestamp()]);
    assert_eq!(mail[0].objects, [event(SPARK, &[1])]);
    let entity = actor;
    let nine = state(StateId { entity, component }, &[9]);
    assert_eq!(mail[1].objects, [event(SPARK, &[2]), nine]);
}

#[test]
fn more_than_can_wait_is_lost_from_the_front_and_counted() {
    let mut s = ServerScript::begin();
    s.play(1);
    let longest = [7; DATA_MAX];
    let events = 2 * NEWS_WAITING / DATA_MAX;
    s.act(|now, server| {
        for _ in 0..events {
            server.event(now, Audience::All, SPARK, &longest).unwrap();
        }
    });
    let lost = usize::try_from(s.counters().overrun).unwrap();
    assert_eq!(s.catches(1).len(), events - lost);
    assert!(lost > events / 3, "{lost} of {events}");
}

#[test]
fn events_carry_the_moment_they_happened_even_if_they_had_to_wait() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.window = Window::Once(0);
    s.give_room(stream(1), 0);
    let mut moments = Vec::new();
    for _ in 0..3 {
        s.act(|now, server| server.event(now, Audience::All, GONG, &[]).unwrap());
        s.act(|now, server| server.event(now, Audience::All, GONG, &[]).unwrap());
        moments.push(s.timestamp());
        s.pass(ms(30));
    }
    assert_eq!(s.hears(1), []);
    s.window = WIDE;
    s.give_room(stream(1), 64 * 1_024);
    let mail = s.stream_mail(1);
    let told: Vec<_> = mail.iter().map(|mail| mail.timestamp).collect();
    assert_eq!(told, moments, "those of one moment share a payload");
    assert!(mail.iter().all(|mail| mail.objects.len() == 2));
}
