//! Golden vectors of every list and frame, and the vectors that came with the protocol.
//!
//! The files are the authority: each is shown as it stands, and what is not refused is decoded and encoded
//! again. There is one encoding of everything that our own writer sends.

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::reone::message::{
    Direction, Down, Packet, PacketWriter, Up, decode_frame, encode_frame,
};
use tickwire_dialects::reone::{Reader, inspect};
use tickwire_wire::{DecodeError, FieldLog, Trace};

use crate::golden::{Golden, check_files, dir, hex};

/// Who sends, and on which path, in the words of the files.
const SENDERS: [(&str, bool, bool); 4] = [
    ("client by datagram", true, false),
    ("client on its stream", true, true),
    ("server by datagram", false, false),
    ("server on the stream", false, true),
];

fn way(golden: &Golden) -> (bool, bool) {
    let known = SENDERS.iter().find(|(sender, ..)| *sender == golden.sender);
    let (_, from_client, on_stream) = known.expect("a sender that there is");
    (*from_client, *on_stream)
}

fn show(golden: &Golden, bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let (from_client, on_stream) = way(golden);
    inspect(from_client, on_stream, bytes, trace)
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

/// The bytes of a packet, decoded and encoded again.
fn rewrite_packet<D: Direction>(bytes: &[u8]) -> Vec<u8> {
    let packet = Packet::<D>::decode(bytes).expect("it decodes");
    let mut out = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut out, &packet.header, bytes.len());
    for element in packet.elements() {
        writer.push(&element).expect("it fitted before");
    }
    writer.finish();
    out
}

/// The same of frames.
fn rewrite_frames<D: Direction>(bytes: &[u8]) -> Vec<u8> {
    let mut r = Reader::new(bytes);
    let mut out = Vec::new();
    while !r.is_empty() {
        let frame = decode_frame::<D>(&mut r).expect("it decodes");
        encode_frame::<D>(&frame, &mut out).expect("it fitted before");
    }
    out
}

#[test]
fn every_accepted_file_is_written_again_to_the_byte() {
    for golden in check_files("reone", show) {
        let bytes = &golden.bytes;
        let again = match way(&golden) {
            (true, false) => rewrite_packet::<Up>(bytes),
            (true, true) => rewrite_frames::<Up>(bytes),
            (false, false) => rewrite_packet::<Down>(bytes),
            (false, true) => rewrite_frames::<Down>(bytes),
        };
        assert_eq!(hex(&again), hex(bytes), "{}", golden.name);
    }
}

#[test]
fn every_list_and_frame_has_a_golden_file() {
    let mut seen = BTreeSet::new();
    for golden in check_files("reone", show) {
        let mut log = FieldLog::default();
        show(&golden, &golden.bytes, &mut log).expect("it is accepted");
        let numbers = log.entries().iter();
        let numbers = numbers.filter(|entry| matches!(entry.name, "list type" | "kind"));
        seen.extend(numbers.map(|entry| entry.meaning));
    }
    // A shot's kind is the game's, and has no name.
    seen.remove("");
    let lists = "CreatureDiff CreatureFull SpatialDiff SpatialFull KeepAlive Ballistics PlayAnimation \
                 VisualEffect Ping Ready Event Parameters Invalid EventAck Last InventoryDiff VariableDiff Velocity";
    let frames = "Hello Welcome Refused Fetch Resource Loaded Call Result ModuleChanged";
    let expected: BTreeSet<_> = lists.split(' ').chain(frames.split(' ')).collect();
    assert_eq!(seen, expected);
}
