//! The game's answers to what clients asked.
//!
//! Each takes effect only if its player still waits for an answer of that kind, and each lets the
//! server read on what the client said meanwhile.

use tickwire_session::{Instant, PeerId};

use crate::pixmess::message::{FromServer, Version};
use crate::pixmess::{Block, Cell, ChunkId, Layer, PlayerId};

use super::Server;
use super::connection::{Question, Stage};
use super::lines::of_one;
use super::scene::Entity;

impl Server {
    /// Answers [`LoginAsked`]: the player stands at `at`, or the spectator looks from there.
    ///
    /// [`LoginAsked`]: super::ServerEvent::LoginAsked
    pub fn admit(&mut self, now: Instant, player: PlayerId, at: Cell) {
        let Some((id, ())) = self.answered(player, |question| {
            matches!(question, Question::Login).then_some(())
        }) else {
            return;
        };
        let Some(peer) = self.peers.state(id) else {
            return;
        };
        let Some(guest) = peer.guest.as_mut() else {
            return;
        };
        peer.stage = Stage::Playing;
        guest.at = at;
        let guest = guest.clone();
        self.peers.tell(id, FromServer::PlayerId { player });
        if !guest.is_spectator() {
            let name = guest.name.as_str().into();
            let entity = Entity::new(at, guest.look, name, Some(id));
            self.peers.tell(id, entity.creation(player.entity()));
            self.scene.insert(player.entity(), entity);
            self.lines.note_joined(&guest.name);
            self.lines.announce(now);
            // The newcomer itself is told at once, even if the others are told of several together.
            let text = of_one(&guest.name, "joined").as_str().into();
            self.peers.tell(id, FromServer::Chat { text });
        }
        if guest.version == Version::Two {
            for (set, at) in self.scene.sets() {
                self.peers.tell(id, FromServer::LayersetCreate { set, at });
            }
        }
        if let Some(guest) = self.peers.state(id).and_then(|it| it.guest.as_mut()) {
            guest.lines_read = self.lines.total();
        }
        self.read_on(now, id);
    }

    /// Answers [`MoveAsked`]: the player takes the step.
    ///
    /// [`MoveAsked`]: super::ServerEvent::MoveAsked
    pub fn allow_move(&mut self, now: Instant, player: PlayerId) {
        let direction = |question| match question {
            Question::Move(direction) => Some(direction),
            _ => None,
        };
        if let Some((id, direction)) = self.answered(player, direction) {
            if let Some(peer) = self.peers.state(id) {
                // There was a token when the question was asked, and only steps take them.
                peer.rates.moves.take(now);
            }
            self.move_entity(player.entity(), direction);
            self.read_on(now, id);
        }
    }

    /// Answers [`MoveAsked`]: the player stays where it is.
    ///
    /// [`MoveAsked`]: super::ServerEvent::MoveAsked
    pub fn refuse_move(&mut self, now: Instant, player: PlayerId) {
        let any = |question| matches!(question, Question::Move(_)).then_some(());
        if let Some((id, ())) = self.answered(player, any) {
            self.tell_position(id);
            self.read_on(now, id);
        }
    }

    /// Answers [`EditAsked`]: the block is what the player wanted, for everybody.
    ///
    /// [`EditAsked`]: super::ServerEvent::EditAsked
    pub fn allow_edit(&mut self, now: Instant, player: PlayerId) {
        let edit = |question| match question {
            Question::Edit(at, block) => Some((at, block)),
            _ => None,
        };
        if let Some((id, (at, block))) = self.answered(player, edit) {
            if let Some(peer) = self.peers.state(id) {
                peer.rates.edits.count(now);
            }
            self.scene.set_block(at, block);
            // Whoever asked is answered in the order in which it asked; the others hear at their turn.
            self.show_block_to(id, at, block);
            if let Some(peer) = self.peers.state(id) {
                peer.sight.note_block_told(&self.scene, at.chunk());
            }
            self.read_on(now, id);
        }
    }

    /// Answers [`EditAsked`] or [`BlockAsked`]: this is what is there.
    ///
    /// [`EditAsked`]: super::ServerEvent::EditAsked
    /// [`BlockAsked`]: super::ServerEvent::BlockAsked
    pub fn tell_block(&mut self, now: Instant, player: PlayerId, truth: Block) {
        let at = |question| match question {
            Question::Edit(at, _) | Question::Block(at) => Some(at),
            _ => None,
        };
        if let Some((id, at)) = self.answered(player, at) {
            self.show_block_to(id, at, truth);
            self.read_on(now, id);
        }
    }

    /// Answers [`ChunkAsked`]: this is what is in the chunk at this moment.
    ///
    /// [`ChunkAsked`]: super::ServerEvent::ChunkAsked
    pub fn provide_chunk(&mut self, now: Instant, player: PlayerId, layer: &Layer) {
        if let Some((id, chunk)) = self.answered(player, chunk) {
            self.show_layer(id, chunk, layer);
            self.read_on(now, id);
        }
    }

    /// Answers [`ChunkAsked`]: there is no such chunk.
    ///
    /// [`ChunkAsked`]: super::ServerEvent::ChunkAsked
    pub fn refuse_chunk(&mut self, now: Instant, player: PlayerId) {
        if let Some((id, chunk)) = self.answered(player, chunk) {
            self.release(id, chunk);
            self.read_on(now, id);
        }
    }

    /// The question that is being answered, if it is of the right kind.
    fn answered<T>(
        &mut self,
        player: PlayerId,
        kind: impl FnOnce(Question) -> Option<T>,
    ) -> Option<(PeerId, T)> {
        let &id = self.players.get(&player)?;
        let peer = self.peers.state(id)?;
        let answered = kind(peer.asked?)?;
        peer.asked = None;
        Some((id, answered))
    }

    /// Tells a player where it is.
    pub(super) fn tell_position(&mut self, id: PeerId) {
        let Some(peer) = self.peers.state(id) else {
            return;
        };
        peer.owes_correction = false;
        if let Some(guest) = &peer.guest {
            let (entity, at) = (guest.player.entity(), guest.at);
            self.peers
                .tell(id, FromServer::EntityPosition { entity, at });
        }
    }
}

const fn chunk(question: Question) -> Option<ChunkId> {
    match question {
        Question::Chunk(chunk) => Some(chunk),
        _ => None,
    }
}
