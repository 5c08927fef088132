//! A block as the world holds it: what it is, and what it was.
//!
//! The first write after a commit sets a copy of the block aside; further ones until the next commit
//! write in place. So an old version costs one copy, reading one costs none, and a block that nobody
//! touches costs nothing. Versions are kept at every tick for as long as the world can be read back, and
//! beyond that at sends only, as baselines.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_state::Tick;

use super::clock::Clock;
use crate::block::{BlockBuf, BlockView, SLOTS};
use crate::number::{BlockNumber, PlaceNumber};
use crate::schema::Field;

/// A block, and its history.
#[derive(Debug)]
pub(crate) struct Block {
    pub(super) place: PlaceNumber,
    pub(super) number: BlockNumber,
    /// What its entities are.
    pub(crate) archetype: usize,
    now: BlockBuf,
    /// The commit since which it is as it is; none if it never was committed.
    since: Tick,
    /// What it was, oldest first.
    versions: VecDeque<Version>,
    /// How many of the oldest versions are known to be baselines.
    baselines: usize,
    /// Whether it was written since the last commit.
    pub(super) is_touched: bool,
    /// Whether it was written since the last send.
    pub(super) is_changed: bool,
}

/// What a block was from one commit until the next version's.
#[derive(Debug)]
struct Version {
    since: Tick,
    block: BlockBuf,
}

impl Block {
    pub(super) fn new(place: PlaceNumber, number: BlockNumber, archetype: usize) -> Self {
        Self {
            place,
            number,
            archetype,
            now: BlockBuf::default(),
            since: Tick::NONE,
            versions: VecDeque::new(),
            baselines: 0,
            is_touched: false,
            is_changed: false,
        }
    }

    /// Makes room for entities of these fields. `lists` are of a block that is no more.
    pub(super) fn prepare(&mut self, fields: &[Field], mut buffer: BlockBuf, lists: &mut Self) {
        buffer.assign(fields, None);
        self.now = buffer;
        core::mem::swap(&mut self.versions, &mut lists.versions);
    }

    /// The block as it is, writes since the last commit included.
    pub(crate) fn view(&self) -> BlockView<'_> {
        self.now.view()
    }

    /// The slots that have an occupant.
    pub(super) const fn occupied(&self) -> u64 {
        self.now.occupied
    }

    /// The block as it was at a tick. What is not held any more reads as a later version or as nothing.
    pub(crate) fn at(&self, tick: Tick) -> Option<BlockView<'_>> {
        if self.since != Tick::NONE && self.since <= tick && !self.is_touched {
            return Some(self.now.view());
        }
        let mut newest_first = self.versions.iter().rev();
        newest_first
            .find(|version| version.since <= tick)
            .map(|version| version.block.view())
    }

    /// Sets a copy aside if this is the first write since the last commit.
    #[inline]
    pub(super) fn touch(&mut self, clock: &Clock, spare: &mut Vec<BlockBuf>) {
        if !self.is_touched {
            self.is_touched = true;
            self.set_aside(clock, spare);
        }
    }

    fn set_aside(&mut self, clock: &Clock, spare: &mut Vec<BlockBuf>) {
        if self.since == Tick::NONE || !clock.is_needed(self.since, clock.tick) {
            return;
        }
        self.thin(clock, spare);
        let mut copy = spare.pop().unwrap_or_default();
        copy.copy_from(&self.now);
        self.versions.push_back(Version {
            since: self.since,
            block: copy,
        });
    }

    /// Whether a slot has other values than these.
    #[inline]
    pub(super) fn differs(&self, slot: u8, row: &Row) -> bool {
        let slot = usize::from(slot) % SLOTS;
        let (columns, _) = self.now.lanes.as_chunks::<SLOTS>();
        // One branch for all lanes together.
        let lanes = columns.iter().zip(&row.lanes);
        let differing = lanes.fold(0, |all, (column, new)| {
            all | column.get(slot).map_or(0, |is| is ^ new)
        });
        let (columns, _) = self.now.bytes.as_chunks::<SLOTS>();
        let mut texts = columns.iter().zip(&row.bytes);
        differing != 0 || texts.any(|(column, new)| column.get(slot) != Some(new))
    }

    /// Writes one row. The block must have been touched.
    pub(super) fn write(&mut self, slot: u8, row: &Row) {
        let slot = usize::from(slot);
        for (column, new) in self.now.lanes.chunks_exact_mut(SLOTS).zip(&row.lanes) {
            if let Some(value) = column.get_mut(slot) {
                *value = *new;
            }
        }
        for (column, new) in self.now.bytes.chunks_exact_mut(SLOTS).zip(&row.bytes) {
            if let Some(value) = column.get_mut(slot) {
                value.clone_from(new);
            }
        }
    }

    /// Gives a slot an occupant. The block must have been touched.
    pub(super) fn occupy(&mut self, slot: u8, id: u32, row: &Row) {
        self.now.occupied |= 1 << slot;
        if let Some(occupant) = self.now.ids.get_mut(usize::from(slot)) {
            *occupant = id;
        }
        self.write(slot, row);
    }

    /// Takes a slot's occupant away. The block must have been touched.
    pub(super) fn vacate(&mut self, slot: u8) {
        self.now.vacate(1 << slot);
    }

    /// Reads one row.
    pub(super) fn read(&self, slot: u8, row: &mut Row) {
        let slot = usize::from(slot);
        row.lanes.clear();
        let columns = self.now.lanes.chunks_exact(SLOTS);
        row.lanes.extend(columns.filter_map(|c| c.get(slot)));
        self.read_bytes(slot, row);
    }

    /// Reads the bytes of a row, so that equal ones need no new memory.
    pub(super) fn read_bytes(&self, slot: usize, row: &mut Row) {
        row.bytes.clear();
        let texts = self.now.bytes.chunks_exact(SLOTS);
        row.bytes.extend(texts.filter_map(|c| c.get(slot).cloned()));
    }

    /// Ends a tick.
    pub(super) const fn commit(&mut self, tick: Tick) {
        self.is_touched = false;
        self.since = tick;
    }

    /// Drops versions that nobody can ask for.
    pub(super) fn thin(&mut self, clock: &Clock, spare: &mut Vec<BlockBuf>) {
        while let Some(version) = self.versions.front()
            && !clock.is_needed(version.since, self.end_of(0))
            && let Some(version) = self.versions.pop_front()
        {
            spare.push(version.block);
            self.baselines = self.baselines.saturating_sub(1);
        }
        // Behind the ticks that can be read back only sends count.
        while let Some(version) = self.versions.get(self.baselines)
            && let until = self.end_of(self.baselines)
            && !clock.is_in_rewind(until)
        {
            if clock.is_baseline(version.since, until) {
                self.baselines += 1;
            } else if let Some(version) = self.versions.remove(self.baselines) {
                spare.push(version.block);
            }
        }
    }

    /// The last tick at which a version was true.
    fn end_of(&self, version: usize) -> Tick {
        let next = self.versions.get(version + 1);
        next.map_or(self.since, |next| next.since).before(1)
    }

    /// Gives all its memory back.
    pub(super) fn dissolve(&mut self, spare: &mut Vec<BlockBuf>) {
        spare.extend(self.versions.drain(..).map(|version| version.block));
        spare.push(core::mem::take(&mut self.now));
    }

    /// How many versions it keeps beside what it is.
    #[cfg(test)]
    pub(super) fn versions(&self) -> usize {
        self.versions.len()
    }
}

/// One entity's lanes and bytes.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) lanes: Vec<u32>,
    pub(super) bytes: Vec<alloc::sync::Arc<[u8]>>,
}
