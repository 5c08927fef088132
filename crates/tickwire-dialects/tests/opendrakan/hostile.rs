//! Sequences that nobody should send. What holds for any bytes is in the fuzz targets.

use tickwire_dialects::opendrakan::limits::{ASSEMBLIES_MAX, OBJECTS_MAX};
use tickwire_dialects::opendrakan::message::{Message, ObjectChange};
use tickwire_dialects::opendrakan::{Phase, RUNNING, Value};

use crate::golden::unhex;
use crate::script::{
    ClientScript, SERVER, ServerScript, bytes_of, changed, config, confirm, machine, state,
};

fn running(tick: u64, object: u32) -> Message<'static> {
    changed(tick, object, state(RUNNING, Value::Bool(true), false))
}

/// Messages of one datagram at a time.
fn in_datagrams(messages: impl Iterator<Item = Message<'static>>) -> Vec<Vec<u8>> {
    let mut datagrams = vec![Vec::new()];
    for message in messages {
        let bytes = bytes_of(&[message]);
        let last = datagrams.last_mut().expect("there is one");
        if last.len() + bytes.len() > 1_200 {
            datagrams.push(bytes);
        } else {
            last.extend(bytes);
        }
    }
    datagrams
}

/// What is sent afterwards is still put together.
#[track_caller]
fn check_alive(mut script: ClientScript, ticks: &[u64]) {
    for &tick in ticks {
        script.send(&[running(tick, 1), confirm(tick, 1, 0)]);
        assert_eq!(script.acknowledged(), [tick]);
    }
}

#[test]
fn changes_of_future_ticks_keep_nothing_out() {
    let mut script = ClientScript::loaded();
    let flood = (1..=100_000_u64).map(|number| running(1_000 + number, 7));
    for datagram in in_datagrams(flood) {
        script.send_bytes(SERVER, &datagram);
    }
    // The newest ones pushed out the others.
    assert_eq!(script.session.counters().no_room, 0);
    check_alive(script, &[9, 2_000_000]);
}

#[test]
fn extra_states_of_unknown_objects_keep_nothing_out() {
    let mut script = ClientScript::loaded();
    // Nobody knows how many states these have, so they wait, each once.
    let flood = (0..100_000_u32).map(|number| {
        let bundle = ObjectChange::ExtraStates(&[0x01, 0x00, 0x05]);
        changed(3 + u64::from(number % 20) * 3, 7 + number / 20, bundle)
    });
    for datagram in in_datagrams(flood) {
        script.send_bytes(SERVER, &datagram);
    }
    assert_eq!(script.session.counters().no_room, 0);
    check_alive(script, &[600]);
}

#[test]
fn more_objects_than_a_world_has_keep_nothing_out() {
    let mut script = ClientScript::loaded();
    let many = u32::try_from(OBJECTS_MAX).expect("it is below") + 1_000;
    for datagram in in_datagrams((0..many).map(|number| running(3, number))) {
        script.send_bytes(SERVER, &datagram);
    }
    assert_eq!(script.session.counters().no_room, 1_000);
    check_alive(script, &[6]);
}

#[test]
fn confirmations_of_ticks_never_seen_are_bounded_and_complete_nothing() {
    let mut script = ClientScript::loaded();
    for number in 1..=10 * ASSEMBLIES_MAX as u64 {
        script.send(&[confirm(number * 3, 7, 0)]);
    }
    assert_eq!(script.acknowledged(), []);
    assert_eq!(script.session.phase(), Phase::Waiting);
}

#[test]
fn a_count_that_never_matches_completes_nothing() {
    let mut script = ClientScript::loaded();
    for tick in 1..=200 {
        script.send(&[running(tick * 3, 1), confirm(tick * 3, u32::MAX, 0)]);
    }
    assert_eq!(script.acknowledged(), []);
    script.send(&[running(900, 1), confirm(900, 1, 0)]);
    assert_eq!(script.acknowledged(), [900]);
}

#[test]
fn one_bad_message_undoes_its_datagram() {
    let mut script = ClientScript::loaded();
    let mut bytes = bytes_of(&[running(3, 1), confirm(3, 1, 0)]);
    bytes.extend(unhex("02ff00"));
    script.send_bytes(SERVER, &bytes);
    assert_eq!(script.acknowledged(), []);
    assert_eq!(script.session.counters().undecodable, 1);

    let mut script = ServerScript::with(config(2));
    let ann = machine(2, 5_000);
    let on = script.open(0, ann);
    let token = script.token_on(on);
    let mut bytes = bytes_of(&[Message::Attach { token }]);
    bytes.push(0xff);
    script.send_bytes(ann, &bytes);
    script.ticks(6);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().undecodable, 1);
}

#[test]
fn a_position_that_is_no_number_is_refused() {
    let mut script = ClientScript::loaded();
    for bits in ["0000c07f", "0000807f", "000080ff"] {
        let digits = format!("021a00030000000000000001000000 0100 {bits}0000000000000000");
        script.send_bytes(SERVER, &unhex(&digits.replace(' ', "")));
    }
    assert_eq!(script.session.counters().undecodable, 3);
}
