//! What clients' bytes make the server do.

use core::time::Duration;

use tickwire_session::{Addr, Denied, Instant, StreamId};
use tickwire_state::Tick;

use super::super::limits::{ACTION_AGE_MAX, EVENTS_WAITING, RECEIVE_MAX};
use super::super::message::{Message, Way};
use super::super::{ClientId, Reader};
use super::peer::Acknowledged;
use super::sending::real_time;
use super::{Departure, Server, ServerEvent};

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
                Message::Attach { token } => self.hear_attach(now, from, token),
                Message::AcknowledgeSnapshot { tick } => self.hear_acknowledge(now, from, tick),
                _ => {}
            }
        }
        if let Some(peer) = self.peer_at(from) {
            peer.traffic.received(bytes.len());
        }
    }

    fn hear_attach(&mut self, now: Instant, from: Addr, token: tickwire_session::Token) {
        let attached = match self.attachments.show(now, from, token) {
            Ok(attached) => attached,
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
        let client = attached.peer;
        let largest = self.rooms.largest(from);
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        peer.last_heard = now;
        peer.traffic.messages_in += 1;
        if attached.moved {
            peer.set_largest(largest);
            if peer.addr.replace(from).is_none() {
                self.tell(ServerEvent::Attached { client });
            }
        }
    }

    fn hear_acknowledge(&mut self, now: Instant, from: Addr, tick: Tick) {
        let Some(peer) = self.peer_at(from) else {
            self.counters.stranger += 1;
            return;
        };
        peer.last_heard = now;
        peer.traffic.messages_in += 1;
        let worth = peer.acknowledge(now, tick);
        peer.refused += u64::from(worth == Acknowledged::NeverSent);
        match worth {
            Acknowledged::Newest | Acknowledged::Again => {}
            Acknowledged::Old => self.counters.ack_old += 1,
            Acknowledged::NeverSent => self.counters.ack_never_sent += 1,
        }
    }

    pub(super) fn receive_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(&client) = self.streams.get(&on) else {
            return;
        };
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        peer.traffic.received(bytes.len());
        let mut inbox = core::mem::take(&mut peer.inbox);
        let decoded = inbox.receive(Way::ClientStream, bytes, |message| {
            self.hear_stream_message(now, client, &message);
        });
        match decoded {
            Ok(()) => {
                if let Some(peer) = self.peers.get_mut(&client) {
                    peer.inbox = inbox;
                }
            }
            // Where the next message would begin is not known any more.
            Err(_) => {
                self.counters.undecodable += 1;
                self.depart(client, Departure::Undecodable);
            }
        }
    }

    fn hear_stream_message(&mut self, now: Instant, client: ClientId, message: &Message<'_>) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        peer.last_heard = now;
        peer.traffic.messages_in += 1;
        if peer.actions.take(now).is_none() {
            peer.refused += 1;
            self.counters.too_many_actions += 1;
            return;
        }
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
        if self.events.len() >= EVENTS_WAITING {
            // Who came and went must not get lost, and there are not many of those.
            let is_action = matches!(
                event,
                ServerEvent::Acted { .. } | ServerEvent::Steered { .. }
            );
            if is_action {
                self.counters.overrun += 1;
                return;
            }
        }
        self.events.push_back(event);
    }

    fn blame(&mut self, from: Addr) {
        if let Some(peer) = self.peer_at(from) {
            peer.refused += 1;
        }
    }

    fn peer_at(&mut self, from: Addr) -> Option<&mut super::peer::Peer> {
        self.peers.get_mut(&self.attachments.peer_at(from)?)
    }
}
