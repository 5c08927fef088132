//! Actions: each assured one ends once, whatever the server does.

use tickwire_dialects::cppevy::limits::{ACTION_PATIENCE, ACTIONS_UNDER_WAY, DATA_MAX};
use tickwire_dialects::cppevy::{ActError, ActionId, ClientEvent, EndReason, Reason};
use tickwire_session::{ActionNumber, Ended, Failure};

use crate::driven::ms;
use crate::script::ClientScript;
use crate::words::{BUY, FLY, STEER, WAVE, action, failure, success};

fn done(number: ActionNumber, action: ActionId, message: &[u8]) -> ClientEvent {
    ClientEvent::Succeeded {
        number,
        action,
        message: message.into(),
        late: false,
    }
}

const fn failed(number: ActionNumber, action: ActionId, why: Failure) -> ClientEvent {
    ClientEvent::Failed {
        number,
        action,
        why,
    }
}

const fn refused(number: ActionNumber, action: ActionId, reason: Reason) -> ClientEvent {
    failed(number, action, Failure::Refused(reason))
}

#[track_caller]
fn act(c: &mut ClientScript, action: ActionId, data: &[u8]) -> ActionNumber {
    c.act(|now, client| client.act(now, action, data).expect("can be asked"))
}

fn assumed(c: &ClientScript) -> Vec<Vec<u8>> {
    let shown = c.session.assumed();
    shown.map(|(_, _, data)| data.to_vec()).collect()
}

#[test]
fn answers_meet_their_actions_in_order() {
    let mut c = ClientScript::playing();
    let first = act(&mut c, BUY, &[1]);
    let second = act(&mut c, BUY, &[2]);
    let wave = act(&mut c, WAVE, &[3]);
    let asked = [action(BUY, &[1]), action(BUY, &[2]), action(WAVE, &[3])];
    assert_eq!(c.said(), asked);
    c.tell(&[
        success(WAVE, &[]),
        failure(BUY, Reason::Unavailable),
        success(BUY, b"two"),
    ]);
    assert_eq!(
        c.events(),
        [
            done(wave, WAVE, &[]),
            refused(first, BUY, Reason::Unavailable),
            done(second, BUY, b"two"),
        ]
    );
}

#[test]
fn an_assumed_action_is_shown_at_once_and_leaves_no_trace_when_it_fails() {
    let mut c = ClientScript::playing();
    act(&mut c, BUY, &[1]);
    act(&mut c, WAVE, &[2]);
    act(&mut c, WAVE, &[3]);
    assert_eq!(assumed(&c), [[2], [3]]);
    c.tell(&[failure(WAVE, Reason::Unavailable)]);
    assert_eq!(assumed(&c), [[3]]);
    c.tell(&[success(WAVE, &[])]);
    assert_eq!(assumed(&c), [[0; 0]; 0]);
}

#[test]
fn a_server_that_never_answers_makes_it_fail_visibly() {
    let mut c = ClientScript::playing();
    let number = act(&mut c, WAVE, &[1]);
    c.live(ACTION_PATIENCE - ms(1));
    assert_eq!(c.events(), []);
    c.live(ms(1));
    assert_eq!(c.events(), [failed(number, WAVE, Failure::TimedOut)]);
    assert_eq!(assumed(&c), [[0; 0]; 0]);
    // Its answer may still come, and is not taken for the next one's.
    let next = act(&mut c, WAVE, &[2]);
    c.tell(&[success(WAVE, b"late"), failure(WAVE, Reason::Error)]);
    assert_eq!(c.events(), [refused(next, WAVE, Reason::Error)]);
}

#[test]
fn busy_is_tried_again_and_disabled_never() {
    let mut c = ClientScript::playing();
    let number = act(&mut c, BUY, &[1]);
    c.forget();
    c.tell(&[failure(BUY, Reason::Busy)]);
    c.pass(ms(50));
    assert_eq!(c.said(), [action(BUY, &[1])]);
    c.tell(&[failure(BUY, Reason::Disabled)]);
    assert_eq!(c.events(), [refused(number, BUY, Reason::Disabled)]);
    let again = c.act(|now, client| client.act(now, BUY, &[2]));
    assert_eq!(again, Err(ActError::Disabled));
    assert_eq!(c.said(), []);
}

#[test]
fn delayed_fails_and_may_succeed_later() {
    let mut c = ClientScript::playing();
    let first = act(&mut c, BUY, &[1]);
    let second = act(&mut c, BUY, &[2]);
    c.tell(&[failure(BUY, Reason::Delayed), failure(BUY, Reason::Waiting)]);
    c.live(ms(60_000));
    c.tell(&[success(BUY, b"at last"), success(BUY, b"unasked")]);
    assert_eq!(
        c.events(),
        [
            refused(first, BUY, Reason::Delayed),
            refused(second, BUY, Reason::Waiting),
            ClientEvent::Succeeded {
                number: first,
                action: BUY,
                message: b"at last".into(),
                late: true,
            },
        ]
    );
    assert_eq!(c.counters().unasked_answer, 1);
}

#[test]
fn an_answer_that_nobody_asked_for_changes_nothing() {
    let mut c = ClientScript::playing();
    let number = act(&mut c, BUY, &[1]);
    c.forget();
    c.tell(&[
        success(WAVE, &[]),
        failure(ActionId(0x7777), Reason::Disabled),
        success(ActionId::ATTACH, &[]),
        success(ActionId::JOIN, &[]),
    ]);
    // An assured action is answered by stream alone.
    c.show(&[success(BUY, &[]), failure(BUY, Reason::Error)]);
    assert_eq!(c.events(), []);
    assert_eq!(c.counters().unasked_answer, 6);
    c.tell(&[success(BUY, &[])]);
    assert_eq!(c.events(), [done(number, BUY, &[])]);
}

#[test]
fn the_end_of_the_connection_ends_every_action_first() {
    let mut c = ClientScript::playing();
    let buy = act(&mut c, BUY, &[1]);
    let wave = act(&mut c, WAVE, &[2]);
    c.close(Ended::Reset);
    assert_eq!(
        c.events(),
        [
            failed(buy, BUY, Failure::Disconnected),
            failed(wave, WAVE, Failure::Disconnected),
            ClientEvent::Ended(EndReason::Disconnected),
        ]
    );
    let late = c.act(|now, client| client.act(now, BUY, &[]));
    assert_eq!(late, Err(ActError::NotConnected));
}

#[test]
fn what_cannot_be_sent_is_refused_here() {
    let mut c = ClientScript::playing();
    let long = [0; DATA_MAX + 1];
    c.act(|now, client| {
        let cases = [
            (client.act(now, BUY, &long).map(drop), ActError::TooLong),
            (
                client.act(now, STEER, &[]).map(drop),
                ActError::NotRegistered,
            ),
            (client.input(STEER, &long), ActError::TooLong),
            (client.input(BUY, &[]), ActError::NotRegistered),
            (
                client.act(now, ActionId::JOIN, &[]).map(drop),
                ActError::NotRegistered,
            ),
        ];
        for (got, expected) in cases {
            assert_eq!(got, Err(expected));
        }
        for _ in 0..ACTIONS_UNDER_WAY {
            client.act(now, BUY, &[]).unwrap();
        }
        assert_eq!(client.act(now, BUY, &[]), Err(ActError::TooMany));
    });
    assert_eq!(c.said().len(), ACTIONS_UNDER_WAY);
    let mut c = ClientScript::joining();
    let early = c.act(|now, client| client.act(now, BUY, &[]));
    assert_eq!(early, Err(ActError::NotConnected));
}

#[test]
fn an_input_goes_once_and_the_newest_wins() {
    let mut c = ClientScript::playing();
    c.act(|_, client| {
        client.input(STEER, &[1]).unwrap();
        client.input(STEER, &[2]).unwrap();
    });
    assert_eq!(c.cast(), [action(STEER, &[2])]);
    c.live(ms(2_000));
    assert_eq!(c.cast(), []);
    assert_eq!(c.said(), []);
}

#[test]
fn an_input_that_is_refused_is_told_and_a_disabled_one_never_sent_again() {
    let mut c = ClientScript::playing();
    c.act(|_, client| client.input(STEER, &[1]).unwrap());
    c.show(&[success(STEER, &[])]);
    assert_eq!(c.events(), []);
    for reason in [Reason::Busy, Reason::Unavailable, Reason::Disabled] {
        c.show(&[failure(STEER, reason)]);
        let action = STEER;
        let told = ClientEvent::InputRefused { action, reason };
        assert_eq!(c.events(), [told]);
    }
    let again = c.act(|_, client| client.input(STEER, &[1]));
    assert_eq!(again, Err(ActError::Disabled));
    c.tell(&[failure(FLY, Reason::Disabled)]);
}
