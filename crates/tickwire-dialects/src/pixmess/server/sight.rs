//! What a client holds and knows, and what it is to be told next.
//!
//! In: the scene as it is. Out: messages that bring what the client knows closer to it, blocks in the order
//! in which they changed, nearest entities first and the others by turns, never more than were asked for.
//!
//! A client knows the entities that stand in the chunks it holds, except those it asked not to hear of.
//! Its own is apart from all that: created once, at login, never destroyed for it, and never moved by
//! the echo of its own steps. For each entity it is remembered how new the news were that the client
//! got; nothing else of what it was told. So a client that is told seldom is told no more than how things
//! are.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::pixmess::limits::ENTITIES_MAX;
use crate::pixmess::message::{FromServer, Shared};
use crate::pixmess::{Cell, ChunkId, EntityId, SetId};

use super::scene::{Scene, Stamp};

/// What a client was told of.
#[derive(Debug, Default)]
pub(super) struct Sight {
    /// The chunks it holds, those asked for longest ago first.
    pub(super) held: Vec<Held>,
    /// Entities that it knows and that are out of its sight. They are destroyed before it is told of
    /// any other: the number may be somebody else's by now.
    lost: Vec<EntityId>,
    /// Entities it does not want to hear of, and when it said so.
    muted: BTreeMap<EntityId, Stamp>,
    /// Who was told of last by turns.
    turn: EntityId,
    /// The place among the chunks held of the one whose blocks are told of first.
    block_turn: usize,
    /// The layer set that its packets mean.
    pub(super) its_set: SetId,
    /// The layer set that packets to it mean.
    pub(super) our_set: SetId,
}

/// A chunk that a client holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) chunk: ChunkId,
    /// The entities that it was told are here, and as of when.
    known: BTreeMap<EntityId, Stamp>,
    /// Every entity that changed here until then was told.
    seen: Stamp,
    /// Every block that changed here until then was told.
    blocks_seen: Stamp,
}

/// An entity of which a client has not heard the newest.
#[derive(Clone, Copy, Debug)]
struct Stale {
    entity: EntityId,
    /// How far from the client's own.
    distance: u32,
    /// The place of its chunk among those held.
    held: usize,
}

/// From whom a client looks, and from where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    /// A spectator has none.
    pub(super) own: Option<EntityId>,
    pub(super) at: Cell,
}

/// What a telling came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Told {
    /// Entities that were compared with what the client knows.
    pub(super) compared: usize,
    /// Messages.
    pub(super) messages: usize,
    /// Whether that was everything.
    pub(super) complete: bool,
}

impl Sight {
    pub(super) fn holds(&self, chunk: ChunkId) -> bool {
        self.held.iter().any(|held| held.chunk == chunk)
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = ChunkId> {
        self.held.iter().map(|held| held.chunk)
    }

    /// The client gets a chunk, as the youngest it holds. Everybody in it is created, even those it
    /// knows or did not want to hear of. Whether it did not hold the chunk before.
    pub(super) fn hold(&mut self, scene: &Scene, chunk: ChunkId) -> bool {
        let at = self.held.iter().position(|held| held.chunk == chunk);
        let mut held = match at {
            Some(at) => self.held.remove(at),
            None => Held {
                chunk,
                known: BTreeMap::new(),
                seen: Stamp::NEVER,
                blocks_seen: Stamp::NEVER,
            },
        };
        held.seen = Stamp::NEVER;
        held.blocks_seen = scene.now();
        for told in held.known.values_mut() {
            *told = Stamp::NEVER;
        }
        self.held.push(held);
        let stands_here = |id| scene.entity(id).is_some_and(|it| it.at.chunk() == chunk.at);
        self.muted.retain(|&id, _| !stands_here(id));
        at.is_none()
    }

    /// The client holds a chunk no more; whether it did.
    pub(super) fn release(&mut self, chunk: ChunkId) -> bool {
        let Some(at) = self.held.iter().position(|held| held.chunk == chunk) else {
            return false;
        };
        self.lost.extend(self.held.remove(at).known.into_keys());
        true
    }

    /// The client holds no chunk of a set that is gone. No entity stands in one.
    pub(super) fn forget_set(&mut self, set: SetId) {
        self.held.retain(|held| held.chunk.set != set);
    }

    /// The client wants to hear no more of an entity, and takes it out of its world by itself.
    pub(super) fn mute(&mut self, scene: &Scene, entity: EntityId) {
        for held in &mut self.held {
            held.known.remove(&entity);
        }
        if self.muted.len() >= ENTITIES_MAX {
            self.muted.retain(|&id, _| scene.entity(id).is_some());
        }
        self.muted.insert(entity, scene.now());
    }

    /// Whether there is an entity that the client still has to be told is gone.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Tells what the client does not know, in about `most` messages.
    pub(super) fn tell(
        &mut self,
        scene: &Scene,
        viewer: Viewer,
        most: usize,
        mut say: impl FnMut(FromServer<Shared>),
    ) -> Told {
        let mut stale = Vec::new();
        let compared = self.compare(scene, viewer, &mut stale);
        let gone = self.lost.len().min(most);
        for entity in self.lost.drain(..gone) {
            say(FromServer::EntityDestruction { entity });
        }
        if !self.lost.is_empty() {
            return Told {
                compared,
                messages: gone,
                complete: false,
            };
        }
        // Who builds and who walks must not keep each other from being told of.
        let (blocks, all_blocks) = self.tell_blocks(scene, (most - gone).div_ceil(2), &mut say);
        let before = gone + blocks;
        let mut told = Told {
            compared,
            messages: before,
            complete: all_blocks && before + stale.len() <= most,
        };
        self.choose(&mut stale, most.saturating_sub(before));
        for it in stale {
            told.messages += self.tell_entity(scene, it, told.complete, &mut say);
        }
        if told.complete {
            for held in &mut self.held {
                held.seen = scene.now();
            }
        }
        told
    }

    /// Tells of blocks that changed; in how many messages, and whether those are all.
    fn tell_blocks(
        &mut self,
        scene: &Scene,
        most: usize,
        say: &mut impl FnMut(FromServer<Shared>),
    ) -> (usize, bool) {
        let mut messages = 0;
        let first = self.block_turn % self.held.len().max(1);
        let (earlier, later) = self.held.split_at_mut(first);
        for (place, held) in later.iter_mut().chain(earlier).enumerate() {
            for (stamp, block_set) in scene.blocks_since(held.chunk, held.blocks_seen) {
                if messages >= most {
                    // The next turn begins with the chunk behind this one.
                    self.block_turn = first + place + 1;
                    return (messages, false);
                }
                let set = held.chunk.set;
                if core::mem::replace(&mut self.our_set, set) != set {
                    say(FromServer::LayersetSelect { set });
                    messages += 1;
                }
                say(FromServer::BlockSet(block_set));
                messages += 1;
                held.blocks_seen = stamp;
            }
        }
        (messages, true)
    }

    /// The client was told of the newest change of a block of this chunk apart from its turn.
    pub(super) fn note_block_told(&mut self, scene: &Scene, chunk: ChunkId) {
        let held = self.held.iter_mut().find(|held| held.chunk == chunk);
        if let Some(held) = held
            && scene.blocks_since(chunk, held.blocks_seen).nth(1).is_none()
        {
            held.blocks_seen = scene.now();
        }
    }

    /// Finds who is not as the client knows it, and those it has lost sight of; how many were compared.
    fn compare(&mut self, scene: &Scene, viewer: Viewer, stale: &mut Vec<Stale>) -> usize {
        let Self { held, muted, .. } = self;
        let mut strays = Vec::new();
        let mut compared = 0;
        for (place, it) in held.iter_mut().enumerate() {
            let Held {
                chunk, known, seen, ..
            } = it;
            if !scene.changed_since(*chunk, *seen) {
                continue;
            }
            let mut note = |entity, at| {
                stale.push(Stale {
                    entity,
                    distance: distance(viewer.at, at),
                    held: place,
                });
            };
            let is_muted = |id| match (muted.get(&id), scene.entity(id)) {
                (Some(since), Some(entity)) => entity.born <= *since,
                _ => false,
            };
            let is_new = |id| Some(id) != viewer.own && (muted.is_empty() || !is_muted(id));
            // Both are in the order of numbers, so one walk along them finds every difference.
            let mut crowd = scene.crowd(*chunk).inspect(|_| compared += 1).peekable();
            known.retain(|&id, told| {
                while let Some((other, stand)) = crowd.next_if(|(other, _)| *other < id) {
                    if is_new(other) {
                        note(other, stand.at);
                    }
                }
                match crowd.next_if(|(other, _)| *other == id) {
                    Some((_, stand)) => {
                        if stand.changed > *told {
                            note(id, stand.at);
                        }
                        true
                    }
                    None => {
                        strays.push((id, *told));
                        false
                    }
                }
            });
            for (other, stand) in crowd.filter(|(other, _)| is_new(*other)) {
                note(other, stand.at);
            }
        }
        for (id, told) in strays {
            // It may have gone no further than to another chunk that the client holds. It is found to
            // be stale there: if not before, it came later.
            let at = scene
                .entity(id)
                .map(|entity| ChunkId::root(entity.at.chunk()));
            match self.held.iter_mut().find(|held| Some(held.chunk) == at) {
                Some(held) => {
                    held.known.insert(id, told);
                }
                None => self.lost.push(id),
            }
        }
        compared
    }

    /// Leaves so many: if there are more, one half are the nearest and the others are who comes next
    /// in the order of numbers, so that everybody's turn comes however many stand close by.
    fn choose(&mut self, stale: &mut Vec<Stale>, most: usize) {
        if stale.len() <= most || most == 0 {
            stale.truncate(most);
            return;
        }
        let near = most / 2;
        stale.select_nth_unstable_by_key(near, |it| (it.distance, it.entity));
        let turn = self.turn.0;
        let after = |it: &Stale| it.entity.0.wrapping_sub(turn).wrapping_sub(1);
        if let Some(others) = stale.get_mut(near..) {
            let (_, last, _) = others.select_nth_unstable_by_key(most - near - 1, after);
            self.turn = last.entity;
        }
        stale.truncate(most);
    }

    /// Tells of one entity, step by step if there is time for that; in how many messages.
    fn tell_entity(
        &mut self,
        scene: &Scene,
        stale: Stale,
        step_by_step: bool,
        say: &mut impl FnMut(FromServer<Shared>),
    ) -> usize {
        let id = stale.entity;
        let (Some(entity), Some(held)) = (scene.entity(id), self.held.get_mut(stale.held)) else {
            return 0;
        };
        match held.known.insert(id, scene.now()) {
            Some(told) if told >= entity.born => match entity.steps_since(told) {
                Some(steps) if step_by_step || steps.len() == 1 => {
                    let messages = steps.len();
                    for direction in steps {
                        let direction = direction.code();
                        say(FromServer::Movement {
                            entity: id,
                            direction,
                        });
                    }
                    return messages;
                }
                _ => say(FromServer::EntityPosition {
                    entity: id,
                    at: entity.at,
                }),
            },
            _ => say(entity.creation(id)),
        }
        1
    }
}

/// In cells, diagonal steps counted as one.
fn distance(from: Cell, to: Cell) -> u32 {
    from.x.abs_diff(to.x).max(from.y.abs_diff(to.y))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::pixmess::ChunkXy;
    use crate::pixmess::message::Look;
    use crate::pixmess::server::scene::Entity;

    const CHUNK: ChunkId = ChunkId::root(ChunkXy { x: 0, y: 0 });
    const VIEWER: Viewer = Viewer {
        own: None,
        at: Cell { x: 0, y: 0 },
    };

    fn creature(x: i32, y: i32) -> Entity {
        Entity::new(Cell { x, y }, Look::default(), "cat".into(), None)
    }

    /// Creatures 1, 2, … in a row, the last nearest, and a client that knows them.
    fn row(count: u16) -> (Scene, Sight) {
        let mut scene = Scene::default();
        for id in 1..=count {
            scene.insert(EntityId(id), creature(i32::from(count - id), 0));
        }
        let mut sight = Sight::default();
        sight.hold(&scene, CHUNK);
        assert_eq!(told(&mut sight, &scene, 100).0.len(), usize::from(count));
        (scene, sight)
    }

    /// Who was told of, and whether that was everything.
    fn told(sight: &mut Sight, scene: &Scene, most: usize) -> (Vec<u16>, bool) {
        let mut ids = vec![];
        let told = sight.tell(scene, VIEWER, most, |message| {
            ids.push(match message {
                FromServer::EntityCreation { entity, .. }
                | FromServer::EntityDestruction { entity }
                | FromServer::EntityPosition { entity, .. }
                | FromServer::Movement { entity, .. } => entity.0,
                other => panic!("{other:?}"),
            });
        });
        assert_eq!(told.messages, ids.len());
        ids.sort_unstable();
        (ids, told.complete)
    }

    /// They were put where they are, so that everybody has to be told.
    fn mark_dirty(scene: &mut Scene, ids: impl Iterator<Item = u16>) {
        for id in ids {
            let at = scene.entity(EntityId(id)).unwrap().at;
            scene.relocate(EntityId(id), at, None);
        }
    }

    #[test]
    fn half_are_the_nearest_and_half_are_next_in_turn() {
        let (mut scene, mut sight) = row(40);
        mark_dirty(&mut scene, 1..=40);
        assert_eq!(told(&mut sight, &scene, 4), (vec![1, 2, 39, 40], false));
        // Those close by never rest, and everybody's turn comes nevertheless.
        for turn in 1..19 {
            mark_dirty(&mut scene, 39..=40);
            let next = 2 * turn;
            let expected = vec![next + 1, next + 2, 39, 40];
            assert_eq!(told(&mut sight, &scene, 4), (expected, turn == 18));
        }
        assert_eq!(told(&mut sight, &scene, 4), (vec![], true));
    }

    #[test]
    fn who_is_gone_is_destroyed_before_its_number_is_somebody_else() {
        let (mut scene, mut sight) = row(3);
        scene.remove(EntityId(2));
        scene.insert(EntityId(2), creature(500, 0));
        scene.remove(EntityId(3));
        assert_eq!(told(&mut sight, &scene, 1), (vec![2], false));
        scene.relocate(EntityId(2), Cell { x: 1, y: 1 }, None);
        assert_eq!(told(&mut sight, &scene, 1), (vec![3], false));
        assert_eq!(told(&mut sight, &scene, 1), (vec![2], true));
    }

    #[test]
    fn a_number_that_was_given_again_in_the_same_chunk_is_created_anew() {
        let (mut scene, mut sight) = row(3);
        scene.remove(EntityId(2));
        scene.insert(EntityId(2), creature(9, 9));
        let mut said = vec![];
        sight.tell(&scene, VIEWER, 10, |message| said.push(message));
        assert!(
            matches!(said[..], [FromServer::EntityCreation { .. }]),
            "{said:?}"
        );
    }

    #[test]
    fn what_did_not_change_is_not_compared() {
        let (mut scene, mut sight) = row(3);
        let idle = sight.tell(&scene, VIEWER, 10, |_| {});
        assert_eq!((idle.compared, idle.messages), (0, 0));
        mark_dirty(&mut scene, 2..3);
        assert_eq!(sight.tell(&scene, VIEWER, 10, |_| {}).compared, 3);
    }
}
