//! Golden vectors of every object, and of what is refused.

mod golden;

use std::collections::BTreeSet;

use tickwire_dialects::cppevy::inspect;
use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_wire::FieldLog;

use super::words::{decode, payload};
use crate::golden::{Inspect, check_folder};
use golden::{accepted, refused, streamed};

fn inspector(sender: Sender) -> impl Inspect {
    move |bytes, trace| inspect(sender == Sender::Client, false, bytes, trace)
}

#[test]
fn every_golden_payload_is_read_and_written_to_the_byte() {
    for (golden, sender, timestamp, objects) in accepted() {
        golden.check("cppevy", inspector(sender));
        let read = decode(golden.bytes.clone(), sender);
        assert_eq!(read, (timestamp, objects), "{}", golden.name);
        assert_eq!(payload(read.0, &read.1), golden.bytes, "{}", golden.name);
    }
}

#[test]
fn every_refused_payload_is_refused_where_its_file_says() {
    for (golden, sender) in refused() {
        golden.check_refused("cppevy", inspector(sender));
    }
}

#[test]
fn a_stretch_of_a_stream_is_one_payload_after_another() {
    let golden = streamed();
    golden.check("cppevy", |bytes, trace| inspect(false, true, bytes, trace));
    let verdict = |on_stream| inspect(false, on_stream, &golden.bytes, &mut FieldLog::default());
    assert_eq!(verdict(true), Ok(()));
    assert!(verdict(false).is_err());
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
    let golden = accepted().into_iter().map(|(golden, ..)| golden);
    let golden = golden.chain(refused().into_iter().map(|(golden, _)| golden));
    let known = golden.chain([streamed()]).map(|golden| golden.name);
    check_folder("cppevy", known);
}
