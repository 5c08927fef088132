//! What differs from the terrain.
//!
//! Edits are few compared to cells, so they all stay in memory, as long as the world is open: a chunk
//! that was dropped can be made again without asking a disk. They are bounded by
//! [`limits::EDITED_BLOCKS`] and [`limits::EDITED_CHUNKS`]. An edit that brings back what was there
//! in the beginning is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::digest::Digest;
use super::store::Entry;
use super::{Block, BlockId, Chunk, ChunkId, Spot, Sublayer, Version, limits};

/// All edits of a world.
#[derive(Debug, Default)]
pub(super) struct Edits {
    patches: Patches,
    /// Of all patches together.
    blocks: usize,
    /// Counts changes; see [`Version`].
    latest: Version,
}

/// The edits of one chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    /// Of the chunk with these edits.
    version: Version,
    /// In the order of their places.
    changes: Vec<Change>,
}

/// One block that is not what it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Change {
    pub(super) place: Place,
    /// What the terrain has here.
    pub(super) was: Block,
    pub(super) is: Block,
}

/// A block within its chunk.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) sublayer: Sublayer,
    pub(super) spot: Spot,
}

/// The patches of all chunks that have edits. Clones share them.
pub(super) type Patches = BTreeMap<ChunkId, Arc<Patch>>;

/// The world holds as many edits as it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoRoom;

impl Edits {
    /// Edits that come from storage: those of a snapshot, and behind them those of the journal.
    pub(super) fn of_stored(patches: Patches, journal: Vec<Entry>) -> Self {
        let mut edits = Self {
            blocks: patches.values().map(|patch| patch.changes.len()).sum(),
            patches,
            latest: Version::STORED,
        };
        for (chunk, change) in journal {
            if edits.has_room(1) {
                edits.apply(chunk, change);
            }
        }
        edits
    }

    /// Whether so many more blocks can be edited, in as many chunks.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.blocks + more <= limits::EDITED_BLOCKS
            && self.patches.len() + more <= limits::EDITED_CHUNKS
    }

    /// Notes that a block changes from what it `was` a moment ago to what it `is`. Gives the number of
    /// the chunk's new content, and what the journal is to say.
    pub(super) fn record(
        &mut self,
        at: BlockId,
        was: Block,
        is: Block,
    ) -> Result<(Version, Entry), NoRoom> {
        let chunk = at.chunk();
        let place = Place::of(at);
        let known = self.patches.get(&chunk);
        let edited = known.and_then(|patch| patch.change_at(place));
        // The first edit in a chunk needs a patch too, a further one only a place in it.
        if edited.is_none()
            && (self.blocks >= limits::EDITED_BLOCKS
                || known.is_none() && self.patches.len() >= limits::EDITED_CHUNKS)
        {
            return Err(NoRoom);
        }
        // The block that is replaced may be an edit itself: a change is stored against the terrain.
        let was = edited.map_or(was, |edit| edit.was);
        let change = Change { place, was, is };
        Ok((self.apply(chunk, change), (chunk, change)))
    }

    /// Applies a change.
    fn apply(&mut self, chunk: ChunkId, change: Change) -> Version {
        self.latest = Version(self.latest.0 + 1);
        // Copies the patch only while the one that is being stored still needs it as it was.
        let patch = Arc::make_mut(self.patches.entry(chunk).or_default());
        self.blocks -= patch.changes.len();
        patch.apply(change);
        patch.version = self.latest;
        self.blocks += patch.changes.len();
        if patch.changes.is_empty() {
            self.patches.remove(&chunk);
        }
        self.latest
    }

    /// Brings a chunk from the terrain up to date.
    pub(super) fn apply_to(&self, id: ChunkId, chunk: &mut Chunk) {
        let Some(patch) = self.patches.get(&id) else {
            return;
        };
        for change in &patch.changes {
            chunk.set_block(change.place.sublayer, change.place.spot, change.is);
        }
        chunk.set_version(patch.version);
    }

    /// How many blocks differ from the terrain.
    pub(super) const fn blocks(&self) -> usize {
        self.blocks
    }

    /// The number of the newest change.
    pub(super) const fn latest(&self) -> Version {
        self.latest
    }

    pub(super) const fn patches(&self) -> &Patches {
        &self.patches
    }

    pub(super) fn add_to(&self, digest: &mut Digest) {
        for (id, patch) in &self.patches {
            digest.add(u64::from(id.set.0));
            digest
                .add(u64::from(id.at.x.cast_unsigned()) << 32 | u64::from(id.at.y.cast_unsigned()));
            for change in &patch.changes {
                let [typ, col, ch] = change.is.to_bytes();
                let [low, high] = change.place.number().to_le_bytes();
                digest.add(u64::from_le_bytes([low, high, typ, col, ch, 0, 0, 0]));
            }
        }
    }
}

impl Patch {
    /// The patch with these changes; `None` if they are not in order.
    pub(super) fn of_stored(changes: Vec<Change>) -> Option<Self> {
        let ordered = changes.windows(2).all(|pair| pair[0].place < pair[1].place);
        ordered.then_some(Self {
            version: Version::STORED,
            changes,
        })
    }

    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn find(&self, place: Place) -> Result<usize, usize> {
        self.changes
            .binary_search_by_key(&place, |change| change.place)
    }

    fn change_at(&self, place: Place) -> Option<Change> {
        self.find(place).ok().map(|index| self.changes[index])
    }

    fn apply(&mut self, change: Change) {
        match self.find(change.place) {
            Ok(index) if change.was == change.is => {
                self.changes.remove(index);
            }
            Ok(index) => self.changes[index] = change,
            Err(_) if change.was == change.is => {}
            Err(index) => self.changes.insert(index, change),
        }
    }
}

impl Place {
    fn of(block: BlockId) -> Self {
        Self {
            sublayer: block.sublayer,
            spot: block.cell.spot(),
        }
    }

    /// 13 bits: the sublayer, then the cell.
    pub(super) const fn number(self) -> u16 {
        let sublayer = match self.sublayer {
            Sublayer::Walkable => 0,
            Sublayer::Solid => SOLID_BIT,
        };
        sublayer | self.spot.number()
    }

    pub(super) fn of_number(number: u16) -> Option<Self> {
        let sublayer = if number & SOLID_BIT == 0 {
            Sublayer::Walkable
        } else {
            Sublayer::Solid
        };
        let spot = Spot::of_number(number & !SOLID_BIT)?;
        Some(Self { sublayer, spot })
    }
}

const SOLID_BIT: u16 = 1 << 12;
