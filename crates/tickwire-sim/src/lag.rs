//! A bad network around one session, whatever drives it.
//!
//! [`Lag`] holds up what a session is handed and what it sends; [`Lag::around`] puts it between a driver and
//! a session for a turn, as a [`Tap`](tickwire_session::tap::Tap) does with an observer. So a program feels a bad
//! network without a second process, and a proxy is two sessions that know no protocol, one of them lagged.
//!
//! ```text
//!              ┌──────────────── Lagged ────────────────┐
//!   handle_* ─▶│ incoming: a link per address or stream │─▶ handle_*       ┌─────────┐
//!   driver     │                                        │                  │ session │
//!   ◀─ transmit│ outgoing: the same                     │◀─ poll_transmit  └─────────┘
//!              └────────────────────────────────────────┘
//! ```
//!
//! Every datagram address and every stream has links of its own: what belongs to one peer is known to the
//! session alone. Streams lose nothing, keep their order, and slow their writers down on both sides.

mod stream;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::mem;

use tickwire_session::{
    Addr, Ended, Host, Instant, Path, Room, Session, StreamId, Transmit, pass_on_session,
};

use crate::schedule::Alarms;
use crate::{Conditions, Link, LinkCounters, Rng};
use stream::{Heard, Order, StreamLag};

/// Addresses that have links at a time. One more makes those of all others that carry nothing go.
///
/// A flood of strangers' addresses must not fill the memory; a server of a thousand players and as many
/// strangers is held up like any other.
const LAGGED_ADDRESSES: usize = 4_096;

/// What a session's paths are held up by.
#[derive(Clone, Debug)]
pub struct Lag {
    /// What the session sends.
    outgoing: Conditions,
    /// What it is handed.
    incoming: Conditions,
    /// Never drawn from: links branch off it.
    root: Rng,
    links_made: u64,
    datagrams: BTreeMap<Addr, Datagrams>,
    streams: BTreeMap<StreamId, StreamLag>,
    /// When a path has something for the session.
    arrivals: Alarms<Path>,
    /// When a path has something for the driver.
    departures: Alarms<Path>,
    /// Streams that have something for the driver and may have room for it.
    sendable: BTreeSet<StreamId>,
    /// Orders that nothing holds up.
    at_once: VecDeque<Transmit>,
    /// Of links that are gone.
    past: [LinkCounters; 2],
    /// What the session sent and was sent, by datagrams and streams.
    bytes: [u64; 2],
    scratch: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Datagrams {
    outgoing: Link<Vec<u8>>,
    incoming: Link<News>,
}

#[derive(Clone, Debug)]
enum News {
    Datagram(Vec<u8>),
    /// Nobody listens there, or no way leads there.
    Closed(Ended),
}

impl Lag {
    /// Holds up what a session sends by `outgoing` and what it is handed by `incoming`.
    ///
    /// The same seed loses the same datagrams, if the same are sent.
    pub fn new(outgoing: Conditions, incoming: Conditions, seed: u64) -> Self {
        Self {
            outgoing,
            incoming,
            root: Rng::new(seed),
            links_made: 0,
            datagrams: BTreeMap::new(),
            streams: BTreeMap::new(),
            arrivals: Alarms::new(),
            departures: Alarms::new(),
            sendable: BTreeSet::new(),
            at_once: VecDeque::new(),
            past: [LinkCounters::default(); 2],
            bytes: [0; 2],
            scratch: Vec::new(),
        }
    }

    /// A session that feels it.
    pub const fn around<'a>(&'a mut self, session: &'a mut dyn Session) -> Lagged<'a> {
        Lagged { lag: self, session }
    }

    /// Changes what happens to whatever is sent from now on.
    pub fn set_conditions(&mut self, outgoing: Conditions, incoming: Conditions) {
        (self.outgoing, self.incoming) = (outgoing, incoming);
        for lines in self.datagrams.values_mut() {
            lines.outgoing.set_conditions(outgoing);
            lines.incoming.set_conditions(incoming);
        }
        for stream in self.streams.values_mut() {
            stream.outgoing.set_conditions(outgoing);
            stream.incoming.set_conditions(incoming);
        }
    }

    /// What became of the datagrams that the session sent, and of those that it was sent.
    pub fn counters(&self) -> [LinkCounters; 2] {
        let mut sum = self.past;
        let [outgoing, incoming] = &mut sum;
        for lines in self.datagrams.values() {
            *outgoing += *lines.outgoing.counters();
            *incoming += *lines.incoming.counters();
        }
        sum
    }

    /// Bytes that the session sent, and that it was sent, by datagrams and streams, whatever became of them.
    pub const fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// Whether nothing that the session sent is still on its way.
    pub fn is_idle(&self) -> bool {
        self.at_once.is_empty() && self.sendable.is_empty() && self.departures.first().is_none()
    }

    fn datagrams_of(&mut self, addr: Addr) -> &mut Datagrams {
        if self.datagrams.len() >= LAGGED_ADDRESSES && !self.datagrams.contains_key(&addr) {
            self.forget_idle();
        }
        let (outgoing, incoming) = (self.outgoing, self.incoming);
        let (root, links_made) = (&self.root, &mut self.links_made);
        self.datagrams.entry(addr).or_insert_with(|| Datagrams {
            outgoing: Link::new(outgoing, branch(root, links_made)),
            incoming: Link::new(incoming, branch(root, links_made)),
        })
    }

    fn forget_idle(&mut self) {
        let past = &mut self.past;
        self.datagrams.retain(|_, lines| {
            let is_busy = lines.outgoing.in_flight() + lines.incoming.in_flight() > 0;
            if !is_busy {
                let [outgoing, incoming] = &mut *past;
                *outgoing += *lines.outgoing.counters();
                *incoming += *lines.incoming.counters();
            }
            is_busy
        });
    }

    fn stream_to(&mut self, on: StreamId, peer: Addr) -> &mut StreamLag {
        let (outgoing, incoming) = (self.outgoing, self.incoming);
        let (root, links_made) = (&self.root, &mut self.links_made);
        self.streams.entry(on).or_insert_with(|| {
            let rngs = [branch(root, links_made), branch(root, links_made)];
            StreamLag::new(peer, outgoing, incoming, rngs)
        })
    }

    fn forget_stream(&mut self, on: StreamId) {
        self.streams.remove(&on);
        self.sendable.remove(&on);
        self.arrivals.set(Path::Stream(on), None);
        self.departures.set(Path::Stream(on), None);
    }

    fn send_datagram(&mut self, now: Instant, to: Addr, bytes: &[u8]) {
        let lines = self.datagrams_of(to);
        lines.outgoing.push(now, bytes.into(), bytes.len());
        let next = lines.outgoing.next_moment();
        self.departures.set(Path::Datagrams(to), next);
    }

    fn hold_up_datagram(&mut self, now: Instant, from: Addr, news: News, size: usize) {
        let lines = self.datagrams_of(from);
        lines.incoming.push(now, news, size);
        let next = lines.incoming.next_moment();
        self.arrivals.set(Path::Datagrams(from), next);
    }

    fn hold_up_stream(&mut self, now: Instant, on: StreamId, heard: Heard) {
        if let Some(stream) = self.streams.get_mut(&on) {
            stream.hear(now, heard);
            self.arrivals
                .set(Path::Stream(on), stream.incoming.next_moment());
        }
    }

    /// Takes an order of the session.
    fn take_order(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        self.bytes[0] += bytes.len() as u64;
        match transmit {
            Transmit::Datagram { to } => self.send_datagram(now, to, bytes),
            Transmit::Segments { to, size } => {
                for datagram in bytes.chunks(usize::from(size.max(1))) {
                    self.send_datagram(now, to, datagram);
                }
            }
            Transmit::Dial { on, to } => {
                self.stream_to(on, to);
                self.order(now, on, Order::Dial(to));
            }
            Transmit::Stream { on } => {
                for piece in bytes.chunks(SEGMENT) {
                    self.order(now, on, Order::Bytes(piece.iter().copied().collect()));
                }
            }
            Transmit::Finish { on } => self.order(now, on, Order::Finish),
            Transmit::Abort { on } => self.order(now, on, Order::Abort),
            // What is under way over a link that is ended may be lost, so nothing is waited for.
            Transmit::Unlink { link } => {
                self.forget_link(link);
                self.at_once.push_back(transmit);
            }
        }
    }

    fn order(&mut self, now: Instant, on: StreamId, order: Order) {
        let Some(stream) = self.streams.get_mut(&on) else {
            return;
        };
        stream.take(now, order);
        if stream.is_over() {
            self.forget_stream(on);
            return;
        }
        let path = Path::Stream(on);
        self.departures.set(path, stream.outgoing.next_moment());
        self.arrivals.set(path, stream.incoming.next_moment());
    }

    fn forget_link(&mut self, link: u64) {
        let is_of_link = |addr: &Addr| addr.host == Host::Link(link);
        let streams = self
            .streams
            .iter()
            .filter(|(_, stream)| is_of_link(&stream.peer));
        let streams: Vec<_> = streams.map(|(on, _)| *on).collect();
        streams.into_iter().for_each(|on| self.forget_stream(on));
        let addresses: Vec<_> = self.datagrams.keys().copied().filter(is_of_link).collect();
        for addr in addresses {
            self.datagrams.remove(&addr);
            self.arrivals.set(Path::Datagrams(addr), None);
            self.departures.set(Path::Datagrams(addr), None);
        }
    }

    /// The next thing whose moment has come, for the driver; its bytes are appended to `out`.
    fn depart(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(transmit) = self.at_once.pop_front() {
            return Some(transmit);
        }
        while let Some((_, path)) = self.departures.first().filter(|(at, _)| *at <= now) {
            match path {
                Path::Datagrams(to) => {
                    let lines = self.datagrams.get_mut(&to)?;
                    let datagram = lines.outgoing.pop(now);
                    self.departures.set(path, lines.outgoing.next_moment());
                    if let Some(bytes) = datagram {
                        out.extend(bytes);
                        return Some(Transmit::Datagram { to });
                    }
                }
                Path::Stream(on) => {
                    let stream = self.streams.get_mut(&on)?;
                    stream.gather(now);
                    self.departures.set(path, stream.outgoing.next_moment());
                    self.sendable.insert(on);
                }
                Path::Link(_) => self.departures.set(path, None),
            }
        }
        while let Some(&on) = self.sendable.first() {
            let sent = self
                .streams
                .get_mut(&on)
                .and_then(|stream| stream.emit(on, out));
            if self.streams.get(&on).is_some_and(StreamLag::is_over) {
                self.forget_stream(on);
            }
            if sent.is_some() {
                return sent;
            }
            self.sendable.remove(&on);
        }
        None
    }

    fn next_moment(&self) -> Option<Instant> {
        let first = |alarms: &Alarms<Path>| alarms.first().map(|(at, _)| at);
        let moments = [first(&self.arrivals), first(&self.departures)];
        moments.into_iter().flatten().min()
    }
}

/// Bytes of a stream that travel at once: what a segment carries.
const SEGMENT: usize = 1_400;

fn branch(root: &Rng, links_made: &mut u64) -> Rng {
    *links_made += 1;
    root.branch(*links_made)
}

/// A session on a bad network; see [`Lag::around`].
pub struct Lagged<'a> {
    lag: &'a mut Lag,
    session: &'a mut dyn Session,
}

impl core::fmt::Debug for Lagged<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Lagged")
            .field("lag", self.lag)
            .finish_non_exhaustive()
    }
}

impl Lagged<'_> {
    /// Hands in everything whose moment has come.
    fn arrive(&mut self, now: Instant) {
        while let Some((_, path)) = self.lag.arrivals.first().filter(|(at, _)| *at <= now) {
            match path {
                Path::Datagrams(from) => self.arrive_datagram(now, from),
                Path::Stream(on) => self.arrive_stream(now, on),
                Path::Link(_) => self.lag.arrivals.set(path, None),
            }
        }
    }

    fn arrive_datagram(&mut self, now: Instant, from: Addr) {
        let lines = self.lag.datagrams.get_mut(&from);
        let news = lines.and_then(|lines| lines.incoming.pop(now));
        let lines = self.lag.datagrams.get(&from);
        let next = lines.and_then(|lines| lines.incoming.next_moment());
        let path = Path::Datagrams(from);
        self.lag.arrivals.set(path, next);
        match news {
            Some(News::Datagram(bytes)) => self.session.handle_datagram(now, from, &bytes),
            Some(News::Closed(why)) => self.session.handle_closed(now, path, why),
            None => {}
        }
    }

    fn arrive_stream(&mut self, now: Instant, on: StreamId) {
        let path = Path::Stream(on);
        let Some(stream) = self.lag.streams.get_mut(&on) else {
            self.lag.arrivals.set(path, None);
            return;
        };
        let heard = stream.incoming.pop(now);
        self.lag.arrivals.set(path, stream.incoming.next_moment());
        if let Some(heard) = heard {
            self.hand_in(now, on, heard);
        }
    }

    fn hand_in(&mut self, now: Instant, on: StreamId, heard: Heard) {
        match heard {
            Heard::Opened(peer) => {
                self.session.handle_opened(now, on, peer);
                if let Some(stream) = self.lag.streams.get_mut(&on) {
                    stream.is_open = true;
                }
                self.tell_room(now, on);
            }
            Heard::Bytes(bytes) => self.session.handle_stream(now, on, &bytes),
            Heard::Closed(why) => {
                self.lag.forget_stream(on);
                self.session.handle_closed(now, Path::Stream(on), why);
            }
        }
    }

    /// Tells the session what it may write, if that is more than it knows.
    fn tell_room(&mut self, now: Instant, on: StreamId) {
        if let Some(room) = self
            .lag
            .streams
            .get_mut(&on)
            .and_then(StreamLag::news_of_room)
        {
            self.session.handle_room(now, Path::Stream(on), room);
        }
    }

    /// Hands in what is left of a link's streams: they end before the link does.
    fn end_streams(&mut self, now: Instant, link: u64) {
        let streams = self.lag.streams.iter();
        let of_link = streams.filter(|(_, stream)| stream.peer.host == Host::Link(link));
        let of_link: Vec<_> = of_link.map(|(on, _)| *on).collect();
        for on in of_link {
            let stream = self.lag.streams.get_mut(&on);
            let rest = stream.map(StreamLag::take_heard).unwrap_or_default();
            rest.into_iter()
                .for_each(|heard| self.hand_in(now, on, heard));
        }
    }
}

impl Session for Lagged<'_> {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.lag.stream_to(on, peer);
        self.lag.hold_up_stream(now, on, Heard::Opened(peer));
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.lag.bytes[1] += bytes.len() as u64;
        for piece in bytes.chunks(SEGMENT) {
            self.lag.hold_up_stream(now, on, Heard::Bytes(piece.into()));
        }
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.lag.bytes[1] += bytes.len() as u64;
        let news = News::Datagram(bytes.into());
        self.lag.hold_up_datagram(now, from, news, bytes.len());
    }

    fn handle_room(&mut self, now: Instant, path: Path, room: Room) {
        let Path::Stream(on) = path else {
            // A driver knows its own socket, which no network is in front of.
            return self.session.handle_room(now, path, room);
        };
        if let Some(stream) = self.lag.streams.get_mut(&on) {
            stream.room = room;
            self.lag.sendable.insert(on);
            self.tell_room(now, on);
        }
    }

    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        match path {
            Path::Stream(on) => self.lag.hold_up_stream(now, on, Heard::Closed(why)),
            Path::Datagrams(from) => self.lag.hold_up_datagram(now, from, News::Closed(why), 0),
            Path::Link(link) => {
                self.end_streams(now, link);
                self.lag.forget_link(link);
                self.session.handle_closed(now, path, why);
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.arrive(now);
        if self.session.poll_timeout().is_some_and(|at| at <= now) {
            self.session.handle_timeout(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.arrive(now);
        let mut bytes = mem::take(&mut self.lag.scratch);
        loop {
            bytes.clear();
            let Some(transmit) = self.session.poll_transmit(now, &mut bytes) else {
                break;
            };
            self.lag.take_order(now, transmit, &bytes);
        }
        self.lag.scratch = bytes;
        let transmit = self.lag.depart(now, out)?;
        if let Transmit::Stream { on } = transmit {
            self.tell_room(now, on);
        }
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let moments = [self.session.poll_timeout(), self.lag.next_moment()];
        moments.into_iter().flatten().min()
    }

    fn is_reading(&self, on: StreamId) -> bool {
        let streams = &self.lag.streams;
        streams.get(&on).is_none_or(StreamLag::is_reading) && self.session.is_reading(on)
    }

    /// Also what is still on its way has to go.
    fn is_finished(&self) -> bool {
        self.session.is_finished() && self.lag.is_idle()
    }

    pass_on_session!(self => self.session; set_busy shut_down visit_peers visit_counters);
}

#[cfg(test)]
mod tests;
