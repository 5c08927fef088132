//! Addresses to give to nodes.

use core::net::{IpAddr, Ipv4Addr};

use tickwire_session::{Addr, Host};

/// A port of 127.0.0.1.
pub const fn loopback(port: u16) -> Addr {
    Addr {
        host: Host::Ip(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        port,
    }
}

/// A port of a machine of its own, 10.0.0.`number`: for protocols that look at the host.
pub const fn machine(number: u8, port: u16) -> Addr {
    Addr {
        host: Host::Ip(IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))),
        port,
    }
}

/// A link, whose peer is proved below the session.
pub const fn link(number: u64) -> Addr {
    Addr {
        host: Host::Link(number),
        port: 0,
    }
}
