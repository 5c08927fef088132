//! A packet with the headers that it would have had on a network.

use std::net::{IpAddr, SocketAddr};

use etherparse::{
    IpFragOffset, IpNumber, Ipv4Header, Ipv6Header, TcpHeader, TcpOptionElement, UdpHeader,
};
use tickwire_session::Instant;

/// A packet between two addresses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Packet {
    /// When it went by.
    pub at: Instant,
    /// Who sent it.
    pub from: SocketAddr,
    /// Who received it. Of the same family as the sender.
    pub to: SocketAddr,
    /// Whether the watched session received it.
    pub is_inbound: bool,
    /// What is between IP and the bytes.
    pub transport: Transport,
    /// What the session said.
    pub bytes: Vec<u8>,
}

/// The layer between IP and the bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the fields of TCP's header")]
pub enum Transport {
    Udp,
    Tcp { seq: u32, ack: u32, flags: Flags },
}

/// TCP's flags.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names of TCP")]
pub struct Flags {
    pub syn: bool,
    pub ack: bool,
    pub psh: bool,
    pub fin: bool,
    pub rst: bool,
}

/// Hops that are left: the usual value of a sender.
const HOPS: u8 = 64;

/// So that no window is ever full: nobody acknowledges what is only made up.
const WINDOW_SCALE: u8 = 14;

impl Packet {
    /// Appends the packet from its IP header on. `None`, and nothing is appended, if it is longer than IP allows.
    pub fn encode(&self, out: &mut Vec<u8>) -> Option<()> {
        let number = match self.transport {
            Transport::Udp => IpNumber::UDP,
            Transport::Tcp { .. } => IpNumber::TCP,
        };
        match (self.from.ip(), self.to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let (from, to) = (from.octets(), to.octets());
                let length = self.transport_len()?;
                let mut ip = Ipv4Header::new(length, HOPS, number, from, to).ok()?;
                ip.dont_fragment = true;
                ip.fragment_offset = IpFragOffset::ZERO;
                ip.header_checksum = ip.calc_header_checksum();
                let transport = self.transport_header(|header, bytes| match header {
                    Header::Udp(udp) => udp.calc_checksum_ipv4_raw(from, to, bytes).ok(),
                    Header::Tcp(tcp) => tcp.calc_checksum_ipv4_raw(from, to, bytes).ok(),
                })?;
                out.extend_from_slice(&ip.to_bytes());
                out.extend_from_slice(&transport);
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let (from, to) = (from.octets(), to.octets());
                let ip = Ipv6Header {
                    payload_length: self.transport_len()?,
                    next_header: number,
                    hop_limit: HOPS,
                    source: from,
                    destination: to,
                    ..Ipv6Header::default()
                };
                let transport = self.transport_header(|header, bytes| match header {
                    Header::Udp(udp) => udp.calc_checksum_ipv6_raw(from, to, bytes).ok(),
                    Header::Tcp(tcp) => tcp.calc_checksum_ipv6_raw(from, to, bytes).ok(),
                })?;
                out.extend_from_slice(&ip.to_bytes());
                out.extend_from_slice(&transport);
            }
            _ => return None,
        }
        out.extend_from_slice(&self.bytes);
        Some(())
    }

    /// Bytes behind the IP header.
    fn transport_len(&self) -> Option<u16> {
        let header = match self.transport {
            Transport::Udp => UdpHeader::LEN,
            Transport::Tcp { .. } => self.tcp_header()?.header_len(),
        };
        u16::try_from(header + self.bytes.len()).ok()
    }

    fn tcp_header(&self) -> Option<TcpHeader> {
        let Transport::Tcp { seq, ack, flags } = self.transport else {
            return None;
        };
        let mut tcp = TcpHeader::new(self.from.port(), self.to.port(), seq, u16::MAX);
        tcp.acknowledgment_number = if flags.ack { ack } else { 0 };
        (tcp.syn, tcp.ack, tcp.psh) = (flags.syn, flags.ack, flags.psh);
        (tcp.fin, tcp.rst) = (flags.fin, flags.rst);
        if flags.syn {
            tcp.set_options(&[TcpOptionElement::WindowScale(WINDOW_SCALE)])
                .ok()?;
        }
        Some(tcp)
    }

    fn transport_header(
        &self,
        checksum: impl FnOnce(Header<'_>, &[u8]) -> Option<u16>,
    ) -> Option<Vec<u8>> {
        match self.transport {
            Transport::Udp => {
                let mut udp = UdpHeader {
                    source_port: self.from.port(),
                    destination_port: self.to.port(),
                    length: self.transport_len()?,
                    checksum: 0,
                };
                udp.checksum = checksum(Header::Udp(&udp), &self.bytes)?;
                Some(udp.to_bytes().to_vec())
            }
            Transport::Tcp { .. } => {
                let mut tcp = self.tcp_header()?;
                tcp.checksum = checksum(Header::Tcp(&tcp), &self.bytes)?;
                Some(tcp.to_bytes().to_vec())
            }
        }
    }
}

enum Header<'a> {
    Udp(&'a UdpHeader),
    Tcp(&'a TcpHeader),
}
