//! What clients' datagrams make the server do.
//!
//! A datagram is read once, as a whole, before anything is done about it. Whoever shows a token that its
//! host got by TCP may be sent more than it sends. Nobody else is: a stranger is told that it is one, in a
//! datagram that is no longer than its own.

use alloc::vec::Vec;

use tickwire_session::{Addr, Denied, Instant, PeerId, Token};
use tickwire_wire::DecodeError;

use super::client::{Removed, Stage};
use super::event::ShownAt;
use super::limits::{EVENTS_WAITING, INVALID, STRANGERS_WAITING};
use super::order::Arrived;
use super::{Server, ServerEvent, client_id};
use crate::reone::limits::{HEADER, RECEIVE_MAX};
use crate::reone::message::{Event, Invalid, Packet, Up, UpElement, UpHeader};
use crate::reone::{EventId, PacketSeq};

/// What a datagram says.
#[derive(Debug)]
struct Uplink<'a> {
    header: UpHeader,
    ping: Option<Token>,
    is_ready: bool,
    events: Vec<Event<'a>>,
}

impl<'a> Uplink<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let (mut ping, mut is_ready, mut events) = (None, false, Vec::new());
        let header = Packet::<Up>::decode_each(bytes, |element| match element {
            UpElement::Ping(token) => ping = ping.or(Some(token)),
            UpElement::Ready => is_ready = true,
            UpElement::Event(event) => events.push(event),
        })?;
        Ok(Self {
            header,
            ping,
            is_ready,
            events,
        })
    }
}

impl Server {
    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if bytes.len() > RECEIVE_MAX {
            self.counters.oversized += 1;
            return;
        }
        let uplink = Uplink::decode(bytes).ok();
        self.counters.undecodable_datagram += u64::from(uplink.is_none());
        let token = uplink.as_ref().and_then(|uplink| uplink.ping);
        if let Some(token) = token {
            match self.peers.show_token(now, from, token) {
                Ok(attached) => self.handle_ping(now, attached.peer, from),
                Err(why) => {
                    self.refuse_token(from, token, why);
                    return;
                }
            }
        }
        let Some(id) = self.peers.at_addr(from) else {
            self.counters.stranger += 1;
            self.tell_invalid(from, bytes, Invalid::Unknown);
            return;
        };
        if token.is_none() {
            self.remind(id, from, bytes);
        }
        match uplink {
            Some(uplink) => self.handle_packet(now, id, &uplink, bytes.len()),
            None => self.count_refused(id),
        }
    }

    fn refuse_token(&mut self, from: Addr, token: Token, why: Denied) {
        let holder = self.peers.at_addr(from);
        match why {
            Denied::OtherHost => self.counters.foreign_host += 1,
            Denied::NotTheirOwn => self.counters.foreign_token += 1,
            Denied::TooMany => self.counters.token_ignored += 1,
            Denied::Unknown => {
                self.counters.wrong_token += 1;
                // A ping is longer than the answer.
                let why = match self.ended_tokens.contains(&token) {
                    true => Invalid::NewModule,
                    false => Invalid::Unknown,
                };
                if holder.is_none() {
                    self.queue_invalid(from, why);
                }
            }
        }
        if let Some(id) = holder {
            self.count_refused(id);
        }
    }

    fn count_refused(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.link.refused += 1;
        }
    }

    /// A client showed its token: it wants to take part, or its address changed.
    fn handle_ping(&mut self, now: Instant, id: PeerId, from: Addr) {
        let Some(client) = self.peer_client(id) else {
            return;
        };
        match &mut client.stage {
            Stage::Loading(loading) => loading.has_pinged = true,
            Stage::Removed(Removed {
                is_loaded: false, ..
            }) => self.queue_invalid(from, Invalid::NewModule),
            Stage::Loaded { .. } | Stage::Removed(_) => self.begin_joining(id),
            Stage::Joining => {}
            Stage::Initialising(seated) => {
                seated.parameters_at = Some(now);
                self.peers.mark_ready(id);
            }
            Stage::Playing(playing) => {
                playing.seated.parameters_at = Some(now);
                playing.may_restart = true;
                self.peers.mark_ready(id);
            }
        }
    }

    pub(super) fn begin_joining(&mut self, id: PeerId) {
        if let Some(client) = self.peer_client(id) {
            client.stage = Stage::Joining;
            self.peers.set_deadline(id, None);
            let client = client_id(id);
            self.events.push_back(ServerEvent::Joining { client });
        }
    }

    /// Tells a client that was removed how it can come back.
    fn remind(&mut self, id: PeerId, from: Addr, bytes: &[u8]) {
        if let Some(client) = self.peer_client(id)
            && let Stage::Removed(Removed { is_loaded, .. }) = client.stage
        {
            let why = match is_loaded {
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

    fn handle_packet(&mut self, now: Instant, id: PeerId, uplink: &Uplink<'_>, length: usize) {
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        peer.link.traffic.received(length);
        peer.link.traffic.messages_in += 1;
        let Some(client) = peer.state.client_mut() else {
            return;
        };
        let header = &uplink.header;
        let is_newest = client.note_packet(now, header.packet);
        if uplink.is_ready {
            self.handle_ready(now, id, header.packet);
        }
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        let Some(client) = peer.state.client_mut() else {
            return;
        };
        if client.playing().is_none() {
            self.counters.not_ready += u64::from(!uplink.events.is_empty());
            return;
        }
        if !client.acknowledge(now, header.acknowledged, &self.table.world) {
            peer.link.refused += 1;
            self.counters.ack_never_sent += 1;
        }
        // The header's tick is that of the last event with a number; those before it saw earlier ones.
        let numbered = uplink
            .events
            .iter()
            .map(|event| u32::from(is_numbered(event)));
        let mut following: u32 = numbered.sum();
        for event in &uplink.events {
            let mut seen = ShownAt {
                tick: header.tick,
                before: 0,
            };
            if is_numbered(event) {
                following -= 1;
                seen.before = following;
            }
            self.handle_event(now, id, event, seen, is_newest);
        }
    }

    fn handle_ready(&mut self, now: Instant, id: PeerId, packet: PacketSeq) {
        let next_command = self.table.commands.next();
        let newest = self.table.world.newest();
        let Some(client) = self.peer_client(id) else {
            return;
        };
        if client.begin_playing(now, packet, newest, next_command) {
            let client = client_id(id);
            self.events.push_back(ServerEvent::Ready { client });
        } else if let Some(playing) = client.playing_mut() {
            playing.seated.confirm(now);
            // After a ping it went through all of it again, so it holds nothing.
            if playing.may_restart {
                playing.restart(newest);
            }
        }
    }

    fn handle_event(
        &mut self,
        now: Instant,
        id: PeerId,
        event: &Event<'_>,
        seen: ShownAt,
        is_newest: bool,
    ) {
        let is_full = self.events.len() >= EVENTS_WAITING;
        let Some(client) = self.peer_client(id) else {
            return;
        };
        let is_too_much = !is_numbered(event) && client.loose_events.take(now).is_none();
        if is_too_much || is_full {
            self.counters.event_overrun += 1;
            return;
        }
        match client.order.receive(event.id, is_newest) {
            Arrived::Next => self.events.push_back(ServerEvent::Event {
                client: client_id(id),
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

fn is_numbered(event: &Event<'_>) -> bool {
    event.id != EventId::UNACKNOWLEDGED
}

/// The list that only servers send, in answer to what they do not understand.
const INVALID_LIST: u8 = 132;
