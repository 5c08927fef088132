//! The world in between: blended over three snapshots, moved on a little, never backwards.

use tickwire_dialects::reone::message::{DownElement, DownFrame, Status};
use tickwire_dialects::reone::{CallId, CreatureStatus, ObjectId, SpatialStatus, Vec3};

use super::script::{ClientScript, creature, full};
use crate::driven::ms;

/// A client that knows creature 1, of which snapshot 20 was the first.
fn watching() -> ClientScript {
    let mut script = ClientScript::ready(2);
    script.snapshot(20, 0, &[full(1, 0.0)]);
    let (id, status) = (CallId(1), Status::Ok);
    let answer = b"n_ann\0";
    script.write(&[DownFrame::Result { id, status, answer }]);
    script.forget();
    script
}

/// The next snapshots, each 50 ms after the last.
fn go_on(script: &mut ClientScript, places: impl IntoIterator<Item = (u32, f32)>) {
    for (sequence, x) in places {
        script.pass(ms(50));
        script.snapshot(sequence, 0, &[full(1, x)]);
    }
}

fn shown(script: &mut ClientScript) -> f32 {
    let now = script.now;
    let view = script.session.sample(now).expect("there is a world");
    view.object(ObjectId(1)).expect("it is known").pos.x
}

#[track_caller]
fn check(script: &mut ClientScript, x: f32) {
    let shown = shown(script);
    assert!((shown - x).abs() < 1e-3, "{shown}, not {x}");
}

#[test]
fn things_move_between_snapshots_100_ms_late() {
    let mut script = watching();
    go_on(&mut script, [(21, 1.0), (22, 2.0)]);
    let late = script.session.render_time(script.now);
    assert_eq!(late, Some(ms(1_000)), "snapshot 22 is of 1,100 ms");
    check(&mut script, 0.0);
    script.pass(ms(25));
    check(&mut script, 0.5);
    script.pass(ms(25));
    script.snapshot(23, 0, &[full(1, 3.0)]);
    check(&mut script, 1.0);
    script.pass(ms(40));
    check(&mut script, 1.8);
}

#[test]
fn without_snapshots_things_move_on_for_250_ms_and_then_stand() {
    let mut script = watching();
    go_on(&mut script, [(21, 1.0), (22, 2.0)]);
    script.pass(ms(100));
    check(&mut script, 2.0);
    script.pass(ms(100));
    check(&mut script, 4.0);
    script.pass(ms(150));
    check(&mut script, 7.0);
    script.pass(ms(300));
    check(&mut script, 7.0);
    // The past does not come back.
    script.snapshot(23, 0, &[full(1, 3.0)]);
    check(&mut script, 7.0);
}

#[test]
fn only_three_snapshots_are_shown() {
    let mut script = watching();
    // Five at once, after a pause on the way.
    for (sequence, x) in [(21, 1.0), (22, 2.0), (23, 3.0), (24, 4.0), (25, 5.0)] {
        script.snapshot(sequence, 0, &[full(1, x)]);
    }
    check(&mut script, 3.0);
}

#[test]
fn a_jump_is_not_shown_as_a_movement() {
    let mut script = watching();
    // 100 units a second are 5 from one snapshot to the next.
    go_on(&mut script, [(21, 4.0), (22, 40.0)]);
    script.pass(ms(25));
    check(&mut script, 2.0);
    script.pass(ms(50));
    check(&mut script, 4.0);
    script.pass(ms(25));
    check(&mut script, 40.0);
    script.pass(ms(50));
    check(&mut script, 40.0);
    // Twice as far is no jump when one snapshot is missing.
    let mut script = watching();
    go_on(&mut script, [(21, 0.0)]);
    script.pass(ms(50));
    go_on(&mut script, [(23, 9.0)]);
    check(&mut script, 0.0);
    script.pass(ms(50));
    check(&mut script, 4.5);
}

#[test]
fn turns_go_the_short_way() {
    let turned = |heading| DownElement::CreatureFull {
        id: ObjectId(1),
        status: CreatureStatus {
            heading,
            ..creature(0.0)
        },
    };
    let mut script = watching();
    for (sequence, heading) in [(21, 3.0), (22, -3.0)] {
        script.pass(ms(50));
        script.snapshot(sequence, 0, &[turned(heading)]);
    }
    script.pass(ms(75));
    let now = script.now;
    let view = script.session.sample(now).unwrap();
    let heading = view.object(ObjectId(1)).unwrap().heading;
    assert!(
        (heading.abs() - core::f32::consts::PI).abs() < 1e-3,
        "{heading}"
    );
}

#[test]
fn other_objects_are_shown_without_a_question() {
    let spatial = |x| DownElement::SpatialFull {
        id: ObjectId(9),
        status: SpatialStatus {
            x,
            y: 1.0,
            ..SpatialStatus::default()
        },
    };
    let mut script = ClientScript::ready(0);
    script.snapshot(20, 0, &[spatial(0.0)]);
    script.pass(ms(50));
    script.snapshot(21, 0, &[spatial(2.0)]);
    script.pass(ms(75));
    let now = script.now;
    let view = script.session.sample(now).unwrap();
    let shown = view.object(ObjectId(9)).unwrap();
    assert_eq!(
        (shown.pos, shown.resref),
        (
            Vec3 {
                x: 1.0,
                y: 1.0,
                z: 0.0
            },
            None
        )
    );
    assert!(script.calls().is_empty());
}

#[test]
fn who_has_left_is_gone_when_that_moment_is_shown() {
    let mut script = watching();
    go_on(&mut script, [(21, 1.0)]);
    script.pass(ms(50));
    script.snapshot(22, 0, &[]);
    script.pass(ms(99));
    check(&mut script, 1.0);
    script.pass(ms(1));
    let now = script.now;
    let view = script.session.sample(now).unwrap();
    assert_eq!(view.objects().count(), 0);
}
