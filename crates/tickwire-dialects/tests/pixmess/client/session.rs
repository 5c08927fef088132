//! Connecting, silence, and every way to end.

use std::time::Duration;

use tickwire_dialects::pixmess::limits::WAITING_MAX;
use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{ActError, ClientEvent, Direction, EndReason, Phase, Version};
use tickwire_session::{Ended, Path, Session as _, StreamId, Transmit};

use super::script::{ClientScript, ON, OWN, SERVER};
use crate::script::ms;
use crate::words::{
    Heard, Said, cell, chat, creation, destruction, kick, login, player_id, root, say,
};

#[test]
fn a_client_dials_and_logs_in() {
    let mut c = ClientScript::dial(Version::One, "ann");
    assert_eq!(c.orders(), [Transmit::Dial { on: ON, to: SERVER }]);
    c.expects(&[]);
    c.open();
    c.expects(&[login(1, "ann")]);
    assert_eq!(*c.session.phase(), Phase::LoggingIn);
    c.send(&[
        player_id(OWN),
        creation(OWN, "ann", cell(3, 4)),
        chat("* ann has joined"),
    ]);
    assert_eq!(
        c.events(),
        [
            ClientEvent::LoggedIn(OWN),
            ClientEvent::EntityCreated(OWN.entity()),
            ClientEvent::Chatted("* ann has joined".into()),
        ]
    );
    assert_eq!(c.session.position(), Some(cell(3, 4)));
}

#[test]
fn the_order_of_the_answer_does_not_matter() {
    let mut c = ClientScript::dial(Version::One, "ann");
    c.open();
    c.send(&[chat("* ann has joined"), creation(OWN, "ann", cell(3, 4))]);
    assert_eq!(c.session.position(), None);
    c.send(&[player_id(OWN)]);
    assert_eq!(c.session.position(), Some(cell(3, 4)));
    assert_eq!(*c.session.phase(), Phase::Playing);
}

#[test]
fn a_kick_says_why() {
    let mut c = ClientScript::dial(Version::One, "ann");
    c.open();
    c.orders();
    c.send(&[kick("Version mismatch!")]);
    let why = EndReason::Kicked("Version mismatch!".into());
    assert_eq!(c.events(), [ClientEvent::Ended(why)]);
    assert_eq!(c.orders(), [Transmit::Finish { on: ON }]);
    // Nothing more happens.
    c.send(&[chat("boo")]);
    c.pass(ms(100_000));
    assert_eq!((c.events(), c.orders()), (vec![], vec![]));
}

#[test]
fn a_server_of_draft_1_is_dialled_once_more() {
    let mut c = ClientScript::dial(Version::Two, "ann");
    c.open();
    c.expects(&[login(2, "ann")]);
    // It may say more before it looks at the version; what that makes us say is for nobody then.
    c.send(&[chat("* welcome")]);
    c.orders();
    c.send_deaf(&[0x7c]);
    c.send(&[kick("Version mismatch!"), chat("boo")]);
    let again = StreamId::Dialled(1);
    let to = SERVER;
    assert_eq!(
        c.orders(),
        [
            Transmit::Finish { on: ON },
            Transmit::Dial { on: again, to }
        ]
    );
    assert_eq!(*c.session.phase(), Phase::Dialling);
    // What the first connection does now is of no interest.
    c.session.handle_stream(c.now, ON, &[0x00]);
    c.session
        .handle_closed(c.now, Path::Stream(ON), Ended::Finished);
    c.open();
    c.expects(&[login(1, "ann")]);
    c.send(&[player_id(OWN), creation(OWN, "ann", cell(3, 4))]);
    assert_eq!(c.session.position(), Some(cell(3, 4)));
    assert_eq!(c.session.version(), Version::One);
    assert_eq!(
        c.events(),
        [
            ClientEvent::Chatted("* welcome".into()),
            ClientEvent::LoggedIn(OWN),
            ClientEvent::EntityCreated(OWN.entity()),
        ]
    );
    c.act(|now, client| client.quit(now, "bye"));
    assert_eq!(c.orders(), [Transmit::Finish { on: again }]);
}

#[test]
fn a_server_of_another_version_is_not_dialled_a_third_time() {
    let mut c = ClientScript::dial(Version::Two, "ann");
    for _ in 0..2 {
        c.open();
        c.send(&[kick("Version mismatch!")]);
    }
    let why = EndReason::Kicked("Version mismatch!".into());
    assert_eq!(c.events(), [ClientEvent::Ended(why)]);
}

#[test]
fn only_a_login_that_version_1_allows_is_tried_again() {
    let mut spectator = ClientScript::dial(Version::Two, "");
    spectator.open();
    let mut full = ClientScript::dial(Version::Two, "ann");
    full.open();
    let playing = ClientScript::playing(Version::Two, cell(0, 0));
    for (mut c, why) in [
        (spectator, "Version mismatch!"),
        (full, "Server is full!"),
        (playing, "Version mismatch!"),
    ] {
        c.orders();
        c.send(&[kick(why)]);
        let ended = Phase::Ended(EndReason::Kicked(why.into()));
        assert_eq!(*c.session.phase(), ended);
        assert_eq!(c.orders(), [Transmit::Finish { on: ON }]);
    }
}

#[test]
fn nobody_there_is_unreachable_and_a_broken_connection_disconnected() {
    let mut c = ClientScript::dial(Version::One, "ann");
    c.close(Ended::Refused);
    assert_eq!(*c.session.phase(), Phase::Ended(EndReason::Unreachable));
    let mut c = ClientScript::dial(Version::One, "ann");
    c.pass(ms(20_000));
    assert_eq!(*c.session.phase(), Phase::Ended(EndReason::Unreachable));
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.close(Ended::Reset);
    assert_eq!(*c.session.phase(), Phase::Ended(EndReason::Disconnected));
    assert_eq!(c.orders(), []);
}

fn round_trip(c: &ClientScript) -> Option<Duration> {
    let mut measured = None;
    c.session
        .visit_peers(&mut |peer| measured = peer.round_trip);
    measured
}

#[test]
fn dialling_measures_the_round_trip() {
    let mut c = ClientScript::dial(Version::One, "ann");
    c.pass(ms(40));
    c.open();
    assert_eq!(round_trip(&c), Some(ms(40)));
}

#[test]
fn a_silent_server_is_pinged_and_given_up() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.pass(ms(4_999));
    c.expects(&[]);
    c.pass(ms(1));
    c.expects(&[Said::Ping]);
    c.pass(ms(30));
    c.send(&[Heard::Pong]);
    assert!(round_trip(&c).is_some_and(|it| it > ms(0)));
    c.pass(ms(19_999));
    c.expects(&[Said::Ping; 3]);
    c.pass(ms(1));
    assert_eq!(*c.session.phase(), Phase::Ended(EndReason::TimedOut));
}

#[test]
fn a_client_that_plays_measures_the_round_trip_beside_what_it_says() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    // A server that talks is not silent, and a client that says nothing adds nothing.
    for _ in 0..3 {
        c.pass(ms(4_000));
        c.send(&[chat("<bob> hm")]);
        c.expects(&[]);
    }
    c.act(|now, client| client.chat(now, "hello")).unwrap();
    c.expects(&[Said::Ping, say("hello")]);
    // Until that is answered there is no other, nor for two seconds.
    c.pass(ms(2_500));
    c.act(|now, client| client.chat(now, "again")).unwrap();
    c.expects(&[say("again")]);
    c.send(&[Heard::Pong]);
    assert!(round_trip(&c).is_some_and(|it| it > ms(0)));
    c.act(|now, client| client.chat(now, "and again")).unwrap();
    c.expects(&[Said::Ping, say("and again")]);
}

#[test]
fn an_answer_that_does_not_come_is_not_asked_for_again_while_the_server_talks() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.pass(ms(2_000));
    c.act(|now, client| client.chat(now, "hm")).unwrap();
    c.expects(&[Said::Ping, say("hm")]);
    for _ in 0..5 {
        c.pass(ms(4_000));
        c.send(&[chat("<bob> hm")]);
        c.act(|now, client| client.chat(now, "hm")).unwrap();
        c.expects(&[say("hm")]);
    }
}

#[test]
fn pings_of_a_server_that_never_reads_are_answered_up_to_a_bound() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let pings = vec![0x7c; 64 * 1_024];
    for _ in 0..WAITING_MAX / pings.len() {
        c.send_deaf(&pings);
    }
    assert_eq!(*c.session.phase(), Phase::Playing);
    c.send_deaf(&[0x7c]);
    assert_eq!(*c.session.phase(), Phase::Leaving);
    c.pass(ms(2_000));
    assert_eq!(*c.session.phase(), Phase::Ended(EndReason::Broken));
    // One that reads is answered whatever it costs.
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    for _ in 0..=WAITING_MAX / pings.len() {
        c.say_bytes(&pings);
        c.expects(&vec![Said::Pong; pings.len()]);
    }
}

#[test]
fn quitting_comes_after_everything_said() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| {
        client.chat(now, "good night").unwrap();
        client.quit(now, "sleepy");
    });
    let bye: Said = FromClient::Kick { reason: b"sleepy" };
    c.expects(&[say("good night"), bye]);
    assert_eq!(c.orders(), [Transmit::Finish { on: ON }]);
    assert_eq!(c.events(), [ClientEvent::Ended(EndReason::Quit)]);
}

#[test]
fn bytes_that_are_no_packet_end_it_and_the_server_is_told() {
    for bytes in [&[0x00][..], &[0x40], &[0x7b], &[0xbf], &[0x42, 0x01, 0x02]] {
        let mut c = ClientScript::playing(Version::One, cell(0, 0));
        c.say_bytes(bytes);
        c.expects(&[FromClient::Kick {
            reason: b"Bad packet!",
        }]);
        assert_eq!(c.orders(), [Transmit::Finish { on: ON }]);
        assert_eq!(*c.session.phase(), Phase::Ended(EndReason::Broken));
    }
}

#[test]
fn one_s_own_entity_is_never_lost() {
    let mut c = ClientScript::playing(Version::One, cell(1, 2));
    c.send(&[destruction(OWN.entity())]);
    assert_eq!(c.session.position(), Some(cell(1, 2)));
}

#[test]
fn nothing_can_be_done_before_login_or_after_the_end() {
    let mut c = ClientScript::dial(Version::One, "ann");
    for _ in 0..2 {
        let now = c.now;
        let client = &mut c.session;
        let not = Err(ActError::NotPlaying);
        assert_eq!(client.walk(now, Direction::East), not);
        assert_eq!(client.chat(now, "hi"), not);
        assert_eq!(client.request(now, root(0, 0)), not);
        assert_eq!(client.release(root(0, 0)), not);
        c.close(Ended::Reset);
    }
}
