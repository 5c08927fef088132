//! Who is told Invalid, why, and who is told nothing.

use tickwire_dialects::reone::message::{UpElement, UpFrame};
use tickwire_session::{Token, WRONG_TOKENS};

use tickwire_sim::addr::machine;

use super::script::{ANN, Guest, Script, config, event, up};
use crate::driven::ms;

const STRANGER: tickwire_session::Addr = machine(9, 9_000);

/// Invalid with a reason, at the tick of the newest snapshot.
fn invalid(script: &Script, reason: u8) -> Vec<u8> {
    let tick = script.session.newest().0 * 3;
    let mut bytes = vec![0; 8];
    bytes.extend(tick.to_le_bytes());
    bytes.extend([132, 1, reason]);
    bytes
}

/// A script whose Ann was silent for too long.
fn removed() -> (Script, Guest) {
    let (mut script, ann) = Script::playing(config());
    for _ in 0..32 {
        script.publish(&[]);
    }
    script.pass(ms(60_000));
    script.datagrams.clear();
    script.events();
    (script, ann)
}

#[test]
fn a_stranger_is_told_that_it_is_one_and_never_in_more_bytes() {
    let mut script = Script::begin(config());
    for length in 0..1_472 {
        // What decodes to nothing is answered all the same: any datagram will do.
        script.send_bytes(STRANGER, &vec![0xff; length]);
        let expected = match length {
            0..15 => vec![],
            _ => vec![invalid(&script, 2)],
        };
        assert_eq!(script.taken(STRANGER), expected, "{length} bytes");
    }
    script.send_bytes(STRANGER, &up(1, 0, &[event(1, 1)]));
    assert_eq!(script.taken(STRANGER), [invalid(&script, 2)]);
    for silent in [up(1, 0, &[]), up(1, 0, &[UpElement::Ready])] {
        script.send_bytes(STRANGER, &silent);
    }
    script.send_bytes(STRANGER, &[0; 1_473]);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().oversized, 1);
}

#[test]
fn an_invalid_is_not_answered_with_another() {
    let mut script = Script::begin(config());
    let bytes = invalid(&script, 2);
    script.send_bytes(STRANGER, &bytes);
    assert!(script.datagrams.is_empty());
}

#[test]
fn a_token_that_nobody_ever_held_is_unknown() {
    let mut script = Script::begin(config());
    script.send_bytes(STRANGER, &up(1, 0, &[UpElement::Ping(Token(5))]));
    assert_eq!(script.taken(STRANGER), [invalid(&script, 2)]);
    assert_eq!(script.session.counters().wrong_token, 1);
}

#[test]
fn wrong_tokens_above_the_rate_of_their_host_are_not_answered() {
    let (mut script, ann) = Script::playing(config());
    let guess = up(1, 0, &[UpElement::Ping(Token(5))]);
    for number in 0..WRONG_TOKENS {
        script.send_bytes(STRANGER, &guess);
        assert_eq!(script.taken(STRANGER).len(), 1, "{number}");
    }
    script.send_bytes(STRANGER, &guess);
    assert_eq!(script.datagrams, []);
    let counters = script.session.counters();
    let counted = [counters.wrong_token, counters.token_ignored];
    assert_eq!(counted, [WRONG_TOKENS.into(), 1]);
    script.ping(&ann);
    assert_eq!(script.taken(ANN).len(), 1, "the right one always counts");
}

#[test]
fn a_token_whose_stream_ended_means_to_begin_again() {
    let (mut script, ann) = Script::playing(config());
    script.close(ann.on);
    script.say(&ann, 0, &[UpElement::Ping(ann.token)]);
    assert_eq!(script.taken(ANN), [invalid(&script, 1)]);
    script.say(&ann, 0, &[event(1, 1)]);
    assert_eq!(script.taken(ANN), [invalid(&script, 2)]);
}

#[test]
fn whoever_was_removed_is_told_how_to_come_back() {
    let (mut script, ann) = removed();
    script.say(&ann, 0, &[event(1, 1)]);
    assert_eq!(script.taken(ANN), [invalid(&script, 0)]);
    script.send_bytes(ANN, &[0xee; 15]);
    assert_eq!(script.taken(ANN), [invalid(&script, 0)]);
    script.say(&ann, 0, &[]);
    script.say(&ann, 0, &[UpElement::Ready]);
    assert!(script.datagrams.is_empty(), "too short");
}

#[test]
fn whoever_was_removed_and_missed_a_module_has_to_begin_again() {
    let (mut script, ann) = removed();
    script.change_module("other");
    script.say(&ann, 0, &[event(1, 1)]);
    assert_eq!(script.taken(ANN), [invalid(&script, 1)]);
    script.ping(&ann);
    assert_eq!(script.taken(ANN), [invalid(&script, 1)]);
    // It was told by TCP too, and may load the new one over the same stream.
    script.write(ann.on, &[UpFrame::Loaded]);
    script.ping(&ann);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.events().len(), 1, "joining");
}

#[test]
fn clients_that_are_there_are_never_told_invalid() {
    let (mut script, ann) = Script::playing(config());
    script.send_bytes(ANN, &[0xee; 100]);
    script.change_module("other");
    script.say(&ann, 0, &[event(1, 1)]);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().undecodable_datagram, 1);
    assert_eq!(script.session.counters().not_ready, 1);
}

#[test]
fn another_s_token_is_not_acted_on() {
    let (mut script, ann) = Script::playing(config());
    let bob = script.greet(1, ANN);
    let stolen = Guest {
        token: bob.token,
        ..ann
    };
    script.ping(&stolen);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().foreign_token, 1);
}

#[test]
fn a_flood_of_strangers_is_answered_as_far_as_it_goes() {
    use tickwire_session::Session as _;
    let mut script = Script::begin(config());
    for port in 1..=1_000 {
        let from = machine(9, port);
        script.session.handle_datagram(script.now, from, &[0; 15]);
    }
    script.drain();
    assert_eq!(script.datagrams.len(), 256);
    assert_eq!(script.session.counters().stranger_ignored, 744);
}
