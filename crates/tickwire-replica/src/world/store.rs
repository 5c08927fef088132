//! Blocks in places: where rows are put, how they are written, and what a commit makes of it.
//!
//! Below the types of a game: rows of lanes in, blocks and their versions out. [`World`](super::World)
//! turns values into rows, [`Clients`](crate::Clients) read places and blocks.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_state::Tick;

use super::WorldError;
use super::audience::{Audience, Audiences};
use super::block::{Block, Row};
use super::clock::Clock;
use super::entity::{Entities, Location};
use super::place::{Cell, Handle, Head, Place, PlaceKey, Places, State};
use super::shape::Shape;
use crate::EntityId;
use crate::block::{BlockBuf, BlockView};
use crate::limits::WINDOW;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::record::BlockName;

/// All blocks of a world.
#[derive(Debug)]
pub(crate) struct Store {
    pub(super) clock: Clock,
    pub(crate) side: f64,
    pub(super) shapes: Vec<Shape>,
    pub(super) entities: Entities,
    audiences: Audiences,
    places: Places,
    blocks: Vec<Block>,
    free: Vec<Handle>,
    /// Buffers to use again, by archetype.
    spare: Vec<Vec<BlockBuf>>,
    /// Blocks written since the last commit, and since the last send.
    touched: Vec<Handle>,
    changed: Vec<Handle>,
    /// The blocks that changed at each of the last sends, the oldest first.
    recent: VecDeque<Vec<Handle>>,
    /// Blocks without an occupant whose number is still taken, the oldest first.
    tombs: VecDeque<Handle>,
    /// Places that came and went in the ticks of the last send.
    pub(crate) news: News,
    /// Places that came since.
    added: Vec<PlaceNumber>,
    /// The first send after everything was cleared, if ever.
    pub(crate) cleared: SendIndex,
}

/// What happened to the list of places, for those who keep a part of it.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) added: Vec<PlaceNumber>,
    pub(crate) removed: Vec<PlaceNumber>,
}

/// Where something is to be put.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Whereabouts {
    pub(super) cell: Option<Cell>,
    pub(super) audience: Audience,
}

impl Store {
    pub(super) fn new(clock: Clock, side: f64, shapes: Vec<Shape>, limit: u32) -> Self {
        Self {
            clock,
            side,
            spare: shapes.iter().map(|_| Vec::new()).collect(),
            shapes,
            entities: Entities::new(limit),
            audiences: Audiences::default(),
            places: Places::default(),
            blocks: Vec::new(),
            free: Vec::new(),
            touched: Vec::new(),
            changed: Vec::new(),
            recent: VecDeque::new(),
            tombs: VecDeque::new(),
            news: News::default(),
            added: Vec::new(),
            cleared: SendIndex::NONE,
        }
    }

    /// The last send.
    pub(crate) const fn send(&self) -> SendIndex {
        self.clock.send()
    }

    #[inline]
    pub(crate) fn block(&self, handle: Handle) -> &Block {
        let block = self.blocks.get(handle.0 as usize);
        block.expect("handles are given out with their blocks")
    }

    #[inline]
    fn block_mut(&mut self, handle: Handle) -> &mut Block {
        let block = self.blocks.get_mut(handle.0 as usize);
        block.expect("handles are given out with their blocks")
    }

    pub(crate) fn fields(&self, archetype: usize) -> &[crate::Field] {
        self.shapes
            .get(archetype)
            .map_or(&[], |shape| &shape.fields)
    }

    #[inline]
    pub(crate) fn place(&self, number: PlaceNumber) -> Option<&Place> {
        self.places.get(number)
    }

    /// Everything that has no cell, then everything whose cell is in a rectangle.
    pub(crate) fn visit(&self, low: Cell, high: Cell, visit: impl FnMut(PlaceNumber)) {
        self.places.visit(low, high, visit);
    }

    pub(crate) fn head_mut(&mut self, place: PlaceNumber, block: BlockNumber) -> Option<&mut Head> {
        self.places.get_mut(place)?.head_mut(block)
    }

    /// A block as it was at a send.
    pub(crate) fn at_send(&self, handle: Handle, send: SendIndex) -> Option<BlockView<'_>> {
        self.block(handle).at(self.clock.tick_of(send))
    }

    /// All blocks that held anything at the last send.
    pub(super) fn blocks_at_send(&self) -> impl Iterator<Item = (BlockName, usize, BlockView<'_>)> {
        let tick = self.clock.tick_of(self.send());
        self.blocks.iter().filter_map(move |block| {
            let name = BlockName {
                place: block.place,
                block: block.number,
            };
            let view = block.at(tick).filter(|view| view.occupied != 0)?;
            Some((name, block.archetype, view))
        })
    }

    /// The place of a block.
    pub(crate) fn place_of(&self, handle: Handle) -> PlaceNumber {
        self.block(handle).place
    }

    pub(super) fn audience_of(&self, handle: Handle) -> Audience {
        let place = self.places.get(self.block(handle).place);
        place.map(|place| place.audience).unwrap_or_default()
    }

    pub(super) fn cell_of(&self, handle: Handle) -> Option<Cell> {
        self.places.get(self.block(handle).place)?.cell()
    }

    /// Prepares a block for a write.
    #[inline]
    pub(super) fn touch(&mut self, handle: Handle) -> &mut Block {
        let block = self.blocks.get_mut(handle.0 as usize);
        let block = block.expect("handles are given out with their blocks");
        if !block.is_touched {
            self.touched.push(handle);
            let spare = self.spare.get_mut(block.archetype);
            block.touch(&self.clock, spare.expect("one list an archetype"));
        }
        block
    }

    /// Puts a row somewhere.
    pub(super) fn insert(
        &mut self,
        id: EntityId,
        archetype: usize,
        row: &Row,
        to: Whereabouts,
    ) -> Result<Location, WorldError> {
        let place = self.place_for(id, to)?;
        let handle = match self.fullest_open(place, archetype) {
            Some(handle) => handle,
            None => self.add_block(id, place, archetype)?,
        };
        let slots = self.shapes.get(archetype).map_or(0, |shape| shape.slots);
        let block = self.touch(handle);
        let slot = u8::try_from(block.occupied().trailing_ones()).unwrap_or_default();
        block.occupy(slot, id.0, row);
        let number = block.number;
        if block.occupied().count_ones() as usize >= slots
            && let Some(place) = self.places.get_mut(place)
        {
            place.close(number);
        }
        Ok(Location {
            block: handle,
            slot,
        })
    }

    /// Notes that a block has received somebody from another.
    pub(super) fn mark_mover(&mut self, handle: Handle) {
        let send = self.clock.send().next();
        let Block { place, number, .. } = *self.block(handle);
        if let Some(head) = self.head_mut(place, number) {
            head.moved_in = send;
        }
    }

    /// Takes a row away.
    pub(super) fn remove(&mut self, at: Location) {
        let block = self.touch(at.block);
        block.vacate(at.slot);
        let (place, number, archetype) = (block.place, block.number, block.archetype);
        if let Some(place) = self.places.get_mut(place) {
            place.reopen(archetype, number);
        }
    }

    fn place_for(&mut self, id: EntityId, to: Whereabouts) -> Result<PlaceNumber, WorldError> {
        let audience = self.audiences.number(to.audience);
        let audience = audience.ok_or(WorldError::AudienceLimit { entity: id })?;
        let key = PlaceKey {
            cell: to.cell,
            audience,
        };
        Ok(self.places.find(key).unwrap_or_else(|| {
            self.audiences.retain(audience);
            let number = self.places.add(Place::new(key, to.audience));
            self.added.push(number);
            number
        }))
    }

    /// The block with the fewest free slots: a place that entities leave keeps few blocks that way.
    fn fullest_open(&self, place: PlaceNumber, archetype: usize) -> Option<Handle> {
        let place = self.places.get(place)?;
        let handles = place
            .open(archetype)
            .filter_map(|n| Some(place.head(n)?.handle));
        handles.max_by_key(|handle| self.block(*handle).occupied().count_ones())
    }

    fn add_block(
        &mut self,
        id: EntityId,
        number: PlaceNumber,
        archetype: usize,
    ) -> Result<Handle, WorldError> {
        let fresh = Handle(u32::try_from(self.blocks.len()).unwrap_or(u32::MAX));
        let handle = self.free.pop().unwrap_or(fresh);
        let born = self.clock.send().next();
        let place = self.places.get_mut(number);
        let block = place.and_then(|place| {
            let block = place.add(handle, born)?;
            place.reopen(archetype, block);
            Some(block)
        });
        let Some(block) = block else {
            self.free
                .extend(Some(handle).filter(|handle| *handle != fresh));
            return Err(WorldError::PlaceLimit { entity: id });
        };
        if handle == fresh {
            self.blocks.push(Block::new(number, block, archetype));
        }
        let mut block = Block::new(number, block, archetype);
        if let Some(spare) = self.spare.get_mut(archetype)
            && let Some(shape) = self.shapes.get(archetype)
            && let Some(slot) = self.blocks.get_mut(handle.0 as usize)
        {
            block.prepare(&shape.fields, spare.pop().unwrap_or_default(), slot);
            *slot = block;
        }
        Ok(handle)
    }

    /// Ends a tick.
    pub(super) fn commit(&mut self) {
        self.clock.tick = self.clock.tick.next();
        for handle in self.touched.drain(..) {
            let block = self.blocks.get_mut(handle.0 as usize);
            let block = block.expect("handles are given out with their blocks");
            block.commit(self.clock.tick);
            if !block.is_changed {
                block.is_changed = true;
                self.changed.push(handle);
            }
        }
        self.entities.forget_before(self.clock.oldest_tick());
        if self.clock.is_send() {
            self.commit_send();
        }
    }

    fn commit_send(&mut self) {
        let send = self.clock.send();
        self.news.removed.clear();
        self.news.added.clear();
        core::mem::swap(&mut self.news.added, &mut self.added);
        for at in 0..self.changed.len() {
            if let Some(handle) = self.changed.get(at).copied() {
                self.mark_changed(handle, send);
            }
        }
        let mut oldest = Vec::new();
        if self.recent.len() as u64 >= WINDOW
            && let Some(expired) = self.recent.pop_front()
        {
            oldest = expired;
            for handle in oldest.drain(..) {
                self.thin(handle);
            }
        }
        let changed = core::mem::replace(&mut self.changed, oldest);
        self.recent.push_back(changed);
        self.bury(send);
    }

    fn mark_changed(&mut self, handle: Handle, send: SendIndex) {
        let block = self.block_mut(handle);
        block.is_changed = false;
        let (place, number, is_empty) = (block.place, block.number, block.occupied() == 0);
        let Some(place) = self.places.get_mut(place) else {
            return;
        };
        place.mark(number, send);
        if is_empty {
            place.mark_gone(number, send);
            self.tombs.push_back(handle);
        }
    }

    fn thin(&mut self, handle: Handle) {
        let Some(block) = self.blocks.get_mut(handle.0 as usize) else {
            return;
        };
        if let Some(spare) = self.spare.get_mut(block.archetype) {
            block.thin(&self.clock, spare);
        }
    }

    /// Frees the numbers of blocks that have been gone for long: no packet that names them can still be
    /// applied, and nobody knows them.
    fn bury(&mut self, send: SendIndex) {
        for _ in 0..self.tombs.len() {
            let Some(handle) = self.tombs.front().copied() else {
                return;
            };
            let Block { place, number, .. } = *self.block(handle);
            let head = self.places.get(place).and_then(|place| place.head(number));
            let Some(&Head {
                state: State::Gone(since),
                knowers,
                ..
            }) = head
            else {
                return;
            };
            if send.since(since) <= WINDOW {
                return;
            }
            self.tombs.pop_front();
            if knowers > 0 {
                self.tombs.push_back(handle);
                continue;
            }
            self.free_block(handle, place, number);
        }
    }

    fn free_block(&mut self, handle: Handle, place: PlaceNumber, number: BlockNumber) {
        if let Some(block) = self.blocks.get_mut(handle.0 as usize)
            && let Some(spare) = self.spare.get_mut(block.archetype)
        {
            block.dissolve(spare);
        }
        self.free.push(handle);
        let Some(owner) = self.places.get_mut(place) else {
            return;
        };
        owner.remove(number);
        if owner.is_unused()
            && let Some(place_) = self.places.remove(place)
        {
            self.audiences.release(place_.key.audience);
            self.news.removed.push(place);
        }
    }

    /// A block of which something was true at a tick.
    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The last commit.
    pub(super) const fn tick(&self) -> Tick {
        self.clock.tick
    }
}
