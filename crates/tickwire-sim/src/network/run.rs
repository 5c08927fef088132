//! The clock, and the drain rule of [`Session`].
//!
//! Time jumps from one event to the next: a parcel arrives, a session wants to be woken, something
//! that the network scheduled is due. Each is handed in; then the session is drained, at once
//! or together with what else happens at that moment, as the seed decides: the contract allows a
//! driver both.

use core::fmt;
use core::time::Duration;

use tickwire_session::tap::{Input, Observer};
use tickwire_session::{Addr, Ended, Instant, Path, Room, Session, Transmit};

use super::nat::Translated;
use super::{Event, Happening, Network, NodeId, Parcel, Way};
use crate::{Chance, Fate};

/// Results of `poll_transmit` in one drain. A session with more breaks the promise that draining ends.
///
/// A server that answers a thousand clients at one moment needs some thousands.
pub const POLLS_PER_DRAIN: usize = 100_000;

/// Bytes collected in one buffer before it is emptied, so that sessions meet buffers that hold the
/// bytes of earlier polls.
const OUT_BYTES: usize = 64 * 1_024;

/// Headers of IPv4 and UDP.
const DATAGRAM_HEADER: usize = 28;

/// Things were still happening when the time was up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StillBusy {
    /// What comes next.
    pub next: Instant,
}

impl fmt::Display for StillBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not quiet yet: more happens at {}", self.next)
    }
}

impl core::error::Error for StillBusy {}

impl Network {
    /// Runs up to and including the moment `until`, beginning with what the game's calls left to
    /// send. The clock then stands there.
    ///
    /// # Panics
    /// If there are not as many sessions as nodes, or one breaks the contract.
    pub fn run_until(&mut self, until: Instant, sessions: &mut [&mut dyn Session]) {
        self.drain_all(sessions);
        self.advance(until, sessions);
        self.now = self.now.max(until);
    }

    /// Runs for a span.
    ///
    /// # Panics
    /// As [`run_until`](Self::run_until).
    pub fn run_for(&mut self, span: Duration, sessions: &mut [&mut dyn Session]) {
        self.run_until(self.now + span, sessions);
    }

    /// Runs until nothing is on the way and no session wants to be woken, at most for `limit`.
    /// Returns how late it is then.
    ///
    /// # Panics
    /// As [`run_until`](Self::run_until).
    pub fn run_until_quiet(
        &mut self,
        limit: Duration,
        sessions: &mut [&mut dyn Session],
    ) -> Result<Instant, StillBusy> {
        let until = self.now + limit;
        self.drain_all(sessions);
        self.advance(until, sessions);
        match self.next_happening() {
            None => Ok(self.now),
            Some((next, _)) => {
                self.now = until;
                Err(StillBusy { next })
            }
        }
    }

    /// Lets everything happen that does by `until`; the clock then shows the last of it.
    fn advance(&mut self, until: Instant, sessions: &mut [&mut dyn Session]) {
        loop {
            let next = self.next_happening();
            // Drains that were put off happen before the clock moves on.
            if next.is_none_or(|(moment, _)| moment > self.now) && self.drain_undrained(sessions) {
                continue;
            }
            let Some((moment, happening)) = next.filter(|(moment, _)| *moment <= until) else {
                return;
            };
            self.now = self.now.max(moment);
            self.happen(happening, sessions);
        }
    }

    fn next_happening(&self) -> Option<(Instant, Happening)> {
        let arranged = self
            .agenda
            .next_moment()
            .map(|at| (at, Happening::Arranged));
        arranged.into_iter().chain(self.alarms.first()).min()
    }

    fn happen(&mut self, happening: Happening, sessions: &mut [&mut dyn Session]) {
        match happening {
            Happening::Arranged => {
                if let Some(event) = self.agenda.pop(self.now) {
                    self.handle_event(event, sessions);
                }
            }
            Happening::Arrival(way) => match self.pop(way) {
                Some(Parcel::Datagram { from, to, bytes })
                    if self.reaches(way.to, from) && self.lets_in(way.to, from, to) =>
                {
                    let bytes = &bytes;
                    self.hand_in(way.to, Input::Datagram { from, bytes }, sessions);
                }
                Some(Parcel::Segment(segment)) => self.handle_segment(segment, sessions),
                Some(Parcel::Datagram { .. }) | None => {}
            },
            Happening::Wake(node) => {
                self.alarms.set(happening, None);
                self.node_mut(node).woken = Some(self.now);
                self.hand_in(node, Input::Timeout, sessions);
            }
        }
    }

    /// Does what the network had scheduled.
    fn handle_event(&mut self, event: Event, sessions: &mut [&mut dyn Session]) {
        match event {
            Event::Resend { segment, attempt } => self.carry(segment, attempt),
            Event::Send(end) => self.send_outgoing(end),
            Event::DialFailed(end) => self.fail_dial(end, sessions),
            Event::Reset(end) => self.reset(end, sessions),
            Event::Unlinked { node, link, why } => self.end_link(node, link, why, sessions),
            Event::Largest { way, largest } => {
                self.route(way).largest = largest;
                let path = Path::Datagrams(self.addr(way.to));
                let room = Room {
                    largest,
                    ..Room::DATAGRAMS
                };
                self.hand_in(way.from, Input::Room { path, room }, sessions);
            }
            Event::Room { way, to } => self.report_room_of(way, to, sessions),
        }
    }

    /// Reports room to a sender that found the queue of a bottleneck full: at once, and again when the
    /// queue is half empty. The next report comes when it is full again.
    fn report_room_of(&mut self, way: Way, to: Addr, sessions: &mut [&mut dyn Session]) {
        let now = self.now;
        let route = self.route(way);
        let (bytes, half_empty) = (route.link.room(now), route.link.half_empty_at());
        route.is_full = half_empty.is_some();
        let room = Room {
            bytes: bytes.filter(|_| route.is_full).unwrap_or(u32::MAX),
            largest: route.largest,
        };
        if let Some(moment) = half_empty {
            self.agenda.push(moment, Event::Room { way, to });
        }
        let path = Path::Datagrams(to);
        self.hand_in(way.from, Input::Room { path, room }, sessions);
    }

    /// Makes one call into a session.
    pub(super) fn hand_in(
        &mut self,
        node: NodeId,
        input: Input<'_>,
        sessions: &mut [&mut dyn Session],
    ) {
        let now = self.now_at(node);
        self.trace.write_u64(node.0 as u64);
        self.trace.input(now, input);
        if let Some(observer) = self.watcher.of(node) {
            observer.input(now, input);
        }
        input.apply_to(session(sessions, node), now);
        self.node_mut(node).undrained = true;
        if self.rng.happens(Chance::percent(50)) {
            self.drain(node, sessions);
        }
    }

    fn drain_all(&mut self, sessions: &mut [&mut dyn Session]) {
        assert_eq!(
            sessions.len(),
            self.nodes.len(),
            "there is one session for each node"
        );
        for index in 0..self.nodes.len() {
            self.drain(NodeId(index), sessions);
        }
    }

    /// Drains the sessions whose draining was put off at this moment; returns whether there were any.
    fn drain_undrained(&mut self, sessions: &mut [&mut dyn Session]) -> bool {
        let mut anybody = false;
        for index in 0..self.nodes.len() {
            if self.node(NodeId(index)).undrained {
                self.drain(NodeId(index), sessions);
                anybody = true;
            }
        }
        anybody
    }

    fn drain(&mut self, node: NodeId, sessions: &mut [&mut dyn Session]) {
        let now = self.now_at(node);
        let session = session(sessions, node);
        let mut out = core::mem::take(&mut self.out);
        let mut polls = 0;
        loop {
            if out.len() > OUT_BYTES {
                out.clear();
            }
            let before = out.len();
            let Some(transmit) = session.poll_transmit(now, &mut out) else {
                break;
            };
            polls += 1;
            assert!(
                polls <= POLLS_PER_DRAIN,
                "{} does not stop sending: still {transmit:?} after {POLLS_PER_DRAIN} polls at {now}",
                self.name(node)
            );
            let bytes = out
                .get(before..)
                .unwrap_or_else(|| panic!("{} took bytes out of the buffer", self.name(node)));
            self.trace.write_u64(node.0 as u64);
            self.trace.output(now, transmit, bytes);
            if let Some(observer) = self.watcher.of(node) {
                observer.output(now, transmit, bytes);
            }
            self.transmit(node, transmit, bytes);
        }
        out.clear();
        self.out = out;
        self.node_mut(node).undrained = false;
        self.arrange_wake(node, session.poll_timeout());
    }

    fn arrange_wake(&mut self, node: NodeId, wake: Option<Instant>) {
        let state = self.node(node);
        let zero_there = Instant::ZERO + state.ahead;
        let wake = wake
            .filter(|&at| at != Instant::NEVER)
            .map(|at| Instant::ZERO + at.since(zero_there));
        let now = self.now;
        assert!(
            state.woken != Some(now) || wake.is_none_or(|wake| wake > now),
            "{} was woken at {now} and asks for the same moment again",
            self.name(node)
        );
        self.alarms.set(Happening::Wake(node), wake);
    }

    fn transmit(&mut self, node: NodeId, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { to } => self.send_datagram(node, to, bytes),
            Transmit::Segments { to, size } => {
                assert!(size > 0, "{} sent segments without a size", self.name(node));
                for datagram in bytes.chunks(size.into()) {
                    self.send_datagram(node, to, datagram);
                }
            }
            Transmit::Stream { on } => self.write_stream(node, on, bytes),
            Transmit::Dial { on, to } => self.dial(node, on, to),
            Transmit::Finish { on } => self.finish(node, on),
            Transmit::Abort { on } => self.abort(node, on),
            Transmit::Unlink { link } => self.unlink(node, link, Ended::Finished),
        }
    }

    fn send_datagram(&mut self, node: NodeId, to: Addr, bytes: &[u8]) {
        let Some(Translated { peer, from }) = self.translate(node, to) else {
            self.unroutable += 1;
            return;
        };
        let way = Way {
            from: node,
            to: peer,
        };
        let largest = self.route(way).largest;
        assert!(
            bytes.len() <= usize::from(largest),
            "{} sent a datagram of {} bytes to {to}, where the largest is {largest}",
            self.name(node),
            bytes.len()
        );
        let parcel = Parcel::Datagram {
            from,
            to,
            bytes: bytes.into(),
        };
        // The link counts what became of it. A sender notices only that its own queue is full.
        let fate = self.push(way, parcel, DATAGRAM_HEADER + bytes.len());
        let route = self.route(way);
        if fate == Fate::Overflowed && !route.is_full && route.link.half_empty_at().is_some() {
            route.is_full = true;
            self.agenda.push(self.now, Event::Room { way, to });
        }
    }
}

fn session<'a>(sessions: &'a mut [&mut dyn Session], node: NodeId) -> &'a mut dyn Session {
    *sessions
        .get_mut(node.0)
        .expect("each run begins by counting the sessions")
}
