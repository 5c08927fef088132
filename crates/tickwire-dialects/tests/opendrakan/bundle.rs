//! State bundles to the byte. What holds for any schema and any bytes is in the fuzz target.

use tickwire_dialects::opendrakan::bundle::{self, Change};
use tickwire_dialects::opendrakan::{BASIC, Field, Kind, Reader, Value, Writer};
use tickwire_wire::DecodeError;

use crate::golden::{hex, unhex};

fn encode(changes: &[Change]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bundle::encode(&mut Writer::new(&mut bytes, 4_096), changes);
    bytes
}

fn decode(fields: &[Field], bytes: &[u8]) -> Result<Vec<Change>, DecodeError> {
    let mut r = Reader::new(bytes);
    let mut changes = Vec::new();
    bundle::decode(&mut r, fields, |change| changes.push(change))?;
    r.finish()?;
    Ok(changes)
}

fn fields(kinds: &[Kind]) -> Vec<Field> {
    let field = |&kind| Field { name: "x", kind };
    kinds.iter().map(field).collect()
}

#[track_caller]
fn check(kinds: &[Kind], digits: &str, expected: &[(usize, Value, bool)]) {
    let change = |&(index, value, jump)| Change { index, value, jump };
    let changes: Vec<_> = expected.iter().map(change).collect();
    let bytes = unhex(digits);
    assert_eq!(decode(&fields(kinds), &bytes), Ok(changes.clone()));
    assert_eq!(hex(&encode(&changes)), digits);
}

#[test]
fn booleans_next_to_each_other_share_a_byte() {
    use Kind::{Bool, U8};
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    // An absent state between two present booleans does not part them.
    check(
        &[Bool, U8, Bool],
        "050002",
        &[(0, no, false), (2, yes, false)],
    );
    // A present one does.
    check(
        &[Bool, U8, Bool],
        "0700012a01",
        &[(0, yes, false), (1, Value::U8(42), false), (2, yes, false)],
    );
    // The end of a group does too.
    check(
        &[Bool; 9],
        "ff007f030002",
        &[
            (0, yes, false),
            (1, yes, false),
            (2, yes, false),
            (3, yes, false),
            (4, yes, false),
            (5, yes, false),
            (6, yes, false),
            (7, no, false),
            (8, yes, false),
        ],
    );
}

#[test]
fn the_eighth_state_needs_a_second_group() {
    use Kind::U8;
    check(&[U8; 8], "80000101ff", &[(7, Value::U8(255), true)]);
    check(&[U8; 15], "8000800001000c", &[(14, Value::U8(12), false)]);
    check(&[U8; 15], "0000", &[]);
}

#[test]
fn one_empty_group_at_the_end_is_read() {
    let one = [Kind::U8];
    let expected = Change {
        index: 0,
        value: Value::U8(1),
        jump: false,
    };
    assert_eq!(
        decode(&fields(&one), &unhex("8100010000")),
        Ok(vec![expected])
    );
    // But not two: no state could be meant.
    let refused = decode(&fields(&one), &unhex("81000180000000"));
    assert!(
        matches!(refused, Err(DecodeError::Forbidden { at_bit: 24, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_mask_that_announces_more_states_than_there_are_is_refused() {
    for (digits, at_bit) in [("2000", 0), ("80000100", 16), ("ff00", 0)] {
        let refused = decode(&BASIC, &unhex(digits));
        let Err(DecodeError::Forbidden { at_bit: found, .. }) = refused else {
            panic!("{digits}: {refused:?}");
        };
        assert_eq!(found, at_bit);
    }
}

#[test]
fn jump_bits_without_a_value_are_ignored() {
    let read = decode(&fields(&[Kind::U8; 3]), &unhex("01fe05"));
    let expected = Change {
        index: 0,
        value: Value::U8(5),
        jump: false,
    };
    assert_eq!(read, Ok(vec![expected]));
}
