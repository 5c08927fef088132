//! The game's answers to what clients asked.
//!
//! Each takes effect only if its player still waits for an answer of that kind, and each lets the
//! server read on what the client said meanwhile.

use tickwire_session::{Instant, StreamId};

use super::super::message::FromServer;
use super::super::{Block, Cell, Layer, PlayerId};
use super::Server;
use super::peer::{Peer, Question, Stage};
use super::scene::Entity;

impl Server {
    /// Answers [`LoginAsked`]: the player stands at `at`, or the spectator looks from there.
    ///
    /// [`LoginAsked`]: super::ServerEvent::LoginAsked
    pub fn admit(&mut self, now: Instant, player: PlayerId, at: Cell) {
        let Some((on, ())) = self.answered(player, |question| {
            matches!(question, Question::Login).then_some(())
        }) else {
            return;
        };
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        let Some(guest) = peer.guest.as_mut() else {
            return;
        };
        peer.stage = Stage::Playing;
        guest.at = at;
        guest.lines_read = self.lines.total();
        let guest = guest.clone();
        self.peers.tell(on, FromServer::PlayerId { player });
        if !guest.is_spectator() {
            let name = guest.name.as_str().into();
            let entity = Entity::new(at, guest.look, name, Some(on));
            self.peers.tell(on, entity.creation(player.entity()));
            self.scene.insert(player.entity(), entity);
            self.lines.note_joined(&guest.name);
        }
        if self.peers.get(on).is_some_and(Peer::knows_sets) {
            for (set, at) in self.scene.sets() {
                self.peers.tell(on, FromServer::LayersetCreate { set, at });
            }
        }
        self.read_on(now, on);
    }

    /// Answers [`MoveAsked`]: the player takes the step.
    ///
    /// [`MoveAsked`]: super::ServerEvent::MoveAsked
    pub fn allow_move(&mut self, now: Instant, player: PlayerId) {
        let direction = |question| match question {
            Question::Move(direction) => Some(direction),
            _ => None,
        };
        if let Some((on, direction)) = self.answered(player, direction) {
            if let Some(peer) = self.peers.get_mut(on) {
                // There was a token when the question was asked, and only steps take them.
                peer.rates.moves.take(now);
            }
            self.move_entity(player.entity(), direction);
            self.read_on(now, on);
        }
    }

    /// Answers [`MoveAsked`]: the player stays where it is.
    ///
    /// [`MoveAsked`]: super::ServerEvent::MoveAsked
    pub fn refuse_move(&mut self, now: Instant, player: PlayerId) {
        let any = |question| matches!(question, Question::Move(_)).then_some(());
        if let Some((on, ())) = self.answered(player, any) {
            self.tell_position(on);
            self.read_on(now, on);
        }
    }

    /// Answers [`EditAsked`]: the block is what the player wanted, for everybody.
    ///
    /// [`EditAsked`]: super::ServerEvent::EditAsked
    pub fn allow_edit(&mut self, now: Instant, player: PlayerId) {
        let edit = |question| match question {
            Question::Edit(id, block) => Some((id, block)),
            _ => None,
        };
        if let Some((on, (id, block))) = self.answered(player, edit) {
            if let Some(peer) = self.peers.get_mut(on) {
                peer.rates.edits.count(now);
            }
            self.show_block(id, block);
            self.read_on(now, on);
        }
    }

    /// Answers [`EditAsked`] or [`BlockAsked`]: this is what is there.
    ///
    /// [`EditAsked`]: super::ServerEvent::EditAsked
    /// [`BlockAsked`]: super::ServerEvent::BlockAsked
    pub fn tell_block(&mut self, now: Instant, player: PlayerId, truth: Block) {
        let id = |question| match question {
            Question::Edit(id, _) | Question::Block(id) => Some(id),
            _ => None,
        };
        if let Some((on, id)) = self.answered(player, id) {
            self.show_block_to(on, id, truth);
            self.read_on(now, on);
        }
    }

    /// Answers [`ChunkAsked`]: this is what is in the chunk at this moment.
    ///
    /// [`ChunkAsked`]: super::ServerEvent::ChunkAsked
    pub fn provide_chunk(&mut self, now: Instant, player: PlayerId, layer: &Layer) {
        if let Some((on, chunk)) = self.answered(player, chunk) {
            self.show_layer(on, chunk, layer);
            self.read_on(now, on);
        }
    }

    /// Answers [`ChunkAsked`]: there is no such chunk.
    ///
    /// [`ChunkAsked`]: super::ServerEvent::ChunkAsked
    pub fn refuse_chunk(&mut self, now: Instant, player: PlayerId) {
        if let Some((on, chunk)) = self.answered(player, chunk) {
            self.release(on, chunk);
            self.read_on(now, on);
        }
    }

    /// The question that is being answered, if it is of the right kind.
    fn answered<T>(
        &mut self,
        player: PlayerId,
        kind: impl FnOnce(Question) -> Option<T>,
    ) -> Option<(StreamId, T)> {
        let &on = self.players.get(&player)?;
        let peer = self.peers.get_mut(on)?;
        let answered = kind(peer.asked?)?;
        peer.asked = None;
        Some((on, answered))
    }

    /// Tells a player where it is.
    pub(super) fn tell_position(&mut self, on: StreamId) {
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        peer.owes_correction = false;
        if let Some(guest) = &peer.guest {
            let (entity, at) = (guest.player.entity(), guest.at);
            self.peers
                .tell(on, FromServer::EntityPosition { entity, at });
        }
    }
}

const fn chunk(question: Question) -> Option<super::super::ChunkId> {
    match question {
        Question::Chunk(chunk) => Some(chunk),
        _ => None,
    }
}
