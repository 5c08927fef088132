//! Playing: states that are true, events that happened.

use tickwire_dialects::cppevy::limits::{KEEP_ALIVE, STATE_MAX_AGE, STREAM_KEEP_ALIVE};
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ClientEvent, EventId, Phase};

use crate::driven::ms;
use crate::script::ClientScript;
use crate::words::{
    GONG, HEALTH, POSITION, ROCK, SHIELD, SPARK, client_join, client_leave, dismiss, event, id,
    request, state, state_id, summon,
};

/// A client that knows of a rock, number 7.
fn with_rock() -> ClientScript {
    let mut c = ClientScript::playing();
    c.tell(&[summon(7, ROCK)]);
    c.pass(ms(10));
    c.forget();
    c
}

fn health(c: &ClientScript) -> Option<u8> {
    let value = c.session.state(c.now, id(7), HEALTH)?;
    value.first().copied()
}

fn told(value: u8) -> Object<'static> {
    state(state_id(7, HEALTH), &[value])
}

#[test]
fn the_newest_state_counts_and_older_ones_do_not() {
    let mut c = with_rock();
    let now = c.timestamp();
    assert_eq!(health(&c), None);
    c.show_at(now, &[told(10)]);
    assert_eq!(health(&c), Some(10));
    c.show_at(now - 1, &[told(11)]);
    assert_eq!(health(&c), Some(10));
    assert_eq!(c.counters().stale, 1);
    // Within a payload, and within a moment, the later one.
    c.show_at(now, &[told(12), told(13)]);
    assert_eq!(health(&c), Some(13));
    c.show_at(now + 5, &[state(state_id(7, POSITION), &[1; 8])]);
    assert_eq!(health(&c), Some(13), "another state says nothing of it");
}

#[test]
fn a_state_not_newer_than_its_summon_is_ignored() {
    let mut c = ClientScript::playing();
    c.pass(ms(100));
    c.tell(&[summon(7, ROCK)]);
    let summoned = c.timestamp();
    c.show_at(summoned, &[told(1)]);
    assert_eq!(health(&c), None);
    c.show_at(summoned + 1, &[told(2)]);
    assert_eq!(health(&c), Some(2));
    // Another entity under the same id.
    c.pass(ms(500));
    c.tell(&[dismiss(7), summon(7, ROCK)]);
    assert_eq!(health(&c), None);
    c.show_at(summoned + 400, &[told(3)]);
    assert_eq!(health(&c), None);
}

#[test]
fn a_state_is_out_of_date_after_three_seconds() {
    let mut c = with_rock();
    let now = c.timestamp();
    c.show_at(now, &[told(10)]);
    c.pass(STATE_MAX_AGE - ms(2));
    assert_eq!(health(&c), Some(10));
    c.pass(ms(2));
    assert_eq!(health(&c), None);
    assert!(c.session.state_age(c.now, id(7), HEALTH) >= Some(STATE_MAX_AGE));
    c.show(&[told(11)]);
    assert_eq!(health(&c), Some(11));
    // One that was under way for long is out of date when it comes.
    let mut c = with_rock();
    c.show(&[]);
    let now = c.timestamp();
    c.pass(ms(2_900));
    c.show(&[]);
    // The estimate of the server's clock may have slipped by a few milliseconds.
    c.pass(ms(105));
    c.show_at(now, &[told(10)]);
    assert_eq!(health(&c), None);
}

#[test]
fn states_of_what_is_not_there_are_ignored() {
    let mut c = with_rock();
    c.show(&[state(state_id(8, HEALTH), &[1])]);
    assert_eq!(c.counters().unknown_entity, 1);
    assert_eq!(c.session.entities().count(), 2);
}

#[test]
fn a_state_is_asked_for_by_datagram() {
    let mut c = with_rock();
    let wanted = state_id(7, HEALTH);
    c.act(|_, client| client.request_state(wanted).unwrap());
    assert_eq!(c.cast(), [request(wanted)]);
}

#[test]
fn events_are_told_with_their_moment() {
    let mut c = with_rock();
    let timestamp = c.timestamp();
    c.tell(&[event(GONG, b"g")]);
    c.show_at(timestamp - 3, &[event(SPARK, b"s")]);
    let happened = |event, timestamp, data: &[u8]| ClientEvent::Happened {
        event,
        timestamp,
        data: data.into(),
    };
    assert_eq!(
        c.events(),
        [
            happened(GONG, timestamp, b"g"),
            happened(SPARK, timestamp - 3, b"s")
        ]
    );
}

#[test]
fn unknown_events_and_bad_data_are_counted() {
    let mut c = with_rock();
    c.tell(&[
        event(EventId(0x4444), b"?"),
        event(EventId::SUMMON, &[1, 0]),
        event(EventId::SUMMON, &[0, 4, 1]),
        event(EventId::DISMISS, &[7, 0, 0]),
        event(EventId::ASSET, &[0]),
        dismiss(900),
        client_join(900),
        client_leave(900),
    ]);
    assert_eq!(c.events(), []);
    let counters = c.counters();
    assert_eq!((counters.unknown_event, counters.bad_data), (1, 4));
    assert_eq!(counters.unknown_entity, 3);
}

#[test]
fn a_state_of_a_wrong_length_changes_nothing() {
    let mut c = with_rock();
    let shield = state_id(7, SHIELD);
    c.show(&[state(shield, &[4, 6])]);
    for length in [0, 1, 3, 255] {
        c.pass(ms(10));
        c.show(&[state(shield, &vec![9; length])]);
    }
    let shown = c.session.state(c.now, id(7), SHIELD);
    assert_eq!(shown, Some(&[4, 6][..]));
    assert_eq!(c.counters().bad_data, 4);
}

#[test]
fn what_is_assured_is_not_believed_of_a_datagram() {
    let mut c = with_rock();
    c.forget();
    c.show(&[client_leave(1), summon(5, ROCK), dismiss(7), client_join(7)]);
    c.show(&[event(GONG, b"forged")]);
    assert_eq!(c.events(), []);
    assert_eq!(c.counters().wrong_path, 5);
    assert!(c.session.entity(id(7)).is_some());
    assert_eq!(c.session.phase(), Phase::Playing);
}

#[test]
fn who_comes_and_goes_is_told() {
    let mut c = with_rock();
    c.tell(&[client_join(7)]);
    c.tell(&[client_leave(7), dismiss(7)]);
    let events = c.events();
    assert_eq!(events[0], ClientEvent::ActorJoined(id(7)));
    assert_eq!(events[1], ClientEvent::ActorLeft(id(7)));
    let ClientEvent::Dismissed(gone, entity) = &events[2] else {
        panic!("{events:?}");
    };
    assert_eq!((*gone, entity.archetype), (id(7), ROCK));
    assert_eq!(c.session.entity(id(7)), None);
}

#[test]
fn an_idle_client_keeps_both_paths_open() {
    let mut c = with_rock();
    let until = c.now + STREAM_KEEP_ALIVE * 2;
    let mut datagrams = Vec::new();
    while c.now < until {
        c.live(ms(100));
        datagrams.extend(c.mail());
    }
    let count = u32::try_from(datagrams.len()).unwrap();
    assert!((9..=11).contains(&count), "{count}");
    assert!(KEEP_ALIVE * count >= ms(9_000));
    assert!(datagrams.iter().all(|mail| mail.size == 5));
    assert_eq!(c.said(), []);
}
