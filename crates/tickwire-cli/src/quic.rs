//! The options of QUIC: how `serve` proves who it is, and how `play` and `bots` make sure of it.
//!
//! In: what was typed. Out: a driver that listens or is connected. Keys and known servers are kept in a
//! folder of the user's own, unless another is named.

use std::env;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{Client, Fingerprint, Identity, Server, TicketIssuer, Trust};
use tickwire_net::{Driver, ListenerId, NodeId};
use tickwire_session::Addr;

use crate::address;
use crate::misuse::Misuse;

/// The port of every protocol over QUIC, unless told otherwise.
pub(crate) const PORT: u16 = 27_443;

/// What `serve` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// Serve every protocol encrypted, over QUIC on one port; and in the clear only where --listen says
    /// so. Without an address, 127.0.0.1:27443.
    #[arg(long, value_name = "HOST[:PORT]", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1")]
    quic: Option<String>,

    /// Where this server's own key is kept; made on the first start. Otherwise in the user's state
    /// folder.
    #[arg(long, value_name = "DIR", requires = "quic")]
    identity: Option<PathBuf>,

    /// A certificate that an authority signed, with those between the two (PEM), instead of an own key.
    /// Read again on SIGHUP.
    #[arg(long, value_name = "FILE", requires_all = ["quic", "key"], conflicts_with = "identity")]
    cert: Option<PathBuf>,

    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// Let only those in who bring a ticket of `tickwire ticket`, over QUIC.
    #[arg(long, requires = "quic")]
    tickets: bool,

    /// At most so many connections at a time, over QUIC.
    #[arg(long, value_name = "N", requires = "quic")]
    max_players: Option<usize>,
}

/// A server that listens for QUIC.
pub(crate) struct Listening {
    id: ListenerId,
    addr: SocketAddr,
    fingerprint: Fingerprint,
    /// Where a certificate is read again from, when a signal asks for it.
    certificate: Option<(PathBuf, PathBuf)>,
    is_asked: Arc<AtomicBool>,
}

impl Listening {
    /// Reads the certificate again, if somebody asked for it. Nobody who plays notices.
    pub(crate) fn renew_identity(&self, driver: &mut Driver) {
        if !self.is_asked.swap(false, Ordering::Relaxed) {
            return;
        }
        let Some((certificates, key)) = &self.certificate else {
            return;
        };
        let renewed = Identity::from_pem_files(certificates, key)
            .and_then(|identity| driver.set_identity(self.id, identity));
        match renewed {
            Ok(()) => eprintln!("tickwire: the certificate was read again"),
            // What was shown before is still good for a while.
            Err(error) => eprintln!("tickwire: the certificate stays as it was: {error}"),
        }
    }
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} quic {}", self.addr, self.fingerprint)
    }
}

impl ServerArgs {
    /// Whether protocols are served over QUIC.
    pub(crate) const fn is_wanted(&self) -> bool {
        self.quic.is_some()
    }

    /// Opens the protocols of these nodes, if that is wanted.
    pub(crate) fn listen(
        &self,
        driver: &mut Driver,
        names: &[&'static str],
        nodes: &[NodeId],
    ) -> anyhow::Result<Option<Listening>> {
        let Some(typed) = &self.quic else {
            return Ok(None);
        };
        let addr = address::resolve(typed, PORT)?;
        let identity = self.identity()?;
        let tickets = TicketIssuer::new(&identity.derive(TICKETS));
        let mut server = Server::new(identity);
        for (name, node) in names.iter().zip(nodes) {
            server = server.protocol(name, *node);
        }
        if self.tickets {
            server = server.tickets(tickets);
        }
        if let Some(most) = self.max_players {
            server = server.links(most);
        }
        let fingerprint = server.fingerprint();
        let id = driver.listen(addr, server).context("cannot serve QUIC")?;
        let addr = driver.listener_addr(id).unwrap_or(addr);
        let is_asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&is_asked))
            .context("cannot listen for SIGHUP")?;
        Ok(Some(Listening {
            id,
            addr,
            fingerprint,
            certificate: self.cert.clone().zip(self.key.clone()),
            is_asked,
        }))
    }

    fn identity(&self) -> anyhow::Result<Identity> {
        let identity = match (&self.cert, &self.key) {
            (Some(certificates), Some(key)) => Identity::from_pem_files(certificates, key),
            _ => Identity::load_or_create(&folder(self.identity.as_ref(), "identity")?),
        };
        identity.context("cannot serve QUIC")
    }
}

/// What an identity's secret for tickets is called.
const TICKETS: &str = "tickets";

/// What `play` and `bots` take.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientArgs {
    /// Connect encrypted, over QUIC; without a port, to 27443.
    #[arg(long)]
    quic: bool,

    /// The server's fingerprint, as its `ready` line shows it.
    ///
    /// Otherwise whoever answers the first time is trusted from then on, and a change is an error.
    #[arg(long, value_name = "HEX", requires = "quic")]
    server_fingerprint: Option<Fingerprint>,

    /// Trust servers whose certificate one of these authorities signed (PEM).
    #[arg(
        long,
        value_name = "FILE",
        requires = "quic",
        conflicts_with = "server_fingerprint"
    )]
    server_ca: Option<PathBuf>,

    /// Where the fingerprints of known servers are kept; otherwise in the user's state folder.
    #[arg(long, value_name = "FILE", requires = "quic")]
    known_hosts: Option<PathBuf>,

    /// A ticket, if the server asks for one: see `tickwire ticket`.
    #[arg(long, value_name = "HEX", requires = "quic", value_parser = Ticket::parse)]
    ticket: Option<Ticket>,
}

impl ClientArgs {
    /// The port that is meant if none was typed.
    pub(crate) const fn default_port(&self, protocol_port: u16) -> u16 {
        if self.quic { PORT } else { protocol_port }
    }

    /// What the session of a node calls the server: its address, or a link to it.
    pub(crate) fn connect(
        &self,
        driver: &mut Driver,
        node: NodeId,
        to: SocketAddr,
        (typed, protocol): (&str, &str),
    ) -> anyhow::Result<Addr> {
        if !self.quic {
            return Ok(to.into());
        }
        let name = typed.rsplit_once(':').map_or(typed, |(host, _)| host);
        let client = Client {
            to,
            name: name.trim_matches(['[', ']']).to_owned(),
            protocol: protocol.to_owned(),
            trust: self.trust(to)?,
            ticket: self.ticket.clone().unwrap_or_default().0,
        };
        let connected = driver.connect(node, client);
        connected.with_context(|| format!("cannot connect to {to}"))
    }

    fn trust(&self, to: SocketAddr) -> anyhow::Result<Trust> {
        if let Some(fingerprint) = self.server_fingerprint {
            return Ok(Trust::Pinned(fingerprint));
        }
        if let Some(file) = &self.server_ca {
            return Ok(Trust::Authorities(file.clone()));
        }
        Ok(Trust::FirstUse {
            known_hosts: folder(self.known_hosts.as_ref(), "known_hosts")?,
            host: to.to_string(),
        })
    }
}

/// What was named, or a file or folder in the user's own for such things.
fn folder(named: Option<&PathBuf>, name: &str) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.clone());
    }
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
    let Some(state) = state.or_else(home) else {
        anyhow::bail!(Misuse(
            "there is no home folder to keep keys in: name one with --identity, or a file with \
             --known-hosts"
                .into()
        ));
    };
    Ok(state.join("tickwire").join(name))
}

/// Says which protocols anybody on the way can read, if that is more than this machine.
pub(crate) fn warn_of_clear_ports(open: &[(&'static str, SocketAddr)]) {
    for (protocol, addr) in open.iter().filter(|(_, addr)| !addr.ip().is_loopback()) {
        eprintln!(
            "tickwire: {protocol} is in the clear on {addr}: anybody on the way can read and change \
             it; `serve --quic=HOST` encrypts"
        );
    }
}

/// Issue a ticket that lets one client in, once.
///
/// For a server that runs with --tickets and the same identity. Prints the ticket, for `--ticket`.
#[derive(Debug, clap::Args)]
pub(crate) struct TicketArgs {
    /// Where the server's key is kept; otherwise in the user's state folder.
    #[arg(long, value_name = "DIR")]
    identity: Option<PathBuf>,

    /// How long it is good. That it was used is forgotten when the server restarts: let it be short.
    #[arg(long, value_name = "N", default_value_t = 10)]
    minutes: u32,
}

pub(crate) fn issue_ticket(args: &TicketArgs) -> anyhow::Result<ExitCode> {
    let identity = Identity::load_or_create(&folder(args.identity.as_ref(), "identity")?)?;
    let issuer = TicketIssuer::new(&identity.derive(TICKETS));
    let lifetime = Duration::from_secs(60 * u64::from(args.minutes));
    let ticket = issuer
        .issue(lifetime)
        .context("the system has no randomness")?;
    let digits: String = ticket.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{digits}");
    Ok(ExitCode::SUCCESS)
}

/// A ticket as people pass it on: in hexadecimal digits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Ticket(Vec<u8>);

impl Ticket {
    fn parse(typed: &str) -> Result<Self, String> {
        let broken = || "a ticket is what `tickwire ticket` prints: hexadecimal digits".to_owned();
        let pairs = typed.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        let bytes = pairs.map(byte).collect::<Option<_>>().ok_or_else(broken)?;
        if typed.len() % 2 == 1 || !typed.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(broken());
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_read_in_whole_bytes() {
        assert_eq!(Ticket::parse("00ff1A"), Ok(Ticket(vec![0, 0xff, 0x1a])));
        for wrong in ["0", "0g", "+1", "a€"] {
            assert!(Ticket::parse(wrong).is_err(), "{wrong}");
        }
    }
}
