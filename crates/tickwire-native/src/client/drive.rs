//! The client as a session: its stream opens and ends, time passes.

use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{
    ATTACH_PERIOD, Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

use super::{Client, ClientEvent, Phase};
use crate::game::Game;
use crate::limits::{FAREWELL, SILENCE, VERSION};
use crate::message::{FrameReader, Hello, Resume, Up};
use crate::reason::EndReason;

/// How often the token is shown to a server that is heard by datagram: routers forget addresses.
const ATTACH_AGAIN: Duration = Duration::from_secs(5);

/// How long after the last datagram of the server they count as lost altogether.
const DATAGRAMS_GONE: Duration = Duration::from_secs(2);

impl<G: Game> Client<G> {
    /// When the token is to be shown after this moment.
    pub(super) fn next_attach(&self, now: Instant) -> Instant {
        now + match self.uplink.hears_datagrams(now, DATAGRAMS_GONE) {
            true => ATTACH_AGAIN,
            false => ATTACH_PERIOD,
        }
    }

    /// The connection is gone. If there is a ticket, another is made.
    fn lose(&mut self, now: Instant, why: EndReason) {
        let may_resume = self.ticket.is_some() && self.phase != Phase::Leaving;
        if !may_resume {
            let why = match self.phase {
                Phase::Leaving => EndReason::Left,
                _ => why,
            };
            self.end(why, "");
            return;
        }
        let was_playing = self.phase == Phase::Playing;
        if self.uplink.lose(now, was_playing).is_none() {
            self.end(why, "");
            return;
        }
        // At once, the first time.
        self.uplink.redial_if_due(now);
        if was_playing {
            self.phase = Phase::Interrupted;
            self.events.push_back(ClientEvent::Interrupted);
        }
        self.outbox.disconnect();
        self.download.disconnect();
    }

    fn deadline(&self) -> Option<Instant> {
        let patience = match self.phase {
            Phase::Leaving => FAREWELL,
            _ => SILENCE,
        };
        self.uplink.deadline(patience)
    }
}

impl<G: Game> Session for Client<G> {
    fn handle_opened(&mut self, now: Instant, on: StreamId, _peer: Addr) {
        if !self.uplink.handle_opened(now, on) {
            return;
        }
        self.frames = FrameReader::default();
        let received = self.counted.received();
        let hello = Up::Hello(Hello {
            version: VERSION,
            schema: crate::game::agreement::<G>(&self.schema),
            role: self.config.role,
            name: self.name(),
            resume: self.ticket.map(|ticket| Resume { ticket, received }),
        });
        let mut frame = Vec::new();
        hello.encode(&mut frame);
        // What was said so far follows when the server knows whom it talks to.
        self.outbox.disconnect();
        self.outbox.push(|out| out.extend(frame)).ok();
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        if on == self.uplink.stream() && self.uplink.is_open() {
            self.receive_stream(now, bytes);
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.uplink.handle_room(path, room);
    }

    fn handle_closed(&mut self, now: Instant, path: Path, _why: Ended) {
        if let Some(loss) = self.uplink.handle_closed(path) {
            self.lose(
                now,
                match loss {
                    tickwire_session::StreamLoss::Unreachable => EndReason::Unreachable,
                    tickwire_session::StreamLoss::Closed => EndReason::Disconnected,
                },
            );
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Ended(_)) {
            return;
        }
        self.calls.handle_timeout(now);
        self.settle();
        self.advance_inputs(now);
        if self.uplink.redial_if_due(now) {
            return;
        }
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.lose(now, EndReason::TimedOut);
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.uplink.poll_order() {
            return Some(order);
        }
        if matches!(self.phase, Phase::Ended(_)) {
            return None;
        }
        self.write_stream(now, out)
            .or_else(|| self.write_datagram(now, out))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if matches!(self.phase, Phase::Ended(_)) {
            return None;
        }
        let playing = self
            .joined
            .as_ref()
            .filter(|_| self.phase == Phase::Playing);
        let input = playing.map(|joined| joined.next_input(self.ticked));
        let attach = playing.and_then(|_| self.uplink.attach_at());
        let attach = attach.filter(|_| self.takes_datagrams());
        let idle = playing.map(|_| self.next_keep_alive());
        [
            input,
            attach,
            idle,
            self.calls.poll_timeout(),
            self.deadline(),
        ]
        .into_iter()
        .flatten()
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
            Phase::Connecting => "Connecting",
            Phase::Playing => "Playing",
            Phase::Interrupted => "Interrupted",
            Phase::Leaving => "Leaving",
            Phase::Ended(_) => "Ended",
        };
        let mut stats = self.uplink.stats("", state);
        stats.refused = self.counters.undecodable + self.counters.bad_message;
        stats.queued = Some(self.outbox.waiting() as u64);
        stats.resent = Some(self.outbox.resent());
        if let Some(joined) = &self.joined {
            stats.updates = joined.updates;
            stats.loss = joined.loss.share();
            stats.interpolation = joined.delay();
            stats.prediction_error = joined.predicts().then(|| joined.figures().last_error);
        }
        visit(&stats);
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl<G: Game> Events for Client<G> {
    type Event = ClientEvent<G>;

    fn poll_event(&mut self) -> Option<ClientEvent<G>> {
        self.events.pop_front()
    }
}
