//! One session's place in the driver: its sockets, its streams and its inbox.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use mio::Token;
use tickwire_session::{Addr, Room, StreamId};

use crate::asked::Asked;
use crate::bind::Carries;
use crate::inbox::Inbox;
use crate::limits::PATHS_TOLD;
use crate::pipe::Pipe;

/// A session's number: its position in the slice that is given to
/// [`Driver::turn`](crate::Driver::turn).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// The position in the slice of sessions.
    pub const fn index(self) -> usize {
        self.0
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    /// What it takes from links as well as from the network.
    pub(crate) carries: Carries,
    /// Whether sockets are made when a datagram needs one.
    pub(crate) roams: bool,
    pub(crate) v4: Option<Token>,
    /// The same as `v4` if the socket serves both families.
    pub(crate) v6: Option<Token>,
    pub(crate) listener: Option<Token>,
    /// The QUIC endpoint that shares its datagram socket.
    pub(crate) endpoint: Option<usize>,
    /// Which addresses its peers ask, if it is bound to all of the machine's.
    pub(crate) asked: Option<Asked>,
    pub(crate) streams: Streams,
    pub(crate) inbox: Inbox,
    /// Datagram paths whose session was told that they take nothing at the moment.
    pub(crate) full_paths: BTreeSet<Addr>,
    /// The session may have something to say: it was called since it was last drained.
    pub(crate) dirty: bool,
    next_accepted: u32,
}

/// The streams of which a session will hear more.
pub(crate) type Streams = BTreeMap<StreamId, Carrier>;

/// What carries a stream.
#[derive(Debug)]
pub(crate) enum Carrier {
    /// A TCP connection.
    Socket(Token),
    /// A pair of queues between two nodes.
    Pipe(Pipe),
    /// A stream of a QUIC connection; numbered there once it was opened.
    Quic {
        link: u64,
        id: Option<quinn_proto::StreamId>,
    },
    /// Nothing any more; the news of that is in the inbox.
    Ended,
}

/// One stream of one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// The node's position.
    pub(crate) node: usize,
    pub(crate) on: StreamId,
}

impl Node {
    pub(crate) fn new(carries: Carries) -> Self {
        Self {
            carries,
            roams: false,
            v4: None,
            v6: None,
            listener: None,
            endpoint: None,
            asked: None,
            streams: Streams::new(),
            inbox: Inbox::default(),
            full_paths: BTreeSet::new(),
            dirty: false,
            next_accepted: 0,
        }
    }

    /// A number for a stream that a peer opened.
    pub(crate) fn number_accepted(&mut self) -> StreamId {
        loop {
            let on = StreamId::Accepted(self.next_accepted);
            self.next_accepted = self.next_accepted.wrapping_add(1);
            // After four thousand million streams an old one may still be there.
            if !self.streams.contains_key(&on) {
                return on;
            }
        }
    }

    /// The socket that reaches `ip`.
    pub(crate) const fn datagrams(&self, ip: IpAddr) -> Option<Token> {
        match ip {
            IpAddr::V4(_) => self.v4,
            IpAddr::V6(_) => self.v6,
        }
    }

    /// The address as that socket wants it.
    pub(crate) fn destination(&self, to: SocketAddr) -> SocketAddr {
        match to.ip() {
            IpAddr::V4(ip) if self.v4 == self.v6 => (ip.to_ipv6_mapped(), to.port()).into(),
            _ => to,
        }
    }

    /// A datagram path takes nothing at the moment: the session hears of it, once.
    pub(crate) fn report_full(&mut self, path: Addr) {
        if self.full_paths.len() < PATHS_TOLD && self.full_paths.insert(path) {
            let nothing = Room {
                bytes: 0,
                ..Room::DATAGRAMS
            };
            self.inbox.set_room(path, nothing);
        }
    }
}
