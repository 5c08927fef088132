//! A session that says what it is told to, to everybody that it has heard of.

use std::collections::BTreeSet;

use tickwire_session::{Addr, Idle, Instant, Session, Transmit, pass_on_session};

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
    fn handle_datagram(&mut self, _now: Instant, from: Addr, bytes: &[u8]) {
        self.heard += 1;
        let stamp = bytes
            .first_chunk()
            .map_or(0, |stamp| u64::from_be_bytes(*stamp));
        self.newest = self.newest.max(stamp);
        self.peers.insert(from);
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let to = self.due.pop()?;
        let end = out.len() + self.length;
        out.extend(self.stamp.to_be_bytes());
        out.resize(end, 7);
        Some(Transmit::Datagram { to })
    }

    pass_on_session!(self => Idle; handle_opened handle_stream handle_room handle_closed handle_timeout
        poll_timeout set_busy shut_down is_finished visit_peers visit_counters);
}
