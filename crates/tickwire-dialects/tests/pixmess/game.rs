//! A game of few rules: solid cells are in the way, everything else is allowed unless it is moody.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_dialects::pixmess::{
    Block, BlockId, Cell, ChunkId, Layer, PlayerId, Server, ServerEvent, SetId, Sublayer, Tiles,
};
use tickwire_session::Instant;
use tickwire_sim::{Chance, Rng};

use super::words::{WALL, cell};

/// What there is, and what was asked.
#[derive(Debug, Default)]
pub(crate) struct Game {
    pub(crate) tiles: BTreeMap<ChunkId, Tiles>,
    /// Where the next player stands.
    pub(crate) spawn: Cell,
    /// Blocks that nobody may change.
    pub(crate) sacred: BTreeSet<(i32, i32)>,
    /// Refuses a step in four, wherever it leads.
    pub(crate) moods: Option<Rng>,
    /// Does not answer any more.
    pub(crate) silent: bool,
    /// Layers compressed: one for each state of a chunk that was asked for.
    pub(crate) compressed: usize,
    layers: BTreeMap<ChunkId, Layer>,
}

impl Game {
    pub(crate) fn block(&self, id: BlockId) -> Block {
        let tiles = self.tiles.get(&id.chunk());
        tiles.map_or(Block::EMPTY, |tiles| {
            tiles.block(id.sublayer, id.cell.spot())
        })
    }

    /// Changes a block for everybody.
    pub(crate) fn set_block(&mut self, server: &mut Server, id: BlockId, block: Block) {
        self.store(id, block);
        server.set_block(id, block);
    }

    /// Does what the server asks for.
    pub(crate) fn handle(&mut self, now: Instant, server: &mut Server, event: &ServerEvent) {
        if self.silent {
            return;
        }
        match *event {
            ServerEvent::LoginAsked { player, .. } => server.admit(now, player, self.spawn),
            ServerEvent::MoveAsked { player, to, .. } => self.decide_move(now, server, player, to),
            ServerEvent::EditAsked { player, id, block } => {
                if self.sacred.contains(&(id.cell.x, id.cell.y)) {
                    server.tell_block(now, player, self.block(id));
                } else {
                    self.store(id, block);
                    server.allow_edit(now, player);
                }
            }
            ServerEvent::BlockAsked { player, id } => {
                server.tell_block(now, player, self.block(id));
            }
            ServerEvent::ChunkAsked { player, chunk } => {
                let layer = self.layer(chunk);
                server.provide_chunk(now, player, &layer);
            }
            _ => {}
        }
    }

    fn decide_move(&mut self, now: Instant, server: &mut Server, player: PlayerId, to: Cell) {
        let id = BlockId {
            set: SetId::ROOT,
            cell: to,
            sublayer: Sublayer::Solid,
        };
        let moody = |moods: &mut Rng| moods.happens(Chance::percent(25));
        let refused = self.moods.as_mut().is_some_and(moody);
        if self.block(id).typ == 0 && !refused {
            server.allow_move(now, player);
        } else {
            server.refuse_move(now, player);
        }
    }

    fn store(&mut self, id: BlockId, block: Block) {
        self.layers.remove(&id.chunk());
        let tiles = self.tiles.entry(id.chunk()).or_default();
        tiles.set_block(id.sublayer, id.cell.spot(), block);
    }

    fn layer(&mut self, chunk: ChunkId) -> Layer {
        let Self {
            layers,
            tiles,
            compressed,
            ..
        } = self;
        let layer = layers.entry(chunk).or_insert_with(|| {
            *compressed += 1;
            Layer::new(tiles.entry(chunk).or_default())
        });
        layer.clone()
    }

    /// Surrounds a cell with walls.
    pub(crate) fn wall_in(&mut self, x: i32, y: i32) {
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let id = BlockId {
                set: SetId::ROOT,
                cell: cell(x + dx, y + dy),
                sublayer: Sublayer::Solid,
            };
            self.store(id, WALL);
        }
    }
}
