//! What a client's bytes make the server do.
//!
//! Packets are read one by one, each with what the ones before it have changed. Reading stops while
//! the game has a question to answer, and goes on where it stopped. What a client may not do is of
//! three kinds: *faults* end the connection, wishes that are refused are answered with how things are,
//! and the rest is counted and ignored.

use alloc::string::String;

use tickwire_session::{Instant, StreamId, Transmit};

use super::super::limits::{HELD_BACK_MAX, REQUEST_REACH};
use super::super::message::{BlockSet, FromClient, FromServer, Look, Version};
use super::super::{BadName, Block, BlockId, Cell, ChunkId, ChunkXy, Direction, EntityId};
use super::farewell::{Departure, Fault};
use super::peer::{Guest, Peer, Question, Stage};
use super::{Server, ServerEvent};

type Heard<'a> = FromClient<&'a [u8]>;

impl Server {
    pub(super) fn receive(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        peer.traffic.received(bytes.len());
        peer.last_heard = now;
        if matches!(peer.stage, Stage::Closing { .. }) {
            return;
        }
        peer.inbox.push(bytes);
        self.read_on(now, on);
        let too_much = |peer: &Peer| peer.inbox.unread() > HELD_BACK_MAX;
        if self.peers.get(on).is_some_and(too_much) {
            self.fault(now, on, Fault::TooMuch);
        }
    }

    /// Reads what a client said, up to the next question.
    pub(super) fn read_on(&mut self, now: Instant, on: StreamId) {
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        // Out of its place while it is read, since what it holds changes everything else.
        let mut inbox = core::mem::take(&mut peer.inbox);
        let mut outcome = Ok(());
        while outcome.is_ok() && self.peers.get(on).is_some_and(Peer::is_listened_to) {
            outcome = match inbox.next(Heard::decode) {
                Ok(Some(message)) => self.hear(now, on, message),
                Ok(None) => break,
                Err(error) => Err(Fault::of_bytes(error)),
            };
        }
        if let Some(peer) = self.peers.get_mut(on) {
            peer.inbox = inbox;
        }
        if let Err(fault) = outcome {
            self.fault(now, on, fault);
        }
    }

    /// Why a connection has ended. It may have said so behind a question that the game has not
    /// answered: then it left, whatever else it wanted.
    pub(super) fn last_word(&mut self, on: StreamId) -> Departure {
        let is_kick = |message: &Heard<'_>| matches!(message, FromClient::Kick { .. });
        let says_so = |peer: &mut Peer| peer.inbox.drain_for(Heard::decode, is_kick);
        if self.peers.get_mut(on).is_some_and(says_so) {
            Departure::Quit
        } else {
            Departure::Disconnected
        }
    }

    fn hear(&mut self, now: Instant, on: StreamId, message: Heard<'_>) -> Result<(), Fault> {
        let Some(peer) = self.peers.get_mut(on) else {
            return Ok(());
        };
        peer.traffic.messages_in += 1;
        match message {
            FromClient::Ping => self.peers.tell_urgently(on, FromServer::Pong),
            FromClient::Pong => peer.note_pong(now),
            FromClient::Kick { .. } => {
                self.end(on, Some(Transmit::Finish { on }), Departure::Quit);
            }
            FromClient::Login {
                version,
                look,
                name,
            } if peer.stage == Stage::Greeting => return self.hear_login(on, version, look, name),
            FromClient::Login { .. } => return Err(Fault::SecondLogin),
            _ if peer.stage == Stage::Greeting => return Err(Fault::NotLoggedIn),
            _ => return self.hear_guest(now, on, message),
        }
        Ok(())
    }

    fn hear_login(
        &mut self,
        on: StreamId,
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
        let Some(peer) = self.peers.get_mut(on) else {
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
        self.players.insert(player, on);
        if !name.is_empty() {
            self.names.insert(name.into());
        }
        let name = String::from(name);
        let asked = ServerEvent::LoginAsked { player, name, look };
        self.ask(on, Question::Login, asked);
        Ok(())
    }

    /// Hears somebody who has logged in.
    fn hear_guest(&mut self, now: Instant, on: StreamId, message: Heard<'_>) -> Result<(), Fault> {
        let Some(peer) = self.peers.get_mut(on) else {
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
            peer.refused += 1;
            self.counters.spectator_acted += 1;
            return Ok(());
        }
        match message {
            FromClient::BlockSet(edit) => self.hear_edit(now, on, edit),
            FromClient::Movement { direction } => self.hear_move(now, on, direction),
            FromClient::LayerRequest(chunk) => self.hear_request(now, on, chunk),
            FromClient::LayerRelease(at) => {
                let set = peer.sight.its_set;
                self.let_go(on, ChunkId { set, at });
            }
            // In version 1 there is no such type.
            FromClient::LayersetSelect { .. } if guest.version == Version::One => {
                return Err(Fault::UnknownType);
            }
            FromClient::LayersetSelect { set } => peer.sight.its_set = set,
            FromClient::EntityPosition { at: believed } => {
                if believed != at {
                    self.tell_position(on);
                }
            }
            FromClient::EntityDestruction { entity } => self.hear_mute(on, entity),
            FromClient::Chat { text } => self.hear_chat(now, on, text),
            FromClient::PlayerId => self.peers.tell(on, FromServer::PlayerId { player }),
            FromClient::Login { .. }
            | FromClient::Ping
            | FromClient::Pong
            | FromClient::Kick { .. } => {}
        }
        Ok(())
    }

    fn hear_edit(&mut self, now: Instant, on: StreamId, edit: BlockSet) {
        let Some((peer, player, at)) = self.player_at(on) else {
            return;
        };
        let set = peer.sight.its_set;
        let Some(corner) = self.scene.corner(set) else {
            return self.ignore_unknown_set(on);
        };
        let id = BlockId {
            set,
            cell: edit.cell.nearest(at.seen_from(corner)),
            sublayer: edit.sublayer,
        };
        let block = if edit.is_clearing() {
            Block::EMPTY
        } else {
            edit.block
        };
        let cause = match () {
            () if !peer.sight.holds(id.chunk()) => Some(&mut self.counters.edits_outside),
            () if !peer.rates.edits.allows(now) => Some(&mut self.counters.too_many_edits),
            () => None,
        };
        if let Some(counter) = cause {
            *counter += 1;
            self.note_refusal(on);
            self.ask(
                on,
                Question::Block(id),
                ServerEvent::BlockAsked { player, id },
            );
        } else {
            let asked = ServerEvent::EditAsked { player, id, block };
            self.ask(on, Question::Edit(id, block), asked);
        }
    }

    fn hear_move(&mut self, now: Instant, on: StreamId, direction: u8) {
        let Some(peer) = self.peers.get_mut(on) else {
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
                return self.ask(on, Question::Move(direction), asked);
            }
            Some(_) => self.counters.too_fast += 1,
            None => self.counters.bad_direction += 1,
        }
        // One that takes no other step would believe for ever in this one.
        peer.owes_correction = true;
        self.note_refusal(on);
        self.correct(now, on);
        self.peers.rearm(on);
    }

    /// Tells a player whose steps were refused where it is, as soon as that may be said again.
    pub(super) fn correct(&mut self, now: Instant, on: StreamId) {
        if let Some(peer) = self.peers.get_mut(on)
            && peer.owes_correction
            && peer.rates.corrections.take(now).is_some()
        {
            self.tell_position(on);
        }
    }

    fn hear_request(&mut self, now: Instant, on: StreamId, at: ChunkXy) {
        let Some((peer, player, from)) = self.player_at(on) else {
            return;
        };
        let set = peer.sight.its_set;
        let chunk = ChunkId { set, at };
        if self.scene.corner(set).is_none() {
            return self.ignore_unknown_set(on);
        }
        if !at.exists() || self.scene.distance(chunk, from) > REQUEST_REACH {
            self.counters.far_requests += 1;
            self.note_refusal(on);
            return self.release(on, chunk);
        }
        let Some(peer) = self.peers.get_mut(on) else {
            return;
        };
        if peer.rates.requests.take(now).is_none() {
            let held = peer.sight.holds(chunk);
            self.counters.too_many_requests += 1;
            self.note_refusal(on);
            // What it holds it keeps: to say that it does not would be a lie.
            if !held {
                self.release(on, chunk);
            }
            return;
        }
        let asked = ServerEvent::ChunkAsked { player, chunk };
        self.ask(on, Question::Chunk(chunk), asked);
    }

    /// A client does not want to hear of an entity any more. Its own goes on.
    fn hear_mute(&mut self, on: StreamId, entity: EntityId) {
        let there = self.scene.entity(entity);
        if there.is_some_and(|there| there.owner != Some(on))
            && let Some(peer) = self.peers.get_mut(on)
        {
            peer.sight.mute(&self.scene, entity);
        }
    }

    fn ask(&mut self, on: StreamId, question: Question, event: ServerEvent) {
        if let Some(peer) = self.peers.get_mut(on) {
            peer.asked = Some(question);
            self.events.push_back(event);
        }
    }

    fn ignore_unknown_set(&mut self, on: StreamId) {
        self.counters.unknown_set += 1;
        self.note_refusal(on);
    }

    pub(super) fn note_refusal(&mut self, on: StreamId) {
        if let Some(peer) = self.peers.get_mut(on) {
            peer.refused += 1;
        }
    }

    /// Somebody who has logged in, with its number and where it stands.
    fn player_at(&self, on: StreamId) -> Option<(&Peer, super::PlayerId, Cell)> {
        let peer = self.peers.get(on)?;
        let guest = peer.guest.as_ref()?;
        Some((peer, guest.player, guest.at))
    }
}

fn checked_name(version: Version, name: &[u8]) -> Result<&str, Fault> {
    let name = core::str::from_utf8(name).map_err(|_| Fault::BadName)?;
    BadName::check(version, name).map_err(|_| Fault::BadName)?;
    Ok(name)
}
