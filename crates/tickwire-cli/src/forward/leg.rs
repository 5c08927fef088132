//! One side of a forwarder: a session that knows no protocol.
//!
//! In: whatever comes on its paths, and what the other side asks to be sent. Out: the same as news, for
//! the forwarder to pass on. A stream whose other half waits for a slow reader is not read; what had been
//! read before is bounded, and beyond that the stream is cut.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tickwire_session::{
    Addr, Ended, Host, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

/// Bytes of one stream that wait for its reader; above it the stream is cut.
const STREAM_WAITING: usize = 1_024 * 1_024;

/// Datagrams that wait for a link whose handshake is not over; the oldest go.
const EARLY_DATAGRAMS: usize = 8;

/// News that the forwarder has not taken; it does so every turn. Above it datagrams are dropped.
const NEWS: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Leg {
    news: VecDeque<News>,
    orders: VecDeque<(Transmit, Vec<u8>)>,
    streams: BTreeMap<StreamId, Outgoing>,
    /// Links that take datagrams, and what waits for those that do not yet.
    ready: BTreeSet<Addr>,
    early: BTreeMap<Addr, VecDeque<Vec<u8>>>,
    /// Streams that are not read for now.
    held: BTreeSet<StreamId>,
    dialled: u32,
    is_over: bool,
}

/// What is passed on.
#[derive(Debug)]
pub(super) enum News {
    Datagram {
        from: Addr,
        bytes: Vec<u8>,
    },
    /// A peer opened a stream.
    Accepted {
        on: StreamId,
        peer: Addr,
    },
    Bytes {
        on: StreamId,
        bytes: Vec<u8>,
    },
    Closed {
        on: StreamId,
        why: Ended,
    },
    LinkEnded {
        link: Addr,
    },
}

/// A stream's bytes that wait.
#[derive(Debug, Default)]
struct Outgoing {
    room: usize,
    waiting: VecDeque<u8>,
    /// Nothing more follows what waits.
    is_ending: bool,
}

impl Leg {
    pub(super) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    pub(super) fn send_datagram(&mut self, to: Addr, bytes: Vec<u8>) {
        if matches!(to.host, Host::Link(_)) && !self.ready.contains(&to) {
            let early = self.early.entry(to).or_default();
            if early.len() == EARLY_DATAGRAMS {
                early.pop_front();
            }
            early.push_back(bytes);
            return;
        }
        self.orders.push_back((Transmit::Datagram { to }, bytes));
    }

    pub(super) fn dial(&mut self, to: Addr) -> StreamId {
        let on = StreamId::Dialled(self.dialled);
        self.dialled = self.dialled.wrapping_add(1);
        self.streams.insert(on, Outgoing::default());
        self.order(Transmit::Dial { on, to });
        on
    }

    /// Sends bytes on a stream, or cuts it because too much waits.
    pub(super) fn send(&mut self, on: StreamId, bytes: &[u8]) -> Result<(), Overrun> {
        let Some(stream) = self.streams.get_mut(&on) else {
            return Ok(());
        };
        if stream.waiting.len() + bytes.len() > STREAM_WAITING {
            self.abort(on);
            return Err(Overrun);
        }
        stream.waiting.extend(bytes);
        Ok(())
    }

    /// Bytes of a stream that wait for its reader.
    pub(super) fn waiting(&self, on: StreamId) -> usize {
        self.streams
            .get(&on)
            .map_or(0, |stream| stream.waiting.len())
    }

    /// Leaves what comes on a stream with the system, or reads on.
    pub(super) fn hold(&mut self, on: StreamId, is_held: bool) {
        if is_held {
            self.held.insert(on);
        } else {
            self.held.remove(&on);
        }
    }

    /// Ends a stream when everything is out.
    pub(super) fn finish(&mut self, on: StreamId) {
        if let Some(stream) = self.streams.get_mut(&on) {
            stream.is_ending = true;
        }
    }

    pub(super) fn abort(&mut self, on: StreamId) {
        self.held.remove(&on);
        if self.streams.remove(&on).is_some() {
            self.order(Transmit::Abort { on });
        }
    }

    pub(super) fn unlink(&mut self, link: Addr) {
        if let Host::Link(number) = link.host {
            self.forget_link(link);
            self.order(Transmit::Unlink { link: number });
        }
    }

    fn forget_link(&mut self, link: Addr) {
        self.ready.remove(&link);
        self.early.remove(&link);
    }

    fn order(&mut self, transmit: Transmit) {
        self.orders.push_back((transmit, Vec::new()));
    }
}

/// A reader is too slow.
#[derive(Debug)]
pub(super) struct Overrun;

impl Session for Leg {
    fn handle_opened(&mut self, _now: Instant, on: StreamId, peer: Addr) {
        if let StreamId::Accepted(_) = on {
            self.streams.insert(on, Outgoing::default());
            self.news.push_back(News::Accepted { on, peer });
        }
    }

    fn handle_stream(&mut self, _now: Instant, on: StreamId, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.news.push_back(News::Bytes { on, bytes });
    }

    fn handle_datagram(&mut self, _now: Instant, from: Addr, bytes: &[u8]) {
        if self.news.len() < NEWS {
            let bytes = bytes.to_vec();
            self.news.push_back(News::Datagram { from, bytes });
        }
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        match path {
            Path::Stream(on) => {
                if let Some(stream) = self.streams.get_mut(&on) {
                    stream.room = room.bytes as usize;
                }
            }
            // The first room of a link says that it is there.
            Path::Datagrams(addr) => {
                if matches!(addr.host, Host::Link(_)) && self.ready.insert(addr) {
                    for bytes in self.early.remove(&addr).unwrap_or_default() {
                        self.orders
                            .push_back((Transmit::Datagram { to: addr }, bytes));
                    }
                }
            }
            Path::Link(_) => {}
        }
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, why: Ended) {
        match path {
            Path::Stream(on) => {
                self.held.remove(&on);
                self.streams.remove(&on);
                self.news.push_back(News::Closed { on, why });
            }
            Path::Link(number) => {
                let link = Addr {
                    host: Host::Link(number),
                    port: 0,
                };
                self.forget_link(link);
                self.news.push_back(News::LinkEnded { link });
            }
            // The program there may come back.
            Path::Datagrams(_) => {}
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((transmit, bytes)) = self.orders.pop_front() {
            out.extend(bytes);
            return Some(transmit);
        }
        let can_send = |stream: &Outgoing| stream.room > 0 && !stream.waiting.is_empty();
        let is_done = |stream: &Outgoing| stream.is_ending && stream.waiting.is_empty();
        let found = self
            .streams
            .iter_mut()
            .find(|(_, s)| can_send(s) || is_done(s));
        let (&on, stream) = found?;
        if is_done(stream) {
            self.streams.remove(&on);
            return Some(Transmit::Finish { on });
        }
        let taken = stream.room.min(stream.waiting.len());
        stream.room -= taken;
        out.extend(stream.waiting.drain(..taken));
        Some(Transmit::Stream { on })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn is_reading(&self, on: StreamId) -> bool {
        !self.held.contains(&on)
    }

    fn set_busy(&mut self, _is_busy: bool) {
        // Nobody is admitted here: the server behind it does that.
    }

    fn shut_down(&mut self, _now: Instant) {
        self.is_over = true;
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }

    fn visit_peers(&self, _visit: &mut dyn FnMut(&PeerStats<'_>)) {}
    fn visit_counters(&self, _visit: &mut dyn FnMut(&'static str, u64)) {}
}
