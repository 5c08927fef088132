//! Clients that go, and clients that are gone.

use std::time::Duration;

use tickwire_dialects::lwar::message::Reliable;
use tickwire_dialects::lwar::{Departure, Kind, PlayerId, ServerEvent, Shape};

use crate::script::{ANN, BOB, ServerScript, link, ms};
use crate::words::{add, chat, connect, datagram, entity, forward, join, leave, reliable, remove};

const ANYWHERE: Shape = Shape::Place { x: 0, y: 0 };

#[test]
fn a_disconnect_is_answered_at_once_with_leave_alone() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.act(|_, server| server.add(Kind::SHIP, ann, ANYWHERE))
        .unwrap();
    s.settle();
    // What it has not heard yet it will not hear any more, nor of its own ship's end.
    s.act(|_, server| server.say("farewell"));
    s.send(ANN, &[Reliable::Disconnect]);
    let answer = s.answers(ANN, &[leave(ann)]);
    assert_eq!(answer.header.ack, 2);
    let (player, why) = (ann, Departure::Disconnected);
    assert_eq!(s.events(), [ServerEvent::Left { player, why }]);
}

#[test]
fn after_a_disconnect_nothing_is_sent_on_the_servers_clock() {
    let (mut s, ..) = ServerScript::with_two();
    s.send(ANN, &[Reliable::Disconnect]);
    s.next_packet(ANN);
    s.expects_silence(ANN, ms(3_000));
}

#[test]
fn every_disconnect_is_answered_until_a_second_after_the_last() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[Reliable::Disconnect]);
    let first = s.next_packet(ANN);
    // Longer than a second altogether, and never a second apart.
    for _ in 0..5 {
        s.pass(ms(800));
        s.send_numbered(ANN, 2, &[Reliable::Disconnect]);
        let again = s.mailed(ANN).expect("an answer");
        assert_eq!((again.first, again.header.ack), (first.first, 2));
        assert_eq!(again.reliable, [leave(ann)]);
    }
    s.pass(ms(1_100));
    s.send_numbered(ANN, 2, &[Reliable::Disconnect]);
    s.expects_silence(ANN, ms(500));
    assert_eq!(s.events().len(), 1, "it left once");
}

#[test]
fn once_leave_is_acknowledged_nothing_more_is_sent() {
    let (mut s, ..) = ServerScript::with_two();
    s.send(ANN, &[Reliable::Disconnect]);
    s.next_packet(ANN);
    s.ack(ANN);
    s.send_numbered(ANN, 2, &[Reliable::Disconnect]);
    assert_eq!(s.mailed(ANN), None);
}

#[test]
fn an_answer_that_waits_when_leave_is_acknowledged_is_not_sent() {
    let (mut s, ..) = ServerScript::with_two();
    s.send(ANN, &[Reliable::Disconnect]);
    let leave = s.next_packet(ANN);
    let mut header = s.header(ANN);
    let again = datagram(header, &[reliable(2, Reliable::Disconnect)]);
    header.ack = leave.last();
    s.hand_in(ANN, &again);
    s.send_bytes(ANN, &datagram(header, &[]));
    assert_eq!(s.mailed(ANN), None);
}

#[test]
fn only_disconnects_are_answered() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[Reliable::Disconnect]);
    s.next_packet(ANN);
    s.send_messages(ANN, &[]);
    s.send_unreliable(ANN, &[forward(ann, 1, 1)]);
    s.send(ANN, &[chat(ann, "wait")]);
    s.send_numbered(ANN, 1, &[connect("ann")]);
    assert_eq!(s.mailed(ANN), None);
}

#[test]
fn the_place_is_free_at_once() {
    let mut s = ServerScript::empty();
    for number in 1..=7 {
        s.join(link(number), "one of seven");
    }
    s.send(ANN, &[Reliable::Disconnect]);
    let eighth = link(8);
    let player = s.join(eighth, "eighth");
    assert_eq!(player.0.index, 1);
}

#[test]
fn within_the_second_a_connect_is_not_answered_and_then_it_is_a_new_client() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[Reliable::Disconnect]);
    s.next_packet(ANN);
    s.pass(ms(999));
    s.send_numbered(ANN, 1, &[connect("ann")]);
    assert_eq!(s.mailed(ANN), None);
    s.pass(ms(1));
    let again = s.join(ANN, "ann");
    assert_eq!(again.0.index, ann.0.index);
    assert_ne!(again, ann, "ids are not given again");
}

#[test]
fn everybody_hears_of_its_entities_end_before_its_own() {
    let (mut s, ann, bob) = ServerScript::with_two();
    let ships = [ann, bob, ann].map(|owner| {
        s.act(|_, server| server.add(Kind::SHIP, owner, ANYWHERE))
            .unwrap()
    });
    s.settle();
    s.send(ANN, &[Reliable::Disconnect]);
    s.expects(BOB, &[remove(ships[0]), remove(ships[2]), leave(ann)]);
    s.settle();
    // They are gone from the table: only BOB's is told to the next.
    s.pass(ms(1_100));
    s.connect_again(ANN);
    s.send(ANN, &[connect("ann")]);
    s.next_packet(ANN);
    s.ack(ANN);
    s.answers(
        ANN,
        &[
            join(PlayerId::SERVER, "server"),
            join(bob, "bob"),
            add(ships[1], bob, Kind::SHIP),
            Reliable::Synced,
        ],
    );
}

#[test]
fn ids_of_freed_entities_are_not_given_again() {
    let (mut s, ann, bob) = ServerScript::with_two();
    let ship = s
        .act(|_, server| server.add(Kind::SHIP, ann, ANYWHERE))
        .unwrap();
    s.send(ANN, &[Reliable::Disconnect]);
    let next = s
        .act(|_, server| server.add(Kind::SHIP, bob, ANYWHERE))
        .unwrap();
    assert_eq!(ship, entity(0));
    assert_eq!((next.0.index, next.0.generation), (0, 1));
}

#[test]
fn fifteen_seconds_of_silence_end_it() {
    let (mut s, ann, _) = ServerScript::with_two();
    let ship = s
        .act(|_, server| server.add(Kind::SHIP, ann, ANYWHERE))
        .unwrap();
    s.settle();
    let silent_since = s.now;
    s.ack(ANN);
    s.live(ms(14_900), &[BOB]);
    assert_eq!(s.state(ANN), Some("Playing"));
    while s.state(ANN).is_some() {
        s.ack(BOB);
        s.next_packet(BOB);
    }
    let after = s.now.since(silent_since);
    assert!((ms(15_000)..ms(15_100)).contains(&after), "{after:?}");
    s.expects(BOB, &[remove(ship), leave(ann)]);
    let (player, why) = (ann, Departure::TimedOut);
    assert_eq!(s.events(), [ServerEvent::Left { player, why }]);
    s.expects_silence(ANN, ms(1_000));
}

#[test]
fn any_packet_breaks_the_silence() {
    let (mut s, ..) = ServerScript::with_two();
    for _ in 0..10 {
        s.live(Duration::from_secs(10), &[BOB]);
        s.send_messages(ANN, &[]);
    }
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn a_kick_is_explained_like_a_removal() {
    let (mut s, ann, _) = ServerScript::with_two();
    let ship = s
        .act(|_, server| server.add(Kind::SHIP, ann, ANYWHERE))
        .unwrap();
    s.settle();
    s.act(|now, server| server.kick(now, ann, "be kind"));
    let reason = chat(PlayerId::SERVER, "be kind");
    s.answers(ANN, &[remove(ship), reason, leave(ann)]);
    s.expects(BOB, &[remove(ship), leave(ann)]);
    let (player, why) = (ann, Departure::Kicked);
    assert_eq!(s.events(), [ServerEvent::Left { player, why }]);
}

#[test]
fn a_farewell_comes_behind_what_was_not_acknowledged() {
    let (mut s, ann, bob) = ServerScript::with_two();
    s.send(BOB, &[chat(bob, "bye")]);
    s.expects(ANN, &[chat(bob, "bye")]);
    s.act(|now, server| server.kick(now, ann, "be kind"));
    let all = [
        chat(bob, "bye"),
        chat(PlayerId::SERVER, "be kind"),
        leave(ann),
    ];
    s.answers(ANN, &all);
}
