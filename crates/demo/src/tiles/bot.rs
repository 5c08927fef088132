//! Computer players of the tile world.
//!
//! In: a [`TileView`], which is what a client knows. Out: an [`Act`] now and then, which is what a
//! client can send; so a bot plays in the server's process or through any protocol, and cannot
//! cheat. A bot walks from place to place, around what is in its way, builds a little, takes down
//! what it has built, so that the world does not fill up with it, and greets whom it meets.

use core::time::Duration;
use std::collections::VecDeque;

use super::dice::{roll, sway};
use super::{Block, BlockId, Cell, Direction, Sublayer, Tile, TileView, palette};
use crate::Random;

/// Something that a player does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Act {
    /// Takes a step.
    Walk(Direction),
    /// Places a block, or removes one by placing nothing.
    Build {
        /// Which.
        at: BlockId,
        /// What it becomes.
        block: Block,
    },
    /// Says something to everybody.
    Say(String),
}

/// A computer player. Seeds make characters: how fast it walks, how far, how often it builds.
#[derive(Clone, Debug)]
pub struct Bot {
    random: Random,
    /// Between two steps.
    pace: Duration,
    /// Which way it goes around things: 1 is clockwise.
    hand: i8,
    goal: Option<Goal>,
    /// What stands in the world by its doing, oldest first.
    built: VecDeque<Cell>,
    next_step: Duration,
    next_building: Duration,
    next_words: Duration,
    /// Where it was a while ago, to notice that it gets nowhere.
    trail: VecDeque<Cell>,
    /// The time of the newest view.
    latest: Duration,
}

/// Where to, and until when it tries.
#[derive(Clone, Copy, Debug)]
struct Goal {
    cell: Cell,
    until: Duration,
}

impl Bot {
    /// A bot whose character follows from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            pace: Duration::from_millis(u64::from(100 + 50 * roll(&mut random, 4))),
            hand: if random.chance(0.5) { 1 } else { -1 },
            goal: None,
            built: VecDeque::new(),
            next_step: Duration::ZERO,
            next_building: Duration::ZERO,
            next_words: Duration::ZERO,
            trail: VecDeque::new(),
            // So that the first view starts the clocks.
            latest: Duration::MAX,
            random,
        }
    }

    /// Decides what to do at this moment, if anything. Meant to be asked 20 times a second.
    pub fn think(&mut self, view: &TileView<'_>) -> Option<Act> {
        let now = view.time;
        if now < self.latest {
            self.start_clocks(now);
        }
        self.latest = now;
        if now >= self.next_words {
            self.next_words = now + self.some_time(WORDS_PAUSE);
            return Some(Act::Say(self.words(view)));
        }
        if now >= self.next_building {
            self.next_building = now + self.some_time(BUILDING_PAUSE);
            if let Some(act) = self.build(view) {
                return Some(act);
            }
        }
        if now < self.next_step {
            return None;
        }
        self.next_step = now + self.pace;
        let Some(way) = self.way(view) else {
            // A look at the flowers.
            self.next_step = now + self.some_time(REST);
            return None;
        };
        Some(Act::Walk(way))
    }

    /// At the beginning, and when a new session's clock is younger than the last one's.
    fn start_clocks(&mut self, now: Duration) {
        self.goal = None;
        self.next_step = now;
        self.next_building = now + self.some_time(BUILDING_PAUSE);
        self.next_words = now + self.some_time(WORDS_PAUSE);
    }

    /// The next step towards the goal, or around what is in between.
    fn way(&mut self, view: &TileView<'_>) -> Option<Direction> {
        let goal = self
            .goal
            .filter(|goal| view.time < goal.until && view.position.distance(goal.cell) > ARRIVED);
        let Some(goal) = goal else {
            self.goal = self.choose_goal(view);
            self.trail.clear();
            return None;
        };
        let straight = Direction::towards(view.position, goal.cell)?;
        self.trail.push_back(view.position);
        if self.trail.len() > TRAIL {
            let then = self.trail.pop_front()?;
            if then.distance(view.position) < TRAIL_PROGRESS {
                // Going round and round: the other way, to somewhere else.
                self.goal = None;
                self.hand = -self.hand;
            }
        }
        let turns = [0, 1, -1, 2, -2, 3, -3, 4];
        turns
            .into_iter()
            .map(|eighths| straight.turned(eighths * self.hand))
            .find(|&way| {
                let next = view.position.step(way);
                next.is_some_and(|next| self.can_go(view, next, way))
            })
    }

    /// What it has not seen it may try; the server knows.
    fn can_go(&self, view: &TileView<'_>, next: Cell, way: Direction) -> bool {
        // Not straight back: that is how one gets stuck between two trees.
        if self.trail.iter().rev().take(FRESH).any(|&was| was == next) {
            return false;
        }
        let Some(tile) = view.sight.look(next) else {
            return true;
        };
        let beyond = || view.sight.look(next.step(way)?);
        tile.is_free() || tile.solid.is_pushable() && beyond().is_some_and(Tile::is_free)
    }

    /// Somewhere else; or back to the oldest of its own works, the more so if there are enough.
    fn choose_goal(&mut self, view: &TileView<'_>) -> Option<Goal> {
        let until = view.time + GOAL_PATIENCE;
        if (self.built.len() >= KEPT || self.random.chance(0.3))
            && let Some(&cell) = self.built.front()
            && cell.distance(view.position) > REACH
        {
            return Some(Goal { cell, until });
        }
        let (east, south) = (sway(&mut self.random, 48), sway(&mut self.random, 48));
        let cell = view.position.offset(east, south)?;
        Some(Goal { cell, until })
    }

    /// Takes something of its own down, or places something beside it.
    fn build(&mut self, view: &TileView<'_>) -> Option<Act> {
        if self.random.chance(0.5) || self.built.len() >= KEPT {
            self.take_down(view)
        } else {
            self.put_up(view)
        }
    }

    fn take_down(&mut self, view: &TileView<'_>) -> Option<Act> {
        let near = |cell: &Cell| cell.distance(view.position) <= REACH;
        let index = self.built.iter().position(near)?;
        let cell = self.built.remove(index)?;
        Some(build(cell, Block::EMPTY))
    }

    fn put_up(&mut self, view: &TileView<'_>) -> Option<Act> {
        let way = self.pick(&Direction::ALL);
        let cell = view.position.step(way)?;
        let tile = view.sight.look(cell)?;
        let taken = view.others.iter().any(|other| other.position == cell);
        if taken || !tile.is_free() || tile.walkable.is_empty() {
            return None;
        }
        self.built.push_back(cell);
        Some(build(cell, self.pick(&palette::BRICKS)))
    }

    fn words(&mut self, view: &TileView<'_>) -> String {
        let nearest = view
            .others
            .iter()
            .filter(|other| other.position.distance(view.position) <= EARSHOT)
            .min_by_key(|other| other.position.distance(view.position));
        match nearest {
            Some(other) if self.random.chance(0.5) => format!("hello, {}", other.name),
            _ => self.pick(&WORDS).to_owned(),
        }
    }

    fn pick<T: Copy, const N: usize>(&mut self, from: &[T; N]) -> T {
        from[usize::from(roll(&mut self.random, u16::MAX)) % N]
    }

    /// Between a third of a time and five thirds of it.
    fn some_time(&mut self, about: Duration) -> Duration {
        about / 3 + about * u32::from(roll(&mut self.random, 1_024)) / 768
    }
}

const fn build(cell: Cell, block: Block) -> Act {
    Act::Build {
        at: BlockId::root(cell, Sublayer::Solid),
        block,
    }
}

const WORDS: [&str; 8] = [
    "the train is never late",
    "has anybody seen the ruins?",
    "I could walk for hours",
    "mind the geese",
    "somebody left a crate here",
    "what is on the other side of the lake?",
    "nice flowers",
    "all aboard!",
];

/// About how long it takes from one block to the next, and from one saying to the next.
const BUILDING_PAUSE: Duration = Duration::from_secs(8);
const WORDS_PAUSE: Duration = Duration::from_secs(120);
/// About how long it looks around before it walks on.
const REST: Duration = Duration::from_millis(1_500);
/// How long it tries to get somewhere.
const GOAL_PATIENCE: Duration = Duration::from_secs(40);
/// So near, a place counts as reached.
const ARRIVED: u32 = 3;
/// How far it builds.
const REACH: u32 = 8;
/// Blocks that it leaves standing before it takes down the oldest.
const KEPT: usize = 4;
/// How many steps back it remembers, and how far from there it should be by then.
const TRAIL: usize = 40;
const TRAIL_PROGRESS: u32 = 6;
/// Cells that it does not step on again at once.
const FRESH: usize = 3;
/// Who is nearer hears a greeting as meant.
const EARSHOT: u32 = 12;

#[cfg(test)]
mod tests;
