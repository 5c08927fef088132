//! A session that does nothing: what a small one passes on to for everything that does not concern it.

use crate::{Addr, Bytes, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};

/// Ignores what it is told and never has anything to say.
///
/// A stand-in in a test or a benchmark writes the two or three methods that it is about, and leaves the others to
/// this one: `pass_on_session!(self => Idle; handle_opened handle_stream …);`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle;

impl Session for Idle {
    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}
    fn handle_datagram(&mut self, _now: Instant, _from: Addr, _bytes: &[u8]) {}
    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}
    fn handle_closed(&mut self, _now: Instant, _path: Path, _why: Ended) {}
    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, _now: Instant, _out: &mut Bytes) -> Option<Transmit> {
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn set_busy(&mut self, _is_busy: bool) {}
    fn shut_down(&mut self, _now: Instant) {}

    fn is_finished(&self) -> bool {
        false
    }

    fn visit_peers(&self, _visit: &mut dyn FnMut(&PeerStats<'_>)) {}
    fn visit_counters(&self, _visit: &mut dyn FnMut(&'static str, u64)) {}
}
