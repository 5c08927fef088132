//! What a client must not do: acknowledged, never acted on, and in the end its removal.

use std::time::Duration;

use tickwire_dialects::lwar::message::{Framed, Reliable, Selection, Unreliable};
use tickwire_dialects::lwar::{Departure, Kind, PlayerId, ServerEvent};

use crate::script::{ANN, BOB, ServerScript, first_id, ms};
use crate::words::{
    GUNS, add, chat, connect, datagram, entity, forward, join, leave, reliable, remove, rename,
    select, stats,
};

const TEXT: &str = "You were removed: your client broke the protocol too often.";

/// How many violations of its own a client can still commit.
fn patience(s: &mut ServerScript, player: PlayerId) -> u32 {
    let bad = rename(player, "");
    for committed in 0..20 {
        s.send(ANN, &[bad]);
        if s.state(ANN).is_none() {
            return committed;
        }
    }
    panic!("endless patience");
}

/// This message is a violation: acknowledged, counted once, and nothing comes of it.
#[track_caller]
fn check(message: Reliable<'_>, counter: fn(&ServerScript) -> u64) {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[message]);
    // Again, as a repetition, it counts no more.
    s.send_numbered(ANN, 2, &[message]);
    assert_eq!(s.expects(ANN, &[]).header.ack, 2, "{message:?}");
    s.expects(BOB, &[]);
    assert_eq!(s.events(), [], "{message:?}");
    assert_eq!(counter(&s), 1, "{message:?}");
    assert_eq!(patience(&mut s, ann), 9, "{message:?}");
}

#[test]
fn a_second_connect_with_a_new_number() {
    check(connect("ann"), |s| s.counters().second_connect);
}

#[test]
fn a_foreign_player() {
    let foreign = |s: &ServerScript| s.counters().foreign_player;
    for other in [first_id(2), first_id(7), PlayerId::SERVER] {
        check(chat(other, "not me"), foreign);
        check(rename(other, "not me"), foreign);
        check(select(other, GUNS), foreign);
    }
    let mut older = first_id(1);
    older.0.generation = 1;
    check(chat(older, "not me either"), foreign);
}

#[test]
fn an_empty_or_overlong_name() {
    let bad_name = |s: &ServerScript| s.counters().bad_name;
    check(rename(first_id(1), ""), bad_name);
    check(rename(first_id(1), &"x".repeat(33)), bad_name);
    check(connect(&"x".repeat(33)), bad_name);
}

#[test]
fn a_ship_or_weapon_that_does_not_exist() {
    let bad = |s: &ServerScript| s.counters().bad_selection;
    let own = first_id(1);
    for ship in [0, 1, 3, 10, 255] {
        let ship = Kind(ship);
        check(select(own, Selection { ship, ..GUNS }), bad);
    }
    for weapon in [1, 2, 3, 7, 8, 10, 255] {
        let mut selection = GUNS;
        selection.weapons[3] = Kind(weapon);
        check(select(own, selection), bad);
    }
}

#[test]
fn a_message_that_only_a_server_sends() {
    let server_only = |s: &ServerScript| s.counters().server_only;
    let own = first_id(1);
    check(join(own, "ann"), server_only);
    check(leave(own), server_only);
    check(add(entity(0), own, Kind::SHIP), server_only);
    check(remove(entity(0)), server_only);
    check(Reliable::Synced, server_only);
}

#[test]
fn text_that_is_not_utf8() {
    let (mut s, ann, _) = ServerScript::with_two();
    for (seq, message) in [(2, chat(ann, "x")), (3, rename(ann, "x"))] {
        let mut bytes = datagram(s.header(ANN), &[reliable(seq, message)]);
        *bytes.last_mut().unwrap() = 0xff;
        s.send_bytes(ANN, &bytes);
    }
    assert_eq!(s.expects(ANN, &[]).header.ack, 3);
    s.expects(BOB, &[]);
    let counters = s.counters();
    assert_eq!((counters.bad_chat, counters.bad_name), (1, 1));
}

#[test]
fn what_stands_behind_forbidden_content_is_read() {
    let (mut s, ann, _) = ServerScript::with_two();
    let long = "x".repeat(33);
    s.send(ANN, &[rename(ann, &long), chat(ann, "still here")]);
    s.expects(BOB, &[chat(ann, "still here")]);
}

#[test]
fn an_unknown_reliable_id_is_consumed_and_ends_the_reading() {
    let (mut s, ann, _) = ServerScript::with_two();
    let mut bytes = datagram(s.header(ANN), &[reliable(2, chat(ann, "before"))]);
    bytes.extend([11, 0, 0, 0, 3]);
    let behind = datagram(s.header(ANN), &[reliable(4, chat(ann, "behind"))]);
    bytes.extend(&behind[12..]);
    s.send_bytes(ANN, &bytes);
    let packet = s.expects(ANN, &[chat(ann, "before")]);
    assert_eq!(packet.header.ack, 3);
    assert_eq!(s.counters().unknown_message, 1);
    s.events();
    // Repeated, it is no new violation, but still nothing behind it can be read.
    s.send_bytes(ANN, &bytes);
    assert_eq!(s.events(), []);
    s.send_numbered(ANN, 4, &[chat(ann, "behind")]);
    assert_eq!(s.events().len(), 1);
}

#[test]
fn a_violation_out_of_order_does_not_count_against_the_player() {
    let (mut s, ann, _) = ServerScript::with_two();
    for number in [0, 1, 3, 4, 1_000] {
        for _ in 0..5 {
            s.send_numbered(ANN, number, &[rename(ann, "")]);
        }
    }
    assert_eq!(s.counters().bad_name, 0);
    assert_eq!(s.expects(ANN, &[]).header.ack, 1);
    assert_eq!(patience(&mut s, ann), 10);
}

#[test]
fn unreliable_violations_are_counted_for_the_operator_only() {
    let (mut s, ann, bob) = ServerScript::with_two();
    for _ in 0..20 {
        s.send_unreliable(ANN, &[forward(bob, 1, 1)]);
        s.send_unreliable(ANN, &[Unreliable::Full, stats(&[])]);
        let mut unknown = datagram(s.header(ANN), &[]);
        unknown.push(102);
        s.send_bytes(ANN, &unknown);
    }
    let counters = s.counters();
    assert_eq!((counters.foreign_player, counters.server_only), (20, 40));
    assert_eq!(counters.unknown_message, 20);
    assert_eq!(patience(&mut s, ann), 10);
}

/// ANN commits one violation too many.
fn exhaust(s: &mut ServerScript, ann: PlayerId) {
    s.send(ANN, &[rename(ann, ""); 11]);
}

#[test]
fn ten_violations_are_forgiven_and_the_eleventh_is_not() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[rename(ann, ""); 10]);
    assert_eq!(s.state(ANN), Some("Playing"));
    s.send(ANN, &[rename(ann, "")]);
    assert_eq!(s.state(ANN), None);
    let (player, why) = (ann, Departure::Violations);
    assert_eq!(s.events(), [ServerEvent::Left { player, why }]);
}

#[test]
fn one_violation_is_forgiven_every_ten_seconds() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.send(ANN, &[rename(ann, ""); 10]);
    s.live(Duration::from_secs(10), &[ANN, BOB]);
    s.send(ANN, &[rename(ann, "")]);
    assert_eq!(s.state(ANN), Some("Playing"));
    s.live(Duration::from_secs(9), &[ANN, BOB]);
    s.send(ANN, &[rename(ann, "")]);
    assert_eq!(s.state(ANN), None);
}

#[test]
fn the_removed_one_is_told_why_before_its_leave() {
    let (mut s, ann, _) = ServerScript::with_two();
    exhaust(&mut s, ann);
    let farewell = [chat(PlayerId::SERVER, TEXT), leave(ann)];
    let packet = s.answers(ANN, &farewell);
    assert_eq!(
        packet.header.ack, 12,
        "the last violation is acknowledged too"
    );
    for packet in s.packets_during(ANN, ms(900)) {
        assert_eq!(packet.reliable, farewell);
        assert_eq!(packet.unreliable, []);
    }
}

#[test]
fn the_farewell_is_repeated_for_a_second() {
    let (mut s, ann, _) = ServerScript::with_two();
    exhaust(&mut s, ann);
    let repeated = s.packets_during(ANN, ms(1_000)).len();
    assert!((14..=15).contains(&repeated), "{repeated}");
    s.expects_silence(ANN, ms(2_000));
}

#[test]
fn the_farewell_ends_when_it_is_acknowledged() {
    let (mut s, ann, _) = ServerScript::with_two();
    exhaust(&mut s, ann);
    s.next_packet(ANN);
    s.ack(ANN);
    s.expects_silence(ANN, ms(1_000));
}

#[test]
fn the_rest_of_the_packet_that_removes_it_is_not_processed() {
    let (mut s, ann, _) = ServerScript::with_two();
    let mut messages: Vec<Framed<'_>> = (2..=12).map(|n| reliable(n, rename(ann, ""))).collect();
    messages.push(reliable(13, chat(ann, "one more thing")));
    s.send_messages(ANN, &messages);
    s.expects(BOB, &[leave(ann)]);
}
