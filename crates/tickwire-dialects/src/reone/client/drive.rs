//! The client as a session: its stream opens and ends, time passes, and what there is to say goes out.

use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

use super::{Client, ClientEvent, EndReason, Phase};

impl Session for Client {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if on == self.connection.stream() && self.phase == Phase::Connecting {
            self.connection.hear(now);
            self.round_trip.add_sample(self.connection.advance(now));
            self.greet();
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == self.connection.stream() {
            self.receive_stream(now, bytes);
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if path == Path::Stream(self.connection.stream()) {
            self.connection.outbox.set_room(room);
        } else if path == Path::Datagrams(self.connection.server()) {
            self.uplink.set_room(room);
        }
    }

    fn handle_closed(&mut self, now: Instant, path: Path, _why: Ended) {
        // Datagrams may be refused while the server restarts its socket; the stream tells.
        if path == Path::Stream(self.connection.stream()) {
            self.lose(
                now,
                match self.phase {
                    Phase::Connecting => EndReason::Unreachable,
                    _ => EndReason::ServerClosed,
                },
            );
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
        if let Some(order) = self.connection.poll_order() {
            return Some(order);
        }
        if self.is_over() {
            return None;
        }
        if let Some(written) = self.connection.outbox.write(out) {
            self.traffic.sent(written);
            let on = self.connection.stream();
            return Some(Transmit::Stream { on });
        }
        self.write_datagram(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        let repeat = self.uplink.repeat_at().filter(|_| self.is_initialised());
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
        let mut stats = PeerStats::new(self.connection.name(), self.connection.server(), state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.resent = self.uplink.resent();
        stats.refused = self.counters.undecodable;
        stats.loss = self.loss.share();
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
