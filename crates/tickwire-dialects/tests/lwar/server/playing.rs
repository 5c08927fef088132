//! Clients that know what there is: what they say, in order and once.

use tickwire_dialects::lwar::message::{Reliable, Selection};
use tickwire_dialects::lwar::{Kind, PlayerId, ServerEvent, Shape, limits};

use crate::script::{ANN, BOB, ServerScript, first_id, ms};
use crate::words::{GUNS, add, chat, datagram, entity, reliable, remove, rename, select};

#[test]
fn chat_goes_to_everybody_and_to_the_speaker() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[chat(ann, "hello")]);
    s.expects(ANN, &[chat(ann, "hello")]);
    s.expects(BOB, &[chat(ann, "hello")]);
    let text = "hello".into();
    assert_eq!(s.events(), [ServerEvent::Chatted { player: ann, text }]);
}

#[test]
fn names_go_to_everybody_and_to_whoever_took_them() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[rename(ann, "anna")]);
    s.expects(ANN, &[rename(ann, "anna")]);
    s.expects(BOB, &[rename(ann, "anna")]);
    let name = "anna".into();
    assert_eq!(s.events(), [ServerEvent::Renamed { player: ann, name }]);
    assert!(s.session.players().any(|player| player == (ann, "anna")));
}

#[test]
fn names_beyond_their_rate_are_acknowledged_and_have_no_effect() {
    let (mut s, ann, _) = ServerScript::with_two();
    let mut taken = 0;
    let mut number = 2;
    for _ in 0..100 {
        // 630 a second for ten seconds.
        for _ in 0..63 {
            s.send_numbered(ANN, number, &[rename(ann, "anna")]);
            number += 1;
        }
        s.live(ms(100), &[ANN, BOB]);
        taken += s.events().len();
    }
    assert_eq!(s.expected_number(ANN), number, "all are acknowledged");
    assert!((20..=26).contains(&taken), "{taken} in 10 s");
    assert_eq!(s.counters().rename_rate, 6_300 - taken as u64);
}

#[test]
fn selections_go_to_everybody_and_to_whoever_made_them() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[select(ann, GUNS)]);
    s.expects(ANN, &[select(ann, GUNS)]);
    s.expects(BOB, &[select(ann, GUNS)]);
    let (player, selection) = (ann, GUNS);
    assert_eq!(s.events(), [ServerEvent::Selected { player, selection }]);
}

#[test]
fn every_weapon_may_be_selected() {
    let (mut s, ann, _) = ServerScript::with_two();
    for weapon in [0, 4, 5, 6, 9] {
        let selection = Selection {
            ship: Kind::SHIP,
            weapons: [Kind(weapon); 4],
        };
        s.send(ANN, &[select(ann, selection)]);
    }
    assert_eq!(s.events().len(), 5);
    assert_eq!(s.counters().bad_selection, 0);
}

#[test]
fn the_longest_chat_and_name_are_taken() {
    let (mut s, ann, _) = ServerScript::with_two();
    let (text, name) = ("x".repeat(255), "y".repeat(32));
    s.send(ANN, &[chat(ann, &text)]);
    s.send(ANN, &[rename(ann, &name)]);
    s.expects(BOB, &[chat(ann, &text), rename(ann, &name)]);
}

#[test]
fn empty_chat_is_acknowledged_and_ignored() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[chat(ann, "")]);
    let packet = s.expects(ANN, &[]);
    assert_eq!(packet.header.ack, 2);
    s.expects(BOB, &[]);
    assert_eq!(s.events(), []);
    assert_eq!(s.counters().bad_chat, 0);
}

#[test]
fn a_repeated_message_is_discarded() {
    let (mut s, ann, _) = ServerScript::with_two();
    for _ in 0..3 {
        s.send_numbered(ANN, 2, &[chat(ann, "once")]);
    }
    assert_eq!(s.events().len(), 1);
    let packet = s.expects(BOB, &[chat(ann, "once")]);
    assert_eq!(packet.reliable.len(), 1);
}

#[test]
fn a_message_behind_a_gap_is_not_processed() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send_numbered(ANN, 3, &[chat(ann, "second")]);
    assert_eq!(s.expects(ANN, &[]).header.ack, 1);
    assert_eq!(s.events(), []);
    assert_eq!(s.counters().sequence_gap, 1);
    s.send_numbered(ANN, 2, &[chat(ann, "first"), chat(ann, "second")]);
    let packet = s.expects(ANN, &[chat(ann, "first"), chat(ann, "second")]);
    assert_eq!(packet.header.ack, 3);
}

#[test]
fn messages_before_the_next_one_are_skipped_over() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[chat(ann, "first")]);
    s.send_numbered(ANN, 2, &[chat(ann, "first"), chat(ann, "second")]);
    assert_eq!(s.events().len(), 2);
}

#[test]
fn every_packet_carries_all_that_is_unacknowledged() {
    let (mut s, ann, _) = ServerScript::with_two();
    let said = ["one", "two", "three"].map(|text| chat(ann, text));
    s.send(ANN, &said[..1]);
    s.expects(BOB, &said[..1]);
    s.send(ANN, &said[1..]);
    s.expects(BOB, &said);
    s.expects(BOB, &said);
    s.ack(BOB);
    s.expects(BOB, &[]);
}

#[test]
fn a_partial_acknowledgement_leaves_the_rest() {
    let (mut s, ann, _) = ServerScript::with_two();
    let said = ["one", "two", "three"].map(|text| chat(ann, text));
    s.send(ANN, &said);
    let packet = s.expects(BOB, &said);
    let mut header = s.header(BOB);
    header.ack = packet.first.unwrap();
    s.send_bytes(BOB, &datagram(header, &[]));
    let packet = s.next_packet(BOB);
    assert_eq!(packet.first, Some(header.ack + 1));
    assert_eq!(packet.reliable, said[1..]);
}

#[test]
fn an_older_acknowledgement_changes_nothing() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[chat(ann, "hello")]);
    s.expects(BOB, &[chat(ann, "hello")]);
    for ack in [0, 1, 2] {
        let mut header = s.header(BOB);
        header.ack = ack;
        s.send_bytes(BOB, &datagram(header, &[]));
    }
    s.expects(BOB, &[chat(ann, "hello")]);
    assert_eq!(s.counters().ack_never_sent, 0);
}

#[test]
fn an_acknowledgement_beyond_what_was_sent_is_ignored_but_its_packet_is_not() {
    let (mut s, ann, bob) = ServerScript::with_two();
    s.send(ANN, &[chat(ann, "hello")]);
    s.expects(BOB, &[chat(ann, "hello")]);
    let mut header = s.header(BOB);
    header.ack += 2;
    s.send_bytes(BOB, &datagram(header, &[reliable(2, chat(bob, "hi"))]));
    assert_eq!(s.counters().ack_never_sent, 1);
    s.expects(BOB, &[chat(ann, "hello"), chat(bob, "hi")]);
}

#[test]
fn an_acknowledgement_of_what_is_queued_but_unsent_is_ignored() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.expects(BOB, &[]);
    s.send(ANN, &[chat(ann, "hello")]);
    let mut header = s.header(BOB);
    header.ack += 1;
    s.send_bytes(BOB, &datagram(header, &[]));
    assert_eq!(s.counters().ack_never_sent, 1);
    s.expects(BOB, &[chat(ann, "hello")]);
}

#[test]
fn what_stands_before_a_cut_message_is_processed() {
    let (mut s, ann, _) = ServerScript::with_two();
    let hello = [
        reliable(2, chat(ann, "hello")),
        reliable(3, chat(ann, "cut")),
    ];
    let mut bytes = datagram(s.header(ANN), &hello);
    bytes.pop();
    s.send_bytes(ANN, &bytes);
    let packet = s.expects(ANN, &[chat(ann, "hello")]);
    assert_eq!(packet.header.ack, 2);
    assert_eq!(s.counters().truncated, 1);
}

#[test]
fn entities_come_and_go_in_order() {
    let (mut s, ann, _) = ServerScript::with_two();
    let shape = Shape::Place { x: 1, y: 2 };
    let bullet = s
        .act(|_, server| server.add(Kind::BULLET, ann, shape))
        .unwrap();
    s.act(|_, server| server.remove(bullet));
    // Removed already, and so no mistake.
    s.act(|_, server| server.remove(bullet));
    s.expects(BOB, &[add(bullet, ann, Kind::BULLET), remove(bullet)]);
}

#[test]
fn an_entity_id_is_not_given_again() {
    let (mut s, ann, _) = ServerScript::with_two();
    let shape = Shape::Place { x: 0, y: 0 };
    let mut given = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let id = s
            .act(|_, server| server.add(Kind::BULLET, ann, shape))
            .unwrap();
        assert!(given.insert(id), "{id:?} twice");
        assert_eq!(id.0.index, 0, "the lowest free place");
        s.act(|_, server| server.remove(id));
        s.settle();
    }
}

#[test]
fn an_owner_who_is_gone_is_replaced_by_the_server() {
    let (mut s, _, _) = ServerScript::with_two();
    let shape = Shape::Place { x: 0, y: 0 };
    let nobody = first_id(6);
    s.act(|_, server| server.add(Kind::BULLET, nobody, shape))
        .unwrap();
    s.expects(BOB, &[add(entity(0), PlayerId::SERVER, Kind::BULLET)]);
}

#[test]
fn while_somebody_is_behind_chats_are_rationed_and_none_is_lost() {
    let (mut s, ann, _) = ServerScript::with_two();
    for _ in 0..100 {
        s.send(ANN, &[chat(ann, "and")]);
    }
    let mut taken = s.events().len();
    assert_eq!(taken, limits::BROADCAST_BACKLOG);
    assert!(s.counters().held_back > 0);
    // The client repeats what is not acknowledged. When everybody has caught up, all is taken.
    for _ in 0..30 {
        s.live(ms(100), &[ANN, BOB]);
        let ack = s.next_packet(ANN).header.ack;
        let rest = vec![chat(ann, "and"); usize::try_from(101 - ack).unwrap()];
        s.send_numbered(ANN, ack + 1, &rest);
        taken += s.events().len();
    }
    assert_eq!(taken, 100);
}

#[test]
fn one_who_said_too_much_can_still_leave() {
    let (mut s, ann, _) = ServerScript::with_two();
    let said = vec![chat(ann, "and"); 100];
    s.send(ANN, &said);
    assert!(s.counters().held_back > 0);
    s.send_numbered(ANN, 66, &said[64..]);
    let ack = s.next_packet(ANN).header.ack;
    let mut rest = said[usize::try_from(ack).unwrap() - 1..].to_vec();
    rest.push(Reliable::Disconnect);
    s.send_numbered(ANN, ack + 1, &rest);
    let answer = s.mailed(ANN).expect("an answer");
    assert_eq!(answer.reliable, [Reliable::Leave { player: ann }]);
    assert_eq!(answer.header.ack, 102);
}
