//! What a client saw first, and how much of it is missing: it is ready when nothing is.
//!
//! The list is made once, of the blocks in view when the client is first sent something. A block is struck
//! off when any version of it is acknowledged, when it is gone, and when its place leaves the view. Nothing
//! is added, so that neither a view that moves nor a world that changes puts the end off. What a client
//! holds at the moment is [`Knowledge`](super::knowledge::Knowledge)'s, which forgets.

use alloc::collections::BTreeSet;

use crate::limits::FIRST_VIEW_MAX;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::record::BlockName;
use crate::world::{State, Store};

/// What a client saw first.
#[derive(Debug)]
pub(super) enum FirstView {
    /// It was not sent anything.
    Unseen,
    /// These blocks, as of this send, have not arrived.
    Missing(SendIndex, BTreeSet<BlockName>),
    /// Everything has arrived.
    Arrived,
}

impl FirstView {
    /// A send begins, with these places in view.
    pub(super) fn begin(
        &mut self,
        store: &Store,
        places: impl Iterator<Item = PlaceNumber>,
        is_in_view: impl Fn(PlaceNumber) -> bool,
    ) {
        match self {
            Self::Unseen => {
                let send = store.send();
                let blocks = places.flat_map(|place| {
                    let heads = store.place(place).map_or(&[][..], |place| place.heads());
                    let numbers = (0..=u16::MAX).map(BlockNumber).take(heads.len());
                    numbers.map(move |block| BlockName { place, block })
                });
                let live = blocks.filter(|name| is_live(store, *name, send));
                *self = Self::Missing(send, live.take(FIRST_VIEW_MAX).collect());
            }
            Self::Missing(send, missing) => {
                missing.retain(|name| is_in_view(name.place) && is_live(store, *name, *send));
            }
            Self::Arrived => return,
        }
        self.settle();
    }

    /// Blocks of a place were acknowledged.
    pub(super) fn arrive(&mut self, place: PlaceNumber, blocks: &[BlockNumber]) {
        if let Self::Missing(_, missing) = self {
            for block in blocks.iter().copied() {
                missing.remove(&BlockName { place, block });
            }
            self.settle();
        }
    }

    pub(super) const fn is_ready(&self) -> bool {
        matches!(self, Self::Arrived)
    }

    fn settle(&mut self) {
        if matches!(self, Self::Missing(_, missing) if missing.is_empty()) {
            *self = Self::Arrived;
        }
    }
}

/// Whether a block that was there at a send still is. Its number may have become another's.
fn is_live(store: &Store, name: BlockName, send: SendIndex) -> bool {
    let head = store
        .place(name.place)
        .and_then(|place| place.head(name.block));
    head.is_some_and(|head| head.state == State::Live && head.born <= send)
}
