//! A server that sends what is wrong: does the simulation see it?
//!
//! [`Saboteur`] stands between a server and its network and rewrites what the server sends the way one
//! with the bug would have sent it, so that no bug has to be built into the server. What the bugs are is each
//! dialect's to say. A checker that does not notice them checks nothing.

use std::fmt::Debug;

use tickwire_session::{Addr, Instant, Session, StreamId, Transmit, pass_on_session};

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

    pass_on_session!(self => self.server; handle_opened handle_stream handle_datagram handle_room
        handle_closed handle_timeout poll_timeout is_reading set_busy shut_down is_finished visit_peers
        visit_counters);
}
