//! Known bugs, planted on the wire: a checker that does not notice them checks nothing.

use tickwire_dialects::opendrakan::Server;
use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::message::{BasicChanges, Confirm, Lifecycle, Message, Way};
use tickwire_session::{Addr, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};
use tickwire_state::Tick;

use super::super::script::{bytes_of, each};

/// A mistake that a server could make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bug {
    /// Confirms a delta as one to the snapshot before its reference.
    OtherReference,
    /// Does not say what jumped.
    ForgottenJump,
    /// Says of destroyed objects that they run.
    NotDestroyed,
}

/// A server whose datagrams are wrong.
#[derive(Debug)]
pub(super) struct Saboteur {
    pub(super) server: Server,
    pub(super) bug: Option<Bug>,
}

impl Saboteur {
    fn spoil(bug: Bug, datagram: &[u8]) -> Vec<u8> {
        let mut spoilt = Vec::new();
        each(Way::ServerDatagram, datagram, |message| {
            let message = match (bug, message) {
                (Bug::OtherReference, Message::ConfirmSnapshot(confirm)) => {
                    let reference = Tick(confirm.reference.0.saturating_sub(3));
                    Message::ConfirmSnapshot(Confirm {
                        reference,
                        ..confirm
                    })
                }
                (
                    Bug::ForgottenJump,
                    Message::ObjectStates {
                        tick,
                        object,
                        states,
                    },
                ) => {
                    let calm = |change| Change {
                        jump: false,
                        ..change
                    };
                    let states: BasicChanges = states.iter().map(calm).collect();
                    Message::ObjectStates {
                        tick,
                        object,
                        states,
                    }
                }
                (
                    Bug::NotDestroyed,
                    Message::LifecycleChanged {
                        tick,
                        object,
                        lifecycle: Lifecycle::Destroyed,
                    },
                ) => Message::LifecycleChanged {
                    tick,
                    object,
                    lifecycle: Lifecycle::Running,
                },
                (_, message) => message,
            };
            spoilt.extend(bytes_of(&[message]));
        });
        spoilt
    }
}

impl Session for Saboteur {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let transmit = self.server.poll_transmit(now, out)?;
        if let (Some(bug), Transmit::Datagram { .. }) = (self.bug, transmit) {
            let datagram = out.split_off(before);
            out.extend(Self::spoil(bug, &datagram));
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
    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        self.server.visit_peers(visit);
    }
    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.server.visit_counters(visit);
    }
}
