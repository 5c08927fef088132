//! What the gateway answers, seen from its one connection.

use tickwire_dialects::cppevy::Writer;
use tickwire_dialects::cppevy::message::{Data, Join, Object, Payload, PayloadWriter, Sender};
use tickwire_session::{Path, Room, StreamId, Transmit};
use tickwire_sim::addr::loopback;

use super::*;
use crate::Loadout;

const NOW: Instant = Instant::from_millis(1_000);
const ON: StreamId = StreamId::Accepted(1);

/// A gateway with one connection, and an arena with so many pilots.
fn with_pilots(count: u16) -> (Gateway, Worlds) {
    let mut worlds = Worlds::new(1);
    for _ in 0..count {
        worlds.arena.join("somebody").unwrap();
    }
    let mut gateway = Gateway::new(NOW, [0; 32]);
    gateway.publish(NOW, &worlds);
    gateway.server.handle_opened(NOW, ON, loopback(1));
    let room = Room {
        bytes: 1 << 20,
        ..Room::CLOSED
    };
    gateway.server.handle_room(NOW, Path::Stream(ON), room);
    (gateway, worlds)
}

/// The client asks by TCP, and the game takes it up; returns what the client is answered.
fn ask(gateway: &mut Gateway, worlds: &mut Worlds, action: ActionId, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut payload = PayloadWriter::new(&mut bytes, 0);
    let data = Data::new(data).unwrap();
    payload.push(&Object::Action { action, data }).unwrap();
    payload.finish();
    gateway.server.handle_stream(NOW, ON, &bytes);
    gateway.collect(NOW, worlds, &mut Vec::new());
    let mut out = Vec::new();
    while let Some(transmit) = gateway.server.poll_transmit(NOW, &mut out) {
        assert_eq!(transmit, Transmit::Stream { on: ON });
    }
    out
}

fn join(gateway: &mut Gateway, worlds: &mut Worlds) -> Vec<u8> {
    let mut data = Vec::new();
    Join { name: "ann" }.encode(&mut Writer::new(&mut data, usize::MAX));
    ask(gateway, worlds, ActionId::JOIN, &data)
}

/// The reason why an action failed that is answered with nothing else.
#[track_caller]
fn failure(bytes: &[u8]) -> Reason {
    let payload = Payload::decode(bytes, Sender::Server).unwrap();
    let objects: Vec<_> = payload.objects().collect();
    match objects[..] {
        [Object::Failure { reason, .. }] => reason,
        _ => panic!("{objects:?}"),
    }
}

#[test]
fn a_full_arena_is_unavailable_until_somebody_leaves() {
    let (mut gateway, mut worlds) = with_pilots(limits::PILOTS);
    let answer = join(&mut gateway, &mut worlds);
    assert_eq!(failure(&answer), Reason::Unavailable);
    assert_eq!(gateway.server.actors().count(), 0);
    let (pilot, _) = worlds.arena.pilots().next().unwrap();
    worlds.arena.leave(pilot);
    gateway.publish(NOW, &worlds);
    join(&mut gateway, &mut worlds);
    assert_eq!(gateway.clients.len(), 1);
    // It counts itself once, not as one of the others.
    gateway.publish(NOW, &worlds);
    assert_eq!(gateway.places(&worlds.arena), 1);
}

#[test]
fn a_few_places_stay_for_other_protocols() {
    let (gateway, worlds) = with_pilots(0);
    assert_eq!(gateway.places(&worlds.arena), CLIENTS_MAX);
    let (gateway, worlds) = with_pilots(12);
    assert_eq!(gateway.places(&worlds.arena), CLIENTS_MAX);
    let (gateway, worlds) = with_pilots(13);
    assert_eq!(gateway.places(&worlds.arena), CLIENTS_MAX - 1);
}

#[test]
fn a_choice_that_waits_for_its_ship_keeps_others_waiting() {
    let (mut gateway, mut worlds) = with_pilots(0);
    join(&mut gateway, &mut worlds);
    let standard = super::super::loadout_codes(Loadout::STANDARD);
    ask(&mut gateway, &mut worlds, SELECT, &standard);
    worlds.arena.step();
    let delayed = ask(&mut gateway, &mut worlds, SELECT, &standard);
    assert_eq!(failure(&delayed), Reason::Delayed);
    let (before, _) = gateway.clients.values().next().unwrap().delayed.unwrap();
    let next = ask(&mut gateway, &mut worlds, SELECT, &standard);
    assert_eq!(failure(&next), Reason::Waiting);
    let (after, _) = gateway.clients.values().next().unwrap().delayed.unwrap();
    assert_eq!(before, after);
}
