//! Up to 64 entities of one archetype, column by column: the unit of storage, history and knowledge.
//!
//! [`BlockView`] is a block as coders read it, wherever it is stored. [`BlockBuf`] is a block as
//! decoders write it. Neither knows what the lanes mean: that is the schema's.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::Field;
use crate::coder::packed_bound;
use crate::limits::RECORD_MAX;
use crate::schema;

/// Slots of a block.
pub const SLOTS: usize = 64;

/// How many slots a block of these fields uses, so that a full one fits a record in the packed form; 0 if
/// not even one does.
pub fn slots_of(fields: &[Field]) -> usize {
    let fits = |slots: &usize| packed_bound(fields, *slots) + RECORD_LEAD <= RECORD_MAX;
    (1..=SLOTS).rev().find(fits).unwrap_or(0)
}

/// What a record's body says of a block beside its contents: its number, and what its entities are.
const RECORD_LEAD: usize = 4;

/// One lane of all slots.
pub(crate) type Column = [u32; SLOTS];

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

impl<'a> BlockView<'a> {
    /// A block without occupants.
    pub(crate) const EMPTY: Self = Self {
        occupied: 0,
        ids: &[],
        lanes: &[],
        bytes: &[],
    };

    /// What lies in one lane of one slot. A block that lacks it reads as zeros.
    #[inline]
    pub(crate) fn lane(&self, lane: usize, slot: u8) -> u32 {
        let at = lane * SLOTS + usize::from(slot);
        self.lanes.get(at).copied().unwrap_or_default()
    }

    /// One lane of all slots. A block that lacks it reads as zeros.
    pub(crate) fn column(&self, lane: usize) -> &'a Column {
        let from = self.lanes.get(lane * SLOTS..);
        from.and_then(<[u32]>::first_chunk).unwrap_or(&[0; SLOTS])
    }

    /// The ids of all slots.
    pub(crate) fn ids(&self) -> &'a Column {
        self.ids.first_chunk().unwrap_or(&[0; SLOTS])
    }

    /// One value of a field that holds bytes.
    pub(crate) fn bytes_at(&self, field: usize, slot: u8) -> &'a [u8] {
        let at = field * SLOTS + usize::from(slot);
        self.bytes.get(at).map_or(&[], |value| value)
    }
}

/// One version of a block, as record decoders write it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BlockBuf {
    /// As in [`BlockView`].
    pub occupied: u64,
    /// As in [`BlockView`].
    pub ids: Vec<u32>,
    /// As in [`BlockView`].
    pub lanes: Vec<u32>,
    /// As in [`BlockView`].
    pub bytes: Vec<Arc<[u8]>>,
}

impl BlockBuf {
    /// The block, to read.
    pub fn view(&self) -> BlockView<'_> {
        BlockView {
            occupied: self.occupied,
            ids: &self.ids,
            lanes: &self.lanes,
            bytes: &self.bytes,
        }
    }

    /// Makes it a copy of `from`, or a block without occupants.
    pub fn assign(&mut self, fields: &[Field], from: Option<BlockView<'_>>) {
        let (lanes, bytes) = (
            schema::lanes(fields) * SLOTS,
            schema::bytes_fields(fields).count() * SLOTS,
        );
        self.ids.clear();
        self.lanes.clear();
        self.bytes.clear();
        self.occupied = 0;
        if let Some(from) = from {
            self.occupied = from.occupied;
            self.ids.extend_from_slice(from.ids);
            self.lanes.extend_from_slice(from.lanes);
            self.bytes.extend_from_slice(from.bytes);
        }
        self.ids.resize(SLOTS, 0);
        self.lanes.resize(lanes, 0);
        if bytes > 0 {
            self.bytes.resize(bytes, Arc::default());
        }
    }

    /// Makes it a copy of a block of the same archetype.
    pub(crate) fn copy_from(&mut self, from: &Self) {
        self.occupied = from.occupied;
        self.ids.clone_from(&from.ids);
        self.lanes.clone_from(&from.lanes);
        self.bytes.clone_from(&from.bytes);
    }

    /// One lane of all slots. The schema of [`assign`](Self::assign) must have it.
    pub(crate) fn column_mut(&mut self, lane: usize) -> &mut Column {
        let from = self.lanes.get_mut(lane * SLOTS..);
        from.and_then(<[u32]>::first_chunk_mut)
            .expect("assign made a column for every lane of the schema")
    }

    /// Replaces one value of a field that holds bytes.
    pub(crate) fn set_bytes(&mut self, field: usize, slot: u8, value: Arc<[u8]>) {
        if let Some(place) = self.bytes.get_mut(field * SLOTS + usize::from(slot)) {
            *place = value;
        }
    }

    /// Empties the slots of a set, so that nothing of their occupants is left.
    pub(crate) fn vacate(&mut self, slots: u64) {
        self.occupied &= !slots;
        for (slot, id) in self.ids.iter_mut().enumerate() {
            if slots >> slot & 1 == 1 {
                *id = 0;
            }
        }
        let columns = self.lanes.chunks_mut(SLOTS);
        for (slot, value) in columns.flat_map(|column| column.iter_mut().enumerate()) {
            if slots >> slot & 1 == 1 {
                *value = 0;
            }
        }
        let columns = self.bytes.chunks_mut(SLOTS);
        for (slot, value) in columns.flat_map(|column| column.iter_mut().enumerate()) {
            if slots >> slot & 1 == 1 {
                *value = Arc::default();
            }
        }
    }
}
