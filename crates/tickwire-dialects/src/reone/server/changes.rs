//! What has to be said of an object, encoded once for all who hold the same version of it.
//!
//! Clients acknowledge every snapshot, so most of them hold the same few versions, and what they have
//! to be told is the same bytes. They are made when the first client needs them, and forgotten with the
//! next snapshot. A table of a few entries for each slot finds them without a search.

use alloc::vec::Vec;

use tickwire_wire::Messages as _;

use super::limits::STATUS_MAX;
use super::world::{SlotNumber, World};
use crate::reone::message::DownElement;
use crate::reone::{SnapshotSeq, Writer};

#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The snapshot that they lead to.
    of: SnapshotSeq,
    bytes: Vec<u8>,
    made: Vec<[Made; WAYS]>,
}

/// What has to be said of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    pub(super) list: u8,
    length: u8,
    at: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Made {
    /// The snapshot for which it was made.
    of: SnapshotSeq,
    /// For whoever holds this version.
    held: Option<SnapshotSeq>,
    change: Change,
}

/// Versions of one object that are remembered at a time. Consecutive ones never meet in one place, and
/// round trips of more than this many snapshots are rare.
const WAYS: usize = 8;

impl Changes {
    /// Forgets everything: there is a new snapshot.
    pub(super) fn begin(&mut self, world: &World) {
        self.of = world.newest();
        self.bytes.clear();
        if self.made.len() < world.slots() {
            self.made.resize(world.slots(), Default::default());
        }
    }

    /// What has to be said to whoever holds this version of an object, or nothing of it.
    #[inline]
    pub(super) fn find(
        &mut self,
        world: &World,
        slot: SlotNumber,
        held: Option<SnapshotSeq>,
    ) -> Change {
        let way = held.map_or(0, |held| held.0 as usize % WAYS);
        let made = self.made.get(slot.index()).and_then(|ways| ways.get(way));
        match made {
            Some(made) if made.of == self.of && made.held == held => made.change,
            _ => self.make(world, slot, held, way),
        }
    }

    /// The element, encoded. Empty if nothing changed.
    #[inline]
    pub(super) fn bytes(&self, change: Change) -> &[u8] {
        let at = change.at as usize;
        self.bytes.get(at..at + change.length()).unwrap_or_default()
    }

    fn make(
        &mut self,
        world: &World,
        slot: SlotNumber,
        held: Option<SnapshotSeq>,
        way: usize,
    ) -> Change {
        let at = self.bytes.len();
        let mut change = Change {
            list: DownElement::KEEP_ALIVE,
            length: 0,
            at: u32::try_from(at).unwrap_or(u32::MAX),
        };
        if let Some(element) = world.change_since(slot, held) {
            element.encode(&mut Writer::new(&mut self.bytes, STATUS_MAX));
            change.list = element.number();
            change.length = u8::try_from(self.bytes.len() - at).unwrap_or(u8::MAX);
        }
        let made = self.made.get_mut(slot.index());
        if let Some(made) = made.and_then(|ways| ways.get_mut(way)) {
            let of = self.of;
            *made = Made { of, held, change };
        }
        change
    }
}

impl Change {
    pub(super) const fn length(self) -> usize {
        self.length as usize
    }

    /// Nothing changed.
    pub(super) const fn is_nothing(self) -> bool {
        self.length == 0
    }
}
