//! The body of a record: what changed in one block, or in all blocks of a place.
//!
//! [`encode`] is a pure function of the blocks and of the versions that the receiver holds: nothing of a
//! client is in it, so that one record serves all who hold the same. [`decode`] reads a stranger's bytes
//! into a [`Staging`], where they change nothing until the whole packet was read. Which blocks and which
//! versions to name is the server's to decide; the frame around a body is [`packet`](crate::packet)'s.
//! [`spec`](crate::spec) has the layout.

mod staging;

pub use staging::{Staged, Staging};

use alloc::vec::Vec;
use core::fmt;

use tickwire_wire::{BitReader, DecodeError};

use crate::archetype::Schema;
use crate::block::BlockView;
use crate::coder::{self, Known};
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::packet::{Form, RecordHead, Target};
use crate::schema::Field;

/// A block to encode.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    /// Its number.
    pub block: BlockNumber,
    /// What its entities are.
    pub archetype: usize,
    /// The fields of that archetype.
    pub fields: &'a [Field],
    /// The block as it was at the record's baseline; nothing if it did not exist then.
    pub baseline: Option<BlockView<'a>>,
    /// The block as it was at the record's previous send. Every block that has a baseline must have
    /// been there at `previous` too, if the record names one.
    pub previous: Option<BlockView<'a>>,
    /// The block as it is.
    pub now: BlockView<'a>,
}

/// The versions that a reader holds.
pub trait Held {
    /// A block as it was at a send: what its entities are, and itself. Nothing if that is not held.
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)>;
}

/// A block among those of all places.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct BlockName {
    /// The place.
    pub place: PlaceNumber,
    /// Its number there.
    pub block: BlockNumber,
}

/// Why a record cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RecordError {
    /// Its bytes are none.
    Malformed(DecodeError),
    /// It is relative to something that the reader does not hold.
    Lacking {
        /// The block.
        name: BlockName,
        /// The send at which it is not held.
        send: SendIndex,
    },
}

impl From<DecodeError> for RecordError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::Lacking { name, send } => write!(
                f,
                "block {} of place {} is not held at send {send}",
                name.block.0, name.place.0
            ),
        }
    }
}

impl core::error::Error for RecordError {}

/// What stands before each block of a place's record.
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

/// Appends a body. `blocks` are in ascending order; of a [`Target::Block`] there is one.
///
/// Whoever is sent `head` must hold what it names; see [`Changed`].
pub fn encode<'a>(
    head: &RecordHead,
    blocks: impl IntoIterator<Item = Changed<'a>>,
    out: &mut Vec<u8>,
) {
    let mut next_number = 0;
    let mut lead_at = None;
    for changed in blocks {
        let is_new = changed.baseline.is_none();
        if head.target == Target::Place {
            lead_at = Some(out.len());
            let skipped = changed.block.0.wrapping_sub(next_number);
            let near = u8::try_from(skipped).unwrap_or(u8::MAX).min(lead::FAR);
            out.push(near << lead::SKIPPED | u8::from(is_new));
            if near == lead::FAR {
                out.extend(changed.block.0.to_le_bytes());
            }
            next_number = changed.block.0.wrapping_add(1);
        }
        if is_new {
            out.push(changed.archetype.to_le_bytes()[0]);
        }
        let known = Known {
            fields: changed.fields,
            baseline: changed.baseline,
            previous: changed.previous.filter(|_| head.ages.previous > 0),
            ages: head.ages,
        };
        coder::encode_packed(&known, &changed.now, out);
    }
    if let Some(lead) = lead_at.and_then(|at| out.get_mut(at)) {
        *lead |= lead::LAST;
    }
}

/// Reads a body of send `send` from the start of `bytes` and says how long it is. After an error, what
/// was staged is of no use.
pub fn decode(
    head: &RecordHead,
    send: SendIndex,
    schema: &Schema,
    held: &impl Held,
    bytes: &[u8],
    staging: &mut Staging,
) -> Result<usize, RecordError> {
    let mut r = BitReader::new(bytes);
    let decoder = Decoder {
        head,
        send,
        schema,
        held,
    };
    match head.target {
        Target::Block(block) => {
            let is_new = head.ages.baseline == 0;
            decoder.block(block, is_new, &mut r, staging)?;
        }
        Target::Place => {
            let mut next_number = 0;
            loop {
                let lead = Lead::decode(&mut r, next_number)?;
                let is_new = lead.is_new || head.ages.baseline == 0;
                decoder.block(BlockNumber(lead.block), is_new, &mut r, staging)?;
                if lead.is_last {
                    break;
                }
                next_number = lead.block.saturating_add(1);
            }
        }
    }
    Ok(r.at_bit() as usize / 8)
}

/// What stands before a block of a place's record.
struct Lead {
    block: u16,
    is_new: bool,
    is_last: bool,
}

impl Lead {
    /// Reads it; `next` is the number after the last block's.
    fn decode(r: &mut BitReader<'_>, next: u16) -> Result<Self, DecodeError> {
        let at_bit = r.at_bit();
        let flags = read_byte(r, "lead")?;
        let near = flags >> lead::SKIPPED;
        let block = if near == lead::FAR {
            let [low, high] = [read_byte(r, "block")?, read_byte(r, "block")?];
            Some(u16::from_le_bytes([low, high])).filter(|block| *block >= next)
        } else {
            next.checked_add(near.into())
        };
        Ok(Self {
            block: block.ok_or_else(|| DecodeError::Forbidden {
                field: "lead",
                at_bit,
                value: flags.into(),
            })?,
            is_new: flags & lead::NEW != 0,
            is_last: flags & lead::LAST != 0,
        })
    }
}

fn read_byte(r: &mut BitReader<'_>, field: &'static str) -> Result<u8, DecodeError> {
    Ok(r.unsigned(field, 8)?.to_le_bytes()[0])
}

struct Decoder<'a, H> {
    head: &'a RecordHead,
    send: SendIndex,
    schema: &'a Schema,
    held: &'a H,
}

impl<H: Held> Decoder<'_, H> {
    fn block(
        &self,
        block: BlockNumber,
        is_new: bool,
        r: &mut BitReader<'_>,
        staging: &mut Staging,
    ) -> Result<(), RecordError> {
        let name = BlockName {
            place: self.head.place,
            block,
        };
        let ages = self.head.ages;
        let (archetype, baseline, previous) = if is_new {
            (self.archetype(r)?, None, None)
        } else {
            let (archetype, baseline) = self.version(name, ages.baseline)?;
            let previous = match ages.previous {
                0 => None,
                age => {
                    let (same, previous) = self.version(name, age)?;
                    // A number that was used anew has nothing to do with what had it before.
                    (same == archetype).then_some(previous)
                }
            };
            (archetype, Some(baseline), previous)
        };
        let known = Known {
            fields: self.schema.fields(archetype),
            baseline,
            previous,
            ages,
        };
        let into = staging.add(name, archetype);
        match self.head.form {
            Form::Packed => coder::decode_packed(&known, r, into)?,
            Form::Coded => {
                return Err(RecordError::Malformed(DecodeError::Forbidden {
                    field: "form",
                    at_bit: 0,
                    value: 1,
                }));
            }
        }
        Ok(())
    }

    fn archetype(&self, r: &mut BitReader<'_>) -> Result<usize, DecodeError> {
        let at_bit = r.at_bit();
        let archetype = usize::from(read_byte(r, "archetype")?);
        if archetype < self.schema.archetypes().len() {
            return Ok(archetype);
        }
        Err(DecodeError::Forbidden {
            field: "archetype",
            at_bit,
            value: archetype as u64,
        })
    }

    fn version(&self, name: BlockName, age: u8) -> Result<(usize, BlockView<'_>), RecordError> {
        let send = self.send.before(age.into());
        let held = self.held.block_at(name, send);
        held.ok_or(RecordError::Lacking { name, send })
    }
}

#[cfg(test)]
mod tests;
