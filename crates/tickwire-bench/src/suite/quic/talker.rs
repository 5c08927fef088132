//! A session that says what it is told to, to everybody that it has heard of.

use std::collections::BTreeSet;

use tickwire_session::{Addr, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};

#[derive(Debug, Default)]
pub(super) struct Talker {
    peers: BTreeSet<Addr>,
    /// Who is still to be told, and how many bytes.
    due: Vec<Addr>,
    length: usize,
    /// Datagrams that came.
    pub(super) heard: u64,
    /// What each that is said begins with, and what the newest that was heard began with.
    pub(super) stamp: u64,
    pub(super) newest: u64,
}

impl Talker {
    /// One that knows one peer.
    pub(super) fn to(peer: Addr) -> Self {
        Self {
            peers: BTreeSet::from([peer]),
            ..Self::default()
        }
    }

    pub(super) fn peers(&self) -> usize {
        self.peers.len()
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &Addr> {
        self.peers.iter()
    }

    /// Sends so many bytes to every peer.
    pub(super) fn say(&mut self, length: usize) {
        self.length = length;
        self.due = self.peers.iter().copied().collect();
    }
}

impl Session for Talker {
    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}

    fn handle_datagram(&mut self, _now: Instant, from: Addr, bytes: &[u8]) {
        self.heard += 1;
        let stamp = bytes
            .first_chunk()
            .map_or(0, |stamp| u64::from_be_bytes(*stamp));
        self.newest = self.newest.max(stamp);
        self.peers.insert(from);
    }

    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}
    fn handle_closed(&mut self, _now: Instant, _path: Path, _why: Ended) {}
    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let to = self.due.pop()?;
        let end = out.len() + self.length;
        out.extend(self.stamp.to_be_bytes());
        out.resize(end, 7);
        Some(Transmit::Datagram { to })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn set_busy(&mut self, _is_busy: bool) {}
    fn shut_down(&mut self, _now: Instant) {}

    fn is_finished(&self) -> bool {
        false
    }

    fn visit_peers(&self, _visit: &mut dyn FnMut(&PeerStats<'_>)) {}
    fn visit_counters(&self, _visit: &mut dyn FnMut(&'static str, u64)) {}
}
