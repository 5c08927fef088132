//! How a stranger becomes a player.
//!
//! In: packets from addresses that are nobody's, and from clients that have not proved that theirs
//! receives. Out: at most one answer to each packet. Anybody can write somebody else's address into a
//! datagram, so nothing is sent to it unasked, and nobody else hears of it, before a message names the
//! player id that was sent there.

use alloc::boxed::Box;
use core::cmp::Reverse;

use tickwire_session::{Addr, Instant};

use super::violation::Violation;
use super::{Answer, Departure, Farewell, Peer, Server, ServerEvent, Stage};
use crate::lwar::limits::{JOIN_HOLD, UNPROVED_ANSWERS};
use crate::lwar::message::{BadText, Framed, Reliable, Unreliable};
use crate::lwar::{PlayerId, Reader};

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
        if self.is_busy {
            // lwar has no other word for it, and its client says "try again later".
            self.counters.busy += 1;
            return self.answer(from, Answer::Full { ack: seq });
        }
        if seq == 1 && self.is_full() {
            self.make_room(now, from);
        }
        if self.is_full() {
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
        let player = PlayerId(self.generations.permute(id));
        let mut peer = Box::new(Peer::new(now, from, player, name));
        peer.inbox.advance();
        peer.tell(&Reliable::Join { player, name });
        if let Some(place) = self.places.get_mut(usize::from(id.index)) {
            *place = Some(peer);
        }
        self.wake(now);
        self.answer(from, Answer::Sync(player));
    }

    fn is_full(&self) -> bool {
        self.places.iter().flatten().count() >= usize::from(self.players_max)
    }

    /// Takes a place back from a client that has proved nothing: the oldest of the host that has the
    /// most of them, so that one host cannot keep the others out.
    fn make_room(&mut self, now: Instant, newcomer: Addr) {
        let unproved = || {
            self.places
                .iter()
                .flatten()
                .filter(|peer| !peer.is_proved())
        };
        let crowd = |peer: &Peer| {
            unproved()
                .filter(|other| other.addr.host == peer.addr.host)
                .count()
        };
        // Forged Connects name a host each. Against those, whoever is answering keeps its place.
        let may_go = |peer: &Peer| {
            (peer.addr.host != newcomer.host && crowd(peer) > 1)
                || now.since(peer.last_heard) >= JOIN_HOLD
        };
        let goes = unproved()
            .filter(|peer| may_go(peer))
            .max_by_key(|peer| (crowd(peer), Reverse(peer.since)))
            .map(|peer| peer.player.0.index);
        if let Some(index) = goes {
            self.counters.unproved += 1;
            self.depart(now, index, Departure::TimedOut, Farewell::None);
        }
    }

    /// Queues all that there is for a client that has acknowledged its Join.
    pub(super) fn begin_sync(&self, peer: &mut Peer) {
        peer.stage = Stage::Proving {
            answers_left: UNPROVED_ANSWERS,
        };
        peer.tell(&Reliable::Join {
            player: PlayerId::SERVER,
            name: &self.name,
        });
        for other in self.proved() {
            peer.tell(&Reliable::Join {
                player: other.player,
                name: &other.name,
            });
        }
        for entity in self.entities.iter() {
            let (entity, owner, kind) = (entity.id, entity.owner, entity.kind);
            peer.tell(&Reliable::Add {
                entity,
                owner,
                kind,
            });
        }
        for other in self.proved() {
            if let Some(selection) = other.selection {
                peer.tell(&Reliable::Selection {
                    player: other.player,
                    selection,
                });
            }
        }
        peer.end_sync();
    }

    /// Answers a packet of a client that has not proved that its address receives.
    pub(super) fn answer_unproved(&mut self, peer: &mut Peer, asks_for_join: bool) {
        if peer.outbox.is_empty() {
            return;
        }
        match &mut peer.stage {
            Stage::Joining if asks_for_join => {}
            Stage::Proving { answers_left } if *answers_left > 0 => *answers_left -= 1,
            _ => return,
        }
        self.answer(peer.addr, Answer::Sync(peer.player));
    }

    /// The client has named the id that it was sent: its address is its own, and it joins the others.
    pub(super) fn prove(&mut self, now: Instant, peer: &mut Peer) {
        peer.stage = Stage::Proved;
        let (player, name) = (peer.player, &*peer.name);
        self.tell_all(&Reliable::Join { player, name });
        self.events.push_back(ServerEvent::Joined {
            player,
            name: name.into(),
        });
        self.wake(now);
    }
}

/// Whether a message that was processed before is the Connect of a client that has not seen its Join.
pub(super) fn asks_for_join(peer: &Peer, content: Result<Reliable<'_>, BadText>) -> bool {
    // A name shorter than the Join's would be a small question with a large answer.
    matches!(content, Ok(Reliable::Connect { name }) if name.len() >= peer.name.len())
}

/// The player as whom a message speaks.
pub(super) const fn speaker(message: &Framed<'_>) -> Option<PlayerId> {
    match message {
        Framed::Reliable {
            content:
                Ok(
                    Reliable::Chat { player, .. }
                    | Reliable::Name { player, .. }
                    | Reliable::Selection { player, .. },
                ),
            ..
        } => Some(*player),
        Framed::Unreliable(Unreliable::Input(input)) => Some(input.player),
        _ => None,
    }
}
