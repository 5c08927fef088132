//! Addresses, and where keys are kept.

use std::env;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use crate::error::Error;

/// The first address that a name stands for.
pub(crate) fn resolve(addr: impl ToSocketAddrs) -> Result<SocketAddr, Error> {
    addr.to_socket_addrs()?.next().ok_or(Error::NoAddress)
}

/// Whether an address is one that strangers cannot reach.
pub(crate) const fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// The user's own folder for keys and known servers.
pub(crate) fn state_folder() -> Result<PathBuf, Error> {
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
    let state = state.or_else(home).ok_or_else(|| {
        Error::Io(io::Error::other(
            "there is no home folder to keep keys in: set HOME or XDG_STATE_HOME",
        ))
    })?;
    Ok(state.join("tickwire"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_strangers_cannot_reach_are_private() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "::1",
            "fd00::1",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in ["0.0.0.0", "1.2.3.4", "172.32.0.1", "::", "2001:db8::1"] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }
}
