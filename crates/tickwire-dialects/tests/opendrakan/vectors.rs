//! Golden vectors of every message, and the bytes of the original encoder.
//!
//! The files are the authority: each is shown as it stands, and what is not refused is decoded and encoded
//! again.

mod original;
mod worked;

use std::collections::BTreeSet;

use tickwire_dialects::opendrakan::inspect;
use tickwire_dialects::opendrakan::message::{Kind, Way};
use tickwire_wire::{DecodeError, FieldLog, Trace};

use crate::golden::{Golden, files, hex};
use crate::script::{bytes_of, each};

/// Who sends, and on which path, in the words of the files.
const SENDERS: [(&str, Way); 4] = [
    ("client by datagram", Way::ClientDatagram),
    ("client on its stream", Way::ClientStream),
    ("server by datagram", Way::ServerDatagram),
    ("server on the stream", Way::ServerStream),
];

fn way(golden: &Golden) -> Way {
    let known = SENDERS.iter().find(|(sender, _)| *sender == golden.sender);
    known.expect("a sender that there is").1
}

fn show(way: Way, bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let from_client = matches!(way, Way::ClientDatagram | Way::ClientStream);
    let on_stream = matches!(way, Way::ClientStream | Way::ServerStream);
    inspect(from_client, on_stream, bytes, trace)
}

fn is_refused(golden: &Golden) -> bool {
    golden.name.starts_with("refused-")
}

/// The files of what is accepted.
fn accepted() -> impl Iterator<Item = Golden> {
    let files = files("opendrakan").into_iter();
    files.filter(|golden| !is_refused(golden))
}

#[test]
fn every_golden_file_is_shown_as_it_stands() {
    for golden in files("opendrakan") {
        let inspect = |bytes: &[u8], trace: &mut dyn Trace| show(way(&golden), bytes, trace);
        match is_refused(&golden) {
            true => golden.check_refused("opendrakan", inspect),
            false => golden.check("opendrakan", inspect),
        }
    }
}

#[test]
fn every_accepted_file_is_written_again_to_the_byte() {
    for golden in accepted() {
        let mut written = Vec::new();
        each(way(&golden), &golden.bytes, |message| {
            written.extend(bytes_of(&[message]));
        });
        assert_eq!(hex(&written), hex(&golden.bytes), "{}", golden.name);
    }
}

#[test]
fn every_strict_prefix_of_a_golden_message_is_refused() {
    for golden in accepted() {
        let mut ends = BTreeSet::new();
        let mut end = 0;
        each(way(&golden), &golden.bytes, |message| {
            end += bytes_of(&[message]).len();
            ends.insert(end);
        });
        for length in (1..golden.bytes.len()).filter(|length| !ends.contains(length)) {
            let verdict = show(
                way(&golden),
                &golden.bytes[..length],
                &mut FieldLog::default(),
            );
            assert!(verdict.is_err(), "{length} bytes of {}", golden.name);
        }
    }
}

#[test]
fn every_type_has_a_golden_file_of_every_way_it_may_come() {
    let mut seen = BTreeSet::new();
    for golden in accepted() {
        let way = way(&golden);
        each(way, &golden.bytes, |message| {
            seen.insert((message.kind(), way));
        });
    }
    let all = Kind::ALL
        .iter()
        .flat_map(|&kind| kind.ways().iter().map(move |&way| (kind, way)));
    assert_eq!(seen, all.collect());
}
