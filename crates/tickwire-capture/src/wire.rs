//! The network as it would have looked: a session's calls as packets between addresses.
//!
//! In: what a [`Tap`](tickwire_session::tap::Tap) sees. Out: [`Packet`]s for a [`Sink`]. A session does not know its
//! own address, links have none, and streams come without headers. Made up are therefore:
//!
//! | what | address |
//! |---|---|
//! | a server that is bound to one address | that address |
//! | a server that is bound to all of them | the loopback address for peers on it, else 192.0.2.1 or 2001:db8::1 |
//! | a server, for peers over links (QUIC, memory) | 2001:db8::1 and its protocol's port |
//! | the n-th client of a process | 198.18.0.0 + n, or 2001:db8:0:2::n |
//! | the peer of link n | 2001:db8:0:1::n |
//! | a port that nobody told | 49152 for datagrams, 49153 + the number of the stream for streams |
//!
//! Every byte counts in the sequence numbers of its stream, whether its packet gets into the file or not.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tickwire_session::tap::{Input, Observer};
use tickwire_session::{Addr, Ended, Host, Instant, Path, StreamId, Transmit};

use crate::limits::{SEGMENT, STREAMS};
use crate::packet::{Flags, Packet, Transport};

/// Gets every packet, on the thread that drives the session.
pub type Sink = Box<dyn FnMut(Packet) + Send>;

/// Where a watched session stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct End {
    /// What it is.
    pub role: Role,
    /// The port of the protocol's server, for links.
    pub port: u16,
}

/// Client or server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// A server, and where its socket is bound, if it has one.
    Server(Option<SocketAddr>),
    /// A client, by its number in the process.
    Client(u16),
}

/// An observer that shows a session's calls as packets.
pub struct Wire {
    end: End,
    sink: Sink,
    streams: BTreeMap<StreamId, Stream>,
}

/// A stream's addresses and sequence numbers.
#[derive(Clone, Copy, Debug)]
struct Stream {
    host: Host,
    own: SocketAddr,
    peer: SocketAddr,
    /// The sequence number of the next byte of each side.
    sent: u32,
    received: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    In,
    Out,
}

/// The first port that systems give to clients.
const EPHEMERAL: u16 = 49_152;

const SYN: Flags = Flags {
    syn: true,
    ack: false,
    psh: false,
    fin: false,
    rst: false,
};
const ACK: Flags = Flags {
    syn: false,
    ack: true,
    ..SYN
};
const SYN_ACK: Flags = Flags { ack: true, ..SYN };
const PSH_ACK: Flags = Flags { psh: true, ..ACK };
const FIN_ACK: Flags = Flags { fin: true, ..ACK };
const RST_ACK: Flags = Flags { rst: true, ..ACK };

impl Wire {
    /// Shows what goes by to `sink`.
    pub fn new(end: End, sink: Sink) -> Self {
        Self {
            end,
            sink,
            streams: BTreeMap::new(),
        }
    }

    fn begin(&mut self, on: StreamId, addr: Addr) {
        if self.streams.len() < STREAMS {
            let number = match on {
                StreamId::Accepted(number) | StreamId::Dialled(number) => number,
            };
            let (own, peer) = self.end.addresses(addr, ephemeral(number));
            self.streams.insert(
                on,
                Stream {
                    host: addr.host,
                    own,
                    peer,
                    sent: 0,
                    received: 0,
                },
            );
        }
    }

    fn datagram(&mut self, at: Instant, way: Way, addr: Addr, bytes: &[u8]) {
        let (own, peer) = self.end.addresses(addr, EPHEMERAL);
        let (from, to) = directed(way, own, peer);
        (self.sink)(Packet {
            at,
            from,
            to,
            is_inbound: way == Way::In,
            transport: Transport::Udp,
            bytes: bytes.to_vec(),
        });
    }

    fn segment(&mut self, at: Instant, way: Way, on: StreamId, flags: Flags, bytes: &[u8]) {
        let Some(stream) = self.streams.get_mut(&on) else {
            return;
        };
        let (seq, ack) = match way {
            Way::In => (&mut stream.received, stream.sent),
            Way::Out => (&mut stream.sent, stream.received),
        };
        let transport = Transport::Tcp {
            seq: *seq,
            ack,
            flags,
        };
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        // SYN and FIN take a number each, as if they were bytes.
        *seq = seq.wrapping_add(length + u32::from(flags.syn) + u32::from(flags.fin));
        let (from, to) = directed(way, stream.own, stream.peer);
        (self.sink)(Packet {
            at,
            from,
            to,
            is_inbound: way == Way::In,
            transport,
            bytes: bytes.to_vec(),
        });
    }

    fn segments(&mut self, at: Instant, way: Way, on: StreamId, bytes: &[u8]) {
        for piece in bytes.chunks(SEGMENT) {
            self.segment(at, way, on, PSH_ACK, piece);
        }
    }

    fn open(&mut self, at: Instant, on: StreamId, peer: Addr) {
        if let StreamId::Accepted(_) = on {
            self.begin(on, peer);
            self.segment(at, Way::In, on, SYN, &[]);
            self.segment(at, Way::Out, on, SYN_ACK, &[]);
            self.segment(at, Way::In, on, ACK, &[]);
        } else {
            self.segment(at, Way::In, on, SYN_ACK, &[]);
            self.segment(at, Way::Out, on, ACK, &[]);
        }
    }

    /// Ends a stream in order, beginning with whoever did so.
    fn finish(&mut self, at: Instant, first: Way, on: StreamId) {
        let second = match first {
            Way::In => Way::Out,
            Way::Out => Way::In,
        };
        self.segment(at, first, on, FIN_ACK, &[]);
        self.segment(at, second, on, FIN_ACK, &[]);
        self.segment(at, first, on, ACK, &[]);
        self.streams.remove(&on);
    }

    fn cut(&mut self, at: Instant, way: Way, on: StreamId) {
        self.segment(at, way, on, RST_ACK, &[]);
        self.streams.remove(&on);
    }

    fn unlink(&mut self, at: Instant, link: u64) {
        let streams = self.streams.iter();
        let over: Vec<_> = streams
            .filter(|(_, stream)| stream.host == Host::Link(link))
            .map(|(on, _)| *on)
            .collect();
        over.into_iter().for_each(|on| self.cut(at, Way::Out, on));
    }
}

impl Observer for Wire {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        match input {
            Input::Opened { on, peer } => self.open(now, on, peer),
            Input::Stream { on, bytes } => self.segments(now, Way::In, on, bytes),
            Input::Datagram { from, bytes } => self.datagram(now, Way::In, from, bytes),
            Input::Closed {
                path: Path::Stream(on),
                why,
            } => match why {
                Ended::Finished => self.finish(now, Way::In, on),
                Ended::Reset | Ended::Refused => self.cut(now, Way::In, on),
                Ended::Unreachable => drop(self.streams.remove(&on)),
            },
            Input::Closed { .. } | Input::Room { .. } | Input::Timeout => {}
        }
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { to } => self.datagram(now, Way::Out, to, bytes),
            Transmit::Segments { to, size } => {
                for bytes in bytes.chunks(usize::from(size).max(1)) {
                    self.datagram(now, Way::Out, to, bytes);
                }
            }
            Transmit::Stream { on } => self.segments(now, Way::Out, on, bytes),
            Transmit::Dial { on, to } => {
                self.begin(on, to);
                self.segment(now, Way::Out, on, SYN, &[]);
            }
            Transmit::Finish { on } => self.finish(now, Way::Out, on),
            Transmit::Abort { on } => self.cut(now, Way::Out, on),
            Transmit::Unlink { link } => self.unlink(now, link),
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl End {
    /// The session's own address and its peer's. `port` is for whichever of them has none.
    fn addresses(self, peer: Addr, port: u16) -> (SocketAddr, SocketAddr) {
        match (self.role, peer.host) {
            (Role::Server(bound), Host::Ip(ip)) => {
                let own = bound.map(|bound| bound.ip().to_canonical());
                let own = own.filter(|own| !own.is_unspecified() && own.is_ipv4() == ip.is_ipv4());
                let own_port = bound.map_or(self.port, |bound| bound.port());
                (
                    SocketAddr::new(own.unwrap_or_else(|| server_for(ip)), own_port),
                    SocketAddr::new(ip, peer.port),
                )
            }
            (Role::Server(_), Host::Link(link)) => (
                SocketAddr::new(SERVER_V6.into(), self.port),
                SocketAddr::new(link_address(link), port),
            ),
            (Role::Client(number), Host::Ip(ip)) => (
                SocketAddr::new(client(number, ip.is_ipv4()), port),
                SocketAddr::new(ip, peer.port),
            ),
            (Role::Client(number), Host::Link(link)) => (
                SocketAddr::new(client(number, false), port),
                SocketAddr::new(link_address(link), self.port),
            ),
        }
    }
}

const SERVER_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

fn server_for(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(ip) if ip.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V4(_) => SERVER_V4.into(),
        IpAddr::V6(ip) if ip.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V6(_) => SERVER_V6.into(),
    }
}

fn client(number: u16, is_v4: bool) -> IpAddr {
    if is_v4 {
        let [high, low] = number.to_be_bytes();
        Ipv4Addr::new(198, 18, high, low).into()
    } else {
        Ipv6Addr::new(0x2001, 0xdb8, 0, 2, 0, 0, 0, number).into()
    }
}

fn link_address(link: u64) -> IpAddr {
    let prefix = u128::from(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 0));
    Ipv6Addr::from(prefix | u128::from(link)).into()
}

/// A port of its own for each stream, as far as there are any.
fn ephemeral(number: u32) -> u16 {
    let offset = number % u32::from(u16::MAX - EPHEMERAL);
    EPHEMERAL + 1 + u16::try_from(offset).unwrap_or(0)
}

const fn directed(way: Way, own: SocketAddr, peer: SocketAddr) -> (SocketAddr, SocketAddr) {
    match way {
        Way::In => (peer, own),
        Way::Out => (own, peer),
    }
}

#[cfg(test)]
mod tests;
