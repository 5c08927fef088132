//! What is said at once, outside of the regular packets.
//!
//! In: whom to answer, and what. Out: packets of one answer each, before all others. Whoever is answered
//! may be nobody's client, so what waits is bounded, and nothing but what came is answered.

use alloc::vec::Vec;

use tickwire_session::{Addr, Instant, Transmit};

use super::Server;
use crate::lwar::PlayerId;
use crate::lwar::limits::ANSWERS_WAITING;
use crate::lwar::message::Unreliable;
use crate::lwar::packet::Header;

/// What somebody is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// The Join of a client that has not acknowledged it, or a packet of its synchronisation.
    Sync(PlayerId),
    Full {
        ack: u32,
    },
    Leave,
}

impl Server {
    /// Queues an answer, unless too many wait.
    pub(super) fn answer(&mut self, to: Addr, answer: Answer) {
        if self.answers.len() == ANSWERS_WAITING {
            self.counters.overrun += 1;
        } else {
            self.answers.push_back((to, answer));
        }
    }

    /// Writes the next answer that still has somebody to go to.
    pub(super) fn write_next_answer(
        &mut self,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        while let Some((to, answer)) = self.answers.pop_front() {
            if let Some(transmit) = self.write_answer(now, to, answer, out) {
                return Some(transmit);
            }
        }
        None
    }

    /// Writes a packet that holds one answer. An answer to somebody who is gone is left out.
    fn write_answer(
        &mut self,
        now: Instant,
        to: Addr,
        answer: Answer,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let timestamp = self.timestamp(now);
        match answer {
            Answer::Full { ack } => {
                Unreliable::Full.encode(&mut Header { ack, timestamp: 0 }.begin(out));
            }
            Answer::Sync(player) => {
                let place = self.places.get_mut(usize::from(player.0.index))?;
                let peer = place.as_deref_mut().filter(|peer| peer.player == player)?;
                peer.write_answer(now, timestamp, out);
            }
            Answer::Leave => {
                let departed = self
                    .departed
                    .iter_mut()
                    .find(|departed| departed.addr == to && !departed.is_told())?;
                departed.write_packet(now, timestamp, out);
            }
        }
        Some(Transmit::Datagram { to })
    }
}
