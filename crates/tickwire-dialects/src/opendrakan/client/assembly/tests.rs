//! Floods: what is kept of them stays within the bounds at every step.

use super::*;

/// Adds changes, each of a tick and an object; returns how many found no room.
fn flood<'a>(changes: impl Iterator<Item = (u64, u32, ObjectChange<'a>)>) -> usize {
    let mut assemblies = Assemblies::default();
    let mut refused = 0;
    for (tick, object, change) in changes {
        let added = assemblies.add(Tick(tick), ObjectId(object), change);
        refused += usize::from(added.is_err());
        assert!(assemblies.by_tick.len() <= ASSEMBLIES_MAX);
        assert!(assemblies.objects() <= ASSEMBLED_OBJECTS_MAX);
        assert!(assemblies.unresolved_bytes() <= UNRESOLVED_MAX);
    }
    refused
}

const RUNNING: ObjectChange<'static> = ObjectChange::Lifecycle(Lifecycle::Running);

#[test]
fn a_change_each_of_a_million_snapshots() {
    assert_eq!(flood((1..1_000_000).map(|tick| (tick, 7, RUNNING))), 0);
}

#[test]
fn a_million_objects_of_ten_snapshots() {
    let objects = 0..1_000_000;
    let refused = flood(objects.map(|object| (3 + u64::from(object % 10), object, RUNNING)));
    assert_eq!(refused, 0, "the older ones give way");
}

#[test]
fn a_million_objects_of_one_snapshot() {
    let refused = flood((0..1_000_000).map(|object| (3, object, RUNNING)));
    assert_eq!(refused, 1_000_000 - OBJECTS_MAX);
}

#[test]
fn a_hundred_megabytes_of_extra_states_of_unknown_classes() {
    let bundle = [1; 1_000];
    let extra = ObjectChange::ExtraStates(&bundle);
    assert_eq!(
        flood((0..100_000).map(|n| (3 + u64::from(n % 9), n, extra))),
        0
    );
    let refused = flood((0..100_000).map(|n| (3, n, extra)));
    assert_eq!(refused, 100_000 - UNRESOLVED_MAX / unresolved_cost(&bundle));
}
