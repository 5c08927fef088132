//! Clients that are being told what there is.

use tickwire_dialects::lwar::message::{Reliable, Unreliable};
use tickwire_dialects::lwar::{Kind, PlayerId, ServerEvent, Shape};

use crate::script::{ANN, BOB, ServerScript, ms};
use crate::words::{GUNS, add, chat, connect, entity, join, select};

const AT_REST: Shape = Shape::Body {
    x: 500,
    y: 500,
    orientation: 0,
    health: 100,
};

/// Adds so many planets of the server's.
fn add_planets(s: &mut ServerScript, count: u16) {
    for _ in 0..count {
        s.act(|_, server| server.add(Kind::PLANET, PlayerId::SERVER, AT_REST))
            .expect("there is room");
    }
}

/// BOB connects, acknowledges its Join and names its id. What was sent meanwhile is forgotten.
fn prove(s: &mut ServerScript) -> PlayerId {
    s.send(BOB, &[connect("bob")]);
    let answer = s.mailed(BOB).expect("an answer");
    let [Reliable::Join { player: own, .. }] = answer.reliable[..] else {
        panic!("not a Join: {answer:?}");
    };
    s.ack(BOB);
    s.prove(BOB, own);
    s.datagrams.clear();
    own
}

#[test]
fn the_order_is_joins_adds_selections_synced() {
    let mut s = ServerScript::empty();
    let ann = s.join(ANN, "ann");
    s.send(ANN, &[select(ann, GUNS)]);
    add_planets(&mut s, 1);
    s.act(|_, server| server.add(Kind::SHIP, ann, AT_REST))
        .unwrap();
    s.settle();
    prove(&mut s);
    let packet = s.expects(
        BOB,
        &[
            join(PlayerId::SERVER, "server"),
            join(ann, "ann"),
            add(entity(0), PlayerId::SERVER, Kind::PLANET),
            add(entity(1), ann, Kind::SHIP),
            select(ann, GUNS),
            Reliable::Synced,
        ],
    );
    assert_eq!(packet.first, Some(2), "Join of itself was number 1");
}

#[test]
fn a_new_name_is_told_in_the_join() {
    let mut s = ServerScript::empty();
    let ann = s.join(ANN, "ann");
    s.send(
        ANN,
        &[Reliable::Name {
            player: ann,
            name: "anna",
        }],
    );
    s.settle();
    prove(&mut s);
    s.expects(
        BOB,
        &[
            join(PlayerId::SERVER, "server"),
            join(ann, "anna"),
            Reliable::Synced,
        ],
    );
}

#[test]
fn the_others_and_the_game_hear_of_it_once() {
    let mut s = ServerScript::empty();
    s.join(ANN, "ann");
    let bob = prove(&mut s);
    s.expects(ANN, &[join(bob, "bob")]);
    let name = "bob".into();
    assert_eq!(s.events(), [ServerEvent::Joined { player: bob, name }]);
    s.settle();
    assert!(
        s.packets_during(ANN, ms(1_000))
            .iter()
            .all(|packet| packet.reliable.is_empty())
    );
    assert_eq!(s.events(), []);
}

#[test]
fn it_is_repeated_until_acknowledged() {
    let mut s = ServerScript::empty();
    prove(&mut s);
    let sync = [join(PlayerId::SERVER, "server"), Reliable::Synced];
    for _ in 0..4 {
        s.expects(BOB, &sync);
    }
    assert_eq!(s.state(BOB), Some("Syncing"));
    s.ack(BOB);
    s.expects(BOB, &[]);
    assert_eq!(s.state(BOB), Some("Playing"));
}

#[test]
fn nothing_unreliable_is_sent_before_synced() {
    let mut s = ServerScript::empty();
    add_planets(&mut s, 200);
    prove(&mut s);
    let mut synced = false;
    for _ in 0..10 {
        let packet = s.next_packet(BOB);
        synced |= packet.reliable.contains(&Reliable::Synced);
        let updates = !packet.unreliable.is_empty();
        assert!(synced || !updates, "{packet:?}");
        s.ack(BOB);
    }
    assert!(synced);
}

#[test]
fn a_long_synchronisation_fills_its_packets_without_gaps() {
    let mut s = ServerScript::empty();
    add_planets(&mut s, 200);
    prove(&mut s);
    let mut number = 2;
    for _ in 0..5 {
        // Until it is acknowledged, the same is sent again: nothing overtakes.
        let (packet, again) = (s.next_packet(BOB), s.next_packet(BOB));
        assert_eq!(packet.reliable, again.reliable);
        assert_eq!(packet.first, Some(number));
        assert!(packet.size > 512 - 14, "an Add would still fit");
        number = packet.last() + 1;
        s.ack(BOB);
    }
}

#[test]
fn what_happens_meanwhile_is_told_behind_synced() {
    let mut s = ServerScript::empty();
    let ann = s.join(ANN, "ann");
    prove(&mut s);
    s.send(ANN, &[chat(ann, "welcome")]);
    s.act(|_, server| server.add(Kind::SUN, PlayerId::SERVER, AT_REST))
        .unwrap();
    s.expects(
        BOB,
        &[
            join(PlayerId::SERVER, "server"),
            join(ann, "ann"),
            Reliable::Synced,
            chat(ann, "welcome"),
            add(entity(0), PlayerId::SERVER, Kind::SUN),
        ],
    );
}

#[test]
fn the_synchronisation_does_not_count_as_a_backlog() {
    let mut s = ServerScript::empty();
    add_planets(&mut s, 1_000);
    prove(&mut s);
    for _ in 0..14 {
        s.pass(ms(1_000));
        // Alive, and slow to acknowledge.
        s.send_messages(BOB, &[]);
    }
    assert_eq!(s.state(BOB), Some("Syncing"));
}

#[test]
fn a_repeated_connect_is_discarded() {
    let mut s = ServerScript::empty();
    prove(&mut s);
    s.send_numbered(BOB, 1, &[connect("bob")]);
    s.expects_nothing();
    s.expects(BOB, &[join(PlayerId::SERVER, "server"), Reliable::Synced]);
    assert_eq!(s.counters().second_connect, 0);
}

#[test]
fn updates_follow_synced_in_the_same_packet() {
    let mut s = ServerScript::empty();
    add_planets(&mut s, 1);
    prove(&mut s);
    let packet = s.next_packet(BOB);
    assert_eq!(packet.reliable.last(), Some(&Reliable::Synced));
    assert!(
        matches!(packet.unreliable.last(), Some(Unreliable::Update(bodies)) if bodies.len() == 1),
        "{packet:?}"
    );
}
