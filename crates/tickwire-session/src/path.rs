//! What a session can send on, and to whom.
//!
//! Two kinds of path exist: ordered byte *streams* (TCP, a QUIC stream, a pipe in memory), which
//! have a number, and lossy *datagrams* (UDP, QUIC datagrams, a queue in memory), which have an
//! address. Which of them belong to one peer is the session's to decide, by a token of its protocol.

use core::fmt;
use core::net::{IpAddr, SocketAddr};

/// Who an address belongs to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Host {
    /// A machine on the network: anybody can claim to be it.
    Ip(IpAddr),
    /// A peer whose identity is proved below the session (a memory pair, a QUIC connection): equal
    /// links are the same peer, and the driver keeps the number when the peer moves.
    Link(u64),
}

/// Where datagrams come from and go to, and where streams are dialled.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Addr {
    /// The machine or link.
    pub host: Host,
    /// The port there; 0 on links that have none.
    pub port: u16,
}

impl From<SocketAddr> for Addr {
    /// An IPv4 address mapped into IPv6, which a dual-stack socket reports, becomes plain IPv4, so
    /// that a peer has one address whichever socket saw it.
    fn from(addr: SocketAddr) -> Self {
        Self {
            host: Host::Ip(addr.ip().to_canonical()),
            port: addr.port(),
        }
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host {
            Host::Ip(ip) => SocketAddr::new(ip, self.port).fmt(f),
            Host::Link(link) => write!(f, "link-{link}:{}", self.port),
        }
    }
}

/// One stream of a session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum StreamId {
    /// Opened by a peer; numbered by the driver.
    Accepted(u32),
    /// Dialled by this session, which numbered it.
    Dialled(u32),
}

/// One way to send.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Path {
    /// Datagrams to this address.
    Datagrams(Addr),
    /// This stream.
    Stream(StreamId),
}

/// What a path takes now. Each report replaces the one before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Room {
    /// Bytes that can be sent before the next report. The session counts down what it sends.
    pub bytes: u32,
    /// The largest datagram; streams do not care.
    pub largest: u16,
}

impl Room {
    /// What a session assumes of a datagram path until told otherwise: 1,200 bytes cross every
    /// network in use.
    pub const DATAGRAMS: Self = Self {
        bytes: u32::MAX,
        largest: 1_200,
    };
    /// What a session assumes of a stream until told otherwise: nothing.
    pub const CLOSED: Self = Self {
        bytes: 0,
        largest: 0,
    };
}

/// Why a path ended, in both directions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// The peer finished sending, and every byte was handed in. What this side sent before is still
    /// delivered.
    Finished,
    /// Cut off; bytes may be lost.
    Reset,
    /// Nobody listens there.
    Refused,
    /// No way leads there.
    Unreachable,
}

/// What the driver shall do next.
///
/// After `Finish` and `Abort` the session hears nothing more of that stream, its end included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transmit {
    /// Send the appended bytes as one datagram.
    Datagram {
        /// Its destination.
        to: Addr,
    },
    /// Send the appended bytes on a stream. More than its [`Room`] is the session's mistake, and
    /// the driver cuts the stream.
    Stream {
        /// Which one.
        on: StreamId,
    },
    /// Open a stream; the answer is `handle_opened` or `handle_closed`.
    Dial {
        /// The number it shall have: a [`StreamId::Dialled`] that is not in use.
        on: StreamId,
        /// Who shall answer.
        to: Addr,
    },
    /// Send what is under way, then end the stream in both directions.
    Finish {
        /// Which one.
        on: StreamId,
    },
    /// Drop the stream and what is under way.
    Abort {
        /// Which one.
        on: StreamId,
    },
}
