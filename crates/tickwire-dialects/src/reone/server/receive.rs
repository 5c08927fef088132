//! What clients' datagrams make the server do.
//!
//! Whoever shows a token that its host got by TCP may be sent more than it sends. Nobody else is: a
//! stranger is told that it is one, in a datagram that is no longer than its own.

use tickwire_session::{Addr, Denied, Instant, Token};

use super::event::Seen;
use super::limits::{EVENTS_WAITING, INVALID, STRANGERS_WAITING};
use super::order::Arrived;
use super::peer::Stage;
use super::{Server, ServerEvent};
use crate::reone::limits::{HEADER, RECEIVE_MAX};
use crate::reone::message::{Event, Invalid, Packet, Up, UpElement};
use crate::reone::{ClientId, EventId, PacketSeq};

impl Server {
    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if bytes.len() > RECEIVE_MAX {
            self.counters.oversized += 1;
            return;
        }
        let packet = Packet::<Up>::decode(bytes);
        self.counters.undecodable_datagram += u64::from(packet.is_err());
        let token = packet.ok().and_then(|packet| {
            packet.elements().find_map(|element| match element {
                UpElement::Ping(token) => Some(token),
                UpElement::Ready | UpElement::Event(_) => None,
            })
        });
        if let Some(token) = token {
            match self.attachments.show(from, token) {
                Ok(attached) => self.handle_ping(now, attached.peer, from),
                Err(why) => {
                    self.refuse_token(from, token, why);
                    return;
                }
            }
        }
        match (self.attachments.peer_at(from), packet) {
            (None, _) => {
                self.counters.stranger += 1;
                self.tell_invalid(from, bytes, Invalid::Unknown);
            }
            (Some(client), Ok(packet)) => {
                if token.is_none() {
                    self.remind(client, from, bytes);
                }
                self.handle_packet(now, client, &packet, bytes.len());
            }
            (Some(client), Err(_)) => {
                self.remind(client, from, bytes);
                if let Some(peer) = self.peers.get_mut(&client) {
                    peer.refused += 1;
                }
            }
        }
    }

    fn refuse_token(&mut self, from: Addr, token: Token, why: Denied) {
        match why {
            Denied::OtherHost => self.counters.foreign_host += 1,
            Denied::NotTheirOwn => self.counters.foreign_token += 1,
            Denied::Unknown => {
                self.counters.wrong_token += 1;
                // A ping is longer than the answer.
                let why = match self.ended_tokens.contains(&token) {
                    true => Invalid::NewModule,
                    false => Invalid::Unknown,
                };
                if self.attachments.peer_at(from).is_none() {
                    self.queue_invalid(from, why);
                }
            }
        }
        let client = self.attachments.peer_at(from);
        if let Some(peer) = client.and_then(|client| self.peers.get_mut(&client)) {
            peer.refused += 1;
        }
    }

    /// A client showed its token: it wants to take part, or its address changed.
    fn handle_ping(&mut self, now: Instant, client: ClientId, from: Addr) {
        let largest = self.rooms.largest(from);
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        if peer.addr.replace(from) != Some(from) {
            peer.set_largest(largest);
        }
        match peer.stage {
            // The end of loading goes by TCP, and a ping may overtake it.
            Stage::Loading => peer.has_pinged = true,
            Stage::Removed if !peer.is_loaded => self.queue_invalid(from, Invalid::NewModule),
            Stage::Loaded | Stage::Removed => self.begin_joining(client),
            Stage::Joining => {}
            Stage::Initialising => {
                peer.parameters_at = Some(now);
                self.wake(client);
            }
            Stage::Playing => {
                peer.parameters_at = Some(now);
                peer.may_restart = true;
                self.wake(client);
            }
        }
    }

    pub(super) fn begin_joining(&mut self, client: ClientId) {
        if let Some(peer) = self.peers.get_mut(&client) {
            peer.stage = Stage::Joining;
            peer.has_pinged = false;
            self.events.push_back(ServerEvent::Joining { client });
        }
    }

    /// Tells a client that was removed how it can come back.
    fn remind(&mut self, client: ClientId, from: Addr, bytes: &[u8]) {
        let Some(peer) = self.peers.get(&client) else {
            return;
        };
        if peer.stage == Stage::Removed {
            let why = match peer.is_loaded {
                true => Invalid::SameModule,
                false => Invalid::NewModule,
            };
            self.tell_invalid(from, bytes, why);
        }
    }

    /// Answers a datagram, if that makes it no longer.
    fn tell_invalid(&mut self, to: Addr, bytes: &[u8], why: Invalid) {
        // Two servers that are made to hear each other must not go on for ever.
        let is_answer = bytes.get(HEADER) == Some(&INVALID_LIST);
        if bytes.len() >= INVALID && !is_answer {
            self.queue_invalid(to, why);
        }
    }

    fn queue_invalid(&mut self, to: Addr, why: Invalid) {
        if self.strangers.len() >= STRANGERS_WAITING {
            self.counters.stranger_ignored += 1;
            return;
        }
        self.strangers.push_back((to, why));
    }

    fn handle_packet(
        &mut self,
        now: Instant,
        client: ClientId,
        packet: &Packet<'_, Up>,
        length: usize,
    ) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        let is_newest = peer.hear(now, length, &packet.header);
        let is_ready = packet.elements().any(|element| element == UpElement::Ready);
        if is_ready {
            self.handle_ready(now, client, packet.header.packet);
        }
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        if peer.stage != Stage::Playing {
            let says_something = packet
                .elements()
                .any(|element| matches!(element, UpElement::Event(_)));
            self.counters.not_ready += u64::from(says_something);
            return;
        }
        if !peer.acknowledge(now, packet.header.acknowledged, &self.table.world) {
            self.counters.ack_never_sent += 1;
        }
        let events = || {
            packet.elements().filter_map(|element| match element {
                UpElement::Event(event) => Some(event),
                UpElement::Ping(_) | UpElement::Ready => None,
            })
        };
        let is_numbered = |event: &Event<'_>| event.id != EventId::UNACKNOWLEDGED;
        let mut following: u32 = events().map(|event| u32::from(is_numbered(&event))).sum();
        for event in events() {
            following -= u32::from(is_numbered(&event));
            let seen = Seen {
                tick: packet.header.tick,
                before: match is_numbered(&event) {
                    true => following,
                    false => 0,
                },
            };
            self.handle_event(now, client, &event, seen, is_newest);
        }
    }

    fn handle_ready(&mut self, now: Instant, client: ClientId, packet: PacketSeq) {
        let next_command = self.table.commands.next();
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        match peer.stage {
            Stage::Initialising if peer.can_be_ready(packet) => {
                peer.stage = Stage::Playing;
                peer.settle_parameters(now);
                peer.begin_again();
                peer.count_from(packet);
                // Older commands come with the snapshots.
                peer.untold = next_command;
                self.events.push_back(ServerEvent::Ready { client });
            }
            Stage::Playing => {
                if peer.is_doubted() {
                    peer.settle_parameters(now);
                }
                // After a ping it went through all of it again, so it holds nothing.
                if core::mem::take(&mut peer.may_restart) {
                    peer.begin_again();
                }
            }
            _ => {}
        }
    }

    fn handle_event(
        &mut self,
        now: Instant,
        client: ClientId,
        event: &Event<'_>,
        seen: Seen,
        is_newest: bool,
    ) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        let is_loose = event.id == EventId::UNACKNOWLEDGED;
        let is_too_much = match is_loose {
            true => peer.loose_events.take(now).is_none(),
            false => false,
        };
        if is_too_much || self.events.len() >= EVENTS_WAITING {
            self.counters.event_overrun += 1;
            return;
        }
        match peer.order.receive(event.id, is_newest) {
            Arrived::Next => self.events.push_back(ServerEvent::Event {
                client,
                id: event.id,
                kind: event.kind,
                content: event.content().into(),
                seen,
            }),
            // A client repeats its events until it hears that they were processed.
            Arrived::Again => {}
            Arrived::Early => self.counters.event_out_of_order += 1,
            Arrived::Ahead => self.counters.event_overrun += 1,
        }
    }
}

/// The list that only servers send, in answer to what they do not understand.
const INVALID_LIST: u8 = 132;
