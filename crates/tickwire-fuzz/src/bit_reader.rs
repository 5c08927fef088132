//! The bit cursor against a reader that takes one bit at a time.

use tickwire_wire::{BitReader, BitWriter, DecodeError, FieldLog};

use crate::script::Script;
use crate::trace::traced_end;

/// Reads fields of any width and sign, and checks every value, error and trace.
///
/// # Panics
/// If the reader is wrong.
pub fn bit_reader(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let widths = script.blob();
    let input = script.rest();
    let mut log = FieldLog::default();
    let mut traced = BitReader::traced(input, &mut log);
    let mut r = BitReader::new(input);
    let mut w = BitWriter::new();
    let mut at_bit = 0_u32;
    for &choice in widths {
        // The highest bit is the sign, the rest 0 to 64 and, for half of the values, back again.
        let (signed, width) = (choice & 0x80 != 0, u32::from(choice & 0x7f) % 65);
        let expected = naive(input, at_bit, width);
        if signed {
            let value = r.signed("field", width);
            assert_eq!(value, traced.signed("field", width));
            assert_eq!(value.ok(), expected.map(|raw| extended(raw, width)));
            if let Ok(value) = value {
                w.signed(value, width);
            }
        } else {
            let value = r.unsigned("field", width);
            assert_eq!(value, traced.unsigned("field", width));
            assert_eq!(value.ok(), expected);
            match value {
                Ok(value) => w.unsigned(value, width),
                Err(error) => {
                    let field = "field";
                    assert_eq!(error, DecodeError::Truncated { field, at_bit });
                }
            }
        }
        at_bit += expected.map_or(0, |_| width);
        assert_eq!(r.remaining(), input.len() * 8 - at_bit as usize);
    }
    assert_eq!(r.finish(), traced.finish());
    assert_eq!(traced_end(&log), at_bit);
    check_written(input, at_bit, w);
}

/// The field of `width` bits at `at_bit`, read bit by bit.
fn naive(input: &[u8], at_bit: u32, width: u32) -> Option<u64> {
    (0..width).try_fold(0, |value, bit| {
        let at = at_bit + bit;
        let byte = input.get(at as usize / 8)?;
        Some(value | u64::from(byte >> (at % 8) & 1) << bit)
    })
}

/// `raw` as a two's-complement number of `width` bits.
fn extended(raw: u64, width: u32) -> i64 {
    let is_negative = width > 0 && raw >> (width - 1) & 1 == 1;
    let above = u64::MAX.checked_shl(width).unwrap_or_default();
    (if is_negative { raw | above } else { raw }).cast_signed()
}

/// What was read and written again is what the input began with.
fn check_written(input: &[u8], bits: u32, w: BitWriter) {
    assert_eq!(w.bits(), bits as usize);
    let written = w.into_bytes();
    for at in (0..bits).step_by(8) {
        let width = (bits - at).min(8);
        assert_eq!(naive(&written, at, width), naive(input, at, width));
    }
}
