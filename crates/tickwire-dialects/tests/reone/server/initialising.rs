//! From the end of loading to the first snapshot.

use tickwire_dialects::reone::message::{Compression, UpElement, UpFrame};
use tickwire_dialects::reone::server_limits::READY_UNDER_WAY;
use tickwire_dialects::reone::{Mode, ObjectId, Seat, ServerConfig, ServerEvent};
use tickwire_session::Session;
use tickwire_state::Vec2;

use tickwire_sim::addr::machine;

use super::script::{ANN, Guest, Script, config, creature, up};
use crate::driven::ms;

const SEAT: Seat = Seat::Player(ObjectId(1));

/// A script with Ann loaded.
fn loaded() -> (Script, Guest) {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    script.write(ann.on, &[UpFrame::Loaded]);
    script.events();
    (script, ann)
}

/// Parameters of a player with creature 1, tick 0, rate 20 and 100 ms.
const PARAMETERS: &[u8] = b"\0\0\0\0\0\0\0\0\0\0\0\0\x83\x01\x14\0\x64\0\x01\x01\0\0\0\x01\0\0\0\0";

#[test]
fn a_ping_after_loading_leads_to_parameters() {
    let (mut script, ann) = loaded();
    script.ping(&ann);
    let client = ann.client;
    assert_eq!(script.events(), [ServerEvent::Joining { client }]);
    assert!(script.datagrams.is_empty(), "the game has to decide first");
    script.ping(&ann);
    assert_eq!(script.events(), [], "once");
    script.admit(client, SEAT);
    assert_eq!(script.taken(ANN), [PARAMETERS]);
}

#[test]
fn parameters_are_repeated_until_ready() {
    let (mut script, ann) = loaded();
    script.ping(&ann);
    script.admit(ann.client, SEAT);
    script.pass(ms(1_050));
    assert_eq!(script.taken(ANN), [PARAMETERS; 11]);
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.taken(ANN), [PARAMETERS], "and no snapshot");
    script.events();
    script.say(&ann, 0, &[UpElement::Ready]);
    let client = ann.client;
    assert_eq!(script.events(), [ServerEvent::Ready { client }]);
    script.pass(ms(500));
    assert!(script.datagrams.is_empty());
    script.publish(&[creature(1, 0.0)]);
    assert_eq!(script.told(ANN).full, [1]);
    assert_eq!(script.session.mode(client), Some(Mode::Fallback));
}

#[test]
fn a_ping_that_overtakes_loaded_is_remembered() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    script.events();
    script.ping(&ann);
    assert_eq!(script.events(), []);
    script.write(ann.on, &[UpFrame::Loaded]);
    let client = ann.client;
    assert_eq!(script.events(), [ServerEvent::Joining { client }]);
    script.admit(client, SEAT);
    assert_eq!(script.taken(ANN).len(), 1);
}

#[test]
fn spectators_and_coding_are_said_in_the_parameters() {
    let mut script = Script::begin(ServerConfig {
        compression: Compression::Huffman,
        ..config()
    });
    let ann = script.greet(0, ANN);
    script.write(ann.on, &[UpFrame::Loaded]);
    script.ping(&ann);
    let seat = Seat::Spectator(Vec2::default());
    script.admit(ann.client, seat);
    let [parameters] = &script.taken(ANN)[..] else {
        panic!("one is sent at once");
    };
    assert_eq!(parameters[18..], *b"\0\0\0\0\0\x01\0\0\0\x01");
}

#[test]
fn ready_without_parameters_means_nothing() {
    let (mut script, ann) = loaded();
    script.say(&ann, 0, &[UpElement::Ready]);
    script.ping(&ann);
    script.say(&ann, 0, &[UpElement::Ready]);
    script.publish(&[creature(1, 0.0)]);
    assert!(script.datagrams.is_empty());
}

#[test]
fn the_newest_address_with_the_token_wins() {
    let (mut script, ann) = Script::playing(config());
    script.publish(&[creature(1, 0.0)]);
    script.datagrams.clear();
    let moved = Guest {
        addr: machine(2, 6_000),
        ..ann
    };
    script.ping(&moved);
    // It is told again what it may have missed, once.
    let [parameters] = &script.taken(moved.addr)[..] else {
        panic!("a ping is answered");
    };
    assert_eq!(parameters[12], 131);
    script.publish(&[creature(1, 0.0)]);
    assert!(script.taken(ANN).is_empty());
    assert_eq!(script.told(moved.addr).sequence, 2);
}

#[test]
fn who_is_ready_a_second_time_holds_nothing() {
    let (mut script, ann) = Script::playing(config());
    let first = script.publish(&[creature(1, 0.0)]);
    script.say(&ann, first, &[]);
    script.ping(&ann);
    script.say(&ann, 0, &[UpElement::Ready]);
    script.datagrams.clear();
    script.publish(&[creature(1, 1.0)]);
    let told = script.told(ANN);
    assert_eq!((told.acknowledged, &told.full[..]), (0, &[1][..]));
    // An acknowledgement from before is no fault, and no baseline.
    script.say(&ann, first, &[]);
    script.publish(&[creature(1, 1.0)]);
    assert_eq!(script.told(ANN).acknowledged, 0);
    assert_eq!(script.session.counters().ack_never_sent, 0);
}

#[test]
fn a_token_from_another_host_is_ignored() {
    let (mut script, ann) = loaded();
    let bytes = up(1, 0, &[UpElement::Ping(ann.token)]);
    script.send_bytes(machine(9, 5_000), &bytes);
    assert!(script.datagrams.is_empty());
    assert_eq!(script.events(), []);
    assert_eq!(script.session.counters().foreign_host, 1);
}

#[test]
fn whoever_never_gets_ready_is_removed() {
    let (mut script, ann) = loaded();
    script.ping(&ann);
    script.admit(ann.client, SEAT);
    script.events();
    script.pass(ms(59_999));
    assert_eq!(script.events(), []);
    script.pass(ms(1));
    let client = ann.client;
    assert_eq!(script.events(), [ServerEvent::Removed { client }]);
    script.datagrams.clear();
    script.pass(ms(10_000));
    assert!(script.datagrams.is_empty());
    assert_eq!(script.session.poll_timeout(), None);
}

#[test]
fn a_spectator_that_becomes_a_player_is_told_until_it_has_heard() {
    let mut script = Script::begin(config());
    let spectator = Seat::Spectator(Vec2::default());
    let ann = script.join(0, ANN, spectator);
    let seq = script.publish(&[creature(1, 0.0)]);
    script.say(&ann, seq, &[]);
    script.events();
    script.datagrams.clear();

    let client = ann.client;
    assert!(script.session.reseat(script.now, client, SEAT));
    script.drain();
    script.pass(ms(200));
    script.publish(&[creature(1, 0.0)]);
    let said = script.taken(ANN);
    assert_eq!(said.len(), 3, "and no snapshot");
    for parameters in said {
        assert_eq!(parameters[12..], PARAMETERS[12..]);
    }
    // What it said when it came is no answer to this.
    script.send_bytes(ANN, &up(2, 0, &[UpElement::Ready]));
    assert_eq!(script.events(), []);
    script.say(&ann, seq, &[UpElement::Ready]);
    assert_eq!(script.events(), [ServerEvent::Ready { client }]);
    script.pass(READY_UNDER_WAY);
    assert_eq!(script.taken(ANN).len(), 30, "it may have been under way");
    script.say(&ann, seq, &[UpElement::Ready]);
    assert_eq!(script.events(), []);
    script.pass(ms(500));
    script.publish(&[creature(1, 1.0)]);
    let told = script.told(ANN);
    assert_eq!((told.acknowledged, &told.full[..]), (0, &[1][..]));
}

#[test]
fn whoever_is_not_there_yet_keeps_its_seat() {
    let (mut script, ann) = loaded();
    assert!(!script.session.reseat(script.now, ann.client, SEAT));
    script.ping(&ann);
    assert!(!script.session.reseat(script.now, ann.client, SEAT));
    script.drain();
    assert!(script.datagrams.is_empty());
}
