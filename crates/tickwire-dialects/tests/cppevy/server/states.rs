//! States: when they are sent, how often, and what shares a payload.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_dialects::cppevy::limits::{DATAGRAMS_A_SENDING, PAYLOAD_MAX, REQUESTS_A_SECOND};
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{Audience, Component, PublishError, StateId};

use tickwire_session::Session;

use crate::driven::ms;
use crate::script::{Mail, ServerScript, addr};
use crate::words::{HEALTH, POSITION, ROCK, SHIELD, SPARK, event, id, request, state, state_id};

/// A server with one rock, number 0, and one client that plays.
fn with_rock() -> ServerScript {
    let mut s = ServerScript::begin();
    s.act(|now, server| server.summon(now, ROCK).expect("a free id"));
    s.play(1);
    s
}

fn set(s: &mut ServerScript, component: Component, value: &[u8]) {
    s.act(|_, server| server.set_state(id(0), component, value).expect("short"));
}

/// The states of a payload.
fn states(mail: &Mail) -> Vec<(StateId, &'static [u8])> {
    let states = mail.objects.iter().filter_map(|object| match *object {
        Object::State { state, value } => Some((state, value.bytes())),
        _ => None,
    });
    states.collect()
}

/// When each sending of the health of the rock came, and what it said.
fn healths(s: &mut ServerScript) -> Vec<(u32, u8)> {
    let mail = s.datagram_mail(addr(1));
    let health = |mail: &Mail| {
        let (_, value) = *states(mail).first()?;
        Some((mail.timestamp, value[0]))
    };
    mail.iter().filter_map(health).collect()
}

#[test]
fn a_change_goes_with_the_next_sending_and_is_true_at_its_moment() {
    let mut s = with_rock();
    set(&mut s, HEALTH, &[9]);
    s.pass(ms(20));
    set(&mut s, HEALTH, &[8]);
    set(&mut s, POSITION, &[1; 8]);
    s.pass(ms(50));
    let mail = s.datagram_mail(addr(1));
    assert_eq!(mail.len(), 1, "{mail:?}");
    assert_eq!(
        mail[0].objects,
        [
            state(state_id(0, POSITION), &[1; 8]),
            state(state_id(0, HEALTH), &[8])
        ]
    );
    assert!(mail[0].timestamp <= s.timestamp());
}

#[test]
fn a_state_that_always_changes_goes_twenty_times_a_second() {
    let mut s = with_rock();
    for tick in 0..200_u8 {
        set(&mut s, HEALTH, &[tick]);
        s.pass(ms(10));
    }
    let sent = healths(&mut s);
    assert!((39..=41).contains(&sent.len()), "{}", sent.len());
    assert!(sent.windows(2).all(|pair| pair[1].0 - pair[0].0 == 50));
    assert!(sent.is_sorted_by_key(|(_, value)| *value));
}

/// Steps of 16 ms and sendings of 50 ms never meet; each sending leaves with a step all the same, and
/// tells what that step made.
#[test]
fn a_sending_leaves_with_the_step_that_is_nearest_before_it() {
    let mut s = with_rock();
    for step in 0..125_u8 {
        set(&mut s, HEALTH, &[step]);
        s.pass(ms(16));
    }
    let sent = healths(&mut s);
    assert!((39..=41).contains(&sent.len()), "{}", sent.len());
    let (first, begun) = sent[0];
    for &(moment, step) in &sent {
        assert_eq!(moment - first, u32::from(step - begun) * 16, "step {step}");
    }
}

#[test]
fn a_still_state_goes_at_least_once_a_second() {
    let mut s = with_rock();
    set(&mut s, HEALTH, &[7]);
    s.live(ms(10_000), &[1]);
    let sent = healths(&mut s);
    let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!(gaps[..4], [100, 200, 400, 800]);
    assert!(gaps.iter().all(|gap| *gap <= 1_000), "{gaps:?}");
    assert!(sent.len() < 20, "at a low rate: {}", sent.len());
}

#[test]
fn a_state_is_never_sent_with_the_moment_of_its_summon() {
    let mut s = with_rock();
    // In step with the sending, where it matters.
    s.pass(ms(1_000));
    s.forget();
    for _ in 0..40 {
        s.pass(ms(25));
        let summoned = s.timestamp();
        let rock = s.act(|now, server| {
            let rock = server.summon(now, ROCK).unwrap();
            server.set_state(rock, HEALTH, &[1]).unwrap();
            rock
        });
        s.pass(ms(101));
        for mail in s.datagram_mail(addr(1)) {
            if states(&mail).iter().any(|(state, _)| state.entity == rock) {
                assert!(mail.timestamp > summoned);
            }
        }
        s.act(|now, server| server.dismiss(now, rock));
    }
}

#[test]
fn what_is_gone_is_not_sent() {
    let mut s = with_rock();
    set(&mut s, HEALTH, &[7]);
    s.act(|now, server| server.dismiss(now, id(0)));
    set(&mut s, HEALTH, &[8]);
    s.pass(ms(500));
    assert_eq!(s.catches(1), []);
    let long = s.act(|_, server| server.set_state(id(0), HEALTH, &[0; 256]));
    assert_eq!(long, Err(PublishError::TooLong));
    for (length, expected) in [(1, Err(PublishError::WrongLength)), (2, Ok(()))] {
        let value = vec![0; length];
        let set = s.act(|_, server| server.set_state(id(0), SHIELD, &value));
        assert_eq!(set, expected);
    }
}

#[test]
fn payloads_are_filled_and_none_is_too_large() {
    let mut s = with_rock();
    s.act(|now, server| {
        for _ in 0..299 {
            server.summon(now, ROCK).unwrap();
        }
        for number in 0..300 {
            let size = usize::from(number % 9);
            let entity = if number == 0 { id(0) } else { id(number + 1) };
            server.set_state(entity, POSITION, &vec![3; size]).unwrap();
        }
    });
    s.pass(ms(60));
    let mail = s.datagram_mail(addr(1));
    let count: usize = mail.iter().map(|mail| states(mail).len()).sum();
    assert_eq!(count, 300);
    // Only the last may have room for another state, of 12 bytes at most.
    let (_, full) = mail.split_last().unwrap();
    assert!(full.iter().all(|mail| mail.size > PAYLOAD_MAX - 13));
}

#[test]
fn more_than_a_sending_carries_waits_for_its_turn() {
    let mut s = with_rock();
    let all: BTreeSet<StateId> = s.act(|_, server| {
        let component = |number| Component::new(number).unwrap();
        for number in 0..SHIELD.number() {
            // Two of them fill a payload to the last byte.
            let value = [number; 249];
            server.set_state(id(0), component(number), &value).unwrap();
            server.set_state(id(1), component(number), &value).unwrap();
        }
        (0..SHIELD.number())
            .flat_map(|number| [0, 1].map(|entity| state_id(entity, component(number))))
            .collect()
    });
    s.pass(ms(50));
    let first = s.datagram_mail(addr(1));
    assert_eq!(first.len(), DATAGRAMS_A_SENDING as usize);
    s.pass(ms(100));
    let second = s.datagram_mail(addr(1));
    let sent: BTreeSet<StateId> = first
        .iter()
        .chain(&second)
        .flat_map(states)
        .map(|(state, _)| state)
        .collect();
    assert_eq!(sent, all);
    assert!(first.iter().all(|mail| mail.size == PAYLOAD_MAX));
    let mut times = BTreeMap::new();
    for (state, _) in first.iter().flat_map(states) {
        *times.entry(state).or_insert(0) += 1;
    }
    assert!(times.values().all(|times| *times == 1));
}

#[test]
fn an_instant_event_shares_the_datagram_of_its_moment() {
    let mut s = with_rock();
    s.pass(ms(1_000));
    set(&mut s, HEALTH, &[1]);
    s.forget();
    // In the same drain as the next sending.
    s.now = s.session.poll_timeout().unwrap();
    s.session.handle_timeout(s.now);
    s.act(|now, server| server.event(now, Audience::All, SPARK, &[5]).unwrap());
    let mail = s.datagram_mail(addr(1));
    assert_eq!(
        mail[0].objects,
        [event(SPARK, &[5]), state(state_id(0, HEALTH), &[1])]
    );
}

#[test]
fn requests_are_honoured_ten_times_a_second() {
    let mut s = with_rock();
    for number in 0..30 {
        let component = Component::new(number).unwrap();
        set(&mut s, component, &[number]);
    }
    s.live(ms(4_000), &[1]);
    s.pass(ms(40));
    s.forget();
    let wanted: Vec<_> = (0..30)
        .map(|number| request(state_id(0, Component::new(number).unwrap())))
        .collect();
    s.cast(1, &wanted);
    assert_eq!(s.counters().request_ignored, 30 - REQUESTS_A_SECOND as u64);
    s.pass(ms(990));
    s.cast(1, &wanted[..1]);
    assert_eq!(s.counters().request_ignored, 21);
    s.pass(ms(10));
    s.cast(1, &wanted);
    assert_eq!(s.counters().request_ignored, 41);
    // Of what does not exist nothing can be said, and it costs nothing.
    s.pass(ms(1_000));
    s.cast(1, &[request(state_id(900, HEALTH))]);
    assert_eq!(s.counters().request_ignored, 42);
    s.send(1, &wanted[..10]);
    assert_eq!(s.counters().request_ignored, 42);
}

#[test]
fn a_request_is_answered_with_the_next_sending() {
    let mut s = with_rock();
    set(&mut s, HEALTH, &[7]);
    s.live(ms(3_000), &[1]);
    // Right behind a repetition, so that the next regular one is far.
    while healths(&mut s).is_empty() {
        s.pass(ms(10));
    }
    s.pass(ms(60));
    s.forget();
    s.cast(1, &[request(state_id(0, HEALTH))]);
    s.pass(ms(50));
    assert_eq!(s.catches(1), [state(state_id(0, HEALTH), &[7])]);
}
