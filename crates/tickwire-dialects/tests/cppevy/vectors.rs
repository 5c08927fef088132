//! Golden vectors of every object, and of what is refused.

mod golden;

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::cppevy::inspect;
use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_wire::{DecodeError, FieldLog, Trace};

use super::words::{decode, payload};
use crate::golden::{Inspect, dir, hex, is_blessing};
use golden::{accepted, refused, streamed};

fn of_client(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    inspect(true, false, bytes, trace)
}

fn of_server(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    inspect(false, false, bytes, trace)
}

fn of_server_s_stream(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    inspect(false, true, bytes, trace)
}

fn inspector(sender: Sender) -> Inspect {
    match sender {
        Sender::Client => of_client,
        Sender::Server => of_server,
    }
}

#[test]
fn every_golden_payload_is_read_and_written_to_the_byte() {
    for (golden, sender, timestamp, objects) in accepted() {
        let bytes = golden.check("cppevy", inspector(sender));
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let read = decode(bytes.clone(), sender);
        assert_eq!(read, (timestamp, objects), "{}", golden.name);
        assert_eq!(payload(read.0, &read.1), bytes, "{}", golden.name);
    }
}

#[test]
fn every_refused_payload_is_refused_where_its_file_says() {
    for (golden, sender) in refused() {
        let bytes = golden.check("cppevy", inspector(sender));
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let verdict = inspector(sender)(&bytes, &mut FieldLog::default());
        assert!(verdict.is_err(), "{} is accepted", golden.name);
    }
}

#[test]
fn a_stretch_of_a_stream_is_one_payload_after_another() {
    let golden = streamed();
    let bytes = golden.check("cppevy", of_server_s_stream);
    let verdict = of_server_s_stream(&bytes, &mut FieldLog::default());
    assert_eq!(verdict, Ok(()));
    assert!(of_server(&bytes, &mut FieldLog::default()).is_err());
}

#[test]
fn every_kind_and_every_reason_has_a_golden_file() {
    let mut kinds = BTreeSet::new();
    let mut reasons = BTreeSet::new();
    for (_, _, _, objects) in accepted() {
        for object in objects {
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
    }
    assert_eq!(kinds, (1..=6).collect());
    assert_eq!(reasons.len(), 6);
}

#[test]
fn every_file_is_used() {
    if is_blessing() {
        // The files are being written at this moment.
        return;
    }
    let golden = accepted().into_iter().map(|(golden, ..)| golden);
    let known: BTreeSet<_> = golden
        .chain(refused().into_iter().map(|(golden, _)| golden))
        .chain([streamed()])
        .map(|golden| golden.name.to_owned())
        .collect();
    let files = fs::read_dir(dir("cppevy")).expect("the vectors are there");
    let there: BTreeSet<_> = files
        .map(|file| file.expect("a readable folder").path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        there, known,
        "left: in vectors/cppevy; right: known to the tests"
    );
}
