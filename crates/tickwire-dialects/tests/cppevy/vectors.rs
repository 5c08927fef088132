//! Golden vectors of every object, and of what is refused.
//!
//! The files are the authority: each is shown as it stands, and what is not refused is decoded and encoded
//! again. There is one encoding of everything.

use std::collections::BTreeSet;

use tickwire_dialects::cppevy::message::{
    AssetRequest, Join, Joined, Object, Offer, Piece, Sender, Summon,
};
use tickwire_dialects::cppevy::{ActionId, EventId, inspect};
use tickwire_wire::{DecodeError, FieldLog, Trace};

use super::script::{Mail, objects};
use super::words::bytes;
use crate::golden::{Golden, check_files};

pub(crate) fn sender(golden: &Golden) -> Sender {
    match golden.sender {
        "client" => Sender::Client,
        "server" => Sender::Server,
        other => panic!("nobody is called {other}"),
    }
}

fn is_stream(golden: &Golden) -> bool {
    golden.name.starts_with("stream-")
}

fn show(golden: &Golden, bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let from_client = sender(golden) == Sender::Client;
    inspect(from_client, is_stream(golden), bytes, trace)
}

/// Every golden file in which nothing is wrong, and what it says.
pub(crate) fn accepted() -> Vec<(Golden, Vec<Object<'static>>)> {
    let read = |golden: Golden| {
        let mut rest = golden.bytes.clone();
        // Reading a payload, it looks whether that is written as the same bytes.
        let all = objects(Mail::take_all(&mut rest, sender(&golden)));
        assert_eq!(rest, [], "{}", golden.name);
        (golden, all)
    };
    check_files("cppevy", show).into_iter().map(read).collect()
}

/// The content of one of the protocol's own objects, and what it is when it was decoded and encoded again.
fn rewrite<'a>(object: &Object<'a>) -> Option<(&'a [u8], Vec<u8>)> {
    let content = match object {
        Object::Action { data, .. } | Object::Event { data, .. } => data.bytes(),
        Object::Success { message, .. } => message.bytes(),
        _ => return None,
    };
    let again = match *object {
        Object::Action { action, .. } => match action {
            ActionId::JOIN => Join::decode(content).map(|it| bytes(|w| it.encode(w))),
            ActionId::OFFER => Offer::decode(content).map(|it| bytes(|w| it.encode(w))),
            ActionId::PIECE => Piece::decode(content).map(|it| bytes(|w| it.encode(w))),
            ActionId::ASSET => AssetRequest::decode(content).map(|it| bytes(|w| it.encode(w))),
            _ => return None,
        },
        Object::Success { action, .. } if action == ActionId::JOIN => {
            Joined::decode(content).map(|it| bytes(|w| it.encode(w)))
        }
        Object::Event { event, .. } => match event {
            EventId::SUMMON => Summon::decode(content).map(|it| bytes(|w| it.encode(w))),
            EventId::ASSET => Piece::decode(content).map(|it| bytes(|w| it.encode(w))),
            _ => return None,
        },
        _ => return None,
    };
    Some((content, again.expect("it decodes")))
}

#[test]
fn every_content_of_the_protocol_s_own_is_written_again_to_the_byte() {
    let mut count = 0;
    for (golden, objects) in accepted() {
        for object in objects {
            if let Some((content, again)) = rewrite(&object) {
                assert_eq!(again, content, "{}", golden.name);
                count += 1;
            }
        }
    }
    assert!(count >= 7, "{count} of seven kinds");
}

#[test]
fn only_a_stream_is_one_payload_after_another() {
    for (golden, _) in accepted().iter().filter(|(golden, _)| is_stream(golden)) {
        let from_client = sender(golden) == Sender::Client;
        let verdict = inspect(from_client, false, &golden.bytes, &mut FieldLog::default());
        assert!(verdict.is_err(), "{}", golden.name);
    }
}

#[test]
fn every_kind_and_every_reason_has_a_golden_file() {
    let mut kinds = BTreeSet::new();
    let mut reasons = BTreeSet::new();
    for object in accepted().into_iter().flat_map(|(_, objects)| objects) {
        kinds.insert(match object {
            Object::State { .. } => 1,
            Object::StateRequest { .. } => 2,
            Object::Event { .. } => 3,
            Object::Action { .. } => 4,
            Object::Success { .. } => 5,
            Object::Failure { reason, .. } => {
                reasons.insert(reason.name());
                6
            }
        });
    }
    assert_eq!(kinds, (1..=6).collect());
    assert_eq!(reasons.len(), 6);
}
