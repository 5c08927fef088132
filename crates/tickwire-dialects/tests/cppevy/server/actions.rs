//! Actions of the game: every one is answered once, by the path it came by.

use tickwire_dialects::cppevy::limits::{
    ACTIONS_AT_ONCE, ACTIONS_WAITING, ANSWER_PATIENCE, INPUT_HOLD,
};
use tickwire_dialects::cppevy::{ActionId, Answer, Reason, ServerEvent};

use crate::driven::ms;
use crate::script::ServerScript;
use crate::words::{BUY, FLY, STEER, WAVE, action, failure, id, success};

#[test]
fn the_game_decides_and_the_answer_takes_the_same_path() {
    let mut s = ServerScript::begin();
    let actor = id(s.play(1));
    s.send(1, &[action(BUY, b"sword")]);
    let events = s.events();
    let [ServerEvent::Action { token, .. }] = events[..] else {
        panic!("{events:?}");
    };
    let expected = ServerEvent::Action {
        actor,
        action: BUY,
        data: b"sword".into(),
        token,
    };
    assert_eq!(events, [expected]);
    s.expects_nothing();
    s.act(|now, server| {
        server
            .answer(now, token, Answer::Success(b"sharp"))
            .unwrap()
    });
    assert_eq!(s.hears(1), [success(BUY, b"sharp")]);

    s.cast(1, &[action(BUY, b"shield")]);
    let token = s.action();
    let failed = Answer::Failure(Reason::Unavailable);
    s.act(|now, server| server.answer(now, token, failed).unwrap());
    assert_eq!(s.catches(1), [failure(BUY, Reason::Unavailable)]);
    assert_eq!(s.hears(1), []);
}

#[test]
fn only_the_first_answer_counts() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(1, &[action(BUY, &[])]);
    let token = s.action();
    for _ in 0..2 {
        s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
    }
    assert_eq!(s.hears(1), [success(BUY, &[])]);
    assert_eq!(s.counters().stray_answer, 1);
    s.send(1, &[action(BUY, &[])]);
    let token = s.action();
    s.close(1);
    s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
    assert_eq!(s.counters().stray_answer, 2);
}

#[test]
fn the_same_action_again_is_answered_again() {
    let mut s = ServerScript::begin();
    s.play(1);
    for _ in 0..5 {
        s.cast(1, &[action(STEER, &[3])]);
        let token = s.action();
        s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
        assert_eq!(s.catches(1), [success(STEER, &[])]);
        s.send(1, &[action(BUY, &[3])]);
        let token = s.action();
        let no = Answer::Failure(Reason::Unavailable);
        s.act(|now, server| server.answer(now, token, no).unwrap());
        assert_eq!(s.hears(1), [failure(BUY, Reason::Unavailable)]);
    }
}

#[test]
fn actions_of_a_kind_are_answered_in_order_and_kinds_do_not_wait_for_each_other() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(
        1,
        &[action(BUY, &[1]), action(BUY, &[2]), action(WAVE, &[3])],
    );
    let events = s.events();
    let [
        ServerEvent::Action { token: buy, .. },
        ServerEvent::Action { token: wave, .. },
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    s.act(|now, server| server.answer(now, wave, Answer::Success(&[])).unwrap());
    assert_eq!(s.hears(1), [success(WAVE, &[])]);
    s.act(|now, server| server.answer(now, buy, Answer::Success(&[1])).unwrap());
    assert_eq!(s.hears(1), [success(BUY, &[1])]);
    let buy = s.action();
    s.act(|now, server| server.answer(now, buy, Answer::Success(&[2])).unwrap());
    assert_eq!(s.hears(1), [success(BUY, &[2])]);
}

#[test]
fn what_does_not_exist_is_an_error_and_what_is_not_here_is_disabled() {
    let mut s = ServerScript::begin();
    s.play(1);
    let unknown = ActionId(0x7777);
    s.send(
        1,
        &[
            action(unknown, &[]),
            action(FLY, &[]),
            action(ActionId::DISABLED, b"whatever"),
            action(ActionId(0xff07), &[]),
        ],
    );
    assert_eq!(
        s.hears(1),
        [
            failure(unknown, Reason::Error),
            failure(FLY, Reason::Disabled),
            failure(ActionId::DISABLED, Reason::Disabled),
            failure(ActionId(0xff07), Reason::Error),
        ]
    );
    assert_eq!(s.events(), []);
    assert_eq!(s.counters().unknown_action, 2);
}

#[test]
fn while_one_is_delayed_the_others_of_its_kind_fail() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(1, &[action(BUY, &[1]), action(BUY, &[2])]);
    let first = s.action();
    let delayed = Answer::Failure(Reason::Delayed);
    s.act(|now, server| server.answer(now, first, delayed).unwrap());
    assert_eq!(
        s.hears(1),
        [failure(BUY, Reason::Delayed), failure(BUY, Reason::Waiting)]
    );
    s.send(1, &[action(BUY, &[3])]);
    assert_eq!(s.hears(1), [failure(BUY, Reason::Waiting)]);
    // By the other path as well.
    s.cast(1, &[action(BUY, &[4])]);
    assert_eq!(s.catches(1), [failure(BUY, Reason::Waiting)]);
    s.act(|now, server| server.answer(now, first, Answer::Success(b"late")).unwrap());
    assert_eq!(s.hears(1), [success(BUY, b"late")]);
    s.send(1, &[action(BUY, &[5])]);
    s.action();
    s.cast(1, &[action(BUY, &[6])]);
    s.action();
}

#[test]
fn what_the_game_leaves_unanswered_is_unavailable() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.send(1, &[action(BUY, &[1]), action(BUY, &[2])]);
    let forgotten = s.action();
    s.live(ANSWER_PATIENCE - ms(50), &[1]);
    assert_eq!(s.hears(1), []);
    s.pass(ms(100));
    assert_eq!(s.hears(1), [failure(BUY, Reason::Unavailable)]);
    assert_eq!(s.counters().unanswered, 1);
    let next = s.action();
    s.act(|now, server| server.answer(now, forgotten, Answer::Success(&[])).unwrap());
    assert_eq!(s.hears(1), []);
    s.act(|now, server| server.answer(now, next, Answer::Success(&[])).unwrap());
    assert_eq!(s.hears(1), [success(BUY, &[])]);
}

#[test]
fn more_than_the_game_can_take_is_busy_and_still_in_order() {
    let mut s = ServerScript::begin();
    s.play(1);
    let count = ACTIONS_WAITING + 3;
    for _ in 0..count {
        s.send(1, &[action(BUY, &[])]);
    }
    s.expects_nothing();
    let mut answers = Vec::new();
    while answers.len() < count {
        for event in s.events() {
            let ServerEvent::Action { token, .. } = event else {
                panic!("{event:?}");
            };
            s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
        }
        answers.extend(s.hears(1));
    }
    let mut expected = vec![success(BUY, &[]); ACTIONS_WAITING];
    expected.extend([failure(BUY, Reason::Busy); 3]);
    assert_eq!(answers, expected);
    assert_eq!(s.counters().busy, 3);
}

#[test]
fn a_flood_of_inputs_is_busy_after_the_burst() {
    let mut s = ServerScript::begin();
    s.play(1);
    let mut busy = 0;
    for _ in 0..ACTIONS_AT_ONCE + 10 {
        s.cast(1, &[action(STEER, &[1])]);
        for event in s.events() {
            if let ServerEvent::Action { token, .. } = event {
                s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
            }
        }
        let answers = s.catches(1);
        assert_eq!(answers.len(), 1, "each gets one answer");
        busy += u32::from(answers[0] == failure(STEER, Reason::Busy));
    }
    assert_eq!(busy, 10);
}

#[test]
fn controls_are_the_newest_input_that_was_taken() {
    let mut s = ServerScript::begin();
    let actor = id(s.play(1));
    for (input, taken) in [(1, true), (2, false), (3, true)] {
        s.cast(1, &[action(STEER, &[input])]);
        let token = s.action();
        let answer = if taken {
            Answer::Success(&[])
        } else {
            Answer::Failure(Reason::Error)
        };
        s.act(|now, server| server.answer(now, token, answer).unwrap());
        let held = if taken { input } else { 1 };
        assert_eq!(s.session.controls(s.now, actor, STEER), Some(&[held][..]));
    }
    s.pass(INPUT_HOLD);
    assert_eq!(s.session.controls(s.now, actor, STEER), None);
    // A server takes any action by either path.
    s.send(1, &[action(STEER, &[4])]);
    let token = s.action();
    s.act(|now, server| server.answer(now, token, Answer::Success(&[])).unwrap());
    assert_eq!(s.session.controls(s.now, actor, STEER), Some(&[4][..]));
}
