//! Snapshots: against what, of what, and in how many datagrams.

use tickwire_dialects::reone::message::Compression;
use tickwire_dialects::reone::{AnyStatus, Mode, Object, ObjectId, Seat, ServerConfig};
use tickwire_session::{Path, Room, Session};
use tickwire_state::{SightRange, Vec2};

use super::script::{ANN, Script, Told, config, creature, door};

#[test]
fn a_snapshot_byte_by_byte() {
    let (mut script, ann) = Script::playing(config());
    script.publish(&[creature(1, 0.0), door(900, 0.0, 10)]);
    let mut expected = b"\x01\0\0\0\0\0\0\0\x03\0\0\0\x01\x01\x01\0\0\0".to_vec();
    expected.extend([0; 31]);
    expected.extend(b"\x04\x01\x84\x03\0\0\x86\x01\x01");
    assert_eq!(script.taken(ANN), [expected]);
    script.say(&ann, 1, &[]);
    script.publish(&[creature(1, 1.0), door(900, 0.0, 9)]);
    let expected = b"\x02\0\0\0\x01\0\0\0\x06\0\0\0\
        \0\x01\x01\0\0\0\x01\0\0\0\x80\x3f\0\0\0\0\0\0\0\0\
        \x02\x01\x84\x03\0\0\x20\0\x09\0\0\0\
        \x86\x01\x01";
    assert_eq!(script.taken(ANN), [expected]);
}

#[test]
fn what_the_baseline_has_is_told_by_its_difference_and_what_did_not_change_is_kept() {
    let (mut script, ann) = Script::playing(config());
    let first = script.publish(&[creature(1, 0.0), creature(2, 0.0), creature(3, 0.0)]);
    assert_eq!(script.told(ANN).full, [1, 2, 3]);
    // Nothing is acknowledged: everything is told again.
    script.publish(&[creature(1, 0.0), creature(2, 0.0), creature(3, 0.0)]);
    assert_eq!(script.told(ANN).full, [1, 2, 3]);
    script.say(&ann, first, &[]);
    script.publish(&[creature(1, 5.0), creature(2, 0.0), creature(4, 0.0)]);
    let told = script.told(ANN);
    assert_eq!(
        told,
        Told {
            sequence: 3,
            acknowledged: 1,
            full: vec![4],
            diff: vec![(1, 1)],
            kept: vec![2],
            datagrams: 1,
            ..Told::default()
        }
    );
}

#[test]
fn the_base_counts_as_known() {
    let (mut script, _) = Script::playing(config());
    script.publish(&[door(900, 0.0, 10)]);
    assert_eq!(script.told(ANN).kept, [900]);
    script.publish(&[door(900, 0.0, 4)]);
    assert_eq!(script.told(ANN).diff, [(900, 32)]);
    // Another kind of thing under the same id is another thing.
    script.publish(&[creature(900, 0.0)]);
    assert_eq!(script.told(ANN).full, [900]);
}

#[test]
fn a_value_that_changed_back_is_no_difference() {
    let (mut script, ann) = Script::playing(config());
    script.publish(&[creature(1, 0.0)]);
    script.say(&ann, 1, &[]);
    script.publish(&[creature(1, 1.0)]);
    script.datagrams.clear();
    script.publish(&[creature(1, 0.0)]);
    let told = script.told(ANN);
    assert_eq!((&told.kept[..], told.diff.len()), (&[1][..], 0));
}

#[test]
fn an_acknowledgement_lasts_as_long_as_the_history() {
    let (mut script, ann) = Script::playing(config());
    script.publish(&[creature(1, 0.0)]);
    script.say(&ann, 1, &[]);
    for seq in 2..=32 {
        script.datagrams.clear();
        script.publish(&[creature(1, 0.0)]);
        assert_eq!(script.told(ANN).acknowledged, 1, "snapshot {seq}");
        assert_eq!(script.session.mode(ann.client), Some(Mode::Performant));
    }
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).acknowledged, 0);
    assert_eq!(script.session.mode(ann.client), Some(Mode::Fallback));
    // An old one does not help, a newer one does.
    script.say(&ann, 1, &[]);
    script.say(&ann, 20, &[]);
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).acknowledged, 20);
    let counters = script.session.counters();
    assert_eq!((counters.performant, counters.fallback), (32, 2));
    assert_eq!(counters.mode_changes, 3);
    assert_eq!(counters.ack_never_sent, 0);
}

#[test]
fn acknowledging_what_was_never_sent_is_counted_and_changes_nothing() {
    let (mut script, ann) = Script::playing(config());
    script.publish(&[creature(1, 0.0)]);
    for never in [2, 100, u32::MAX] {
        script.say(&ann, never, &[]);
    }
    script.datagrams.clear();
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).acknowledged, 0);
    assert_eq!(script.session.counters().ack_never_sent, 3);
    // An older one after a newer one changes nothing either.
    script.say(&ann, 2, &[]);
    script.say(&ann, 1, &[]);
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).acknowledged, 2);
}

#[test]
fn what_leaves_the_range_is_in_no_list() {
    let (radius, margin) = (100.0, 0.1);
    let sight = SightRange { radius, margin };
    let (mut script, ann) = Script::playing(ServerConfig { sight, ..config() });
    let world = |x| [creature(1, 0.0), creature(2, x)];
    script.publish(&world(100.0));
    assert_eq!(script.told(ANN).full, [1, 2]);
    script.say(&ann, 1, &[]);
    script.publish(&world(109.0));
    assert_eq!(script.told(ANN).diff, [(2, 1)], "the border is not sharp");
    script.publish(&world(111.0));
    let told = script.told(ANN);
    assert_eq!((told.diff.len(), &told.kept[..]), (0, &[1][..]));
    script.say(&ann, 3, &[]);
    script.publish(&world(109.0));
    assert_eq!(script.told(ANN).kept, [1], "nor is the way back");
    script.publish(&world(99.0));
    assert_eq!(script.told(ANN).full, [2], "the baseline lacks it");
    // One's own creature is always in range, and the range goes with it.
    script.publish(&[creature(1, 5_000.0), creature(2, 99.0)]);
    assert_eq!(script.told(ANN).diff, [(1, 1)]);
}

#[test]
fn a_spectator_looks_from_where_it_is_put() {
    let (radius, margin) = (100.0, 0.1);
    let sight = SightRange { radius, margin };
    let mut script = Script::begin(ServerConfig { sight, ..config() });
    let eye = |x| Vec2 { x, y: 0.0 };
    let ann = script.join(0, ANN, Seat::Spectator(eye(500.0)));
    let world = [creature(1, 0.0), creature(2, 500.0)];
    script.publish(&world);
    assert_eq!(script.told(ANN).full, [2]);
    script.session.move_eye(ann.client, eye(0.0));
    script.publish(&world);
    assert_eq!(script.told(ANN).full, [1]);
}

#[test]
fn a_large_snapshot_is_cut_into_datagrams() {
    let world: Vec<_> = (1..=150).map(|id| creature(id, 0.0)).collect();
    let (mut script, _) = Script::playing(config());
    script.publish(&world);
    let taken = script.datagrams.clone();
    let told = script.told(ANN);
    assert_eq!((told.full.len(), told.datagrams), (150, 5));
    for (_, datagram) in &taken {
        assert_eq!(datagram[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    }
    let (last, others) = taken.split_last().unwrap();
    assert!(last.1.ends_with(&[134, 1, 5]));
    assert!(others.iter().all(|(_, bytes)| bytes.len() > 1_150));
}

#[test]
fn a_narrow_path_gets_smaller_datagrams_or_none() {
    let world: Vec<_> = (1..=50).map(|id| creature(id, 0.0)).collect();
    let (mut script, _) = Script::playing(config());
    let narrow = |script: &mut Script, largest| {
        let room = Room {
            bytes: u32::MAX,
            largest,
        };
        let path = Path::Datagrams(ANN);
        script.session.handle_room(script.now, path, room);
    };
    narrow(&mut script, 500);
    script.publish(&world);
    assert!(script.datagrams.iter().all(|(_, bytes)| bytes.len() <= 500));
    assert_eq!(script.told(ANN).full.len(), 50);
    narrow(&mut script, 300);
    script.publish(&world);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.counters().path_too_narrow, 1);
}

#[test]
fn over_the_budget_the_oldest_come_first() {
    // Four differences of 18 bytes fit.
    let config = ServerConfig {
        snapshot_bytes: 80,
        ..config()
    };
    let (mut script, ann) = Script::playing(config);
    let world = |x: f32| (2..=11).map(|id| creature(id, x)).collect::<Vec<_>>();
    // At first there is nothing to keep: two full ones fit, and the rest is not there yet.
    let mut acknowledged = 0;
    for expected in [[2, 3], [4, 5], [6, 7], [8, 9], [10, 11]] {
        acknowledged = script.publish(&world(0.0));
        assert_eq!(script.told(ANN).full, expected);
        script.say(&ann, acknowledged, &[]);
    }
    script.publish(&world(1.0));
    let told = script.told(ANN);
    assert_eq!(told.acknowledged, acknowledged);
    let moved = |told: &Told| told.diff.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    assert_eq!(moved(&told), [2, 3, 4, 5]);
    assert_eq!(told.kept, [6, 7, 8, 9, 10, 11]);
    script.say(&ann, told.sequence, &[]);
    script.publish(&world(2.0));
    assert_eq!(moved(&script.told(ANN)), [6, 7, 8, 9]);
    script.publish(&world(3.0));
    assert_eq!(moved(&script.told(ANN)), [10, 11, 2, 3]);
    assert_eq!(script.session.counters().rationed, 7);
}

#[test]
fn over_the_budget_the_own_creature_comes_before_all_others() {
    // Two differences of 18 bytes fit.
    let config = ServerConfig {
        snapshot_bytes: 40,
        ..config()
    };
    let (mut script, ann) = Script::playing(config);
    let world = |x: f32| (0..=3).map(|id| creature(id, x)).collect::<Vec<_>>();
    for _ in 0..4 {
        let seq = script.publish(&world(0.0));
        script.say(&ann, seq, &[]);
    }
    script.datagrams.clear();
    let mut others = Vec::new();
    for x in [1.0, 2.0, 3.0] {
        let seq = script.publish(&world(x));
        let diff = script.told(ANN).diff;
        assert_eq!((diff.len(), diff[0].0), (2, 1), "{diff:?}");
        others.push(diff[1].0);
        script.say(&ann, seq, &[]);
    }
    others.sort_unstable();
    assert_eq!(others, [0, 2, 3], "the others take turns");
}

#[test]
fn what_was_only_kept_is_told_from_what_the_client_really_holds() {
    let config = ServerConfig {
        snapshot_bytes: 36,
        ..config()
    };
    let (mut script, ann) = Script::playing(config);
    for _ in 0..2 {
        let seq = script.publish(&[creature(1, 0.0), creature(2, 0.0)]);
        script.say(&ann, seq, &[]);
    }
    let held = |script: &Script, seq| {
        let view = script.session.view(ann.client, seq).unwrap();
        let x = view.values().map(|status| status.unwrap().pos().x);
        x.collect::<Vec<_>>()
    };
    script.publish(&[creature(1, 0.0), creature(2, 0.0)]);
    // Both turn and move: only one fits, and the other stays as it was.
    let turned = |id, x| {
        let mut object = creature(id, x);
        if let AnyStatus::Creature(status) = &mut object.status {
            status.heading = x;
        }
        object
    };
    script.datagrams.clear();
    let seq = script.publish(&[turned(1, 7.0), turned(2, 7.0)]);
    assert_eq!(script.told(ANN).kept, [2]);
    let newest = script.session.newest();
    assert_eq!(held(&script, newest), [7.0, 0.0]);
    script.say(&ann, seq, &[]);
    script.publish(&[turned(1, 7.0), turned(2, 7.0)]);
    let told = script.told(ANN);
    assert_eq!((&told.diff[..], &told.kept[..]), (&[(2, 3)][..], &[1][..]));
    let newest = script.session.newest();
    assert_eq!(held(&script, newest), [7.0, 7.0]);
}

#[test]
fn a_slot_of_something_gone_is_not_mistaken_for_the_next() {
    let (mut script, ann) = Script::playing(config());
    for id in 1..200 {
        let seq = script.publish(&[creature(id, 0.0)]);
        let told = script.told(ANN);
        assert_eq!((&told.full[..], told.kept.len()), (&[id][..], 0));
        script.say(&ann, seq, &[]);
    }
    // Gone for a moment, it is told of by its difference if the baseline still has it.
    script.publish(&[]);
    script.datagrams.clear();
    script.publish(&[creature(199, 1.0)]);
    assert_eq!(script.told(ANN).diff, [(199, 1)]);
}

#[test]
fn one_that_is_not_polled_in_time_gets_the_newest() {
    let (mut script, _) = Script::playing(config());
    for (tick, x) in [(1, 0.0), (2, 1.0), (3, 2.0)] {
        let world: [Object; 1] = [creature(1, x)];
        script.session.publish(tick, world);
    }
    script.drain();
    assert_eq!(script.told(ANN).sequence, 3);
    let view = script.session.view(
        script.session.clients().next().unwrap().0,
        script.session.newest(),
    );
    let view = view.expect("it was sent");
    assert_eq!(view[&ObjectId(1)].unwrap().pos().x, 2.0);
}

#[test]
fn coded_snapshots_say_the_same_in_fewer_bytes() {
    let world: Vec<_> = (1..=150).map(|id| creature(id, 0.0)).collect();
    let run = |compression| {
        let (mut script, _) = Script::playing(ServerConfig {
            compression,
            ..config()
        });
        script.publish(&world);
        let bytes: usize = script.datagrams.iter().map(|(_, bytes)| bytes.len()).sum();
        (script.told(ANN).full, bytes)
    };
    let (plain, plain_bytes) = run(Compression::None);
    let (coded, coded_bytes) = run(Compression::Huffman);
    assert_eq!(plain, coded);
    assert!(
        coded_bytes < plain_bytes / 2,
        "{coded_bytes} of {plain_bytes}"
    );
}

#[test]
fn a_coded_datagram_is_plain_where_that_is_shorter() {
    let (mut script, ann) = Script::playing(ServerConfig {
        compression: Compression::Huffman,
        ..config()
    });
    script.publish(&[]);
    assert_eq!(
        script.taken(ANN),
        [b"\x01\0\0\0\0\0\0\0\x03\0\0\0\0\x86\x01\x01"]
    );
    // What is no snapshot is never coded.
    script.ping(&ann);
    let [parameters] = &script.taken(ANN)[..] else {
        panic!("a ping is answered");
    };
    assert_eq!(parameters[12..14], [131, 1]);
}
