//! The body of a record: what changed in one block, or in all blocks of a place.
//!
//! [`encode`] is a pure function of the blocks and of the versions that the receiver holds: nothing of a
//! client is in it, so that one record serves all who hold the same. [`decode`] reads a stranger's bytes
//! into a [`Staging`], where they change nothing until the whole packet was read. Which blocks and which
//! versions to name is the server's to decide; the frame around a body is [`packet`](crate::packet)'s.
//! [`spec`](crate::spec) has the layout.

mod form;
mod parts;
mod staging;

pub(crate) use parts::{Part, encode_parts};
pub use staging::{Staged, Staging};

use alloc::vec::Vec;
use core::fmt;

use tickwire_wire::DecodeError;

use crate::archetype::Schema;
use crate::block::BlockView;
use crate::coder::{CodedDecoder, CodedEncoder, Known, Prior, Scratch};
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::packet::{Form, RecordHead, Target};
use crate::schema::Field;
use form::{Lead, PackedSink, PackedSource, Sink, Source};

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

/// What the coded form needs besides the blocks: where its models begin, and a place to work in.
#[derive(Debug)]
pub struct Coding {
    prior: Prior,
    scratch: Scratch,
    /// A packed block, and how long each of a record's is.
    packed: Vec<u8>,
    lengths: Vec<usize>,
}

impl Coding {
    /// Coding with a prior, which must be the other side's too.
    pub fn new(prior: Prior) -> Self {
        Self {
            prior,
            scratch: Scratch::default(),
            packed: Vec::new(),
            lengths: Vec::new(),
        }
    }
}

/// Appends a body. `blocks` are in ascending order; of a [`Target::Block`] there is one.
///
/// Whoever is sent `head` must hold what it names; see [`Changed`].
pub fn encode<'a>(
    head: &RecordHead,
    blocks: impl IntoIterator<Item = Changed<'a>>,
    coding: &mut Coding,
    out: &mut Vec<u8>,
) {
    match head.form {
        Form::Packed => encode_into(PackedSink::new(out), head, blocks),
        Form::Coded => {
            let Coding { prior, scratch, .. } = coding;
            encode_into(CodedEncoder::new(prior, scratch, out), head, blocks);
        }
    }
}

fn encode_into<'a>(
    mut sink: impl Sink,
    head: &RecordHead,
    blocks: impl IntoIterator<Item = Changed<'a>>,
) {
    let mut before = None;
    for changed in blocks {
        let lead = (head.target == Target::Place).then(|| Lead::of(head, before, &changed));
        put(&mut sink, head, lead, &changed);
        before = Some(changed.block);
    }
    sink.finish(head.target);
}

/// Writes one block, behind its lead if it has one.
fn put(sink: &mut impl Sink, head: &RecordHead, lead: Option<Lead>, changed: &Changed<'_>) {
    if let Some(lead) = lead {
        sink.lead(lead);
    }
    if changed.baseline.is_none() {
        sink.archetype(changed.archetype.to_le_bytes()[0]);
    }
    let known = Known {
        fields: changed.fields,
        baseline: changed.baseline,
        previous: changed.previous.filter(|_| head.ages.previous > 0),
        ages: head.ages,
    };
    sink.contents(changed.archetype, &known, &changed.now);
}

/// What a reader of records has.
#[derive(Debug)]
pub struct Reading<'a, H> {
    /// What there can be.
    pub schema: &'a Schema,
    /// What is held.
    pub held: &'a H,
    /// The send that the records are of.
    pub send: SendIndex,
}

/// Reads a body from the start of `bytes` and says how long it is. After an error, what was staged is
/// of no use.
pub fn decode(
    head: &RecordHead,
    reading: &Reading<'_, impl Held>,
    bytes: &[u8],
    coding: &mut Coding,
    staging: &mut Staging,
) -> Result<usize, RecordError> {
    match head.form {
        Form::Packed => reading.blocks(PackedSource::new(bytes), head, staging),
        Form::Coded => {
            let Coding { prior, scratch, .. } = coding;
            let decoder = CodedDecoder::new(prior, scratch, bytes);
            reading.blocks(decoder, head, staging)
        }
    }
}

impl<H: Held> Reading<'_, H> {
    fn blocks(
        &self,
        mut source: impl Source,
        head: &RecordHead,
        staging: &mut Staging,
    ) -> Result<usize, RecordError> {
        let has_baseline = head.ages.baseline > 0;
        match head.target {
            Target::Block(block) => {
                self.block(&mut source, head, block, !has_baseline, staging)?;
            }
            Target::Place => {
                let mut before = None;
                loop {
                    let Lead { block, is_new, .. } = source.lead(before)?;
                    let is_new = is_new || !has_baseline;
                    self.block(&mut source, head, block, is_new, staging)?;
                    before = Some(block);
                    if !source.has_more()? {
                        break;
                    }
                }
            }
        }
        Ok(source.finish()?)
    }

    fn block(
        &self,
        source: &mut impl Source,
        head: &RecordHead,
        block: BlockNumber,
        is_new: bool,
        staging: &mut Staging,
    ) -> Result<(), RecordError> {
        let place = head.place;
        let name = BlockName { place, block };
        let (archetype, baseline, previous) = if is_new {
            let known = self.schema.archetypes().len();
            (source.archetype(known)?, None, None)
        } else {
            let (archetype, baseline) = self.version(name, head.ages.baseline)?;
            let previous = match head.ages.previous {
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
            ages: head.ages,
        };
        source.contents(archetype, &known, staging.add(name, archetype))?;
        Ok(())
    }

    fn version(&self, name: BlockName, age: u8) -> Result<(usize, BlockView<'_>), RecordError> {
        let send = self.send.before(age.into());
        let held = self.held.block_at(name, send);
        held.ok_or(RecordError::Lacking { name, send })
    }
}

#[cfg(test)]
mod tests;
