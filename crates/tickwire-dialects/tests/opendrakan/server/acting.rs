//! What players do, and what the game says.

use std::time::Duration;

use tickwire_dialects::opendrakan::message::{Action, ActionState, AnalogAction, Message, Way};
use tickwire_dialects::opendrakan::{
    Animation, AssetRef, ClientId, DatabaseId, ObjectId, ObjectTalk, SendError, ServerEvent, To,
};

use crate::script::{ServerScript, bytes_of, config, each, machine, ms};

fn action(real_time: f64) -> Message<'static> {
    Message::Action(Action {
        real_time,
        code: 4,
        state: ActionState::Begin,
    })
}

/// When the game is told that something happened which claims to be of this time.
fn told(script: &mut ServerScript, real_time: f64) -> Duration {
    let on = tickwire_session::StreamId::Accepted(0);
    script.write(on, &[action(real_time)]);
    match script.events()[..] {
        [ServerEvent::Acted { at, .. }] => at,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn times_of_actions_are_clamped_to_the_last_quarter_of_a_second() {
    let mut script = ServerScript::with(config(1));
    script.attach(0, machine(2, 5_000));
    script.events();
    script.ticks(120);
    assert_eq!(told(&mut script, 1.9), ms(1_900));
    assert_eq!(told(&mut script, 1.5), ms(1_750));
    assert_eq!(told(&mut script, -8.0), ms(1_750));
    assert_eq!(told(&mut script, 2.5), ms(2_000));
    assert_eq!(told(&mut script, f64::INFINITY), ms(2_000));
    assert_eq!(told(&mut script, f64::NEG_INFINITY), ms(1_750));
}

#[test]
fn sticks_are_told_as_they_are() {
    let mut script = ServerScript::with(config(1));
    let on = script.attach(0, machine(2, 5_000));
    script.events();
    script.write(
        on,
        &[Message::AnalogAction(AnalogAction {
            real_time: 0.0,
            code: 6,
            x: 0.5,
            y: -1.0,
        })],
    );
    let steered = ServerEvent::Steered {
        client: ClientId(1),
        at: Duration::ZERO,
        code: 6,
        x: 0.5,
        y: -1.0,
    };
    assert_eq!(script.events(), [steered]);
}

#[test]
fn a_stream_cut_anywhere_reads_the_same() {
    let bytes = bytes_of(&[action(0.0), action(0.0), action(0.0)]);
    for cut in 1..bytes.len() {
        let mut script = ServerScript::with(config(1));
        let on = script.attach(0, machine(2, 5_000));
        script.events();
        script.write_bytes(on, &bytes[..cut]);
        script.write_bytes(on, &bytes[cut..]);
        assert_eq!(script.events().len(), 3, "cut at {cut}");
    }
}

#[test]
fn more_actions_than_any_player_makes_are_dropped() {
    let mut script = ServerScript::with(config(1));
    let on = script.attach(0, machine(2, 5_000));
    script.events();
    let many = vec![action(0.0); 1_000];
    script.write(on, &many);
    assert_eq!(script.events().len(), 256);
    assert_eq!(script.session.counters().too_many_actions, 744);
    script.pass(ms(50));
    script.write(on, &many);
    assert_eq!(script.events().len(), 10);
}

#[test]
fn what_the_game_says_goes_out_with_the_time_of_its_tick() {
    let mut script = ServerScript::with(config(2));
    let on = script.attach(0, machine(2, 5_000));
    let other = script.attach(1, machine(3, 5_000));
    script.ticks(29);
    script.streams.clear();
    let asset = AssetRef {
        database: DatabaseId(1),
        asset: 7,
    };
    let talk = ObjectTalk {
        channel: 2,
        sender: ObjectId(1),
        receiver: ObjectId(2),
    };
    let animation = Animation {
        object: ObjectId(1),
        animation: asset,
        channel: 0,
        speed: 1.0,
    };
    script.session.send_global(To::All, 1, b"all").unwrap();
    let one = To::One(ClientId(1));
    script.session.send_object(one, talk, b"one").unwrap();
    script.session.animate(animation).unwrap();
    script.session.play_sound(asset).unwrap();
    script.ticks(1);
    let heard = |on| {
        let mut heard = Vec::new();
        each(Way::ServerStream, &script.streams[&on], |message| {
            let (real_time, word) = match message {
                Message::GlobalMessage {
                    real_time, body, ..
                }
                | Message::ObjectMessage {
                    real_time, body, ..
                } => (real_time, String::from_utf8_lossy(body).into_owned()),
                Message::ObjectAnimation { real_time, .. } => (real_time, "animation".into()),
                Message::Sound { real_time, .. } => (real_time, "sound".into()),
                other => panic!("unexpected {other:?}"),
            };
            assert_eq!(real_time, 0.5);
            heard.push(word);
        });
        heard
    };
    assert_eq!(heard(on), ["all", "one", "animation", "sound"]);
    assert_eq!(heard(other), ["all", "animation", "sound"]);
}

#[test]
fn who_has_not_joined_neither_acts_nor_is_spoken_to() {
    let mut script = ServerScript::with(config(2));
    let on = script.open(0, machine(2, 5_000));
    let greeting = script.streams[&on].len();
    script.write(on, &[action(0.0)]);
    script.session.send_global(To::All, 1, b"all").unwrap();
    let one = To::One(ClientId(1));
    script.session.send_global(one, 1, b"one").unwrap();
    script.pass(ms(1));
    assert_eq!(script.streams[&on].len(), greeting);
    assert_eq!(script.events(), []);
    assert_eq!(script.session.counters().too_early_actions, 1);
}

#[test]
fn what_no_client_could_read_is_refused() {
    let mut script = ServerScript::with(config(2));
    let asset = AssetRef {
        database: DatabaseId(2),
        asset: 7,
    };
    assert_eq!(
        script.session.play_sound(asset),
        Err(SendError::UnknownDatabase)
    );
    let long = vec![0; 60_001];
    let sent = script.session.send_global(To::All, 1, &long);
    assert_eq!(sent, Err(SendError::TooLong));
}
