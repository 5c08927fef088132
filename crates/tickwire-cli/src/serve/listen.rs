//! Where each protocol listens.
//!
//! In: what was written behind `--listen`, and the protocols that are served. Out: an address for each of
//! them, or a sentence that says what to write instead.

use std::net::SocketAddr;
use std::str::FromStr;

use tickwire_demo::gateway::Protocol;

use crate::address;
use crate::misuse::Misuse;

/// One `--listen`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Listen {
    /// Whose it is; everybody's, if none is named.
    protocol: Option<&'static str>,
    place: String,
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let Some((name, place)) = typed.split_once('=') else {
            return Ok(Self {
                protocol: None,
                place: typed.to_owned(),
            });
        };
        let protocol =
            Protocol::named(name).ok_or_else(|| format!("there is no protocol {name:?}"))?;
        Ok(Self {
            protocol: Some(protocol.name),
            place: place.to_owned(),
        })
    }
}

/// The address of each protocol, in their order.
pub(super) fn places(
    all: &[Listen],
    protocols: &[&'static Protocol],
) -> anyhow::Result<Vec<SocketAddr>> {
    let is_served = |name: &str| protocols.iter().any(|protocol| protocol.name == name);
    let named = all.iter().filter_map(|listen| listen.protocol);
    if let Some(idle) = named.into_iter().find(|name| !is_served(name)) {
        anyhow::bail!(Misuse(format!(
            "--listen {idle}=…: {idle} is not among the protocols that are served"
        )));
    }
    let place = |protocol: &&'static Protocol| {
        let own = |listen: &&Listen| listen.protocol == Some(protocol.name);
        let shared = |listen: &&Listen| listen.protocol.is_none();
        let wanted = all.iter().rfind(own);
        if let Some(wanted) = wanted {
            return address::resolve(&wanted.place, protocol.port);
        }
        let Some(wanted) = all.iter().rfind(shared) else {
            return address::resolve("127.0.0.1", protocol.port);
        };
        let addr = address::resolve(&wanted.place, protocol.port)?;
        let other = address::resolve(&wanted.place, protocol.port ^ 1)?;
        // A port that does not depend on the protocol was written down, and can be one's alone.
        if addr == other && addr.port() != 0 && protocols.len() > 1 {
            anyhow::bail!(Misuse(format!(
                "--listen {place}: two protocols cannot share a port; write which one, as in \
                 --listen {name}={place}, or leave the port out",
                place = wanted.place,
                name = protocol.name,
            )));
        }
        Ok(addr)
    };
    protocols.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use tickwire_demo::gateway::PROTOCOLS;

    use super::*;

    fn check(typed: &[&str], names: &[&str]) -> Result<Vec<String>, String> {
        let all: Result<Vec<Listen>, _> = typed.iter().map(|typed| typed.parse()).collect();
        let protocols: Vec<_> = names
            .iter()
            .map(|name| Protocol::named(name).unwrap())
            .collect();
        let found = places(&all?, &protocols).map_err(|error| error.to_string())?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_protocol_has_its_own_port_unless_told_otherwise() {
        let names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
        let ports: Vec<_> = PROTOCOLS
            .iter()
            .map(|protocol| format!("0.0.0.0:{}", protocol.port))
            .collect();
        assert_eq!(check(&["0.0.0.0"], &names), Ok(ports));
        let places = check(&["lwar=[::1]:9", "127.0.0.2"], &["lwar", "reone"]).unwrap();
        assert_eq!(places[0], "[::1]:9");
        assert!(places[1].starts_with("127.0.0.2:"));
    }

    #[test]
    fn a_port_is_one_protocol_s() {
        assert_eq!(
            check(&["127.0.0.1:9"], &["lwar"]),
            Ok(vec!["127.0.0.1:9".into()])
        );
        let refused = check(&["127.0.0.1:9"], &["lwar", "reone"]).unwrap_err();
        assert!(refused.contains("--listen lwar=127.0.0.1:9"), "{refused}");
        assert!(check(&["127.0.0.1:0"], &["lwar", "reone"]).is_ok());
        let refused = check(&["reone=127.0.0.1:9"], &["lwar"]).unwrap_err();
        assert!(refused.contains("reone is not among"), "{refused}");
        assert!(check(&["nobody=127.0.0.1"], &["lwar"]).is_err());
    }
}
