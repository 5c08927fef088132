//! The world in between, and events at their moment.

use tickwire_dialects::opendrakan::message::{Action, ActionState, Message, Way};
use tickwire_dialects::opendrakan::{ActError, AssetRef, ClientEvent, DatabaseId, ObjectId};
use tickwire_state::Vec2;

use super::assembling::place;
use crate::script::{ClientScript, STREAM, confirm, each, ms};

/// A full snapshot of nothing.
pub(super) fn empty(tick: u64) -> Message<'static> {
    confirm(tick, 0, 0)
}

fn x_at(script: &mut ClientScript, millis: u64) -> Option<f32> {
    let view = script.session.sample_at(ms(millis))?;
    Some(view.object(ObjectId(1))?.pose.translation.x)
}

#[track_caller]
fn check(script: &mut ClientScript, millis: u64, x: f32) {
    let shown = x_at(script, millis).expect("it is there");
    assert!((shown - x).abs() < 1e-3, "{shown} at {millis} ms, not {x}");
}

#[test]
fn things_move_between_two_snapshots_and_a_little_beyond() {
    let mut script = ClientScript::loaded();
    assert!(script.session.sample_at(ms(0)).is_none());
    script.send(&[place(6, 1, 0.0, false), confirm(6, 1, 0)]);
    script.send(&[place(12, 1, 10.0, false), confirm(12, 1, 6)]);
    check(&mut script, 100, 0.0);
    check(&mut script, 150, 5.0);
    check(&mut script, 250, 15.0);
    check(&mut script, 450, 35.0);
    check(&mut script, 900, 35.0);
    // Time does not go back.
    check(&mut script, 150, 35.0);
}

#[test]
fn what_jumped_is_here_or_there() {
    let mut script = ClientScript::loaded();
    script.send(&[place(6, 1, 0.0, false), confirm(6, 1, 0)]);
    script.send(&[place(12, 1, 100.0, true), confirm(12, 1, 6)]);
    check(&mut script, 199, 0.0);
    check(&mut script, 200, 100.0);
    check(&mut script, 300, 100.0);
}

#[test]
fn the_picture_is_late_by_the_delay() {
    let mut script = ClientScript::loaded();
    // An arrival every 50 ms of what was true that moment.
    for tick in 1..=40 {
        script.send(&[
            place(tick * 3, 1, tick as f32, false),
            confirm(tick * 3, 1, 0),
        ]);
        script.send(&[place(tick * 3, 1, tick as f32, false)]);
        script.pass(ms(50));
    }
    // The last one shows 2,000 ms, and is 50 ms old.
    let shown = script.session.render_time(script.now).expect("it runs");
    assert!(shown.abs_diff(ms(1_950)) < ms(2), "{shown:?}");
    let now = script.now;
    let view = script.session.sample(now).expect("there is a world");
    assert!(view.time().abs_diff(ms(1_950)) < ms(2));
    assert_eq!(view.objects().count(), 1);
}

#[test]
fn events_come_in_the_order_of_their_moments_when_these_are_shown() {
    let mut script = ClientScript::loaded();
    let sound = |real_time, asset| Message::Sound {
        real_time,
        sound: AssetRef {
            database: DatabaseId(0),
            asset,
        },
    };
    let animation = Message::ObjectAnimation {
        real_time: 0.12,
        object: ObjectId(1),
        animation: AssetRef {
            database: DatabaseId(0),
            asset: 2,
        },
        channel: 0,
        speed: 1.0,
    };
    script.write(&[sound(0.15, 3), animation, sound(0.1, 1), sound(0.3, 4)]);
    script.send(&[empty(6)]);
    script.send(&[confirm(12, 0, 6)]);
    script.events();
    let mut heard = |millis| -> Vec<u16> {
        script.session.sample_at(ms(millis));
        let asset = |event| match event {
            ClientEvent::Sound { sound, .. } => Some(sound.asset),
            ClientEvent::Animation { animation, .. } => Some(animation.asset),
            _ => None,
        };
        script.events().into_iter().filter_map(asset).collect()
    };
    assert_eq!(heard(100), [1]);
    assert_eq!(heard(119), []);
    assert_eq!(heard(160), [2, 3]);
    assert_eq!(heard(299), []);
    assert_eq!(heard(300), [4]);
}

#[test]
fn messages_come_when_they_arrive() {
    let mut script = ClientScript::loaded();
    script.write(&[Message::GlobalMessage {
        channel: 5,
        real_time: 99.0,
        body: b"hi",
    }]);
    let heard = ClientEvent::GlobalMessage {
        channel: 5,
        at: ms(99_000),
        body: b"hi".to_vec(),
    };
    assert_eq!(script.events(), [heard]);
}

#[test]
fn actions_carry_the_moment_that_the_player_sees() {
    let mut script = ClientScript::loaded();
    script.send(&[empty(6)]);
    script.send(&[confirm(12, 0, 6)]);
    script.session.sample_at(ms(125));
    let now = script.now;
    script.session.act(now, 4, ActionState::End).unwrap();
    let away = Vec2 {
        x: f32::NAN,
        y: 0.0,
    };
    assert_eq!(script.session.steer(now, 6, away), Err(ActError::NotFinite));
    script.drain();
    let mut sent = Vec::new();
    each(Way::ClientStream, &script.streams[&STREAM], |message| {
        if let Message::Action(action) = message {
            sent.push(action);
        }
    });
    let action = Action {
        real_time: 0.125,
        code: 4,
        state: ActionState::End,
    };
    assert_eq!(sent, [action]);
}
