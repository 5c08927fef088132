//! Snapshots from changes and confirmations, in any order.

use std::collections::BTreeMap;

use tickwire_dialects::opendrakan::message::{Lifecycle, Message, ObjectChange};
use tickwire_dialects::opendrakan::{
    ClassId, Classes, ClientEvent, LoadedLevel, ObjectId, TRANSLATION, Tick, Value, Vec3,
};

use crate::script::{CLASS, ClientScript, changed, confirm, loaded, state};

pub(super) fn place(tick: u64, object: u32, x: f32, jump: bool) -> Message<'static> {
    let value = Value::Vec3(Vec3 { x, ..Vec3::ZERO });
    changed(tick, object, state(TRANSLATION, value, jump))
}

fn created(tick: u64, object: u32, prototype: u32) -> Message<'static> {
    changed(tick, object, ObjectChange::Created(ObjectId(prototype)))
}

fn lifecycle(tick: u64, object: u32, lifecycle: Lifecycle) -> Message<'static> {
    changed(tick, object, ObjectChange::Lifecycle(lifecycle))
}

/// Health and arms of an object.
fn extra(tick: u64, object: u32, bundle: &'static [u8]) -> Message<'static> {
    changed(tick, object, ObjectChange::ExtraStates(bundle))
}

fn x(script: &ClientScript, object: u32) -> Option<f32> {
    let object = script.session.newest()?.object(ObjectId(object))?;
    Some(object.pose.translation.x)
}

#[test]
fn every_order_of_four_datagrams_completes_at_the_last() {
    let pieces = [
        place(3, 1, 5.0, false),
        lifecycle(3, 1, Lifecycle::Running),
        extra(3, 1, &[0x05, 0, 100, 1]),
        confirm(3, 4, 0),
    ];
    for order in permutations(4) {
        let mut script = ClientScript::loaded();
        for (number, &at) in order.iter().enumerate() {
            assert_eq!(script.acknowledged(), [], "{order:?}, {number} in");
            script.send(&[pieces[at]]);
        }
        assert_eq!(script.acknowledged(), [3], "{order:?}");
        let events = [
            ClientEvent::Started,
            ClientEvent::Completed { tick: Tick(3) },
        ];
        assert_eq!(script.events(), events);
        let snapshot = script.session.newest().expect("it is complete");
        let object = snapshot.object(ObjectId(1)).expect("it is there");
        assert_eq!(object.lifecycle, Lifecycle::Running);
        let values = [Value::U8(100), Value::U32(0), Value::Bool(true)];
        assert_eq!(object.extra, values);
        assert_eq!((object.class, object.prototype), (Some(CLASS), None));
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(count - 1);
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, count - 1);
        order
    };
    shorter
        .iter()
        .flat_map(|order| (0..count).map(move |at| insert(order, at)))
        .collect()
}

#[test]
fn a_change_that_comes_twice_counts_once() {
    let mut script = ClientScript::loaded();
    for _ in 0..3 {
        script.send(&[place(3, 1, 5.0, false), extra(3, 1, &[0x01, 0, 9])]);
    }
    script.send(&[confirm(3, 3, 0)]);
    assert_eq!(script.acknowledged(), []);
    script.send(&[lifecycle(3, 1, Lifecycle::Spawned)]);
    assert_eq!(script.acknowledged(), [3]);
}

#[test]
fn a_delta_is_applied_to_its_reference_not_to_the_newest() {
    let mut script = ClientScript::loaded();
    script.send(&[place(3, 1, 1.0, false), place(3, 2, 1.0, false)]);
    script.send(&[confirm(3, 2, 0)]);
    script.send(&[place(6, 1, 2.0, false), confirm(6, 1, 3)]);
    assert_eq!((x(&script, 1), x(&script, 2)), (Some(2.0), Some(1.0)));
    script.send(&[place(9, 2, 3.0, false), confirm(9, 1, 3)]);
    assert_eq!((x(&script, 1), x(&script, 2)), (Some(1.0), Some(3.0)));
    assert_eq!(script.acknowledged(), [3, 6, 9]);
}

#[test]
fn what_a_full_snapshot_does_not_name_is_gone() {
    let mut script = ClientScript::loaded();
    script.send(&[place(3, 1, 1.0, false), place(3, 2, 1.0, false)]);
    script.send(&[confirm(3, 2, 0)]);
    script.send(&[place(6, 2, 2.0, false), confirm(6, 1, 0)]);
    assert_eq!((x(&script, 1), x(&script, 2)), (None, Some(2.0)));
}

#[test]
fn objects_are_created_and_destroyed() {
    let mut script = ClientScript::loaded();
    script.send(&[place(3, 1, 1.0, false), confirm(3, 1, 0)]);
    script.send(&[created(6, 70, 1), place(6, 70, 7.0, false)]);
    script.send(&[confirm(6, 2, 3)]);
    let snapshot = script.session.newest().expect("it is complete");
    let made = snapshot.object(ObjectId(70)).expect("it is there");
    assert_eq!(
        (made.class, made.prototype),
        (Some(CLASS), Some(ObjectId(1)))
    );
    script.send(&[lifecycle(9, 70, Lifecycle::Destroyed), confirm(9, 1, 6)]);
    assert_eq!(x(&script, 70), None);
    assert_eq!(script.acknowledged(), [3, 6, 9]);
}

#[test]
fn a_reference_that_is_not_held_drops_the_snapshot() {
    let mut script = ClientScript::loaded();
    script.send(&[place(6, 1, 1.0, false), confirm(6, 1, 3)]);
    assert_eq!(script.session.counters().reference_missing, 1);
    assert_eq!(script.acknowledged(), []);
    script.send(&[place(9, 1, 1.0, false), confirm(9, 1, 0)]);
    assert_eq!(script.acknowledged(), [9]);
}

#[test]
fn a_change_of_what_the_reference_does_not_have_drops_the_snapshot() {
    let mut script = ClientScript::loaded();
    script.send(&[confirm(3, 0, 0)]);
    script.send(&[place(6, 1, 1.0, false), confirm(6, 1, 3)]);
    script.send(&[lifecycle(9, 1, Lifecycle::Destroyed), confirm(9, 1, 3)]);
    assert_eq!(script.session.counters().unknown_object, 2);
    assert_eq!(script.acknowledged(), [3]);
}

#[test]
fn a_creation_of_what_the_reference_has_drops_the_snapshot() {
    let mut script = ClientScript::loaded();
    script.send(&[place(3, 1, 1.0, false), confirm(3, 1, 0)]);
    script.send(&[created(6, 70, 1), confirm(6, 1, 3)]);
    script.send(&[
        created(9, 70, 1),
        place(9, 70, 9.0, false),
        confirm(9, 2, 6),
    ]);
    script.send(&[created(12, 1, 1), confirm(12, 1, 6)]);
    assert_eq!(script.session.counters().created_twice, 2);
    // To another reference the same creation is right.
    script.send(&[
        created(15, 70, 1),
        place(15, 70, 9.0, false),
        confirm(15, 2, 3),
    ]);
    assert_eq!(script.acknowledged(), [3, 6, 15]);
    assert_eq!(x(&script, 70), Some(9.0));
}

#[test]
fn more_changes_than_confirmed_drop_the_snapshot() {
    let mut script = ClientScript::loaded();
    script.send(&[place(3, 1, 1.0, false), place(3, 2, 1.0, false)]);
    script.send(&[confirm(3, 1, 0)]);
    assert_eq!(script.session.counters().count_mismatch, 1);
    assert_eq!(script.acknowledged(), []);
}

#[test]
fn a_repeated_confirmation_is_acknowledged_again() {
    let mut script = ClientScript::loaded();
    script.send(&[confirm(3, 0, 0)]);
    script.send(&[confirm(3, 0, 0)]);
    assert_eq!(script.acknowledged(), [3, 3]);
    script.send(&[confirm(6, 0, 3)]);
    // The server knows of a newer one by now.
    script.send(&[confirm(3, 0, 0)]);
    assert_eq!(script.acknowledged(), [6]);
}

#[test]
fn a_late_snapshot_is_completed_but_not_acknowledged() {
    let mut script = ClientScript::loaded();
    script.send(&[place(3, 1, 1.0, false), confirm(3, 1, 0)]);
    script.send(&[confirm(9, 0, 3)]);
    script.send(&[place(6, 1, 2.0, false), confirm(6, 1, 3)]);
    assert_eq!(script.acknowledged(), [3, 9]);
    assert!(script.session.snapshot(Tick(6)).is_some());
    assert_eq!(
        script.session.newest().map(|newest| newest.tick()),
        Some(Tick(9))
    );
}

#[test]
fn an_unknown_class_keeps_its_snapshot_from_being_complete() {
    let level = |class| LoadedLevel {
        classes: Classes::PerObject(BTreeMap::from([(ObjectId(1), class)])),
        ..loaded()
    };
    let pieces = [
        extra(3, 1, &[0x01, 0, 9]),
        created(3, 70, 1),
        extra(3, 70, &[0x01, 0, 9]),
        confirm(3, 3, 0),
    ];
    let mut script = ClientScript::with_level(level(CLASS));
    script.send(&pieces);
    assert_eq!(script.acknowledged(), [3]);
    for order in permutations(4) {
        let mut script = ClientScript::with_level(level(ClassId(9)));
        order.iter().for_each(|&at| script.send(&[pieces[at]]));
        assert_eq!(script.acknowledged(), []);
    }
}

#[test]
fn an_extra_bundle_that_is_none_is_counted() {
    let mut script = ClientScript::loaded();
    for bundle in [&[0x08, 0][..], &[0x02, 0, 1], &[0x01, 0, 9, 9]] {
        script.send(&[extra(3, 1, bundle)]);
    }
    script.send(&[confirm(3, 1, 0)]);
    assert_eq!(script.session.counters().bad_bundle, 3);
    assert_eq!(script.acknowledged(), []);
}
