//! The two ends of a run, behind one trait: so that how a block is coded is written once.
//!
//! Whatever is coded is passed to [`Side`] and taken from what it returns. The encoder is passed the
//! truth and returns it. The decoder is passed anything and returns what it read.

use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_wire::DecodeError;
use tickwire_wire::range::{RangeDecoder, RangeEncoder};

use crate::block::{BlockBuf, BlockView};
use crate::coder::coded::model::{Model, Start};

/// One end of a run.
pub(in crate::coder) trait Side {
    /// What it keeps of a context.
    type Model: From<Start>;

    /// Codes a bit.
    fn bit(&mut self, model: &mut Self::Model, bit: bool) -> bool;

    /// Codes the lowest `bits` bits of a value, at most 16, without a model.
    fn plain(&mut self, value: u32, bits: u32) -> u32;

    /// Fails if the input ended before `field` did.
    fn check(&self, field: &'static str) -> Result<(), DecodeError>;

    /// Where it is.
    fn at_bit(&self) -> u32;
}

impl Side for RangeEncoder<'_> {
    type Model = Model;

    #[inline]
    fn bit(&mut self, model: &mut Model, bit: bool) -> bool {
        self.bit(model.one(), bit);
        model.learn(bit);
        bit
    }

    #[inline]
    fn plain(&mut self, value: u32, bits: u32) -> u32 {
        self.plain(value, bits);
        value
    }

    fn check(&self, _: &'static str) -> Result<(), DecodeError> {
        Ok(())
    }

    fn at_bit(&self) -> u32 {
        0
    }
}

impl Side for RangeDecoder<'_> {
    type Model = Model;

    #[inline]
    fn bit(&mut self, model: &mut Model, _: bool) -> bool {
        let bit = self.bit(model.one());
        model.learn(bit);
        bit
    }

    #[inline]
    fn plain(&mut self, _: u32, bits: u32) -> u32 {
        self.plain(bits)
    }

    #[inline]
    fn check(&self, field: &'static str) -> Result<(), DecodeError> {
        self.check(field)
    }

    fn at_bit(&self) -> u32 {
        self.at_bit()
    }
}

/// The block that a run is at: read by the encoder, written by the decoder.
pub(in crate::coder) trait Subject {
    /// What lies in a lane.
    fn lane(&self, lane: usize, slot: u8) -> u32;
    /// Says what lies there.
    fn set_lane(&mut self, lane: usize, slot: u8, value: u32);
    /// The occupant of a slot.
    fn id(&self, slot: u8) -> u32;
    /// Says who occupies it.
    fn set_id(&mut self, slot: u8, id: u32);
    /// Empties the slots of a set.
    fn vacate(&mut self, slots: u64);
    /// A value of a field that holds bytes.
    fn bytes(&self, field: usize, slot: u8) -> &[u8];
    /// Says what it is.
    fn set_bytes(&mut self, field: usize, slot: u8, value: Vec<u8>);
}

/// The encoder knows all there is to say.
impl Subject for &BlockView<'_> {
    #[inline]
    fn lane(&self, lane: usize, slot: u8) -> u32 {
        BlockView::lane(self, lane, slot)
    }

    fn set_lane(&mut self, _: usize, _: u8, _: u32) {}

    fn id(&self, slot: u8) -> u32 {
        self.ids.get(usize::from(slot)).copied().unwrap_or_default()
    }

    fn set_id(&mut self, _: u8, _: u32) {}

    fn vacate(&mut self, _: u64) {}

    fn bytes(&self, field: usize, slot: u8) -> &[u8] {
        self.bytes_at(field, slot)
    }

    fn set_bytes(&mut self, _: usize, _: u8, _: Vec<u8>) {}
}

impl Subject for &mut BlockBuf {
    fn lane(&self, _: usize, _: u8) -> u32 {
        0
    }

    #[inline]
    fn set_lane(&mut self, lane: usize, slot: u8, value: u32) {
        if let Some(place) = self.lanes.get_mut(lane * crate::SLOTS + usize::from(slot)) {
            *place = value;
        }
    }

    fn id(&self, _: u8) -> u32 {
        0
    }

    fn set_id(&mut self, slot: u8, id: u32) {
        self.occupied |= 1 << slot;
        if let Some(place) = self.ids.get_mut(usize::from(slot)) {
            *place = id;
        }
    }

    fn vacate(&mut self, slots: u64) {
        BlockBuf::vacate(self, slots);
    }

    fn bytes(&self, _: usize, _: u8) -> &[u8] {
        &[]
    }

    fn set_bytes(&mut self, field: usize, slot: u8, value: Vec<u8>) {
        BlockBuf::set_bytes(self, field, slot, Arc::from(value));
    }
}
