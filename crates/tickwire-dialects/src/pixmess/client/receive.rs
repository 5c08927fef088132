//! What the server's bytes make the client do.
//!
//! A client believes its server: it checks only what would break its own copy of the world. Bytes
//! that do not decode and layers that are none end the connection, since nothing after them can be
//! trusted to mean what it says; everything else that makes no sense is counted and skipped.

use alloc::string::String;

use tickwire_session::Instant;

use super::world::Broken;
use super::{Client, ClientEvent, EndReason, Entity, Phase};
use crate::pixmess::inbox::Inbox;
use crate::pixmess::limits::WAITING_MAX;
use crate::pixmess::message::{BlockSet, FromClient, FromServer, Look, VERSION_MISMATCH, Version};
use crate::pixmess::{Cell, ChunkId, Direction, EntityId, PlayerId};

type Heard<'a> = FromServer<&'a [u8]>;

impl Client {
    pub(super) fn receive(&mut self, now: Instant, bytes: &[u8]) {
        self.uplink.traffic.received(bytes.len());
        self.uplink.heard(now);
        self.uplink.updates.add(now);
        let mut inbox = core::mem::take(&mut self.inbox);
        inbox.push(bytes);
        while matches!(self.phase, Phase::LoggingIn | Phase::Playing) {
            let heard = match inbox.next(Heard::decode) {
                Ok(Some(message)) => self.handle(now, message),
                Ok(None) => break,
                Err(_) => Err(Broken),
            };
            self.uplink.traffic.messages_in += u64::from(heard.is_ok());
            if heard.is_err() {
                self.outbox.clear();
                self.leave(now, "Bad packet!", EndReason::Broken);
            }
        }
        // Of what comes after that, nothing is kept.
        self.inbox = match self.phase {
            Phase::LoggingIn | Phase::Playing => inbox,
            _ => Inbox::default(),
        };
    }

    fn handle(&mut self, now: Instant, message: Heard<'_>) -> Result<(), Broken> {
        match message {
            FromServer::BlockSet(block_set) => self.handle_block(block_set),
            FromServer::Movement { entity, direction } => self.handle_movement(entity, direction),
            FromServer::EntityCreation {
                entity,
                at,
                look,
                name,
            } => self.handle_creation(entity, at, look, name),
            FromServer::LayerStart(at) => self.world.start_layer(at)?,
            FromServer::LayerData { data } => self.world.add_piece(data)?,
            FromServer::LayerEnd => match self.world.end_layer()? {
                Some(chunk) => self.tell(ClientEvent::ChunkLoaded(chunk)),
                None => self.counters.unwanted_layer += 1,
            },
            FromServer::LayerRelease(at) => {
                let set = self.world.their_set;
                let chunk = ChunkId { set, at };
                if self.world.drop_chunk(chunk) {
                    self.tell(ClientEvent::ChunkReleased(chunk));
                }
            }
            FromServer::EntityPosition { entity, at } => self.handle_position(entity, at),
            FromServer::EntityDestruction { entity } => self.handle_destruction(entity),
            FromServer::Chat { text } => self.tell(ClientEvent::Chatted(read(text))),
            FromServer::Ping => self.handle_ping()?,
            FromServer::Pong => self.handle_pong(now),
            FromServer::PlayerId { player } => self.handle_player_id(now, player),
            FromServer::Kick { reason } => self.handle_kick(now, reason),
            FromServer::LayersetCreate { .. }
            | FromServer::LayersetMove { .. }
            | FromServer::LayersetRemove { .. }
            | FromServer::LayersetSelect { .. } => self.handle_set(message),
        }
        Ok(())
    }

    /// Answers, unless the server does not read its answers.
    fn handle_ping(&mut self) -> Result<(), Broken> {
        if self.outbox.waiting() >= WAITING_MAX {
            return Err(Broken);
        }
        self.outbox.push_urgent(FromClient::Pong);
        Ok(())
    }

    fn handle_kick(&mut self, now: Instant, reason: &[u8]) {
        let another_version = reason == VERSION_MISMATCH.as_bytes();
        if another_version && self.phase == Phase::LoggingIn && self.config.can_step_down() {
            return self.step_down(now);
        }
        self.end(EndReason::Kicked(read(reason)));
    }

    fn handle_player_id(&mut self, now: Instant, player: PlayerId) {
        self.world.player = Some(player);
        if self.phase == Phase::LoggingIn {
            self.phase = Phase::Playing;
            self.last_ping = now;
            self.tell(ClientEvent::LoggedIn(player));
        } else {
            self.tell(ClientEvent::PlayerIdTold(player));
        }
    }

    fn handle_block(
        &mut self,
        BlockSet {
            sublayer,
            cell,
            block,
        }: BlockSet,
    ) {
        let id = self.world.locate(sublayer, cell);
        let held = id.and_then(|id| Some((id, self.world.chunks.get_mut(&id.chunk())?)));
        let Some((id, tiles)) = held else {
            self.counters.unknown_chunk += 1;
            return;
        };
        tiles.set_block(sublayer, id.cell.spot(), block);
        self.tell(ClientEvent::BlockChanged(id, block));
    }

    fn handle_creation(&mut self, id: EntityId, at: Cell, look: Look, name: &[u8]) {
        let name = read(name);
        let known = self.world.entities.insert(id, Entity { at, look, name });
        if known.is_some() && self.is_own(id) {
            self.doubt(at);
        }
        self.tell(ClientEvent::EntityCreated(id));
    }

    fn handle_movement(&mut self, id: EntityId, direction: u8) {
        let Some(direction) = Direction::of_code(direction) else {
            self.counters.violations += 1;
            return;
        };
        let Some(entity) = self.world.entities.get_mut(&id) else {
            self.counters.unknown_entity += 1;
            return;
        };
        if let Some(to) = entity.at.step(direction) {
            entity.at = to;
            if self.is_own(id) {
                self.doubt(to);
            }
            self.tell(ClientEvent::EntityMoved(id));
        }
    }

    fn handle_position(&mut self, id: EntityId, at: Cell) {
        let Some(entity) = self.world.entities.get_mut(&id) else {
            self.counters.unknown_entity += 1;
            return;
        };
        entity.at = at;
        if self.is_own(id) {
            self.doubt(at);
            self.tell(ClientEvent::Corrected(at));
        } else {
            self.tell(ClientEvent::EntityMoved(id));
        }
    }

    /// The server has put this client's own entity somewhere.
    ///
    /// Steps sent before that came may still count there. Saying what this client believes now makes
    /// the server say what is true after them. That was said already if this is the cell that was
    /// reported last, and no step was taken since.
    fn doubt(&mut self, at: Cell) {
        self.owes_report = self.stepped && self.reported != Some(at);
    }

    fn is_own(&self, id: EntityId) -> bool {
        self.world.player.map(PlayerId::entity) == Some(id)
    }

    fn handle_destruction(&mut self, id: EntityId) {
        if self.is_own(id) {
            // One's own entity goes on for as long as the connection.
            return;
        }
        match self.world.entities.remove(&id) {
            Some(entity) => self.tell(ClientEvent::EntityDestroyed(id, entity)),
            None => self.counters.unknown_entity += 1,
        }
    }

    fn handle_set(&mut self, message: Heard<'_>) {
        if self.config.version == Version::One {
            self.counters.violations += 1;
            return;
        }
        match message {
            FromServer::LayersetCreate { set, at } if self.world.add_set(set, at) => {
                self.tell(ClientEvent::SetCreated(set));
            }
            FromServer::LayersetMove { set, at } => match self.world.sets.get_mut(&set) {
                Some(corner) => {
                    *corner = at;
                    self.tell(ClientEvent::SetMoved(set));
                }
                None => self.counters.violations += 1,
            },
            FromServer::LayersetRemove { set } if self.world.drop_set(set) => {
                self.tell(ClientEvent::SetRemoved(set));
            }
            FromServer::LayersetSelect { set } => self.world.their_set = set,
            _ => self.counters.violations += 1,
        }
    }
}

/// Text as far as it is any.
fn read(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
