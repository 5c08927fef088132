//! What a player does: steps, edits, chats, and the chunks it wants to see.
//!
//! In: a wish, and when. Out: a message that waits to be sent, or why it cannot be said. What a server
//! would refuse or drop for being too fast is refused here, so that nothing is lost without a word.

use core::time::Duration;

use tickwire_session::{Instant, SlidingWindow, TokenBucket};

use super::{ActError, Client, Phase};
use crate::pixmess::limits::{
    CHAT_SPAN, CHATS_A_SPAN, CLIENT_QUEUE, EDITS_A_SECOND, JITTER_ALLOWED, REQUESTS_A_SECOND,
    STEP_REFILL, STEPS_AT_ONCE, TEXT_MAX,
};
use crate::pixmess::message::{BlockSet, FromClient};
use crate::pixmess::{Block, BlockId, Cell, ChunkId, Direction, EntityId, PlayerId, SetId};

/// How often a player may do what. Each is within the server's own rate even if what was said arrives
/// closer together by [`JITTER_ALLOWED`].
#[derive(Debug)]
pub(super) struct Rates {
    steps: TokenBucket,
    edits: SlidingWindow,
    requests: SlidingWindow,
    chats: SlidingWindow,
}

impl Rates {
    pub(super) const fn new(now: Instant) -> Self {
        let second = Duration::from_secs(1).saturating_add(JITTER_ALLOWED);
        Self {
            steps: TokenBucket::new(now, STEPS_AT_ONCE, STEP_REFILL),
            edits: SlidingWindow::new(EDITS_A_SECOND, second),
            requests: SlidingWindow::new(REQUESTS_A_SECOND, second),
            chats: SlidingWindow::new(CHATS_A_SPAN, CHAT_SPAN.saturating_add(JITTER_ALLOWED)),
        }
    }
}

impl Client {
    /// Takes a step, at once. Whether there is something in the way is the server's to know: it puts
    /// the player back if so.
    pub fn walk(&mut self, now: Instant, direction: Direction) -> Result<(), ActError> {
        self.check_player()?;
        let own = self.world.player.map(PlayerId::entity);
        let own = own.and_then(|own| self.world.entities.get_mut(&own));
        let own = own.ok_or(ActError::NotPlaying)?;
        let to = own.at.step(direction).ok_or(ActError::TooFar)?;
        self.rates.steps.take(now).ok_or(ActError::TooFast)?;
        own.at = to;
        self.stepped = true;
        self.reported = None;
        let direction = direction.code();
        self.outbox.push(FromClient::Movement { direction });
        Ok(())
    }

    /// Asks for a block to be another. It is when [`BlockChanged`](super::ClientEvent::BlockChanged)
    /// says so.
    pub fn edit(&mut self, now: Instant, id: BlockId, block: Block) -> Result<(), ActError> {
        let own = self.check_player()?;
        let corner = self.world.corner(id.set).ok_or(ActError::UnknownSet)?;
        let cell = id.cell.low();
        if cell.nearest(own.seen_from(corner)) != id.cell {
            return Err(ActError::TooFar);
        }
        self.rates.edits.take(now).ok_or(ActError::TooFast)?;
        self.select(id.set);
        self.outbox.push(FromClient::BlockSet(BlockSet {
            sublayer: id.sublayer,
            cell,
            block,
        }));
        Ok(())
    }

    /// Asks for a chunk: [`ChunkLoaded`](super::ClientEvent::ChunkLoaded) or
    /// [`ChunkReleased`](super::ClientEvent::ChunkReleased) is the answer.
    pub fn request(&mut self, now: Instant, chunk: ChunkId) -> Result<(), ActError> {
        self.check_open()?;
        self.world.corner(chunk.set).ok_or(ActError::UnknownSet)?;
        if self.world.wanted.len() >= REQUESTS_A_SECOND {
            return Err(ActError::TooMuchWaiting);
        }
        self.rates.requests.take(now).ok_or(ActError::TooFast)?;
        self.world.wanted.insert(chunk);
        self.select(chunk.set);
        self.outbox.push(FromClient::LayerRequest(chunk.at));
        Ok(())
    }

    /// Lets a chunk go. The entities in it go when the server has heard it.
    pub fn release(&mut self, chunk: ChunkId) -> Result<(), ActError> {
        self.check_open()?;
        self.world.corner(chunk.set).ok_or(ActError::UnknownSet)?;
        self.world.drop_chunk(chunk);
        self.select(chunk.set);
        self.outbox.push(FromClient::LayerRelease(chunk.at));
        Ok(())
    }

    /// Hears no more of an entity, until its chunk is loaded again.
    pub fn ignore(&mut self, entity: EntityId) -> Result<(), ActError> {
        self.check_open()?;
        if self.world.player.map(PlayerId::entity) == Some(entity) {
            return Err(ActError::NotPlaying);
        }
        self.world.entities.remove(&entity);
        self.outbox.push(FromClient::EntityDestruction { entity });
        Ok(())
    }

    /// Asks for this client's number; [`PlayerIdTold`](super::ClientEvent::PlayerIdTold) is the answer.
    pub fn ask_player_id(&mut self) -> Result<(), ActError> {
        self.check_open()?;
        self.outbox.push(FromClient::PlayerId);
        Ok(())
    }

    /// Says something to everybody, or gives a command that begins with a slash.
    pub fn chat(&mut self, now: Instant, text: &str) -> Result<(), ActError> {
        self.check_player()?;
        if text.is_empty() || text.len() > TEXT_MAX {
            return Err(ActError::Length { limit: TEXT_MAX });
        }
        self.rates.chats.take(now).ok_or(ActError::TooFast)?;
        self.outbox.push(FromClient::Chat { text: text.into() });
        Ok(())
    }

    /// Fails unless something can be said.
    fn check_open(&self) -> Result<(), ActError> {
        match self.phase {
            Phase::Playing if self.outbox.messages() < CLIENT_QUEUE => Ok(()),
            Phase::Playing => Err(ActError::TooMuchWaiting),
            _ => Err(ActError::NotPlaying),
        }
    }

    /// Fails unless this client's player can do something; where it stands.
    fn check_player(&self) -> Result<Cell, ActError> {
        self.check_open()?;
        self.position().ok_or(ActError::NotPlaying)
    }

    fn select(&mut self, set: SetId) {
        if self.our_set != set {
            self.our_set = set;
            self.outbox.push(FromClient::LayersetSelect { set });
        }
    }
}
