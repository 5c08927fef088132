//! Going away, and being gone.

use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{ClientEvent, EndReason, Kind, Phase, SayError};
use tickwire_session::Session;

use crate::script::{ClientScript, ms};
use crate::words::{add, body, chat, entity, join, leave, player, reliable, update};

const OVER: Phase = Phase::Ended(EndReason::Disconnected);

/// A client that has just said that it goes.
fn leaving() -> ClientScript {
    let mut c = ClientScript::playing(&[
        join(player(2), "bob"),
        add(entity(0), player(2), Kind::SHIP),
    ]);
    c.act(|now, client| client.disconnect(now));
    assert_eq!(c.session.phase(), Phase::Leaving);
    c
}

#[test]
fn disconnect_is_said_at_once_and_repeated() {
    let mut c = leaving();
    let packet = c.expects(&[Reliable::Disconnect]);
    assert_eq!(packet.first, Some(2));
    let packets = c.packets_during(ms(900));
    assert!((13..=14).contains(&packets.len()), "{}", packets.len());
    for packet in packets {
        assert_eq!(packet.reliable, [Reliable::Disconnect]);
        assert_eq!(packet.unreliable, [], "no Input any more");
    }
}

#[test]
fn disconnect_stands_behind_what_was_said_before() {
    let mut c = ClientScript::playing(&[]);
    c.act(|_, client| client.chat("bye")).unwrap();
    c.pass(ms(100));
    c.forget();
    c.act(|now, client| client.disconnect(now));
    c.expects(&[chat(player(1), "bye"), Reliable::Disconnect]);
}

#[test]
fn what_was_never_sent_does_not_delay_it() {
    let mut c = ClientScript::playing(&[]);
    let text = "x".repeat(255);
    c.act(|now, client| {
        (0..5).for_each(|_| client.chat(&text).unwrap());
        client.disconnect(now);
    });
    c.expects(&[Reliable::Disconnect]);
}

#[test]
fn leave_of_the_own_id_ends_it_whatever_its_number() {
    // The next, one behind a gap, and one that was used before.
    for number in [5, 6, 1_000, 4, 1] {
        let mut c = leaving();
        c.tell_numbered(number, &[leave(player(1))]);
        assert_eq!(c.session.phase(), OVER, "number {number}");
    }
}

#[test]
fn leave_of_another_does_not_end_it() {
    let mut c = leaving();
    c.tell(&[leave(player(2))]);
    c.tell_numbered(1_000, &[leave(player(2))]);
    assert_eq!(c.session.phase(), Phase::Leaving);
}

#[test]
fn a_server_that_goes_on_sending_updates_is_tolerated() {
    let mut c = leaving();
    let now = c.timestamp();
    for timestamp in 0..10 {
        c.show(now + timestamp, &[update(&[body(entity(0), 3)])]);
    }
    assert_eq!(c.session.phase(), Phase::Leaving);
    c.memory.ack = 2;
    c.tell_messages(
        now + 20,
        &[
            reliable(9, leave(player(1))),
            Framed::Unreliable(update(&[body(entity(0), 4)])),
        ],
    );
    assert_eq!(c.session.phase(), OVER);
    let counters = c.counters();
    assert_eq!((counters.violations, counters.undecodable), (0, 0));
}

#[test]
fn without_an_answer_it_is_over_after_a_second() {
    let mut c = leaving();
    c.pass(ms(999));
    assert_eq!(c.session.phase(), Phase::Leaving);
    c.pass(ms(1));
    assert_eq!(c.session.phase(), OVER);
    assert_eq!(
        c.events().last(),
        Some(&ClientEvent::Ended(EndReason::Disconnected))
    );
}

#[test]
fn a_server_that_never_ends_does_not_prolong_it() {
    let mut c = leaving();
    c.live(ms(1_000));
    assert_eq!(c.session.phase(), OVER);
}

#[test]
fn nothing_can_be_said_any_more() {
    let mut c = leaving();
    assert_eq!(
        c.act(|_, client| client.chat("wait")),
        Err(SayError::NotConnected)
    );
}

#[test]
fn leaving_twice_is_leaving_once() {
    let mut c = leaving();
    c.forget();
    c.act(|now, client| client.disconnect(now));
    c.expects_nothing();
    c.pass(ms(1_000));
    c.act(|now, client| client.disconnect(now));
    assert_eq!(c.events(), [ClientEvent::Ended(EndReason::Disconnected)]);
}

#[test]
fn a_syncing_client_can_leave_too() {
    let mut c = ClientScript::syncing();
    c.act(|now, client| client.disconnect(now));
    c.expects(&[Reliable::Disconnect]);
}

#[test]
fn leave_of_the_own_id_without_having_asked_is_a_removal() {
    let mut c = ClientScript::playing(&[]);
    let why = "You were removed.";
    c.tell(&[chat(player(0), why), leave(player(1))]);
    assert_eq!(
        c.events(),
        [
            ClientEvent::Chatted(player(0), why.into()),
            ClientEvent::Ended(EndReason::Removed),
        ]
    );
    assert_eq!(c.session.farewell(), Some(why));
}

#[test]
fn what_the_server_said_earlier_is_no_reason() {
    let mut c = ClientScript::playing(&[]);
    c.tell(&[chat(player(0), "welcome")]);
    assert_eq!(c.session.farewell(), None, "it is still there");
    c.tell(&[join(player(2), "bob"), leave(player(1))]);
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::Removed));
    assert_eq!(c.session.farewell(), None);
}

#[test]
fn a_removal_behind_a_gap_waits_for_the_gap() {
    let mut c = ClientScript::playing(&[]);
    c.tell_numbered(100, &[leave(player(1))]);
    assert_eq!(c.session.phase(), Phase::Playing);
}

#[test]
fn once_over_nothing_is_sent_heard_or_waited_for() {
    let mut c = leaving();
    c.pass(ms(1_000));
    c.forget();
    let counters = c.counters();
    c.tell(&[chat(player(2), "hello?")]);
    c.show(99_999, &[Unreliable::Full]);
    assert_eq!(c.events(), []);
    assert_eq!(c.packets_during(ms(20_000)), []);
    assert_eq!(c.counters(), counters);
    assert_eq!(c.session.poll_timeout(), None);
}
