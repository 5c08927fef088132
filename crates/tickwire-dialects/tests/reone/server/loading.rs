//! Resources over the stream.

use std::sync::Arc;

use tickwire_dialects::reone::message::{Base, DownElement, Refusal, UpFrame};
use tickwire_dialects::reone::server_limits::LOADING_PATIENCE;
use tickwire_dialects::reone::{Departure, GLOBAL, Server, ServerConfig, ServerEvent};
use tickwire_session::Session;
use tickwire_session::bulk::Manifest;

use super::script::{ANN, Guest, Said, Script, config, text};
use crate::driven::{Window, ms};

fn fetch(name: &str, offset: u64) -> UpFrame<'_> {
    let name = text(name);
    UpFrame::Fetch { name, offset }
}

/// The bytes of a resource, checked to come in one piece after the other, and to end.
#[track_caller]
fn check_whole(pieces: &[Said], expected_name: &str, from: u64) -> Vec<u8> {
    let mut whole = Vec::new();
    let mut is_over = false;
    for piece in pieces {
        let Said::Piece {
            name,
            total,
            offset,
            bytes,
        } = piece
        else {
            panic!("{piece:?} instead of a piece");
        };
        assert!(!is_over && bytes.len() <= 64 * 1_024);
        assert_eq!(name, expected_name);
        assert_eq!(*offset, from + whole.len() as u64);
        whole.extend(bytes);
        is_over = bytes.is_empty();
        assert_eq!(is_over, offset == total);
    }
    assert!(is_over, "an empty piece ends it");
    whole
}

fn large() -> ServerConfig {
    let mut config = config();
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    let large = ("large".to_owned(), bytes.into());
    config.module.resources.extend([large]);
    config
}

#[test]
fn the_manifest_lists_everything_and_the_base_is_a_packet() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    script.write(ann.on, &[fetch("manifest", 0)]);
    let manifest = check_whole(&script.frames(ann.on), "manifest", 0);
    let manifest = Manifest::parse(&manifest).unwrap();
    let names: Vec<_> = manifest
        .listed()
        .iter()
        .map(|listed| &*listed.name)
        .collect();
    assert_eq!(names, ["base", "rules.txt"]);

    script.write(ann.on, &[fetch("base", 0)]);
    let base = check_whole(&script.frames(ann.on), "base", 0);
    assert_eq!(manifest.listed()[0].size, base.len() as u64);
    let base = Base::decode(&base).unwrap();
    let elements: Vec<_> = base.elements().collect();
    let [
        DownElement::SpatialFull { id, status },
        DownElement::VariableDiff(round),
    ] = elements[..]
    else {
        panic!("{elements:?}");
    };
    assert_eq!((id.0, status.hit_points), (900, 10));
    assert_eq!(
        (round.scope, round.name.as_str(), round.value),
        (GLOBAL, "round", 1)
    );
}

#[test]
fn a_resource_comes_in_pieces_from_any_offset() {
    let mut script = Script::begin(large());
    let ann = script.greet(0, ANN);
    let Some(expected) = large().module.resources.remove("large") else {
        panic!("it was put there");
    };
    for offset in [0_usize, 1, 65_536, 199_999, 200_000] {
        script.write(ann.on, &[fetch("large", offset as u64)]);
        let whole = check_whole(&script.frames(ann.on), "large", offset as u64);
        assert!(whole == expected[offset..]);
    }
}

#[test]
fn a_refused_fetch_leaves_everything_as_it_is() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    for (name, offset, reason) in [
        ("nothing", 0, Refusal::RESOURCE),
        ("../rules.txt", 0, Refusal::RESOURCE),
        ("/etc/passwd", 0, Refusal::RESOURCE),
        ("", 0, Refusal::RESOURCE),
        ("rules.txt", 19, Refusal::OFFSET),
        ("rules.txt", u64::MAX, Refusal::OFFSET),
    ] {
        script.write(ann.on, &[fetch(name, offset)]);
        assert_eq!(script.frames(ann.on), [Said::Refused(reason.0)], "{name}");
    }
    assert!(script.orders.is_empty());
    assert_eq!(script.session.counters().fetch_refused, 6);
    script.write(ann.on, &[fetch("rules.txt", 6)]);
    assert_eq!(
        check_whole(&script.frames(ann.on), "rules.txt", 6),
        b"of the house"
    );
}

#[test]
fn fetches_are_answered_in_order() {
    let mut script = Script::begin(large());
    let ann = script.greet(0, ANN);
    script.write(
        ann.on,
        &[fetch("large", 0), fetch("nothing", 0), fetch("base", 0)],
    );
    let frames = script.frames(ann.on);
    let refused = frames
        .iter()
        .position(|frame| matches!(frame, Said::Refused(_)));
    let refused = refused.expect("one is refused");
    check_whole(&frames[..refused], "large", 0);
    check_whole(&frames[refused + 1..], "base", 0);
}

#[test]
fn pieces_wait_for_room_and_answers_do_not_wait_for_pieces() {
    let mut script = Script::begin(large());
    let ann = script.greet(0, ANN);
    script.give_room(ann.on, 70_000);
    script.write(ann.on, &[fetch("large", 0)]);
    assert_eq!(script.streams[&ann.on].len(), 70_000);
    // A call in between is answered behind the piece that is under way.
    let (id, method) = (tickwire_dialects::reone::CallId(5), text("nonsense"));
    let argument = &[];
    script.write(
        ann.on,
        &[UpFrame::Call {
            id,
            method,
            argument,
        }],
    );
    script.give_room(ann.on, u32::MAX);
    let mut frames = script.frames(ann.on);
    let answer = frames.remove(2);
    assert!(matches!(answer, Said::Result { id: 5, .. }), "{answer:?}");
    assert_eq!(check_whole(&frames, "large", 0).len(), 200_000);
}

#[test]
fn whoever_asks_for_more_than_there_is_is_cut_off() {
    let mut script = Script::begin(config());
    script.window = Window::Once(0);
    let on = script.open(0, ANN);
    script.write_bytes(on, b"\x01\x04\0\0\0\x01\0a\0");
    for _ in 0..4_097 {
        script.write(on, &[fetch("base", 0)]);
    }
    assert_eq!(script.session.clients().count(), 1);
    script.write(on, &[fetch("base", 0)]);
    assert_eq!(script.session.clients().count(), 0);
    script.give_room(on, u32::MAX);
    let last = script.frames(on).pop();
    assert_eq!(last, Some(Said::Refused(Refusal::TOO_SLOW.0)));
}

#[test]
fn a_module_that_cannot_be_served_is_refused() {
    let bytes: Arc<[u8]> = Arc::new([]);
    for name in ["base", "manifest", "../up", "", "/root"] {
        let mut config = config();
        config.module.resources.insert(name.into(), bytes.clone());
        assert!(Server::new(config, [0; 32]).is_err(), "{name}");
    }
    let mut config = config();
    config.module.base.extend(config.module.base.clone());
    assert!(Server::new(config, [0; 32]).is_err());
}

#[track_caller]
fn check_stuck(script: &mut Script, ann: &Guest) {
    script.frames(ann.on);
    script.pass(LOADING_PATIENCE - ms(1));
    assert_eq!(script.session.clients().count(), 1);
    script.pass(ms(1));
    assert_eq!(script.frames(ann.on), [Said::Refused(Refusal::TOO_SLOW.0)]);
    let (client, why) = (ann.client, Departure::FellBehind);
    let left = ServerEvent::Left { client, why };
    assert_eq!(script.events().last(), Some(&left));
    assert_eq!(script.finished(), [ann.on]);
    assert_eq!(script.session.poll_timeout(), None);
}

#[test]
fn hello_and_then_nothing_holds_no_place() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    check_stuck(&mut script, &ann);
    assert_eq!(script.session.counters().loading_stuck, 1);
}

#[test]
fn every_frame_of_a_client_that_loads_is_progress() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    for _ in 0..5 {
        script.pass(LOADING_PATIENCE - ms(1));
        script.write(ann.on, &[fetch("base", 0)]);
    }
    check_stuck(&mut script, &ann);
}

#[test]
fn a_thin_line_that_takes_a_piece_in_time_is_progress() {
    let mut script = Script::begin(large());
    let ann = script.greet(0, ANN);
    script.give_room(ann.on, 0);
    script.write(ann.on, &[fetch("large", 0)]);
    for _ in 0..3 {
        script.pass(LOADING_PATIENCE - ms(1));
        script.give_room(ann.on, 70_000);
    }
    assert_eq!(script.session.clients().count(), 1);
    // Half a piece is none.
    script.give_room(ann.on, 0);
    script.pass(LOADING_PATIENCE);
    assert_eq!(script.session.clients().count(), 0);
}

#[test]
fn whoever_has_loaded_has_to_ping() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    script.write(ann.on, &[UpFrame::Loaded]);
    check_stuck(&mut script, &ann);
}

#[test]
fn another_module_has_to_be_loaded_in_time_too() {
    let (mut script, ann) = Script::playing(config());
    script.change_module("other");
    check_stuck(&mut script, &ann);
}
