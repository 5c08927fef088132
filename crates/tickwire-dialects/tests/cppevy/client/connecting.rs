//! Dialling, Joining, Attaching, and the ways out of them.

use tickwire_dialects::cppevy::limits::{ACTION_PATIENCE, ATTACH_AGAIN, ATTACH_PERIOD, TIMEOUT};
use tickwire_dialects::cppevy::{ActError, ActionId, ClientEvent, EndReason, Phase, Reason};
use tickwire_session::{Ended, Failure};

use crate::driven::ms;
use crate::script::ClientScript;
use crate::words::{
    BUY, ROCK, SHIP, STEER, attach, client_join, client_leave, failure, id, join, joined, leave,
    payload, success, summon,
};

fn ended(why: EndReason) -> ClientEvent {
    ClientEvent::Ended(why)
}

#[test]
fn nobody_answers() {
    for why in [Ended::Refused, Ended::Unreachable] {
        let mut c = ClientScript::dialling();
        c.close(why);
        assert_eq!(c.events(), [ended(EndReason::Unreachable)]);
    }
    let mut c = ClientScript::dialling();
    c.pass(TIMEOUT);
    assert_eq!(c.events(), [ended(EndReason::Unreachable)]);
    assert!(c.has_closed());
}

#[test]
fn joining_tells_who_and_where_one_is() {
    let mut c = ClientScript::joining();
    assert_eq!(c.session.phase(), Phase::Joining);
    c.tell(&[
        joined(5, 99),
        summon(0, ROCK),
        summon(5, SHIP),
        client_join(0),
    ]);
    assert_eq!(
        c.events(),
        [
            ClientEvent::Joined { actor: id(5) },
            ClientEvent::Summoned(id(0)),
            ClientEvent::Summoned(id(5)),
            ClientEvent::ActorJoined(id(0)),
        ]
    );
    assert_eq!(c.session.actor(), Some(id(5)));
    let entity = c.session.entity(id(0)).unwrap();
    assert_eq!((entity.archetype, entity.is_actor), (ROCK, true));
}

#[test]
fn a_full_server_is_told_from_a_wrong_one() {
    let refusals = [
        (Reason::Unavailable, "the server is full: try again later"),
        (Reason::Error, "the server did not let this client play"),
        (Reason::Disabled, "the server did not let this client play"),
    ];
    for (reason, sentence) in refusals {
        let mut c = ClientScript::joining();
        c.tell(&[failure(ActionId::JOIN, reason)]);
        let why = EndReason::Refused(Failure::Refused(reason));
        assert_eq!(c.events(), [ended(why)]);
        assert_eq!(why.to_string(), sentence);
        assert!(c.has_closed());
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    let mut c = ClientScript::joining();
    for wait in [50, 100, 200, 400, 800, 800] {
        c.tell(&[failure(ActionId::JOIN, Reason::Busy)]);
        c.pass(ms(wait - 1));
        assert_eq!(c.said(), []);
        c.pass(ms(1));
        assert_eq!(c.said(), [join("ann")]);
    }
    c.tell(&[joined(1, 99)]);
    assert_eq!(c.session.phase(), Phase::Attaching);
}

#[test]
fn a_server_that_never_answers_the_join_is_given_up() {
    let mut c = ClientScript::joining();
    c.live(ACTION_PATIENCE);
    assert_eq!(c.events(), [ended(EndReason::Refused(Failure::TimedOut))]);
}

#[test]
fn a_join_answered_with_nonsense_ends_it() {
    for message in [&[][..], &[1, 0], &[0, 4, 0, 0, 0, 0, 0, 0, 0, 0]] {
        let mut c = ClientScript::joining();
        c.tell(&[success(ActionId::JOIN, message)]);
        assert_eq!(c.events(), [ended(EndReason::Garbled)], "{message:?}");
    }
}

#[test]
fn the_token_is_shown_every_100_ms_until_it_is_accepted() {
    let mut c = ClientScript::attaching();
    assert_eq!(c.cast(), [attach(99)]);
    c.pass(ATTACH_PERIOD * 3);
    assert_eq!(c.cast(), [attach(99); 3]);
    // A refusal may be forged, and the next showing may be the one that is accepted.
    c.show(&[failure(ActionId::ATTACH, Reason::Error)]);
    assert_eq!(c.session.phase(), Phase::Attaching);
    assert_eq!(c.counters().attach_refused, 1);
    c.pass(ATTACH_PERIOD);
    assert_eq!(c.cast(), [attach(99)]);
    c.forget();
    c.show(&[success(ActionId::ATTACH, &[])]);
    assert_eq!(c.events(), [ClientEvent::Attached]);
    c.pass(ATTACH_PERIOD * 5);
    assert_eq!(c.cast(), []);
}

#[test]
fn without_datagrams_everything_assured_still_works() {
    let mut c = ClientScript::attaching();
    c.forget();
    let refused = c.act(|_, client| client.input(STEER, &[1]));
    assert_eq!(refused, Err(ActError::NotConnected));
    let number = c.act(|now, client| client.act(now, BUY, &[1]).unwrap());
    c.tell(&[success(BUY, &[2])]);
    let (action, message, late) = (BUY, vec![2], false);
    let done = ClientEvent::Succeeded {
        number,
        action,
        message,
        late,
    };
    assert_eq!(c.events(), [done]);
}

#[test]
fn when_datagrams_stop_the_token_is_shown_again() {
    let mut c = ClientScript::playing();
    c.pass(ATTACH_AGAIN - ms(1));
    assert!(c.cast().is_empty());
    c.pass(ms(1));
    assert_eq!(c.session.phase(), Phase::Attaching);
    assert_eq!(c.cast(), [attach(99)]);
    c.show(&[success(ActionId::ATTACH, &[])]);
    assert_eq!(c.session.phase(), Phase::Playing);
    assert_eq!(c.events(), [ClientEvent::Attached]);
}

#[test]
fn silence_on_both_paths_ends_it() {
    let mut c = ClientScript::playing();
    for _ in 0..30 {
        c.pass(ms(1_000));
        c.tell_bytes(&payload(0, &[]));
    }
    assert_ne!(c.session.phase(), Phase::Ended(EndReason::TimedOut));
    c.pass(TIMEOUT);
    assert_eq!(c.events(), [ended(EndReason::TimedOut)]);
}

#[test]
fn the_end_of_the_stream_ends_it() {
    let mut c = ClientScript::playing();
    c.close(Ended::Finished);
    assert_eq!(c.events(), [ended(EndReason::Disconnected)]);
    assert!(!c.has_closed(), "there is nothing left to close");
    c.show(&[]);
    c.tell_bytes(&[1, 2, 3]);
    assert_eq!(c.cast(), []);
}

#[test]
fn one_s_own_client_leave_ends_it() {
    let mut c = ClientScript::playing();
    c.tell(&[client_leave(1)]);
    assert_eq!(c.events(), [ended(EndReason::Removed)]);
    assert!(c.has_closed());
}

#[test]
fn leaving_waits_for_the_answer_but_not_for_ever() {
    let mut c = ClientScript::playing();
    c.act(|now, client| client.leave(now));
    assert_eq!(c.said(), [leave()]);
    assert_eq!(c.session.phase(), Phase::Leaving);
    c.tell(&[success(ActionId::LEAVE, &[])]);
    assert_eq!(c.events(), [ended(EndReason::Left)]);

    let mut c = ClientScript::playing();
    c.act(|now, client| client.leave(now));
    c.pass(ms(2_000));
    assert_eq!(c.events(), [ended(EndReason::Left)]);
    assert!(c.has_closed());

    let mut c = ClientScript::dialling();
    c.act(|now, client| client.leave(now));
    assert_eq!(c.events(), [ended(EndReason::Left)]);
}
