//! Plain sockets, for peers that do what no session would.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};

/// A TCP peer that reads and writes only when told to.
pub(crate) struct Bystander {
    tcp: TcpStream,
    pub(crate) heard: Vec<u8>,
    /// How the other side ended it.
    pub(crate) ended: Option<io::Result<()>>,
}

impl Bystander {
    pub(crate) fn dial(to: SocketAddr) -> Self {
        let tcp = TcpStream::connect(to).unwrap();
        tcp.set_nonblocking(true).unwrap();
        Self {
            tcp,
            heard: Vec::new(),
            ended: None,
        }
    }

    /// Writes what the kernel takes now.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        match self.tcp.write(bytes) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => panic!("writing failed: {error}"),
        }
    }

    /// Reads what has arrived.
    pub(crate) fn read(&mut self) {
        let mut piece = [0; 16 * 1_024];
        while self.ended.is_none() {
            match self.tcp.read(&mut piece) {
                Ok(0) => self.ended = Some(Ok(())),
                Ok(length) => self.heard.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => self.ended = Some(Err(error)),
            }
        }
    }

    pub(crate) fn has_something_to_read(&self) -> bool {
        self.tcp.peek(&mut [0]).is_ok()
    }

    pub(crate) fn finish_writing(&self) {
        self.tcp.shutdown(Shutdown::Write).unwrap();
    }
}

/// A UDP socket on loopback.
pub(crate) fn udp() -> UdpSocket {
    udp_at(Ipv4Addr::LOCALHOST)
}

/// A UDP socket on all addresses.
pub(crate) fn udp_anywhere() -> UdpSocket {
    udp_at(Ipv4Addr::UNSPECIFIED)
}

fn udp_at(addr: Ipv4Addr) -> UdpSocket {
    let udp = UdpSocket::bind((addr, 0)).unwrap();
    udp.set_nonblocking(true).unwrap();
    udp
}

/// An address where nobody listens: the system never gives this port to one that asks for any, and
/// the service it belongs to (discard) is long out of use.
pub(crate) const DESERTED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9);
