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

use crate::block::{BlockBuf, BlockView, Column, SLOTS};
use crate::coder::Known;
use crate::coder::lane::{Lane, fold};
use crate::coder::slots::{Changes, read_set, write_set};
use crate::schema::{Field, Kind};
use row::{Past, Picks};

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
        buffers: Buffers::EMPTY,
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
        buffers: Buffers::EMPTY,
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

#[derive(Clone, Copy, Eq, PartialEq)]
enum Mode {
    Hold,
    Motion,
    EachOther,
}

struct Encoder<'a> {
    w: BitWriter,
    now: &'a BlockView<'a>,
    new: Picks,
    changed: &'a Picks,
    past: Option<Past<'a>>,
    buffers: Buffers,
}

/// Where rows are worked on.
struct Buffers {
    now: Column,
    hold: Column,
    motion: Column,
}

impl Buffers {
    const EMPTY: Self = Self {
        now: [0; SLOTS],
        hold: [0; SLOTS],
        motion: [0; SLOTS],
    };
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
            self.values(Lane::ID, self.now.ids());
        }
        if known.baseline.is_some() {
            write_set(&mut self.w, changes.changed, changes.kept);
        }
    }

    /// One lane of the new slots.
    fn values(&mut self, lane: Lane, column: &Column) {
        let row = self.new.gather(column, lane, &mut self.buffers.now);
        write_values(&mut self.w, lane, row);
    }

    fn lane(&mut self, number: usize, lane: Lane) {
        let column = self.now.column(number);
        self.values(lane, column);
        let Some(past) = self.past.as_ref().filter(|_| self.changed.len() > 0) else {
            return;
        };
        let Buffers { now, hold, motion } = &mut self.buffers;
        let now = self.changed.gather(column, lane, now);
        let hold = past.hold(number, lane, hold);
        let width = lane.width(now, hold);
        let motion =
            (width > 0 && past.has_motion()).then(|| &*past.motion(number, lane, hold, motion));
        write_residuals(&mut self.w, lane, now, (hold, width), motion);
    }

    fn rotation(&mut self, number: usize, bits: u8) {
        self.lane(number, Lane::LARGEST);
        let lane = Lane::component(bits);
        let past = self.past.as_ref().filter(|_| self.changed.len() > 0);
        let expected = past.map(|past| {
            let column = self.now.column(number);
            let largest = self
                .changed
                .gather(column, Lane::LARGEST, &mut self.buffers.now);
            let mut hold = [[0; SLOTS]; 3];
            past.hold_rotation(number, bits, largest, &mut hold);
            let motion = past.has_motion().then(|| {
                let mut motion = [[0; SLOTS]; 3];
                past.motion_rotation(number, bits, largest, &hold, &mut motion);
                motion
            });
            (hold, motion)
        });
        for index in 0..3 {
            let column = self.now.column(number + 1 + index);
            self.values(lane, column);
            if let Some((hold, motion)) = &expected
                && let Some(hold) = hold.get(index)
            {
                let now = self.changed.gather(column, lane, &mut self.buffers.now);
                let width = lane.width(now, hold);
                let motion = motion.as_ref().and_then(|rows| rows.get(index));
                let motion = motion.filter(|_| width > 0).map(<[u32; SLOTS]>::as_slice);
                write_residuals(&mut self.w, lane, now, (hold, width), motion);
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
    buffers: Buffers,
}

impl Decoder<'_, '_, '_> {
    fn lane(&mut self, number: usize, lane: Lane) -> Result<(), DecodeError> {
        self.values(number, lane)?;
        let Some(past) = self.past.as_ref().filter(|_| self.changed.len() > 0) else {
            return Ok(());
        };
        let Buffers { now, hold, motion } = &mut self.buffers;
        let row = self.changed.row(now);
        let column = self.into.column_mut(number);
        match read_mode(self.r, self.field, past)? {
            Mode::EachOther => read_values(self.r, self.field, lane, row)?,
            mode @ (Mode::Hold | Mode::Motion) => {
                let width = read_width(self.r, self.field, 32)?;
                if mode == Mode::Hold && width == 0 {
                    // As it was, and so it lies there already.
                    return Ok(());
                }
                let mut from = &*past.hold(number, lane, hold);
                if mode == Mode::Motion {
                    from = past.motion(number, lane, from, motion);
                }
                read_residuals(self.r, self.field, (lane, width), from, row)?;
            }
        }
        self.changed.scatter(row, lane, column);
        Ok(())
    }

    fn rotation(&mut self, number: usize, bits: u8) -> Result<(), DecodeError> {
        self.lane(number, Lane::LARGEST)?;
        let lane = Lane::component(bits);
        let mut largest = [0; SLOTS];
        let column = self.into.column_mut(number);
        let largest = &*self.changed.gather(column, Lane::LARGEST, &mut largest);
        let mut hold = [[0; SLOTS]; 3];
        let mut motion = None;
        if let Some(past) = &self.past {
            past.hold_rotation(number, bits, largest, &mut hold);
        }
        for (index, hold_row) in hold.iter().enumerate() {
            self.values(number + 1 + index, lane)?;
            let Some(past) = self.past.as_ref().filter(|_| self.changed.len() > 0) else {
                continue;
            };
            let row = self.changed.row(&mut self.buffers.now);
            match read_mode(self.r, self.field, past)? {
                Mode::EachOther => read_values(self.r, self.field, lane, row)?,
                mode @ (Mode::Hold | Mode::Motion) => {
                    let width = read_width(self.r, self.field, 32)?;
                    let mut from = hold_row;
                    if mode == Mode::Motion {
                        let motion = motion.get_or_insert_with(|| {
                            let mut rows = [[0; SLOTS]; 3];
                            past.motion_rotation(number, bits, largest, &hold, &mut rows);
                            rows
                        });
                        from = motion.get(index).unwrap_or(from);
                    }
                    read_residuals(self.r, self.field, (lane, width), from, row)?;
                }
            }
            let column = self.into.column_mut(number + 1 + index);
            self.changed.scatter(row, lane, column);
        }
        Ok(())
    }

    /// Reads one lane of the new slots.
    fn values(&mut self, number: usize, lane: Lane) -> Result<(), DecodeError> {
        let row = self.new.row(&mut self.buffers.now);
        read_values(self.r, self.field, lane, row)?;
        self.new.scatter(row, lane, self.into.column_mut(number));
        Ok(())
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
        let mut ids = [0; SLOTS];
        let ids = new.row(&mut ids);
        read_values(r, "id", Lane::ID, ids)?;
        into.vacate(changes.gone | changes.new);
        into.occupied |= changes.new;
        if let Some(column) = into.ids.first_chunk_mut() {
            new.scatter(ids, Lane::ID, column);
        }
    }
    changes.kept = occupied & !changes.gone & !changes.new;
    if known.baseline.is_some() {
        changes.changed = read_set(r, "changed", changes.kept)?;
    }
    Ok(changes)
}

/// Writes values relative to the smallest of them. Nothing at all if there are none.
fn write_values(w: &mut BitWriter, lane: Lane, row: &mut [u32]) {
    let (Some(least), Some(most)) = (row.iter().copied().min(), row.iter().copied().max()) else {
        return;
    };
    let width = bit_width(most - least);
    w.unsigned(width.into(), WIDTH_BITS);
    w.unsigned(least.into(), lane.bits());
    row.iter_mut().for_each(|value| *value -= least);
    w.pack(row, width);
}

/// Writes values relative to whatever makes them shortest. `width` is what they take relative to `hold`.
fn write_residuals(
    w: &mut BitWriter,
    lane: Lane,
    now: &mut [u32],
    (hold, width): (&[u32], u32),
    motion: Option<&[u32]>,
) {
    let (mut mode, mut from, mut width) = (TO_HOLD, hold, width);
    if let Some(motion) = motion {
        let moved = lane.width(now, motion);
        if moved < width {
            (mode, from, width) = (TO_MOTION, motion, moved);
        }
    }
    let bits = width as usize * now.len();
    let each_other = |spread| bit_width(spread) as usize * now.len() + lane.bits() as usize;
    // Two of them are at least so far apart; mostly that is enough to know.
    let ends = now.first().zip(now.last());
    if each_other(ends.map_or(0, |(first, last)| first.abs_diff(*last))) < bits {
        let (least, most) = now.iter().fold((u32::MAX, 0), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
        if each_other(most - least) < bits {
            w.unsigned(TO_EACH_OTHER, MODE_BITS);
            return write_values(w, lane, now);
        }
    }
    w.unsigned(mode | u64::from(width) << MODE_BITS, MODE_BITS + WIDTH_BITS);
    if width > 0 {
        lane.subtract(now, from);
        w.pack(now, width);
    }
}

/// Reads what [`write_values`] wrote.
fn read_values(
    r: &mut BitReader<'_>,
    field: &'static str,
    lane: Lane,
    row: &mut [u32],
) -> Result<(), DecodeError> {
    if row.is_empty() {
        return Ok(());
    }
    let width = read_width(r, field, lane.bits())?;
    let least = read_u32(r, field, lane.bits())?;
    let at_bit = r.at_bit();
    r.unpack(field, width, row)?;
    // The largest of them says whether any is too large.
    let most = row.iter().copied().max().unwrap_or(0);
    let is_too_large = |above: u32| least.checked_add(above).is_none_or(|raw| raw > lane.span());
    if is_too_large(most) {
        let at = row.iter().position(|above| is_too_large(*above));
        let above = at.and_then(|at| row.get(at)).copied().unwrap_or(most);
        return Err(DecodeError::Forbidden {
            field,
            at_bit: place_of(at_bit, at.unwrap_or(0), width),
            value: u64::from(least) + u64::from(above),
        });
    }
    row.iter_mut().for_each(|value| *value += least);
    Ok(())
}

/// Reads what a row of the changed slots is relative to.
fn read_mode(
    r: &mut BitReader<'_>,
    field: &'static str,
    past: &Past<'_>,
) -> Result<Mode, DecodeError> {
    let at_bit = r.at_bit();
    match r.unsigned(field, MODE_BITS)? {
        TO_HOLD => Ok(Mode::Hold),
        TO_MOTION if past.has_motion() => Ok(Mode::Motion),
        TO_EACH_OTHER => Ok(Mode::EachOther),
        value => Err(DecodeError::Forbidden {
            field,
            at_bit,
            value,
        }),
    }
}

/// Reads differences of this width to other values.
fn read_residuals(
    r: &mut BitReader<'_>,
    field: &'static str,
    (lane, width): (Lane, u32),
    from: &[u32],
    row: &mut [u32],
) -> Result<(), DecodeError> {
    let at_bit = r.at_bit();
    r.unpack(field, width, row)?;
    lane.add(row, from).map_err(|at| {
        let (then, raw) = (from.get(at), row.get(at));
        let difference = then.zip(raw).map_or(0, |(then, raw)| {
            // Lanes that wrap around hold everything that they are given, so this is what was read.
            fold(raw.wrapping_sub(*then).cast_signed())
        });
        DecodeError::Forbidden {
            field,
            at_bit: place_of(at_bit, at, width),
            value: difference.into(),
        }
    })
}

/// The bit at which the n-th value of a row begins.
fn place_of(first: u32, n: usize, width: u32) -> u32 {
    let skipped = u32::try_from(n).unwrap_or(u32::MAX).saturating_mul(width);
    first.saturating_add(skipped)
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
