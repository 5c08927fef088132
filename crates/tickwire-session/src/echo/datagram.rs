//! Echo over datagrams: answers what comes, remembers what it asked.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{DATAGRAMS_WAITING, EVENTS_WAITING, LARGEST};
use crate::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Traffic, Transmit,
    counters,
};

/// A peer that returns every datagram to its sender, unless it asked for it.
#[derive(Debug, Default)]
pub struct DatagramEcho {
    /// First byte of what waits: question or answer, so that an answer is not answered again.
    waiting: VecDeque<(Addr, Vec<u8>)>,
    events: VecDeque<Heard>,
    traffic: Traffic,
    peer: Option<Addr>,
    counters: Counters,
}

counters! {
    /// What an echo did not carry.
    struct Counters {
        /// Longer than [`LARGEST`] or without a kind.
        refused,
        /// Arrived while [`DATAGRAMS_WAITING`] others waited.
        overrun,
    }
}

/// An answer came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Heard {
    /// Who answered.
    pub from: Addr,
    /// What it answered: the bytes that were sent.
    pub bytes: Vec<u8>,
}

/// First byte of a datagram that wants an answer.
const QUESTION: u8 = b'?';
/// First byte of an answer.
const ANSWER: u8 = b'!';

impl DatagramEcho {
    /// Sends `bytes` and hopes to hear them again.
    pub fn send(&mut self, to: Addr, bytes: &[u8]) {
        self.queue(to, QUESTION, bytes);
    }

    fn queue(&mut self, to: Addr, kind: u8, bytes: &[u8]) {
        if bytes.len() >= LARGEST {
            self.counters.refused += 1;
        } else if self.waiting.len() == DATAGRAMS_WAITING {
            self.counters.overrun += 1;
        } else {
            let mut datagram = Vec::with_capacity(1 + bytes.len());
            datagram.push(kind);
            datagram.extend_from_slice(bytes);
            self.waiting.push_back((to, datagram));
        }
    }
}

impl Session for DatagramEcho {
    fn handle_datagram(&mut self, _now: Instant, from: Addr, bytes: &[u8]) {
        self.traffic.received(bytes.len());
        self.peer = Some(from);
        match bytes.split_first() {
            Some((&QUESTION, question)) => self.queue(from, ANSWER, question),
            Some((&ANSWER, answer)) => {
                if self.events.len() == EVENTS_WAITING {
                    self.events.pop_front();
                }
                self.events.push_back(Heard {
                    from,
                    bytes: answer.into(),
                });
            }
            _ => self.counters.refused += 1,
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (to, datagram) = self.waiting.pop_front()?;
        self.traffic.sent(datagram.len());
        out.extend_from_slice(&datagram);
        Some(Transmit::Datagram { to })
    }

    // It has no deadline, no streams, and needs less room than every path has.
    fn handle_timeout(&mut self, _now: Instant) {}
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}
    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}
    fn handle_closed(&mut self, _now: Instant, _path: Path, _why: Ended) {}

    // Nobody has to be told: what waits goes out, and that is all.
    fn set_busy(&mut self, _is_busy: bool) {}
    fn shut_down(&mut self, _now: Instant) {}
    fn is_finished(&self) -> bool {
        self.waiting.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        if let Some(addr) = self.peer {
            visit(&PeerStats {
                traffic: self.traffic,
                ..PeerStats::new("", addr, "Open")
            });
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for DatagramEcho {
    type Event = Heard;

    fn poll_event(&mut self) -> Option<Heard> {
        self.events.pop_front()
    }
}
