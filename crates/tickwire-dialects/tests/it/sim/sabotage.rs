//! Known bugs, planted on the wire: does the simulation see them?
//!
//! [`Saboteur`] stands between a server and its network and rewrites packets the way a server with the
//! bug would have sent them, so that no bug has to be built into the server.

use std::collections::BTreeMap;

use tickwire_dialects::lwar::message::{Framed, Reliable};
use tickwire_dialects::lwar::{Header, Reader, Server};
use tickwire_session::{Addr, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};

/// What a bad server would do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bug {
    /// Each reliable message is sent once, lost or not.
    ResendForgotten,
    /// Acknowledges the message after the last one that it processed.
    AckOffByOne,
}

/// A server, with or without a bug.
pub(crate) struct Saboteur {
    pub(crate) server: Server,
    pub(crate) bug: Option<Bug>,
    /// The newest reliable message that each client was sent.
    sent: BTreeMap<Addr, u32>,
}

impl Saboteur {
    pub(crate) fn new(server: Server, bug: Option<Bug>) -> Self {
        Self {
            server,
            bug,
            sent: BTreeMap::new(),
        }
    }

    fn rewrite(&mut self, to: Addr, packet: &[u8]) -> Vec<u8> {
        let mut r = Reader::new(packet);
        let mut header = Header::decode(&mut r).expect("a server's own packet");
        if self.bug == Some(Bug::AckOffByOne) {
            header.ack += 1;
        }
        let mut out = Vec::new();
        let mut w = header.begin(&mut out);
        while !r.is_empty() {
            let message = Framed::decode(&mut r).expect("a server's own message");
            if let Framed::Reliable {
                seq,
                content: Ok(content),
            } = message
            {
                let newest = self.sent.entry(to).or_default();
                let first = matches!(content, Reliable::Join { .. }) && seq == 1;
                // A Join that answers a Connect is no resend: without it nobody would get in.
                if self.bug == Some(Bug::ResendForgotten) && seq <= *newest && !first {
                    continue;
                }
                *newest = seq.max(*newest);
            }
            message.encode(&mut w);
        }
        out
    }
}

impl Session for Saboteur {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let transmit = self.server.poll_transmit(now, out)?;
        if let (Transmit::Datagram { to }, Some(_)) = (transmit, self.bug) {
            let packet = self.rewrite(to, &out[before..]);
            out.truncate(before);
            out.extend(packet);
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
