//! Events to the game: repeated until acknowledged, or sent once.

use tickwire_dialects::reone::client_limits::{EVENTS_UNACKNOWLEDGED, UNRELIABLE_WAITING};
use tickwire_dialects::reone::message::DownElement;
use tickwire_dialects::reone::{EventId, SendError};
use tickwire_session::{Path, Room, Session};

use super::script::{ClientScript, SERVER, keep};
use crate::driven::ms;
use crate::golden::unhex;

fn ack(id: u32) -> DownElement<'static> {
    DownElement::EventAck(EventId(id))
}

/// The ids of the events in each datagram since this was last asked.
fn ids(script: &mut ClientScript) -> Vec<Vec<u32>> {
    let uplinks = script.uplinks().into_iter();
    let ids = uplinks.map(|uplink| uplink.events.iter().map(|event| event.0).collect());
    ids.collect()
}

fn say(script: &mut ClientScript, kind: u8, content: &[u8]) -> u32 {
    let id = script
        .session
        .send_event(kind, content)
        .expect("there is room");
    script.drain();
    id.0
}

#[test]
fn an_event_goes_out_at_once() {
    let mut script = ClientScript::playing();
    assert_eq!(say(&mut script, 7, b"hi"), 1);
    // Packet 4, snapshot 1, nothing shown; Event 1 of kind 7, two bytes.
    let event = "040000000100000000000000 8201 01000000 07 02 6869";
    assert_eq!(script.taken(SERVER), [unhex(&event.replace(' ', ""))]);
}

#[test]
fn events_are_repeated_with_every_datagram_until_acknowledged() {
    let mut script = ClientScript::playing();
    say(&mut script, 1, &[]);
    say(&mut script, 1, &[]);
    script.snapshot(2, 1, &[keep(1)]);
    assert_eq!(ids(&mut script), [vec![1], vec![1, 2], vec![1, 2]]);
    script.snapshot(3, 1, &[keep(1), ack(1)]);
    assert_eq!(ids(&mut script), [vec![2]]);
    // While no snapshot comes, on its own.
    script.pass(ms(300));
    assert_eq!(ids(&mut script), [[2], [2], [2]]);
    script.control(&[ack(2)]);
    script.pass(ms(500));
    assert_eq!(ids(&mut script), [[]; 0]);
    assert_eq!(say(&mut script, 1, &[]), 3);
    // An older acknowledgement comes late.
    script.control(&[ack(1)]);
    script.snapshot(4, 1, &[keep(1)]);
    assert_eq!(ids(&mut script), [[3], [3]]);
}

#[test]
fn an_acknowledgement_may_jump_but_not_beyond_what_was_sent() {
    let mut script = ClientScript::playing();
    for _ in 0..5 {
        say(&mut script, 1, &[]);
    }
    script.control(&[ack(6)]);
    assert_eq!(script.session.counters().ack_never_sent, 1);
    script.datagrams.clear();
    script.control(&[ack(4)]);
    script.snapshot(2, 1, &[]);
    assert_eq!(ids(&mut script), [[5]]);
}

#[test]
fn what_does_not_fit_a_datagram_waits_in_order() {
    let mut script = ClientScript::playing();
    for _ in 0..8 {
        script.session.send_event(1, &[9; 255]).unwrap();
    }
    script.drain();
    assert_eq!(ids(&mut script), [[1, 2, 3, 4]]);
    script.control(&[ack(3)]);
    script.pass(ms(100));
    assert_eq!(ids(&mut script), [[4, 5, 6, 7]]);
}

#[test]
fn too_many_and_too_long_are_refused() {
    let mut script = ClientScript::playing();
    let long = script.session.send_event(1, &[0; 256]);
    assert_eq!(long, Err(SendError::TooLong));
    for _ in 0..EVENTS_UNACKNOWLEDGED {
        say(&mut script, 1, &[]);
    }
    let more = script.session.send_event(1, &[]);
    assert_eq!(more, Err(SendError::TooManyWaiting));
    script.control(&[ack(1)]);
    assert_eq!(say(&mut script, 1, &[]), 257);
    for _ in 0..UNRELIABLE_WAITING {
        script.session.send_unreliable(1, &[]).unwrap();
    }
    let more = script.session.send_unreliable(1, &[]);
    assert_eq!(more, Err(SendError::TooManyWaiting));
}

#[test]
fn an_unreliable_event_is_sent_once() {
    let mut script = ClientScript::playing();
    script.session.send_unreliable(9, b"psst").unwrap();
    script.drain();
    assert_eq!(script.uplinks()[0].events, [(0, 9, b"psst".to_vec())]);
    script.snapshot(2, 1, &[]);
    script.pass(ms(500));
    assert_eq!(ids(&mut script), [[]; 1]);
    // More than fit one datagram go into several, at once.
    for _ in 0..9 {
        script.session.send_unreliable(9, &[1; 255]).unwrap();
    }
    script.drain();
    let counts: Vec<_> = ids(&mut script).iter().map(Vec::len).collect();
    assert_eq!(counts, [4, 4, 1]);
}

#[test]
fn a_narrow_path_is_kept_to() {
    let mut script = ClientScript::playing();
    let path = Path::Datagrams(SERVER);
    let narrow = Room {
        bytes: u32::MAX,
        largest: 300,
    };
    script.session.handle_room(script.now, path, narrow);
    for _ in 0..4 {
        script.session.send_event(1, &[9; 100]).unwrap();
    }
    script.drain();
    assert_eq!(ids(&mut script), [[1, 2]]);
    script.session.handle_room(script.now, path, Room::CLOSED);
    script.pass(ms(1_000));
    assert!(script.datagrams.is_empty());
}

#[test]
fn the_round_trip_is_how_long_an_event_takes() {
    let mut script = ClientScript::playing();
    for id in 1..=60 {
        say(&mut script, 1, &[]);
        script.pass(ms(80));
        script.control(&[ack(id)]);
    }
    let mut mean = None;
    script
        .session
        .visit_peers(&mut |peer| mean = peer.round_trip);
    assert!(mean.unwrap().abs_diff(ms(80)) < ms(2), "{mean:?}");
}

/// The server's tick that each datagram names, and the events in it.
fn seen(script: &mut ClientScript) -> Vec<(u32, Vec<u32>)> {
    let uplinks = script.uplinks().into_iter();
    let seen = uplinks.map(|uplink| {
        let events = uplink.events.iter().map(|event| event.0);
        (uplink.tick, events.collect())
    });
    seen.collect()
}

/// The server's tick that is shown.
fn show(script: &mut ClientScript) -> u32 {
    let now = script.now;
    script.session.sample(now).expect("there is a world").tick()
}

/// A client with snapshots 20 to 22. The last is of 1,100 ms and came 50 ms ago: what is shown is 1,050 ms,
/// snapshot 21, tick 63.
fn at_tick_63() -> ClientScript {
    let mut script = ClientScript::ready(2);
    for sequence in 20..23 {
        script.snapshot(sequence, 0, &[keep(1)]);
        script.pass(ms(50));
    }
    script.forget();
    script
}

#[test]
fn a_packet_that_is_full_names_the_tick_of_the_last_event_in_it() {
    let mut script = at_tick_63();
    assert_eq!(show(&mut script), 63);
    for _ in 0..4 {
        say(&mut script, 1, &[7; 250]);
    }
    script.pass(ms(20));
    assert_eq!(show(&mut script), 64);
    script.forget();
    say(&mut script, 1, &[7; 250]);
    assert_eq!(seen(&mut script), [(63, vec![1, 2, 3, 4])]);
    script.control(&[ack(1)]);
    say(&mut script, 1, &[]);
    assert_eq!(seen(&mut script), [(64, vec![2, 3, 4, 5, 6])]);
}

#[test]
fn a_packet_names_the_tick_that_was_shown_when_its_newest_event_was_made() {
    let mut script = at_tick_63();
    assert_eq!(show(&mut script), 63);
    say(&mut script, 1, &[]);
    script.pass(ms(20));
    say(&mut script, 1, &[]);
    assert_eq!(show(&mut script), 64, "a share of 0.4 of three ticks");
    say(&mut script, 1, &[]);
    let all = [(63, vec![1]), (63, vec![1, 2]), (64, vec![1, 2, 3])];
    assert_eq!(seen(&mut script), all);
    // What is repeated is about what was seen then; without events it is about now.
    script.pass(ms(20));
    assert_eq!(show(&mut script), 65);
    script.snapshot(23, 0, &[keep(1)]);
    script.snapshot(24, 0, &[keep(1), ack(3)]);
    assert_eq!(seen(&mut script), [(64, vec![1, 2, 3]), (65, vec![])]);
}
