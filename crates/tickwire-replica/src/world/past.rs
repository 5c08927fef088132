//! The world as it was, at any tick that is still held.
//!
//! A view: nothing is copied, nothing of the present changes. Values are built from the versions that
//! blocks keep, and only with what existed then.

use core::fmt;
use core::marker::PhantomData;

use tickwire_state::Tick;

use super::store::Store;
use crate::block::{BlockView, SLOTS};
use crate::row::RowReader;
use crate::{Archetype, Archetypes, EntityId};

/// The world at one tick.
pub struct Past<'a, A> {
    store: &'a Store,
    tick: Tick,
    of: PhantomData<fn() -> A>,
}

impl<'a, A: Archetypes> Past<'a, A> {
    pub(super) const fn new(store: &'a Store, tick: Tick) -> Self {
        Self {
            store,
            tick,
            of: PhantomData,
        }
    }

    /// The tick that it shows.
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// An entity as it was, if it existed and is a `T`.
    pub fn get<T: Archetype<A>>(&self, id: EntityId) -> Option<T> {
        let (archetype, block, slot) = self.find(id)?;
        (archetype == T::INDEX).then(|| T::load(&mut RowReader::slot(block, slot)))
    }

    /// An entity as it was, whatever it is, if it existed.
    pub fn get_any(&self, id: EntityId) -> Option<A> {
        let (archetype, block, slot) = self.find(id)?;
        A::load(archetype, &mut RowReader::slot(block, slot))
    }

    /// All entities of one type that existed, block by block.
    pub fn iter<T: Archetype<A>>(&self) -> impl Iterator<Item = (EntityId, T)> {
        let blocks = self.store.blocks().iter();
        let of_it = blocks.filter(|block| block.archetype == T::INDEX);
        let views = of_it.filter_map(|block| block.at(self.tick));
        views.flat_map(|view| {
            let slots = (0..SLOTS).filter(move |slot| view.occupied >> slot & 1 == 1);
            slots.filter_map(move |slot| {
                let id = EntityId(*view.ids.get(slot)?);
                Some((id, T::load(&mut RowReader::slot(view, slot))))
            })
        })
    }

    fn find(&self, id: EntityId) -> Option<(usize, BlockView<'a>, usize)> {
        let at = self.store.entities.location_at(id, self.tick)?;
        let block = self.store.block(at.block);
        let view = block.at(self.tick)?;
        let slot = usize::from(at.slot);
        let is_there = view.ids.get(slot) == Some(&id.0);
        is_there.then_some((block.archetype, view, slot))
    }
}

impl<A> fmt::Debug for Past<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Past").field("tick", &self.tick).finish()
    }
}
