//! Up to 64 entities of one archetype, column by column: the unit of storage, history and knowledge.

use alloc::sync::Arc;

/// Slots of a block.
pub const SLOTS: usize = 64;

/// One version of a block, as record coders read it.
#[derive(Clone, Copy, Debug)]
pub struct BlockView<'a> {
    /// Bit `n` set: slot `n` has an occupant.
    pub occupied: u64,
    /// The occupants' ids, one a slot; 0 where there is none.
    pub ids: &'a [u32],
    /// Lane by lane: the value of lane `l` in slot `s` is at `l * SLOTS + s`; 0 where nobody is.
    pub lanes: &'a [u32],
    /// Values of fields that hold bytes, laid out in the same way.
    pub bytes: &'a [Arc<[u8]>],
}
