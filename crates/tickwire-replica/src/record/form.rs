//! How the two forms carry what stands between blocks: numbers, archetypes, and whether one follows.
//!
//! In a packed body it is whole bytes, in a coded one it is bits of the same run as the blocks.

use alloc::vec::Vec;

use tickwire_wire::{BitReader, DecodeError};

use crate::block::{BlockBuf, BlockView};
use crate::coder::{self, CodedDecoder, CodedEncoder, Known};
use crate::number::BlockNumber;
use crate::packet::{RecordHead, Target};
use crate::record::Changed;

/// What stands before a block of a place's record.
pub(super) struct Lead {
    /// The block before it.
    pub(super) before: Option<BlockNumber>,
    pub(super) block: BlockNumber,
    /// It did not exist at the baseline that the record names.
    pub(super) is_new: bool,
}

impl Lead {
    /// What stands before a block of a record.
    pub(super) fn of(
        head: &RecordHead,
        before: Option<BlockNumber>,
        changed: &Changed<'_>,
    ) -> Self {
        Self {
            before,
            block: changed.block,
            is_new: changed.baseline.is_none() && head.ages.baseline > 0,
        }
    }

    /// Bytes that it takes in a packed body.
    pub(super) fn packed_len(&self) -> usize {
        if self.skipped() < lead::FAR.into() {
            1
        } else {
            3
        }
    }

    /// How many block numbers were skipped.
    fn skipped(&self) -> u16 {
        let next = self.before.map_or(0, |before| before.0.wrapping_add(1));
        self.block.0.wrapping_sub(next)
    }
}

/// The number after another, if there is one.
const fn next_number(before: Option<BlockNumber>) -> Option<u16> {
    match before {
        None => Some(0),
        Some(before) => before.0.checked_add(1),
    }
}

/// Where a body is written to.
pub(super) trait Sink {
    fn lead(&mut self, lead: Lead);
    fn archetype(&mut self, archetype: u8);
    fn contents(&mut self, archetype: usize, known: &Known<'_>, now: &BlockView<'_>);
    fn finish(self, target: Target);
}

/// Where a body is read from.
pub(super) trait Source {
    fn lead(&mut self, before: Option<BlockNumber>) -> Result<Lead, DecodeError>;
    /// Reads an archetype, which must be below `bound`.
    fn archetype(&mut self, bound: usize) -> Result<usize, DecodeError>;
    fn contents(
        &mut self,
        archetype: usize,
        known: &Known<'_>,
        into: &mut BlockBuf,
    ) -> Result<(), DecodeError>;
    /// Whether another block follows the one that was read.
    fn has_more(&mut self) -> Result<bool, DecodeError>;
    /// How many bytes were read.
    fn finish(self) -> Result<usize, DecodeError>;
}

/// Bits of a packed lead.
mod lead {
    /// The block did not exist at the baseline.
    pub(super) const NEW: u8 = 1;
    /// No block follows this one.
    pub(super) const LAST: u8 = 2;
    /// From here on, how many block numbers were skipped.
    pub(super) const SKIPPED: u32 = 2;
    /// So many or more: the number follows.
    pub(super) const FAR: u8 = 63;
}

pub(super) struct PackedSink<'a> {
    out: &'a mut Vec<u8>,
    last_lead: usize,
}

impl<'a> PackedSink<'a> {
    pub(super) const fn new(out: &'a mut Vec<u8>) -> Self {
        let last_lead = out.len();
        Self { out, last_lead }
    }

    /// A body that goes on, whose last lead is there.
    pub(super) const fn behind(out: &'a mut Vec<u8>, last_lead: usize) -> Self {
        Self { out, last_lead }
    }
}

impl Sink for PackedSink<'_> {
    fn lead(&mut self, lead: Lead) {
        self.last_lead = self.out.len();
        let near = u8::try_from(lead.skipped())
            .unwrap_or(u8::MAX)
            .min(lead::FAR);
        let new = if lead.is_new { lead::NEW } else { 0 };
        self.out.push(near << lead::SKIPPED | new);
        if near == lead::FAR {
            self.out.extend(lead.block.0.to_le_bytes());
        }
    }

    fn archetype(&mut self, archetype: u8) {
        self.out.push(archetype);
    }

    fn contents(&mut self, _: usize, known: &Known<'_>, now: &BlockView<'_>) {
        coder::encode_packed(known, now, self.out);
    }

    fn finish(self, target: Target) {
        if target == Target::Place
            && let Some(lead) = self.out.get_mut(self.last_lead)
        {
            *lead |= lead::LAST;
        }
    }
}

pub(super) struct PackedSource<'a> {
    r: BitReader<'a>,
    is_last: bool,
}

impl<'a> PackedSource<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        let r = BitReader::new(bytes);
        Self { r, is_last: false }
    }

    fn byte(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        Ok(self.r.unsigned(field, 8)?.to_le_bytes()[0])
    }
}

impl Source for PackedSource<'_> {
    fn lead(&mut self, before: Option<BlockNumber>) -> Result<Lead, DecodeError> {
        let at_bit = self.r.at_bit();
        let flags = self.byte("lead")?;
        let (near, next) = (flags >> lead::SKIPPED, next_number(before));
        let block = if near == lead::FAR {
            let [low, high] = [self.byte("block")?, self.byte("block")?];
            let far = u16::from_le_bytes([low, high]);
            next.filter(|next| far >= *next).map(|_| far)
        } else {
            next.and_then(|next| next.checked_add(near.into()))
        };
        self.is_last = flags & lead::LAST != 0;
        Ok(Lead {
            before,
            block: BlockNumber(block.ok_or_else(|| forbidden("lead", at_bit, flags.into()))?),
            is_new: flags & lead::NEW != 0,
        })
    }

    fn archetype(&mut self, bound: usize) -> Result<usize, DecodeError> {
        let at_bit = self.r.at_bit();
        let archetype = self.byte("archetype")?;
        below(bound, archetype.into(), at_bit)
    }

    fn contents(
        &mut self,
        _: usize,
        known: &Known<'_>,
        into: &mut BlockBuf,
    ) -> Result<(), DecodeError> {
        coder::decode_packed(known, &mut self.r, into)
    }

    fn has_more(&mut self) -> Result<bool, DecodeError> {
        Ok(!self.is_last)
    }

    fn finish(self) -> Result<usize, DecodeError> {
        Ok(self.r.at_bit() as usize / 8)
    }
}

impl Sink for CodedEncoder<'_> {
    fn lead(&mut self, lead: Lead) {
        if lead.before.is_some() {
            self.plain(1, 1);
        }
        self.plain(lead.is_new.into(), 1);
        let is_far = lead.skipped() > 0;
        self.plain(is_far.into(), 1);
        if is_far {
            self.plain(lead.block.0.into(), 16);
        }
    }

    fn archetype(&mut self, archetype: u8) {
        self.plain(archetype.into(), 8);
    }

    fn contents(&mut self, archetype: usize, known: &Known<'_>, now: &BlockView<'_>) {
        self.block(archetype, known, now);
    }

    fn finish(mut self, target: Target) {
        if target == Target::Place {
            self.plain(0, 1);
        }
        CodedEncoder::finish(self);
    }
}

impl Source for CodedDecoder<'_> {
    fn lead(&mut self, before: Option<BlockNumber>) -> Result<Lead, DecodeError> {
        let is_new = self.plain("new", 1)? == 1;
        let next = next_number(before);
        let block = match self.plain("far", 1)? {
            0 => next,
            _ => {
                let far = u16::try_from(self.plain("block", 16)?).ok();
                far.filter(|far| next.is_some_and(|next| *far > next))
            }
        };
        Ok(Lead {
            before,
            block: BlockNumber(block.ok_or_else(|| forbidden("block", 0, 0))?),
            is_new,
        })
    }

    fn archetype(&mut self, bound: usize) -> Result<usize, DecodeError> {
        let archetype = self.plain("archetype", 8)?;
        below(bound, archetype, 0)
    }

    fn contents(
        &mut self,
        archetype: usize,
        known: &Known<'_>,
        into: &mut BlockBuf,
    ) -> Result<(), DecodeError> {
        self.block(archetype, known, into)
    }

    fn has_more(&mut self) -> Result<bool, DecodeError> {
        Ok(self.plain("more", 1)? == 1)
    }

    fn finish(self) -> Result<usize, DecodeError> {
        CodedDecoder::finish(self)
    }
}

fn below(bound: usize, archetype: u32, at_bit: u32) -> Result<usize, DecodeError> {
    let fits = usize::try_from(archetype).ok().filter(|it| *it < bound);
    fits.ok_or_else(|| forbidden("archetype", at_bit, archetype.into()))
}

const fn forbidden(field: &'static str, at_bit: u32, value: u64) -> DecodeError {
    DecodeError::Forbidden {
        field,
        at_bit,
        value,
    }
}
