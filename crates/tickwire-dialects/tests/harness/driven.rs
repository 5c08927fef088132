//! A session, its clock and the drain rule: what every script stands on.
//!
//! In: what a driver tells a session. Out: everything that it sent, ordered and told its owner, until somebody
//! looks. After each word the session is drained, and held to what every session promises: it sleeps after
//! one waking, it sends no more than there is room for, and it ends nothing twice. What the bytes mean is the
//! dialect's: its scripts are `Driven<Server, …>` and `Driven<Client, …>`, with methods that speak its language,
//! and a [`Memory`] for what they have to remember and how they [read](Read) what is sent.

#![allow(
    dead_code,
    reason = "a dialect without streams opens none, and each reads in its own way"
)]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use tickwire_session::{Addr, Ended, Events, Instant, Path, Room, StreamId, Transmit};

use crate::licence::Watch;

pub(crate) struct Driven<S, M = ()> {
    pub(crate) session: S,
    pub(crate) now: Instant,
    /// What it wrote on streams, and nobody looked at yet.
    pub(crate) streams: BTreeMap<StreamId, Vec<u8>>,
    /// Datagrams that it sent, and nobody looked at yet.
    pub(crate) datagrams: Vec<(Addr, Vec<u8>)>,
    /// What else it ordered, all of it.
    pub(crate) orders: Vec<Transmit>,
    /// Streams that it ended, in that order.
    pub(crate) ended: Vec<StreamId>,
    /// The room that a stream opens with. It has as much again whenever it was written to, or none.
    pub(crate) window: Window,
    /// What became of its peers.
    pub(crate) watch: Watch,
    pub(crate) memory: M,
    rooms: BTreeMap<StreamId, u32>,
}

/// How much a stream takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Window {
    /// So many bytes, once.
    Once(u32),
    /// So many bytes, again after each writing.
    Again(u32),
}

/// What a script remembers of a session.
pub(crate) trait Memory<S: Events> {
    /// Fails if the session must not send this.
    fn check_sent(&mut self, _transmit: Transmit, _bytes: &[u8]) {}

    /// Where the owner of a session answers its events at once: does so, and says whether there were any.
    fn answer(&mut self, _now: Instant, _session: &mut S) -> bool {
        false
    }
}

impl<S: Events> Memory<S> for () {}

/// How a script reads what its session sends.
pub(crate) trait Read {
    /// A message, kept.
    type Heard: Debug + PartialEq;

    /// Takes the whole messages from the front of what a path carried: of a stream so far, or one datagram.
    fn read(&mut self, from: Path, bytes: &mut Vec<u8>) -> Vec<Self::Heard>;
}

impl<S: Events, M: Memory<S>> Driven<S, M> {
    pub(crate) fn new(session: S, now: Instant, watch: Watch, memory: M) -> Self {
        Self {
            session,
            now,
            streams: BTreeMap::new(),
            datagrams: Vec::new(),
            orders: Vec::new(),
            ended: Vec::new(),
            window: Window::Once(u32::MAX),
            watch,
            memory,
            rooms: BTreeMap::new(),
        }
    }

    /// A stream opens.
    #[track_caller]
    pub(crate) fn opened(&mut self, on: StreamId, peer: Addr) {
        self.session.handle_opened(self.now, on, peer);
        let (Window::Once(bytes) | Window::Again(bytes)) = self.window;
        self.give_room(on, bytes);
    }

    /// A stream takes so many bytes from now on.
    #[track_caller]
    pub(crate) fn give_room(&mut self, on: StreamId, bytes: u32) {
        self.set_room(on, bytes);
        self.drain();
    }

    /// Bytes come on a stream.
    #[track_caller]
    pub(crate) fn write_bytes(&mut self, on: StreamId, bytes: &[u8]) {
        self.session.handle_stream(self.now, on, bytes);
        self.drain();
    }

    /// A datagram comes.
    #[track_caller]
    pub(crate) fn send_bytes(&mut self, from: Addr, bytes: &[u8]) {
        self.session.handle_datagram(self.now, from, bytes);
        self.drain();
    }

    /// A stream ends.
    #[track_caller]
    pub(crate) fn closed(&mut self, on: StreamId, why: Ended) {
        self.session.handle_closed(self.now, Path::Stream(on), why);
        self.drain();
    }

    /// Whoever owns the session does something with it.
    #[track_caller]
    pub(crate) fn act<T>(&mut self, act: impl FnOnce(Instant, &mut S) -> T) -> T {
        let result = act(self.now, &mut self.session);
        self.drain();
        result
    }

    /// Lets time pass, waking the session whenever it wants to be.
    #[track_caller]
    pub(crate) fn pass(&mut self, span: Duration) {
        self.drain();
        let until = self.now + span;
        while self.step(until) {}
    }

    /// Goes on to the session's next deadline, but not beyond `until`; `false` when that is reached.
    #[track_caller]
    pub(crate) fn step(&mut self, until: Instant) -> bool {
        let due = self.session.poll_timeout().filter(|at| *at <= until);
        self.now = due.map_or(until, |at| at.max(self.now));
        if due.is_some() {
            self.wake();
        }
        due.is_some()
    }

    /// What it told its owner since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<S::Event> {
        std::iter::from_fn(|| self.session.poll_event()).collect()
    }

    /// Takes the datagrams that were sent to an address.
    pub(crate) fn taken(&mut self, to: Addr) -> Vec<Vec<u8>> {
        let meant = self.datagrams.extract_if(.., |(addr, _)| *addr == to);
        meant.map(|(_, bytes)| bytes).collect()
    }

    /// Takes the oldest datagram that was sent to an address.
    pub(crate) fn take_one(&mut self, to: Addr) -> Option<Vec<u8>> {
        let at = self.datagrams.iter().position(|(addr, _)| *addr == to)?;
        Some(self.datagrams.remove(at).1)
    }

    /// Nothing was sent that nobody looked at.
    #[track_caller]
    pub(crate) fn expects_nothing(&self) {
        assert_eq!(self.datagrams, []);
        assert!(
            self.streams.values().all(Vec::is_empty),
            "{:?}",
            self.streams
        );
    }

    /// Whether it ended a stream.
    pub(crate) fn has_ended(&self, on: StreamId) -> bool {
        self.ended.contains(&on)
    }

    /// The drain rule: everything is sent, and the session woken if it is time.
    #[track_caller]
    pub(crate) fn drain(&mut self) {
        self.poll_all();
        if self.is_due() {
            self.wake();
        }
    }

    /// After one waking a session sleeps: one that wants to be woken at the same moment again never would.
    #[track_caller]
    fn wake(&mut self) {
        self.session.handle_timeout(self.now);
        self.poll_all();
        assert!(!self.is_due(), "woken for nothing");
    }

    fn is_due(&self) -> bool {
        let due = self.session.poll_timeout();
        due.is_some_and(|at| at <= self.now)
    }

    #[track_caller]
    fn poll_all(&mut self) {
        self.watch.look(&self.session);
        let mut out = Vec::new();
        for _ in 0..POLLS_MAX {
            if let Some(transmit) = self.session.poll_transmit(self.now, &mut out) {
                self.carry_out(transmit, std::mem::take(&mut out));
                continue;
            }
            self.watch.look(&self.session);
            if !self.memory.answer(self.now, &mut self.session) {
                return;
            }
        }
        panic!("draining never ends");
    }

    #[track_caller]
    fn carry_out(&mut self, transmit: Transmit, bytes: Vec<u8>) {
        self.memory.check_sent(transmit, &bytes);
        match transmit {
            Transmit::Datagram { to } => {
                assert!(
                    bytes.len() <= Room::DATAGRAMS.largest.into(),
                    "{transmit:?}"
                );
                self.datagrams.push((to, bytes));
            }
            Transmit::Stream { on } => {
                assert!(!self.has_ended(on), "{on:?} has ended");
                self.use_room(on, bytes.len());
                self.streams.entry(on).or_default().extend(bytes);
            }
            Transmit::Finish { on } | Transmit::Abort { on } => {
                assert!(!self.has_ended(on), "{on:?} ended twice");
                self.ended.push(on);
                self.orders.push(transmit);
            }
            Transmit::Dial { .. } => self.orders.push(transmit),
            Transmit::Segments { .. } | Transmit::Unlink { .. } => panic!("{transmit:?}"),
        }
    }

    #[track_caller]
    fn use_room(&mut self, on: StreamId, written: usize) {
        let room = self.rooms.get_mut(&on).expect("it is open");
        let left = (*room as usize).checked_sub(written);
        let left = left.unwrap_or_else(|| panic!("{written} bytes where {room} are room"));
        *room = u32::try_from(left).expect("less than before");
        if let Window::Again(bytes) = self.window {
            self.set_room(on, bytes);
        }
    }

    fn set_room(&mut self, on: StreamId, bytes: u32) {
        self.rooms.insert(on, bytes);
        let room = Room {
            bytes,
            ..Room::CLOSED
        };
        self.session.handle_room(self.now, Path::Stream(on), room);
    }
}

impl<S: Events, M: Memory<S> + Read> Driven<S, M> {
    /// Takes what was said on a stream, or to an address.
    #[track_caller]
    pub(crate) fn heard(&mut self, on: Path) -> Vec<M::Heard> {
        match on {
            Path::Stream(id) => {
                let bytes = self.streams.entry(id).or_default();
                self.memory.read(on, bytes)
            }
            Path::Datagrams(to) => {
                let mut heard = Vec::new();
                for mut bytes in self.taken(to) {
                    heard.extend(self.memory.read(on, &mut bytes));
                    assert!(bytes.is_empty(), "not read: {bytes:02x?}");
                }
                heard
            }
            Path::Link(_) => panic!("a link as such carries nothing"),
        }
    }

    /// Exactly this was said there since somebody last looked.
    #[track_caller]
    pub(crate) fn expects(&mut self, on: Path, messages: &[M::Heard]) {
        assert_eq!(self.heard(on), messages, "{on:?}: heard (left)");
    }
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// More than any session has to say and tell at one moment, to a crowd.
const POLLS_MAX: usize = 1_000_000;
