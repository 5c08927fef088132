//! Events of players: each once, in order, and acknowledged when the game has processed it.

use tickwire_dialects::reone::message::{Event, UpElement};
use tickwire_dialects::reone::{EventId, ServerEvent, ShownAt};

use super::script::{ANN, Script, config, creature, event, up};

fn ids(script: &mut Script) -> Vec<u32> {
    let ids = script.events().into_iter().map(|event| match event {
        ServerEvent::Event { id, .. } => id.0,
        other => panic!("{other:?} instead of an event"),
    });
    ids.collect()
}

#[test]
fn events_come_once_and_in_order() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(2, 7), event(1, 7), event(1, 7)]);
    script.say(&ann, 0, &[event(1, 7), event(2, 7), event(3, 7)]);
    assert_eq!(ids(&mut script), [1, 2, 3]);
    assert_eq!(script.session.counters().event_out_of_order, 1);
}

#[test]
fn an_event_is_handed_on_as_it_is() {
    let (mut script, ann) = Script::playing(config());
    let content = vec![9; 255];
    let event = Event::new(EventId(1), 200, &content).unwrap();
    script.say(&ann, 0, &[UpElement::Event(event)]);
    assert_eq!(
        script.events(),
        [ServerEvent::Event {
            client: ann.client,
            id: EventId(1),
            kind: 200,
            content,
            seen: ShownAt::default(),
        }]
    );
}

#[test]
fn an_event_comes_with_what_its_player_saw() {
    let (mut script, ann) = Script::playing(config());
    let mut bytes = up(
        100,
        0,
        &[event(1, 7), event(0, 7), event(2, 7), event(3, 7)],
    );
    bytes[8..12].copy_from_slice(&77_u32.to_le_bytes());
    script.send_bytes(ann.addr, &bytes);
    let seen = script.events().into_iter().map(|event| match event {
        ServerEvent::Event { id, seen, .. } => (id.0, seen.tick, seen.before),
        other => panic!("{other:?} instead of an event"),
    });
    // The tick is that of the newest; each one before it is as much older.
    let seen: Vec<_> = seen.collect();
    assert_eq!(seen, [(1, 77, 2), (0, 77, 0), (2, 77, 1), (3, 77, 0)]);
}

#[test]
fn what_an_event_is_before_is_counted_and_not_believed() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(1, 7), event(100_001, 7)]);
    let events = script.events();
    let [ServerEvent::Event { id, seen, .. }] = &events[..] else {
        panic!("{events:?} instead of an event");
    };
    assert_eq!((*id, seen.before), (EventId(1), 1));
}

#[test]
fn an_event_without_a_number_comes_at_once_and_is_not_acknowledged() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(0, 7), event(0, 7)]);
    assert_eq!(ids(&mut script), [0, 0]);
    script.publish(&[creature(1, 0.0)]);
    assert!(script.told(ANN).event_acks.is_empty());
}

#[test]
fn the_acknowledgement_rides_on_five_snapshots_and_names_what_was_processed() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(1, 7), event(2, 7)]);
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).event_acks, [0]);
    script.session.processed(ann.client, EventId(1));
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).event_acks, [1]);
    script.session.processed(ann.client, EventId(9));
    for _ in 0..3 {
        script.publish(&[creature(1, 0.0)]);
        assert_eq!(script.told(ANN).event_acks, [2]);
    }
    script.publish(&[creature(1, 0.0)]);
    assert!(script.told(ANN).event_acks.is_empty());
    // One that comes again was not heard to be acknowledged.
    script.say(&ann, 0, &[event(1, 7)]);
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).event_acks, [2]);
}

#[test]
fn a_snapshot_with_an_acknowledgement_byte_by_byte() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(1, 7)]);
    script.session.processed(ann.client, EventId(1));
    script.publish(&[]);
    assert_eq!(
        script.taken(ANN),
        [b"\x01\0\0\0\0\0\0\0\x03\0\0\0\x85\x01\x01\0\0\0\x86\x01\x01"]
    );
}

#[test]
fn a_game_that_falls_behind_is_not_buried() {
    let (mut script, ann) = Script::playing(config());
    for id in 1..=1_000 {
        script.say(&ann, 0, &[event(id, 7)]);
        script.say(&ann, 0, &[event(0, 7)]);
    }
    let events = ids(&mut script);
    assert_eq!(events.iter().filter(|id| **id > 0).count(), 256);
    assert_eq!(events.iter().filter(|id| **id == 0).count(), 256);
    script.session.processed(ann.client, EventId(256));
    script.say(&ann, 0, &[event(257, 7)]);
    assert_eq!(ids(&mut script), [257]);
}
