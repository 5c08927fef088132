//! The server's table of entities and what is to be said about each.

use alloc::vec::Vec;

use crate::lwar::id::Ids;
use crate::lwar::limits::ENTITIES_MAX;
use crate::lwar::{EntityId, Kind, PlayerId};

/// What an update says about an entity, and so which message carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A solid thing: ship, bullet, rocket, planet, sun.
    Body {
        /// Position.
        x: i16,
        /// Position.
        y: i16,
        /// Whole degrees, 0 to 359.
        orientation: u16,
        /// Percent.
        health: u8,
    },
    /// A thing that does nothing but move. Its heading and health stay what they were. The original
    /// client reads bullets from [`Body`](Self::Body) alone.
    Place {
        /// Position.
        x: i16,
        /// Position.
        y: i16,
    },
    /// A beam.
    Ray {
        /// Where it begins.
        x: i16,
        /// Where it begins.
        y: i16,
        /// Whole degrees, 0 to 359.
        orientation: u16,
        /// How far it reaches.
        length: u16,
    },
    /// A ring that grows.
    Circle {
        /// Its centre.
        x: i16,
        /// Its centre.
        y: i16,
        /// Its radius.
        radius: u16,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entity {
    pub(super) id: EntityId,
    pub(super) kind: Kind,
    pub(super) owner: PlayerId,
    pub(super) shape: Shape,
}

/// The entities, each at the place that its id's index names.
#[derive(Debug)]
pub(super) struct Entities {
    ids: Ids,
    places: Vec<Option<Entity>>,
}

impl Entities {
    pub(super) const fn new() -> Self {
        Self {
            ids: Ids::new(0..ENTITIES_MAX),
            places: Vec::new(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entity> {
        self.places.iter().flatten()
    }

    pub(super) fn add(&mut self, kind: Kind, owner: PlayerId, shape: Shape) -> Option<EntityId> {
        let id = EntityId(self.ids.give()?);
        let place = usize::from(id.0.index);
        if place >= self.places.len() {
            self.places.resize(place + 1, None);
        }
        *self.places.get_mut(place)? = Some(Entity {
            id,
            kind,
            owner,
            shape,
        });
        Some(id)
    }

    pub(super) fn remove(&mut self, id: EntityId) -> Option<Entity> {
        let place = self.places.get_mut(usize::from(id.0.index))?;
        let entity = place.take_if(|entity| entity.id == id)?;
        self.ids.release(id.0);
        Some(entity)
    }

    /// Removes a player's entities and tells which they were.
    pub(super) fn remove_owned_by(&mut self, player: PlayerId) -> Vec<EntityId> {
        let owned: Vec<_> = self
            .iter()
            .filter(|e| e.owner == player)
            .map(|e| e.id)
            .collect();
        for &id in &owned {
            self.remove(id);
        }
        owned
    }

    pub(super) fn set(&mut self, id: EntityId, shape: Shape) {
        if let Some(Some(entity)) = self.places.get_mut(usize::from(id.0.index))
            && entity.id == id
        {
            entity.shape = shape;
        }
    }
}
