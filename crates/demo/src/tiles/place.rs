//! Where things are: cells, chunks, layer sets, directions.
//!
//! The world is a plane of cells, x to the east and y to the south, cut into square chunks. Besides
//! the ground itself, the *root*, there can be layer sets that move: planes of their own, whose cell
//! (0, 0) lies on some cell of the root.

use core::fmt;

use super::limits::{CHUNK_EDGE, CHUNK_SIDE};

/// Cells of a chunk.
pub const CHUNK_CELLS: usize = CHUNK_SIDE as usize * CHUNK_SIDE as usize;

/// A cell of a layer set.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Cell {
    /// To the east.
    pub x: i32,
    /// To the south.
    pub y: i32,
}

impl Cell {
    /// The neighbour in this direction, unless the world ends here.
    pub fn step(self, direction: Direction) -> Option<Self> {
        let (east, south) = direction.offset();
        self.offset(east, south)
    }

    /// The cell so far away, unless that is beyond the world.
    pub fn offset(self, east: i32, south: i32) -> Option<Self> {
        let cell = Self {
            x: self.x.checked_add(east)?,
            y: self.y.checked_add(south)?,
        };
        cell.exists().then_some(cell)
    }

    /// Whether the world reaches so far.
    pub fn exists(self) -> bool {
        self.chunk().exists()
    }

    /// The chunk that the cell is in.
    pub const fn chunk(self) -> ChunkXy {
        let side = CHUNK_SIDE as i32;
        ChunkXy {
            x: self.x.div_euclid(side),
            y: self.y.div_euclid(side),
        }
    }

    /// Where in its chunk the cell is.
    pub(super) fn spot(self) -> Spot {
        let within = |n: i32| {
            u8::try_from(n.rem_euclid(i32::from(CHUNK_SIDE))).expect("a remainder of 64 fits")
        };
        Spot::new(within(self.x), within(self.y))
    }

    /// How many steps away the other is, if nothing is in between.
    pub fn distance(self, other: Self) -> u32 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A chunk of a layer set: its cells are 64 x to 64 x + 63, and so in y.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ChunkXy {
    /// To the east.
    pub x: i32,
    /// To the south.
    pub y: i32,
}

impl ChunkXy {
    /// Whether the world reaches so far: whether all its cells have coordinates of 32 bits.
    pub const fn exists(self) -> bool {
        self.x.unsigned_abs() <= CHUNK_EDGE && self.y.unsigned_abs() <= CHUNK_EDGE
    }

    /// The chunk's first cell. Of a chunk that does not exist it is the nearest cell that does.
    pub const fn corner(self) -> Cell {
        let side = CHUNK_SIDE as i32;
        Cell {
            x: self.x.saturating_mul(side),
            y: self.y.saturating_mul(side),
        }
    }
}

impl fmt::Display for ChunkXy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A layer set: the root, or one that moves.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SetId(pub u16);

impl SetId {
    /// The ground, which does not move.
    pub const ROOT: Self = Self(0);
}

/// A chunk of any layer set.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ChunkId {
    /// Of which set.
    pub set: SetId,
    /// Where in it.
    pub at: ChunkXy,
}

/// Which of a cell's two blocks.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Sublayer {
    /// What one walks on.
    Walkable,
    /// What one cannot walk into, but perhaps push.
    Solid,
}

/// A block of any layer set.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BlockId {
    /// Of which set.
    pub set: SetId,
    /// In which cell of it.
    pub cell: Cell,
    /// Which of the cell's two.
    pub sublayer: Sublayer,
}

impl BlockId {
    /// A block of the ground.
    pub const fn root(cell: Cell, sublayer: Sublayer) -> Self {
        Self {
            set: SetId::ROOT,
            cell,
            sublayer,
        }
    }

    /// The chunk that the block is in.
    pub const fn chunk(self) -> ChunkId {
        ChunkId {
            set: self.set,
            at: self.cell.chunk(),
        }
    }
}

/// A cell within its chunk, counted row by row.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Spot(u16);

impl Spot {
    /// All cells of a chunk, row by row.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..u16::from(CHUNK_SIDE) * u16::from(CHUNK_SIDE)).map(Self)
    }

    pub(super) const fn new(x: u8, y: u8) -> Self {
        debug_assert!(x < CHUNK_SIDE && y < CHUNK_SIDE);
        Self(y as u16 * CHUNK_SIDE as u16 + x as u16)
    }

    pub(super) fn of_number(number: u16) -> Option<Self> {
        (usize::from(number) < CHUNK_CELLS).then_some(Self(number))
    }

    pub(super) const fn number(self) -> u16 {
        self.0
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The cell that this is in a chunk with this corner.
    pub(super) fn from(self, corner: Cell) -> Cell {
        let side = u16::from(CHUNK_SIDE);
        Cell {
            x: corner.x + i32::from(self.0 % side),
            y: corner.y + i32::from(self.0 / side),
        }
    }
}

/// One of eight neighbours.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Direction {
    East,
    West,
    South,
    North,
    SouthEast,
    NorthWest,
    SouthWest,
    NorthEast,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::East,
        Self::West,
        Self::South,
        Self::North,
        Self::SouthEast,
        Self::NorthWest,
        Self::SouthWest,
        Self::NorthEast,
    ];

    /// What a step adds to x and y.
    pub const fn offset(self) -> (i32, i32) {
        match self {
            Self::East => (1, 0),
            Self::West => (-1, 0),
            Self::South => (0, 1),
            Self::North => (0, -1),
            Self::SouthEast => (1, 1),
            Self::NorthWest => (-1, -1),
            Self::SouthWest => (-1, 1),
            Self::NorthEast => (1, -1),
        }
    }

    /// The direction in which `to` lies; none if it is the same cell.
    pub fn towards(from: Cell, to: Cell) -> Option<Self> {
        let sign = |a: i32, b: i32| match a.cmp(&b) {
            core::cmp::Ordering::Less => 1,
            core::cmp::Ordering::Equal => 0,
            core::cmp::Ordering::Greater => -1,
        };
        let wanted = (sign(from.x, to.x), sign(from.y, to.y));
        Self::ALL
            .into_iter()
            .find(|direction| direction.offset() == wanted)
    }

    /// The direction so many eighths of a circle further, clockwise.
    #[must_use]
    pub fn turned(self, eighths: i8) -> Self {
        let at = CLOCKWISE.iter().position(|&direction| direction == self);
        let at = i8::try_from(at.unwrap_or_default()).unwrap_or_default();
        CLOCKWISE[usize::from((at.wrapping_add(eighths)).rem_euclid(8).unsigned_abs())]
    }
}

const CLOCKWISE: [Direction; 8] = [
    Direction::East,
    Direction::SouthEast,
    Direction::South,
    Direction::SouthWest,
    Direction::West,
    Direction::NorthWest,
    Direction::North,
    Direction::NorthEast,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_ends_where_chunks_leave_32_bits() {
        let edge = i32::try_from(CHUNK_EDGE).unwrap();
        let last = ChunkXy { x: edge, y: edge };
        let corner = Cell {
            x: i32::MAX,
            y: i32::MAX,
        };
        assert_eq!(corner.chunk(), last);
        assert!(Direction::ALL.iter().all(|&way| {
            let (x, y) = way.offset();
            corner.step(way).is_some() == (x <= 0 && y <= 0)
        }));
        let first = ChunkXy { x: -edge, y: -edge }.corner();
        assert!(first.exists());
        assert_eq!(first.step(Direction::West), None);
        assert!(!Cell { x: i32::MIN, y: 0 }.exists());
    }

    #[test]
    fn cells_left_of_zero_are_in_chunks_left_of_zero() {
        let cell = Cell { x: -1, y: 64 };
        assert_eq!(cell.chunk(), ChunkXy { x: -1, y: 1 });
        assert_eq!(cell.spot(), Spot::new(63, 0));
        assert_eq!(cell.spot().from(cell.chunk().corner()), cell);
    }

    #[test]
    fn turning_goes_all_the_way_round() {
        for direction in Direction::ALL {
            assert_eq!(direction.turned(8), direction);
            assert_eq!(direction.turned(3).turned(-3), direction);
            let (x, y) = direction.offset();
            assert_eq!(direction.turned(4).offset(), (-x, -y));
            // A quarter clockwise, with y to the south.
            assert_eq!(direction.turned(2).offset(), (-y, x));
        }
    }
}
