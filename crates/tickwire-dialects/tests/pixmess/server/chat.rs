//! Talking.

use tickwire_dialects::pixmess::ServerEvent;
use tickwire_dialects::pixmess::message::FromClient;

use crate::script::{ANN, BOB, CID, Script, ms};
use crate::words::{chat, say};

fn two() -> Script {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    s
}

#[test]
fn a_chat_goes_to_all_with_the_speaker_s_name() {
    let mut s = two();
    s.send(ANN, &[say("hello, Bob")]);
    for who in [ANN, BOB] {
        s.expects(who, &[chat("<ann> hello, Bob")]);
    }
    assert!(matches!(&s.told()[..], [ServerEvent::Chatted { text, .. }] if text == "hello, Bob"));
}

#[test]
fn a_long_chat_is_cut_at_a_character() {
    let mut s = two();
    // 6 bytes of name, 248 of ASCII: of the two bytes of the last character one would fit.
    let text = format!("{}é", "x".repeat(248));
    s.send(ANN, &[say(&text)]);
    s.expects(BOB, &[chat(&format!("<ann> {}", "x".repeat(248)))]);
}

#[test]
fn what_is_no_text_is_not_passed_on() {
    let mut s = two();
    s.send(ANN, &[FromClient::Chat { text: b"\xff\xfe" }, say("")]);
    s.hears_nothing(BOB);
    assert_eq!(s.counters().bad_chat, 1);
    s.send(ANN, &[say("\x1b[2Jboo\n"), say("\x07")]);
    s.expects(BOB, &[chat("<ann> [2Jboo")]);
}

#[test]
fn at_most_8_in_any_10_seconds() {
    let mut s = two();
    for _ in 0..20 {
        s.send(ANN, &[say("spam")]);
    }
    s.expects(BOB, &[chat("<ann> spam"); 8]);
    assert_eq!(s.counters().too_many_chats, 12);
    s.live(ms(9_999), &[ANN, BOB]);
    s.send(ANN, &[say("spam")]);
    s.hears_nothing(BOB);
    s.live(ms(1), &[]);
    s.send(ANN, &[say("ham"), say("ham")]);
    assert_eq!(s.heard(BOB).len(), 2);
    // Somebody else has a rate of their own.
    s.send(BOB, &[say("hi")]);
    assert!(s.heard(ANN).contains(&chat("<bob> hi")));
}

#[test]
fn commands_answer_their_sender_alone() {
    let mut s = two();
    s.send(ANN, &[say("/who")]);
    s.expects(ANN, &[chat("* 2 here: ann bob")]);
    s.send(ANN, &[say("/help")]);
    s.expects(ANN, &[chat("* /who lists the players, /help shows this")]);
    s.send(ANN, &[say("/dance wildly")]);
    s.expects(ANN, &[chat("* Unknown command /dance wildly, try /help")]);
    s.hears_nothing(BOB);
    assert_eq!(s.told(), []);
}

#[test]
fn a_long_list_of_players_takes_several_lines() {
    let mut s = Script::begin();
    for who in 10..30 {
        let name = format!("somebody with a long name {who:>6}");
        s.join(who, name.leak());
    }
    s.join(CID, "cid");
    s.send(CID, &[say("/who")]);
    let lines = s.heard(CID);
    assert_eq!(lines.len(), 3);
    let listed: usize = lines.iter().map(|line| format!("{line:?}").len()).sum();
    assert!(listed > 20 * 32);
}

#[test]
fn the_game_speaks_to_all_or_to_one() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.act(|_, server| {
        server.say("It is night.");
        server.tell(ann, "You are tired.");
    });
    s.expects(ANN, &[chat("It is night."), chat("You are tired.")]);
    s.expects(BOB, &[chat("It is night.")]);
}
