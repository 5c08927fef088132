//! Golden vectors of every message, and the bytes of the original encoder.

mod golden;
mod original;
mod worked;

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::opendrakan::inspect;
use tickwire_dialects::opendrakan::message::Way;
use tickwire_wire::{DecodeError, FieldLog, Trace};

use super::script::{bytes_of, each};
use crate::golden::{Inspect, dir, hex, is_blessing};
use golden::{accepted, refused};
use original::ORIGINAL;

fn inspect_on(way: Way) -> (Inspect, &'static str) {
    type Shown = Result<(), DecodeError>;
    fn client_datagram(bytes: &[u8], trace: &mut dyn Trace) -> Shown {
        inspect(true, false, bytes, trace)
    }
    fn client_stream(bytes: &[u8], trace: &mut dyn Trace) -> Shown {
        inspect(true, true, bytes, trace)
    }
    fn server_datagram(bytes: &[u8], trace: &mut dyn Trace) -> Shown {
        inspect(false, false, bytes, trace)
    }
    fn server_stream(bytes: &[u8], trace: &mut dyn Trace) -> Shown {
        inspect(false, true, bytes, trace)
    }
    match way {
        Way::ClientDatagram => (client_datagram, "client by datagram"),
        Way::ClientStream => (client_stream, "client on its stream"),
        Way::ServerDatagram => (server_datagram, "server by datagram"),
        Way::ServerStream => (server_stream, "server on the stream"),
    }
}

#[test]
fn every_golden_message_is_read_and_written_to_the_byte() {
    for (golden, way, messages) in accepted() {
        let bytes = golden.check("opendrakan", inspect_on(way).0);
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let mut expected = messages.iter();
        let mut written = Vec::new();
        each(way, &bytes, |message| {
            assert_eq!(Some(&message), expected.next(), "{}", golden.name);
            written.extend(bytes_of(&[message]));
        });
        assert_eq!(expected.next(), None, "{}", golden.name);
        assert_eq!(hex(&written), hex(&bytes), "{}", golden.name);
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
        let bytes = golden.check("opendrakan", inspect_on(way).0);
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let verdict = (inspect_on(way).0)(&bytes, &mut FieldLog::default());
        assert!(verdict.is_err(), "{} is accepted", golden.name);
    }
}

#[test]
fn every_type_has_a_golden_file_of_every_way_it_may_come() {
    let seen: BTreeSet<u8> = accepted()
        .iter()
        .flat_map(|(_, _, messages)| messages)
        .map(|message| message.id())
        .collect();
    assert_eq!(seen, (0..=14).collect());
}

#[test]
fn every_file_of_the_vectors_is_used() {
    if is_blessing() {
        // The files are being written at this moment.
        return;
    }
    let golden = accepted().into_iter().map(|(golden, ..)| golden);
    let golden = golden.chain(refused().into_iter().map(|(golden, _)| golden));
    let mut known: BTreeSet<_> = golden.map(|golden| golden.name.to_owned()).collect();
    known.insert(ORIGINAL.into());
    let files = fs::read_dir(dir("opendrakan")).expect("the vectors are there");
    let there: BTreeSet<_> = files
        .map(|file| file.expect("a readable folder").path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, known, "left: in the folder; right: known here");
}
