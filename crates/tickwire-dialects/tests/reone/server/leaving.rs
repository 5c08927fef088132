//! Silence, other modules, and the end of a stream.

use tickwire_dialects::reone::message::{Refusal, UpElement, UpFrame};
use tickwire_dialects::reone::{Departure, EventId, ModuleNumber, ObjectId, Seat, ServerEvent};

use super::script::{ANN, Guest, Said, Script, config, creature, event, text, up};
use crate::driven::ms;

const SEAT: Seat = Seat::Player(ObjectId(1));

#[test]
fn a_minute_of_silence_alone_removes_nobody() {
    let (mut script, _) = Script::playing(config());
    for _ in 0..31 {
        script.publish(&[creature(1, 0.0)]);
    }
    script.pass(ms(100_000));
    assert_eq!(script.events(), []);
}

#[test]
fn many_snapshots_without_acknowledgement_alone_remove_nobody() {
    let (mut script, ann) = Script::playing(config());
    for _ in 0..2_000 {
        script.publish(&[creature(1, 0.0)]);
        // It is there, and acknowledges nothing.
        script.say(&ann, 0, &[]);
    }
    assert_eq!(script.events(), []);
}

#[test]
fn both_together_remove_the_player_and_not_the_client() {
    let (mut script, ann) = Script::playing(config());
    let heard = script.now;
    for _ in 0..32 {
        script.publish(&[creature(1, 0.0)]);
    }
    let client = ann.client;
    script.pass((heard + ms(59_999)).since(script.now));
    assert_eq!(script.events(), []);
    script.pass(ms(1));
    assert_eq!(script.events(), [ServerEvent::Removed { client }]);
    script.datagrams.clear();
    script.publish(&[creature(1, 0.0)]);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.clients().count(), 1);
    // It comes back with its token, and begins with the base.
    script.ping(&ann);
    assert_eq!(script.events(), [ServerEvent::Joining { client }]);
    script.admit(client, SEAT);
    script.say(&ann, 31, &[UpElement::Ready]);
    script.datagrams.clear();
    let seq = script.publish(&[creature(1, 0.0)]);
    let told = script.told(ANN);
    assert_eq!((told.sequence, told.acknowledged), (seq, 0));
    assert_eq!(seq, 34, "sequences go on");
}

#[test]
fn the_thirty_second_snapshot_can_be_the_last_straw() {
    let (mut script, ann) = Script::playing(config());
    script.pass(ms(61_000));
    for _ in 0..32 {
        assert_eq!(script.events(), []);
        script.publish(&[creature(1, 0.0)]);
    }
    script.pass(ms(1));
    let client = ann.client;
    assert_eq!(script.events(), [ServerEvent::Removed { client }]);
}

/// Lets Ann be removed, and come back.
fn come_back(script: &mut Script, ann: &Guest) {
    for _ in 0..32 {
        script.publish(&[]);
    }
    script.pass(ms(60_000));
    script.ping(ann);
    script.admit(ann.client, SEAT);
    script.say(ann, 0, &[UpElement::Ready]);
    script.events();
}

#[test]
fn whoever_comes_back_may_count_events_from_one_again() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(1, 7), event(2, 7), event(3, 7)]);
    script.session.processed(ann.client, EventId(3));
    let seq = script.publish(&[]);
    // It has the snapshot that says that all three are done.
    script.say(&ann, seq, &[]);
    come_back(&mut script, &ann);
    script.send_bytes(ANN, &up(1, 0, &[event(1, 9)]));
    assert_eq!(script.events(), [], "it was held up");
    script.say(&ann, 0, &[event(1, 8)]);
    let events = script.events();
    assert!(
        matches!(events[..], [ServerEvent::Event { kind: 8, .. }]),
        "{events:?}"
    );
}

#[test]
fn whoever_comes_back_and_repeats_an_event_is_not_heard_twice() {
    let (mut script, ann) = Script::playing(config());
    script.say(&ann, 0, &[event(1, 7)]);
    script.session.processed(ann.client, EventId(1));
    // The acknowledgement is lost.
    come_back(&mut script, &ann);
    script.say(&ann, 0, &[event(1, 7), event(2, 8)]);
    let events = script.events();
    assert!(
        matches!(events[..], [ServerEvent::Event { kind: 8, .. }]),
        "{events:?}"
    );
}

#[test]
fn another_module_sends_everybody_back_to_loading() {
    let (mut script, ann) = Script::playing(config());
    let first = script.publish(&[creature(1, 0.0)]);
    script.say(&ann, first, &[]);
    script.change_module("tar_m02ab");
    assert_eq!(script.session.module(), ModuleNumber(2));
    assert_eq!(
        script.frames(ann.on),
        [Said::ModuleChanged(2, "tar_m02ab".into())]
    );
    script.datagrams.clear();
    script.publish(&[creature(1, 0.0)]);
    assert!(script.datagrams.is_empty(), "not before it is ready again");
    // A ping is not enough: it has to load first.
    script.ping(&ann);
    assert_eq!(script.events(), []);
    script.write(ann.on, &[UpFrame::Loaded]);
    let client = ann.client;
    assert_eq!(script.events(), [ServerEvent::Joining { client }]);
    script.admit(client, SEAT);
    let [parameters] = &script.taken(ANN)[..] else {
        panic!("parameters are sent again");
    };
    assert_eq!(parameters[23..27], [2, 0, 0, 0], "the module's number");
    script.say(&ann, first, &[UpElement::Ready]);
    let seq = script.publish(&[creature(1, 0.0)]);
    let told = script.told(ANN);
    assert_eq!((seq, told.sequence, told.acknowledged), (3, 3, 0));
}

#[test]
fn after_a_change_of_module_hello_is_welcome_once_more() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    script.change_module("tar_m02ab");
    script.frames(ann.on);
    let (version, name) = (1, text("ann"));
    script.write(ann.on, &[UpFrame::Hello { version, name }]);
    let frames = script.frames(ann.on);
    let [Said::Welcome { token, module, .. }] = frames[..] else {
        panic!("{frames:?} instead of Welcome");
    };
    assert_eq!((token, module), (ann.token, 2));
    script.write(ann.on, &[UpFrame::Hello { version, name }]);
    assert_eq!(script.frames(ann.on), [Said::Refused(Refusal::HELLO.0)]);
}

#[test]
fn the_end_of_the_stream_is_the_end_of_the_client() {
    let (mut script, ann) = Script::playing(config());
    script.close(ann.on);
    let (client, why) = (ann.client, Departure::Disconnected);
    assert_eq!(script.events(), [ServerEvent::Left { client, why }]);
    script.publish(&[creature(1, 0.0)]);
    assert!(script.datagrams.is_empty());
    // Another stream is another client.
    let again = script.join(1, ANN, SEAT);
    assert_ne!((again.client, again.token), (ann.client, ann.token));
}

#[test]
fn a_game_can_send_a_client_away() {
    let (mut script, ann) = Script::playing(config());
    let reason = Refusal(128);
    script
        .session
        .kick(script.now, ann.client, reason, text("that was not nice"));
    script.drain();
    assert_eq!(script.frames(ann.on), [Said::Refused(128)]);
    assert_eq!(script.finished(), [ann.on]);
    let (client, why) = (ann.client, Departure::Kicked);
    assert_eq!(script.events(), [ServerEvent::Left { client, why }]);
}
