//! Animals: harmless, and always on their way.
//!
//! A critter wanders around its home. It keeps off the railway and pushes nothing. One that no player can
//! see may move, unseen, to a new home near some player, so that there are animals wherever players go.

use super::dice::{roll, sway};
use super::{Cell, Direction, Entity, EntityId, Event, Look, Motion, TileWorld, limits};

/// How a critter behaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    home: Cell,
    /// Steps until it next feels like moving.
    rest: u16,
    heading: Direction,
}

impl TileWorld {
    /// Lets the animals in, around the plaza.
    pub(super) fn populate(&mut self) {
        for number in 0..limits::CRITTERS {
            let (name, look) = KINDS[usize::from(number) % KINDS.len()];
            let home = self.spawn_cell(RANGE);
            let mut critter = Entity::new(name, look, home);
            critter.habits = Some(Habits {
                home,
                rest: roll(&mut self.random, REST_STEPS),
                heading: Direction::ALL[usize::from(roll(&mut self.random, 8))],
            });
            if let Some(entity) = self.crowd.insert(critter) {
                self.events.push(Event::EntityCreated { entity, at: home });
            }
        }
    }

    /// Moves those that feel like it, in the order of their ids.
    pub(super) fn wander(&mut self) {
        let critters: Vec<EntityId> = self
            .crowd
            .iter()
            .filter(|(_, entity)| !entity.is_player())
            .map(|(id, _)| id)
            .collect();
        for &critter in &critters {
            self.stroll(critter);
        }
        if self.tick().0.is_multiple_of(MIGRATION_STEPS) && !critters.is_empty() {
            let turn = usize::from(roll(&mut self.random, limits::CRITTERS)) % critters.len();
            self.migrate(critters[turn]);
        }
    }

    fn stroll(&mut self, critter: EntityId) {
        let Some((from, mut habits)) = self.look_up(critter) else {
            return;
        };
        if habits.rest > 0 {
            habits.rest -= 1;
        } else {
            habits.rest = WALK_STEPS;
            if roll(&mut self.random, 6) == 0 {
                habits.rest = roll(&mut self.random, REST_STEPS);
                habits.heading = habits
                    .heading
                    .turned(i8::try_from(sway(&mut self.random, 2)).unwrap_or_default());
            }
            if from.distance(habits.home) > u32::from(RANGE)
                && let Some(back) = Direction::towards(from, habits.home)
            {
                habits.heading = back;
            }
            match from.step(habits.heading).filter(|&to| self.is_natural(to)) {
                Some(to) => self.relocate(critter, to, Motion::Walked(habits.heading)),
                None => habits.heading = habits.heading.turned(3),
            }
        }
        if let Some(kept) = self.crowd.habits_mut(critter) {
            *kept = habits;
        }
    }

    /// Makes the surroundings of some player a critter's home, if nobody can see it now.
    fn migrate(&mut self, critter: EntityId) {
        let Some((from, _)) = self.look_up(critter) else {
            return;
        };
        let chosen = usize::from(roll(&mut self.random, self.crowd.players()));
        let (east, south) = (sway(&mut self.random, 30), sway(&mut self.random, 30));
        let Some(home) = self
            .players()
            .nth(chosen)
            .and_then(|(_, player)| player.position().offset(east, south))
        else {
            return;
        };
        let seen = self.is_player_within(SIGHT, from) || self.is_player_within(ARRIVAL, home);
        if seen || !self.is_natural(home) {
            return;
        }
        if let Some(habits) = self.crowd.habits_mut(critter) {
            habits.home = home;
        }
        self.relocate(critter, home, Motion::Displaced);
    }

    fn is_player_within(&self, distance: u32, of: Cell) -> bool {
        self.players()
            .any(|(_, player)| player.position().distance(of) <= distance)
    }

    fn look_up(&self, critter: EntityId) -> Option<(Cell, Habits)> {
        let entity = self.crowd.get(critter)?;
        Some((entity.position(), entity.habits?))
    }

    /// Whether an animal would go there.
    fn is_natural(&mut self, cell: Cell) -> bool {
        !self.is_railway(cell) && self.tile(cell).is_some_and(super::Tile::is_free)
    }
}

const KINDS: [(&str, Look); 6] = [
    ("rabbit", look(b'r', 7)),
    ("goose", look(b'g', 15)),
    ("fox", look(b'f', 12)),
    ("hedgehog", look(b'h', 6)),
    ("deer", look(b'd', 14)),
    ("toad", look(b't', 10)),
];

const fn look(chr: u8, col: u16) -> Look {
    let chr = chr as u16;
    Look { chr, col }
}

/// Cells from its home that a critter stays within.
const RANGE: u8 = 20;
/// Steps between two steps of one that walks, and the longest rest.
const WALK_STEPS: u16 = 6;
const REST_STEPS: u16 = 60;
/// Between two thoughts of moving away.
const MIGRATION_STEPS: u64 = 20;
/// Nearer than this, somebody may be looking at a critter that leaves.
const SIGHT: u32 = 48;
/// A critter that arrives does not do so nearer than this.
const ARRIVAL: u32 = 16;
