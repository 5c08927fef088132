//! Who is told what: block changes, entities, layers.
//!
//! A client hears of what happens in the chunks it holds, and of nothing else. Of entities it knows
//! exactly those that stand in such a chunk, except those it asked not to hear of; its own entity is
//! apart from all that: created once, at login, never destroyed for it, and never moved by the echo of
//! its own steps.
//!
//! What a client holds or knows is nobody's business but its own. Whoever releases the chunk it
//! stands in hears less, and is seen by others as before: otherwise releasing would make invisible.

use alloc::vec::Vec;
use core::cmp::Reverse;

use tickwire_session::StreamId;

use super::super::limits::{CHUNKS_HELD, HOLD_REACH, PIECE_MAX};
use super::super::message::{BlockSet, FromServer, Shared};
use super::super::{Block, BlockId, Cell, ChunkId, EntityId, Layer, SetId};
use super::Server;
use super::peer::{Guest, Sight};
use super::scene::Entity;

impl Server {
    /// Tells everybody who holds the block's chunk.
    pub(super) fn show_block(&mut self, id: BlockId, block: Block) {
        let Self { peers, scene, .. } = self;
        for &on in scene.watchers(id.chunk()) {
            peers.tell_of(on, id.set, block_set(id, block));
        }
    }

    /// Tells one client what is in a place.
    pub(super) fn show_block_to(&mut self, on: StreamId, id: BlockId, block: Block) {
        self.peers.tell_of(on, id.set, block_set(id, block));
    }

    /// Puts an entity into the world.
    pub(super) fn show_entity(&mut self, id: EntityId, entity: Entity) {
        let chunk = ChunkId::root(entity.at.chunk());
        let (owner, creation) = (entity.owner, entity.creation(id));
        self.scene.insert(id, entity);
        let Self { peers, scene, .. } = self;
        for &on in scene.watchers(chunk) {
            if Some(on) != owner {
                peers.tell(on, creation.clone());
            }
        }
    }

    /// Takes an entity out of the world.
    pub(super) fn hide_entity(&mut self, id: EntityId) {
        let Some(entity) = self.scene.remove(id) else {
            return;
        };
        let Self { peers, scene, .. } = self;
        for &on in scene.watchers(ChunkId::root(entity.at.chunk())) {
            if Some(on) != entity.owner {
                peers.tell_if(on, |peer| {
                    let known = peer.sight.hears_of(id);
                    known.then_some(FromServer::EntityDestruction { entity: id })
                });
            }
        }
        // The number may be given to somebody else.
        for peer in peers.iter_mut() {
            peer.sight.muted.remove(&id);
        }
    }

    /// Puts an entity elsewhere. Those who see it before and after are told `news`, its own player
    /// only if `owner_too`.
    pub(super) fn relocate(
        &mut self,
        id: EntityId,
        to: Cell,
        news: &FromServer<Shared>,
        owner_too: bool,
    ) {
        let Some(from) = self.scene.relocate(id, to) else {
            return;
        };
        let Self { peers, scene, .. } = self;
        let Some(entity) = scene.entity(id) else {
            return;
        };
        let [old, new] = [from, to].map(|cell| ChunkId::root(cell.chunk()));
        let others = |chunk| {
            let watchers = scene.watchers(chunk).iter().copied();
            watchers.filter(|on| Some(*on) != entity.owner)
        };
        for on in others(old) {
            peers.tell_if(on, |peer| match () {
                () if !peer.sight.hears_of(id) => None,
                () if old == new || peer.sight.holds(new) => Some(news.clone()),
                () => Some(FromServer::EntityDestruction { entity: id }),
            });
        }
        if old != new {
            for on in others(new) {
                peers.tell_if(on, |peer| {
                    let is_new = peer.sight.hears_of(id) && !peer.sight.holds(old);
                    is_new.then(|| entity.creation(id))
                });
            }
        }
        if let Some(owner) = entity.owner {
            if owner_too {
                peers.tell(owner, news.clone());
            }
            if let Some(guest) = peers.get_mut(owner).and_then(|peer| peer.guest.as_mut()) {
                guest.at = to;
            }
            if old != new {
                self.release_far(owner);
            }
        }
    }

    /// Gives a client a chunk, and everything that stands in it.
    pub(super) fn show_layer(&mut self, on: StreamId, chunk: ChunkId, layer: &Layer) {
        let Some((guest, sight)) = self.guest_and_sight(on) else {
            return;
        };
        // Since it was asked for, the set may have gone, of which the client was told, or the player.
        if self.scene.corner(chunk.set).is_none() {
            return;
        }
        if self.scene.distance(chunk, guest.at) > HOLD_REACH {
            return self.release(on, chunk);
        }
        if !sight.holds(chunk) {
            if sight.held.len() >= CHUNKS_HELD
                && let Some(furthest) = self.furthest(on)
            {
                self.release(on, furthest);
            }
            self.scene.watch(chunk, on);
        }
        let Self { peers, scene, .. } = self;
        let Some(peer) = peers.get_mut(on) else {
            return;
        };
        // One that was asked for again is the youngest again.
        peer.sight.held.retain(|held| *held != chunk);
        peer.sight.held.push(chunk);
        peers.tell_of(on, chunk.set, FromServer::LayerStart(chunk.at));
        let gzip = layer.shared();
        for from in (0..gzip.len()).step_by(PIECE_MAX.into()) {
            let data = Shared::part(&gzip, from, PIECE_MAX.into());
            peers.tell(on, FromServer::LayerData { data });
        }
        peers.tell(on, FromServer::LayerEnd);
        for (id, entity) in scene.crowd(chunk) {
            if entity.owner == Some(on) {
                continue;
            }
            if let Some(peer) = peers.get_mut(on) {
                peer.sight.muted.remove(&id);
            }
            peers.tell(on, entity.creation(id));
        }
    }

    /// Tells a client that it hears no more of a chunk, whether it held it or not.
    pub(super) fn release(&mut self, on: StreamId, chunk: ChunkId) {
        let release = FromServer::LayerRelease(chunk.at);
        self.peers.tell_of(on, chunk.set, release);
        self.let_go(on, chunk);
    }

    /// Stops telling a client of a chunk: what it knew there is destroyed for it, and only for it.
    pub(super) fn let_go(&mut self, on: StreamId, chunk: ChunkId) {
        let Self { peers, scene, .. } = self;
        let Some(peer) = peers.get_mut(on) else {
            return;
        };
        if !peer.sight.holds(chunk) {
            return;
        }
        peer.sight.held.retain(|held| *held != chunk);
        scene.unwatch(chunk, on);
        for (id, entity) in scene.crowd(chunk) {
            if entity.owner != Some(on) {
                peers.tell_if(on, |peer| {
                    let known = peer.sight.hears_of(id);
                    known.then_some(FromServer::EntityDestruction { entity: id })
                });
            }
        }
    }

    /// Releases what has come too far away for 16 bits to name its cells.
    pub(super) fn release_far(&mut self, on: StreamId) {
        let Some((guest, sight)) = self.guest_and_sight(on) else {
            return;
        };
        let far = |chunk: &ChunkId| self.scene.distance(*chunk, guest.at) > HOLD_REACH;
        let far: Vec<_> = sight.held.iter().copied().filter(far).collect();
        for chunk in far {
            self.release(on, chunk);
        }
    }

    /// The chunk that a client can miss most easily; of several, the one held for longest.
    fn furthest(&self, on: StreamId) -> Option<ChunkId> {
        let (guest, sight) = self.guest_and_sight(on)?;
        let held = sight.held.iter().copied();
        held.min_by_key(|chunk| Reverse(self.scene.distance(*chunk, guest.at)))
    }

    fn guest_and_sight(&self, on: StreamId) -> Option<(&Guest, &Sight)> {
        let peer = self.peers.get(on)?;
        Some((peer.guest.as_ref()?, &peer.sight))
    }

    /// Everybody who can hear of movable sets and holds a chunk of this one.
    pub(super) fn holders_of(&self, set: SetId) -> Vec<StreamId> {
        let holds = |held: &[ChunkId]| held.iter().any(|chunk| chunk.set == set);
        self.peers
            .iter()
            .filter(|(_, peer)| holds(&peer.sight.held))
            .map(|(on, _)| on)
            .collect()
    }
}

fn block_set(id: BlockId, block: Block) -> FromServer<Shared> {
    FromServer::BlockSet(BlockSet {
        sublayer: id.sublayer,
        cell: id.cell.low(),
        block,
    })
}
