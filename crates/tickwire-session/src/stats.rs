//! The figures of a peer, under one set of names for every protocol.

use core::time::Duration;

use crate::Addr;

/// One peer as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PeerStats<'a> {
    /// What the peer calls itself; empty while unknown.
    pub name: &'a str,
    /// Where it was last heard from.
    pub addr: Addr,
    /// The word of the protocol's `STATES.md` for where it stands.
    pub state: &'static str,
    /// Smoothed round trip; `None` until one was measured.
    pub round_trip: Option<Duration>,
    /// Mean deviation of the round trip.
    pub jitter: Option<Duration>,
    /// What crossed the network.
    pub traffic: Traffic,
    /// Messages sent again because no acknowledgement had come.
    pub resent: u64,
    /// Datagrams and messages of this peer that were refused.
    pub refused: u64,
    /// Share of the peer's packets that got lost on the way here, 0 to 1, where the protocol can tell.
    pub loss: Option<f32>,
}

impl<'a> PeerStats<'a> {
    /// A peer of which nothing else is known yet.
    pub const fn new(name: &'a str, addr: Addr, state: &'static str) -> Self {
        Self {
            name,
            addr,
            state,
            round_trip: None,
            jitter: None,
            traffic: Traffic::NONE,
            resent: 0,
            refused: 0,
            loss: None,
        }
    }
}

/// What was sent to and received from a peer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Traffic {
    /// Datagrams, or pieces of a stream, received.
    pub packets_in: u64,
    /// Bytes received, headers of the carrier not counted.
    pub bytes_in: u64,
    /// Datagrams, or pieces of a stream, sent.
    pub packets_out: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Whole messages of the protocol received.
    pub messages_in: u64,
    /// Whole messages of the protocol sent, repetitions included.
    pub messages_out: u64,
}

impl Traffic {
    /// Nothing yet.
    pub const NONE: Self = Self {
        packets_in: 0,
        bytes_in: 0,
        packets_out: 0,
        bytes_out: 0,
        messages_in: 0,
        messages_out: 0,
    };

    /// Counts one arrival.
    pub const fn received(&mut self, bytes: usize) {
        self.packets_in += 1;
        self.bytes_in += bytes as u64;
    }

    /// Counts one sending.
    pub const fn sent(&mut self, bytes: usize) {
        self.packets_out += 1;
        self.bytes_out += bytes as u64;
    }
}
