//! Entities by id: where each is, where it was, and which ids are free.
//!
//! An id is an index and a generation, so that an index can be used again and an old id never names
//! somebody else. An index rests for as long as the past can be read: until then its id still finds the
//! entity as it was.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_state::Tick;

use super::PlayerId;
use super::place::Handle;
use crate::EntityId;

/// Bits of an id's index; the others count its generations.
const INDEX_BITS: u32 = 21;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// Where an entity is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Location {
    pub(super) block: Handle,
    pub(super) slot: u8,
}

/// An entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entity {
    id: EntityId,
    /// Nowhere if it is despawned, or was never spawned.
    pub(super) at: Option<Location>,
    pub(super) owner: Option<PlayerId>,
    /// Whether it is relevant wherever it is.
    pub(super) is_everywhere: bool,
    /// Its last move, by number.
    moved: Option<u64>,
}

/// All entities.
#[derive(Debug)]
pub(super) struct Entities {
    /// By index. The first is nobody, so that no id is 0.
    all: Vec<Entity>,
    limit: u32,
    live: u32,
    /// Indices that can be used again.
    free: VecDeque<u32>,
    /// Indices that rest, and since when.
    resting: VecDeque<(Tick, u32)>,
    moves: VecDeque<Move>,
    /// The number of the first of `moves`.
    first_move: u64,
}

/// That an entity was somewhere else.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: Location,
    /// The last commit at which it was there.
    until: Tick,
    /// The same entity's move before.
    earlier: Option<u64>,
}

const NOBODY: Entity = Entity {
    id: EntityId::NONE,
    at: None,
    owner: None,
    is_everywhere: false,
    moved: None,
};

impl Entities {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            all: alloc::vec![NOBODY],
            limit,
            live: 0,
            free: VecDeque::new(),
            resting: VecDeque::new(),
            moves: VecDeque::new(),
            first_move: 0,
        }
    }

    pub(super) const fn len(&self) -> u32 {
        self.live
    }

    pub(super) const fn is_full(&self) -> bool {
        self.live >= self.limit
    }

    /// An entity that is there.
    #[inline]
    pub(super) fn get(&self, id: EntityId) -> Option<(&Entity, Location)> {
        let entity = self.all.get((id.0 & INDEX_MASK) as usize)?;
        Some((entity, entity.at.filter(|_| entity.id == id)?))
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> {
        let live = self.all.iter().filter(|entity| entity.at.is_some());
        live.map(|entity| entity.id)
    }

    /// The id of the next entity.
    pub(super) fn next_id(&self) -> EntityId {
        if let Some(index) = self.next_index()
            && let Some(entity) = self.all.get(index as usize)
        {
            return EntityId(entity.id.0.wrapping_add(1 << INDEX_BITS));
        }
        EntityId(u32::try_from(self.all.len()).unwrap_or(INDEX_MASK))
    }

    /// An index to use again. Those that rest are used only if there are as many as entities allowed.
    fn next_index(&self) -> Option<u32> {
        let resting = || {
            let too_many = self.resting.len() >= self.limit as usize;
            self.resting.front().filter(|_| too_many).map(|(_, i)| *i)
        };
        self.free.front().copied().or_else(resting)
    }

    /// Adds an entity; its id is the one that [`next_id`](Self::next_id) says.
    pub(super) fn add(&mut self, at: Location, owner: Option<PlayerId>, is_everywhere: bool) {
        let entity = Entity {
            id: self.next_id(),
            at: Some(at),
            owner,
            is_everywhere,
            moved: None,
        };
        let index = (entity.id.0 & INDEX_MASK) as usize;
        if self.free.pop_front().is_none() && index < self.all.len() {
            self.resting.pop_front();
        }
        match self.all.get_mut(index) {
            Some(place) => *place = entity,
            None => self.all.push(entity),
        }
        self.live += 1;
    }

    /// Notes that an entity is somewhere else from now on, or nowhere.
    pub(super) fn relocate(&mut self, id: EntityId, to: Option<Location>, now: Tick) {
        let index = id.0 & INDEX_MASK;
        let Some(entity) = self.all.get_mut(index as usize) else {
            return;
        };
        if let Some(from) = entity.at {
            self.moves.push_back(Move {
                from,
                until: now,
                earlier: entity.moved,
            });
            entity.moved = Some(self.first_move + self.moves.len() as u64 - 1);
        }
        entity.at = to;
        if to.is_none() {
            self.live -= 1;
            self.resting.push_back((now, index));
        }
    }

    /// Where an entity may have been at a tick that can be read back. Whether it was there yet, the
    /// block says.
    pub(super) fn location_at(&self, id: EntityId, tick: Tick) -> Option<Location> {
        let entity = self.all.get((id.0 & INDEX_MASK) as usize)?;
        let entity = Some(entity).filter(|entity| entity.id == id)?;
        let (mut at, mut last) = (entity.at, entity.moved);
        while let Some(number) = last
            && let Some(index) = number.checked_sub(self.first_move)
            && let Some(step) = self.moves.get(usize::try_from(index).ok()?)
            && step.until >= tick
        {
            at = Some(step.from);
            last = step.earlier;
        }
        at
    }

    /// Forgets where entities were before a tick.
    pub(super) fn forget_before(&mut self, oldest: Tick) {
        while self.moves.front().is_some_and(|step| step.until < oldest) {
            self.moves.pop_front();
            self.first_move += 1;
        }
        while let Some((since, index)) = self.resting.front().copied()
            && since < oldest
        {
            self.resting.pop_front();
            self.free.push_back(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(block: u32) -> Location {
        Location {
            block: Handle(block),
            slot: 0,
        }
    }

    fn add(entities: &mut Entities, block: u32) -> EntityId {
        let id = entities.next_id();
        entities.add(at(block), None, false);
        id
    }

    #[test]
    fn an_index_is_used_again_under_another_id_and_not_before_it_rested() {
        let mut entities = Entities::new(10);
        let first = add(&mut entities, 1);
        assert_eq!(first, EntityId(1));
        entities.relocate(first, None, Tick(5));
        assert_eq!(add(&mut entities, 1), EntityId(2));
        entities.forget_before(Tick(6));
        let again = add(&mut entities, 1);
        assert_eq!(again.0 & INDEX_MASK, 1);
        assert_ne!(again, first);
        assert!(entities.get(first).is_none() && entities.get(again).is_some());
    }

    #[test]
    fn ids_do_not_run_out_where_everybody_dies_at_once() {
        let mut entities = Entities::new(10);
        for _ in 0..100 {
            let id = add(&mut entities, 1);
            entities.relocate(id, None, Tick(5));
        }
        assert!(entities.all.len() <= 21);
    }

    #[test]
    fn moves_are_followed_back() {
        let mut entities = Entities::new(10);
        let id = add(&mut entities, 1);
        entities.relocate(id, Some(at(2)), Tick(3));
        entities.relocate(id, Some(at(9)), Tick(5));
        entities.relocate(id, Some(at(3)), Tick(5));
        entities.relocate(id, None, Tick(7));
        let found = |tick| entities.location_at(id, Tick(tick));
        assert_eq!(found(3), Some(at(1)));
        assert_eq!(found(4), Some(at(2)));
        assert_eq!(found(5), Some(at(2)));
        assert_eq!(found(6), Some(at(3)));
        assert_eq!(found(8), None);
        entities.forget_before(Tick(6));
        assert_eq!(entities.location_at(id, Tick(7)), Some(at(3)));
    }
}
