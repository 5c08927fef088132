//! The client's copy of the world: the chunks it holds, the entities it knows, the sets there are.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::pixmess::limits::{CHUNK_SIDE, LAYER_MAX, SETS_MAX};
use crate::pixmess::message::Look;
use crate::pixmess::{
    BlockId, Cell, ChunkId, ChunkXy, EntityId, Low, PlayerId, SetId, Sublayer, Tiles, decompress,
};

/// An entity as last told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entity {
    /// Where it stands.
    pub at: Cell,
    /// What it looks like.
    pub look: Look,
    /// Its name.
    pub name: String,
}

/// What a client knows.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) player: Option<PlayerId>,
    pub(super) entities: BTreeMap<EntityId, Entity>,
    pub(super) chunks: BTreeMap<ChunkId, Tiles>,
    /// Chunks that were asked for and have not come yet.
    pub(super) wanted: BTreeSet<ChunkId>,
    pub(super) sets: BTreeMap<SetId, Cell>,
    /// The layer set that the server's packets mean.
    pub(super) their_set: SetId,
    /// The chunk whose pieces are arriving.
    loading: Option<(ChunkId, Vec<u8>)>,
}

/// The server sent what cannot be followed: bytes that are no packet, layer packets in an order that
/// makes no sense, a layer that is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Broken;

impl World {
    /// This client's own entity.
    pub(super) fn own(&self) -> Option<&Entity> {
        self.entities.get(&self.player?.entity())
    }

    /// A set's corner in the root.
    pub(super) fn corner(&self, set: SetId) -> Option<Cell> {
        if set == SetId::ROOT {
            return Some(Cell::default());
        }
        self.sets.get(&set).copied()
    }

    /// The block that the server means.
    ///
    /// The low bits mean the cell that is nearest to the player. A spectator stands nowhere, but its
    /// chunks are never so far apart that two of them had a cell with these bits.
    pub(super) fn locate(&self, sublayer: Sublayer, cell: Low) -> Option<BlockId> {
        let set = self.their_set;
        let cell = match self.own() {
            Some(own) => cell.nearest(own.at.seen_from(self.corner(set)?)),
            None => {
                let held = self.chunks.keys().filter(|chunk| chunk.set == set);
                held.map(|chunk| (chunk.at, cell.nearest(middle(chunk.at))))
                    .find(|(at, cell)| cell.chunk() == *at)?
                    .1
            }
        };
        Some(BlockId {
            set,
            cell,
            sublayer,
        })
    }

    pub(super) fn start_layer(&mut self, at: ChunkXy) -> Result<(), Broken> {
        if self.loading.is_some() {
            return Err(Broken);
        }
        let set = self.their_set;
        self.loading = Some((ChunkId { set, at }, Vec::new()));
        Ok(())
    }

    pub(super) fn add_piece(&mut self, piece: &[u8]) -> Result<(), Broken> {
        let (_, gzip) = self.loading.as_mut().ok_or(Broken)?;
        if gzip.len() + piece.len() > LAYER_MAX {
            return Err(Broken);
        }
        gzip.extend_from_slice(piece);
        Ok(())
    }

    /// Which chunk has come; `None` for one that nobody wants any more.
    pub(super) fn end_layer(&mut self) -> Result<Option<ChunkId>, Broken> {
        let (chunk, gzip) = self.loading.take().ok_or(Broken)?;
        if !self.wanted.remove(&chunk) && !self.chunks.contains_key(&chunk) {
            return Ok(None);
        }
        let tiles = decompress(&gzip).map_err(|_| Broken)?;
        self.chunks.insert(chunk, tiles);
        Ok(Some(chunk))
    }

    /// Forgets a chunk; whether it was held or wanted.
    pub(super) fn drop_chunk(&mut self, chunk: ChunkId) -> bool {
        let wanted = self.wanted.remove(&chunk);
        self.chunks.remove(&chunk).is_some() || wanted
    }

    /// Adds a set, or puts one elsewhere; whether that can be: the root is there already, and only so
    /// many others can be.
    pub(super) fn add_set(&mut self, set: SetId, at: Cell) -> bool {
        let full = self.sets.len() >= SETS_MAX && !self.sets.contains_key(&set);
        if set == SetId::ROOT || full {
            return false;
        }
        self.sets.insert(set, at);
        true
    }

    /// Forgets a set and its chunks; whether it was there.
    pub(super) fn drop_set(&mut self, set: SetId) -> bool {
        self.chunks.retain(|chunk, _| chunk.set != set);
        self.wanted.retain(|chunk| chunk.set != set);
        self.sets.remove(&set).is_some()
    }
}

fn middle(chunk: ChunkXy) -> Cell {
    let half = i32::from(CHUNK_SIDE) / 2;
    let corner = chunk.corner();
    Cell {
        x: corner.x.saturating_add(half),
        y: corner.y.saturating_add(half),
    }
}
