//! Assets: told by name, sent in pieces, and never in anybody's way.

use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ActionId, Audience, EventId, Reason};

use crate::driven::{Window, ms};
use crate::script::{ServerScript, WIDE, stream};
use crate::words::{GONG, action, asset, event, failure, piece, success};

/// A server with an asset of this many bytes called `hull`, and a client that plays.
fn with_asset(size: usize) -> (ServerScript, Vec<u8>) {
    let mut s = ServerScript::begin();
    let bytes: Vec<u8> = (0..=255).cycle().take(size).collect();
    s.act(|_, server| server.add_asset("hull", &bytes).expect("a good asset"));
    s.play(1);
    (s, bytes)
}

fn told_size(size: u32) -> Object<'static> {
    success(ActionId::ASSET, &size.to_le_bytes())
}

#[test]
fn an_asset_comes_in_pieces_of_240_bytes() {
    let (mut s, bytes) = with_asset(500);
    s.send(1, &[asset(0, "hull")]);
    assert_eq!(
        s.hears(1),
        [
            told_size(500),
            piece(0, &bytes[..240]),
            piece(240, &bytes[240..480]),
            piece(480, &bytes[480..]),
        ]
    );
    s.send(1, &[asset(300, "hull")]);
    assert_eq!(s.hears(1), [told_size(500), piece(300, &bytes[300..]),]);
}

#[test]
fn an_offset_at_or_beyond_the_end_brings_nothing() {
    let (mut s, _) = with_asset(500);
    for offset in [500, 501, u32::MAX] {
        s.send(1, &[asset(offset, "hull")]);
        assert_eq!(s.hears(1), [told_size(500)], "{offset}");
    }
    s.act(|_, server| server.add_asset("empty", &[]).unwrap());
    s.send(1, &[asset(0, "empty")]);
    assert_eq!(s.hears(1), [told_size(0)]);
}

#[test]
fn the_index_lists_hash_size_and_name() {
    let (mut s, _) = with_asset(0);
    s.act(|_, server| server.add_asset("abc", b"abc").unwrap());
    s.send(1, &[asset(0, "index")]);
    let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 abc\n\
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0 hull\n";
    assert_eq!(
        s.hears(1),
        [
            told_size(u32::try_from(text.len()).unwrap()),
            piece(0, text.as_bytes())
        ]
    );
}

#[test]
fn what_is_not_there_is_unavailable_and_what_makes_no_sense_an_error() {
    let (mut s, _) = with_asset(10);
    s.send(
        1,
        &[
            asset(0, "other"),
            asset(0, ""),
            action(ActionId::ASSET, &[0, 0, 0]),
            action(ActionId::ASSET, &[0, 0, 0, 0, 0xff]),
        ],
    );
    let answer = |reason| failure(ActionId::ASSET, reason);
    assert_eq!(
        s.hears(1),
        [
            answer(Reason::Unavailable),
            answer(Reason::Unavailable),
            answer(Reason::Error),
            answer(Reason::Error)
        ]
    );
}

#[test]
fn one_at_a_time_and_a_second_is_busy() {
    let (mut s, _) = with_asset(500);
    s.send(1, &[asset(0, "hull"), asset(0, "index"), asset(0, "gone")]);
    let heard = s.hears(1);
    let answer = |reason| failure(ActionId::ASSET, reason);
    assert_eq!(
        heard[..3],
        [
            told_size(500),
            answer(Reason::Busy),
            answer(Reason::Unavailable)
        ]
    );
    assert_eq!(heard.len(), 6);
    s.send(1, &[asset(0, "index")]);
    assert!(matches!(s.hears(1)[0], Object::Success { .. }));
}

#[test]
fn an_asset_asked_for_by_datagram_is_answered_there_and_comes_by_stream() {
    let (mut s, bytes) = with_asset(100);
    s.cast(1, &[asset(0, "hull")]);
    assert_eq!(s.catches(1), [told_size(100)]);
    assert_eq!(s.hears(1), [piece(0, &bytes)]);
}

#[test]
fn an_event_waits_for_one_piece_at_most() {
    let (mut s, _) = with_asset(100_000);
    // The stream has passed on nothing since the answer.
    s.window = Window::Once(0);
    s.send(1, &[asset(0, "hull")]);
    let heard = s.hears(1);
    assert_eq!(heard, [told_size(100_000)]);
    s.give_room(stream(1), 64 * 1_024);
    assert_eq!(s.hears(1).len(), 1, "one piece, and no second behind it");
    s.act(|now, server| server.event(now, Audience::All, GONG, &[]).unwrap());
    assert_eq!(s.hears(1), [event(GONG, &[])]);
    for _ in 0..10 {
        s.act(|now, server| server.event(now, Audience::All, GONG, &[]).unwrap());
        s.give_room(stream(1), 64 * 1_024);
        let heard = s.hears(1);
        let pieces = |object: &Object<'_>| match object {
            Object::Event { event, .. } => *event == EventId::ASSET,
            _ => false,
        };
        assert_eq!(heard.iter().filter(|object| pieces(object)).count(), 1);
    }
}

#[test]
fn a_stream_that_takes_a_byte_at_a_time_gets_everything_in_order() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1_000).collect();
    let mut s = ServerScript::begin();
    s.window = Window::Again(1);
    s.act(|_, server| server.add_asset("hull", &bytes).unwrap());
    s.play(1);
    s.send(1, &[asset(0, "hull")]);
    let heard = s.hears(1);
    assert_eq!(heard[0], told_size(1_000));
    assert_eq!(heard[1], piece(0, &bytes[..240]));
    assert_eq!(heard.len(), 6);
}

#[test]
fn a_stream_that_becomes_narrow_does_not_stop_an_asset() {
    let (mut s, _) = with_asset(1_000);
    s.window = Window::Again(600);
    s.give_room(stream(1), 600);
    s.send(1, &[asset(0, "hull")]);
    assert_eq!(s.hears(1), [told_size(1_000)]);
    s.live(ms(5_100), &[1]);
    assert_eq!(s.hears(1).len(), 5);
}

#[test]
fn an_asset_that_is_replaced_arrives_as_it_was_asked_for() {
    let (mut s, bytes) = with_asset(1_000);
    s.window = Window::Once(0);
    s.send(1, &[asset(0, "hull")]);
    s.act(|_, server| server.add_asset("hull", b"new").unwrap());
    s.window = WIDE;
    s.give_room(stream(1), 64 * 1_024);
    assert_eq!(s.hears(1).last(), Some(&piece(960, &bytes[960..])));
    s.send(1, &[asset(0, "hull")]);
    assert_eq!(s.hears(1), [told_size(3), piece(0, b"new")]);
}
