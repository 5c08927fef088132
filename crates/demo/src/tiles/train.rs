//! The train: a layer set that moves.
//!
//! It shuttles on the railway at a steady pace and waits at every station. Where it has a floor, its
//! cells count in place of the ground's, and whoever stands on one rides along; the world does the
//! carrying, since it knows who stands where. From the end of the line it leaves the world, and comes back a
//! while later.

use super::limits::CHUNK_SIDE;
use super::terrain::railway::{BED_REACH, LINE_REACH, STATION_EVERY};
use super::{Block, Cell, Chunk, ChunkId, ChunkXy, Direction, SetId, Spot, Tile, palette};

/// A train of one chunk.
#[derive(Debug)]
pub struct Train {
    set: SetId,
    origin: Cell,
    pub(super) cells: Chunk,
    heading: Direction,
    /// Steps until the next cell; until it comes back, if it is away.
    wait: u32,
    is_away: bool,
}

/// What becomes of the train in a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Course {
    Moved(Direction),
    Left,
    Came,
}

impl Train {
    /// A train in the middle station, about to leave for the east.
    pub(super) fn new(set: SetId) -> Self {
        Self {
            set,
            origin: Cell {
                x: -MIDDLE,
                y: -MIDDLE,
            },
            cells: build_cars(),
            heading: Direction::East,
            wait: STOP_STEPS,
            is_away: false,
        }
    }

    /// Its layer set.
    pub const fn set(&self) -> SetId {
        self.set
    }

    /// Where on the ground the set's cell (0, 0) lies.
    pub const fn origin(&self) -> Cell {
        self.origin
    }

    /// Its cells; where there is no floor, there is no train.
    pub const fn cells(&self) -> &Chunk {
        &self.cells
    }

    /// Which way it travels, or will when it leaves.
    pub const fn heading(&self) -> Direction {
        self.heading
    }

    /// Whether it has left the world.
    pub const fn is_away(&self) -> bool {
        self.is_away
    }

    /// The cell of the train above a cell of the ground, if the train is there.
    pub fn cell_above(&self, ground: Cell) -> Option<Cell> {
        let local = Cell {
            x: ground.x.checked_sub(self.origin.x)?,
            y: ground.y.checked_sub(self.origin.y)?,
        };
        self.has_floor(local).then_some(local)
    }

    /// The cell of the ground below a cell of the train.
    pub fn cell_below(&self, local: Cell) -> Option<Cell> {
        self.origin.offset(local.x, local.y)
    }

    /// Advances by 1/20 s.
    pub(super) fn step(&mut self) -> Option<Course> {
        self.wait = self.wait.saturating_sub(1);
        if self.wait > 0 {
            return None;
        }
        let at_end = (self.origin.x + MIDDLE).abs() == LINE_REACH;
        if self.is_away {
            self.is_away = false;
            self.wait = STOP_STEPS;
            self.heading = self.heading.turned(4);
            return Some(Course::Came);
        }
        let (east, _) = self.heading.offset();
        if at_end && (self.origin.x + MIDDLE).signum() == east {
            self.is_away = true;
            self.wait = AWAY_STEPS;
            return Some(Course::Left);
        }
        let moved = self.heading;
        let (east, _) = moved.offset();
        self.origin.x += east;
        let middle = self.origin.x + MIDDLE;
        self.wait = if middle % STATION_EVERY == 0 {
            STOP_STEPS
        } else {
            PACE_STEPS
        };
        Some(Course::Moved(moved))
    }

    pub(super) fn has_floor(&self, local: Cell) -> bool {
        let is_floor = || !self.tile(local).walkable.is_empty();
        !self.is_away && local.chunk() == ChunkXy::default() && is_floor()
    }

    /// A cell of the set; it must be within its only chunk.
    pub(super) fn tile(&self, local: Cell) -> Tile {
        self.cells.tile(local.spot())
    }

    pub(super) fn chunk_id(&self) -> ChunkId {
        ChunkId {
            set: self.set,
            at: ChunkXy::default(),
        }
    }
}

/// Three cars with a gangway between them, and a nose at both ends.
fn build_cars() -> Chunk {
    let mut chunk = Chunk::default();
    for spot in Spot::all() {
        let cell = spot.from(Cell::default());
        let (along, across) = (cell.x - MIDDLE, cell.y - MIDDLE);
        if let Some((walkable, solid)) = car_tile(along, across) {
            chunk.set_tile(spot, Tile { walkable, solid });
        }
    }
    chunk
}

/// The train is symmetric; what stands so far from its middle.
fn car_tile(along: i32, across: i32) -> Option<(Block, Block)> {
    let (along, across) = (along.abs(), across.abs());
    let wall = |block| Some((palette::CAR_FLOOR, block));
    let floor = |block| Some((block, Block::EMPTY));
    match (along, across) {
        _ if across > BED_REACH => None,
        (30, 0) | (29, 0..=1) => wall(palette::NOSE),
        (29.., _) => None,
        // The gangway, between the cars' end walls.
        (10..=11, 0) | (9 | 12, 0) => floor(palette::CAR_FLOOR),
        (10..=11, _) => None,
        (9 | 12 | 28, _) => wall(palette::CAR_WALL),
        // Two doors a side in every outer car, one in the middle one.
        (0..=1 | 16..=17 | 24..=25, BED_REACH) => floor(palette::CAR_FLOOR),
        (_, BED_REACH) if along % 3 == 0 => wall(palette::CAR_WINDOW),
        (_, BED_REACH) => wall(palette::CAR_WALL),
        (5, 0) => wall(palette::CRATE),
        (_, 1) if along % 3 == 2 => floor(palette::SEAT),
        _ => floor(palette::CAR_FLOOR),
    }
}

/// The cell of the set that is in the middle of the train, in both directions.
const MIDDLE: i32 = CHUNK_SIDE as i32 / 2;

/// Steps a cell: five cells a second, a quarter of what players can run.
const PACE_STEPS: u32 = 4;

/// Steps in a station: eight seconds, enough to see it, walk there and get in.
const STOP_STEPS: u32 = 160;

/// Steps out of the world: as long, so that somebody who waits at the end of the line sees it come.
const AWAY_STEPS: u32 = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_at_every_station_and_turns_at_the_ends() {
        let mut train = Train::new(SetId(1));
        let (mut stops, mut leftmost, mut rightmost) = (Vec::new(), 0, 0);
        let mut since_moved = 0;
        for _ in 0..60_000 {
            let before = train.origin().x + MIDDLE;
            since_moved += 1;
            if let Some(Course::Moved(_)) = train.step() {
                if since_moved >= STOP_STEPS {
                    stops.push(before);
                }
                since_moved = 0;
            }
            leftmost = leftmost.min(train.origin().x + MIDDLE);
            rightmost = rightmost.max(train.origin().x + MIDDLE);
        }
        assert_eq!((leftmost, rightmost), (-LINE_REACH, LINE_REACH));
        assert_eq!(stops[..6], [0, 256, 512, 768, 1_024, 768]);
        assert!(stops.iter().all(|stop| stop % STATION_EVERY == 0));
    }

    #[test]
    fn it_leaves_the_world_at_the_end_of_the_line_and_comes_back_there() {
        let mut train = Train::new(SetId(1));
        let mut courses = Vec::new();
        while courses.len() < 4 {
            let course = train.step();
            courses.extend(course.filter(|course| !matches!(course, Course::Moved(_))));
            let middle = train.origin().x + MIDDLE;
            assert!(!train.is_away() || middle.abs() == LINE_REACH);
            assert_eq!(
                train
                    .cell_above(train.origin().offset(MIDDLE, MIDDLE).unwrap())
                    .is_none(),
                train.is_away()
            );
        }
        let (left, came) = (Course::Left, Course::Came);
        assert_eq!(courses, [left, came, left, came]);
        assert_eq!(train.origin().x + MIDDLE, -LINE_REACH);
    }

    #[test]
    fn every_car_can_be_walked_through_from_its_doors() {
        let train = Train::new(SetId(1));
        let free = |along: i32, across: i32| {
            let cell = Cell {
                x: MIDDLE + along,
                y: MIDDLE + across,
            };
            train.has_floor(cell) && train.tile(cell).is_free()
        };
        for along in -27..=27 {
            let aisle = (-1..=1).any(|across| free(along, across));
            assert!(aisle, "nobody gets past {along}");
        }
        assert!(free(0, 2) && free(16, -2) && free(-25, 2));
        assert!(!free(30, 0) && !free(5, 2));
    }
}
