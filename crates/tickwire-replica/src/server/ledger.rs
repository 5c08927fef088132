//! Which blocks the records of the last sends hold, once for all clients.
//!
//! A client remembers the records that are in each packet on its way to it. What those hold is asked when
//! the packet is acknowledged.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use crate::limits::WINDOW;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};

/// A record among those of its send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RecordIndex(pub(super) u32);

/// The records of the last sends.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Ascending. Packets older than [`WINDOW`] are not asked for any more.
    sends: VecDeque<Page>,
    /// The last one.
    now: Page,
}

/// The records of one send.
#[derive(Debug, Default)]
pub(super) struct Page {
    send: SendIndex,
    records: Vec<(PlaceNumber, Range<usize>)>,
    /// What they hold. Several may hold the same.
    blocks: Vec<BlockNumber>,
}

impl Ledger {
    /// Begins another send.
    pub(super) fn begin(&mut self, send: SendIndex) {
        let mut page = Page::default();
        while let Some(oldest) = self.sends.front()
            && send.since(oldest.send) > WINDOW
        {
            page = self.sends.pop_front().unwrap_or_default();
        }
        page.send = send;
        page.records.clear();
        page.blocks.clear();
        self.sends
            .push_back(core::mem::replace(&mut self.now, page));
    }

    /// The last send's.
    pub(super) const fn now(&mut self) -> &mut Page {
        &mut self.now
    }

    /// The place and the blocks of a record.
    pub(super) fn record(
        &self,
        send: SendIndex,
        record: RecordIndex,
    ) -> Option<(PlaceNumber, &[BlockNumber])> {
        if send == self.now.send {
            return self.now.record(record);
        }
        // Mostly no send was passed over, and it is as many pages back as it is sends.
        let back = usize::try_from(self.now.send.since(send)).ok()?;
        let at = self.sends.len().wrapping_sub(back);
        let page = self.sends.get(at).filter(|page| page.send == send);
        let page = page.or_else(|| {
            let at = self.sends.partition_point(|page| page.send < send);
            self.sends.get(at).filter(|page| page.send == send)
        });
        page?.record(record)
    }
}

impl Page {
    /// Adds blocks for records to hold.
    pub(super) fn list(&mut self, blocks: impl Iterator<Item = BlockNumber>) -> Range<usize> {
        let first = self.blocks.len();
        self.blocks.extend(blocks);
        first..self.blocks.len()
    }

    /// Blocks that were listed.
    pub(super) fn blocks(&self, range: Range<usize>) -> &[BlockNumber] {
        self.blocks.get(range).unwrap_or_default()
    }

    /// Adds a record of blocks that were listed.
    pub(super) fn add(&mut self, place: PlaceNumber, blocks: Range<usize>) -> RecordIndex {
        let index = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        self.records.push((place, blocks));
        RecordIndex(index)
    }

    fn record(&self, record: RecordIndex) -> Option<(PlaceNumber, &[BlockNumber])> {
        let (place, blocks) = self.records.get(record.0 as usize)?;
        Some((*place, self.blocks(blocks.clone())))
    }
}
