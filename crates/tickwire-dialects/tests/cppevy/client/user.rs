//! What a user is told, which is less than what the client knows.

use tickwire_dialects::cppevy::limits::STATE_MAX_AGE;
use tickwire_dialects::cppevy::{ActionId, ClientEvent, EndReason, Notice, Reason};
use tickwire_session::{ActionNumber, Failure};

use crate::driven::ms;
use crate::script::ClientScript;
use crate::words::{HEALTH, ROCK, WAVE, failure, id, state, state_id, summon};

/// An action's number, which only a client gives out.
fn number() -> ActionNumber {
    let mut c = ClientScript::playing();
    c.act(|now, client| client.act(now, WAVE, &[]).expect("can be asked"))
}

#[track_caller]
fn check(why: Failure, expected: Option<Notice<'_>>) {
    let event = ClientEvent::Failed {
        number: number(),
        action: WAVE,
        why,
    };
    assert_eq!(event.notice(), expected, "{why:?}");
}

#[test]
fn a_user_hears_what_it_can_do_something_about() {
    let later = Some(Notice::TryLater { action: WAVE });
    check(Failure::Refused(Reason::Unavailable), later);
    check(Failure::Refused(Reason::Waiting), later);
    check(Failure::Refused(Reason::Delayed), later);
    check(Failure::Refused(Reason::Busy), later);
    check(Failure::TimedOut, later);
    let never = Some(Notice::NotHere { action: WAVE });
    check(Failure::Refused(Reason::Disabled), never);
    check(Failure::Refused(Reason::Error), None);
    check(Failure::Disconnected, None);
    assert_eq!(ClientEvent::Attached.notice(), None);
    assert_eq!(ClientEvent::Summoned(id(3)).notice(), None);
    let over = ClientEvent::Ended(EndReason::Left);
    assert_eq!(over.notice(), Some(Notice::Ended(EndReason::Left)));
    let refused = ClientEvent::InputRefused {
        action: ActionId(9),
        reason: Reason::Error,
    };
    assert_eq!(refused.notice(), None);
}

#[test]
fn a_user_sees_only_what_is_true_now() {
    let mut c = ClientScript::playing();
    c.tell(&[summon(7, ROCK), summon(8, ROCK)]);
    c.pass(ms(5));
    c.show(&[state(state_id(7, HEALTH), &[3])]);
    let seen: Vec<_> = c.session.user().entities(c.now).collect();
    assert_eq!(seen, [(id(7), ROCK)]);
    assert_eq!(c.session.user().state(c.now, id(7), HEALTH), Some(&[3][..]));
    c.pass(STATE_MAX_AGE);
    assert_eq!(c.session.user().entities(c.now).count(), 0);
    assert_eq!(c.session.entities().count(), 3, "the client knows more");
}

#[test]
fn a_user_s_wave_is_shown_until_it_fails() {
    let mut c = ClientScript::playing();
    c.act(|now, client| client.act(now, WAVE, &[1]).unwrap());
    assert_eq!(c.session.user().assumed().count(), 1);
    c.tell(&[failure(WAVE, Reason::Unavailable)]);
    assert_eq!(c.session.user().assumed().count(), 0);
    assert_eq!(c.session.user().actor(), Some(id(1)));
}
