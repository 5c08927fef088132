//! Who says nothing.

use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{Departure, ServerEvent};

use crate::script::{ANN, BOB, Script, ms};
use crate::words::{Heard, Said, chat, kick, say, walk};

#[test]
fn silence_is_pinged_every_five_seconds_and_ends_after_twenty() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.pass(ms(4_999));
    s.hears_nothing(ANN);
    for _ in 0..3 {
        s.pass(ms(1));
        s.expects(ANN, &[Heard::Ping]);
        s.pass(ms(4_999));
        s.hears_nothing(ANN);
    }
    s.pass(ms(1));
    s.expects_end(ANN, &[kick("Ping timeout!")]);
    let gone = ServerEvent::Left {
        player: ann,
        why: Departure::TimedOut,
    };
    assert_eq!(s.told(), [gone]);
}

#[test]
fn any_byte_ends_the_silence() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.pass(ms(19_000));
    // The first byte of a chat that is not whole yet.
    s.say_bytes(ANN, &[0x58]);
    s.forget();
    s.pass(ms(19_000));
    assert!(s.is_open(ANN));
    s.say_bytes(ANN, &[0x01]);
    s.pass(ms(4_999));
    s.say_bytes(ANN, b"x");
    assert!(s.heard(ANN).contains(&chat("<ann> x")));
}

#[test]
fn an_answered_ping_measures_the_round_trip() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.pass(ms(5_000));
    s.expects(ANN, &[Heard::Ping]);
    s.pass(ms(80));
    s.send(ANN, &[Said::Pong]);
    let mut measured = None;
    tickwire_session::Session::visit_peers(&s.session, &mut |peer| measured = peer.round_trip);
    assert_eq!(measured, Some(ms(80)));
    // The next one is due five seconds after the last byte.
    s.pass(ms(4_999));
    s.hears_nothing(ANN);
    s.pass(ms(1));
    s.expects(ANN, &[Heard::Ping]);
}

#[test]
fn who_does_not_log_in_has_five_seconds_whatever_it_says() {
    let mut s = Script::begin();
    s.open(ANN);
    for _ in 0..4 {
        s.pass(ms(1_000));
        s.send(ANN, &[Said::Ping]);
    }
    s.forget();
    s.pass(ms(999));
    s.hears_nothing(ANN);
    s.pass(ms(1));
    s.expects_end(ANN, &[kick("Login timeout!")]);
}

#[test]
fn a_connection_that_breaks_is_a_player_that_left() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.close(ANN);
    s.expects(BOB, &[chat("* ann has left")]);
    let gone = ServerEvent::Left {
        player: ann,
        why: Departure::Disconnected,
    };
    assert_eq!(s.told(), [gone]);
}

/// Why Ann is gone after she said these things and her connection ended, all before the game had
/// answered her first wish.
fn departure(said: &[Said]) -> Departure {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.play(|game, _| game.silent = true);
    s.send(ANN, said);
    s.close(ANN);
    s.expects(BOB, &[chat("* ann has left")]);
    let left = |event: ServerEvent| match event {
        ServerEvent::Left { player, why } if player == ann => Some(why),
        _ => None,
    };
    s.told().into_iter().find_map(left).expect("ann left")
}

#[test]
fn who_says_goodbye_behind_a_question_has_left() {
    let bye: Said = FromClient::Kick { reason: b"bye" };
    assert_eq!(departure(&[walk(0), walk(0), bye]), Departure::Quit);
    assert_eq!(departure(&[walk(0), say("wait"), bye]), Departure::Quit);
    assert_eq!(departure(&[walk(0), walk(0)]), Departure::Disconnected);
}
