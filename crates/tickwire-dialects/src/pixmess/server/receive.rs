//! What a client's bytes make the server do.
//!
//! Packets are read one by one, each with what the ones before it have changed. Reading stops while
//! the game has a question to answer, and goes on where it stopped. What a client may not do is of
//! three kinds: *faults* end the connection, wishes that are refused are answered with how things are,
//! and the rest is counted and ignored.

use alloc::string::String;

use tickwire_session::{Instant, PeerId};

use crate::pixmess::limits::{HELD_BACK_MAX, REQUEST_REACH};
use crate::pixmess::message::{BlockSet, FromClient, FromServer, Look, Version};
use crate::pixmess::{
    BadName, Block, BlockId, Cell, ChunkId, ChunkXy, Direction, EntityId, PlayerId,
};

use super::connection::{Connection, Guest, Question, Stage};
use super::farewell::{Departure, Fault};
use super::peers::Peer;
use super::{Server, ServerEvent};

type Heard<'a> = FromClient<&'a [u8]>;

impl Server {
    pub(super) fn receive(&mut self, now: Instant, id: PeerId, bytes: &[u8]) {
        let Some(Peer { link, state }) = self.peers.get_mut(id) else {
            return;
        };
        link.traffic.received(bytes.len());
        link.last_heard = now;
        if link.is_closing() {
            return;
        }
        state.inbox.push(bytes);
        self.read_on(now, id);
        let too_much = |peer: &Peer| peer.state.inbox.unread() > HELD_BACK_MAX;
        if self.peers.get(id).is_some_and(too_much) {
            self.fault(now, id, Fault::TooMuch);
        }
    }

    /// Reads what a client said, up to the next question.
    pub(super) fn read_on(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.state(id) else {
            return;
        };
        // Out of its place while it is read, since what it holds changes everything else.
        let mut inbox = core::mem::take(&mut peer.inbox);
        let mut outcome = Ok(());
        while outcome.is_ok() && self.is_listened_to(id) {
            outcome = match inbox.next(Heard::decode) {
                Ok(Some(message)) => self.handle(now, id, message),
                Ok(None) => break,
                Err(error) => Err(Fault::of_bytes(error)),
            };
        }
        if let Some(peer) = self.peers.state(id) {
            peer.inbox = inbox;
        }
        if let Err(fault) = outcome {
            self.fault(now, id, fault);
        }
    }

    fn is_listened_to(&self, id: PeerId) -> bool {
        let peer = self.peers.get(id);
        peer.is_some_and(|peer| peer.state.is_listened_to())
    }

    fn handle(&mut self, now: Instant, id: PeerId, message: Heard<'_>) -> Result<(), Fault> {
        let Some(Peer { link, state }) = self.peers.get_mut(id) else {
            return Ok(());
        };
        link.traffic.messages_in += 1;
        match message {
            FromClient::Ping => self.peers.tell_urgently(id, FromServer::Pong),
            FromClient::Pong => state.note_pong(now),
            FromClient::Kick { .. } => self.let_leave(now, id),
            FromClient::Login {
                version,
                look,
                name,
            } if state.stage == Stage::Greeting => {
                return self.handle_login(now, id, version, look, name);
            }
            FromClient::Login { .. } => return Err(Fault::SecondLogin),
            _ if state.stage == Stage::Greeting => return Err(Fault::NotLoggedIn),
            _ => return self.handle_guest(now, id, message),
        }
        Ok(())
    }

    fn handle_login(
        &mut self,
        now: Instant,
        id: PeerId,
        version: u16,
        look: Look,
        name: &[u8],
    ) -> Result<(), Fault> {
        let version = Version::of_code(version).ok_or(Fault::Version)?;
        let name = checked_name(version, name)?;
        if !name.is_empty() {
            if self.names.contains(name) {
                return Err(Fault::NameTaken);
            }
            if self.names.len() >= self.players_max {
                return Err(Fault::Full);
            }
        }
        let player = self.free_id().ok_or(Fault::Full)?;
        self.peers.table.admit(now, id).map_err(|_| Fault::Busy)?;
        let Some(peer) = self.peers.state(id) else {
            return Ok(());
        };
        peer.stage = Stage::Entering;
        peer.guest = Some(Guest {
            player,
            name: name.into(),
            look,
            version,
            at: Cell::default(),
            lines_read: 0,
        });
        self.players.insert(player, id);
        if !name.is_empty() {
            self.names.insert(name.into());
        }
        let name = String::from(name);
        let asked = ServerEvent::LoginAsked { player, name, look };
        self.ask(id, Question::Login, asked);
        self.peers.rearm(id);
        Ok(())
    }

    /// Hears somebody who has logged in.
    fn handle_guest(&mut self, now: Instant, id: PeerId, message: Heard<'_>) -> Result<(), Fault> {
        let Some(peer) = self.peers.state(id) else {
            return Ok(());
        };
        let Some(guest) = &peer.guest else {
            return Err(Fault::NotLoggedIn);
        };
        let (player, at) = (guest.player, guest.at);
        let acts = matches!(
            message,
            FromClient::BlockSet(_)
                | FromClient::Movement { .. }
                | FromClient::EntityPosition { .. }
                | FromClient::Chat { .. }
        );
        if guest.is_spectator() && acts {
            self.counters.spectator_acted += 1;
            self.note_refusal(id);
            return Ok(());
        }
        match message {
            FromClient::BlockSet(edit) => self.handle_edit(now, id, edit),
            FromClient::Movement { direction } => self.handle_move(now, id, direction),
            FromClient::LayerRequest(chunk) => self.handle_request(now, id, chunk),
            FromClient::LayerRelease(at) => {
                let set = peer.sight.its_set;
                self.let_go(id, ChunkId { set, at });
            }
            // In version 1 there is no such type.
            FromClient::LayersetSelect { .. } if guest.version == Version::One => {
                return Err(Fault::UnknownType);
            }
            FromClient::LayersetSelect { set } => peer.sight.its_set = set,
            FromClient::EntityPosition { at: believed } => {
                if believed != at {
                    self.tell_position(id);
                }
            }
            FromClient::EntityDestruction { entity } => self.handle_mute(id, entity),
            FromClient::Chat { text } => self.handle_chat(now, id, text),
            FromClient::PlayerId => self.peers.tell(id, FromServer::PlayerId { player }),
            FromClient::Login { .. }
            | FromClient::Ping
            | FromClient::Pong
            | FromClient::Kick { .. } => {}
        }
        Ok(())
    }

    fn handle_edit(&mut self, now: Instant, id: PeerId, edit: BlockSet) {
        let Some((state, player, from)) = self.player_at(id) else {
            return;
        };
        let set = state.sight.its_set;
        let Some(corner) = self.scene.corner(set) else {
            return self.ignore_unknown_set(id);
        };
        let at = BlockId {
            set,
            cell: edit.cell.nearest(from.seen_from(corner)),
            sublayer: edit.sublayer,
        };
        let block = if edit.is_clearing() {
            Block::EMPTY
        } else {
            edit.block
        };
        let cause = match () {
            () if !state.sight.holds(at.chunk()) => Some(&mut self.counters.edits_outside),
            () if !state.rates.edits.allows(now) => Some(&mut self.counters.too_many_edits),
            () => None,
        };
        if let Some(counter) = cause {
            *counter += 1;
            self.note_refusal(id);
            let asked = ServerEvent::BlockAsked { player, id: at };
            self.ask(id, Question::Block(at), asked);
        } else {
            let asked = ServerEvent::EditAsked {
                player,
                id: at,
                block,
            };
            self.ask(id, Question::Edit(at, block), asked);
        }
    }

    fn handle_move(&mut self, now: Instant, id: PeerId, direction: u8) {
        let Some(peer) = self.peers.state(id) else {
            return;
        };
        let Some(guest) = &peer.guest else {
            return;
        };
        let player = guest.player;
        let step = Direction::of_code(direction)
            .and_then(|direction| Some((direction, guest.at.step(direction)?)));
        let too_fast = peer.rates.moves.wait(now).is_some();
        match step {
            Some((direction, to)) if !too_fast => {
                let asked = ServerEvent::MoveAsked {
                    player,
                    direction,
                    to,
                };
                return self.ask(id, Question::Move(direction), asked);
            }
            Some(_) => self.counters.too_fast += 1,
            None => self.counters.bad_direction += 1,
        }
        // One that takes no other step would believe for ever in this one.
        peer.owes_correction = true;
        self.note_refusal(id);
        self.correct(now, id);
        self.peers.rearm(id);
    }

    /// Tells a player whose steps were refused where it is, as soon as that may be said again.
    pub(super) fn correct(&mut self, now: Instant, id: PeerId) {
        if let Some(peer) = self.peers.state(id)
            && peer.owes_correction
            && peer.rates.corrections.take(now).is_some()
        {
            self.tell_position(id);
        }
    }

    fn handle_request(&mut self, now: Instant, id: PeerId, at: ChunkXy) {
        let Some((peer, player, from)) = self.player_at(id) else {
            return;
        };
        let set = peer.sight.its_set;
        let chunk = ChunkId { set, at };
        if self.scene.corner(set).is_none() {
            return self.ignore_unknown_set(id);
        }
        if !at.exists() || self.scene.distance(chunk, from) > REQUEST_REACH {
            self.counters.far_requests += 1;
            self.note_refusal(id);
            return self.release(id, chunk);
        }
        let Some(peer) = self.peers.state(id) else {
            return;
        };
        if peer.rates.requests.take(now).is_none() {
            let held = peer.sight.holds(chunk);
            self.counters.too_many_requests += 1;
            self.note_refusal(id);
            // What it holds it keeps: to say that it does not would be a lie.
            if !held {
                self.release(id, chunk);
            }
            return;
        }
        let asked = ServerEvent::ChunkAsked { player, chunk };
        self.ask(id, Question::Chunk(chunk), asked);
    }

    /// A client does not want to hear of an entity any more. Its own goes on.
    fn handle_mute(&mut self, id: PeerId, entity: EntityId) {
        let there = self.scene.entity(entity);
        if there.is_some_and(|there| there.owner != Some(id))
            && let Some(peer) = self.peers.state(id)
        {
            peer.sight.mute(&self.scene, entity);
        }
    }

    fn ask(&mut self, id: PeerId, question: Question, event: ServerEvent) {
        if let Some(peer) = self.peers.state(id) {
            peer.asked = Some(question);
            self.events.push_back(event);
        }
    }

    fn ignore_unknown_set(&mut self, id: PeerId) {
        self.counters.unknown_set += 1;
        self.note_refusal(id);
    }

    pub(super) fn note_refusal(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.link.refused += 1;
        }
    }

    /// Somebody who has logged in, with its number and where it stands.
    fn player_at(&self, id: PeerId) -> Option<(&Connection, PlayerId, Cell)> {
        let state = &self.peers.get(id)?.state;
        let guest = state.guest.as_ref()?;
        Some((state, guest.player, guest.at))
    }
}

/// Why a connection has ended of which this was not read yet. It may have said so behind a question
/// that the game has not answered: then it left, whatever else it wanted.
pub(super) fn last_word(state: &mut Connection) -> Departure {
    let is_kick = |message: &Heard<'_>| matches!(message, FromClient::Kick { .. });
    if state.inbox.drain_for(Heard::decode, is_kick) {
        Departure::Quit
    } else {
        Departure::Disconnected
    }
}

fn checked_name(version: Version, name: &[u8]) -> Result<&str, Fault> {
    let name = core::str::from_utf8(name).map_err(|_| Fault::BadName)?;
    BadName::check(version, name).map_err(|_| Fault::BadName)?;
    Ok(name)
}
