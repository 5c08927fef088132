//! A value on its own: an input or a message, whole or as a difference to the value before it.
//!
//! In: a value, and possibly one that the receiver has. Out: bits without padding, so that several
//! values follow each other closely. How many there are, and which one came before, is the caller's.
//!
//! Whole, each lane takes the bits of its range, and bytes follow their length. As a difference, one bit
//! a field says whether it changed; in a field that did, a lane of more than [`SHORT`] bits takes half of
//! them if it moved so little, and one bit more to say so. WIRE.md has the layout.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use tickwire_wire::{BitReader, BitWriter, DecodeError};

use crate::coder::lane::{Lane, fold, unfold};
use crate::coder::rotation::reexpress;
use crate::row::{RowReader, RowWriter};
use crate::schema::{self, Field, Kind};
use crate::value::{FieldError, Replicate};

/// Lanes up to so many bits have no short form: it would save less than the bit that announces it.
const SHORT: u32 = 4;

/// A value as it travels. Equal on both sides, bit for bit.
pub struct Quantised<T> {
    lanes: Vec<u32>,
    bytes: Vec<Arc<[u8]>>,
    of: PhantomData<fn() -> T>,
}

impl<T: Replicate> Quantised<T> {
    /// Quantises a value.
    pub fn new(value: &T) -> Result<Self, FieldError> {
        let mut quantised = Self::zero();
        let Self { lanes, bytes, .. } = &mut quantised;
        value.store(&mut RowWriter::new(T::FIELDS, lanes, bytes))?;
        Ok(quantised)
    }

    /// The value that both sides see.
    pub fn value(&self) -> T {
        T::load(&mut RowReader::new(&self.lanes, &self.bytes))
    }

    /// Appends the value, as a difference to `previous` if there is one.
    pub fn encode(&self, previous: Option<&Self>, w: &mut BitWriter) {
        let mut before = previous.map(Self::cursor);
        let mut now = self.cursor();
        for field in T::FIELDS {
            let then = before.as_mut().map(|before| before.take(field));
            let now = now.take(field);
            match then {
                Some(then) if now == then => w.flag(false),
                Some(then) => {
                    w.flag(true);
                    now.encode(field.kind, Some(then), w);
                }
                None => now.encode(field.kind, None, w),
            }
        }
    }

    /// Reads what [`encode`](Self::encode) wrote with the same `previous`.
    pub fn decode(previous: Option<&Self>, r: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let mut before = previous.map(Self::cursor);
        let mut now = Self {
            lanes: Vec::with_capacity(schema::lanes(T::FIELDS)),
            bytes: Vec::new(),
            of: PhantomData,
        };
        for field in T::FIELDS {
            let then = before.as_mut().map(|before| before.take(field));
            match then {
                Some(then) if !r.flag(field.name)? => {
                    now.lanes.extend(then.lanes);
                    now.bytes.extend(then.bytes.cloned());
                }
                then => now.decode_field(field, then, r)?,
            }
        }
        Ok(now)
    }

    fn zero() -> Self {
        Self {
            lanes: vec![0; schema::lanes(T::FIELDS)],
            bytes: vec![Arc::default(); schema::bytes_fields(T::FIELDS).count()],
            of: PhantomData,
        }
    }

    fn decode_field(
        &mut self,
        field: &Field,
        then: Option<Part<'_>>,
        r: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        let name = field.name;
        if let Kind::Bytes { max } = field.kind {
            self.bytes.push(read_bytes(r, name, max)?);
            return Ok(());
        }
        let largest = match field.kind {
            Kind::Quaternion { .. } => Some(read_raw(r, name, Lane::LARGEST)?),
            _ => None,
        };
        self.lanes.extend(largest);
        let lane = Lane::of(field.kind);
        let mut then = then.map(|then| then.components(field.kind, largest));
        for _ in 0..field.lanes() - usize::from(largest.is_some()) {
            let then = then.as_mut().and_then(Iterator::next);
            let raw = match then {
                Some(then) if has_short_form(lane) && r.flag(name)? => {
                    read_near(r, name, lane, lane.raw(then))?
                }
                _ => read_raw(r, name, lane)?,
            };
            self.lanes.push(lane.lane(raw));
        }
        Ok(())
    }
}

impl<T> Quantised<T> {
    const fn cursor(&self) -> Cursor<'_> {
        Cursor {
            lanes: self.lanes.as_slice(),
            bytes: self.bytes.as_slice(),
        }
    }
}

/// Takes the parts of a value, field by field.
struct Cursor<'a> {
    lanes: &'a [u32],
    bytes: &'a [Arc<[u8]>],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, field: &Field) -> Part<'a> {
        let (lanes, rest) = self
            .lanes
            .split_at_checked(field.lanes())
            .unwrap_or_default();
        self.lanes = rest;
        let mut bytes = None;
        if matches!(field.kind, Kind::Bytes { .. })
            && let Some((first, rest)) = self.bytes.split_first()
        {
            (bytes, self.bytes) = (Some(first), rest);
        }
        Part { lanes, bytes }
    }
}

/// What one field holds.
#[derive(Clone, Copy, PartialEq)]
struct Part<'a> {
    lanes: &'a [u32],
    bytes: Option<&'a Arc<[u8]>>,
}

impl<'a> Part<'a> {
    fn encode(self, kind: Kind, then: Option<Part<'_>>, w: &mut BitWriter) {
        if let (Kind::Bytes { max }, Some(bytes)) = (kind, self.bytes) {
            w.unsigned(bytes.len() as u64, length_bits(max));
            bytes.iter().for_each(|byte| w.unsigned((*byte).into(), 8));
            return;
        }
        let largest = match kind {
            Kind::Quaternion { .. } => self.lanes.first().copied(),
            _ => None,
        };
        if let Some(largest) = largest {
            w.unsigned(largest.into(), Lane::LARGEST.bits());
        }
        let lane = Lane::of(kind);
        let mut then = then.map(|then| then.components(kind, largest));
        for now in self.components(kind, largest) {
            let then = then.as_mut().and_then(Iterator::next);
            write_lane(w, lane, lane.raw(now), then.map(|then| lane.raw(then)));
        }
    }

    /// The lanes that are alike: of a quaternion the three small ones, with `largest` left out.
    fn components(self, kind: Kind, largest: Option<u32>) -> impl Iterator<Item = u32> + use<'a> {
        let rotation = match (kind, largest, self.lanes) {
            (Kind::Quaternion { bits }, Some(largest), &[index, a, b, c]) => {
                let [_, small @ ..] = reexpress([index, a, b, c], largest, bits);
                Some(small)
            }
            _ => None,
        };
        let others = if rotation.is_some() { &[] } else { self.lanes };
        rotation.into_iter().flatten().chain(others.iter().copied())
    }
}

const fn has_short_form(lane: Lane) -> bool {
    lane.bits() > SHORT
}

/// Bits of a difference in the short form.
const fn short_bits(lane: Lane) -> u32 {
    lane.bits().div_ceil(2)
}

fn write_lane(w: &mut BitWriter, lane: Lane, now: u32, then: Option<u32>) {
    if let Some(then) = then
        && has_short_form(lane)
    {
        let moved = fold(lane.difference(now, then));
        let is_near = moved >> short_bits(lane) == 0;
        w.flag(is_near);
        if is_near {
            return w.unsigned(moved.into(), short_bits(lane));
        }
    }
    w.unsigned(now.into(), lane.bits());
}

fn read_near(
    r: &mut BitReader<'_>,
    field: &'static str,
    lane: Lane,
    then: u32,
) -> Result<u32, DecodeError> {
    let at_bit = r.at_bit();
    let moved = read_u32(r, field, short_bits(lane))?;
    lane.displaced(then, unfold(moved))
        .ok_or_else(|| DecodeError::Forbidden {
            field,
            at_bit,
            value: moved.into(),
        })
}

fn read_raw(r: &mut BitReader<'_>, field: &'static str, lane: Lane) -> Result<u32, DecodeError> {
    let at_bit = r.at_bit();
    let raw = read_u32(r, field, lane.bits())?;
    if raw > lane.span() {
        return Err(DecodeError::Forbidden {
            field,
            at_bit,
            value: raw.into(),
        });
    }
    Ok(raw)
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
    let byte = |_| {
        r.unsigned(field, 8)
            .map(|byte| u8::try_from(byte).unwrap_or(u8::MAX))
    };
    (0..length).map(byte).collect()
}

fn read_u32(r: &mut BitReader<'_>, field: &'static str, bits: u32) -> Result<u32, DecodeError> {
    // No lane has more than 32 bits.
    Ok(u32::try_from(r.unsigned(field, bits)?).unwrap_or(u32::MAX))
}

/// Bits of a length from 0 to `max`.
const fn length_bits(max: u16) -> u32 {
    u16::BITS - max.leading_zeros()
}

// By hand, because a derive would ask the same of `T`.

impl<T> Clone for Quantised<T> {
    fn clone(&self) -> Self {
        Self {
            lanes: self.lanes.clone(),
            bytes: self.bytes.clone(),
            of: PhantomData,
        }
    }
}

impl<T> PartialEq for Quantised<T> {
    fn eq(&self, other: &Self) -> bool {
        self.lanes == other.lanes && self.bytes == other.bytes
    }
}

impl<T> Eq for Quantised<T> {}

impl<T: Replicate> fmt::Debug for Quantised<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cursor = self.cursor();
        let parts = T::FIELDS.iter().map(|field| {
            let Part { lanes, bytes } = cursor.take(field);
            (field.name, (lanes, bytes))
        });
        f.debug_map().entries(parts).finish()
    }
}
