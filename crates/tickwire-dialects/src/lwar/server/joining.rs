//! How a stranger becomes a client.
//!
//! In: packets from addresses that are nobody's, and from clients that have not acknowledged their
//! Join. Out: at most one answer to each, little longer than its question, and for whoever
//! acknowledges its Join all that there is. Until then the address may be invented: nobody else hears of
//! it, and its place is only lent.

use alloc::boxed::Box;

use tickwire_session::{Addr, Instant};

use super::super::limits::JOIN_HOLD;
use super::super::message::{BadText, Framed, Reliable};
use super::super::{PlayerId, Reader};
use super::violation::Violation;
use super::{Answer, Departure, Farewell, Peer, Server, ServerEvent, Stage};

impl Server {
    /// Looks for a Connect, the only thing that a stranger may say.
    pub(super) fn receive_from_stranger(&mut self, now: Instant, from: Addr, mut r: Reader<'_>) {
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

    /// Repeats its Join to a client that has not seen it.
    pub(super) fn welcome_again(&mut self, now: Instant, peer: &mut Peer) {
        peer.stage = Stage::Joining { last_connect: now };
        self.answer(peer.addr, Answer::Join(peer.player));
    }

    /// The client has shown that its address is its own: the others hear of it, and it of them.
    pub(super) fn establish(&mut self, now: Instant, peer: &mut Peer) {
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
}

/// Whether a message that was processed before is the Connect of a client that has not seen its Join.
pub(super) fn asks_for_join(peer: &Peer, content: Result<Reliable<'_>, BadText>) -> bool {
    // A name shorter than the Join's would be a small question with a large answer, and the address
    // may be invented. For the same reason a packet full of Connects is one question.
    !peer.is_established()
        && matches!(content, Ok(Reliable::Connect { name }) if name.len() >= peer.name.len())
}
