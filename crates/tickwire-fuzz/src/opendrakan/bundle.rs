//! State bundles of any schema.

use tickwire_dialects::opendrakan::bundle::{self, Change};
use tickwire_dialects::opendrakan::{Field, Kind, Reader, Writer};

use crate::script::Script;

/// Reads a bundle of a schema that the first bytes choose, and writes what was read.
///
/// # Panics
/// If states come out of order or of another kind than the schema's, if what is written is longer than
/// what was read, is not read as the same, or is read before all of it is there.
pub fn opendrakan_bundle(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let states = usize::from(script.u8()) % (STATES_MAX + 1);
    let fields: Vec<_> = (0..states)
        .map(|_| Field {
            name: "state",
            kind: Kind::ALL[usize::from(script.u8()) % Kind::ALL.len()],
        })
        .collect();
    let rest = script.rest();
    let mut changes = Vec::new();
    let mut r = Reader::new(rest);
    let decoded = bundle::decode(&mut r, &fields, |change| changes.push(change));
    assert!(changes.is_sorted_by(|a, b| a.index < b.index));
    for change in &changes {
        assert_eq!(change.value.kind(), fields[change.index].kind);
    }
    if decoded.is_err() {
        return;
    }
    let mut written = Vec::new();
    bundle::encode(&mut Writer::new(&mut written, usize::MAX / 2), &changes);
    assert!(written.len() <= r.position(), "the shortest form is longer");
    for length in 0..written.len() {
        let cut = bundle::decode(&mut Reader::new(&written[..length]), &fields, drop);
        assert!(cut.is_err(), "{length} bytes are taken for all");
    }
    let mut again = Vec::new();
    let mut r = Reader::new(&written);
    let decoded = bundle::decode(&mut r, &fields, |change| again.push(change));
    assert!(decoded.is_ok() && r.is_empty());
    assert_eq!(changes.len(), again.len());
    let is_same = |(a, b): (&Change, &Change)| {
        a.index == b.index && a.jump == b.jump && a.value.is_same(b.value)
    };
    assert!(changes.iter().zip(&again).all(is_same));
}

/// Enough for several groups.
const STATES_MAX: usize = 40;
