//! What the gateway answers, seen from its one connection.

use tickwire_dialects::cppevy::Writer;
use tickwire_dialects::cppevy::limits::{ACTIONS_WAITING, HEADER};
use tickwire_dialects::cppevy::message::{Data, Join, Object, Payload, PayloadWriter, Sender};
use tickwire_session::{Path, Room, StreamId, Transmit};
use tickwire_sim::addr::loopback;

use super::*;
use crate::gateway::cppevy::{TELEPORT, loadout_codes};
use crate::{Intent, Loadout};

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

/// Why actions failed, in the order of the answers on the stream.
fn failures(mut stream: &[u8]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    while let Some(half_size) = stream.get(HEADER - 1) {
        let (payload, rest) = stream.split_at(HEADER + 2 * usize::from(*half_size));
        let payload = Payload::decode(payload, Sender::Server).unwrap();
        reasons.extend(payload.objects().filter_map(|object| match object {
            Object::Failure { reason, .. } => Some(reason),
            _ => None,
        }));
        stream = rest;
    }
    reasons
}

#[test]
fn a_full_arena_is_unavailable_until_somebody_leaves() {
    let (mut gateway, mut worlds) = with_pilots(limits::PILOTS);
    let answer = join(&mut gateway, &mut worlds);
    assert_eq!(failures(&answer), [Reason::Unavailable]);
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
    let standard = loadout_codes(Loadout::STANDARD);
    ask(&mut gateway, &mut worlds, SELECT, &standard);
    worlds.arena.step();
    let delayed = ask(&mut gateway, &mut worlds, SELECT, &standard);
    assert_eq!(failures(&delayed), [Reason::Delayed]);
    let (before, _) = gateway.clients.values().next().unwrap().delayed.unwrap();
    let next = ask(&mut gateway, &mut worlds, SELECT, &standard);
    assert_eq!(failures(&next), [Reason::Waiting]);
    let (after, _) = gateway.clients.values().next().unwrap().delayed.unwrap();
    assert_eq!(before, after);
}

#[test]
fn all_six_reasons_for_a_failure_happen() {
    let (mut gateway, mut worlds) = with_pilots(0);
    join(&mut gateway, &mut worlds);
    let still = words::encode_intent(&Intent::default());
    let standard = loadout_codes(Loadout::STANDARD);
    let mut check = |action, data: &[u8], expected: &[Reason]| {
        let answer = ask(&mut gateway, &mut worlds, action, data);
        assert_eq!(failures(&answer), expected, "{action:?}");
        worlds.arena.step();
    };
    check(CONTROLS, &still, &[Reason::Unavailable]);
    check(TELEPORT, &[], &[Reason::Disabled]);
    check(SELECT, &[9], &[Reason::Error]);
    check(SELECT, &standard, &[]);
    check(SELECT, &standard, &[Reason::Delayed]);
    check(SELECT, &standard, &[Reason::Waiting]);
    // More at once than the game is asked about.
    let mut bytes = Vec::new();
    for _ in 0..=ACTIONS_WAITING {
        let mut payload = PayloadWriter::new(&mut bytes, 0);
        let (action, data) = (CONTROLS, Data::new(&still).unwrap());
        payload.push(&Object::Action { action, data }).unwrap();
        payload.finish();
    }
    gateway.server.handle_stream(NOW, ON, &bytes);
    gateway.collect(NOW, &mut worlds, &mut Vec::new());
    let mut out = Vec::new();
    while gateway.server.poll_transmit(NOW, &mut out).is_some() {}
    assert_eq!(failures(&out), [Reason::Busy]);
}
