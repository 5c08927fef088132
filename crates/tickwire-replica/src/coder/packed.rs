//! The packed form of a block: for each lane one width, and every residual in as many bits.
//!
//! In: a block and what both sides know of it. Out: whole bytes, at most [`packed_bound`] of them. The
//! encoder tries, lane by lane, whether the values lie nearest to the baseline, to where motion would have
//! taken them, or to each other, and takes what is shortest. WIRE.md has the layout.

mod row;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use tickwire_wire::{BitReader, BitWriter, DecodeError};

use crate::block::{BlockBuf, BlockView, SLOTS};
use crate::coder::Known;
use crate::coder::lane::{Lane, fold, unfold};
use crate::coder::slots::{Changes, read_set, write_set};
use crate::schema::{Field, Kind};
use row::{Expected, Past, Picks, Row};

/// Appends what changed in a block, and ends on a whole byte.
pub fn encode_packed(known: &Known<'_>, now: &BlockView<'_>, out: &mut Vec<u8>) {
    let changes = Changes::between(known, now);
    let changed = Picks::of(changes.changed);
    let mut encoder = Encoder {
        w: BitWriter::onto(mem::take(out)),
        now,
        new: Picks::of(changes.new),
        past: Past::new(known, &changed),
        changed: &changed,
    };
    encoder.changes(known, &changes);
    let (mut lane, mut column) = (0, 0);
    for field in known.fields {
        match field.kind {
            Kind::Bytes { max } => {
                encoder.bytes(known, column, max);
                column += 1;
            }
            Kind::Quaternion { bits } => encoder.rotation(lane, bits),
            kind => (lane..lane + field.lanes()).for_each(|n| encoder.lane(n, Lane::of(kind))),
        }
        lane += field.lanes();
    }
    *out = encoder.w.into_bytes();
}

/// Reads what [`encode_packed`] wrote. What `into` holds after an error is of no use.
pub fn decode_packed(
    known: &Known<'_>,
    r: &mut BitReader<'_>,
    into: &mut BlockBuf,
) -> Result<(), DecodeError> {
    into.assign(known.fields, known.baseline);
    let changes = read_changes(r, known, into)?;
    let changed = Picks::of(changes.changed);
    let mut decoder = Decoder {
        r,
        into,
        field: "",
        new: Picks::of(changes.new),
        past: Past::new(known, &changed),
        changed: &changed,
    };
    let (mut lane, mut column) = (0, 0);
    for field in known.fields {
        decoder.field = field.name;
        match field.kind {
            Kind::Bytes { max } => {
                decoder.bytes(column, max)?;
                column += 1;
            }
            Kind::Quaternion { bits } => decoder.rotation(lane, bits)?,
            kind => {
                (lane..lane + field.lanes()).try_for_each(|n| decoder.lane(n, Lane::of(kind)))?;
            }
        }
        lane += field.lanes();
    }
    r.align()
}

/// The most bytes that [`encode_packed`] makes of a block with this many slots.
pub fn packed_bound(fields: &[Field], slots: usize) -> usize {
    let values = |lane: Lane| (WIDTH_BITS + lane.bits()) as usize;
    // Who is there: a flag, three sets, the ids.
    let mut bits = 1 + 3 * SET_BITS + values(Lane::ID) + slots * 32;
    let mut add = |lane: Lane| {
        // The width and the smallest value, once for the new and once for the changed.
        bits += MODE_BITS as usize + 2 * values(lane) + slots * lane.bits() as usize;
    };
    for field in fields {
        match field.kind {
            Kind::Bytes { .. } => {}
            Kind::Quaternion { bits } => {
                add(Lane::LARGEST);
                (0..3).for_each(|_| add(Lane::component(bits)));
            }
            kind => (0..field.lanes()).for_each(|_| add(Lane::of(kind))),
        }
    }
    for field in fields {
        if let Kind::Bytes { max } = field.kind {
            bits += slots * (1 + length_bits(max) as usize + 8 * usize::from(max));
        }
    }
    bits.div_ceil(8)
}

/// The most that a set of slots takes.
const SET_BITS: usize = 66;

/// A width is 0 to 32.
const WIDTH_BITS: u32 = 6;

/// What a row of a lane is relative to.
const MODE_BITS: u32 = 2;

const TO_HOLD: u64 = 0;
const TO_MOTION: u64 = 1;
const TO_EACH_OTHER: u64 = 2;

struct Encoder<'a> {
    w: BitWriter,
    now: &'a BlockView<'a>,
    new: Picks,
    changed: &'a Picks,
    past: Option<Past<'a>>,
}

impl Encoder<'_> {
    /// Who came, who went, and who has other values.
    fn changes(&mut self, known: &Known<'_>, changes: &Changes) {
        if let Some(baseline) = known.baseline {
            self.w.flag(!changes.same_occupants());
            if !changes.same_occupants() {
                write_set(&mut self.w, changes.gone, baseline.occupied);
            }
        }
        if !changes.same_occupants() || known.baseline.is_none() {
            write_set(&mut self.w, changes.new, !changes.gone);
            let ids = self.new.gather(self.now.ids(), Lane::ID);
            self.values(Lane::ID, &ids, self.new.len());
        }
        if known.baseline.is_some() {
            write_set(&mut self.w, changes.changed, changes.kept);
        }
    }

    fn lane(&mut self, number: usize, lane: Lane) {
        let column = self.now.column(number);
        if self.new.len() > 0 {
            let row = self.new.gather(column, lane);
            self.values(lane, &row, self.new.len());
        }
        let Some(past) = self.past.as_ref().filter(|_| self.changed.len() > 0) else {
            return;
        };
        // Most lanes of most entities: nothing has to be gathered to say so.
        if past.is_unchanged(number, column) {
            self.w.unsigned(TO_HOLD, MODE_BITS);
            self.w.unsigned(0, WIDTH_BITS);
            return;
        }
        let expected = past.expect(number, lane);
        let row = self.changed.gather(column, lane);
        self.residuals(lane, &row, &expected);
    }

    fn rotation(&mut self, number: usize, bits: u8) {
        self.lane(number, Lane::LARGEST);
        let largest = self.changed.gather(self.now.column(number), Lane::LARGEST);
        let lane = Lane::component(bits);
        let expected = self
            .past
            .as_ref()
            .map(|past| past.expect_rotation(number, bits, &largest));
        for index in 0..3 {
            let column = self.now.column(number + 1 + index);
            if self.new.len() > 0 {
                let row = self.new.gather(column, lane);
                self.values(lane, &row, self.new.len());
            }
            if let Some(expected) = expected.as_ref().and_then(|rows| rows.get(index)) {
                let row = self.changed.gather(column, lane);
                self.residuals(lane, &row, expected);
            }
        }
    }

    /// Values relative to the smallest of them. Nothing at all if there are none.
    fn values(&mut self, lane: Lane, row: &Row, len: usize) {
        let values = || row.iter().copied().take(len);
        let (Some(least), Some(most)) = (values().min(), values().max()) else {
            return;
        };
        let width = bit_width(most - least);
        self.w.unsigned(width.into(), WIDTH_BITS);
        self.w.unsigned(least.into(), lane.bits());
        for value in values() {
            self.w.unsigned((value - least).into(), width);
        }
    }

    /// Values relative to whatever makes them shortest. Nothing at all if there are none.
    fn residuals(&mut self, lane: Lane, row: &Row, expected: &Expected) {
        let len = self.changed.len();
        if len == 0 {
            return;
        }
        let width = |from: &Row| {
            let pairs = row.iter().zip(from).take(len);
            let all = pairs.fold(0, |all, (&now, &then)| {
                all | fold(lane.difference(now, then))
            });
            bit_width(all)
        };
        let hold = width(&expected.hold);
        let motion = match &expected.motion {
            Some(motion) if hold > 0 => width(motion),
            _ => u32::MAX,
        };
        let (mode, from, width) = match &expected.motion {
            Some(row) if motion < hold => (TO_MOTION, row, motion),
            _ => (TO_HOLD, &expected.hold, hold),
        };
        let values = || row.iter().copied().take(len);
        let spread = values().max().unwrap_or(0) - values().min().unwrap_or(0);
        let each_other = bit_width(spread) as usize * len + lane.bits() as usize;
        if each_other < width as usize * len {
            self.w.unsigned(TO_EACH_OTHER, MODE_BITS);
            return self.values(lane, row, len);
        }
        self.w.unsigned(mode, MODE_BITS);
        self.w.unsigned(width.into(), WIDTH_BITS);
        if width > 0 {
            for (&now, &then) in row.iter().zip(from).take(len) {
                let residual = fold(lane.difference(now, then));
                self.w.unsigned(residual.into(), width);
            }
        }
    }

    fn bytes(&mut self, known: &Known<'_>, column: usize, max: u16) {
        for slot in self.new.slots() {
            write_bytes(&mut self.w, self.now.bytes_at(column, slot), max);
        }
        for slot in self.changed.slots() {
            let value = self.now.bytes_at(column, slot);
            let then = known.baseline.map(|block| block.bytes_at(column, slot));
            self.w.flag(then != Some(value));
            if then != Some(value) {
                write_bytes(&mut self.w, value, max);
            }
        }
    }
}

struct Decoder<'a, 'r, 'b> {
    r: &'a mut BitReader<'r>,
    into: &'a mut BlockBuf,
    /// The field that is being read.
    field: &'static str,
    new: Picks,
    changed: &'a Picks,
    past: Option<Past<'b>>,
}

impl Decoder<'_, '_, '_> {
    fn lane(&mut self, number: usize, lane: Lane) -> Result<(), DecodeError> {
        let expected = self.past.as_ref().map(|past| past.expect(number, lane));
        self.rows(number, lane, expected.as_ref())?;
        Ok(())
    }

    fn rotation(&mut self, number: usize, bits: u8) -> Result<(), DecodeError> {
        let expected = self
            .past
            .as_ref()
            .map(|past| past.expect(number, Lane::LARGEST));
        let largest = self.rows(number, Lane::LARGEST, expected.as_ref())?;
        let expected = self
            .past
            .as_ref()
            .map(|past| past.expect_rotation(number, bits, &largest));
        for index in 0..3 {
            let expected = expected.as_ref().and_then(|rows| rows.get(index));
            self.rows(number + 1 + index, Lane::component(bits), expected)?;
        }
        Ok(())
    }

    /// Reads one lane of all slots that are new or changed, and returns that of the changed.
    fn rows(
        &mut self,
        number: usize,
        lane: Lane,
        expected: Option<&Expected>,
    ) -> Result<Row, DecodeError> {
        let new = read_values(self.r, self.field, lane, self.new.len())?;
        self.new.scatter(&new, lane, self.into.column_mut(number));
        let Some(expected) = expected else {
            return Ok([0; SLOTS]);
        };
        let row = self.residuals(lane, expected)?;
        self.changed
            .scatter(&row, lane, self.into.column_mut(number));
        Ok(row)
    }

    fn residuals(&mut self, lane: Lane, expected: &Expected) -> Result<Row, DecodeError> {
        let (field, len) = (self.field, self.changed.len());
        if len == 0 {
            return Ok([0; SLOTS]);
        }
        let at_bit = self.r.at_bit();
        let mode = self.r.unsigned(field, MODE_BITS)?;
        let from = match (mode, &expected.motion) {
            (TO_HOLD, _) => &expected.hold,
            (TO_MOTION, Some(motion)) => motion,
            (TO_EACH_OTHER, _) => return read_values(self.r, field, lane, len),
            (value, _) => {
                return Err(DecodeError::Forbidden {
                    field,
                    at_bit,
                    value,
                });
            }
        };
        let width = read_width(self.r, field, 32)?;
        let mut row = *from;
        if width > 0 {
            for value in row.iter_mut().take(len) {
                let at_bit = self.r.at_bit();
                let residual = read_u32(self.r, field, width)?;
                let moved = lane.displaced(*value, unfold(residual));
                *value = moved.ok_or_else(|| DecodeError::Forbidden {
                    field,
                    at_bit,
                    value: residual.into(),
                })?;
            }
        }
        Ok(row)
    }

    fn bytes(&mut self, column: usize, max: u16) -> Result<(), DecodeError> {
        for slot in self.new.slots() {
            let value = read_bytes(self.r, self.field, max)?;
            self.into.set_bytes(column, slot, value);
        }
        for slot in self.changed.slots() {
            if self.r.flag(self.field)? {
                let value = read_bytes(self.r, self.field, max)?;
                self.into.set_bytes(column, slot, value);
            }
        }
        Ok(())
    }
}

/// Reads who came, who went and who has other values, and gives the slots their occupants.
fn read_changes(
    r: &mut BitReader<'_>,
    known: &Known<'_>,
    into: &mut BlockBuf,
) -> Result<Changes, DecodeError> {
    let mut changes = Changes::default();
    let occupied = into.occupied;
    let differ = known.baseline.is_none() || r.flag("occupants")?;
    if differ {
        if known.baseline.is_some() {
            changes.gone = read_set(r, "gone", occupied)?;
        }
        changes.new = read_set(r, "new", !changes.gone)?;
        let new = Picks::of(changes.new);
        let ids = read_values(r, "id", Lane::ID, new.len())?;
        into.vacate(changes.gone | changes.new);
        into.occupied |= changes.new;
        if let Some(column) = into.ids.first_chunk_mut() {
            new.scatter(&ids, Lane::ID, column);
        }
    }
    changes.kept = occupied & !changes.gone & !changes.new;
    if known.baseline.is_some() {
        changes.changed = read_set(r, "changed", changes.kept)?;
    }
    Ok(changes)
}

fn read_values(
    r: &mut BitReader<'_>,
    field: &'static str,
    lane: Lane,
    len: usize,
) -> Result<Row, DecodeError> {
    let mut row = [0; SLOTS];
    if len == 0 {
        return Ok(row);
    }
    let width = read_width(r, field, lane.bits())?;
    let least = read_u32(r, field, lane.bits())?;
    for value in row.iter_mut().take(len) {
        let at_bit = r.at_bit();
        let above = read_u32(r, field, width)?;
        let raw = least.checked_add(above).filter(|&raw| raw <= lane.span());
        *value = raw.ok_or_else(|| DecodeError::Forbidden {
            field,
            at_bit,
            value: u64::from(least) + u64::from(above),
        })?;
    }
    Ok(row)
}

fn read_width(r: &mut BitReader<'_>, field: &'static str, most: u32) -> Result<u32, DecodeError> {
    let at_bit = r.at_bit();
    let width = read_u32(r, field, WIDTH_BITS)?;
    if width > most {
        return Err(DecodeError::Forbidden {
            field,
            at_bit,
            value: width.into(),
        });
    }
    Ok(width)
}

/// Reads at most 32 bits.
fn read_u32(r: &mut BitReader<'_>, field: &'static str, bits: u32) -> Result<u32, DecodeError> {
    let value = r.unsigned(field, bits)?;
    Ok(u32::try_from(value).expect("a field of at most 32 bits"))
}

fn write_bytes(w: &mut BitWriter, value: &[u8], max: u16) {
    debug_assert!(value.len() <= usize::from(max), "bytes beyond their bound");
    w.unsigned(value.len() as u64, length_bits(max));
    for &byte in value {
        w.unsigned(byte.into(), 8);
    }
}

fn read_bytes(
    r: &mut BitReader<'_>,
    field: &'static str,
    max: u16,
) -> Result<Arc<[u8]>, DecodeError> {
    let at_bit = r.at_bit();
    let length = read_u32(r, field, length_bits(max))?;
    if length > u32::from(max) {
        return Err(DecodeError::TooLong {
            field,
            at_bit,
            length: length.into(),
            limit: max.into(),
        });
    }
    let bytes = (0..length).map(|_| {
        let byte = r.unsigned(field, 8)?;
        Ok(u8::try_from(byte).expect("a field of 8 bits"))
    });
    bytes.collect::<Result<Vec<_>, _>>().map(Arc::from)
}

const fn length_bits(max: u16) -> u32 {
    bit_width(max as u32)
}

const fn bit_width(value: u32) -> u32 {
    32 - value.leading_zeros()
}
