//! What arrives: frames of a connection, datagrams of an address.

use tickwire_replica::PacketNumber;
use tickwire_replica::world::PlayerId;
use tickwire_session::{Addr, Instant, Peer, PeerId, StreamId};
use tickwire_wire::{DecodeError, Serial as _};

use super::event::Waiting;
use super::player::LatestHeard;
use super::{Question, Server, ServerEvent};
use crate::game::Game;
use crate::limits::{ASKED_AT_ONCE, EVENTS_WAITING, FETCHES_WAITING};
use crate::message::{
    Acks, DatagramUp, Down, FrameReader, Inputs, Latest, Role, Status, Up, value,
};
use crate::reason::EndReason;

/// Why no more of a stream is read.
enum Stop {
    /// It cannot be read.
    Malformed,
    /// The connection is over, and that is dealt with.
    Over,
}

impl From<DecodeError> for Stop {
    fn from(_: DecodeError) -> Self {
        Self::Malformed
    }
}

impl<G: Game> Server<G> {
    pub(super) fn receive_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(peer) = self.peers.on_stream(on) else {
            return;
        };
        let Some(Peer { link, state }) = self.peers.get_mut(peer) else {
            return;
        };
        link.traffic.received(bytes.len());
        if link.is_closing() {
            return;
        }
        link.last_heard = now;
        // Taken out, because what is read concerns the whole server.
        let mut frames = core::mem::take(&mut state.frames);
        let read = frames.receive(bytes, |kind, body| {
            self.handle_frame(now, peer, Up::decode(kind, body)?)
        });
        match read {
            Ok(()) => self.put_back(peer, frames),
            Err(Stop::Malformed) => {
                if let Some(Peer { link, .. }) = self.peers.get_mut(peer) {
                    link.refused += 1;
                }
                self.end_peer(now, peer, EndReason::Malformed);
            }
            Err(Stop::Over) => {}
        }
    }

    fn put_back(&mut self, peer: PeerId, frames: FrameReader) {
        if let Some(Peer { state, .. }) = self.peers.get_mut(peer) {
            state.frames = frames;
        }
    }

    /// Ends a connection together with the player it belongs to.
    fn end_peer(&mut self, now: Instant, peer: PeerId, why: EndReason) {
        match self.peers.get(peer).and_then(|peer| peer.state.player) {
            Some(player) => self.remove_player(now, player, why, ""),
            None => self.end_connection(now, peer, why, ""),
        }
    }

    fn handle_frame(&mut self, now: Instant, peer: PeerId, frame: Up<'_>) -> Result<(), Stop> {
        let player = self.peers.get(peer).and_then(|peer| peer.state.player);
        let Some(player) = player else {
            return match frame {
                Up::Hello(hello) => {
                    self.handle_hello(now, peer, &hello);
                    let is_in = self
                        .peers
                        .get(peer)
                        .is_some_and(|it| it.state.player.is_some());
                    is_in.then_some(()).ok_or(Stop::Over)
                }
                // Whoever is nobody has nothing to say.
                _ => Err(Stop::Malformed),
            };
        };
        self.retire_ticket(player);
        if frame.is_kept() {
            self.count_frame(now, player)?;
        }
        match frame {
            Up::Hello(_) => return Err(Stop::Malformed),
            Up::Say(body) => match value(body) {
                Ok(message) => self.push_event(ServerEvent::Said { player, message }),
                Err(_) => self.counters.bad_message += 1,
            },
            Up::Ask { number, body } => self.handle_question(player, number, body),
            Up::Fetch { name, offset } => {
                if !self.handle_fetch(peer, name, offset) {
                    self.counters.too_many_messages += 1;
                    self.remove_player(now, player, EndReason::TooManyMessages, "");
                    return Err(Stop::Over);
                }
            }
            Up::Leave => {
                self.remove_player(now, player, EndReason::Left, "");
                return Err(Stop::Over);
            }
            Up::Received(count) => {
                let player = self.players.get_mut(&player).ok_or(Stop::Over)?;
                player.outbox.confirm(count).map_err(|_| Stop::Malformed)?;
            }
            Up::Datagram(bytes) => {
                if let Some(Peer { state, .. }) = self.peers.get_mut(peer) {
                    state.is_stream_only = !state.is_tried;
                }
                match DatagramUp::decode(bytes)? {
                    DatagramUp::Attach(_) => {}
                    datagram => self.handle_play(now, player, datagram),
                }
            }
        }
        Ok(())
    }

    /// Counts a frame that the client keeps, and holds it to its rate.
    fn count_frame(&mut self, now: Instant, id: PlayerId) -> Result<(), Stop> {
        let player = self.players.get_mut(&id).ok_or(Stop::Over)?;
        if let Some(count) = player.counted.add() {
            let received = Down::Received(count);
            player.outbox.push(|out| received.encode(out)).ok();
        }
        let is_too_fast = player.messages.take(now).is_none();
        if is_too_fast || self.events.len() >= EVENTS_WAITING {
            // Dropping one would break the promise that what is said arrives.
            self.counters.too_many_messages += 1;
            self.remove_player(now, id, EndReason::TooManyMessages, "");
            return Err(Stop::Over);
        }
        Ok(())
    }

    fn handle_question(&mut self, player: PlayerId, number: u32, body: &[u8]) {
        let message = value(body);
        let Some(it) = self.players.get_mut(&player) else {
            return;
        };
        let is_taken = it.questions.len() < ASKED_AT_ONCE && it.questions.insert(number);
        self.counters.too_many_questions += u64::from(!is_taken);
        match message {
            Ok(message) if is_taken => {
                let question = Question { player, number };
                self.push_event(ServerEvent::Asked { question, message });
            }
            refused => {
                self.counters.bad_message += u64::from(refused.is_err());
                if is_taken && let Some(it) = self.players.get_mut(&player) {
                    it.questions.remove(&number);
                }
                let status = Status::Refused;
                self.tell_one(
                    player,
                    &Down::Answer {
                        number,
                        status,
                        body: &[],
                    },
                );
            }
        }
    }

    /// Queues a request; returns whether so many may wait. Dropping one would leave it unanswered.
    fn handle_fetch(&mut self, peer: PeerId, name: &str, offset: u64) -> bool {
        let Some(Peer { state, .. }) = self.peers.mark_ready(peer) else {
            return true;
        };
        let is_taken = state.fetches.len() < FETCHES_WAITING;
        if is_taken {
            state.fetches.push_back((name.into(), offset));
        }
        is_taken
    }

    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        let Ok(datagram) = DatagramUp::decode(bytes) else {
            self.counters.undecodable += 1;
            return;
        };
        if let DatagramUp::Attach(token) = datagram {
            return self.handle_attach(now, from, token);
        }
        let Some(peer) = self.peers.at_addr(from) else {
            self.counters.stranger += 1;
            return;
        };
        if let Some(Peer { link, state }) = self.peers.get_mut(peer) {
            link.traffic.received(bytes.len());
            link.last_heard = now;
            state.is_stream_only = false;
        }
        if let Some(player) = self.peers.get(peer).and_then(|it| it.state.player) {
            self.handle_play(now, player, datagram);
        }
    }

    fn handle_attach(&mut self, now: Instant, from: Addr, token: tickwire_session::Token) {
        match self.peers.show_token(now, from, token) {
            Ok(attached) => {
                if let Some(Peer { link, state }) = self.peers.get_mut(attached.peer) {
                    link.last_heard = now;
                    state.is_stream_only = false;
                    state.is_tried = true;
                    if let Some(player) = state.player {
                        self.retire_ticket(player);
                    }
                }
            }
            Err(_) => self.counters.bad_token += 1,
        }
    }

    fn handle_play(&mut self, now: Instant, player: PlayerId, datagram: DatagramUp<'_>) {
        match datagram {
            DatagramUp::Attach(_) => {}
            DatagramUp::Play {
                acks,
                forget,
                inputs,
            } => {
                if let Some(acks) = acks {
                    self.handle_acks(now, player, acks);
                }
                if forget && let Some(it) = self.players.get_mut(&player) {
                    it.is_lacking = true;
                }
                self.handle_inputs(now, player, &inputs);
            }
            DatagramUp::Latest(latest) => self.handle_latest(player, latest),
        }
    }

    fn handle_acks(&mut self, now: Instant, player: PlayerId, acks: Acks) {
        let Some(player) = self.players.get_mut(&player) else {
            return;
        };
        let newest: PacketNumber = player.flights.newest;
        for (age, packet) in acks.packets(newest).enumerate() {
            if age == 0 {
                player.flights.acknowledge(now, packet);
            }
            self.clients.acknowledge(player.client, packet);
        }
        if let Some(round_trip) = player.flights.round_trip.mean() {
            self.clients.set_round_trip(player.client, round_trip);
        }
    }

    fn handle_inputs(&mut self, now: Instant, player: PlayerId, inputs: &Inputs<'_>) {
        if inputs.count == 0 {
            return;
        }
        let Some(player) = self.players.get_mut(&player) else {
            return;
        };
        if player.role == Role::Spectator {
            self.counters.spectator_input += 1;
            return;
        }
        match inputs.decode() {
            Ok(values) => {
                let ahead = player.inputs.handle(now, self.clock, inputs, values);
                self.counters.input_ahead += ahead;
            }
            Err(_) => self.counters.undecodable += 1,
        }
    }

    fn handle_latest(&mut self, id: PlayerId, latest: Latest<'_>) {
        let Some(player) = self.players.get_mut(&id) else {
            return;
        };
        let heard = player.latest_heard.get(&latest.channel);
        if heard.is_some_and(|heard| !latest.number.is_newer_than(heard.number)) {
            return;
        }
        let Ok(message) = value(latest.body) else {
            self.counters.bad_message += 1;
            return;
        };
        let heard = LatestHeard {
            number: latest.number,
            unread: Some(message),
        };
        // What nobody reads is replaced, like everything on such a channel.
        let before = player.latest_heard.insert(latest.channel, heard);
        if before.is_none_or(|before| before.unread.is_none()) {
            self.events.push_back(Waiting::Latest(id, latest.channel));
        }
    }

    /// The newest message of a channel that the game has not read.
    pub(super) fn take_latest(&mut self, player: PlayerId, channel: u8) -> Option<ServerEvent<G>> {
        let heard = self
            .players
            .get_mut(&player)?
            .latest_heard
            .get_mut(&channel)?;
        Some(ServerEvent::Latest {
            player,
            channel,
            message: heard.unread.take()?,
        })
    }
}
