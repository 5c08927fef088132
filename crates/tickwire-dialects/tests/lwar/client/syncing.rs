//! Being told what there is, then waiting for where it is.

use tickwire_dialects::lwar::message::{Reliable, Unreliable};
use tickwire_dialects::lwar::{ClientEvent, Kind, Phase, PlayerId};

use crate::script::{ClientScript, ms};
use crate::words::{GUNS, add, body, entity, join, player, select, update};

fn has_input(packet: &crate::script::Packet) -> bool {
    let input = |message: &Unreliable<'_>| matches!(message, Unreliable::Input(_));
    packet.unreliable.iter().any(input)
}

#[test]
fn players_entities_and_choices_are_kept() {
    let mut c = ClientScript::syncing();
    c.tell(&[
        join(PlayerId::SERVER, "server"),
        join(player(2), "bob"),
        add(entity(0), PlayerId::SERVER, Kind::PLANET),
        add(entity(1), player(2), Kind::SHIP),
        select(player(2), GUNS),
        Reliable::Synced,
    ]);
    let names: Vec<_> = c
        .session
        .players()
        .map(|(id, player)| (id, &*player.name, player.selection))
        .collect();
    assert_eq!(
        names,
        [
            (PlayerId::SERVER, "server", None),
            (player(1), "ann", None),
            (player(2), "bob", Some(GUNS)),
        ]
    );
    let entities: Vec<_> = c
        .session
        .entities()
        .map(|(id, entity)| (id, entity.owner, entity.kind))
        .collect();
    assert_eq!(
        entities,
        [
            (entity(0), PlayerId::SERVER, Kind::PLANET),
            (entity(1), player(2), Kind::SHIP),
        ]
    );
    assert_eq!(
        c.events(),
        [
            ClientEvent::Joined(PlayerId::SERVER),
            ClientEvent::Joined(player(2)),
            ClientEvent::Added(entity(0)),
            ClientEvent::Added(entity(1)),
            ClientEvent::Selected(player(2), GUNS),
            ClientEvent::Synced,
        ]
    );
}

#[test]
fn each_part_is_acknowledged_as_it_comes() {
    let mut c = ClientScript::syncing();
    for number in 2..5 {
        c.forget();
        c.tell(&[add(entity(number), PlayerId::SERVER, Kind::PLANET)]);
        let packet = c.expects(&[]);
        assert_eq!(packet.header.ack, number.into());
    }
}

#[test]
fn a_repeated_part_is_acknowledged_again_but_not_taken_again() {
    let mut c = ClientScript::syncing();
    let planet = add(entity(0), PlayerId::SERVER, Kind::PLANET);
    c.tell(&[planet]);
    c.forget();
    c.tell_numbered(2, &[planet]);
    assert_eq!(c.next_packet().header.ack, 2);
    assert_eq!(c.events(), []);
}

#[test]
fn a_part_behind_a_gap_waits() {
    let mut c = ClientScript::syncing();
    c.tell_numbered(3, &[Reliable::Synced]);
    assert_eq!(c.session.phase(), Phase::Syncing);
    assert_eq!(c.counters().sequence_gap, 1);
    assert_eq!(c.next_packet().header.ack, 1);
    c.tell(&[join(PlayerId::SERVER, "server"), Reliable::Synced]);
    assert_eq!(c.session.phase(), Phase::Settling);
}

#[test]
fn it_stays_alive_without_input() {
    let mut c = ClientScript::syncing();
    let packets = c.packets_during(ms(2_000));
    assert!((29..=31).contains(&packets.len()), "{}", packets.len());
    assert!(packets.iter().all(|packet| packet.is_bare()));
}

#[test]
fn without_updates_it_plays_one_second_after_synced() {
    let planet = add(entity(0), PlayerId::SERVER, Kind::PLANET);
    let mut c = ClientScript::settling(&[planet]);
    let packets = c.packets_during(ms(999));
    assert!(!packets.iter().any(has_input));
    assert_eq!(c.session.phase(), Phase::Settling);
    c.pass(ms(1));
    assert_eq!(c.session.phase(), Phase::Playing);
    assert_eq!(c.events(), [ClientEvent::Started, ClientEvent::NotSelected]);
    assert!(c.packets_during(ms(40)).iter().any(has_input));
}

#[test]
fn it_plays_as_soon_as_every_entity_had_an_update() {
    let planet = |index| add(entity(index), PlayerId::SERVER, Kind::PLANET);
    let mut c = ClientScript::settling(&[planet(0), planet(1)]);
    c.pass(ms(100));
    c.show_now(&[update(&[body(entity(0), 1)])]);
    c.pass(ms(100));
    assert_eq!(c.session.phase(), Phase::Settling, "one is missing");
    c.show_now(&[update(&[body(entity(1), 2)])]);
    c.pass(ms(70));
    assert_eq!(c.session.phase(), Phase::Playing);
}

#[test]
fn updates_of_unknown_entities_do_not_settle_it() {
    let planet = add(entity(0), PlayerId::SERVER, Kind::PLANET);
    let mut c = ClientScript::settling(&[planet]);
    c.show_now(&[update(&[body(entity(7), 1)])]);
    c.pass(ms(200));
    assert_eq!(c.session.phase(), Phase::Settling);
    assert_eq!(c.counters().unknown_entity, 1);
}

#[test]
fn full_is_no_answer_any_more() {
    let mut c = ClientScript::syncing();
    c.show(0, &[Unreliable::Full]);
    assert_eq!(c.session.phase(), Phase::Syncing);
    assert_eq!(c.counters().violations, 1);
}

#[test]
fn what_the_player_says_meanwhile_is_sent() {
    let mut c = ClientScript::syncing();
    c.act(|_, client| client.select(GUNS)).unwrap();
    let said = select(player(1), GUNS);
    let packets = c.packets_during(ms(150));
    assert!(packets.iter().any(|packet| packet.reliable == [said]));
}
