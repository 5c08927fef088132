//! The blocks that the world itself is made of.

use super::Block;

pub(super) const GRASS: Block = Block::fixed(2, b'.');
pub(super) const TALL_GRASS: Block = Block::fixed(10, b',');
pub(super) const ROSES: Block = Block::fixed(13, b'*');
pub(super) const BUTTERCUPS: Block = Block::fixed(14, b'*');
pub(super) const BLUEBELLS: Block = Block::fixed(11, b'*');
pub(super) const SAND: Block = Block::fixed(14, b'.');
pub(super) const MOSS: Block = Block::fixed(2, b'"');
pub(super) const SLOPE: Block = Block::fixed(7, b'^');
pub(super) const CAVE: Block = Block::fixed(8, b'.');
pub(super) const ROAD: Block = Block::fixed(6, b':');
pub(super) const BRIDGE: Block = Block::fixed(6, b'=');

pub(super) const WATER: Block = Block::fixed(0x19, b'~');
pub(super) const PINE: Block = Block::fixed(2, b'T');
pub(super) const OAK: Block = Block::fixed(10, b'&');
pub(super) const ROCK: Block = Block::fixed(8, b'#');
pub(super) const BOULDER: Block = Block::pushable(7, b'O');

pub(super) const RUIN_FLOOR: Block = Block::fixed(7, b'.');
pub(super) const RUIN_WALL: Block = Block::fixed(0x78, b'#');
pub(super) const CRATE: Block = Block::pushable(6, b'o');

pub(super) const PAVEMENT: Block = Block::fixed(7, b':');
pub(super) const FOOTPATH: Block = Block::fixed(6, b'.');
pub(super) const PLATFORM: Block = Block::fixed(15, b'_');
pub(super) const BALLAST: Block = Block::fixed(8, b':');
pub(super) const RAIL: Block = Block::fixed(15, b'=');

pub(super) const CAR_FLOOR: Block = Block::fixed(6, b'.');
pub(super) const SEAT: Block = Block::fixed(12, b'h');
pub(super) const CAR_WALL: Block = Block::fixed(0x4f, b'#');
pub(super) const CAR_WINDOW: Block = Block::fixed(0x4b, b'o');
pub(super) const NOSE: Block = Block::fixed(0x4e, b'%');

/// What bots build with. Nothing pushable: they must find it again.
pub(super) const BRICKS: [Block; 3] = [
    Block::fixed(12, b'#'),
    Block::fixed(14, b'H'),
    Block::fixed(11, b'+'),
];
