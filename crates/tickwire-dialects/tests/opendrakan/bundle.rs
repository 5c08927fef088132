//! State bundles, of any schema.

use proptest::prelude::*;
use tickwire_dialects::opendrakan::bundle::{self, Change};
use tickwire_dialects::opendrakan::{BASIC, Field, Kind, Reader, Value, Writer};
use tickwire_state::{Quat, Vec2, Vec3};
use tickwire_wire::DecodeError;

use crate::golden::{hex, unhex};

/// A value of a kind, made of some bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "any bits will do, so the lowest do"
)]
fn value(kind: Kind, bits: [u32; 4]) -> Value {
    let [a, b, c, d] = bits;
    let wide = u64::from(a) << 32 | u64::from(b);
    // Bits of a NaN need not survive a register.
    let float = |bits: u32| f32::from_bits(bits & 0xbfff_ffff);
    let [x, y, z, w] = [a, b, c, d].map(float);
    match kind {
        Kind::Bool => Value::Bool(a & 1 == 1),
        Kind::U8 => Value::U8(a as u8),
        Kind::I8 => Value::I8(a as i8),
        Kind::U16 => Value::U16(a as u16),
        Kind::I16 => Value::I16(a as i16),
        Kind::U32 => Value::U32(a),
        Kind::I32 => Value::I32(a as i32),
        Kind::U64 => Value::U64(wide),
        Kind::F32 => Value::F32(x),
        Kind::F64 => Value::F64(f64::from(x)),
        Kind::Vec2 => Value::Vec2(Vec2 { x, y }),
        Kind::Vec3 => Value::Vec3(Vec3 { x, y, z }),
        Kind::Quat => Value::Quat(Quat { x, y, z, w }),
    }
}

/// A schema of up to 40 states, half of them booleans, and some of them set.
fn any_bundle() -> impl Strategy<Value = (Vec<Field>, Vec<Change>)> {
    let state = (0..26_usize, any::<[u32; 4]>(), any::<bool>(), any::<bool>());
    proptest::collection::vec(state, 0..40).prop_map(|states| {
        let kind = |pick: usize| *Kind::ALL.get(pick).unwrap_or(&Kind::Bool);
        let fields = states
            .iter()
            .map(|(pick, ..)| Field {
                name: "state",
                kind: kind(*pick),
            })
            .collect();
        let present = states.iter().enumerate().filter(|(_, state)| state.2);
        let changes = present
            .map(|(index, &(pick, bits, _, jump))| Change {
                index,
                value: value(kind(pick), bits),
                jump,
            })
            .collect();
        (fields, changes)
    })
}

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

proptest! {
    #[test]
    fn what_is_written_is_read((fields, changes) in any_bundle()) {
        let bytes = encode(&changes);
        prop_assert_eq!(decode(&fields, &bytes), Ok(changes));
    }

    #[test]
    fn a_bundle_that_ends_early_is_refused((fields, changes) in any_bundle()) {
        let bytes = encode(&changes);
        for length in 0..bytes.len() {
            prop_assert!(decode(&fields, &bytes[..length]).is_err());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        (fields, _) in any_bundle(), bytes in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        if let Ok(changes) = decode(&fields, &bytes) {
            prop_assert!(changes.is_sorted_by(|a, b| a.index < b.index));
            let written = encode(&changes);
            prop_assert!(written.len() <= bytes.len(), "the shortest form");
            prop_assert_eq!(encode(&decode(&fields, &written).expect("ours")), written);
        }
    }
}
