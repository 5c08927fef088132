//! The server as a session: paths open and close, time passes, and whoever has something to send takes
//! turns.

use alloc::vec::Vec;

use tickwire_session::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

use super::connection::{Connection, Talk};
use super::datagrams::{is_wide_enough, write_invalid};
use super::event::Departure;
use super::limits::{CONNECTIONS_SPARE, HELLO_PATIENCE, PARAMETERS_PERIOD};
use super::peer::Stage;
use super::{Server, ServerEvent};
use crate::reone::ClientId;
use crate::reone::message::{Parameters, Refusal};

impl Session for Server {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        let others = self.connections.len().saturating_sub(self.peers.len());
        // There must be room to say no to a few; beyond that they are cut off without a word.
        if others >= 2 * CONNECTIONS_SPARE {
            self.counters.full += 1;
            self.aborts.push_back(on);
            return;
        }
        let until = now + HELLO_PATIENCE;
        let connection = Connection::new(peer, Talk::Greeting { until });
        self.connections.insert(on, connection);
        if self.closing {
            self.refuse_stream(now, on, Refusal::SHUTDOWN);
        } else if others >= CONNECTIONS_SPARE {
            self.counters.full += 1;
            self.refuse_stream(now, on, Refusal::FULL);
        }
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.receive_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.receive_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        match path {
            Path::Stream(on) => {
                if let Some(connection) = self.connections.get_mut(&on) {
                    connection.set_room(room);
                    self.wake_stream(on);
                }
            }
            Path::Datagrams(addr) => {
                self.rooms.set(addr, room);
                let client = self.attachments.peer_at(addr);
                if let Some(peer) = client.and_then(|client| self.peers.get_mut(&client)) {
                    peer.set_largest(room.largest);
                }
            }
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, _why: Ended) {
        match path {
            Path::Stream(on) => {
                if let Some(connection) = self.connections.remove(&on)
                    && let Talk::Client(client) = connection.stage
                {
                    self.forget(client, Departure::Disconnected);
                }
            }
            // Nobody's datagrams end a session: an address may come back.
            Path::Datagrams(addr) => self.rooms.remove(addr),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let late = |(on, connection): (&StreamId, &Connection)| {
            connection
                .deadline()
                .is_some_and(|at| now >= at)
                .then_some(*on)
        };
        let late: Vec<_> = self.connections.iter().filter_map(late).collect();
        for on in late {
            let stage = self.connections.get(&on).map(|connection| connection.stage);
            if let Some(Talk::Greeting { .. }) = stage {
                self.counters.no_hello += 1;
                self.refuse_stream(now, on, Refusal::HELLO);
            } else {
                self.cut(on);
            }
        }
        self.remove_silent(now);
        for (client, peer) in &mut self.peers {
            let is_due = peer.parameters_at.is_some_and(|at| now >= at);
            if is_due && !core::mem::replace(&mut peer.is_queued, true) {
                self.waking.push_back(*client);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(on) = self.aborts.pop_front() {
            return Some(Transmit::Abort { on });
        }
        if let Some((to, why)) = self.strangers.pop_front() {
            write_invalid(out, self.table.world.tick(), why);
            return Some(Transmit::Datagram { to });
        }
        while let Some(&on) = self.waking_streams.front() {
            if let Some(transmit) = self.poll_stream(on, out) {
                return Some(transmit);
            }
            self.waking_streams.pop_front();
            if let Some(connection) = self.connections.get_mut(&on) {
                connection.is_queued = false;
            }
        }
        loop {
            if let Some(transmit) = self.poll_staged(out) {
                return Some(transmit);
            }
            let client = self.waking.pop_front()?;
            self.stage(now, client);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let streams = self.connections.values().filter_map(Connection::deadline);
        let peers = self.peers.values();
        let peers = peers.flat_map(|peer| [peer.removed_at(), peer.parameters_at]);
        streams.chain(peers.flatten()).min()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for peer in self.peers.values() {
            visit(&peer.stats());
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Server {
    /// The client has something to be sent by datagram.
    pub(super) fn wake(&mut self, client: ClientId) {
        if let Some(peer) = self.peers.get_mut(&client)
            && !core::mem::replace(&mut peer.is_queued, true)
        {
            self.waking.push_back(client);
        }
    }

    /// The stream has something to write, or room for it.
    pub(super) fn wake_stream(&mut self, on: StreamId) {
        if let Some(connection) = self.connections.get_mut(&on)
            && !core::mem::replace(&mut connection.is_queued, true)
        {
            self.waking_streams.push_back(on);
        }
    }

    /// Takes the players out of the game of whom nothing was heard for too long.
    pub(super) fn remove_silent(&mut self, now: Instant) {
        for (&client, peer) in &mut self.peers {
            if peer.removed_at().is_some_and(|at| now >= at) {
                peer.halt();
                peer.stage = Stage::Removed;
                self.events.push_back(ServerEvent::Removed { client });
            }
        }
    }

    fn poll_stream(&mut self, on: StreamId, out: &mut Vec<u8>) -> Option<Transmit> {
        let connection = self.connections.get_mut(&on)?;
        if let Some(written) = connection.write(&self.module.shelf, out) {
            if let Talk::Client(client) = connection.stage
                && let Some(peer) = self.peers.get_mut(&client)
            {
                peer.traffic.sent(written);
            }
            return Some(Transmit::Stream { on });
        }
        let is_over = connection.is_closing() && connection.is_drained();
        if is_over {
            self.connections.remove(&on);
            return Some(Transmit::Finish { on });
        }
        None
    }

    fn poll_staged(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let to = self.staged.take(out)?;
        if let Some(peer) = self.peers.get_mut(&self.staged_for) {
            peer.traffic.sent(out.len() - before);
        }
        Some(Transmit::Datagram { to })
    }

    /// Writes everything that a client is to be sent by datagram now.
    fn stage(&mut self, now: Instant, client: ClientId) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        peer.is_queued = false;
        let Some(to) = peer.addr else {
            return;
        };
        self.staged.begin(to);
        self.staged_for = client;
        let tick = self.table.world.tick();
        if peer.parameters_at.is_some_and(|at| now >= at) {
            let is_repeated = peer.stage == Stage::Initialising || peer.is_doubted();
            peer.parameters_at = is_repeated.then_some(now + PARAMETERS_PERIOD);
            let (role, own) = peer.seat.role();
            let parameters = Parameters {
                tick_rate: self.tick_rate,
                lerp_ms: self.lerp_ms,
                role,
                own,
                module: self.module.number,
                compression: self.table.rules.compression,
            };
            self.staged.write_parameters(tick, parameters);
        }
        if peer.stage != Stage::Playing {
            return;
        }
        let is_due = core::mem::take(&mut peer.is_due);
        if !is_wide_enough(peer.largest) {
            self.counters.path_too_narrow += u64::from(is_due);
            return;
        }
        let range = self.table.rules.sight;
        self.staged
            .write_commands(tick, peer, &self.table.commands, range);
        if is_due {
            self.staged.write_snapshot(
                now,
                peer,
                &mut self.table,
                &mut self.desk,
                &mut self.counters,
            );
        }
    }
}

impl Events for Server {
    type Event = ServerEvent;

    fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }
}
