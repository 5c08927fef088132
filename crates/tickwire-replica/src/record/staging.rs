//! Where decoded blocks wait until their whole packet was read, in buffers that are used again.

use alloc::vec::Vec;

use crate::block::BlockBuf;
use crate::record::BlockName;

/// Blocks of the packet that is being read, and the buffers for those to come.
///
/// A buffer serves blocks of one archetype, so that none is larger than what it holds.
#[derive(Debug, Default)]
pub struct Staging {
    blocks: Vec<Staged>,
    /// By archetype.
    spare: Vec<Vec<BlockBuf>>,
}

/// A decoded block.
#[derive(Debug)]
pub struct Staged {
    /// Which block it is.
    pub name: BlockName,
    /// What its entities are.
    pub archetype: usize,
    /// Itself.
    pub contents: BlockBuf,
}

impl Staging {
    /// The blocks that were decoded so far.
    pub fn blocks(&self) -> &[Staged] {
        &self.blocks
    }

    /// A buffer for one more block, holding whatever it held.
    pub(super) fn add(&mut self, name: BlockName, archetype: usize) -> &mut BlockBuf {
        let spare = self.spare.get_mut(archetype).and_then(Vec::pop);
        self.blocks.push(Staged {
            name,
            archetype,
            contents: spare.unwrap_or_default(),
        });
        let last = self.blocks.last_mut().expect("one was pushed");
        &mut last.contents
    }

    /// Takes the block that was decoded last.
    pub fn pop(&mut self) -> Option<Staged> {
        self.blocks.pop()
    }

    /// Takes back the buffer of a block that is needed no more.
    pub fn recycle(&mut self, archetype: usize, buffer: BlockBuf) {
        if self.spare.len() <= archetype {
            self.spare.resize_with(archetype + 1, Vec::new);
        }
        if let Some(spare) = self.spare.get_mut(archetype)
            && spare.len() < SPARE
        {
            spare.push(buffer);
        }
    }

    /// Drops the blocks of a packet that is not applied.
    pub fn reset(&mut self) {
        while let Some(Staged {
            archetype,
            contents,
            ..
        }) = self.pop()
        {
            self.recycle(archetype, contents);
        }
    }
}

/// How many buffers of an archetype wait for use: as many blocks as leave the window of a send of a large
/// view, and 2 MiB if a slot has 32 lanes.
const SPARE: usize = 256;
