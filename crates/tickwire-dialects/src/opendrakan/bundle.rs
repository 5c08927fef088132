//! State bundles: some of an object's states, and of each whether it jumped.
//!
//! States come in groups of seven. Each group begins with a mask of what is there and a mask of what
//! jumped, and the eighth bit of the first says that another group follows; then come the values.
//! Adjacent booleans among the values of a group share a byte. Written is the
//! shortest form; read is also one with an empty group at its end, which the original writes.

use tickwire_wire::DecodeError;

use super::schema::Field;
use super::value::{Kind, Value};
use super::{Reader, Writer};

/// States that one pair of masks covers.
pub const STATES_PER_PAIR: usize = 7;

/// Set in a value mask: another pair follows.
const MORE: u8 = 0x80;

/// One state of a bundle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its number: its place in the schema.
    pub index: usize,
    /// What it is now.
    pub value: Value,
    /// Whether it came there at once, so that nothing lies in between.
    pub jump: bool,
}

/// Reads a bundle of states of `fields` and hands each to `found`, in ascending order.
pub fn decode(
    r: &mut Reader<'_>,
    fields: &[Field],
    mut found: impl FnMut(Change),
) -> Result<(), DecodeError> {
    let mut first = 0;
    loop {
        let values = r.u8("value mask")?;
        // No bit of a state that does not exist; a pair that lies wholly behind the last state can
        // only be the empty one that ends the row.
        let known = fields.len().saturating_sub(first).min(STATES_PER_PAIR);
        let allowed = match known {
            0 => 0,
            known => MORE | ((1 << known) - 1),
        };
        if values & !allowed != 0 {
            return Err(r.refuse("value mask", values.into()));
        }
        let jumps = r.u8("jump mask")?;
        let group = fields.get(first..).unwrap_or_default();
        decode_values(r, group, Masks { values, jumps }, |bit, value, jump| {
            let index = first + bit;
            found(Change { index, value, jump });
        })?;
        if values & MORE == 0 {
            return Ok(());
        }
        first += STATES_PER_PAIR;
    }
}

#[derive(Clone, Copy)]
struct Masks {
    values: u8,
    jumps: u8,
}

/// Reads the values of one group, whose fields are the first of `fields`.
fn decode_values(
    r: &mut Reader<'_>,
    fields: &[Field],
    masks: Masks,
    mut found: impl FnMut(usize, Value, bool),
) -> Result<(), DecodeError> {
    let mut booleans = Booleans::default();
    for (bit, field) in fields.iter().take(STATES_PER_PAIR).enumerate() {
        if masks.values >> bit & 1 == 0 {
            continue;
        }
        let value = if field.kind == Kind::Bool {
            if booleans.used == 0 {
                booleans.byte = r.u8("booleans")?;
            }
            Value::Bool(booleans.take())
        } else {
            booleans = Booleans::default();
            field.kind.decode(r, field.name)?
        };
        found(bit, value, masks.jumps >> bit & 1 == 1);
    }
    Ok(())
}

/// Writes a bundle of `changes`, which must ascend.
pub fn encode(w: &mut Writer<'_>, changes: &[Change]) {
    debug_assert!(
        changes.is_sorted_by(|a, b| a.index < b.index),
        "states of a bundle ascend"
    );
    let pair_of = |change: &Change| change.index / STATES_PER_PAIR;
    let last = changes.last().map_or(0, pair_of);
    let mut rest = changes;
    for pair in 0..=last {
        let here = rest.partition_point(|change| pair_of(change) == pair);
        let (group, behind) = rest.split_at_checked(here).unwrap_or((rest, &[]));
        rest = behind;
        let mask = |wanted: fn(&Change) -> bool| {
            let bits = group.iter().filter(|change| wanted(change));
            bits.fold(0, |mask, change| {
                mask | 1 << (change.index % STATES_PER_PAIR)
            })
        };
        let more = if pair < last { MORE } else { 0 };
        w.u8(mask(|_| true) | more);
        w.u8(mask(|change| change.jump));
        encode_values(w, group);
    }
}

fn encode_values(w: &mut Writer<'_>, group: &[Change]) {
    let mut booleans = Booleans::default();
    for change in group {
        if let Value::Bool(value) = change.value {
            booleans.put(value);
        } else {
            booleans.flush(w);
            change.value.encode(w);
        }
    }
    booleans.flush(w);
}

/// Booleans that share a byte, the first lowest. A group has seven states, so they always fit.
#[derive(Default)]
struct Booleans {
    byte: u8,
    used: u8,
}

impl Booleans {
    const fn take(&mut self) -> bool {
        let bit = self.byte >> self.used & 1;
        self.used += 1;
        bit == 1
    }

    const fn put(&mut self, value: bool) {
        self.byte |= (value as u8) << self.used;
        self.used += 1;
    }

    fn flush(&mut self, w: &mut Writer<'_>) {
        if self.used > 0 {
            w.u8(self.byte);
            *self = Self::default();
        }
    }
}
