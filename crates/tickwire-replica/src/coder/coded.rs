//! The coded form of a record: all blocks of it in one run of a range coder.
//!
//! In: blocks, one after the other, each with what both sides know of it, and numbers that belong
//! between them. Out: bytes that end by themselves. Models begin as the [`Prior`] says, learn from
//! every bit of the run and carry on from block to block. WIRE.md has the layout.

mod entity;
pub(in crate::coder) mod model;
pub(in crate::coder) mod residual;
pub(in crate::coder) mod run;
pub(in crate::coder) mod side;

use alloc::vec::Vec;

use tickwire_wire::DecodeError;
use tickwire_wire::range::{RangeDecoder, RangeEncoder};

use crate::block::{BlockBuf, BlockView};
use crate::coder::Known;
use crate::coder::coded::model::Model;
use crate::coder::coded::run::{Run, Storage};
use crate::coder::prior::Prior;
use crate::coder::slots::Changes;

/// What a run works in. Kept from one run to the next, it makes them allocate nothing.
#[derive(Debug, Default)]
pub struct Scratch(Storage<Model>);

/// Writes one run.
#[derive(Debug)]
pub struct CodedEncoder<'a> {
    run: Run<'a, RangeEncoder<'a>>,
}

impl<'a> CodedEncoder<'a> {
    /// Appends to `out`.
    pub fn new(prior: &'a Prior, scratch: &'a mut Scratch, out: &'a mut Vec<u8>) -> Self {
        scratch.0.forget();
        let run = Run::new(prior, &mut scratch.0, RangeEncoder::new(out));
        Self { run }
    }

    /// Writes a number of at most 16 bits as it is.
    pub fn plain(&mut self, value: u32, bits: u32) {
        self.run.side.plain(value, bits);
    }

    /// Writes what changed in a block. Its archetype's fields must be those of `known`.
    pub fn block(&mut self, archetype: usize, known: &Known<'_>, now: &BlockView<'_>) {
        let changes = Changes::between(known, now);
        let coded = self.run.block(archetype, known, &changes, now);
        coded.expect("only a decoder's input can be wrong");
    }

    /// How long the buffer is by now, at least: the last few bytes are not certain before the end.
    pub(crate) const fn written(&self) -> usize {
        self.run.side.written()
    }

    /// Ends the run.
    pub fn finish(self) {
        self.run.side.finish();
    }
}

/// Reads one run.
#[derive(Debug)]
pub struct CodedDecoder<'a> {
    run: Run<'a, RangeDecoder<'a>>,
}

impl<'a> CodedDecoder<'a> {
    /// Reads a run that begins with these bytes; others may follow it.
    pub fn new(prior: &'a Prior, scratch: &'a mut Scratch, bytes: &'a [u8]) -> Self {
        scratch.0.forget();
        let run = Run::new(prior, &mut scratch.0, RangeDecoder::new(bytes));
        Self { run }
    }

    /// Reads a number of at most 16 bits.
    pub fn plain(&mut self, field: &'static str, bits: u32) -> Result<u32, DecodeError> {
        let value = self.run.side.plain(bits);
        self.run.side.check(field)?;
        Ok(value)
    }

    /// Reads what changed in a block. What `into` holds after an error is of no use.
    pub fn block(
        &mut self,
        archetype: usize,
        known: &Known<'_>,
        into: &mut BlockBuf,
    ) -> Result<(), DecodeError> {
        into.assign(known.fields, known.baseline);
        self.run.block(archetype, known, &Changes::default(), into)
    }

    /// How many bytes the run took; fails if they are not as an encoder writes them.
    pub fn finish(self) -> Result<usize, DecodeError> {
        self.run.side.finish()
    }
}
