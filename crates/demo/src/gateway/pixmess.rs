//! The tile world over pixmess.
//!
//! The two have the same shape, cells, chunks and layer sets included, so what is here are mostly
//! conversions. The train is a layer set of version 2; animals are entities without a client.

mod client;
mod layers;
mod server;

use tickwire_dialects::pixmess;

use super::{Connect, Paths, Protocol, Side};
use crate::tiles::{Block, BlockId, Cell, ChunkId, ChunkXy, Direction, Look, SetId, Sublayer};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pixmess",
    about: "a world of tiles to walk and build in, over TCP alone",
    port: pixmess::PORT,
    paths: Paths::Streams,
    places: None,
    // Nothing in pixmess is secret.
    serve: |_| Box::new(server::Gateway::new()),
    connect: Connect::Tiles(|now, server, name, look| {
        Ok(Box::new(client::Gateway::new(now, server, name, look)?))
    }),
    inspect: |from, _, bytes, trace| pixmess::inspect(from == Side::Client, bytes, trace),
};

const fn cell_to_wire(cell: Cell) -> pixmess::Cell {
    pixmess::Cell {
        x: cell.x,
        y: cell.y,
    }
}

const fn cell(cell: pixmess::Cell) -> Cell {
    Cell {
        x: cell.x,
        y: cell.y,
    }
}

const fn look_to_wire(look: Look) -> pixmess::Look {
    pixmess::Look {
        chr: look.ch,
        col: look.col,
    }
}

const fn look(look: pixmess::Look) -> Look {
    Look {
        ch: look.chr,
        col: look.col,
    }
}

const fn block_to_wire(block: Block) -> pixmess::Block {
    pixmess::Block {
        typ: block.typ,
        col: block.col,
        ch: block.ch,
    }
}

const fn block(block: pixmess::Block) -> Block {
    Block {
        typ: block.typ,
        col: block.col,
        ch: block.ch,
    }
}

const fn sublayer_to_wire(sublayer: Sublayer) -> pixmess::Sublayer {
    match sublayer {
        Sublayer::Walkable => pixmess::Sublayer::Walkable,
        Sublayer::Solid => pixmess::Sublayer::Solid,
    }
}

const fn sublayer(sublayer: pixmess::Sublayer) -> Sublayer {
    match sublayer {
        pixmess::Sublayer::Walkable => Sublayer::Walkable,
        pixmess::Sublayer::Solid => Sublayer::Solid,
    }
}

/// Layer sets have the same numbers on both sides: the root is 0, the train is the first other.
const fn block_id_to_wire(id: BlockId) -> pixmess::BlockId {
    pixmess::BlockId {
        set: pixmess::SetId(id.set.0),
        cell: cell_to_wire(id.cell),
        sublayer: sublayer_to_wire(id.sublayer),
    }
}

const fn block_id(id: pixmess::BlockId) -> BlockId {
    BlockId {
        set: SetId(id.set.0),
        cell: cell(id.cell),
        sublayer: sublayer(id.sublayer),
    }
}

const fn chunk_id(id: pixmess::ChunkId) -> ChunkId {
    ChunkId {
        set: SetId(id.set.0),
        at: ChunkXy {
            x: id.at.x,
            y: id.at.y,
        },
    }
}

/// Both count the directions in the same order, which is that of their codes.
fn direction(direction: pixmess::Direction) -> Direction {
    Direction::ALL[usize::from(direction.code())]
}

fn direction_to_wire(direction: Direction) -> pixmess::Direction {
    let same = |other: &pixmess::Direction| other.offset() == direction.offset();
    let found = pixmess::Direction::ALL.into_iter().find(same);
    found.expect("both know the eight neighbours")
}

#[cfg(test)]
mod tests;
