//! Addresses as people type them.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Context, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tickwire_demo::gateway::{PROTOCOLS, Protocol};

use crate::misuse::Misuse;

/// `HOST:PORT`, or `HOST` with the protocol's own port.
pub(crate) fn resolve(typed: &str, default_port: u16) -> anyhow::Result<SocketAddr> {
    // Brackets set an IPv6 address off from its port, and are typed without one, too.
    let bare = typed
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let with_port = match bare.unwrap_or(typed).parse::<std::net::IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, default_port).to_string(),
        Err(_) if typed.contains(':') => typed.to_owned(),
        Err(_) => format!("{typed}:{default_port}"),
    };
    let found = with_port.to_socket_addrs();
    match found.map(|mut addresses| addresses.next()) {
        Ok(Some(addr)) => Ok(addr),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => bail!(Misuse(format!(
            "{typed:?} is no address: write HOST:PORT, as in 127.0.0.1:{default_port}"
        ))),
        Err(error) => Err(error).context(format!("{typed:?} is not found")),
        Ok(None) => bail!("{typed:?} names no machine"),
    }
}

/// The protocol that is meant if none is named.
pub(crate) const PROTOCOL: &str = "native";

/// The parser of every argument that takes a protocol; `--help` lists what there is.
pub(crate) fn protocol() -> impl TypedValueParser<Value = &'static Protocol> {
    let names = PROTOCOLS
        .iter()
        .map(|protocol| PossibleValue::new(protocol.name).help(protocol.about));
    PossibleValuesParser::new(names)
        .map(|typed| Protocol::named(&typed).expect("clap lets only the names of the table pass"))
}

/// The same for an argument that may stand for all of them.
pub(crate) fn protocols() -> impl TypedValueParser<Value = &'static [Protocol]> {
    let names = PROTOCOLS
        .iter()
        .map(|protocol| PossibleValue::new(protocol.name).help(protocol.about));
    let all = PossibleValue::new("all").help("every one of them");
    PossibleValuesParser::new(names.chain([all])).map(|typed| {
        let protocol = Protocol::named(&typed);
        protocol.map_or(PROTOCOLS, std::slice::from_ref)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: &str) {
        assert_eq!(resolve(typed, 7_000).unwrap().to_string(), expected);
    }

    #[test]
    fn the_port_may_be_left_out() {
        check("127.0.0.1", "127.0.0.1:7000");
        check("127.0.0.1:9", "127.0.0.1:9");
        check("::1", "[::1]:7000");
        check("[::1]:9", "[::1]:9");
        check("[::]", "[::]:7000");
    }

    #[test]
    fn nonsense_is_answered_with_an_example() {
        let error = resolve("127.0.0.1:port", 7_000).unwrap_err().to_string();
        assert!(error.contains("127.0.0.1:7000"), "{error}");
    }
}
