//! A game's own objects, by the entities that they stand for.

use std::collections::BTreeMap;

use crate::{ClientEvent, EntityId, Game};

/// Ties entities in view to the game's own objects: sprites, sounds, scene nodes.
///
/// ```
/// use tickwire::{EntityId, EntityMap};
///
/// let mut sprites = EntityMap::default();
/// sprites.insert(EntityId(7), "ship.png");
/// assert_eq!(sprites.get(EntityId(7)), Some(&"ship.png"));
/// ```
#[derive(Clone, Debug)]
pub struct EntityMap<T> {
    objects: BTreeMap<EntityId, T>,
}

impl<T> Default for EntityMap<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
        }
    }
}

impl<T> EntityMap<T> {
    /// Keeps up with the view: makes an object for what is spawned, and returns that of what is despawned, for
    /// the game to take apart. `make` gets the entity and which of the game's things it is.
    pub fn follow<G: Game>(
        &mut self,
        event: &ClientEvent<G>,
        make: impl FnOnce(EntityId, usize) -> T,
    ) -> Option<T> {
        match *event {
            ClientEvent::Spawned { id, archetype } => self.insert(id, make(id, archetype)),
            ClientEvent::Despawned { id, .. } => self.remove(id),
            _ => None,
        }
    }

    /// Ties an object to an entity; returns the one before.
    pub fn insert(&mut self, id: EntityId, object: T) -> Option<T> {
        self.objects.insert(id, object)
    }

    /// Unties an object.
    pub fn remove(&mut self, id: EntityId) -> Option<T> {
        self.objects.remove(&id)
    }

    /// The object of an entity.
    pub fn get(&self, id: EntityId) -> Option<&T> {
        self.objects.get(&id)
    }

    /// The object of an entity, to be changed.
    pub fn get_mut(&mut self, id: EntityId) -> Option<&mut T> {
        self.objects.get_mut(&id)
    }

    /// All objects, by entity.
    pub fn iter(&self) -> impl Iterator<Item = (EntityId, &T)> {
        self.objects.iter().map(|(id, object)| (*id, object))
    }
}
