//! Every version of every block that may still be a baseline or be shown, and what was left.
//!
//! A block at a send is its newest version not newer than that send. Being gone is a version too: with
//! nothing in it. Whether a packet may change any of this is asked first ([`History::check_notice`],
//! [`History::check_record`]); then it is changed, and nothing of that can fail.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::block::{BlockBuf, BlockView};
use crate::id::EntityId;
use crate::limits;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::packet::Notice;
use crate::record::{BlockName, Held, Staged, Staging};
use crate::replica::ApplyError;
use crate::row::RowReader;

#[derive(Debug, Default)]
pub(super) struct History {
    index: BTreeMap<BlockName, usize>,
    blocks: Vec<Block>,
    free: Vec<usize>,
    /// When everything was left.
    cleared: SendIndex,
    /// When places were left, and blocks went; for [`limits::WINDOW`] sends.
    left: BTreeMap<PlaceNumber, SendIndex>,
    gone: BTreeMap<BlockName, SendIndex>,
    bytes: usize,
}

/// The versions of one block.
#[derive(Debug)]
pub(super) struct Block {
    name: BlockName,
    /// Ascending, no send twice; none if this is free for another block.
    versions: VecDeque<Version>,
    /// The version that playback compares with when it goes on.
    pub(super) shown: Option<SendIndex>,
    /// Whether there are versions that playback has not looked at.
    pub(super) is_fresh: bool,
}

/// A block from one send on.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) send: SendIndex,
    /// Nothing if the block was gone, or its place was left.
    contents: Option<Contents>,
    /// Whether playback has looked at it.
    pub(super) is_sighted: bool,
}

#[derive(Debug)]
struct Contents {
    archetype: usize,
    block: BlockBuf,
}

impl Version {
    /// What it holds: nothing if the block was gone.
    pub(super) fn block(&self) -> Option<(usize, BlockView<'_>)> {
        let Contents { archetype, block } = self.contents.as_ref()?;
        Some((*archetype, block.view()))
    }

    /// Who is in a slot: the archetype and the id, which is 0 for nobody.
    pub(super) fn occupant(&self, slot: u8) -> Option<(usize, u32)> {
        let (archetype, block) = self.block()?;
        Some((archetype, *block.ids.get(usize::from(slot))?))
    }
}

impl Block {
    pub(super) fn versions(&self) -> &VecDeque<Version> {
        &self.versions
    }

    pub(super) fn versions_mut(&mut self) -> impl Iterator<Item = &mut Version> {
        self.versions.iter_mut()
    }

    /// How many versions are not newer than a send.
    pub(super) fn reached(&self, send: SendIndex) -> usize {
        self.versions
            .partition_point(|version| version.send <= send)
    }

    /// The newest version not newer than a send.
    pub(super) fn at(&self, send: SendIndex) -> Option<&Version> {
        self.versions.get(self.reached(send).checked_sub(1)?)
    }

    /// The oldest version newer than a send.
    pub(super) fn after(&self, send: SendIndex) -> Option<&Version> {
        self.versions.get(self.reached(send))
    }

    fn newest_held(&self) -> Option<SendIndex> {
        let newest = self.versions.back()?;
        newest.contents.as_ref().map(|_| newest.send)
    }
}

impl Held for History {
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)> {
        self.find(name)?.at(send)?.block()
    }
}

impl History {
    /// The names of the blocks of which anything is held.
    pub(super) fn names(&self) -> impl Iterator<Item = BlockName> {
        self.index.keys().copied()
    }

    pub(super) fn find(&self, name: BlockName) -> Option<&Block> {
        self.get(*self.index.get(&name)?)
    }

    /// Blocks by their places here, which they keep while anything of them is held.
    pub(super) fn get(&self, at: usize) -> Option<&Block> {
        self.blocks.get(at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Block> {
        self.blocks.get_mut(at)
    }

    /// How many places there are for blocks.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The newest values of an entity of this archetype, and when they were true. All blocks are searched.
    pub(super) fn latest(
        &self,
        archetype: usize,
        id: EntityId,
    ) -> Option<(SendIndex, RowReader<'_>)> {
        let (send, of, row) = self.latest_any(id)?;
        (of == archetype).then_some((send, row))
    }

    /// The newest values of an entity, when they were true, and what it is. All blocks are searched.
    pub(super) fn latest_any(&self, id: EntityId) -> Option<(SendIndex, usize, RowReader<'_>)> {
        let newest = self.blocks.iter().filter_map(|block| block.versions.back());
        let holding = newest.filter_map(|version| {
            let (archetype, block) = version.block()?;
            let slot = block.ids.iter().position(|occupant| *occupant == id.0)?;
            Some((version.send, archetype, RowReader::slot(block, slot)))
        });
        holding.max_by_key(|(send, ..)| *send)
    }

    /// How many bytes the versions take.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a notice may be followed: not if something newer is held there.
    pub(super) fn check_notice(&self, notice: Notice, send: SendIndex) -> Result<(), ApplyError> {
        let is_newer = |block: &Block| block.newest_held().is_some_and(|newest| newest >= send);
        let is_late = match notice {
            Notice::Clear => self.blocks.iter().any(is_newer),
            Notice::Leave(place) => self.of_place(place).any(is_newer),
            Notice::Gone(place, block) => {
                self.find(BlockName { place, block }).is_some_and(is_newer)
            }
        };
        if is_late {
            return Err(ApplyError::Overtaken);
        }
        if self.left.len() + self.gone.len() >= limits::LEFT_MAX {
            return Err(ApplyError::Full);
        }
        Ok(())
    }

    /// Whether a record may be followed: not if its place or block was left since.
    pub(super) fn check_record(&self, name: BlockName, send: SendIndex) -> Result<(), ApplyError> {
        let is_left = |left: Option<&SendIndex>| left.is_some_and(|left| *left >= send);
        if self.cleared >= send
            || is_left(self.left.get(&name.place))
            || is_left(self.gone.get(&name))
        {
            return Err(ApplyError::Overtaken);
        }
        Ok(())
    }

    /// Whether there is room for these blocks.
    pub(super) fn check_room(&self, blocks: &[Staged]) -> Result<(), ApplyError> {
        let bytes: usize = blocks.iter().map(|staged| size(&staged.contents)).sum();
        let new = blocks
            .iter()
            .filter(|staged| !self.index.contains_key(&staged.name));
        if self.bytes + bytes > limits::VERSION_BYTES_MAX
            || self.index.len() + new.count() > limits::BLOCKS_HELD_MAX
        {
            return Err(ApplyError::Full);
        }
        Ok(())
    }

    /// Follows a notice that was checked.
    pub(super) fn apply_notice(&mut self, notice: Notice, send: SendIndex) {
        match notice {
            Notice::Clear => {
                self.cleared = self.cleared.max(send);
                for block in &mut self.blocks {
                    mark_gone(block, send);
                }
            }
            Notice::Leave(place) => {
                let left = self.left.entry(place).or_default();
                *left = send.max(*left);
                for at in self.index.range(names_of(place)).map(|(_, at)| *at) {
                    if let Some(block) = self.blocks.get_mut(at) {
                        mark_gone(block, send);
                    }
                }
            }
            Notice::Gone(place, block) => {
                let name = BlockName { place, block };
                let gone = self.gone.entry(name).or_default();
                *gone = send.max(*gone);
                if let Some(block) = self
                    .index
                    .get(&name)
                    .and_then(|at| self.blocks.get_mut(*at))
                {
                    mark_gone(block, send);
                }
            }
        }
    }

    /// Takes a block that was checked. Where that send's version is held, it is the same.
    pub(super) fn apply_block(&mut self, staged: Staged, send: SendIndex, spare: &mut Staging) {
        let Staged {
            name,
            archetype,
            contents,
        } = staged;
        let at = self.place_for(name);
        let Some(block) = self.blocks.get_mut(at) else {
            return;
        };
        let reached = block.reached(send);
        let newest = reached.checked_sub(1).and_then(|at| block.versions.get(at));
        if newest.is_some_and(|version| version.send == send) {
            spare.recycle(archetype, contents);
            return;
        }
        self.bytes += size(&contents);
        block.is_fresh = true;
        let contents = Contents {
            archetype,
            block: contents,
        };
        let version = Version {
            send,
            contents: Some(contents),
            is_sighted: false,
        };
        block.versions.insert(reached, version);
    }

    /// Drops what nobody may refer to any more once `newest` was applied.
    pub(super) fn prune(&mut self, newest: SendIndex, spare: &mut Staging) {
        let oldest = newest.before(limits::WINDOW);
        self.left.retain(|_, send| *send > oldest);
        self.gone.retain(|_, send| *send > oldest);
        for (at, block) in self.blocks.iter_mut().enumerate() {
            let had_any = !block.versions.is_empty();
            // All of the window, and the newest before it.
            while let Some(dropped) = superfluous(block, oldest) {
                if let Some(Contents { archetype, block }) = block
                    .versions
                    .remove(dropped)
                    .and_then(|version| version.contents)
                {
                    self.bytes -= size(&block);
                    spare.recycle(archetype, block);
                }
            }
            if had_any && block.versions.is_empty() {
                self.index.remove(&block.name);
                block.shown = None;
                self.free.push(at);
            }
        }
    }

    fn of_place(&self, place: PlaceNumber) -> impl Iterator<Item = &Block> {
        let places = self.index.range(names_of(place));
        places.filter_map(|(_, at)| self.blocks.get(*at))
    }

    /// The place of a block, which is made if there is none.
    fn place_for(&mut self, name: BlockName) -> usize {
        *self.index.entry(name).or_insert_with(|| {
            let at = self.free.pop().unwrap_or(self.blocks.len());
            match self.blocks.get_mut(at) {
                Some(block) => block.name = name,
                None => self.blocks.push(Block {
                    name,
                    versions: VecDeque::new(),
                    shown: None,
                    is_fresh: false,
                }),
            }
            at
        })
    }
}

fn names_of(place: PlaceNumber) -> core::ops::RangeInclusive<BlockName> {
    let name = |block| BlockName {
        place,
        block: BlockNumber(block),
    };
    name(0)..=name(u16::MAX)
}

/// Nothing of the block is true from this send on.
fn mark_gone(block: &mut Block, send: SendIndex) {
    let mut newest_first = block.versions.iter_mut().rev();
    match (newest_first.next(), newest_first.next()) {
        (None, _) => return,
        (Some(newest), before) if newest.contents.is_none() => {
            // A notice is repeated, and an earlier one may come late.
            let was_held = before.is_some_and(|version| version.send < send);
            if newest.send <= send || !was_held {
                return;
            }
            if block.shown == Some(newest.send) {
                block.shown = Some(send);
            }
            newest.send = send;
        }
        (Some(_), _) => block.versions.push_back(Version {
            send,
            contents: None,
            is_sighted: false,
        }),
    }
    block.is_fresh = true;
}

/// A version that can be dropped: an older one than the newest that is not newer than `oldest`, unless
/// it is shown; and that newest one too if it is no more than the memory of a block that is gone.
fn superfluous(block: &Block, oldest: SendIndex) -> Option<usize> {
    let older = block.reached(oldest);
    let is_shown = |at: usize| {
        let version = block.versions.get(at);
        version.is_some_and(|version| Some(version.send) == block.shown)
    };
    match older {
        0 => None,
        1 => {
            let only = block.versions.front()?;
            // Playback that has reached it, or that never began, needs no memory of it.
            let is_reached = block.shown.is_none_or(|shown| shown >= only.send);
            (only.contents.is_none() && is_reached).then_some(0)
        }
        2 => (!is_shown(0)).then_some(0),
        _ => Some(usize::from(is_shown(0))),
    }
}

/// What a version takes.
fn size(block: &BlockBuf) -> usize {
    let texts: usize = block
        .bytes
        .iter()
        .map(|text| text.len() + size_of_val(text))
        .sum();
    (block.ids.len() + block.lanes.len()) * size_of::<u32>() + texts
}
