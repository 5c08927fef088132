//! How a client goes, and how the server ends.

use tickwire_dialects::cppevy::limits::{FAREWELL, STREAM_WAITING, TIMEOUT};
use tickwire_dialects::cppevy::{ActionId, Answer, Audience, Departure, Reason, ServerEvent};
use tickwire_session::Session;
use tickwire_sim::addr::machine;

use crate::driven::{Window, ms};
use crate::script::{ServerScript, stream};
use crate::words::{
    BUY, GONG, action, attach, client_leave, dismiss, failure, id, join, leave, payload, success,
};

fn left(actor: u16, why: Departure) -> ServerEvent {
    ServerEvent::Left {
        actor: id(actor),
        why,
    }
}

/// A server on which two clients play: actors 0 and 1.
fn with_two() -> ServerScript {
    let mut s = ServerScript::begin();
    s.play(1);
    s.play(2);
    s
}

#[test]
fn leave_is_answered_and_then_the_stream_ends() {
    let mut s = with_two();
    s.send(1, &[leave(), action(BUY, &[])]);
    assert_eq!(s.hears(1), [success(ActionId::LEAVE, &[])]);
    assert!(s.has_closed(1));
    assert_eq!(s.hears(2), [client_leave(0), dismiss(0)]);
    assert_eq!(s.events(), [left(0, Departure::Left)]);
    assert_eq!(s.state(1), None);
}

#[test]
fn what_was_asked_before_leave_is_answered() {
    let mut s = with_two();
    s.send(1, &[action(BUY, b"a"), action(BUY, b"b"), leave()]);
    assert_eq!(s.hears(1), [success(ActionId::LEAVE, &[])]);
    assert!(!s.has_closed(1));
    let events = s.events();
    let [ServerEvent::Action { token, .. }, ServerEvent::Left { .. }] = events[..] else {
        panic!("{events:?}");
    };
    s.act(|now, server| server.answer(now, token, Answer::Success(b"!")).unwrap());
    // The game knows the client no longer, so it is not shown what came behind.
    let answers = [success(BUY, b"!"), failure(BUY, Reason::Unavailable)];
    assert_eq!(s.hears(1), answers);
    assert!(s.has_closed(1));
    assert_eq!(s.events(), []);
    assert_eq!(s.counters().stray_answer, 0);
}

#[test]
fn a_game_that_does_not_answer_does_not_keep_who_left() {
    let mut s = with_two();
    s.send(1, &[action(BUY, b"a"), leave()]);
    s.pass(FAREWELL - ms(10));
    assert!(!s.has_closed(1));
    s.pass(ms(100));
    assert!(s.has_closed(1));
}

#[test]
fn leave_by_datagram_is_refused_because_anybody_can_forge_it() {
    let mut s = with_two();
    s.cast(1, &[leave()]);
    assert_eq!(s.catches(1), [failure(ActionId::LEAVE, Reason::Error)]);
    assert_eq!(s.counters().wrong_path, 1);
    assert_eq!((s.state(1), s.events()), (Some("Attached"), vec![]));
    s.send(1, &[leave()]);
    assert_eq!(s.hears(1), [success(ActionId::LEAVE, &[])]);
    assert!(s.has_closed(1));
}

#[test]
fn leave_with_data_makes_no_sense() {
    let mut s = with_two();
    s.send(1, &[action(ActionId::LEAVE, &[1])]);
    assert_eq!(s.hears(1), [failure(ActionId::LEAVE, Reason::Error)]);
    assert_eq!(s.counters().bad_data, 1);
    assert!(!s.has_closed(1));
}

#[test]
fn the_end_of_the_stream_ends_the_session_and_the_token() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.close(1);
    assert_eq!(s.events().last(), Some(&left(0, Departure::Disconnected)));
    s.cast(1, &[attach(ann.token.0)]);
    assert_eq!(s.catches(1), [failure(ActionId::ATTACH, Reason::Error)]);
}

#[test]
fn silence_on_both_paths_ends_the_session() {
    let mut s = with_two();
    for _ in 0..14 {
        s.pass(ms(1_000));
        s.send(2, &[]);
    }
    s.pass(ms(999));
    assert_eq!(s.events(), []);
    s.pass(ms(100));
    assert_eq!(s.events(), [left(0, Departure::TimedOut)]);
    assert!(s.has_closed(1) && !s.has_closed(2));
    assert_eq!(TIMEOUT, ms(15_000));
}

#[test]
fn silence_ends_a_session_whose_stream_never_takes_anything() {
    let mut s = ServerScript::begin();
    s.session.handle_opened(s.now, stream(1), machine(1, 4_000));
    s.drain();
    s.send(1, &[join("ann")]);
    assert_eq!(s.state(1), Some("Joined"));
    s.pass(TIMEOUT);
    assert_eq!(s.events().last(), Some(&left(0, Departure::TimedOut)));
    s.pass(FAREWELL);
    assert!(s.has_closed(1));
}

#[test]
fn a_client_that_is_sent_away_hears_its_own_leave() {
    let mut s = with_two();
    s.act(|now, server| server.kick(now, id(0)));
    assert_eq!(s.hears(1), [client_leave(0)]);
    assert!(s.has_closed(1));
    assert_eq!(s.hears(2), [client_leave(0), dismiss(0)]);
    assert_eq!(s.events(), [left(0, Departure::Kicked)]);
}

#[test]
fn a_server_that_ends_tells_everybody_and_takes_nobody() {
    let mut s = with_two();
    s.open(3);
    s.forget();
    s.act(|now, server| server.shut_down(now));
    assert_eq!(s.hears(1), [client_leave(0)]);
    assert_eq!(s.hears(2), [client_leave(1)]);
    assert!([1, 2, 3].into_iter().all(|client| s.has_closed(client)));
    assert!(s.session.is_finished());
    let ends = [left(0, Departure::ShutDown), left(1, Departure::ShutDown)];
    assert_eq!(s.events(), ends);
    s.open(4);
    assert!(s.has_closed(4) && s.session.is_finished());
}

#[test]
fn who_does_not_read_is_removed_and_holds_nobody_up() {
    let mut s = with_two();
    s.window = Window::Once(0);
    s.give_room(stream(1), 0);
    let gong = [0; 250];
    for _ in 0..STREAM_WAITING / 250 {
        s.act(|now, server| {
            server
                .event(now, Audience::One(id(0)), GONG, &gong)
                .unwrap()
        });
    }
    s.pass(ms(100));
    assert_eq!(s.events(), [left(0, Departure::FellBehind)]);
    assert!(s.has_closed(1), "what is left to tell it would not read");
    assert_eq!(s.state(2), Some("Attached"));
}

#[test]
fn shutting_down_waits_for_whom_it_can_and_not_for_ever() {
    let mut s = with_two();
    s.window = Window::Once(0);
    s.give_room(stream(1), 0);
    s.act(|now, server| server.shut_down(now));
    assert!(s.has_closed(2) && !s.has_closed(1));
    assert!(!s.session.is_finished());
    s.pass(FAREWELL);
    assert!(s.has_closed(1) && s.session.is_finished());
}

#[test]
fn a_stream_that_makes_no_sense_is_closed_behind_what_it_was_owed() {
    let mut s = with_two();
    let good = payload(0, &[action(ActionId::DISABLED, &[])]);
    s.write_bytes(stream(1), &[good, vec![0, 0, 0, 0, 254]].concat());
    assert_eq!(s.hears(1), [failure(ActionId::DISABLED, Reason::Disabled)]);
    assert!(s.has_closed(1));
    assert_eq!(s.events(), [left(0, Departure::Garbled)]);
    assert_eq!(s.counters().undecodable_stream, 1);
}

#[test]
fn a_token_ends_with_its_session_even_if_the_farewell_takes_longer() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.cast(1, &[attach(ann.token.0)]);
    s.window = Window::Once(0);
    s.give_room(stream(1), 0);
    s.forget();
    s.send(1, &[leave()]);
    assert_eq!(s.state(1), Some("Closing"));
    s.cast(1, &[attach(ann.token.0)]);
    assert_eq!(s.catches(1), [failure(ActionId::ATTACH, Reason::Error)]);
    s.cast(1, &[action(BUY, &[])]);
    assert_eq!(s.catches(1), []);
    s.pass(FAREWELL);
    assert!(s.has_closed(1));
}
