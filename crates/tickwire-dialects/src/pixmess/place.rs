//! Where things are: cells, chunks, layer sets, directions.
//!
//! The world is a plane of cells, x to the east and y to the south. It is cut into chunks, which is
//! what clients ask for. Besides the world itself, the *root*, there may be movable layer sets, each a
//! plane of its own whose cell (0, 0) lies on some cell of the root.

use core::fmt;

use super::limits::{CHUNK_CELLS, CHUNK_EDGE, CHUNK_SIDE};

/// An entity, players included. The number may belong to another one later.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntityId(pub u16);

/// A client that has logged in. A player's entity has the same number; a spectator has none.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PlayerId(pub u16);

impl PlayerId {
    /// The entity that the player is.
    pub const fn entity(self) -> EntityId {
        EntityId(self.0)
    }
}

/// A layer set: the root, or one that moves.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SetId(pub u16);

impl SetId {
    /// The world itself, which does not move.
    pub const ROOT: Self = Self(0);
}

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
    pub const fn step(self, direction: Direction) -> Option<Self> {
        let (east, south) = direction.offset();
        self.offset(east, south)
    }

    /// The cell so far away, unless that is beyond the world.
    pub const fn offset(self, east: i32, south: i32) -> Option<Self> {
        match (self.x.checked_add(east), self.y.checked_add(south)) {
            (Some(x), Some(y)) if (Self { x, y }).exists() => Some(Self { x, y }),
            _ => None,
        }
    }

    /// Whether the world reaches so far.
    pub const fn exists(self) -> bool {
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
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of 64")]
    pub const fn spot(self) -> Spot {
        let side = CHUNK_SIDE as i32;
        Spot::new(self.x.rem_euclid(side) as u8, self.y.rem_euclid(side) as u8)
    }

    /// How many steps away the other is, if nothing is in between.
    pub fn distance(self, other: Self) -> u32 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }

    /// What a block change says about the cell.
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
    #[expect(clippy::cast_sign_loss, reason = "the low bits are wanted")]
    pub const fn low(self) -> Low {
        Low {
            x: self.x as u16,
            y: self.y as u16,
        }
    }

    /// This cell of the root as a set sees it whose corner lies at `corner`. Far beyond the edge of
    /// the world it wraps, and nothing is there.
    pub(super) const fn seen_from(self, corner: Self) -> Self {
        Self {
            x: self.x.wrapping_sub(corner.x),
            y: self.y.wrapping_sub(corner.y),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// The low 16 bits of a cell's coordinates.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Low {
    /// Of x.
    pub x: u16,
    /// Of y.
    pub y: u16,
}

impl Low {
    /// The cell with these low bits that is nearest to `near`. Of two equally near ones, the one with
    /// the smaller coordinate.
    pub const fn nearest(self, near: Cell) -> Cell {
        Cell {
            x: nearest(self.x, near.x),
            y: nearest(self.y, near.y),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
#[expect(clippy::cast_sign_loss, reason = "the low bits are wanted")]
const fn nearest(low: u16, near: i32) -> i32 {
    let ahead = low.wrapping_sub(near as u16).cast_signed() as i32;
    match near.checked_add(ahead) {
        Some(cell) => cell,
        // At the edge of 32 bits the nearest one that exists is on the other side.
        None => near + (ahead - (1 << 16) * ahead.signum()),
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
    /// Whether every cell of the chunk has coordinates of 32 bits.
    pub const fn exists(self) -> bool {
        self.x.unsigned_abs() <= CHUNK_EDGE.unsigned_abs()
            && self.y.unsigned_abs() <= CHUNK_EDGE.unsigned_abs()
    }

    /// The chunk's first cell. Of a chunk that does not exist it is the nearest cell that does.
    pub const fn corner(self) -> Cell {
        let side = CHUNK_SIDE as i32;
        Cell {
            x: self.x.saturating_mul(side),
            y: self.y.saturating_mul(side),
        }
    }

    /// How many chunks away the other is, diagonal steps counted as one (Chebyshev).
    pub fn distance(self, other: Self) -> u32 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }
}

impl fmt::Display for ChunkXy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A chunk of any layer set.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ChunkId {
    /// Of which set.
    pub set: SetId,
    /// Where in it.
    pub at: ChunkXy,
}

impl ChunkId {
    /// A chunk of the root.
    pub const fn root(at: ChunkXy) -> Self {
        Self {
            set: SetId::ROOT,
            at,
        }
    }
}

/// A cell within its chunk, counted row by row.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Spot(u16);

impl Spot {
    /// The cell in this column of this row; both are taken modulo 64.
    pub const fn new(x: u8, y: u8) -> Self {
        let side = CHUNK_SIDE as u16;
        Self(y as u16 % side * side + x as u16 % side)
    }

    /// All cells of a chunk, row by row.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).map_while(Self::of_number)
    }

    /// The cell of this number, which is below [`CHUNK_CELLS`].
    pub fn of_number(number: u16) -> Option<Self> {
        (usize::from(number) < CHUNK_CELLS).then_some(Self(number))
    }

    /// How many cells are before it.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The cell that this is in a chunk with this corner.
    pub fn from(self, corner: Cell) -> Cell {
        let side = u16::from(CHUNK_SIDE);
        Cell {
            x: corner.x.wrapping_add((self.0 % side).into()),
            y: corner.y.wrapping_add((self.0 / side).into()),
        }
    }
}

/// Which of a cell's two blocks.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Sublayer {
    /// What one walks on.
    Walkable,
    /// What one cannot walk into, and perhaps push.
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
    /// A block of the root.
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
    /// All of them, each at the place of its code.
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

    /// The direction of this code, if it is one.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Its number on the wire.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What a step adds to x and y.
    pub const fn offset(self) -> (i32, i32) {
        let code = self.code();
        // The code is a recipe: begin with a step east; each bit that is set turns it.
        let (mut x, mut y) = (1, 0);
        if code & 0b001 != 0 {
            (x, y) = (-x, -y);
        }
        if code & 0b010 != 0 {
            (x, y) = (y, x);
        }
        if code & 0b100 != 0 {
            (x, y) = (x - y, y + x);
        }
        (x, y)
    }

    /// The direction in which `to` lies; none if it is the same cell.
    pub fn towards(from: Cell, to: Cell) -> Option<Self> {
        let sign = |from: i32, to: i32| to.cmp(&from) as i32;
        let wanted = (sign(from.x, to.x), sign(from.y, to.y));
        Self::ALL.into_iter().find(|way| way.offset() == wanted)
    }

    /// The direction so many eighths of a circle further, clockwise.
    #[must_use]
    pub fn turned(self, eighths: i8) -> Self {
        let at = CLOCKWISE.iter().position(|other| *other == self);
        let steps = usize::from(eighths.rem_euclid(8).unsigned_abs());
        let mut around = CLOCKWISE.iter().cycle();
        around
            .nth(at.unwrap_or_default() + steps)
            .copied()
            .unwrap_or(self)
    }

    /// Its name, as traces show it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::East => "east",
            Self::West => "west",
            Self::South => "south",
            Self::North => "north",
            Self::SouthEast => "south-east",
            Self::NorthWest => "north-west",
            Self::SouthWest => "south-west",
            Self::NorthEast => "north-east",
        }
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

    #[test]
    fn every_code_points_where_its_name_says() {
        let offsets = Direction::ALL.map(Direction::offset);
        let expected = [
            (1, 0),
            (-1, 0),
            (0, 1),
            (0, -1),
            (1, 1),
            (-1, -1),
            (-1, 1),
            (1, -1),
        ];
        assert_eq!(offsets, expected);
        for (code, direction) in (0..).zip(Direction::ALL) {
            assert_eq!(direction.code(), code);
            assert_eq!(Direction::of_code(code), Some(direction));
        }
        assert_eq!(Direction::of_code(8), None);
    }

    #[track_caller]
    fn check_nearest(low: u16, near: i32, expected: i32) {
        assert_eq!(nearest(low, near), expected, "{low:#x} near {near}");
    }

    #[test]
    fn low_bits_mean_the_nearest_cell() {
        check_nearest(5, 0, 5);
        check_nearest(0xffff, 0, -1);
        check_nearest(3, 65_530, 65_539);
        check_nearest(0xfffa, 65_539, 65_530);
        check_nearest(0, -70_000, -65_536);
        // As far one way as the other.
        check_nearest(0x8000, 0, -32_768);
    }

    #[test]
    fn at_the_edge_of_32_bits_the_nearest_is_inward() {
        check_nearest(0xffff, i32::MAX, i32::MAX);
        check_nearest(0, i32::MAX, i32::MAX - 0xffff);
        check_nearest(0, i32::MIN, i32::MIN);
        check_nearest(0xffff, i32::MIN, i32::MIN + 0xffff);
    }

    #[test]
    fn low_bits_of_a_near_cell_bring_it_back() {
        for near in [i32::MIN, -65_537, -1, 0, 1, 32_768, i32::MAX] {
            for ahead in [-32_768, -32_767, -1, 0, 1, 32_767] {
                let Some(x) = near.checked_add(ahead) else {
                    continue;
                };
                let cell = Cell { x, y: x };
                assert_eq!(cell.low().nearest(Cell { x: near, y: near }), cell);
            }
        }
    }

    #[test]
    fn cells_left_of_zero_are_in_chunks_left_of_zero() {
        let cell = Cell { x: -1, y: 64 };
        let (chunk, spot) = (cell.chunk(), cell.spot());
        assert_eq!(chunk, ChunkXy { x: -1, y: 1 });
        assert_eq!(spot, Spot::new(63, 0));
        assert_eq!(chunk.corner(), Cell { x: -64, y: 64 });
        assert_eq!(spot.from(chunk.corner()), cell);
    }

    #[test]
    fn the_world_ends_where_chunks_leave_32_bits() {
        let (x, y) = (CHUNK_EDGE, CHUNK_EDGE);
        let corner = Cell {
            x: i32::MAX,
            y: i32::MAX,
        };
        assert_eq!(corner.chunk(), ChunkXy { x, y });
        assert!(Direction::ALL.iter().all(|&way| {
            let (x, y) = way.offset();
            corner.step(way).is_some() == (x <= 0 && y <= 0)
        }));
        let first = ChunkXy { x: -x, y: -y }.corner();
        assert!(first.exists());
        assert_eq!(first.step(Direction::West), None);
        assert!(!Cell { x: i32::MIN, y: 0 }.exists());
        assert!(!ChunkXy { x: i32::MIN, y: 0 }.exists());
    }
}
