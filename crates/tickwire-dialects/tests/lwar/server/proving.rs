//! Clients that have acknowledged their Join, and have not shown that they know the id in it.
//!
//! The number of a Join is always 1, so an acknowledgement can be forged together with the address.

use tickwire_dialects::lwar::message::{Framed, Reliable};
use tickwire_dialects::lwar::{Kind, PlayerId, ServerEvent, Shape, limits};

use crate::script::{ANN, BOB, Packet, ServerScript, first_id, link, ms};
use crate::words::{GUNS, chat, connect, forward, join, leave, reliable, rename, select};

/// A server with so many planets, whose Join ANN has acknowledged. The answer is not read yet.
fn proving(planets: u16) -> ServerScript {
    let mut s = ServerScript::empty();
    let shape = Shape::Place { x: 0, y: 0 };
    for _ in 0..planets {
        s.act(|_, server| server.add(Kind::PLANET, PlayerId::SERVER, shape))
            .expect("there is room");
    }
    s.send(ANN, &[connect("ann")]);
    s.answers(ANN, &[join(first_id(1), "ann")]);
    s.ack(ANN);
    assert_eq!(s.state(ANN), Some("Proving"));
    s
}

/// What there is to tell in a world without entities.
const SYNC: [Reliable<'static>; 2] = [join(PlayerId::SERVER, "server"), Reliable::Synced];

#[test]
fn every_packet_is_answered_with_one_packet_of_the_synchronisation() {
    let mut s = proving(0);
    for _ in 0..5 {
        s.answers(ANN, &SYNC);
        s.expects_nothing();
        s.pass(ms(100));
        s.expects_nothing();
        s.send_messages(ANN, &[]);
    }
}

#[test]
fn when_everything_is_acknowledged_there_is_nothing_to_answer() {
    let mut s = proving(0);
    s.answers(ANN, &SYNC);
    s.ack(ANN);
    s.expects_nothing();
}

#[test]
fn there_are_24_answers_in_all_and_each_is_one_packet() {
    let mut s = proving(1_000);
    let mut sizes = Vec::new();
    for _ in 0..100 {
        sizes.extend(core::iter::from_fn(|| s.mailed(ANN)).map(|packet: Packet| packet.size));
        s.ack(ANN);
    }
    assert_eq!(sizes.len(), usize::from(limits::UNPROVED_ANSWERS));
    assert!(sizes.iter().all(|size| *size <= limits::PACKET_MAX));
    assert_eq!(s.state(ANN), Some("Proving"));
}

/// Connects from forged addresses, each followed by a forged acknowledgement, for a minute.
#[test]
fn forged_acknowledgements_bring_no_more_than_their_answers() {
    let mut s = proving(200);
    s.forget();
    let (mut sent, mut packets) = (0, 0);
    for victim in (100..).take(60).map(link) {
        s.send(victim, &[connect("forged")]);
        s.ack(victim);
        sent += 2;
        s.pass(ms(1_000));
        packets += core::iter::from_fn(|| s.mailed(victim)).count();
    }
    assert!(packets <= sent, "{packets} packets for {sent}");
    assert_eq!(s.session.players().count(), 0);
    assert_eq!(s.events(), []);
}

#[test]
fn nothing_is_sent_on_the_servers_own_clock() {
    let mut s = proving(3);
    s.mailed(ANN).expect("the answer to the acknowledgement");
    s.act(|_, server| server.say("is anybody there?"));
    s.expects_silence(ANN, ms(4_000));
    assert_eq!(s.state(ANN), Some("Proving"));
}

#[test]
fn answers_hold_no_updates_and_no_stats() {
    let mut s = proving(3);
    for _ in 0..10 {
        let answer = s.mailed(ANN).expect("an answer");
        assert_eq!(answer.unreliable, []);
        s.pass(ms(100));
        s.send_messages(ANN, &[]);
    }
}

#[test]
fn five_seconds_without_a_proof_end_it_without_a_word() {
    let mut s = proving(0);
    for _ in 0..49 {
        s.pass(ms(100));
        s.ack(ANN);
    }
    assert_eq!(s.state(ANN), Some("Proving"));
    s.expects_silence(ANN, ms(200));
    assert_eq!((s.state(ANN), s.counters().unproved), (None, 1));
    assert_eq!(s.events(), []);
}

#[test]
fn nobody_knows_of_it() {
    let mut s = ServerScript::empty();
    s.join(BOB, "bob");
    s.send(ANN, &[connect("ann")]);
    s.mailed(ANN);
    s.ack(ANN);
    for packet in s.packets_during(BOB, ms(6_000)) {
        assert_eq!(packet.reliable, []);
    }
    assert_eq!(s.session.players().count(), 1);
}

/// Whatever message names the id makes it a player: the others hear of it, and updates come.
#[test]
fn a_message_that_names_its_id_proves_its_address() {
    let own = first_id(1);
    let proofs = [
        Framed::Unreliable(forward(own, 1, 1)),
        reliable(2, select(own, GUNS)),
        reliable(2, rename(own, "anna")),
        reliable(2, chat(own, "hello")),
        // One before it is missing, but the id is right.
        reliable(3, chat(own, "hello")),
    ];
    for proof in proofs {
        let mut s = proving(1);
        s.forget();
        s.send_messages(ANN, &[proof]);
        s.expects_nothing();
        assert_eq!(s.state(ANN), Some("Syncing"), "{proof:?}");
        let joined = ServerEvent::Joined {
            player: own,
            name: "ann".into(),
        };
        assert_eq!(s.events().first(), Some(&joined));
        let packet = s.next_packet(ANN);
        assert!(!packet.unreliable.is_empty(), "updates come: {packet:?}");
    }
}

#[test]
fn another_id_proves_nothing() {
    let mut s = proving(0);
    for generation in 0..200 {
        let mut wrong = first_id(1);
        wrong.0.generation = wrong.0.generation.wrapping_add(1 + generation);
        s.send_unreliable(ANN, &[forward(wrong, 1, 1)]);
    }
    assert_eq!(s.state(ANN), Some("Proving"));
    assert_eq!(s.counters().foreign_player, 200);
}

#[test]
fn one_that_has_heard_everything_plays_as_soon_as_it_is_proved() {
    let mut s = proving(0);
    s.answers(ANN, &SYNC);
    s.ack(ANN);
    assert_eq!(s.state(ANN), Some("Proving"));
    s.prove(ANN, first_id(1));
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn what_happens_meanwhile_follows_the_synchronisation() {
    let mut s = proving(0);
    s.answers(ANN, &SYNC);
    s.act(|_, server| server.say("welcome"));
    s.send_messages(ANN, &[]);
    s.answers(ANN, &[SYNC[0], SYNC[1], chat(PlayerId::SERVER, "welcome")]);
}

#[test]
fn its_disconnect_is_answered_and_nobody_is_told() {
    let mut s = proving(0);
    s.answers(ANN, &SYNC);
    s.ack(ANN);
    s.send(ANN, &[Reliable::Disconnect]);
    s.answers(ANN, &[leave(first_id(1))]);
    s.expects_silence(ANN, ms(2_000));
    assert_eq!((s.state(ANN), s.events()), (None, Vec::new()));
}

#[test]
fn violations_end_it_without_a_word() {
    let mut s = proving(0);
    let bad = vec![Reliable::Synced; 11];
    s.forget();
    s.send_numbered(ANN, 2, &bad);
    assert_eq!(s.state(ANN), None);
    s.expects_silence(ANN, ms(2_000));
    assert_eq!(s.events(), []);
}

#[test]
fn ids_come_in_no_order_that_a_client_could_follow() {
    let mut s = ServerScript::empty();
    let mut generations = Vec::new();
    for number in 0..20 {
        let who = link(100 + number);
        generations.push(s.join(who, "ann").0.generation);
        s.send(who, &[Reliable::Disconnect]);
        s.settle();
    }
    let steps: std::collections::BTreeSet<_> = generations
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    assert!(steps.len() > 15, "{generations:?}");
}
