//! Echo over streams: returns every byte, in order, as fast as the peer takes them.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::{BYTES_WAITING, EVENTS_WAITING};
use crate::{
    Addr, Ended, Events, Instant, Path, PeerStats, Room, Session, StreamId, Traffic, Transmit,
    counters,
};

/// A peer that returns what arrives on streams it accepted, and listens on those it dialled.
#[derive(Debug, Default)]
pub struct StreamEcho {
    streams: BTreeMap<StreamId, Open>,
    orders: VecDeque<Transmit>,
    dialled: u32,
    /// Every stream is being finished, and no new one is taken.
    closing: bool,
    events: VecDeque<StreamHeard>,
    counters: Counters,
}

#[derive(Debug)]
struct Open {
    peer: Addr,
    room: u32,
    waiting: VecDeque<u8>,
    /// Nothing more will be added to `waiting`; when it is empty the stream is finished.
    finishing: bool,
    traffic: Traffic,
}

counters! {
    /// Why streams were cut.
    struct Counters {
        /// Sent more than [`BYTES_WAITING`] without reading the answers.
        never_read,
    }
}

/// What happened on a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StreamHeard {
    /// It can be used.
    Opened(StreamId),
    /// Bytes came on a stream that this side dialled: echoes.
    Bytes(StreamId, Vec<u8>),
    /// It ended.
    Closed(StreamId, Ended),
}

impl StreamEcho {
    /// Opens a stream.
    pub fn dial(&mut self, to: Addr) -> StreamId {
        let on = StreamId::Dialled(self.dialled);
        self.dialled += 1;
        self.streams.insert(on, Open::new(to));
        self.orders.push_back(Transmit::Dial { on, to });
        on
    }

    /// Sends on a stream that this side dialled.
    pub fn send(&mut self, on: StreamId, bytes: &[u8]) {
        self.queue(on, bytes);
    }

    /// Ends a stream once everything given to [`send`](Self::send) went out.
    pub fn finish(&mut self, on: StreamId) {
        if let Some(stream) = self.streams.get_mut(&on) {
            stream.finishing = true;
        }
    }

    fn queue(&mut self, on: StreamId, bytes: &[u8]) {
        let Some(stream) = self.streams.get_mut(&on) else {
            return;
        };
        if stream.waiting.len() + bytes.len() > BYTES_WAITING {
            self.streams.remove(&on);
            self.counters.never_read += 1;
            self.orders.push_back(Transmit::Abort { on });
            return;
        }
        stream.waiting.extend(bytes);
    }

    fn tell(&mut self, event: StreamHeard) {
        if self.events.len() == EVENTS_WAITING {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl Open {
    const fn new(peer: Addr) -> Self {
        Self {
            peer,
            room: Room::CLOSED.bytes,
            waiting: VecDeque::new(),
            finishing: false,
            traffic: Traffic::NONE,
        }
    }

    /// Moves what there is room for from `waiting` to `out`.
    fn write(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let taken = room.min(self.waiting.len());
        if taken == 0 {
            return None;
        }
        out.extend(self.waiting.drain(..taken));
        self.room -= u32::try_from(taken).unwrap_or(self.room);
        self.traffic.sent(taken);
        Some(())
    }
}

impl Session for StreamEcho {
    fn handle_opened(&mut self, _now: Instant, on: StreamId, peer: Addr) {
        if self.closing {
            self.streams.remove(&on);
            self.orders.push_back(Transmit::Abort { on });
            return;
        }
        self.streams
            .entry(on)
            .or_insert_with(|| Open::new(peer))
            .peer = peer;
        self.tell(StreamHeard::Opened(on));
    }

    fn handle_stream(&mut self, _now: Instant, on: StreamId, bytes: &[u8]) {
        if let Some(stream) = self.streams.get_mut(&on) {
            stream.traffic.received(bytes.len());
        }
        match on {
            StreamId::Accepted(_) => self.queue(on, bytes),
            StreamId::Dialled(_) => self.tell(StreamHeard::Bytes(on, bytes.into())),
        }
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        if let Path::Stream(on) = path
            && let Some(stream) = self.streams.get_mut(&on)
        {
            stream.room = room.bytes;
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, why: Ended) {
        if let Path::Stream(on) = path {
            self.streams.remove(&on);
            self.tell(StreamHeard::Closed(on, why));
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(order) = self.orders.pop_front() {
            return Some(order);
        }
        for (&on, stream) in &mut self.streams {
            if stream.write(out).is_some() {
                return Some(Transmit::Stream { on });
            }
        }
        let done = |stream: &Open| stream.finishing && stream.waiting.is_empty();
        let on = *self.streams.iter().find(|(_, stream)| done(stream))?.0;
        self.streams.remove(&on);
        Some(Transmit::Finish { on })
    }

    // It has no deadline and no datagrams.
    fn handle_timeout(&mut self, _now: Instant) {}
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}

    fn set_busy(&mut self, _is_busy: bool) {
        // There is no game that could be slow.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.closing = true;
        for stream in self.streams.values_mut() {
            stream.finishing = true;
        }
    }

    fn is_finished(&self) -> bool {
        self.streams.is_empty() && self.orders.is_empty()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for stream in self.streams.values() {
            let stats = PeerStats::new("", stream.peer, "Open");
            visit(&PeerStats {
                traffic: stream.traffic,
                ..stats
            });
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

impl Events for StreamEcho {
    type Event = StreamHeard;

    fn poll_event(&mut self) -> Option<StreamHeard> {
        self.events.pop_front()
    }
}
