//! The naive model: a copy of the whole world at every send, and who may see what of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tickwire_replica::record::{BlockName, Held};
use tickwire_replica::server::View;
use tickwire_replica::world::{Audience, Cell, Groups, PlayerId};
use tickwire_replica::{BlockBuf, BlockView, EntityId, PlaceNumber, SendIndex, World};

use crate::things::{SIDE, Thing};

/// Whole worlds, by send.
#[derive(Default)]
pub(crate) struct Truth {
    sends: BTreeMap<SendIndex, Whole>,
}

/// The world at one send.
pub(crate) struct Whole {
    blocks: BTreeMap<BlockName, (usize, Arc<BlockBuf>)>,
    /// What decides who sees a place.
    places: BTreeMap<PlaceNumber, (Audience, Option<Cell>)>,
    /// The places of everyone's own entities.
    own: Vec<(PlayerId, PlaceNumber)>,
}

/// Somebody who looks at the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watcher {
    pub(crate) player: PlayerId,
    pub(crate) groups: Groups,
    pub(crate) view: Option<View>,
}

impl Truth {
    /// Remembers the world as of its last send. `owners` says whose each entity is.
    pub(crate) fn remember(&mut self, world: &World<Thing>, owners: &BTreeMap<EntityId, PlayerId>) {
        let (mut blocks, mut places, mut own) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (name, archetype, view) in world.blocks() {
            let whereabouts = occupants(view).find_map(|id| world.whereabouts(id));
            places.insert(name.place, whereabouts.expect("an occupant is an entity"));
            for owner in occupants(view).filter_map(|id| owners.get(&id)) {
                own.push((*owner, name.place));
            }
            // Most blocks are as they were.
            let before = self.sends.values().next_back();
            let before = before.and_then(|whole| whole.blocks.get(&name));
            let same = before.filter(|(_, block)| is_equal(block.view(), view));
            let block = same.map_or_else(|| Arc::new(copy(view)), |(_, block)| block.clone());
            blocks.insert(name, (archetype, block));
        }
        let whole = Whole {
            blocks,
            places,
            own,
        };
        self.sends.insert(world.send(), whole);
    }

    pub(crate) fn at(&self, send: SendIndex) -> Option<&Whole> {
        self.sends.get(&send)
    }
}

impl Held for Truth {
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)> {
        let (archetype, block) = self.at(send)?.blocks.get(&name)?;
        Some((*archetype, block.view()))
    }
}

impl Whole {
    /// The blocks that somebody sees, by their names.
    pub(crate) fn seen(&self, by: &Watcher) -> BTreeMap<BlockName, &BlockBuf> {
        let blocks = self.blocks.iter();
        let seen = blocks.filter(|(name, _)| self.sees(by, name.place));
        seen.map(|(name, (_, block))| (*name, &**block)).collect()
    }

    /// The entities that somebody sees.
    pub(crate) fn entities(&self, by: &Watcher) -> BTreeSet<EntityId> {
        let blocks = self.seen(by).into_values();
        blocks.flat_map(|block| occupants(block.view())).collect()
    }

    /// Whether somebody sees a place.
    pub(crate) fn sees(&self, by: &Watcher, place: PlaceNumber) -> bool {
        let Some((audience, cell)) = self.places.get(&place) else {
            return false;
        };
        let in_range = match (cell, by.view) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(cell), Some(view)) => distance(*cell, view.at) <= view.range + SIDE / 8.0,
        };
        let is_own = self.own.contains(&(by.player, place));
        audience.admits(by.player, by.groups) && (in_range || is_own)
    }
}

/// How far a point is from where a cell's entities can be: up to an eighth of a side beyond it.
fn distance(cell: Cell, at: [f64; 2]) -> f64 {
    let axes = [(cell.column, at[0]), (cell.row, at[1])];
    let squares = axes.map(|(index, at)| {
        let low = (f64::from(index) - 0.125) * SIDE;
        let away = (low - at).max(at - low - 1.25 * SIDE).max(0.0);
        away * away
    });
    squares.iter().sum::<f64>().sqrt()
}

/// Who is in a block.
pub(crate) fn occupants(view: BlockView<'_>) -> impl Iterator<Item = EntityId> {
    let ids = view.ids.iter().filter(|id| **id != 0);
    ids.map(|id| EntityId(*id))
}

/// A block's copy.
pub(crate) fn copy(view: BlockView<'_>) -> BlockBuf {
    BlockBuf {
        occupied: view.occupied,
        ids: view.ids.to_vec(),
        lanes: view.lanes.to_vec(),
        bytes: view.bytes.to_vec(),
    }
}

/// Whether two blocks are equal, lane for lane.
pub(crate) fn is_equal(a: BlockView<'_>, b: BlockView<'_>) -> bool {
    (a.occupied, a.ids, a.lanes, a.bytes) == (b.occupied, b.ids, b.lanes, b.bytes)
}
