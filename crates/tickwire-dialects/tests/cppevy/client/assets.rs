//! Fetching: the list first, then the asset, checked against the list.

use tickwire_dialects::cppevy::limits::ACTION_PATIENCE;
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{
    ActionId, AssetFailure, ClientEvent, EndReason, FetchError, Reason,
};
use tickwire_session::{Ended, Failure};

use crate::driven::ms;
use crate::script::ClientScript;
use crate::words::{asset, failure, piece, success};

const INDEX: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 abc\n";

fn size(bytes: usize) -> Object<'static> {
    let bytes = u32::try_from(bytes).expect("short");
    success(ActionId::ASSET, &bytes.to_le_bytes())
}

/// A client that fetches `abc`, and was told the list.
fn fetching() -> ClientScript {
    let mut c = ClientScript::playing();
    c.act(|now, client| client.fetch(now, "abc").expect("can be asked"));
    assert_eq!(c.said(), [asset(0, "index")]);
    c.tell(&[size(INDEX.len()), piece(0, INDEX.as_bytes())]);
    assert_eq!(c.said(), [asset(0, "abc")]);
    assert_eq!(c.events(), []);
    c
}

fn failed(why: AssetFailure) -> ClientEvent {
    let name = "abc".into();
    ClientEvent::AssetFailed { name, why }
}

#[test]
fn an_asset_is_fetched_with_progress_and_checked() {
    let mut c = fetching();
    c.tell(&[size(3), piece(0, b"a")]);
    let name = "abc".to_owned();
    let progress = ClientEvent::AssetProgress {
        name: name.clone(),
        received: 1,
        total: 3,
    };
    assert_eq!(c.events(), [progress]);
    c.tell(&[piece(1, b"bc")]);
    let bytes = b"abc".to_vec();
    let fetched = ClientEvent::AssetFetched { name, bytes };
    assert_eq!(c.events(), [fetched]);
    // The list is known now.
    c.act(|now, client| client.fetch(now, "abc").unwrap());
    assert_eq!(c.said(), [asset(0, "abc")]);
}

#[test]
fn pieces_come_in_any_order_and_twice() {
    let mut c = fetching();
    c.tell(&[size(3), piece(2, b"c"), piece(0, b"a"), piece(2, b"c")]);
    c.forget();
    c.tell(&[piece(0, b"ab")]);
    assert!(matches!(c.events()[..], [ClientEvent::AssetFetched { .. }]));
    // One that comes again when nothing is fetched, or before the next asset's size is told.
    c.tell(&[piece(0, b"ab")]);
    c.act(|now, client| client.fetch(now, "abc").unwrap());
    c.tell(&[piece(0, b"ab"), size(3), piece(0, b"abc")]);
    assert_eq!(c.counters().unexpected_piece, 2);
    let events = c.events();
    assert!(matches!(events[..], [ClientEvent::AssetFetched { .. }]));
}

#[test]
fn a_piece_that_only_comes_again_is_no_progress() {
    let mut c = fetching();
    c.tell(&[size(3), piece(0, b"ab")]);
    c.forget();
    for _ in 0..ACTION_PATIENCE.as_secs() {
        c.live(ms(1_000));
        c.tell(&[piece(0, b"ab")]);
    }
    assert_eq!(c.events(), [failed(AssetFailure::Stalled)]);
}

#[test]
fn damaged_bytes_are_refused_and_the_list_is_fetched_again() {
    let mut c = fetching();
    c.tell(&[size(3), piece(0, b"abd")]);
    assert_eq!(c.events(), [failed(AssetFailure::Mismatch)]);
    c.act(|now, client| client.fetch(now, "abc").unwrap());
    assert_eq!(c.said(), [asset(0, "index")]);
}

#[test]
fn every_other_way_to_fail_is_told() {
    let mut c = fetching();
    c.tell(&[size(4)]);
    assert_eq!(c.events(), [failed(AssetFailure::Mismatch)]);

    let mut c = fetching();
    c.tell(&[failure(ActionId::ASSET, Reason::Unavailable)]);
    let refused = Failure::Refused(Reason::Unavailable);
    assert_eq!(c.events(), [failed(AssetFailure::Action(refused))]);

    let mut c = fetching();
    c.tell(&[size(3), piece(1, b"bcd")]);
    assert_eq!(c.events(), [failed(AssetFailure::Garbled)]);
    c.tell(&[piece(0, b"abc")]);
    assert_eq!(c.counters().unexpected_piece, 1);

    let mut c = fetching();
    c.tell(&[size(3)]);
    c.live(ACTION_PATIENCE);
    assert_eq!(c.events(), [failed(AssetFailure::Stalled)]);

    let mut c = fetching();
    c.close(Ended::Finished);
    let cut = failed(AssetFailure::Action(Failure::Disconnected));
    let ended = ClientEvent::Ended(EndReason::Disconnected);
    assert_eq!(c.events(), [cut, ended]);
}

#[test]
fn what_is_not_listed_is_not_asked_for() {
    let mut c = ClientScript::playing();
    c.act(|now, client| client.fetch(now, "abc").unwrap());
    c.forget();
    c.tell(&[size(0)]);
    assert_eq!(c.events(), [failed(AssetFailure::NotListed)]);
    assert_eq!(c.said(), []);
}

#[test]
fn the_list_itself_can_be_fetched() {
    let mut c = ClientScript::playing();
    c.act(|now, client| client.fetch(now, "index").unwrap());
    c.tell(&[size(INDEX.len()), piece(0, INDEX.as_bytes())]);
    let fetched = ClientEvent::AssetFetched {
        name: "index".into(),
        bytes: INDEX.into(),
    };
    assert_eq!(c.events(), [fetched]);
}

#[test]
fn one_at_a_time() {
    let mut c = fetching();
    let second = c.act(|now, client| client.fetch(now, "other"));
    assert_eq!(second, Err(FetchError::OneAtATime));
    let mut c = ClientScript::playing();
    let nameless = c.act(|now, client| client.fetch(now, ""));
    assert_eq!(nameless, Err(FetchError::Name));
}

#[test]
fn busy_is_waited_for() {
    let mut c = fetching();
    c.tell(&[failure(ActionId::ASSET, Reason::Busy)]);
    c.pass(ms(50));
    assert_eq!(c.said(), [asset(0, "abc")]);
    c.tell(&[size(3), piece(0, b"abc")]);
    assert!(matches!(c.events()[..], [ClientEvent::AssetFetched { .. }]));
}
