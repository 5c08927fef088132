//! What a session can send on, and to whom.
//!
//! Two kinds of path exist: ordered byte *streams* (TCP, a QUIC stream, a pipe in memory), which
//! have a number, and lossy *datagrams* (UDP, QUIC datagrams, a queue in memory), which have an
//! address. Which of them belong to one peer is the session's to decide, by a token of its protocol;
//! only over a *link* the driver has proved it already.

use core::fmt;
use core::net::{AddrParseError, IpAddr, SocketAddr};
use core::str::FromStr;

/// Who an address belongs to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Host {
    /// A machine on the network: anybody can claim to be it.
    Ip(IpAddr),
    /// A peer whose identity is proved below the session (a memory pair, a QUIC connection): equal
    /// links are the same peer, and the driver keeps the number when the peer moves. A link begins
    /// with the first thing that comes over it, and ends as [`Path::Link`]; its number is not used
    /// again.
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

impl FromStr for Addr {
    type Err = AddrParseError;

    /// Reads `HOST:PORT` of a machine, as in `127.0.0.1:7777` or `[::1]:7777`. Links have no name that a
    /// person types, and names of machines are looked up by whoever has a resolver.
    fn from_str(typed: &str) -> Result<Self, AddrParseError> {
        typed.parse::<SocketAddr>().map(Self::from)
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

/// What a session hears of: one way to send, or all ways to one peer.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Path {
    /// Datagrams to this address.
    Datagrams(Addr),
    /// This stream.
    Stream(StreamId),
    /// Everything over this link (see [`Host::Link`]). It has an end, but no room of its own: its
    /// datagrams and streams have.
    Link(u64),
}

/// What a path takes now. Each report replaces the one before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Room {
    /// Bytes that can be sent before the next report; the session counts down what it sends
    /// ([`spend`](Self::spend)). `u32::MAX`: no bound is known. On a datagram path it is advice: above
    /// it, datagrams are likely to be dropped, so a session saves itself the work of encoding them.
    pub bytes: u32,
    /// The largest datagram. 0: the path takes no datagrams at all, and everything goes by stream.
    /// Of a stream's room it says nothing.
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

    /// Counts down what was sent. A path without a known bound stays one: nobody would report again
    /// after four gigabytes.
    pub fn spend(&mut self, bytes: usize) {
        if self.bytes != u32::MAX {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }
}

/// Why a path ended, in both directions.
///
/// There is no half-closed stream: when one side finished, the other can send nothing more. No
/// protocol here answers after its peer has said the last word, a session would need two more states
/// for each stream to allow for it, and a peer that only closes its sending side still gets all that
/// was sent before this side heard of it. Over QUIC, a driver finishes its own side when the peer
/// finished.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// The peer ended it in order. Of a stream, every byte was handed in, and what this side sent
    /// before is still delivered.
    Finished,
    /// Cut off, or the peer fell silent; bytes may be lost.
    Reset,
    /// Nobody listens there.
    Refused,
    /// No way leads there.
    Unreachable,
}

/// What the driver is to do next.
///
/// After `Finish`, `Abort` and `Unlink` the session hears nothing more of that stream or link, its
/// end included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transmit {
    /// Send the appended bytes as one datagram.
    Datagram {
        /// Its destination.
        to: Addr,
    },
    /// Send the appended bytes as several datagrams, which the system may take in one call (GSO).
    Segments {
        /// Their destination.
        to: Addr,
        /// Bytes of each, at least 1; the last may be shorter.
        size: u16,
    },
    /// Send the appended bytes on a stream. More than its [`Room`] is the session's mistake, and
    /// the driver cuts the stream.
    Stream {
        /// Which one.
        on: StreamId,
    },
    /// Open a stream; the answer is `handle_opened` or `handle_closed`.
    Dial {
        /// Its number: a [`StreamId::Dialled`] that is not in use.
        on: StreamId,
        /// Who is dialled.
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
    /// End a link, and with it every stream over it; what is under way may be lost. The peer hears
    /// [`Ended::Reset`] of each stream, then [`Ended::Finished`] of the link.
    Unlink {
        /// Which one.
        link: u64,
    },
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_shown() {
        for typed in ["127.0.0.1:7777", "[::1]:0"] {
            let addr: Addr = typed.parse().unwrap();
            assert_eq!(addr.to_string(), typed);
        }
        let mapped: Addr = "[::ffff:10.0.0.1]:5".parse().unwrap();
        assert_eq!(mapped, "10.0.0.1:5".parse().unwrap());
        assert!("localhost:1".parse::<Addr>().is_err());
        assert!("link-1:0".parse::<Addr>().is_err());
    }

    #[test]
    fn only_a_bound_is_counted_down() {
        let mut room = Room {
            bytes: 1_000,
            ..Room::DATAGRAMS
        };
        room.spend(400);
        assert_eq!(room.bytes, 600);
        room.spend(700);
        assert_eq!(room.bytes, 0);

        let mut open = Room::DATAGRAMS;
        open.spend(usize::MAX);
        assert_eq!(open, Room::DATAGRAMS);
    }
}
