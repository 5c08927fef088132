//! The blocks that changed in a chunk while somebody held it.
//!
//! In: changes as they happen. Out: for a client that was told everything up to some moment, what is to be
//! told now, oldest change first. A block that changed several times is told once, as it is: so no more is
//! kept than a chunk has blocks, however many people build in it.

use alloc::collections::BTreeMap;

use super::scene::Stamp;
use crate::pixmess::{Block, Cell, Sublayer};

/// Where in its layer set a block is.
type Place = (Cell, Sublayer);

#[derive(Debug, Default)]
pub(super) struct Changes {
    latest: BTreeMap<Place, (Stamp, Block)>,
    order: BTreeMap<Stamp, Place>,
}

impl Changes {
    /// A block is another. Every change has a stamp of its own.
    pub(super) fn insert(&mut self, now: Stamp, place: Place, block: Block) {
        if let Some((before, _)) = self.latest.insert(place, (now, block)) {
            self.order.remove(&before);
        }
        self.order.insert(now, place);
    }

    /// The blocks that changed after a moment.
    pub(super) fn since(&self, seen: Stamp) -> impl Iterator<Item = (Stamp, Place, Block)> {
        let later = self.order.range(seen.next()..);
        later.filter_map(|(&stamp, &place)| {
            let (_, block) = *self.latest.get(&place)?;
            Some((stamp, place, block))
        })
    }
}
