//! What is sent of the world, and against what.

use tickwire_dialects::opendrakan::limits::BYTES_PER_SECOND;
use tickwire_dialects::opendrakan::message::{Lifecycle, Message, ObjectChange, Way};
use tickwire_dialects::opendrakan::{ObjectId, ServerConfig, State, Value};
use tickwire_session::{Path, Room, Session, StreamId};
use tickwire_state::{Tick, Vec3};

use crate::script::{PROTOTYPE, ServerScript, config, each, machine, ms};

const ANN: tickwire_session::Addr = machine(2, 5_000);

fn at(x: f32) -> State {
    State::Translation(Vec3 { x, ..Vec3::ZERO })
}

/// A server with some objects, and one client attached.
fn attached(objects: u32) -> ServerScript {
    throttled(objects, BYTES_PER_SECOND)
}

/// The same, with so many bytes a second for the client.
fn throttled(objects: u32, bytes_per_second: u32) -> ServerScript {
    let mut script = ServerScript::with(ServerConfig {
        bytes_per_second,
        ..config(objects)
    });
    script.attach(0, ANN);
    script
}

fn destroy(script: &mut ServerScript, object: ObjectId) {
    let end = script.session.set_lifecycle(object, Lifecycle::Destroyed);
    end.expect("it is there");
}

/// Bytes of all datagrams that were sent.
fn sent(script: &ServerScript) -> usize {
    script.datagrams.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// The ticks that were confirmed.
fn ticks(script: &ServerScript) -> Vec<u64> {
    let confirmed = script.confirmed().into_iter();
    confirmed.map(|(confirm, _)| confirm.tick.0).collect()
}

/// What the datagrams say of one object, in words.
fn said(script: &ServerScript, wanted: ObjectId) -> Vec<String> {
    let mut said = Vec::new();
    for (_, datagram) in &script.datagrams {
        each(Way::ServerDatagram, datagram, |message| match message {
            Message::ObjectChanged { object, change, .. } if object == wanted => match change {
                ObjectChange::Created(prototype) => {
                    said.push(format!("created from {}", prototype.0));
                }
                ObjectChange::Lifecycle(lifecycle) => said.push(format!("{lifecycle:?}")),
                ObjectChange::States(states) => said.extend(states.iter().map(|change| {
                    let jump = if change.jump { "!" } else { "" };
                    format!("{}{jump}", change.index)
                })),
                ObjectChange::ExtraStates(bundle) => {
                    said.push(format!("extra {:#x} {:#x}", bundle[0], bundle[1]));
                }
            },
            _ => {}
        });
    }
    said
}

#[test]
fn every_third_tick_is_sent_the_same_to_everybody() {
    let mut script = attached(3);
    script.attach(1, machine(3, 5_000));
    script.ticks(9);
    assert_eq!(ticks(&script), [3, 3, 6, 6, 9, 9]);
    assert_eq!(script.datagrams[0].1, script.datagrams[1].1);
    assert_eq!(script.confirmed()[0].0.real_time, 3.0 / 60.0);
}

#[test]
fn until_something_is_acknowledged_every_snapshot_is_full() {
    let mut script = attached(3);
    script.ticks(9);
    for (confirm, changes) in script.confirmed() {
        assert_eq!(confirm.reference, Tick::NONE);
        // Three objects: lifecycle, five basic and three extra states each.
        assert_eq!((confirm.changes, changes), (27, 27));
    }
}

#[test]
fn a_delta_holds_what_changed_after_its_reference() {
    let mut script = attached(3);
    let first = script.next_send_tick();
    script.acknowledge(ANN, first);
    script.session.set(ObjectId(2), at(5.0)).unwrap();
    let second = script.next_send_tick();
    let [(confirm, changes)] = script.confirmed()[..] else {
        panic!("one snapshot");
    };
    assert_eq!((confirm.tick, confirm.reference), (second, first));
    assert_eq!((confirm.changes, changes), (1, 1));
    assert_eq!(said(&script, ObjectId(2)), ["0"]);

    // Not acknowledged: the next one still refers to the first, and says it again.
    script
        .session
        .set(ObjectId(3), State::Extra(1, Value::U32(9)))
        .unwrap();
    script.next_send_tick();
    assert_eq!(script.confirmed()[0].0.reference, first);
    assert_eq!(said(&script, ObjectId(2)), ["0"]);
    assert_eq!(said(&script, ObjectId(3)), ["extra 0x2 0x0"]);

    script.acknowledge(ANN, second);
    script.next_send_tick();
    assert_eq!(said(&script, ObjectId(2)), [""; 0]);
    assert_eq!(said(&script, ObjectId(3)), ["extra 0x2 0x0"]);
}

#[test]
fn a_state_set_to_what_it_is_did_not_change() {
    let mut script = attached(3);
    let tick = script.next_send_tick();
    script.acknowledge(ANN, tick);
    script.session.set(ObjectId(2), at(0.0)).unwrap();
    script.session.jump(ObjectId(2), at(0.0)).unwrap();
    script.next_send_tick();
    assert_eq!(script.confirmed()[0].0.changes, 0);
}

#[test]
fn a_jump_is_told_until_it_is_acknowledged() {
    let mut script = attached(3);
    let first = script.next_send_tick();
    script.acknowledge(ANN, first);
    script.session.jump(ObjectId(2), at(90.0)).unwrap();
    script.ticks(1);
    script.session.set(ObjectId(2), at(91.0)).unwrap();
    let second = script.next_send_tick();
    assert_eq!(said(&script, ObjectId(2)), ["0!"]);
    script.session.set(ObjectId(2), at(92.0)).unwrap();
    let third = script.next_send_tick();
    assert_eq!(said(&script, ObjectId(2)), ["0!"], "after {second}");
    script.acknowledge(ANN, third);
    script.session.set(ObjectId(2), at(93.0)).unwrap();
    script.next_send_tick();
    assert_eq!(said(&script, ObjectId(2)), ["0"]);
}

#[test]
fn what_is_created_comes_whole_and_what_is_destroyed_goes_once() {
    let mut script = attached(2);
    let first = script.next_send_tick();
    script.acknowledge(ANN, first);
    let made = script.session.create(PROTOTYPE).unwrap();
    assert_eq!(made, ObjectId(3));
    let second = script.next_send_tick();
    let whole = [
        "created from 1",
        "Loaded",
        "0",
        "1",
        "2",
        "3",
        "4",
        "extra 0x7 0x0",
    ];
    assert_eq!(said(&script, made), whole);
    assert_eq!(script.confirmed()[0].0.changes, 10);

    script.acknowledge(ANN, second);
    destroy(&mut script, made);
    let third = script.next_send_tick();
    assert_eq!(said(&script, made), ["Destroyed"]);
    script.acknowledge(ANN, third);
    script.next_send_tick();
    assert_eq!(said(&script, made), [""; 0]);
    // Numbers are not used again.
    assert_eq!(script.session.create(PROTOTYPE), Ok(ObjectId(4)));
}

#[test]
fn what_came_and_went_after_the_reference_is_not_mentioned() {
    let mut script = attached(2);
    let first = script.next_send_tick();
    script.acknowledge(ANN, first);
    let made = script.session.create(PROTOTYPE).unwrap();
    script.next_send_tick();
    destroy(&mut script, made);
    script.next_send_tick();
    assert_eq!(said(&script, made), [""; 0]);
    assert_eq!(script.confirmed()[0].0.changes, 0);
}

#[test]
fn a_clone_of_a_clone_names_the_level_s_object() {
    let mut script = attached(2);
    let first = script.session.create(PROTOTYPE).unwrap();
    let second = script.session.create(first).unwrap();
    destroy(&mut script, first);
    script.next_send_tick();
    assert_eq!(said(&script, second)[0], "created from 1");
    assert_eq!(said(&script, first), [""; 0]);
}

#[test]
fn a_reference_is_good_for_three_seconds() {
    let mut script = attached(2);
    let first = script.next_send_tick();
    script.acknowledge(ANN, first);
    // Three seconds after the snapshot that was not acknowledged.
    for number in 1..=60 {
        script.next_send_tick();
        let confirm = script.confirmed()[0].0;
        assert_eq!(confirm.reference, first, "snapshot {number}");
        // It is alive, and says nothing new.
        script.acknowledge(ANN, first);
    }
    script.pass(ms(1));
    script.datagrams.clear();
    script.ticks(30);
    let [(confirm, _)] = script.confirmed()[..] else {
        panic!("half a second, one snapshot");
    };
    assert_eq!(confirm.reference, Tick::NONE);
}

#[test]
fn who_acknowledges_nothing_for_three_seconds_gets_two_full_snapshots_a_second() {
    // One that is repeated until acknowledged, and one that is not.
    for objects in [3, 200] {
        let mut script = attached(objects);
        script.ticks(60 * 3 + 6);
        let token = script.token_on(StreamId::Accepted(0));
        for _ in 0..8 {
            script.datagrams.clear();
            script.ticks(30);
            let [(confirm, changes)] = script.confirmed()[..] else {
                panic!("{:?}", script.confirmed());
            };
            assert_eq!(confirm.reference, Tick::NONE);
            assert_eq!((confirm.changes, changes), (objects * 9, objects * 9));
            // It stays, but hears little.
            script.send(ANN, &[Message::Attach { token }]);
        }
        let (last, _) = script.confirmed()[0];
        script.acknowledge(ANN, last.tick);
        script.datagrams.clear();
        script.ticks(9);
        let references: Vec<_> = script
            .confirmed()
            .iter()
            .map(|(c, _)| c.reference)
            .collect();
        assert_eq!(references, [last.tick; 3]);
    }
}

#[test]
fn odd_acknowledgements_are_ignored_and_counted() {
    let mut script = attached(2);
    let first = script.next_send_tick();
    let second = script.next_send_tick();
    script.acknowledge(ANN, second);
    script.acknowledge(ANN, first);
    script.acknowledge(ANN, second);
    for never in [0, 1, 9_999, u64::MAX] {
        script.acknowledge(ANN, Tick(never));
    }
    let counters = *script.session.counters();
    // 0 and 1 lie before the newest.
    assert_eq!((counters.ack_old, counters.ack_never_sent), (3, 2));
    script.next_send_tick();
    assert_eq!(script.confirmed()[0].0.reference, second);
}

#[test]
fn a_large_full_snapshot_is_repeated_to_the_byte_until_acknowledged() {
    let mut script = attached(200);
    let tick = script.next_send_tick();
    let once: Vec<_> = script.datagrams.clone();
    assert!(once.len() > 4);
    for _ in 0..3 {
        script.datagrams.clear();
        script.ticks(3);
        assert_eq!(script.datagrams, once);
    }
    script.acknowledge(ANN, tick);
    script.next_send_tick();
    assert_eq!(script.confirmed()[0].0.reference, tick);
}

#[test]
fn a_large_full_snapshot_gives_way_after_a_second() {
    let mut script = attached(200);
    let first = script.next_send_tick();
    script.datagrams.clear();
    script.ticks(57);
    assert!(ticks(&script).iter().all(|tick| *tick == first.0));
    script.datagrams.clear();
    script.ticks(6);
    let last = *ticks(&script).last().expect("it goes on");
    assert!(last >= first.0 + 60, "{last}");
}

#[test]
fn a_small_full_snapshot_is_not_repeated() {
    let mut script = attached(10);
    script.ticks(9);
    assert_eq!(ticks(&script), [3, 6, 9]);
}

#[test]
fn the_budget_paces_a_large_snapshot_and_skips_what_is_over_it() {
    let mut script = throttled(200, 20_000);
    script.ticks(60);
    let sent = sent(&script);
    assert!((20_000..24_000).contains(&sent), "{sent}");
    // A snapshot is never cut: 18 kB took most of a second, and are all there.
    let (confirm, changes) = script.confirmed()[0];
    assert_eq!((confirm.changes, changes), (200 * 9, 200 * 9));

    let mut script = throttled(10, 500);
    script.ticks(60);
    assert_eq!(script.confirmed().len(), 1);
    assert_eq!(script.session.counters().skipped, 19);
}

#[test]
fn what_took_long_to_send_can_still_be_acknowledged() {
    let mut script = throttled(400, 4_000);
    let doomed = script.session.create(PROTOTYPE).unwrap();
    // 39 kB take ten seconds, in which the ticks of 64 snapshots pass three times.
    script.ticks(60 * 11);
    let first = script.confirmed()[0].0;
    assert_eq!((first.tick, first.reference), (Tick(3), Tick::NONE));
    destroy(&mut script, doomed);
    script.datagrams.clear();
    script.acknowledge(ANN, first.tick);
    while script.confirmed().is_empty() {
        script.ticks(1);
    }
    // What was being repeated gives way, and the destroyed are remembered for so long.
    let (next, changes) = script.confirmed()[0];
    assert_eq!((next.reference, next.changes, changes), (first.tick, 1, 1));
    assert_eq!(said(&script, doomed), ["Destroyed"]);
}

#[test]
fn a_large_delta_is_paced_and_not_repeated() {
    let mut script = throttled(400, 20_000);
    script.ticks(60 * 3);
    let first = script.confirmed()[0].0.tick;
    script.acknowledge(ANN, first);
    for id in 1..=400 {
        script.session.set(ObjectId(id), at(1.0)).unwrap();
    }
    script.datagrams.clear();
    script.ticks(60 * 2);
    let confirmed = script.confirmed();
    let (delta, changes) = confirmed[0];
    assert_eq!((delta.reference, changes), (first, 400));
    // 12 kB take more than half a second, in which nothing else is begun.
    assert!(confirmed[1].0.tick.0 > delta.tick.0 + 30, "{confirmed:?}");
    assert!(
        confirmed
            .windows(2)
            .all(|pair| pair[0].0.tick < pair[1].0.tick)
    );
    let sent = sent(&script);
    assert!((38_000..44_000).contains(&sent), "{sent}");
}

#[test]
fn a_narrower_path_gets_narrower_datagrams() {
    let mut script = attached(50);
    let path = Path::Datagrams(ANN);
    let room = |largest| Room {
        largest,
        ..Room::DATAGRAMS
    };
    script.session.handle_room(script.now, path, room(1_150));
    script.next_send_tick();
    assert!(
        script
            .datagrams
            .iter()
            .all(|(_, bytes)| bytes.len() <= 1_150)
    );
    // And one that is too narrow for the largest bundle gets none.
    script.session.handle_room(script.now, path, room(500));
    script.datagrams.clear();
    script.ticks(6);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().path_too_narrow, 2);
}

#[test]
fn ten_thousand_objects_of_which_few_move_are_a_small_delta() {
    let mut script = throttled(10_000, 100_000_000);
    let first = script.next_send_tick();
    script.acknowledge(ANN, first);
    for id in 100..110 {
        script.session.set(ObjectId(id), at(1.0)).unwrap();
    }
    script.next_send_tick();
    assert_eq!(script.confirmed()[0].0.changes, 10);
    assert_eq!(script.datagrams.len(), 1);
    script.pass(ms(1));
}
