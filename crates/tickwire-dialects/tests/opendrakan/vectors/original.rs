//! What the original encoder wrote, and what becomes of it here.

use std::fs;

use tickwire_dialects::opendrakan::bundle::{self, Change};
use tickwire_dialects::opendrakan::message::{Message, Way};
use tickwire_dialects::opendrakan::{Field, Kind, Reader, Value, Writer};

use crate::golden::{dir, hex, unhex};
use crate::script::bytes_of;

const ORIGINAL: &str = "original-encoder";

/// What becomes of the original's bytes here.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// Read, and written the same.
    Same,
    /// Read, and written shorter.
    Shorter(&'static str),
    /// An older layout than the one documented: refused.
    OlderLayout,
    /// The boolean byte stands behind the next masks, where the original itself does not find it.
    /// Whatever is read here is not what was meant.
    NotOurs,
}

/// The bytes that are not simply [`Verdict::Same`].
const EXCEPTIONS: [(&str, Verdict); 16] = [
    ("050600050000006869", Verdict::OlderLayout),
    (
        "072400000000000000f83f0107000000221103000000020000000000c03f000000000000000000",
        Verdict::OlderLayout,
    ),
    ("070e00000000000000f83f000400000001", Verdict::OlderLayout),
    (
        "071500000000000000f83f02010000000200000001000000",
        Verdict::OlderLayout,
    ),
    ("0905000400000000", Verdict::OlderLayout),
    ("0a0c00060000000000003f000080bf", Verdict::OlderLayout),
    // An empty pair of masks at the end is read, but not written.
    ("8100010000", Verdict::Shorter("010001")),
    ("8100010000", Verdict::Shorter("010001")),
    // The four, and what the original made of them when it read them back.
    ("8b0044332211000003", Verdict::NotOurs),
    ("8b0044332211000000", Verdict::NotOurs),
    ("8e000107000001", Verdict::NotOurs),
    ("8e000107000000", Verdict::NotOurs),
    ("c00002000109", Verdict::NotOurs),
    ("c000000000", Verdict::NotOurs),
    ("c000010003", Verdict::NotOurs),
    ("c000000001", Verdict::NotOurs),
];

fn fields(kinds: &[Kind]) -> Vec<Field> {
    let field = |&kind| Field { name: "x", kind };
    kinds.iter().map(field).collect()
}

/// The two schemas that the original's bundles were made with.
fn schema(name: &str) -> Option<Vec<Field>> {
    use Kind::{Bool, U8, U32};
    match name {
        "seven-bytes" => Some(fields(&[U8; 7])),
        "mixed" => Some(fields(&[U32, Bool, U8, Bool, U8, U8, Bool, Bool, U8])),
        _ => None,
    }
}

fn way(name: &str) -> Way {
    match name {
        "stream" => Way::ServerStream,
        "datagram" => Way::ServerDatagram,
        "uplink-stream" => Way::ClientStream,
        "uplink-datagram" => Way::ClientDatagram,
        other => panic!("{other} is neither a path nor a schema"),
    }
}

/// Reads bytes and writes them again.
fn again(kind: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut r = Reader::new(bytes);
    let mut written = Vec::new();
    if let Some(fields) = schema(kind) {
        let mut changes = Vec::new();
        bundle::decode(&mut r, &fields, |change| changes.push(change))
            .map_err(|error| error.to_string())?;
        bundle::encode(&mut Writer::new(&mut written, 100), &changes);
    } else {
        let message = Message::decode(&mut r, way(kind)).map_err(|error| error.to_string())?;
        written = bytes_of(&[message]);
    }
    r.finish().map_err(|error| error.to_string())?;
    Ok(written)
}

/// The lines of the file: path or schema, and bytes.
fn lines() -> Vec<(String, Vec<u8>)> {
    let path = dir("opendrakan").join(ORIGINAL).with_extension("hex");
    let text = fs::read_to_string(path).expect("the file is there");
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let kind = words.next().expect("a path or schema").to_owned();
        (kind, unhex(words.next().expect("bytes")))
    };
    text.lines().skip(3).map(line).collect()
}

#[test]
fn vectors_of_the_original_encoder_are_read_and_written_again() {
    let lines = lines();
    assert_eq!(lines.len(), 29);
    for (kind, bytes) in lines {
        let digits = hex(&bytes);
        let exception = EXCEPTIONS.iter().find(|(known, _)| *known == digits);
        let written = again(&kind, &bytes);
        match exception.map_or(Verdict::Same, |(_, verdict)| *verdict) {
            Verdict::Same => assert_eq!(written.map(|bytes| hex(&bytes)), Ok(digits)),
            Verdict::Shorter(short) => {
                assert_eq!(written.map(|bytes| hex(&bytes)), Ok(short.into()));
            }
            Verdict::OlderLayout => assert!(written.is_err(), "{digits} is read"),
            Verdict::NotOurs => assert_ne!(written.map(|bytes| hex(&bytes)), Ok(digits)),
        }
    }
}

#[test]
fn vectors_that_are_not_ours_have_other_bytes_here() {
    let change = |index, value| Change {
        index,
        value,
        jump: false,
    };
    let yes = Value::Bool(true);
    let cases: [(&[Change], &str); 4] = [
        (
            &[
                change(0, Value::U32(0x1122_3344)),
                change(1, yes),
                change(3, yes),
            ],
            "0b004433221103",
        ),
        (
            &[change(1, yes), change(2, Value::U8(7)), change(3, yes)],
            "0e00010701",
        ),
        (&[change(6, yes), change(8, Value::U8(9))], "c00001020009"),
        (&[change(6, yes), change(7, yes)], "c00001010001"),
    ];
    let fields = schema("mixed").expect("it is one");
    for (changes, digits) in cases {
        let mut written = Vec::new();
        bundle::encode(&mut Writer::new(&mut written, 100), changes);
        assert_eq!(hex(&written), digits);
        let mut read = Vec::new();
        bundle::decode(&mut Reader::new(&written), &fields, |change| {
            read.push(change)
        })
        .expect("it is a bundle");
        assert_eq!(read, changes);
    }
}
