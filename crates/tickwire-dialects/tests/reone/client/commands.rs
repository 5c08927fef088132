//! Shots, animations and effects: each once, late ones faster, the latest not at all.

use tickwire_dialects::reone::client_limits::{COMMANDS_REMEMBERED, SHOT_LIFE, SHOTS_MAX};
use tickwire_dialects::reone::message::{
    Ballistics, DownElement, PlayAnimation, Speed, VisualEffect,
};
use tickwire_dialects::reone::{ClientEvent, ObjectId, SnapshotSeq, Vec3};

use super::script::{ClientScript, config, keep, parameters, shelf, text};
use crate::driven::ms;

fn animation(at: u32) -> DownElement<'static> {
    DownElement::PlayAnimation(PlayAnimation {
        id: ObjectId(1),
        at: SnapshotSeq(at),
        flags: 2,
        speed: Speed(0x8000),
        resref: text("g8r1"),
    })
}

fn effect(at: u32, resref: &'static str) -> DownElement<'static> {
    DownElement::VisualEffect(VisualEffect {
        id: ObjectId(1),
        at: SnapshotSeq(at),
        resref: text(resref),
    })
}

fn shot(at: u32, x: f32) -> Ballistics {
    Ballistics {
        kind: 3,
        origin: Vec3 { x, y: 0.0, z: 0.0 },
        at: SnapshotSeq(at),
        owner: ObjectId(1),
        heading: 1.0,
    }
}

/// The speed at which an animation plays that is so many snapshots behind.
fn speed_behind(behind: u32) -> Option<u32> {
    let mut script = ClientScript::ready(2);
    script.snapshot(100, 0, &[keep(1)]);
    script.events();
    script.control(&[animation(100 - behind)]);
    match script.events()[..] {
        [ClientEvent::Animation { speed, .. }] => Some(speed.0),
        [] => None,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn animations_catch_up_and_the_latest_are_dropped() {
    let speeds = [0, 10, 11, 20, 21, 30].map(speed_behind);
    let [once, twice, thrice] = [1, 2, 3].map(|times| Some(0x8000 * times));
    assert_eq!(speeds, [once, once, twice, twice, thrice, thrice]);
    assert_eq!([31, 64, 99].map(speed_behind), [None; 3]);
}

#[test]
fn a_command_of_the_future_is_not_late() {
    let mut script = ClientScript::playing();
    script.control(&[animation(2), effect(500, "v_fire")]);
    assert_eq!(script.events().len(), 2);
}

#[test]
fn commands_come_once_however_they_come() {
    let mut script = ClientScript::playing();
    let fired = shot(2, 1.0);
    let all = [
        DownElement::Ballistics(fired),
        animation(2),
        effect(2, "v_fire"),
    ];
    script.control(&all);
    let events = script.events();
    assert_eq!(events.len(), 3);
    assert_eq!(events[0], ClientEvent::Shot(fired));
    let flash = ClientEvent::Effect {
        id: ObjectId(1),
        at: SnapshotSeq(2),
        resref: "v_fire".into(),
    };
    assert_eq!(events[2], flash);
    script.control(&all);
    for sequence in 2..=32 {
        let mut elements = vec![keep(1)];
        elements.extend(all);
        script.snapshot(sequence, 1, &elements);
    }
    let again = script.events();
    let snapshots = |event: &ClientEvent| matches!(event, ClientEvent::Snapshot(_));
    assert!(again.iter().all(snapshots), "{again:?}");
    // What differs in anything that names it is another one.
    let same_place = Ballistics {
        heading: 2.0,
        ..fired
    };
    script.control(&[DownElement::Ballistics(same_place)]);
    assert_eq!(script.events(), []);
    script.control(&[
        DownElement::Ballistics(shot(2, 1.5)),
        DownElement::Ballistics(shot(3, 1.0)),
        effect(2, "v_smoke"),
        effect(3, "v_fire"),
    ]);
    assert_eq!(script.events().len(), 4);
}

#[test]
fn commands_long_over_are_dropped() {
    let mut script = ClientScript::ready(2);
    script.snapshot(100, 0, &[keep(1)]);
    script.events();
    script.control(&[effect(35, "v_fire"), DownElement::Ballistics(shot(35, 0.0))]);
    assert_eq!(script.events(), []);
    assert_eq!(script.session.counters().command_late, 2);
    script.control(&[effect(36, "v_fire")]);
    assert_eq!(script.events().len(), 1);
}

/// The ages of the shots in the air, in milliseconds.
fn ages(script: &ClientScript) -> Vec<u128> {
    let shots = script.session.shots(script.now);
    shots.map(|flight| flight.age.as_millis()).collect()
}

#[test]
fn a_shot_flies_from_its_moment_on_for_as_long_as_it_lives() {
    let mut config = config();
    config.shot_lives.set(3, ms(500));
    let mut script = ClientScript::with(config);
    script.accept();
    script.welcome();
    script.serve(&shelf(2));
    script.control(&[DownElement::Parameters(parameters())]);
    script.snapshot(20, 0, &[keep(1)]);
    script.control(&[DownElement::Ballistics(shot(20, 0.0))]);
    // Shown 100 ms late, so that it begins when its owner is seen to shoot.
    assert_eq!(ages(&script), []);
    script.pass(ms(100));
    assert_eq!(ages(&script), [0]);
    script.pass(ms(499));
    assert_eq!(ages(&script), [499]);
    script.pass(ms(1));
    assert_eq!(ages(&script), []);
}

#[test]
fn shots_are_forgotten_when_they_are_over_hit_or_too_many() {
    assert_eq!(SHOT_LIFE, ms(2_000));
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    let fire = |script: &mut ClientScript, at, x| {
        script.control(&[DownElement::Ballistics(shot(at, x))]);
    };
    fire(&mut script, 1, 1.0);
    fire(&mut script, 1, 2.0);
    script.pass(ms(150));
    assert_eq!(ages(&script), [50, 50]);
    script.session.end_shots(|shot| shot.origin.x == 1.0);
    assert_eq!(ages(&script), [50]);
    // A duplicate does not bring it back.
    fire(&mut script, 1, 1.0);
    assert_eq!(ages(&script), [50]);
    for number in 0..2 * SHOTS_MAX {
        fire(&mut script, 1, 10.0 + number as f32);
    }
    assert_eq!(ages(&script).len(), SHOTS_MAX);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut script = ClientScript::playing();
    for number in 0..COMMANDS_REMEMBERED + 10 {
        script.control(&[DownElement::Ballistics(shot(2, number as f32))]);
        script.events();
    }
    // The first was forgotten for the last.
    script.control(&[DownElement::Ballistics(shot(2, 0.0))]);
    assert_eq!(script.events().len(), 1);
    let last = (COMMANDS_REMEMBERED + 9) as f32;
    script.control(&[DownElement::Ballistics(shot(2, last))]);
    assert_eq!(script.events(), []);
}
