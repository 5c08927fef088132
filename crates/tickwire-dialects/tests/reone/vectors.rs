//! Golden vectors of every list and frame, and the vectors that came with the protocol.

mod golden;

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::reone::inspect;
use tickwire_wire::{FieldLog, Trace};

use crate::golden::{Inspect, check_folder, dir};
use golden::{accepted, refused};

/// Who sends, and on which path.
#[derive(Clone, Copy, Debug)]
enum Way {
    ClientDatagram,
    ClientStream,
    ServerDatagram,
    ServerStream,
}

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

/// The named strings of every line of a file of JSON objects, which hold nothing that is escaped.
pub(super) fn jsonl(name: &str, keys: &[&str]) -> Vec<Vec<String>> {
    let path = dir("reone").join(name).with_extension("jsonl");
    let text = fs::read_to_string(path).expect("the file is there");
    let value = |line: &str, key: &str| {
        let mut parts = line.split('"').skip_while(|part| *part != key).skip(2);
        parts.next().expect("every line has the key").to_owned()
    };
    let line = |line: &str| keys.iter().map(|key| value(line, key)).collect();
    text.lines().map(line).collect()
}

#[test]
fn every_golden_message_is_written_to_the_byte_and_shown() {
    for (golden, way) in accepted() {
        golden.check("reone", inspect_on(way).0);
        let verdict = (inspect_on(way).0)(&golden.bytes, &mut FieldLog::default());
        assert_eq!(verdict, Ok(()), "{}", golden.name);
    }
}

#[test]
fn every_refused_vector_is_refused_where_its_file_says() {
    for (golden, way) in refused() {
        golden.check_refused("reone", inspect_on(way).0);
    }
}

#[test]
fn every_list_and_frame_has_a_golden_file() {
    let mut seen = BTreeSet::new();
    for (golden, way) in accepted() {
        let mut log = FieldLog::default();
        (inspect_on(way).0)(&golden.bytes, &mut log).expect("it is accepted");
        let numbers = log.entries().iter();
        let numbers = numbers.filter(|entry| matches!(entry.name, "list type" | "kind"));
        seen.extend(numbers.map(|entry| entry.meaning));
    }
    // A shot's kind is the game's, and has no name.
    seen.remove("");
    let lists = "CreatureDiff CreatureFull SpatialDiff SpatialFull KeepAlive Ballistics PlayAnimation \
                 VisualEffect Ping Ready Event Parameters Invalid EventAck Last";
    let frames = "Hello Welcome Refused Fetch Resource Loaded Call Result ModuleChanged";
    let expected: BTreeSet<_> = lists.split(' ').chain(frames.split(' ')).collect();
    assert_eq!(seen, expected);
}

#[test]
fn every_file_of_the_vectors_is_used() {
    let golden = accepted().into_iter().chain(refused());
    let known = golden.map(|(golden, _)| golden.name);
    check_folder("reone", known.chain(["huffman", "original-delta"]));
}
