//! A session that does what a test orders and remembers what it was told.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tickwire_session::{
    Addr, Ended, Idle, Instant, Path, Room, Session, StreamId, Transmit, pass_on_session,
};

#[derive(Debug, Default)]
pub(crate) struct Probe {
    pub(crate) orders: VecDeque<(Transmit, Vec<u8>)>,
    /// Streams opened, in order.
    pub(crate) opened: Vec<StreamId>,
    pub(crate) closed: Vec<(Path, Ended)>,
    pub(crate) datagrams: Vec<(Addr, Vec<u8>)>,
    /// What it spends on each datagram.
    pub(crate) labour: Duration,
    /// All bytes of each stream.
    pub(crate) heard: BTreeMap<StreamId, Vec<u8>>,
    /// What it was told of datagram paths.
    pub(crate) rooms: Vec<(Addr, Room)>,
    /// What may be sent on each stream, counted down.
    pub(crate) room: BTreeMap<StreamId, usize>,
    /// What [`Probe::pour`] has left to send.
    pouring: Option<(StreamId, VecDeque<u8>)>,
    pub(crate) poured: usize,
    /// It wants no bytes of streams.
    pub(crate) is_holding: bool,
    pub(crate) wake_at: Option<Instant>,
    pub(crate) woken: usize,
}

impl Probe {
    pub(crate) fn order(&mut self, transmit: Transmit) {
        self.orders.push_back((transmit, Vec::new()));
    }

    pub(crate) fn dial(&mut self, on: StreamId, to: Addr) {
        self.order(Transmit::Dial { on, to });
    }

    pub(crate) fn send(&mut self, on: StreamId, bytes: &[u8]) {
        self.orders
            .push_back((Transmit::Stream { on }, bytes.into()));
    }

    /// Sends everything, as there is room.
    pub(crate) fn pour(&mut self, on: StreamId, bytes: &[u8]) {
        self.pouring = Some((on, bytes.iter().copied().collect()));
    }

    pub(crate) fn heard_on(&self, on: StreamId) -> &[u8] {
        self.heard.get(&on).map_or(&[], Vec::as_slice)
    }
}

impl Session for Probe {
    fn handle_opened(&mut self, _now: Instant, on: StreamId, _peer: Addr) {
        self.opened.push(on);
    }

    fn handle_stream(&mut self, _now: Instant, on: StreamId, bytes: &[u8]) {
        assert!(self.opened.contains(&on), "{on:?} was not opened");
        self.heard.entry(on).or_default().extend_from_slice(bytes);
    }

    fn handle_datagram(&mut self, _now: Instant, from: Addr, bytes: &[u8]) {
        std::thread::sleep(self.labour);
        self.datagrams.push((from, bytes.into()));
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        match path {
            Path::Stream(on) => {
                assert!(self.opened.contains(&on), "{on:?} was not opened");
                self.room.insert(on, room.bytes as usize);
            }
            Path::Datagrams(addr) => self.rooms.push((addr, room)),
            Path::Link(link) => panic!("link {link} has no room of its own"),
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, why: Ended) {
        self.closed.push((path, why));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.wake_at.is_some_and(|moment| moment <= now) {
            self.wake_at = None;
            self.woken += 1;
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((transmit, bytes)) = self.orders.pop_front() {
            if let Transmit::Stream { on } = transmit {
                let room = self.room.entry(on).or_default();
                *room = room.saturating_sub(bytes.len());
            }
            out.extend(bytes);
            return Some(transmit);
        }
        let (on, waiting) = self.pouring.as_mut()?;
        let room = self.room.get_mut(on)?;
        let taken = waiting.len().min(*room);
        if taken == 0 {
            return None;
        }
        *room -= taken;
        self.poured += taken;
        out.extend(waiting.drain(..taken));
        Some(Transmit::Stream { on: *on })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.wake_at
    }

    fn is_reading(&self, _on: StreamId) -> bool {
        !self.is_holding
    }

    pass_on_session!(self => Idle; set_busy shut_down is_finished visit_peers visit_counters);
}
