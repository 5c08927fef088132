//! Golden vectors of every list and frame, and the vectors that came with the protocol.

mod golden;

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::reone::inspect;
use tickwire_wire::{DecodeError, FieldLog, Trace};

use crate::golden::{Inspect, dir, hex, is_blessing};
use golden::{accepted, refused};

/// Who sends, and on which path.
#[derive(Clone, Copy, Debug)]
enum Way {
    ClientDatagram,
    ClientStream,
    ServerDatagram,
    ServerStream,
}

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
        let bytes = golden.check("reone", inspect_on(way).0);
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let verdict = (inspect_on(way).0)(&bytes, &mut FieldLog::default());
        assert_eq!(verdict, Ok(()), "{}", golden.name);
    }
}

#[test]
fn every_refused_vector_is_refused_where_its_file_says() {
    for (golden, way) in refused() {
        let bytes = golden.check("reone", inspect_on(way).0);
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let verdict = (inspect_on(way).0)(&bytes, &mut FieldLog::default());
        assert!(verdict.is_err(), "{} is accepted", golden.name);
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
    if is_blessing() {
        // The files are being written at this moment.
        return;
    }
    let golden = accepted().into_iter().chain(refused());
    let mut known: BTreeSet<_> = golden.map(|(golden, _)| golden.name.to_owned()).collect();
    known.extend(["huffman", "original-delta"].map(String::from));
    let files = fs::read_dir(dir("reone")).expect("the vectors are there");
    let there: BTreeSet<_> = files
        .map(|file| file.expect("a readable folder").path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, known, "left: in the folder; right: known here");
}
