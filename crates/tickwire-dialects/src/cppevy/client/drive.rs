//! The client as a session: its stream opens and ends, time passes, and what there is to say goes out.

use alloc::vec::Vec;

use tickwire_session::{
    Addr, Belief, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, StreamLoss,
    Transmit,
};

use super::asset::{Asset, AssetFailure};
use super::{Client, ClientEvent, EndReason, Phase};
use crate::cppevy::limits::{ATTACH_AGAIN, KEEP_ALIVE, NAME_MAX, STREAM_KEEP_ALIVE};
use crate::cppevy::message::{Join, encode};
use crate::cppevy::outgoing::takes_payloads;
use crate::cppevy::{ActionId, fifo};

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if !self.uplink.handle_opened(now, on) {
            return;
        }
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
        if on == self.uplink.stream() {
            self.receive_stream(now, bytes);
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.uplink.handle_room(path, room);
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Some(loss) = self.uplink.handle_closed(path) {
            self.end(match (loss, self.phase) {
                (StreamLoss::Unreachable, _) => EndReason::Unreachable,
                (StreamLoss::Closed, Phase::Leaving) => EndReason::Left,
                (StreamLoss::Closed, _) => EndReason::Disconnected,
            });
        }
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
        if self.phase == Phase::Playing && !self.uplink.hears_datagrams(now, ATTACH_AGAIN) {
            self.enter(now, Phase::Attaching);
            self.uplink.set_attach_at(now);
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
        if let Some(order) = self.uplink.poll_order() {
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
        let (datagrams, silence) = match self.phase {
            Phase::Attaching => (self.uplink.attach_at(), None),
            Phase::Playing => {
                let idle = self.uplink.datagram_sent() + KEEP_ALIVE;
                let heard = self.uplink.datagram_heard();
                (Some(idle), heard.map(|heard| heard + ATTACH_AGAIN))
            }
            _ => (None, None),
        };
        // On a path that takes no datagrams nothing is due.
        let datagrams = datagrams.filter(|_| takes_payloads(self.uplink.datagram_room()));
        let stream =
            (self.uplink.stream_room() > 0).then(|| self.uplink.stream_sent() + STREAM_KEEP_ALIVE);
        let stalled = self.fetch.as_ref().and_then(Asset::deadline);
        [
            datagrams,
            silence,
            stream,
            stalled,
            self.actions.poll_timeout(),
        ]
        .into_iter()
        .flatten()
        .chain([self.deadline()])
        .min()
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // A client turns nobody away.
    }

    fn shut_down(&mut self, now: Instant) {
        self.leave(now);
    }

    fn is_finished(&self) -> bool {
        self.uplink.is_finished()
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
        let mut stats = self.uplink.stats("", state);
        stats.refused = self.counters.undecodable + self.counters.bad_data;
        stats.queued = Some(self.stream.waiting() as u64);
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
