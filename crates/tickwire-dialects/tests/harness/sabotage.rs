//! A server that sends what is wrong: does the simulation see it?
//!
//! [`Saboteur`] stands between a server and its network and rewrites what the server sends the way one
//! with the bug would have sent it, so that no bug has to be built into the server. What the bugs are is each
//! dialect's to say. A checker that does not notice them checks nothing.

use std::fmt::Debug;

use tickwire_session::{Addr, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};

/// A mistake that a server could make.
pub(crate) trait Spoil: Send {
    /// The datagram as a server with this mistake would have sent it.
    fn spoil(&mut self, to: Addr, datagram: &[u8]) -> Vec<u8>;

    /// Makes the next bytes of a stream what a server with this mistake would have sent.
    fn spoil_stream(&mut self, _on: StreamId, _bytes: &mut [u8]) {}
}

impl<B: Spoil> Spoil for &mut B {
    fn spoil(&mut self, to: Addr, datagram: &[u8]) -> Vec<u8> {
        (**self).spoil(to, datagram)
    }

    fn spoil_stream(&mut self, on: StreamId, bytes: &mut [u8]) {
        (**self).spoil_stream(on, bytes);
    }
}

/// A bug, and how it shows.
pub(crate) trait Symptom: Copy + Debug {
    /// What only a checker says that has found this bug.
    fn symptom(self) -> &'static str;
}

/// Fails unless the simulation notices this bug with one of the seeds: the run fails with the bug's own
/// symptom, and the same seed runs well without the bug.
#[track_caller]
pub(crate) fn assert_noticed<B: Symptom, T>(
    bug: B,
    seeds: u64,
    run: impl Fn(u64, Option<B>) -> Result<T, String>,
) {
    let mut others = Vec::new();
    for seed in 0..seeds {
        let Err(found) = run(seed, Some(bug)) else {
            continue;
        };
        if !found.contains(bug.symptom()) {
            others.push(found);
        } else if let Err(found) = run(seed, None) {
            panic!("seed {seed} fails without {bug:?}: {found}");
        } else {
            return;
        }
    }
    panic!("{seeds} seeds did not show {bug:?}; what else they said: {others:#?}");
}

/// A server, with or without a bug.
#[derive(Debug)]
pub(crate) struct Saboteur<S, B> {
    pub(crate) server: S,
    pub(crate) bug: Option<B>,
}

impl<S: Session, B: Spoil> Session for Saboteur<S, B> {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let transmit = self.server.poll_transmit(now, out)?;
        match (transmit, &mut self.bug) {
            (Transmit::Datagram { to }, Some(bug)) => {
                let datagram = out.split_off(before);
                out.extend(bug.spoil(to, &datagram));
            }
            (Transmit::Stream { on }, Some(bug)) => bug.spoil_stream(on, &mut out[before..]),
            _ => {}
        }
        Some(transmit)
    }

    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.server.handle_opened(now, on, peer);
    }
    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.server.handle_stream(now, on, bytes);
    }
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.server.handle_datagram(now, from, bytes);
    }
    fn handle_room(&mut self, now: Instant, path: Path, room: Room) {
        self.server.handle_room(now, path, room);
    }
    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        self.server.handle_closed(now, path, why);
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
    }
    fn poll_timeout(&self) -> Option<Instant> {
        self.server.poll_timeout()
    }
    fn set_busy(&mut self, is_busy: bool) {
        self.server.set_busy(is_busy);
    }
    fn shut_down(&mut self, now: Instant) {
        self.server.shut_down(now);
    }
    fn is_finished(&self) -> bool {
        self.server.is_finished()
    }
    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        self.server.visit_peers(visit);
    }
    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.server.visit_counters(visit);
    }
}
