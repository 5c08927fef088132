//! The client as a session: its stream opens and ends, time passes, and what there is to say goes out.

use alloc::vec::Vec;

use tickwire_session::{
    Addr, Belief, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

use super::super::limits::{ATTACH_AGAIN, KEEP_ALIVE, NAME_MAX, STREAM_KEEP_ALIVE};
use super::super::message::{Join, encode};
use super::super::{ActionId, fifo};
use super::asset::{Asset, AssetFailure};
use super::{Client, ClientEvent, EndReason, Phase, STREAM};

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if on != STREAM || self.phase != Phase::Dialling {
            return;
        }
        self.last_heard = now;
        self.stream_sent = now;
        self.enter(now, Phase::Joining);
        let end = self.config.name.floor_char_boundary(NAME_MAX);
        let name = self.config.name.get(..end).unwrap_or_default();
        let data = encode(|w| Join { name }.encode(w));
        // Nothing was asked before, so it can be asked.
        self.actions
            .ask(now, ActionId::JOIN, Belief::Confirmed, data)
            .ok();
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == STREAM {
            self.receive_stream(now, bytes);
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        // Datagrams are smaller than what any path takes.
        if path == Path::Stream(STREAM) {
            self.stream.set_room(room);
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        // A refused datagram says nothing: the stream does.
        if path != Path::Stream(STREAM) || self.is_ended() {
            return;
        }
        self.end(match self.phase {
            Phase::Dialling => EndReason::Unreachable,
            Phase::Leaving => EndReason::Left,
            _ => EndReason::Disconnected,
        });
        // The stream has ended already.
        self.orders.clear();
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.is_ended() {
            return;
        }
        self.actions.handle_timeout(now);
        self.settle(now);
        if let Some(stalled) = self.fetch.as_ref().and_then(Asset::deadline)
            && now >= stalled
        {
            self.fail_fetch(AssetFailure::Stalled);
        }
        if self.phase == Phase::Playing && now >= self.datagram_heard + ATTACH_AGAIN {
            self.enter(now, Phase::Attaching);
            self.next_attach = now;
        }
        if !self.is_ended() && now >= self.deadline() {
            self.end(match self.phase {
                Phase::Dialling => EndReason::Unreachable,
                Phase::Leaving => EndReason::Left,
                _ => EndReason::TimedOut,
            });
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        if self.is_ended() {
            return None;
        }
        self.write_stream(now, out)
            .or_else(|| self.write_datagram(now, out))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.is_ended() {
            return None;
        }
        let datagrams = match self.phase {
            Phase::Attaching => Some(self.next_attach),
            Phase::Playing => {
                let idle = self.datagram_sent + KEEP_ALIVE;
                Some(idle.min(self.datagram_heard + ATTACH_AGAIN))
            }
            _ => None,
        };
        let stream = self
            .stream
            .has_room()
            .then(|| self.stream_sent + STREAM_KEEP_ALIVE);
        let stalled = self.fetch.as_ref().and_then(Asset::deadline);
        [datagrams, stream, stalled, self.actions.poll_timeout()]
            .into_iter()
            .flatten()
            .chain([self.deadline()])
            .min()
    }

    fn shut_down(&mut self, now: Instant) {
        self.leave(now);
    }

    fn is_finished(&self) -> bool {
        self.is_ended() && self.orders.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let state = match self.phase {
            Phase::Dialling => "Dialling",
            Phase::Joining => "Joining",
            Phase::Attaching => "Attaching",
            Phase::Playing => "Playing",
            Phase::Leaving => "Leaving",
            Phase::Ended(_) => "Ended",
        };
        let mut stats = PeerStats::new("", self.config.server, state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.refused = self.counters.undecodable + self.counters.bad_data;
        visit(&stats);
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Client {
    type Event = ClientEvent;

    fn poll_event(&mut self) -> Option<ClientEvent> {
        fifo::pop(&mut self.events)
    }
}
