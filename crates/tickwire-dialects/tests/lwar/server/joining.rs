//! Clients that have been sent their Join and have not acknowledged it: their address may be
//! invented.

use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{Kind, PlayerId, ServerEvent, Shape};

use crate::script::{ANN, BOB, ServerScript, first_id, ms};
use crate::words::{chat, connect, datagram, forward, join, reliable};

/// A server that ANN has sent its Connect, and that has answered.
fn joining() -> ServerScript {
    let mut s = ServerScript::empty();
    s.send(ANN, &[connect("ann")]);
    s.answers(ANN, &[join(first_id(1), "ann")]);
    s
}

#[test]
fn every_connect_is_answered_with_join_alone() {
    let mut s = joining();
    for _ in 0..5 {
        s.pass(ms(200));
        s.expects_nothing();
        s.send_numbered(ANN, 1, &[connect("ann")]);
        let answer = s.answers(ANN, &[join(first_id(1), "ann")]);
        assert_eq!((answer.first, answer.header.ack), (Some(1), 1));
        s.expects_nothing();
    }
    assert_eq!(s.state(ANN), Some("Joining"));
}

#[test]
fn nothing_is_sent_on_the_servers_own_clock() {
    let mut s = joining();
    let shape = Shape::Place { x: 0, y: 0 };
    s.act(|_, server| server.add(Kind::PLANET, PlayerId::SERVER, shape))
        .unwrap();
    s.act(|_, server| server.say("is anybody there?"));
    s.expects_silence(ANN, ms(4_000));
}

#[test]
fn the_answer_is_four_bytes_longer_than_the_question() {
    let mut s = ServerScript::empty();
    let question = datagram(s.header(ANN), &[reliable(1, connect("ann"))]);
    for _ in 0..2 {
        s.send_bytes(ANN, &question);
        let answer = s.answers(ANN, &[join(first_id(1), "ann")]);
        assert_eq!(answer.size, question.len() + 4);
    }
}

#[test]
fn a_shorter_connect_does_not_get_the_longer_name_back() {
    let mut s = ServerScript::empty();
    s.send(ANN, &[connect("a name that is long enough")]);
    s.next_packet(ANN);
    s.send_numbered(ANN, 1, &[connect("a")]);
    s.expects_nothing();
}

#[test]
fn a_packet_of_many_connects_is_one_question() {
    let mut s = ServerScript::empty();
    let many = vec![reliable(1, connect("a")); 100];
    for _ in 0..2 {
        s.send_messages(ANN, &many);
        s.answers(ANN, &[join(first_id(1), "a")]);
        s.expects_nothing();
    }
}

#[test]
fn the_others_do_not_hear_of_it() {
    let mut s = ServerScript::empty();
    s.join(BOB, "bob");
    s.send(ANN, &[connect("ann")]);
    for packet in s.packets_during(BOB, ms(2_000)) {
        assert_eq!(packet.reliable, []);
        for message in packet.unreliable {
            let Unreliable::Stats(scores) = message else {
                continue;
            };
            let listed: Vec<_> = scores.iter().map(|score| score.player).collect();
            assert_eq!(listed, [PlayerId::SERVER, first_id(1)]);
        }
    }
    assert_eq!(s.events(), []);
    assert_eq!(s.session.players().count(), 1);
}

#[test]
fn what_it_says_before_its_acknowledgement_waits() {
    let mut s = joining();
    let hello = chat(first_id(1), "hello");
    s.send_numbered(ANN, 2, &[hello]);
    s.expects_silence(ANN, ms(200));
    assert_eq!(s.events(), []);
    // Repeated with the acknowledgement it is taken.
    s.ack(ANN);
    s.mailed(ANN);
    s.send_numbered(ANN, 2, &[hello]);
    let packet = s.next_packet(ANN);
    assert_eq!(packet.header.ack, 2);
    assert_eq!(packet.reliable.last(), Some(&hello));
}

#[test]
fn five_seconds_without_a_proof_end_it_without_a_word() {
    let mut s = joining();
    s.expects_silence(ANN, ms(4_900));
    assert_eq!(s.state(ANN), Some("Joining"));
    s.expects_silence(ANN, ms(200));
    assert_eq!((s.state(ANN), s.counters().unproved), (None, 1));
    assert_eq!(s.events(), [], "the game never knew it");
}

#[test]
fn what_comes_with_the_first_acknowledgement_is_taken() {
    let mut s = joining();
    let mut header = s.header(ANN);
    header.ack = 1;
    let own = first_id(1);
    let messages = [
        reliable(2, chat(own, "hello")),
        Framed::Unreliable(forward(own, 1, 1)),
    ];
    s.send_bytes(ANN, &datagram(header, &messages));
    assert_eq!(s.next_packet(ANN).header.ack, 2);
    assert_eq!(
        s.events(),
        [
            ServerEvent::Joined {
                player: own,
                name: "ann".into()
            },
            ServerEvent::Chatted {
                player: own,
                text: "hello".into()
            }
        ]
    );
}

#[test]
fn an_acknowledgement_of_more_than_join_proves_nothing() {
    let mut s = joining();
    for ack in [2, 3, 1_000_000] {
        let mut header = s.header(ANN);
        header.ack = ack;
        s.send_bytes(ANN, &datagram(header, &[]));
        s.expects_silence(ANN, ms(200));
        assert_eq!(s.state(ANN), Some("Joining"));
    }
    assert_eq!(s.counters().ack_never_sent, 3);
}

#[test]
fn five_seconds_of_asking_without_an_acknowledgement_end_it_too() {
    let mut s = joining();
    for _ in 0..30 {
        s.pass(ms(200));
        s.send_numbered(ANN, 1, &[connect("ann")]);
    }
    // The place was given up; the next Connect got another.
    let answer = core::iter::from_fn(|| s.mailed(ANN)).last().unwrap();
    let [Reliable::Join { player: again, .. }] = answer.reliable[..] else {
        panic!("{answer:?}");
    };
    assert_ne!(again, first_id(1));
}

#[test]
fn a_place_that_came_free_has_another_id() {
    let mut s = joining();
    s.pass(ms(6_000));
    let again = s.join(ANN, "ann");
    assert_eq!(again.0.index, 1);
    assert_ne!(again, first_id(1));
}
