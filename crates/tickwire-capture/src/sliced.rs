//! What a frame carries: a datagram, a piece of a stream, or something that is not followed here.
//!
//! Lengths are taken as far as the bytes go, so that a packet that was captured in part is shown in part.

use std::net::{IpAddr, SocketAddr};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_file::DataLink;

use crate::frames::Frame;
use crate::packet::Flags;

/// What a frame carries.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Sliced<'a> {
    /// A datagram or a piece of a stream.
    Segment(Segment<'a>),
    /// Part of a packet that was cut on the way. They are not put together.
    Fragment {
        /// Who sent it.
        from: IpAddr,
        /// Who receives it.
        to: IpAddr,
        /// What it holds, behind the IP header.
        bytes: &'a [u8],
    },
    /// Something else, in words, and its bytes.
    Other(&'static str, &'a [u8]),
    /// A frame of a network whose headers are not known here, by the number of its link type.
    Link(u32, &'a [u8]),
}

/// A datagram, or a piece of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// Who receives it.
    pub to: SocketAddr,
    /// The sequence number and flags of a stream; `None` for a datagram.
    pub tcp: Option<(u32, Flags)>,
    /// What is behind the headers.
    pub bytes: &'a [u8],
    /// Whether there was more of it that was not captured.
    pub is_cut: bool,
}

impl<'a> Sliced<'a> {
    /// Looks at a frame.
    pub fn of(frame: &'a Frame<'_>) -> Self {
        let bytes = &*frame.bytes;
        let is_cut = (bytes.len() as u64) < u64::from(frame.length);
        let sliced = match frame.link {
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => of_ip(bytes),
            // A word that says which family follows, in the byte order of whoever captured it.
            DataLink::NULL | DataLink::LOOP => bytes.get(4..).map_or(Err(SHORT), of_ip),
            DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(bytes).map_err(|_| SHORT),
            DataLink::LINUX_SLL => of_cooked(bytes, 14, 16),
            DataLink::LINUX_SLL2 => of_cooked(bytes, 0, 20),
            link => return Self::Link(u32::from(link), bytes),
        };
        match sliced {
            Ok(packet) => Self::of_packet(&packet, bytes, is_cut),
            Err(what) => Self::Other(what, bytes),
        }
    }

    fn of_packet(packet: &LaxSlicedPacket<'a>, bytes: &'a [u8], is_cut: bool) -> Self {
        let (from, to): (IpAddr, IpAddr) = match &packet.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                )
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                )
            }
            Some(LaxNetSlice::Arp(_)) => return Self::Other("ARP", bytes),
            None => return Self::Other("not IP", bytes),
        };
        let Some(payload) = packet.ip_payload() else {
            return Self::Other("not IP", bytes);
        };
        if payload.fragmented {
            let bytes = payload.payload;
            return Self::Fragment { from, to, bytes };
        }
        let is_cut = is_cut || payload.incomplete;
        match &packet.transport {
            Some(TransportSlice::Udp(udp)) => Self::Segment(Segment {
                from: SocketAddr::new(from, udp.source_port()),
                to: SocketAddr::new(to, udp.destination_port()),
                tcp: None,
                bytes: udp.payload(),
                is_cut,
            }),
            Some(TransportSlice::Tcp(tcp)) => {
                let flags = Flags {
                    syn: tcp.syn(),
                    ack: tcp.ack(),
                    psh: tcp.psh(),
                    fin: tcp.fin(),
                    rst: tcp.rst(),
                };
                Self::Segment(Segment {
                    from: SocketAddr::new(from, tcp.source_port()),
                    to: SocketAddr::new(to, tcp.destination_port()),
                    tcp: Some((tcp.sequence_number(), flags)),
                    bytes: tcp.payload(),
                    is_cut,
                })
            }
            _ => {
                let name = payload.ip_number.keyword_str();
                Self::Other(name.unwrap_or("another protocol over IP"), payload.payload)
            }
        }
    }
}

const SHORT: &str = "too short for its headers";

fn of_ip(bytes: &[u8]) -> Result<LaxSlicedPacket<'_>, &'static str> {
    LaxSlicedPacket::from_ip(bytes).map_err(|_| "not IP")
}

/// Linux' own header: the protocol is at one place, and what follows at another.
fn of_cooked(
    bytes: &[u8],
    protocol_at: usize,
    header: usize,
) -> Result<LaxSlicedPacket<'_>, &'static str> {
    let protocol = bytes
        .get(protocol_at..)
        .and_then(|bytes| bytes.first_chunk());
    let (Some(protocol), Some(bytes)) = (protocol, bytes.get(header..)) else {
        return Err(SHORT);
    };
    let protocol = EtherType(u16::from_be_bytes(*protocol));
    Ok(LaxSlicedPacket::from_ether_type(protocol, bytes))
}
