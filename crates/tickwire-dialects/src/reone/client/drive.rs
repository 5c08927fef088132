//! The client as a session: its stream opens and ends, time passes, and what there is to say goes out.

use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, StreamLoss, Transmit,
};

use super::connection::Connection;
use super::{Client, ClientEvent, EndReason, Phase};

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if self.connection.link.handle_opened(now, on) {
            self.greet();
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == self.connection.link.stream() {
            self.receive_stream(now, bytes);
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.connection.link.handle_room(path, room);
    }

    fn handle_closed(&mut self, now: Instant, path: Path, _why: Ended) {
        match self.connection.link.handle_closed(path) {
            Some(StreamLoss::Unreachable) => self.lose(now, EndReason::Unreachable),
            Some(StreamLoss::Closed) => self.lose(now, EndReason::ServerClosed),
            None => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.is_over() {
            return;
        }
        self.calls.handle_timeout(now);
        self.take_results();
        self.resolve_suspicion(now);
        self.handle_connection_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let Connection { link, outbox, .. } = &mut self.connection;
        if let Some(order) = link.poll_order() {
            return Some(order);
        }
        if matches!(self.phase, Phase::Ended(_)) {
            return None;
        }
        if let Some(written) = outbox.write_within(link.stream_room(), out) {
            return Some(link.sent_on_stream(now, written));
        }
        self.write_datagram(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let repeat = self.packets.repeat_at().filter(|_| self.is_initialised());
        [
            self.connection.deadline(self.phase),
            self.admission.ping_at(self.phase),
            self.admission.suspicion_at(),
            repeat,
            self.calls.poll_timeout(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // A client turns nobody away.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.disconnect();
    }

    fn is_finished(&self) -> bool {
        self.is_over() && self.connection.link.is_finished()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        let state = match self.phase {
            Phase::Connecting => "Connecting",
            Phase::Handshaking => "Handshaking",
            Phase::Loading => "Loading",
            Phase::Initialising => "Initialising",
            Phase::Ready => "Ready",
            Phase::Playing => "Playing",
            Phase::Reconnecting => "Reconnecting",
            Phase::Ended(_) => "Ended",
        };
        let mut stats = self.connection.link.stats(self.connection.name(), state);
        stats.resent = Some(self.packets.resent());
        stats.refused = self.counters.undecodable;
        stats.loss = self.loss.share();
        stats.updates = self.reception.updates;
        stats.interpolation = self.admission.pace().map(|pace| pace.lerp);
        stats.queued = Some(self.connection.outbox.waiting() as u64);
        visit(&stats);
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for Client {
    type Event = ClientEvent;

    fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }
}
