//! Chunks as they travel, compressed once for everybody who asks.

use std::collections::BTreeMap;

use tickwire_dialects::pixmess::Layer;

use crate::tiles::{Chunk, ChunkId, Version};

/// Layers in each half of the cache. One has 2 to 3 KiB, so all of them have 10 MiB.
const HALF: usize = 2_048;

/// The layers that were asked for lately.
///
/// Two halves instead of an order of use: what is used moves to the fresh half, and when that is full,
/// the stale one is dropped and they change places. So a layer goes after 2,048 to 4,096 others were
/// used, and using one costs no more than finding it.
#[derive(Debug, Default)]
pub(super) struct Layers {
    fresh: BTreeMap<ChunkId, (Version, Layer)>,
    stale: BTreeMap<ChunkId, (Version, Layer)>,
}

impl Layers {
    /// The layer of a chunk as it is now.
    pub(super) fn layer(&mut self, id: ChunkId, chunk: &Chunk) -> &Layer {
        let version = chunk.version();
        if self.fresh.len() >= HALF && !self.fresh.contains_key(&id) {
            self.stale = core::mem::take(&mut self.fresh);
        }
        let stale = self.stale.remove(&id);
        let kept = self
            .fresh
            .entry(id)
            .or_insert_with(|| stale.unwrap_or_else(|| (version, Layer::new(chunk.tiles()))));
        if kept.0 != version {
            *kept = (version, Layer::new(chunk.tiles()));
        }
        &kept.1
    }
}
