//! The end of a server.

use tickwire_dialects::lwar::{Departure, ServerEvent};
use tickwire_session::Session;

use crate::script::{ANN, BOB, CID, ServerScript, ms};
use crate::words::{connect, leave};

#[test]
fn everybody_is_told_that_it_is_removed() {
    let mut s = ServerScript::empty();
    let (ann, bob) = (s.join(ANN, "ann"), s.join(BOB, "bob"));
    s.settle();
    s.events();
    s.act(|now, server| server.shut_down(now));
    s.answers(ANN, &[leave(ann)]);
    s.answers(BOB, &[leave(bob)]);
    let why = Departure::ShutDown;
    let left = [ann, bob].map(|player| ServerEvent::Left { player, why });
    assert_eq!(s.events(), left);
}

#[test]
fn it_is_repeated_for_a_second_and_then_it_is_over() {
    let mut s = ServerScript::empty();
    s.join(ANN, "ann");
    s.act(|now, server| server.shut_down(now));
    assert!(!s.session.is_finished());
    let repeated = s.packets_during(ANN, ms(1_000)).len();
    assert!((14..=15).contains(&repeated), "{repeated}");
    s.pass(ms(100));
    assert!(s.session.is_finished());
    assert_eq!(s.session.poll_timeout(), None);
}

#[test]
fn it_is_over_as_soon_as_everybody_knows() {
    let mut s = ServerScript::empty();
    s.join(ANN, "ann");
    s.act(|now, server| server.shut_down(now));
    s.next_packet(ANN);
    assert!(!s.session.is_finished());
    s.ack(ANN);
    assert!(s.session.is_finished());
}

#[test]
fn a_server_without_players_is_finished_at_once() {
    let mut s = ServerScript::empty();
    s.act(|now, server| server.shut_down(now));
    assert!(s.session.is_finished());
}

#[test]
fn nobody_is_taken_any_more() {
    let mut s = ServerScript::empty();
    s.join(ANN, "ann");
    s.act(|now, server| server.shut_down(now));
    s.send(BOB, &[connect("bob")]);
    s.expects_silence(BOB, ms(500));
}

#[test]
fn an_address_that_proved_nothing_is_sent_nothing() {
    let mut s = ServerScript::empty();
    s.join(ANN, "ann");
    s.send(CID, &[connect("cid")]);
    s.next_packet(CID);
    s.act(|now, server| server.shut_down(now));
    s.expects_silence(CID, ms(1_200));
    assert!(s.session.is_finished());
}
