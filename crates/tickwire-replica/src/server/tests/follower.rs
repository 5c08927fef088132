//! A client that does as the rules say and keeps everything, to compare with the world.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tickwire_wire::{LittleEndian, Reader};

use crate::archetype::Schema;
use crate::block::{BlockBuf, BlockView};
use crate::coder::Prior;
use crate::number::{PacketNumber, SendIndex};
use crate::packet::{Header, Last, Notice, PacketReader, RecordHead};
use crate::record::{self, BlockName, Coding, Held, Reading, Staging};
use crate::{Archetypes, World};

/// Versions of blocks, by send.
#[derive(Default)]
pub(super) struct Follower {
    pub(super) blocks: BTreeMap<BlockName, BTreeMap<SendIndex, (usize, BlockBuf)>>,
    pub(super) applied: BTreeSet<PacketNumber>,
    newest: Header,
    /// The heads of all records, for tests that look at them.
    pub(super) records: Vec<RecordHead>,
    pub(super) notices: Vec<Notice>,
    pub(super) last: Option<Last>,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            number: PacketNumber(0),
            send: SendIndex::NONE,
        }
    }
}

impl Held for Follower {
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)> {
        let (_, (archetype, block)) = self.blocks.get(&name)?.range(..=send).next_back()?;
        Some((*archetype, block.view()))
    }
}

impl Follower {
    /// Applies a packet that arrives in order.
    pub(super) fn apply<A: Archetypes>(&mut self, schema: &Schema, world: &World<A>, bytes: &[u8]) {
        let mut r = PacketReader::new(Reader::<LittleEndian>::new(bytes)).unwrap();
        let header = r.header(self.newest);
        assert!(header.number > self.newest.number, "in order");
        self.newest = header;
        self.last = r.last();
        self.notices.clear();
        r.notices(|notice| self.notices.push(notice)).unwrap();
        for notice in &self.notices {
            match *notice {
                Notice::Clear => self.blocks.clear(),
                Notice::Leave(place) => self.blocks.retain(|name, _| name.place != place),
                Notice::Gone(place, block) => {
                    self.blocks.remove(&BlockName { place, block });
                }
            }
        }
        let mut staging = Staging::default();
        let mut coding = Coding::new(Prior::general(schema));
        let reading = Reading {
            schema,
            held: &*self,
            send: header.send,
        };
        let mut records = Vec::new();
        while let Some(head) = r.record().unwrap() {
            records.push(head);
            let length = record::decode(&head, &reading, r.rest(), &mut coding, &mut staging);
            r.skip_body(length.unwrap()).unwrap();
        }
        self.records = records;
        while let Some(staged) = staging.pop() {
            let place = world.store().place(staged.name.place).unwrap();
            let handle = place.head(staged.name.block).unwrap().handle;
            let now = world.store().at_send(handle, header.send).unwrap();
            check_equal(&staged.contents, now);
            let versions = self.blocks.entry(staged.name).or_default();
            versions.insert(header.send, (staged.archetype, staged.contents));
        }
        self.applied.insert(header.number);
    }

    /// Whether the last packet says that the client knows all, and it does.
    pub(super) fn is_complete(&self) -> bool {
        let k = self.last.map_or(0, |last| last.complete);
        let newest = self.newest.number.0;
        k > 0
            && (newest + 1 - u64::from(k)..=newest).all(|n| self.applied.contains(&PacketNumber(n)))
    }

    /// The newest version of every block.
    pub(super) fn newest(&self) -> impl Iterator<Item = (BlockName, &BlockBuf)> {
        let newest = self.blocks.iter();
        newest.filter_map(|(name, versions)| Some((*name, &versions.values().next_back()?.1)))
    }

    /// Every entity that it holds, ascending.
    pub(super) fn ids(&self) -> Vec<u32> {
        let blocks = self
            .newest()
            .flat_map(|(_, block)| block.ids.iter().copied());
        let mut ids: Vec<_> = blocks.filter(|id| *id != 0).collect();
        ids.sort_unstable();
        ids
    }
}

#[track_caller]
pub(super) fn check_equal(held: &BlockBuf, now: BlockView<'_>) {
    assert_eq!(held.occupied, now.occupied);
    assert_eq!(held.ids, now.ids);
    assert_eq!(held.lanes, now.lanes);
    assert_eq!(held.bytes, now.bytes);
}
