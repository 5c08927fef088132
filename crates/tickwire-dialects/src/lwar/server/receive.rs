//! What a datagram makes the server do.
//!
//! A datagram comes from a client, from one that just left, or from a stranger. A client's messages
//! are processed here, one by one, and passed on to the others and to the game. How a stranger becomes a
//! player is in `joining`, and what a message costs that must not be sent in `violation`.

use alloc::boxed::Box;

use tickwire_session::{Addr, Instant};
use tickwire_wire::DecodeError;

use super::joining::{asks_for_join, speaker};
use super::violation::{Outcome, VIOLATIONS_TEXT, Violation};
use super::{Answer, Departure, Farewell, Peer, Server, ServerEvent, Stage};
use crate::lwar::Reader;
use crate::lwar::limits::{BROADCAST_BACKLOG, EVENTS_WAITING, LEAVE_PERIOD, RECEIVE_MAX};
use crate::lwar::message::{BadText, Framed, Reliable, Unframed, Unreliable};
use crate::lwar::packet::Header;
use crate::lwar::reliable::{Acked, Order};

impl Server {
    pub(super) fn receive(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if bytes.len() > RECEIVE_MAX {
            self.counters.oversized += 1;
            return;
        }
        if self.events.len() >= EVENTS_WAITING {
            self.counters.overrun += 1;
            return;
        }
        let mut r = Reader::new(bytes);
        let header = match Header::decode(&mut r) {
            Ok(header) => header,
            Err(DecodeError::Forbidden { .. }) => {
                self.counters.wrong_app_id += 1;
                return;
            }
            Err(_) => {
                self.counters.short_header += 1;
                return;
            }
        };
        let known = |place: &Option<Box<Peer>>| place.as_ref().is_some_and(|p| p.addr == from);
        if let Some(place) = self.places.iter().position(known) {
            self.receive_from_peer(now, place, header, r);
        } else if let Some(gone) = self
            .departed
            .iter()
            .position(|departed| departed.addr == from && now < departed.until)
        {
            self.receive_from_departed(now, gone, header, r);
        } else {
            self.receive_from_stranger(now, from, r);
        }
    }

    fn receive_from_peer(&mut self, now: Instant, place: usize, header: Header, r: Reader<'_>) {
        // Out of its place while it is worked on, since what it says goes to all the others.
        let Some(mut peer) = self.places.get_mut(place).and_then(Option::take) else {
            return;
        };
        let outcome = self.handle_packet(now, &mut peer, header, r);
        let (addr, index) = (peer.addr, peer.player.0.index);
        if let Some(place) = self.places.get_mut(place) {
            *place = Some(peer);
        }
        match outcome {
            Ok(()) => {}
            Err(Departure::Disconnected) => {
                self.depart(now, index, Departure::Disconnected, Farewell::Answered);
                self.answer(addr, Answer::Leave);
            }
            Err(why) => self.depart(now, index, why, Farewell::Explained(VIOLATIONS_TEXT)),
        }
    }

    /// Works through a client's packet. An error says why the client is to be removed.
    fn handle_packet(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        header: Header,
        mut r: Reader<'_>,
    ) -> Result<(), Departure> {
        peer.traffic.received(r.position() + r.remaining());
        peer.last_heard = now;
        self.handle_ack(now, peer, header.ack);
        let stale = peer.is_stale(header.timestamp);
        let (mut refused, mut gap, mut held_back, mut asked) = (false, false, false, false);
        while !r.is_empty() {
            let framed = Framed::decode(&mut r);
            peer.traffic.messages_in += u64::from(framed.is_ok());
            if let (Stage::Proving { .. }, Ok(message)) = (peer.stage, &framed)
                && speaker(message) == Some(peer.player)
            {
                self.prove(now, peer);
            }
            match framed {
                Ok(Framed::Reliable { seq, content }) => match peer.inbox.order(seq) {
                    Order::Next => match self.handle_reliable(now, peer, content) {
                        Outcome::Taken => peer.inbox.advance(),
                        Outcome::Violation(violation) => self.punish(now, peer, violation)?,
                        Outcome::HeldBack => held_back = true,
                        Outcome::Gone => {
                            peer.inbox.advance();
                            return Err(Departure::Disconnected);
                        }
                    },
                    Order::Repeated => asked |= asks_for_join(peer, content),
                    // It must not have to stay because it said too much before.
                    Order::Early if held_back && content == Ok(Reliable::Disconnect) => {
                        peer.inbox.skip_to(seq);
                        return Err(Departure::Disconnected);
                    }
                    Order::Early => gap = true,
                },
                Ok(Framed::Unreliable(_)) if stale => refused = true,
                Ok(Framed::Unreliable(message)) => self.handle_unreliable(now, peer, &message),
                Err(unframed) => {
                    self.handle_unframed(now, peer, unframed)?;
                    break;
                }
            }
        }
        self.answer_unproved(peer, asked);
        self.counters.stale += u64::from(refused);
        self.counters.held_back += u64::from(held_back);
        // Behind a message that was held back everything is early.
        self.counters.sequence_gap += u64::from(gap && !held_back);
        Ok(())
    }

    fn handle_ack(&mut self, now: Instant, peer: &mut Peer, ack: u32) {
        match peer.outbox.acknowledge(ack) {
            Acked::Nothing => {}
            Acked::NeverSent => {
                self.counters.ack_never_sent += 1;
                peer.refused += 1;
            }
            // Most messages are repeated before any acknowledgement can be here: the first sending
            // counts, and a loss makes the round trip look longer.
            Acked::Progress(sent) => {
                peer.round_trip.add_sample(now.since(sent.first));
                peer.last_progress = now;
                peer.fill_window();
                if peer.stage == Stage::Joining {
                    self.begin_sync(peer);
                }
            }
        }
    }

    /// Decides about a reliable message that is the next in order.
    fn handle_reliable(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        content: Result<Reliable<'_>, BadText>,
    ) -> Outcome {
        // Who has not acknowledged its Join may repeat its Connect, and nothing else.
        if peer.stage == Stage::Joining {
            return Outcome::HeldBack;
        }
        let message = match content {
            Ok(message) => message,
            Err(text) => return Outcome::Violation(text.into()),
        };
        let own = peer.player;
        match message {
            Reliable::Disconnect => return Outcome::Gone,
            Reliable::Connect { .. } => return Outcome::Violation(Violation::SecondConnect),
            Reliable::Chat { player, .. }
            | Reliable::Name { player, .. }
            | Reliable::Selection { player, .. }
                if player != own =>
            {
                return Outcome::Violation(Violation::ForeignPlayer);
            }
            Reliable::Chat { text: "", .. } => return Outcome::Taken,
            Reliable::Name { name: "", .. } => return Outcome::Violation(Violation::BadName),
            Reliable::Selection { selection, .. } if selection.fault().is_some() => {
                return Outcome::Violation(Violation::BadSelection);
            }
            Reliable::Chat { .. } | Reliable::Name { .. } | Reliable::Selection { .. } => {}
            Reliable::Join { .. }
            | Reliable::Leave { .. }
            | Reliable::Add { .. }
            | Reliable::Remove { .. }
            | Reliable::Synced => return Outcome::Violation(Violation::ServerOnly),
        }
        let lags = |peer: &Peer| peer.unacknowledged() >= BROADCAST_BACKLOG;
        let lagging = lags(peer) || self.proved().any(lags);
        if peer.broadcasts.take(now).is_none() && lagging {
            return Outcome::HeldBack;
        }
        // Every new name is told to everybody. Names need not be reliable beyond their rate, so nobody
        // has to repeat one until its turn comes.
        if matches!(message, Reliable::Name { .. }) && peer.renames.take(now).is_none() {
            self.counters.rename_rate += 1;
            return Outcome::Taken;
        }
        self.repeat_to_all(peer, &message);
        Outcome::Taken
    }

    /// Passes on what a client said, to itself too, and tells the game.
    fn repeat_to_all(&mut self, peer: &mut Peer, message: &Reliable<'_>) {
        self.tell_all(message);
        peer.tell(message);
        self.events.push_back(match *message {
            Reliable::Chat { player, text } => ServerEvent::Chatted {
                player,
                text: text.into(),
            },
            Reliable::Name { player, name } => {
                peer.name = name.into();
                ServerEvent::Renamed {
                    player,
                    name: name.into(),
                }
            }
            Reliable::Selection { player, selection } => {
                peer.selection = Some(selection);
                ServerEvent::Selected { player, selection }
            }
            _ => return,
        });
    }

    fn handle_unreliable(&mut self, now: Instant, peer: &mut Peer, message: &Unreliable<'_>) {
        let violation = match message {
            Unreliable::Input(input) if input.player == peer.player => {
                peer.controls.apply(now, input);
                return;
            }
            Unreliable::Input(_) => Violation::ForeignPlayer,
            _ => Violation::ServerOnly,
        };
        // Anybody can forge an unreliable message, so it counts for the operator only.
        violation.count(&mut self.counters);
        peer.refused += 1;
    }

    /// A message without a known end: nothing behind it can be read.
    fn handle_unframed(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        unframed: Unframed,
    ) -> Result<(), Departure> {
        if let Some(seq) = unframed.seq
            && peer.is_told()
            && peer.inbox.order(seq) == Order::Next
        {
            return self.punish(now, peer, Violation::UnknownMessage);
        }
        self.count_unframed(unframed);
        peer.refused += 1;
        Ok(())
    }

    pub(super) fn count_unframed(&mut self, unframed: Unframed) {
        match unframed.error {
            DecodeError::Truncated { .. } => self.counters.truncated += 1,
            _ => self.counters.unknown_message += 1,
        }
    }

    /// Somebody who left may still acknowledge, or not know that its Disconnect arrived.
    fn receive_from_departed(
        &mut self,
        now: Instant,
        position: usize,
        header: Header,
        mut r: Reader<'_>,
    ) {
        let Some(departed) = self.departed.get_mut(position) else {
            return;
        };
        departed.outbox.acknowledge(header.ack);
        let addr = departed.addr;
        let mut disconnects = false;
        while let Ok(framed) = Framed::decode(&mut r) {
            disconnects |= matches!(
                framed,
                Framed::Reliable {
                    content: Ok(Reliable::Disconnect),
                    ..
                }
            );
        }
        if disconnects && !departed.repeats && !departed.is_told() {
            departed.until = now + LEAVE_PERIOD;
            self.answer(addr, Answer::Leave);
        }
    }
}
