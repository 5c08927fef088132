//! `tickwire tunnel`: any protocol's UDP and TCP between programs that cannot encrypt.
//!
//! One end is near the client and listens where its server would be; the other is far, beside the
//! server, and is its client. Between them each address that talks to the near end has a QUIC link of
//! its own, and at the far end a socket of its own, so that the server can tell its clients apart. The
//! far end is recognised by its fingerprint, the near end by a secret that both have; what is carried
//! goes to the one configured target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{
    Client, Fingerprint, Identity, Server, TicketIssuer, Trust, derive_secret,
};
use tickwire_net::{Carries, Driver};

use crate::forward::{Exits, Forwarder};
use crate::misuse::Misuse;
use crate::stop::Stop;
use crate::{address, quic};

/// Carry a protocol's UDP and TCP, encrypted, between programs that cannot.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, clap::Subcommand)]
enum End {
    /// The end beside the client, which connects here instead of to its server.
    Near(NearArgs),
    /// The end beside the server.
    Far(FarArgs),
}

#[derive(Debug, clap::Args)]
struct NearArgs {
    /// Where the client connects: the server's own port, on this machine.
    #[arg(long, value_name = "HOST:PORT")]
    listen: String,

    /// The far end.
    #[arg(long, value_name = "HOST:PORT")]
    connect: String,

    /// The far end's fingerprint, as it shows it.
    #[arg(long, value_name = "HEX")]
    server_fingerprint: Fingerprint,

    /// A file with the secret that both ends have: 32 bytes or more, the same at both.
    #[arg(long, value_name = "FILE")]
    secret: PathBuf,
}

#[derive(Debug, clap::Args)]
struct FarArgs {
    /// Where the near end connects.
    #[arg(long, value_name = "HOST:PORT", default_value = "0.0.0.0")]
    listen: String,

    /// The server: everything that comes through goes there, and nowhere else.
    #[arg(long, value_name = "HOST:PORT")]
    target: String,

    /// Where this end's key is kept; made on the first start.
    #[arg(long, value_name = "DIR")]
    identity: PathBuf,

    /// A file with the secret that both ends have: 32 bytes or more, the same at both.
    #[arg(long, value_name = "FILE")]
    secret: PathBuf,
}

/// What the tunnel is called in the handshake.
const PROTOCOL: &str = "tunnel";

/// Addresses that talk to the near end at a time. Beyond that, newcomers are not carried.
const ROUTES: usize = 256;

/// How soon Ctrl-C is noticed where it does not end the wait by itself.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = Stop::listen()?;
    let mut tunnel = match &args.end {
        End::Near(near) => open_near(near)?,
        End::Far(far) => open_far(far)?,
    };
    while !stop.is_asked() {
        tunnel.turn(tunnel.driver.now() + LOOK_EVERY)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn open_near(args: &NearArgs) -> anyhow::Result<Forwarder> {
    let mut driver = new_driver()?;
    let listen = address::resolve(&args.listen, 0)?;
    let node = driver.bind(listen, Carries::Both)?;
    let links = driver.open();
    let to = address::resolve(&args.connect, quic::PORT)?;
    let client = Client {
        to,
        name: "tunnel".into(),
        protocol: PROTOCOL.into(),
        trust: Trust::Pinned(args.server_fingerprint),
        ticket: Vec::new(),
    };
    let tickets = TicketIssuer::new(&read_secret(&args.secret)?);
    println!("ready near {}", driver.local_addr(node).unwrap_or(listen));
    let exits = Exits::Links {
        links,
        client: client.into(),
        tickets,
    };
    Ok(Forwarder::new(driver, exits, ROUTES))
}

fn open_far(args: &FarArgs) -> anyhow::Result<Forwarder> {
    let mut driver = new_driver()?;
    let target = address::resolve(&args.target, 0)?;
    let identity = Identity::load_or_create(&args.identity)?;
    let fingerprint = identity.fingerprint();
    let tickets = TicketIssuer::new(&read_secret(&args.secret)?);
    let node = driver.open();
    let server = Server::new(identity)
        .protocol(PROTOCOL, node)
        .tickets(tickets)
        .links(ROUTES);
    let listen = address::resolve(&args.listen, quic::PORT)?;
    let listener = driver.listen(listen, server)?;
    let listen = driver.listener_addr(listener).unwrap_or(listen);
    println!("ready far {listen} quic {fingerprint}");
    Ok(Forwarder::new(driver, Exits::sockets(target), ROUTES))
}

fn new_driver() -> anyhow::Result<Driver> {
    Driver::new().context("the system has no way to wait for sockets")
}

/// The secret of both ends, from what a file holds.
fn read_secret(file: &Path) -> anyhow::Result<[u8; 32]> {
    let secret = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    if secret.len() < 32 {
        anyhow::bail!(Misuse(format!(
            "{} has {} bytes; a secret has 32 or more, as from `head -c 32 /dev/urandom`",
            file.display(),
            secret.len()
        )));
    }
    Ok(derive_secret(&secret, PROTOCOL))
}
