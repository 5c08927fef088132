//! The server as a session: paths open and close, time passes, and whoever has something to send takes
//! turns.

use alloc::vec::Vec;

use tickwire_session::{
    Addr, Due, Ended, Events, Instant, Opened, Path, PeerId, PeerStats, Room, Session, StreamId,
    Transmit,
};

use super::connection::{Connection, Talk};
use super::datagrams::write_invalid;
use super::event::Departure;
use super::turn::Turn;
use super::{Server, ServerEvent, client_id};
use crate::reone::message::Refusal;

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        let Opened { peer: id, evicted } = self.peers.open(now, on, peer, Connection::new());
        self.counters.crowded_out += u64::from(evicted.is_some());
        if self.closing {
            self.refuse(now, id, Refusal::SHUTDOWN);
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.peers.handle_room(path, room);
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        if let Some((id, peer)) = self.peers.handle_closed(path) {
            self.note_gone(id, peer.state.talk, Departure::Disconnected);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(due) = self.peers.pop_due(now) {
            match due {
                Due::Proof(id) => {
                    self.counters.no_hello += 1;
                    self.refuse(now, id, Refusal::HELLO);
                }
                Due::Deadline(id) => self.handle_deadline(now, id),
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((to, why)) = self.strangers.pop_front() {
            write_invalid(out, self.table.world.tick(), why);
            return Some(Transmit::Datagram { to });
        }
        let mut turn = Turn {
            now,
            module: &self.module,
            pace: self.pace,
            table: &mut self.table,
            staged: &mut self.staged,
            scratch: &mut self.scratch,
            counters: &mut self.counters,
            rearmed: None,
        };
        let transmit = self
            .peers
            .poll_transmit(out, |id, peer, out| turn.write(id, peer, out));
        if let Some(id) = turn.rearmed {
            self.reset_deadline(now, id);
        }
        transmit
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.peers.next_due()
    }

    fn set_busy(&mut self, is_busy: bool) {
        self.peers.set_busy(is_busy);
    }

    fn shut_down(&mut self, now: Instant) {
        self.closing = true;
        let everybody: Vec<_> = self.peers.iter().map(|(id, _)| id).collect();
        for id in everybody {
            self.refuse(now, id, Refusal::SHUTDOWN);
        }
    }

    fn is_finished(&self) -> bool {
        self.peers.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (_, peer) in self.peers.iter() {
            let mut stats = match &peer.state.talk {
                Talk::Greeting => peer.link.stats("", "Greeting"),
                Talk::Client(client) => client.stats(&peer.link),
                Talk::Over => peer.link.stats("", "Closing"),
            };
            stats.queued = Some(peer.state.waiting() as u64);
            visit(&stats);
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Server {
    /// A client's time has come.
    fn handle_deadline(&mut self, now: Instant, id: PeerId) {
        let Some(client) = self.peer_client(id) else {
            return;
        };
        if client.is_stuck(now) {
            self.counters.loading_stuck += 1;
            self.refuse(now, id, Refusal::TOO_SLOW);
            return;
        }
        if client.is_silent(now) {
            client.remove(now);
            let client = client_id(id);
            self.events.push_back(ServerEvent::Removed { client });
        }
        self.peers.mark_ready(id);
        self.reset_deadline(now, id);
    }
}

impl Events for Server {
    type Event = ServerEvent;

    fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }
}
