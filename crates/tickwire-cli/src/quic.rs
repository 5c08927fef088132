//! The options of QUIC: how `serve` proves who it is, and how `play` and `bots` make sure of it.
//!
//! In: what was typed. Out: a driver that listens or is connected. Keys and known servers are kept in a
//! folder of the user's own, unless another is named.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use tickwire_demo::gateway::Notice;
use tickwire_net::quic::{Client, Fingerprint, Identity, Server, TicketIssuer, Trust};
use tickwire_net::rendezvous::{Meeting, Offer};
use tickwire_net::{Driver, ListenerId, NodeId};
use tickwire_rendezvous::Code;
use tickwire_session::Addr;

use crate::address;
use crate::misuse::Misuse;
use crate::rendezvous;
use crate::serve::report::Report;
use crate::stop::Stop;
use crate::ticket::Ticket;

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

    /// At most so many of them from one address; whoever hangs up has its place for a minute more.
    ///
    /// Otherwise 64 if other machines can connect, and no limit on this machine alone.
    #[arg(long, value_name = "N", requires = "quic", value_parser = clap::value_parser!(u16).range(1..))]
    max_per_address: Option<u16>,

    /// A file of addresses, one a line, from which nothing is read over QUIC. Read again on SIGHUP.
    #[arg(long, value_name = "FILE", requires = "quic")]
    banned: Option<PathBuf>,

    /// What the server calls itself, for `tickwire status`.
    #[arg(long, value_name = "NAME", default_value = "tickwire", value_parser = server_name)]
    server_name: String,

    #[command(flatten)]
    rendezvous: rendezvous::UserArgs,

    /// Let everybody who asks the rendezvous server see this game, not only those who have its code.
    #[arg(long, requires = "rendezvous")]
    public: bool,
}

/// A name that fits an answer, on one line.
fn server_name(typed: &str) -> Result<String, String> {
    match typed.len() <= 64 && !typed.contains(char::is_control) {
        true => Ok(typed.to_owned()),
        false => Err("a server's name is one line of at most 64 bytes".into()),
    }
}

/// A server that listens for QUIC.
pub(crate) struct Listening {
    id: ListenerId,
    addr: SocketAddr,
    fingerprint: Fingerprint,
    /// Where a certificate is read again from, when a signal asks for it.
    certificate: Option<(PathBuf, PathBuf)>,
    /// Where the banned are listed.
    banned: Option<PathBuf>,
    name: String,
    is_asked: Arc<AtomicBool>,
    /// How others find it.
    pub(crate) meeting: Option<Meeting>,
}

impl Listening {
    /// What is answered to `tickwire status`.
    pub(crate) fn tell_status(&mut self, driver: &mut Driver, report: &Report, is_draining: bool) {
        let players: usize = report.doors.iter().map(|door| door.players).sum();
        let protocols: Vec<_> = report.doors.iter().map(|door| door.protocol).collect();
        let text = format!(
            "name {}\nversion {}\nprotocols {}\nplayers {players}{}",
            self.name,
            env!("CARGO_PKG_VERSION"),
            protocols.join(" "),
            if is_draining { "\ndraining" } else { "" },
        );
        driver.set_status(self.id, text);
        if let Some(meeting) = &mut self.meeting {
            meeting.set_players(players.try_into().unwrap_or(u16::MAX));
        }
    }

    /// Lets others find this server, and says how.
    pub(crate) fn meet(&mut self, driver: &mut Driver) -> anyhow::Result<Vec<Notice>> {
        let lines = match &mut self.meeting {
            Some(meeting) => poll(meeting, driver)?,
            None => Vec::new(),
        };
        let notices = lines.into_iter();
        Ok(notices.map(|text| Notice::Answered { text }).collect())
    }

    /// Lets nobody in any more.
    pub(crate) fn close_door(&self, driver: &mut Driver) {
        driver.close_door(self.id);
    }

    /// Reads the certificate and the list of the banned again, if somebody asked for it. Nobody who plays
    /// notices.
    pub(crate) fn read_again(&self, driver: &mut Driver) {
        if !self.is_asked.swap(false, Ordering::Relaxed) {
            return;
        }
        match self.banned.as_deref().map(read_banned).transpose() {
            Ok(banned) => driver.set_banned(self.id, banned.unwrap_or_default()),
            Err(error) => eprintln!("tickwire: the banned stay as they were: {error:#}"),
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
        self.quic.is_some() || self.rendezvous.is_wanted()
    }

    /// Opens the protocols of these nodes, if that is wanted.
    pub(crate) fn listen(
        &self,
        driver: &mut Driver,
        names: &[&'static str],
        nodes: &[NodeId],
    ) -> anyhow::Result<Option<Listening>> {
        // Who is found by others is found at a port of its own, whichever it is.
        let found = self.rendezvous.is_wanted().then_some("0.0.0.0:0");
        let Some(typed) = self.quic.as_deref().or(found) else {
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
        let share = self.max_per_address.map(usize::from);
        let public_share = || (!addr.ip().is_loopback()).then_some(ADDRESS_SHARE);
        if let Some(most) = share.or_else(public_share) {
            server = server.links_per_address(most);
        }
        let fingerprint = server.fingerprint();
        let (meeting, id) = self.open(driver, addr, server, names)?;
        let addr = driver.listener_addr(id).unwrap_or(addr);
        if let Some(file) = &self.banned {
            driver.set_banned(id, read_banned(file)?);
        }
        let is_asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&is_asked))
            .context("cannot listen for SIGHUP")?;
        Ok(Some(Listening {
            id,
            addr,
            fingerprint,
            certificate: self.cert.clone().zip(self.key.clone()),
            banned: self.banned.clone(),
            name: self.server_name.clone(),
            is_asked,
            meeting,
        }))
    }

    /// Listens, and tells a rendezvous server of it if one is named.
    fn open(
        &self,
        driver: &mut Driver,
        addr: SocketAddr,
        server: Server,
        names: &[&'static str],
    ) -> anyhow::Result<(Option<Meeting>, ListenerId)> {
        let Some(rendezvous) = self.rendezvous.rendezvous()? else {
            let id = driver.listen(addr, server).context("cannot serve QUIC")?;
            return Ok((None, id));
        };
        let offer = Offer {
            protocols: names.iter().map(|&name| name.to_owned()).collect(),
            name: self.server_name.clone(),
            is_public: self.public,
        };
        let (meeting, id) =
            Meeting::host(driver, addr, server, offer, rendezvous).context("cannot serve QUIC")?;
        Ok((Some(meeting), id))
    }

    fn identity(&self) -> anyhow::Result<Identity> {
        let identity = match (&self.cert, &self.key) {
            (Some(certificates), Some(key)) => Identity::from_pem_files(certificates, key),
            _ => Identity::load_or_create(&folder(self.identity.as_ref(), "identity")?),
        };
        identity.context("cannot serve QUIC")
    }
}

/// The addresses of a file, one a line; empty lines and those that begin with `#` are skipped.
fn read_banned(file: &Path) -> anyhow::Result<BTreeSet<IpAddr>> {
    let text = fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.parse::<IpAddr>()
                .with_context(|| format!("{}: {line:?}", file.display()))
        })
        .collect()
}

/// Links of one address, unless told otherwise: a LAN party behind one router.
const ADDRESS_SHARE: usize = 64;

/// What an identity's secret for tickets is called.
pub(crate) const TICKETS: &str = "tickets";

/// What `play` and `bots` take.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientArgs {
    /// Connect encrypted, over QUIC; without a port, to 27443.
    #[arg(long, group = "encrypted")]
    quic: bool,

    /// The server's fingerprint, as its `ready` line shows it.
    ///
    /// Otherwise whoever answers the first time is trusted from then on, and a change is an error.
    #[arg(long, value_name = "HEX", requires = "encrypted")]
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
    #[arg(long, value_name = "HEX", requires = "encrypted", value_parser = Ticket::parse)]
    ticket: Option<Ticket>,

    /// Join the game with this code instead, wherever it is: encrypted, and by a rendezvous server.
    #[arg(
        long,
        value_name = "CODE",
        group = "encrypted",
        conflicts_with_all = ["connect", "quic"],
        requires = "rendezvous"
    )]
    join: Option<Code>,

    /// Use the rendezvous server's relay only, so that neither side learns where the other is.
    #[arg(long, requires = "join")]
    relay_only: bool,

    #[command(flatten)]
    rendezvous: rendezvous::UserArgs,
}

/// How clients reach their server.
pub(crate) enum Route {
    /// At its address.
    At(SocketAddr),
    /// By a meeting, which is the first session of the driver.
    By(Box<Meeting>),
}

impl Route {
    /// Leads the connections over the path that is best now; to be called after every turn. Returns what
    /// people want to know of it.
    pub(crate) fn meet(&mut self, driver: &mut Driver) -> anyhow::Result<Vec<String>> {
        match self {
            Self::At(_) => Ok(Vec::new()),
            Self::By(meeting) => poll(meeting, driver),
        }
    }
}

/// Lets a meeting do what it has to; returns what people want to know.
fn poll(meeting: &mut Meeting, driver: &mut Driver) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    while let Some(event) = meeting.poll(driver)? {
        lines.extend(rendezvous::describe(&event));
    }
    Ok(lines)
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(addr) => addr.fmt(f),
            Self::By(_) => f.write_str("by code"),
        }
    }
}

impl ClientArgs {
    /// The port that is meant if none was typed.
    const fn default_port(&self, protocol_port: u16) -> u16 {
        if self.quic { PORT } else { protocol_port }
    }

    /// Finds the server, before anything else is on the driver.
    pub(crate) fn route(
        &self,
        driver: &mut Driver,
        (typed, port): (&str, u16),
        stop: &Stop,
    ) -> anyhow::Result<Route> {
        rendezvous::check_join(self.join, &self.rendezvous)?;
        let (Some(code), Some(server)) = (self.join, self.rendezvous.rendezvous()?) else {
            return Ok(Route::At(address::resolve(typed, self.default_port(port))?));
        };
        let meeting = rendezvous::find(driver, (code, self.relay_only), server, stop)?;
        Ok(Route::By(Box::new(meeting)))
    }

    /// What the session of a node calls the server: its address, or a link to it.
    pub(crate) fn connect(
        &self,
        driver: &mut Driver,
        node: NodeId,
        route: &Route,
        (typed, protocol): (&str, &str),
    ) -> anyhow::Result<Addr> {
        let to = match route {
            Route::At(to) => *to,
            Route::By(meeting) => {
                let pinned = self.server_fingerprint.map(Trust::Pinned);
                let ticket = self.ticket.clone().unwrap_or_default().0;
                let link = meeting.connect(driver, node, protocol, pinned, ticket)?;
                return link.context("there is no path to the host");
            }
        };
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
pub(crate) fn folder(named: Option<&PathBuf>, name: &str) -> anyhow::Result<PathBuf> {
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
