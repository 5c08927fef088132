//! What a datagram makes the server do.
//!
//! A datagram comes from a client, from one that just left, or from a stranger. Only a Connect makes
//! a stranger a client, and only an acknowledged Join makes the others hear of it: until then the
//! address may be invented.

use alloc::boxed::Box;

use tickwire_session::{Addr, Instant};
use tickwire_wire::DecodeError;

use super::super::limits::{
    BROADCAST_BACKLOG, EVENTS_WAITING, JOIN_HOLD, LEAVE_PERIOD, RECEIVE_MAX,
};
use super::super::message::{BadText, Framed, Reliable, Unframed, Unreliable};
use super::super::packet::Header;
use super::super::reliable::{Acked, Order};
use super::super::{PlayerId, Reader};
use super::{Answer, Departure, Farewell, Peer, Server, ServerCounters, ServerEvent, Stage};

/// What came of a reliable message that was the next in order.
enum Outcome {
    /// It was processed.
    Taken,
    /// It was processed, and must not have been sent.
    Violation(Violation),
    /// It stays unacknowledged: the client will send it again.
    HeldBack,
    /// The client is gone.
    Gone,
}

/// What a client must not do; each has a counter.
#[derive(Clone, Copy)]
enum Violation {
    ServerOnly,
    ForeignPlayer,
    SecondConnect,
    BadName,
    BadChat,
    BadSelection,
    UnknownMessage,
}

impl Violation {
    fn count(self, counters: &mut ServerCounters) {
        *match self {
            Self::ServerOnly => &mut counters.server_only,
            Self::ForeignPlayer => &mut counters.foreign_player,
            Self::SecondConnect => &mut counters.second_connect,
            Self::BadName => &mut counters.bad_name,
            Self::BadChat => &mut counters.bad_chat,
            Self::BadSelection => &mut counters.bad_selection,
            Self::UnknownMessage => &mut counters.unknown_message,
        } += 1;
    }
}

impl From<BadText> for Violation {
    fn from(text: BadText) -> Self {
        match text {
            BadText::Name(_) => Self::BadName,
            BadText::Chat(_) => Self::BadChat,
        }
    }
}

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
        let heard = self.hear(now, &mut peer, header, r);
        let (addr, index) = (peer.addr, peer.player.0.index);
        if let Some(place) = self.places.get_mut(place) {
            *place = Some(peer);
        }
        match heard {
            Ok(()) => {}
            Err(Departure::Disconnected) => {
                self.depart(now, index, Departure::Disconnected, Farewell::Answered);
                self.answer(addr, Answer::Leave);
            }
            Err(why) => self.depart(now, index, why, Farewell::Explained(VIOLATIONS_TEXT)),
        }
    }

    /// Works through a client's packet. An error says why the client is to be removed.
    fn hear(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        header: Header,
        mut r: Reader<'_>,
    ) -> Result<(), Departure> {
        peer.traffic.received(r.position() + r.remaining());
        peer.last_heard = now;
        self.hear_ack(now, peer, header.ack);
        let stale = peer.is_stale(header.timestamp);
        let (mut refused, mut gap, mut held_back, mut asked) = (false, false, false, false);
        while !r.is_empty() {
            let framed = Framed::decode(&mut r);
            peer.traffic.messages_in += u64::from(framed.is_ok());
            match framed {
                Ok(Framed::Reliable { seq, content }) => match peer.inbox.order(seq) {
                    Order::Next => match self.hear_reliable(now, peer, content) {
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
                Ok(Framed::Unreliable(message)) => self.hear_unreliable(now, peer, &message),
                Err(unframed) => {
                    self.hear_unframed(now, peer, unframed)?;
                    break;
                }
            }
        }
        if asked {
            peer.stage = Stage::Joining { last_connect: now };
            self.answer(peer.addr, Answer::Join(peer.player));
        }
        self.counters.stale += u64::from(refused);
        self.counters.held_back += u64::from(held_back);
        // Behind a message that was held back everything is early.
        self.counters.sequence_gap += u64::from(gap && !held_back);
        Ok(())
    }

    fn hear_ack(&mut self, now: Instant, peer: &mut Peer, ack: u32) {
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
                if !peer.is_established() {
                    self.establish(now, peer);
                }
            }
        }
    }

    /// The client has shown that its address is its own: the others hear of it, and it of them.
    fn establish(&mut self, now: Instant, peer: &mut Peer) {
        let (player, name) = (peer.player, &*peer.name);
        self.tell_all(&Reliable::Join { player, name });
        let outbox = &mut peer.outbox;
        outbox.push(&Reliable::Join {
            player: PlayerId::SERVER,
            name: &self.name,
        });
        for other in self.established() {
            outbox.push(&Reliable::Join {
                player: other.player,
                name: &other.name,
            });
        }
        for entity in self.entities.iter() {
            let (entity, owner, kind) = (entity.id, entity.owner, entity.kind);
            outbox.push(&Reliable::Add {
                entity,
                owner,
                kind,
            });
        }
        for other in self.established() {
            if let Some(selection) = other.selection {
                outbox.push(&Reliable::Selection {
                    player: other.player,
                    selection,
                });
            }
        }
        let synced = outbox.push(&Reliable::Synced);
        self.events.push_back(ServerEvent::Joined {
            player,
            name: name.into(),
        });
        peer.stage = Stage::Established { synced };
        self.wake(now);
    }

    /// Decides about a reliable message that is the next in order.
    fn hear_reliable(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        content: Result<Reliable<'_>, BadText>,
    ) -> Outcome {
        // An address that is not proved may repeat its Connect, and nothing else.
        if !peer.is_established() {
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
        let lagging = lags(peer) || self.established().any(lags);
        if peer.broadcasts.take(now).is_none() && lagging {
            return Outcome::HeldBack;
        }
        self.repeat_to_all(peer, &message);
        Outcome::Taken
    }

    /// Passes on what a client said, to itself too, and tells the game.
    fn repeat_to_all(&mut self, peer: &mut Peer, message: &Reliable<'_>) {
        self.tell_all(message);
        peer.outbox.push(message);
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

    fn hear_unreliable(&mut self, now: Instant, peer: &mut Peer, message: &Unreliable<'_>) {
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
    fn hear_unframed(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        unframed: Unframed,
    ) -> Result<(), Departure> {
        if let Some(seq) = unframed.seq
            && peer.is_established()
            && peer.inbox.order(seq) == Order::Next
        {
            return self.punish(now, peer, Violation::UnknownMessage);
        }
        self.count_unframed(unframed);
        peer.refused += 1;
        Ok(())
    }

    fn count_unframed(&mut self, unframed: Unframed) {
        match unframed.error {
            DecodeError::Truncated { .. } => self.counters.truncated += 1,
            _ => self.counters.unknown_message += 1,
        }
    }

    /// Counts a violation in a message that was the next in order, which is thereby processed.
    fn punish(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        violation: Violation,
    ) -> Result<(), Departure> {
        peer.inbox.advance();
        violation.count(&mut self.counters);
        peer.refused += 1;
        peer.violations.take(now).ok_or(Departure::Violations)
    }

    /// Somebody who left may still acknowledge, or not have heard that its Disconnect arrived.
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
        if disconnects && !departed.repeats {
            departed.until = now + LEAVE_PERIOD;
            self.answer(addr, Answer::Leave);
        }
    }

    fn receive_from_stranger(&mut self, now: Instant, from: Addr, mut r: Reader<'_>) {
        while !r.is_empty() {
            match Framed::decode(&mut r) {
                Ok(Framed::Reliable {
                    seq,
                    content: Ok(Reliable::Connect { name }),
                }) => {
                    return self.welcome(now, from, seq, name);
                }
                Ok(Framed::Reliable {
                    content: Err(text), ..
                }) => {
                    return Violation::from(text).count(&mut self.counters);
                }
                Ok(_) => {}
                Err(unframed) => return self.count_unframed(unframed),
            }
        }
        self.counters.stranger += 1;
    }

    /// Gives a stranger a place, if there is one.
    fn welcome(&mut self, now: Instant, from: Addr, seq: u32, name: &str) {
        if self.closing {
            return;
        }
        if name.is_empty() {
            return Violation::BadName.count(&mut self.counters);
        }
        if seq == 1 {
            self.make_room(now);
        }
        let taken = self.places.iter().flatten().count();
        if taken >= usize::from(self.players_max) {
            self.counters.full += 1;
            return self.answer(from, Answer::Full { ack: seq });
        }
        if seq != 1 {
            self.counters.stranger += 1;
            return;
        }
        let Some(id) = self.player_ids.give() else {
            return;
        };
        let player = PlayerId(id);
        let mut peer = Box::new(Peer::new(now, from, player, name));
        peer.inbox.advance();
        peer.outbox.push(&Reliable::Join { player, name });
        if let Some(place) = self.places.get_mut(usize::from(id.index)) {
            *place = Some(peer);
        }
        self.wake(now);
        self.answer(from, Answer::Join(player));
    }

    /// Takes a place back from a client that did not acknowledge its Join and stopped asking, if
    /// there is no other.
    fn make_room(&mut self, now: Instant) {
        let joining = |peer: &Peer| match peer.stage {
            Stage::Joining { last_connect } => Some((last_connect, peer.player.0.index)),
            Stage::Established { .. } => None,
        };
        if self.places.iter().flatten().count() < usize::from(self.players_max) {
            return;
        }
        let oldest = self
            .places
            .iter()
            .flatten()
            .filter_map(|peer| joining(peer))
            .min();
        if let Some((last_connect, index)) = oldest
            && now.since(last_connect) >= JOIN_HOLD
        {
            self.counters.abandoned += 1;
            self.depart(now, index, Departure::TimedOut, Farewell::None);
        }
    }
}

/// Whether a message that was processed before is the Connect of a client that has not seen its Join.
fn asks_for_join(peer: &Peer, content: Result<Reliable<'_>, BadText>) -> bool {
    // A name shorter than the Join's would be a small question with a large answer, and the address
    // may be invented. For the same reason a packet full of Connects is one question.
    !peer.is_established()
        && matches!(content, Ok(Reliable::Connect { name }) if name.len() >= peer.name.len())
}

/// What a client reads before it is removed.
const VIOLATIONS_TEXT: &str = "You were removed: your client broke the protocol too often.";
