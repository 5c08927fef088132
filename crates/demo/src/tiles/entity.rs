//! Who is in the world.

use core::fmt;
use std::collections::BTreeMap;

use super::critter::Habits;
use super::{Cell, Look, limits};
use crate::slots::{Slot, Slots};

/// Names one entity from its coming to its going; no other gets the same for a long time after.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EntityId(pub(super) Slot);

impl EntityId {
    /// The place; unique among those who are there at the same time.
    pub const fn index(self) -> u16 {
        self.0.index
    }

    /// How often the place was used before.
    pub const fn generation(self) -> u16 {
        self.0.generation
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index(), self.generation())
    }
}

/// Somebody in the world.
#[derive(Clone, Debug)]
pub struct Entity {
    name: String,
    look: Look,
    position: Cell,
    /// How it behaves by itself; none for players.
    pub(super) habits: Option<Habits>,
}

impl Entity {
    pub(super) fn new(name: &str, look: Look, position: Cell) -> Self {
        Self {
            name: clean(name),
            look,
            position,
            habits: None,
        }
    }

    /// What it is called; at most [`limits::NAME_BYTES`] long.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it looks like.
    pub const fn look(&self) -> Look {
        self.look
    }

    /// Where it is, on the ground.
    pub const fn position(&self) -> Cell {
        self.position
    }

    /// Whether somebody plays it.
    pub const fn is_player(&self) -> bool {
        self.habits.is_none()
    }
}

/// Everybody, and which cells they stand on.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    entities: Slots<Entity>,
    players: u16,
    /// How many stand on a cell, where anybody does.
    standing: BTreeMap<Cell, u16>,
}

impl Crowd {
    pub(super) const fn new() -> Self {
        Self {
            entities: Slots::new(limits::PLAYERS + limits::CRITTERS),
            players: 0,
            standing: BTreeMap::new(),
        }
    }

    /// `None` if there is no place.
    pub(super) fn insert(&mut self, entity: Entity) -> Option<EntityId> {
        let (at, player) = (entity.position, entity.is_player());
        if player && self.players == limits::PLAYERS {
            return None;
        }
        let slot = self.entities.insert(entity)?;
        self.players += u16::from(player);
        *self.standing.entry(at).or_default() += 1;
        Some(EntityId(slot))
    }

    pub(super) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        let entity = self.entities.remove(id.0)?;
        self.players -= u16::from(entity.is_player());
        self.step_off(entity.position);
        Some(entity)
    }

    pub(super) fn get(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(id.0)
    }

    pub(super) fn habits_mut(&mut self, id: EntityId) -> Option<&mut Habits> {
        self.entities.get_mut(id.0)?.habits.as_mut()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.entities
            .iter()
            .map(|(slot, entity)| (EntityId(slot), entity))
    }

    pub(super) const fn players(&self) -> u16 {
        self.players
    }

    pub(super) fn is_occupied(&self, cell: Cell) -> bool {
        self.standing.contains_key(&cell)
    }

    pub(super) fn relocate(&mut self, id: EntityId, to: Cell) {
        if let Some(entity) = self.entities.get_mut(id.0) {
            let from = core::mem::replace(&mut entity.position, to);
            self.step_off(from);
            *self.standing.entry(to).or_default() += 1;
        }
    }

    fn step_off(&mut self, cell: Cell) {
        if let Some(count) = self.standing.get_mut(&cell) {
            *count -= 1;
            if *count == 0 {
                self.standing.remove(&cell);
            }
        }
    }
}

/// A name without control characters, cut between two letters.
fn clean(name: &str) -> String {
    let mut cleaned = String::new();
    for letter in name.chars().filter(|letter| !letter.is_control()) {
        if cleaned.len() + letter.len_utf8() > limits::NAME_BYTES {
            break;
        }
        cleaned.push(letter);
    }
    cleaned
}
