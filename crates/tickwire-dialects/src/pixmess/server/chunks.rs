//! Which chunks a client holds, and what it is told of their blocks.
//!
//! A client hears of what happens in the chunks it holds, and of nothing else. What it holds is
//! nobody's business but its own: whoever releases the chunk it stands in hears less, and is seen by
//! others as before. Otherwise releasing would make invisible.

use alloc::vec::Vec;
use core::cmp::Reverse;

use tickwire_session::PeerId;

use crate::pixmess::limits::{CHUNKS_HELD, HOLD_REACH, PIECE_MAX};
use crate::pixmess::message::{BlockSet, FromServer, Shared};
use crate::pixmess::{Block, BlockId, ChunkId, Layer, SetId};

use super::Server;
use super::connection::Guest;
use super::sight::Sight;

impl Server {
    /// Tells one client what is in a place.
    pub(super) fn show_block_to(&mut self, id: PeerId, at: BlockId, block: Block) {
        let block_set = FromServer::BlockSet(BlockSet {
            sublayer: at.sublayer,
            cell: at.cell.low(),
            block,
        });
        self.peers.tell_of(id, at.set, block_set);
    }

    /// Gives a client a chunk. Whoever stands in it follows as news.
    pub(super) fn show_layer(&mut self, id: PeerId, chunk: ChunkId, layer: &Layer) {
        let Some((guest, sight)) = self.guest_and_sight(id) else {
            return;
        };
        // Since it was asked for, the set may have gone, of which the client was told, or the player.
        if self.scene.corner(chunk.set).is_none() {
            return;
        }
        if self.scene.distance(chunk, guest.at) > HOLD_REACH {
            return self.release(id, chunk);
        }
        if !sight.holds(chunk)
            && sight.held.len() >= CHUNKS_HELD
            && let Some(furthest) = self.furthest(id)
        {
            self.release(id, furthest);
        }
        let Self { peers, scene, .. } = self;
        let Some(peer) = peers.state(id) else {
            return;
        };
        if peer.sight.hold(scene, chunk) {
            scene.watch(chunk, id);
        }
        peers.tell_of(id, chunk.set, FromServer::LayerStart(chunk.at));
        let gzip = layer.shared();
        for from in (0..gzip.len()).step_by(PIECE_MAX.into()) {
            let data = Shared::part(&gzip, from, PIECE_MAX.into());
            peers.tell(id, FromServer::LayerData { data });
        }
        peers.tell(id, FromServer::LayerEnd);
        self.queue_news(id);
    }

    /// Tells a client that it hears no more of a chunk, whether it held it or not.
    pub(super) fn release(&mut self, id: PeerId, chunk: ChunkId) {
        let release = FromServer::LayerRelease(chunk.at);
        self.peers.tell_of(id, chunk.set, release);
        self.let_go(id, chunk);
    }

    /// Stops telling a client of a chunk: what it knew there is destroyed for it, and only for it.
    pub(super) fn let_go(&mut self, id: PeerId, chunk: ChunkId) {
        if let Some(peer) = self.peers.state(id)
            && peer.sight.release(chunk)
        {
            self.scene.unwatch(chunk, id);
            self.queue_news(id);
        }
    }

    /// Releases what has come too far away for 16 bits to name its cells.
    pub(super) fn release_far(&mut self, id: PeerId) {
        let Some((guest, sight)) = self.guest_and_sight(id) else {
            return;
        };
        let far = |chunk: &ChunkId| self.scene.distance(*chunk, guest.at) > HOLD_REACH;
        let far: Vec<_> = sight.chunks().filter(far).collect();
        for chunk in far {
            self.release(id, chunk);
        }
    }

    /// The chunk that a client can miss most easily; of several, the one held for longest.
    fn furthest(&self, id: PeerId) -> Option<ChunkId> {
        let (guest, sight) = self.guest_and_sight(id)?;
        let far = |chunk: &ChunkId| Reverse(self.scene.distance(*chunk, guest.at));
        sight.chunks().min_by_key(far)
    }

    fn guest_and_sight(&self, id: PeerId) -> Option<(&Guest, &Sight)> {
        let state = &self.peers.get(id)?.state;
        Some((state.guest.as_ref()?, &state.sight))
    }

    /// Everybody who can hear of movable sets and holds a chunk of this one.
    pub(super) fn holders_of(&self, set: SetId) -> Vec<PeerId> {
        let holds = |sight: &Sight| sight.chunks().any(|chunk| chunk.set == set);
        self.peers
            .table
            .iter()
            .filter(|(_, peer)| holds(&peer.state.sight))
            .map(|(id, _)| id)
            .collect()
    }
}
