//! Which slots of a block a record speaks of, and how it lists them.

use tickwire_wire::{BitReader, BitWriter, DecodeError};

use crate::block::{BlockView, Column, SLOTS};
use crate::coder::Known;
use crate::schema;

/// The slots of a block by what happened to them since the baseline. Sets are bits: bit `n`, slot `n`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Changes {
    /// Had an occupant, and has none.
    pub(super) gone: u64,
    /// Have an occupant that they did not have.
    pub(super) new: u64,
    /// Have the occupant that they had.
    pub(super) kept: u64,
    /// Of those kept, with other values.
    pub(super) changed: u64,
}

impl Changes {
    pub(super) fn between(known: &Known<'_>, now: &BlockView<'_>) -> Self {
        let Some(baseline) = known.baseline else {
            return Self {
                new: now.occupied,
                ..Self::default()
            };
        };
        let kept = same_occupants(now, &baseline);
        let mut changed = kept & differing(now, &baseline, schema::lanes(known.fields));
        for field in 0..schema::bytes_fields(known.fields).count() {
            for slot in members(kept & !changed) {
                if now.bytes_at(field, slot) != baseline.bytes_at(field, slot) {
                    changed |= 1 << slot;
                }
            }
        }
        Self {
            gone: baseline.occupied & !now.occupied,
            new: now.occupied & !kept,
            kept,
            changed,
        }
    }

    /// Whether every slot has the occupant that it had.
    pub(super) const fn same_occupants(&self) -> bool {
        self.gone | self.new == 0
    }
}

/// The slots that have the same occupant in both versions.
pub(super) fn same_occupants(a: &BlockView<'_>, b: &BlockView<'_>) -> u64 {
    let (ours, theirs) = (a.ids(), b.ids());
    let both = a.occupied & b.occupied;
    if ours == theirs {
        return both;
    }
    let mut differs: Column = [0; SLOTS];
    for (differs, (a, b)) in differs.iter_mut().zip(ours.iter().zip(theirs)) {
        *differs = a ^ b;
    }
    both & !set_of(&differs)
}

/// The slots in which any of the first `lanes` lanes differs.
pub(super) fn differing(a: &BlockView<'_>, b: &BlockView<'_>, lanes: usize) -> u64 {
    // One pass a lane over all slots, without a branch, so that it runs on vectors.
    let mut differs: Column = [0; SLOTS];
    for lane in 0..lanes {
        let pairs = a.column(lane).iter().zip(b.column(lane));
        for (differs, (a, b)) in differs.iter_mut().zip(pairs) {
            *differs |= a ^ b;
        }
    }
    set_of(&differs)
}

/// The slots whose value is not 0.
fn set_of(column: &Column) -> u64 {
    let mut flags = [0; SLOTS];
    for (flag, value) in flags.iter_mut().zip(column) {
        *flag = u8::from(*value != 0);
    }
    let (eights, _) = flags.as_chunks();
    let bytes = eights.iter().map(|eight| {
        // Moves the lowest bit of byte n to bit 56 + n; no two products meet in a bit.
        u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    bytes.rev().fold(0, |set, byte| set << 8 | byte)
}

/// The slots of a set in ascending order.
pub(super) fn members(mut set: u64) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let slot = u8::try_from(set.trailing_zeros()).ok()?;
        (slot < 64).then(|| {
            set &= set - 1;
            slot
        })
    })
}

/// Longer lists take more bits than a bit for every slot does.
const LONGEST_LIST: u32 = 10;

/// Writes a subset of `all`.
pub(super) fn write_set(w: &mut BitWriter, set: u64, all: u64) {
    match set.count_ones() {
        _ if set == all => w.unsigned(1, 2),
        0 => w.unsigned(0, 2),
        count @ 1..=LONGEST_LIST => {
            w.unsigned(2, 2);
            w.unsigned(count.into(), 4);
            for slot in members(set) {
                w.unsigned(slot.into(), 6);
            }
        }
        _ => {
            w.unsigned(3, 2);
            w.unsigned(set, 64);
        }
    }
}

/// Reads a subset of `all`.
pub(super) fn read_set(
    r: &mut BitReader<'_>,
    field: &'static str,
    all: u64,
) -> Result<u64, DecodeError> {
    let at_bit = r.at_bit();
    let set = match r.unsigned(field, 2)? {
        0 => 0,
        1 => all,
        2 => {
            let mut set = 0;
            for _ in 0..r.unsigned(field, 4)? {
                set |= 1 << r.unsigned(field, 6)?;
            }
            set
        }
        _ => r.unsigned(field, 64)?,
    };
    if set & !all != 0 {
        let value = set & !all;
        return Err(DecodeError::Forbidden {
            field,
            at_bit,
            value,
        });
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_slots_that_are_not_zero() {
        for set in [
            0,
            1,
            1 << 63,
            u64::MAX,
            0x8040_2010_0804_0201,
            0xfee1_dead_0bad_cafe,
        ] {
            let mut column: Column = [0; SLOTS];
            for (value, slot) in column.iter_mut().zip(0..) {
                *value = u32::from(set >> slot & 1 == 1) << (slot % 32);
            }
            assert_eq!(set_of(&column), set);
        }
    }

    #[test]
    fn every_size_of_set_survives() {
        let all = u64::MAX - 0xf0;
        for count in 0..=64 {
            let set = all & u64::MAX.checked_shr(64 - count).unwrap_or(0);
            let mut w = BitWriter::new();
            write_set(&mut w, set, all);
            assert!(w.bits() <= 66, "{count}");
            let bytes = w.into_bytes();
            let mut r = BitReader::new(&bytes);
            assert_eq!(read_set(&mut r, "set", all), Ok(set));
            assert_eq!(r.finish(), Ok(()));
        }
    }

    #[test]
    fn a_slot_that_is_no_candidate_is_refused() {
        let mut w = BitWriter::new();
        write_set(&mut w, 0b110, u64::MAX);
        let got = read_set(&mut BitReader::new(&w.into_bytes()), "set", 0b10);
        assert!(matches!(
            got,
            Err(DecodeError::Forbidden { value: 0b100, .. })
        ));
    }
}
