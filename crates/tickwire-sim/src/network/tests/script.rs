//! A session that does what a test tells it and remembers what it was told.

use alloc::collections::VecDeque;

use super::*;
use tickwire_session::{Idle, Path, pass_on_session};

#[derive(Debug, Default)]
pub(super) struct Script {
    orders: VecDeque<(Transmit, Vec<u8>)>,
    pub(super) told: Vec<(Instant, Told)>,
    pub(super) wake: Option<Instant>,
    /// Asks for the same moment again after being woken.
    pub(super) insomniac: bool,
    /// Repeats its last order for ever.
    pub(super) endless: bool,
}

/// A `handle_*` call, without rooms of streams, which would bury the others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Told {
    Opened(StreamId, Addr),
    Bytes(StreamId, Vec<u8>),
    Datagram(Addr, Vec<u8>),
    Room(Addr, Room),
    Closed(StreamId, Ended),
    Woken,
}

impl Script {
    pub(super) fn order(&mut self, transmit: Transmit, bytes: &[u8]) {
        self.orders.push_back((transmit, bytes.into()));
    }

    pub(super) fn send(&mut self, to: Addr, bytes: &[u8]) {
        self.order(Transmit::Datagram { to }, bytes);
    }

    /// Dials with this number.
    pub(super) fn dial(&mut self, number: u32, to: Addr) -> StreamId {
        let on = StreamId::Dialled(number);
        self.order(Transmit::Dial { on, to }, b"");
        on
    }

    pub(super) fn write(&mut self, on: StreamId, bytes: &[u8]) {
        self.order(Transmit::Stream { on }, bytes);
    }

    /// What it was told since the last call, without the time.
    pub(super) fn take(&mut self) -> Vec<Told> {
        self.told.drain(..).map(|(_, told)| told).collect()
    }

    /// All bytes of a stream so far.
    pub(super) fn bytes(&self, on: StreamId) -> Vec<u8> {
        let pieces = self.told.iter().filter_map(|(_, told)| match told {
            Told::Bytes(stream, bytes) if *stream == on => Some(bytes),
            _ => None,
        });
        pieces.flatten().copied().collect()
    }

    fn tell(&mut self, now: Instant, told: Told) {
        self.told.push((now, told));
    }
}

impl Session for Script {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.tell(now, Told::Opened(on, peer));
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.tell(now, Told::Bytes(on, bytes.into()));
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.tell(now, Told::Datagram(from, bytes.into()));
    }

    fn handle_room(&mut self, now: Instant, path: Path, room: Room) {
        if let Path::Datagrams(addr) = path {
            self.tell(now, Told::Room(addr, room));
        }
    }

    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        if let Path::Stream(on) = path {
            self.tell(now, Told::Closed(on, why));
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.tell(now, Told::Woken);
        if !self.insomniac {
            self.wake = None;
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (transmit, bytes) = self.orders.pop_front()?;
        out.extend_from_slice(&bytes);
        if self.endless {
            self.orders.push_back((transmit, bytes));
        }
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.wake
    }

    pass_on_session!(self => Idle; set_busy shut_down is_finished visit_peers visit_counters);
}
