//! What clients' bytes make the server do.

use core::time::Duration;

use tickwire_session::{Addr, Denied, Instant, Peer, PeerId, StreamId, Token};
use tickwire_state::Tick;

use super::client_state::{ClientState, Stage};
use super::sending::real_time;
use super::snapshots::Acknowledged;
use super::{Departure, Server, ServerEvent, client_id};
use crate::opendrakan::Reader;
use crate::opendrakan::limits::{ACTION_AGE_MAX, EVENTS_WAITING, RECEIVE_MAX};
use crate::opendrakan::message::{Message, Way};

impl Server {
    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if bytes.len() > RECEIVE_MAX {
            self.counters.oversized += 1;
            return;
        }
        // A datagram counts as a whole: what is wrong at its end undoes its beginning.
        let mut r = Reader::new(bytes);
        while !r.is_empty() {
            if Message::decode(&mut r, Way::ClientDatagram).is_err() {
                self.counters.undecodable += 1;
                self.blame(from);
                return;
            }
        }
        let mut r = Reader::new(bytes);
        while let Ok(message) = Message::decode(&mut r, Way::ClientDatagram) {
            match message {
                Message::Attach { token } => self.handle_attach(now, from, token),
                Message::AcknowledgeSnapshot { tick } => self.handle_acknowledge(now, from, tick),
                _ => {}
            }
        }
        if let Some(peer) = self.peer_at(from) {
            peer.link.traffic.received(bytes.len());
        }
    }

    fn handle_attach(&mut self, now: Instant, from: Addr, token: Token) {
        let id = match self.peers.show_token(now, from, token) {
            Ok(attached) => attached.peer,
            Err(Denied::OtherHost) => {
                self.counters.foreign_host += 1;
                return;
            }
            Err(Denied::Unknown | Denied::NotTheirOwn | Denied::TooMany) => {
                self.counters.wrong_token += 1;
                self.blame(from);
                return;
            }
        };
        if let Some(Peer { link, state }) = self.peers.get_mut(id) {
            link.last_heard = now;
            link.traffic.messages_in += 1;
            if let Stage::Attaching = state.stage {
                self.admit(now, id);
            }
        }
    }

    fn handle_acknowledge(&mut self, now: Instant, from: Addr, tick: Tick) {
        let peer = self.peer_at(from);
        let joined = peer.and_then(|Peer { link, state }| Some((link, state.player_mut()?)));
        let Some((link, player)) = joined else {
            self.counters.stranger += 1;
            return;
        };
        link.last_heard = now;
        link.traffic.messages_in += 1;
        match player.snapshots.acknowledge(now, tick) {
            Acknowledged::Newest | Acknowledged::Again => {}
            Acknowledged::Old => self.counters.ack_old += 1,
            Acknowledged::NeverSent => {
                link.refused += 1;
                self.counters.ack_never_sent += 1;
            }
        }
    }

    pub(super) fn receive_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(id) = self.peers.on_stream(on) else {
            return;
        };
        let Some(Peer { link, state }) = self
            .peers
            .get_mut(id)
            .filter(|peer| !peer.link.is_closing())
        else {
            return;
        };
        link.traffic.received(bytes.len());
        let mut inbox = core::mem::take(&mut state.inbox);
        let decoded = inbox.receive(Way::ClientStream, bytes, |message| {
            self.handle_stream_message(now, id, &message);
        });
        if decoded.is_err() {
            // Where the next message would begin is not known any more.
            self.counters.undecodable += 1;
            self.close(now, id, Departure::Undecodable);
        } else if let Some(peer) = self.peers.get_mut(id) {
            peer.state.inbox = inbox;
        }
    }

    fn handle_stream_message(&mut self, now: Instant, id: PeerId, message: &Message<'_>) {
        let Some(Peer { link, state }) = self.peers.get_mut(id) else {
            return;
        };
        link.last_heard = now;
        link.traffic.messages_in += 1;
        // The game knows only those who have joined.
        let Some(player) = state.player_mut() else {
            self.counters.too_early_actions += 1;
            return;
        };
        if player.actions.take(now).is_none() {
            link.refused += 1;
            self.counters.too_many_actions += 1;
            return;
        }
        let client = client_id(id);
        let event = match *message {
            Message::Action(action) => ServerEvent::Acted {
                client,
                at: self.clamped(action.real_time),
                code: action.code,
                state: action.state,
            },
            Message::AnalogAction(action) => ServerEvent::Steered {
                client,
                at: self.clamped(action.real_time),
                code: action.code,
                x: action.x,
                y: action.y,
            },
            _ => return,
        };
        self.tell(event);
    }

    /// A client's moment, moved to where it is allowed: nobody acts in the future, nor long ago.
    fn clamped(&self, seconds: f64) -> Duration {
        let latest = real_time(self.world.tick());
        let earliest = (latest - ACTION_AGE_MAX.as_secs_f64()).max(0.0);
        Duration::try_from_secs_f64(seconds.clamp(earliest, latest)).unwrap_or_default()
    }

    pub(super) fn tell(&mut self, event: ServerEvent) {
        let is_action = matches!(
            event,
            ServerEvent::Acted { .. } | ServerEvent::Steered { .. }
        );
        // Who joined and left must not get lost, and there are not many of those.
        if is_action && self.events.len() >= EVENTS_WAITING {
            self.counters.overrun += 1;
        } else {
            self.events.push_back(event);
        }
    }

    fn blame(&mut self, from: Addr) {
        if let Some(peer) = self.peer_at(from) {
            peer.link.refused += 1;
        }
    }

    fn peer_at(&mut self, from: Addr) -> Option<&mut Peer<ClientState>> {
        self.peers.get_mut(self.peers.at_addr(from)?)
    }
}
