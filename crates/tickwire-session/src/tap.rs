//! A session around a session, which shows every call to an observer.
//!
//! [`Tap`] passes every call through and shows it to an [`Observer`], such as a [`Recorder`]: it writes a
//! recording from which [`Recording`] reads back every call, so that the same session can be run again
//! on the same input.

mod index;
mod recording;

use alloc::vec::Vec;

use crate::{
    Addr, Ended, Events, Instant, Path, Room, Session, StreamId, Transmit, pass_on_session,
};

pub use index::Index;
pub use recording::{About, BadRecording, Record, Recorded, Recorder, Recording};

/// A session with an observer on its paths.
#[derive(Clone, Debug)]
pub struct Tap<S, O> {
    /// The session; what the game calls on it needs no observer.
    pub session: S,
    /// Who watches.
    pub observer: O,
}

/// What went into a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    missing_docs,
    reason = "each variant is one handle method of `Session`"
)]
pub enum Input<'a> {
    Opened { on: StreamId, peer: Addr },
    Stream { on: StreamId, bytes: &'a [u8] },
    Datagram { from: Addr, bytes: &'a [u8] },
    Room { path: Path, room: Room },
    Closed { path: Path, why: Ended },
    Timeout,
}

impl Input<'_> {
    /// Makes the call that this input was.
    pub fn apply_to(&self, session: &mut dyn Session, now: Instant) {
        match *self {
            Self::Opened { on, peer } => session.handle_opened(now, on, peer),
            Self::Stream { on, bytes } => session.handle_stream(now, on, bytes),
            Self::Datagram { from, bytes } => session.handle_datagram(now, from, bytes),
            Self::Room { path, room } => session.handle_room(now, path, room),
            Self::Closed { path, why } => session.handle_closed(now, path, why),
            Self::Timeout => session.handle_timeout(now),
        }
    }
}

/// Sees what goes into and comes out of a session, on the thread that drives it.
pub trait Observer: Send {
    /// A `handle_*` call, before the session gets it.
    fn input(&mut self, now: Instant, input: Input<'_>);
    /// What `poll_transmit` returned, with its bytes.
    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        (**self).input(now, input);
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        (**self).output(now, transmit, bytes);
    }
}

/// Two observers see the same.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        self.0.input(now, input);
        self.1.input(now, input);
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        self.0.output(now, transmit, bytes);
        self.1.output(now, transmit, bytes);
    }
}

impl<S: Session, O: Observer> Tap<S, O> {
    /// Watches `session`.
    pub const fn new(session: S, observer: O) -> Self {
        Self { session, observer }
    }

    fn pass(&mut self, now: Instant, input: Input<'_>) {
        self.observer.input(now, input);
        input.apply_to(&mut self.session, now);
    }
}

impl<S: Session, O: Observer> Session for Tap<S, O> {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.pass(now, Input::Opened { on, peer });
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.pass(now, Input::Stream { on, bytes });
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.pass(now, Input::Datagram { from, bytes });
    }

    fn handle_room(&mut self, now: Instant, path: Path, room: Room) {
        self.pass(now, Input::Room { path, room });
    }

    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        self.pass(now, Input::Closed { path, why });
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.pass(now, Input::Timeout);
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let transmit = self.session.poll_transmit(now, out)?;
        self.observer
            .output(now, transmit, out.get(before..).unwrap_or_default());
        Some(transmit)
    }

    pass_on_session!(self => self.session; poll_timeout is_reading set_busy shut_down is_finished visit_peers
        visit_counters);
}

impl<S: Events, O: Observer> Events for Tap<S, O> {
    type Event = S::Event;

    fn poll_event(&mut self) -> Option<S::Event> {
        self.session.poll_event()
    }
}

#[cfg(test)]
mod tests;
