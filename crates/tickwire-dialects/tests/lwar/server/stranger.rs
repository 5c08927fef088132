//! Datagrams from addresses that have no place.

use tickwire_dialects::lwar::message::{Reliable, Unreliable};
use tickwire_dialects::lwar::{Header, ServerConfig, limits};
use tickwire_session::{Addr, Session};

use crate::script::{ANN, BOB, CID, Packet, ServerScript, first_id, link, ms};
use crate::words::{chat, connect, datagram, forward, join, reliable};

/// What Full looks like, in answer to a Connect of this number.
#[track_caller]
fn check_full(packet: &Packet, number: u32) {
    let (ack, timestamp) = (number, 0);
    assert_eq!(packet.header, Header { ack, timestamp });
    assert_eq!(packet.reliable, []);
    assert_eq!(packet.unreliable, [Unreliable::Full]);
}

/// A server of one place, which ANN has.
fn full() -> ServerScript {
    let players = 1;
    let mut s = ServerScript::with(ServerConfig {
        players,
        ..ServerConfig::default()
    });
    s.join(ANN, "ann");
    s
}

#[test]
fn a_connect_is_answered_at_once_with_its_acknowledgement() {
    let mut s = ServerScript::empty();
    s.pass(ms(40));
    s.send(ANN, &[connect("ann")]);
    let answer = s.answers(ANN, &[join(first_id(1), "ann")]);
    assert_eq!((answer.first, answer.header.ack), (Some(1), 1));
    assert_eq!(answer.header.timestamp, 40);
    s.expects_nothing();
}

#[test]
fn a_connect_counts_only_with_number_one() {
    for number in [0, 2, 7, u32::MAX] {
        let mut s = ServerScript::empty();
        s.send_numbered(ANN, number, &[connect("ann")]);
        s.expects_silence(ANN, ms(300));
        assert_eq!(s.state(ANN), None, "number {number}");
        assert_eq!(s.counters().stranger, 1);
    }
}

#[test]
fn the_eighth_client_hears_full_again_for_every_connect() {
    let mut s = ServerScript::empty();
    for number in 1..=7 {
        s.join(link(number), "one of seven");
    }
    let eighth = link(8);
    for _ in 0..3 {
        s.send_numbered(eighth, 1, &[connect("late")]);
        check_full(&s.next_packet(eighth), 1);
        s.pass(ms(200));
    }
    assert_eq!((s.state(eighth), s.counters().full), (None, 3));
}

#[test]
fn full_echoes_whatever_number_came() {
    let mut s = full();
    for number in [0, 1, 9, u32::MAX] {
        s.send_numbered(BOB, number, &[connect("bob")]);
        check_full(&s.next_packet(BOB), number);
    }
}

#[test]
fn while_the_game_is_too_slow_newcomers_hear_full_and_nobody_goes() {
    let mut s = ServerScript::empty();
    s.join(ANN, "ann");
    let session: &mut dyn Session = &mut s.session;
    session.set_busy(true);
    s.send_numbered(BOB, 1, &[connect("bob")]);
    check_full(&s.next_packet(BOB), 1);
    assert_eq!((s.state(BOB), s.counters().busy), (None, 1));
    assert_eq!(s.state(ANN), Some("Playing"));
    s.session.set_busy(false);
    s.join(BOB, "bob");
}

#[test]
fn full_is_said_only_in_answer() {
    let mut s = full();
    s.send(BOB, &[connect("bob")]);
    s.next_packet(BOB);
    s.expects_silence(BOB, ms(2_000));
}

#[test]
fn full_is_never_larger_than_its_question() {
    let mut s = full();
    let question = datagram(s.header(BOB), &[reliable(1, connect("b"))]);
    s.send_bytes(BOB, &question);
    assert!(s.next_packet(BOB).size <= question.len());
}

#[test]
fn a_stranger_that_does_not_connect_is_not_answered() {
    let mut s = ServerScript::empty();
    s.send_messages(ANN, &[]);
    s.send(ANN, &[chat(first_id(1), "hello")]);
    s.send(ANN, &[Reliable::Disconnect]);
    s.send_unreliable(ANN, &[forward(first_id(1), 1, 1)]);
    s.expects_silence(ANN, ms(300));
    assert_eq!(s.counters().stranger, 4);
    assert_eq!(s.events(), []);
}

#[test]
fn names_that_must_not_be_get_no_answer() {
    let mut s = ServerScript::empty();
    s.send(ANN, &[connect("")]);
    let long = "x".repeat(33);
    s.send(BOB, &[connect(&long)]);
    let mut not_utf8 = datagram(s.header(CID), &[reliable(1, connect("cid"))]);
    *not_utf8.last_mut().unwrap() = 0xff;
    s.send_bytes(CID, &not_utf8);
    for who in [ANN, BOB, CID] {
        s.expects_silence(who, ms(300));
        assert_eq!(s.state(who), None);
    }
    assert_eq!(s.counters().bad_name, 3);
}

#[test]
fn a_name_of_32_bytes_is_taken() {
    let mut s = ServerScript::empty();
    let longest = "x".repeat(32);
    s.send(ANN, &[connect(&longest)]);
    s.answers(ANN, &[join(first_id(1), &longest)]);
}

#[test]
fn what_stands_before_a_fault_counts() {
    let mut s = ServerScript::empty();
    let mut bytes = datagram(s.header(ANN), &[reliable(1, connect("ann"))]);
    bytes.extend([102, 1, 2, 3]);
    s.send_bytes(ANN, &bytes);
    s.answers(ANN, &[join(first_id(1), "ann")]);
}

#[test]
fn what_stands_behind_a_fault_does_not() {
    let mut s = ServerScript::empty();
    let header = s.header(ANN);
    let mut bytes = datagram(header, &[]);
    bytes.push(200);
    bytes.extend(&datagram(header, &[reliable(1, connect("ann"))])[limits::HEADER..]);
    s.send_bytes(ANN, &bytes);
    s.expects_silence(ANN, ms(300));
    assert_eq!(s.counters().unknown_message, 1);
}

#[test]
fn a_wrong_application_id_or_a_short_header_drops_the_datagram() {
    let mut s = ServerScript::empty();
    let good = datagram(s.header(ANN), &[reliable(1, connect("ann"))]);
    let mut wrong = good.clone();
    wrong[3] ^= 1;
    s.send_bytes(ANN, &wrong);
    for length in 0..limits::HEADER {
        s.send_bytes(ANN, &good[..length]);
    }
    s.expects_silence(ANN, ms(300));
    assert_eq!(s.counters().wrong_app_id, 1);
    assert_eq!(s.counters().short_header, 12);
}

#[test]
fn datagrams_of_1472_bytes_are_read_and_larger_ones_are_not() {
    let mut s = ServerScript::empty();
    let mut bytes = datagram(s.header(ANN), &[reliable(1, connect("ann"))]);
    bytes.resize(limits::RECEIVE_MAX + 1, 0);
    s.send_bytes(ANN, &bytes);
    s.expects_nothing();
    assert_eq!(s.counters().oversized, 1);
    bytes.pop();
    s.send_bytes(ANN, &bytes);
    s.answers(ANN, &[join(first_id(1), "ann")]);
}

#[test]
fn a_flood_of_connects_leaves_players_alone_and_state_bounded() {
    let run = |flood: bool| {
        let mut s = ServerScript::empty();
        s.join(ANN, "ann");
        s.join(BOB, "bob");
        let mut heard = Vec::new();
        let question = datagram(s.header(link(100)), &[reliable(1, connect("forged"))]);
        for wave in 0_u64..10 {
            if flood {
                for number in 0..1_000 {
                    let forged = link(100 + wave * 1_000 + number);
                    s.hand_in(forged, &question);
                }
            }
            heard.extend(s.packets_during(ANN, ms(200)));
            s.ack(ANN);
            s.ack(BOB);
        }
        (s, heard)
    };
    let (flooded, during) = run(true);
    let (_, without) = run(false);
    assert_eq!(during, without, "what ANN hears");
    let mut peers = 0;
    flooded.session.visit_peers(&mut |_| peers += 1);
    assert_eq!(peers, 7);
    assert_eq!(flooded.session.players().count(), 2);
    let counters = flooded.counters();
    assert!(counters.full + counters.unproved >= 9_900, "{counters:?}");
}

#[test]
fn forged_connects_hold_a_place_for_a_second_only() {
    let mut s = full_of_forgeries();
    s.send_numbered(ANN, 1, &[connect("ann")]);
    check_full(&s.next_packet(ANN), 1);
    s.pass(ms(1_000));
    s.send_numbered(ANN, 1, &[connect("ann")]);
    let answer = s.next_packet(ANN);
    assert!(
        matches!(answer.reliable[..], [Reliable::Join { name: "ann", .. }]),
        "{answer:?}"
    );
    assert_eq!(s.counters().unproved, 1);
}

#[test]
fn one_host_cannot_take_all_places() {
    let at = |port| Addr { port, ..link(100) };
    let mut s = ServerScript::empty();
    for port in 1..=7 {
        s.send(at(port), &[connect("crowd")]);
        s.pass(ms(1));
    }
    // The oldest of the host that has the most gives way at once, but to no client of its own.
    s.send(at(8), &[connect("crowd")]);
    assert_eq!((s.state(at(1)), s.state(at(8))), (Some("Joining"), None));
    s.send(ANN, &[connect("ann")]);
    assert_eq!((s.state(at(1)), s.state(ANN)), (None, Some("Joining")));
    // Nor does it take ANN's place, who has only one.
    s.send(at(9), &[connect("crowd")]);
    assert_eq!((s.state(at(9)), s.state(ANN)), (None, Some("Joining")));
}

fn full_of_forgeries() -> ServerScript {
    let mut s = ServerScript::empty();
    for number in 1..=7 {
        s.send(link(100 + number), &[connect("forged")]);
    }
    s
}

#[test]
fn answers_that_nobody_carries_away_are_bounded() {
    let mut s = full();
    let question = datagram(s.header(BOB), &[reliable(1, connect("bob"))]);
    for _ in 0..5_000 {
        s.hand_in(BOB, &question);
    }
    s.send_bytes(BOB, &question);
    let answers = core::iter::from_fn(|| s.mailed(BOB)).count();
    assert_eq!(answers, limits::ANSWERS_WAITING);
    assert_eq!(s.counters().overrun, 5_001 - 1_024);
}
