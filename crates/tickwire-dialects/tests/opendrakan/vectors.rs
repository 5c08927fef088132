//! Golden vectors of every message, and the bytes of the original encoder.

mod golden;
mod original;
mod worked;

use std::collections::BTreeSet;

use tickwire_dialects::opendrakan::inspect;
use tickwire_dialects::opendrakan::message::{Kind, Way};
use tickwire_wire::{FieldLog, Trace};

use super::script::{bytes_of, each};
use crate::golden::{Inspect, check_folder, hex};
use golden::{accepted, refused};
use original::ORIGINAL;

/// The reader of what comes a way, and who that is in the words of the files.
fn inspect_on(way: Way) -> (impl Inspect, &'static str) {
    let (from_client, on_stream, sender) = match way {
        Way::ClientDatagram => (true, false, "client by datagram"),
        Way::ClientStream => (true, true, "client on its stream"),
        Way::ServerDatagram => (false, false, "server by datagram"),
        Way::ServerStream => (false, true, "server on the stream"),
    };
    let inspect =
        move |bytes: &[u8], trace: &mut dyn Trace| inspect(from_client, on_stream, bytes, trace);
    (inspect, sender)
}

#[test]
fn every_golden_message_is_read_and_written_to_the_byte() {
    for (golden, way, messages) in accepted() {
        golden.check("opendrakan", inspect_on(way).0);
        let mut expected = messages.iter();
        let mut written = Vec::new();
        each(way, &golden.bytes, |message| {
            assert_eq!(Some(&message), expected.next(), "{}", golden.name);
            written.extend(bytes_of(&[message]));
        });
        assert_eq!(expected.next(), None, "{}", golden.name);
        assert_eq!(hex(&written), hex(&golden.bytes), "{}", golden.name);
    }
}

#[test]
fn every_strict_prefix_of_a_golden_message_is_refused() {
    for (golden, way, messages) in accepted() {
        if messages.len() > 1 {
            continue;
        }
        for length in 1..golden.bytes.len() {
            let cut = &golden.bytes[..length];
            let verdict = (inspect_on(way).0)(cut, &mut FieldLog::default());
            assert!(verdict.is_err(), "{length} bytes of {}", golden.name);
        }
    }
}

#[test]
fn every_refused_vector_is_refused_where_its_file_says() {
    for (golden, way) in refused() {
        golden.check_refused("opendrakan", inspect_on(way).0);
    }
}

#[test]
fn every_type_has_a_golden_file_of_every_way_it_may_come() {
    let seen: BTreeSet<(Kind, Way)> = accepted()
        .iter()
        .flat_map(|(_, way, messages)| messages.iter().map(|message| (message.kind(), *way)))
        .collect();
    let all = Kind::ALL
        .iter()
        .flat_map(|&kind| kind.ways().iter().map(move |&way| (kind, way)));
    assert_eq!(seen, all.collect());
}

#[test]
fn every_file_of_the_vectors_is_used() {
    let golden = accepted().into_iter().map(|(golden, ..)| golden);
    let golden = golden.chain(refused().into_iter().map(|(golden, _)| golden));
    let known = golden.map(|golden| golden.name);
    check_folder("opendrakan", known.chain([ORIGINAL]));
}
