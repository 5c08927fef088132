//! Making sockets, and saying why one cannot be made.
//!
//! In: the address that a server wants and what it carries. Out: a UDP socket and a TCP listener on
//! one port, with every option set; registering them is left to [`Sockets`](crate::sockets).

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mio::net::{TcpListener, UdpSocket};
use socket2::{Domain, Protocol, Socket, Type};

use crate::{limits, sys};

/// What a server's port carries.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Carries {
    /// UDP alone.
    Datagrams,
    /// TCP alone.
    Streams,
    /// UDP and TCP, on the same port.
    Both,
}

impl Carries {
    pub(crate) const fn datagrams(self) -> bool {
        matches!(self, Self::Datagrams | Self::Both)
    }

    pub(crate) const fn streams(self) -> bool {
        matches!(self, Self::Streams | Self::Both)
    }
}

/// Why an address could not be bound.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// Another program has the port.
    Taken {
        /// What was asked for.
        addr: SocketAddr,
    },
    /// This user may not have the port: most systems keep those below 1,024 to administrators.
    Forbidden {
        /// What was asked for.
        addr: SocketAddr,
    },
    /// The address belongs to no interface of this machine.
    Elsewhere {
        /// What was asked for.
        addr: SocketAddr,
    },
    /// The system had another reason.
    System {
        /// What was asked for.
        addr: SocketAddr,
        /// The system's words.
        source: io::Error,
    },
}

impl BindError {
    pub(crate) fn new(addr: SocketAddr, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AddrInUse => Self::Taken { addr },
            io::ErrorKind::PermissionDenied => Self::Forbidden { addr },
            io::ErrorKind::AddrNotAvailable => Self::Elsewhere { addr },
            _ => Self::System { addr, source },
        }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { addr } => write!(
                f,
                "{addr} is already in use by another program: stop it, or choose another port"
            ),
            Self::Forbidden { addr } => write!(
                f,
                "this user may not listen on {addr}: choose a port of 1024 or above, or run with \
                 the right to bind lower ones"
            ),
            Self::Elsewhere { addr } => write!(
                f,
                "{} is not an address of this machine: choose one that is, or 0.0.0.0 or [::] for \
                 all of them",
                addr.ip()
            ),
            Self::System { addr, source } => write!(f, "cannot listen on {addr}: {source}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The address of this machine from which what is sent to `to` goes. Nothing is sent for it.
///
/// # Errors
/// If no way leads there.
pub fn local_ip_towards(to: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = std::net::UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    Ok(socket.local_addr()?.ip())
}

/// The sockets of a server.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) datagrams: Option<UdpSocket>,
    pub(crate) listener: Option<TcpListener>,
}

impl Bound {
    pub(crate) fn new(addr: SocketAddr, carries: Carries) -> Result<Self, BindError> {
        let mut attempts = limits::PORT_ATTEMPTS;
        loop {
            attempts -= 1;
            match Self::attempt(addr, carries) {
                Ok(bound) => return Ok(bound),
                // The system chose a port for UDP that a TCP listener has; it will choose another.
                Err(error)
                    if error.kind() == io::ErrorKind::AddrInUse
                        && addr.port() == 0
                        && attempts > 0 => {}
                Err(error) => return Err(BindError::new(addr, error)),
            }
        }
    }

    fn attempt(mut addr: SocketAddr, carries: Carries) -> io::Result<Self> {
        let mut bound = Self {
            datagrams: None,
            listener: None,
        };
        if carries.datagrams() {
            let socket = packet_socket(addr)?;
            addr.set_port(socket.local_addr()?.port());
            bound.datagrams = Some(socket);
        }
        if carries.streams() {
            bound.listener = Some(listener(addr)?);
        }
        Ok(bound)
    }
}

/// A socket for a client's datagrams, to one family of addresses.
pub(crate) fn client_socket(to: IpAddr) -> io::Result<UdpSocket> {
    let any = match to {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        // This one would reach IPv4 as well, but not on a machine without IPv6.
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = datagram_socket(any)?;
    // A server must not ask for this: anyone could fill its turns with refusals.
    sys::keep_errors(&socket, to)?;
    Ok(socket)
}

/// A server's socket for datagrams.
pub(crate) fn packet_socket(addr: SocketAddr) -> io::Result<UdpSocket> {
    let socket = datagram_socket(addr)?;
    if addr.ip().is_unspecified() {
        sys::report_asked(&socket, addr.ip())?;
    }
    Ok(socket)
}

fn datagram_socket(addr: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
    set_dual_stack(&socket, addr)?;
    // `SO_REUSEADDR` stays off: for UDP it would let a second server take the port, and each would
    // get some of the datagrams.
    //
    // A kernel that gives less, gives what it can.
    socket
        .set_recv_buffer_size(limits::DATAGRAM_SOCKET_BUFFER)
        .ok();
    socket
        .set_send_buffer_size(limits::DATAGRAM_SOCKET_BUFFER)
        .ok();
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    Ok(UdpSocket::from_std(socket.into()))
}

fn listener(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    set_dual_stack(&socket, addr)?;
    // Without it a server could not start again for a minute, while connections of the last one are
    // in TIME_WAIT. On Windows the option means what it means for UDP elsewhere.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(limits::ACCEPT_BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

/// `[::]` serves IPv4 as well; the systems' defaults differ.
fn set_dual_stack(socket: &Socket, addr: SocketAddr) -> io::Result<()> {
    match addr.ip() {
        IpAddr::V4(_) => Ok(()),
        IpAddr::V6(ip) => socket.set_only_v6(!ip.is_unspecified()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: io::ErrorKind, says: &str) {
        let addr = SocketAddr::from(([127, 0, 0, 1], 32_422));
        let error = BindError::new(addr, kind.into());
        assert_eq!(error.to_string(), says);
    }

    #[test]
    fn an_error_says_what_to_do() {
        check(
            io::ErrorKind::AddrInUse,
            "127.0.0.1:32422 is already in use by another program: stop it, or choose another port",
        );
        check(
            io::ErrorKind::PermissionDenied,
            "this user may not listen on 127.0.0.1:32422: choose a port of 1024 or above, or run \
             with the right to bind lower ones",
        );
        check(
            io::ErrorKind::AddrNotAvailable,
            "127.0.0.1 is not an address of this machine: choose one that is, or 0.0.0.0 or [::] \
             for all of them",
        );
    }

    #[test]
    fn a_port_that_the_system_chooses_is_the_same_for_both() {
        let bound = Bound::new(([127, 0, 0, 1], 0).into(), Carries::Both).unwrap();
        let datagrams = bound.datagrams.unwrap().local_addr().unwrap();
        let streams = bound.listener.unwrap().local_addr().unwrap();
        assert_eq!(datagrams, streams);
        assert_ne!(datagrams.port(), 0);
    }
}
