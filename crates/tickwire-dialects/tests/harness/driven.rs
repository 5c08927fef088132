//! A session, its clock and the drain rule: what every script stands on.
//!
//! In: what a driver tells a session. Out: everything that it sent and ordered, until somebody looks. After
//! each word the session is drained, until it sleeps. What the bytes mean is the dialect's: its scripts are
//! `Driven<Server, …>` and `Driven<Client, …>`, with methods that speak its language and whatever they have to
//! remember.

use std::collections::{BTreeMap, BTreeSet};
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
    /// The room that a stream opens with. It has as much again whenever it was written to, or none.
    pub(crate) window: Window,
    /// What became of its peers.
    pub(crate) watch: Watch,
    pub(crate) memory: M,
    ended: BTreeSet<StreamId>,
}

/// How much a stream takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Window {
    /// So many bytes, once.
    Once(u32),
    /// So many bytes, again after each writing.
    #[allow(dead_code, reason = "not every dialect's streams notice")]
    Again(u32),
}

/// What a script remembers of a session, and how it judges what is sent.
pub(crate) trait Memory {
    /// Fails if the session must not send this.
    fn check_sent(&mut self, _transmit: Transmit, _bytes: &[u8]) {}
}

impl Memory for () {}

impl<S: Events, M: Memory> Driven<S, M> {
    pub(crate) fn new(session: S, now: Instant, watch: Watch, memory: M) -> Self {
        Self {
            session,
            now,
            streams: BTreeMap::new(),
            datagrams: Vec::new(),
            orders: Vec::new(),
            window: Window::Once(u32::MAX),
            watch,
            memory,
            ended: BTreeSet::new(),
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
        let until = self.now + span;
        while let Some(at) = self.session.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.session.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
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

    /// Whether it ended a stream.
    pub(crate) fn has_ended(&self, on: StreamId) -> bool {
        self.ended.contains(&on)
    }

    /// Sends everything, wakes the session if it is time, and looks at what became of its peers.
    #[track_caller]
    pub(crate) fn drain(&mut self) {
        for _ in 0..1_000 {
            let mut out = Vec::new();
            while let Some(transmit) = self.session.poll_transmit(self.now, &mut out) {
                self.carry_out(transmit, std::mem::take(&mut out));
            }
            self.watch.look(&self.session);
            if self.session.poll_timeout().is_none_or(|at| at > self.now) {
                return;
            }
            self.session.handle_timeout(self.now);
        }
        panic!("it never sleeps");
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
                self.streams.entry(on).or_default().extend(bytes);
                if let Window::Again(bytes) = self.window {
                    self.set_room(on, bytes);
                }
            }
            Transmit::Finish { on } | Transmit::Abort { on } => {
                assert!(self.ended.insert(on), "{on:?} ended twice");
                self.orders.push(transmit);
            }
            Transmit::Dial { .. } => self.orders.push(transmit),
            Transmit::Segments { .. } | Transmit::Unlink { .. } => panic!("{transmit:?}"),
        }
    }

    fn set_room(&mut self, on: StreamId, bytes: u32) {
        let room = Room {
            bytes,
            ..Room::CLOSED
        };
        self.session.handle_room(self.now, Path::Stream(on), room);
    }
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
