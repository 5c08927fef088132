//! `tickwire tunnel`: any protocol's UDP and TCP between programs that cannot encrypt.
//!
//! One end is near the client and listens where its server would be; the other is far, beside the
//! server, and is its client. Between them each address that talks to the near end has a QUIC link of
//! its own, and at the far end a socket of its own, so that the server can tell its clients apart. The
//! far end is recognised by its fingerprint, the near end by a secret that both have; what is carried
//! goes to the one configured target.

mod leg;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{
    Client, Fingerprint, Identity, Server, TicketIssuer, Trust, derive_secret,
};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::{Addr, Ended, Instant, Session, StreamId};

use crate::misuse::Misuse;
use crate::stop::Stop;
use crate::{address, quic};
use leg::{Leg, News, Overrun};

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

/// Silence after which an address that only sends datagrams is forgotten.
const IDLE: Duration = Duration::from_secs(60);

/// How long a ticket is good that the near end makes for itself: until it arrives.
const TICKET: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = Stop::listen()?;
    let mut tunnel = match &args.end {
        End::Near(near) => Tunnel::near(near)?,
        End::Far(far) => Tunnel::far(far)?,
    };
    while !stop.is_asked() {
        tunnel.turn()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One end.
struct Tunnel {
    driver: Driver,
    /// By their nodes' positions. The first faces whoever comes.
    legs: Vec<Leg>,
    role: Role,
    /// Who talks to whom, both ways.
    routes: BTreeMap<Place, Route>,
    /// Which stream goes on as which, both ways.
    streams: BTreeMap<Half, Other>,
}

/// A stream of one of the legs.
type Half = (usize, StreamId);

#[derive(Clone, Copy)]
struct Other {
    half: Half,
    /// Where whoever opened it came in.
    entered: Place,
}

/// A peer of one of the legs.
type Place = (usize, Addr);

struct Route {
    to: Place,
    used: Instant,
}

enum Role {
    /// Each newcomer gets a link, of the second leg.
    Near {
        links: NodeId,
        client: Box<Client>,
        tickets: TicketIssuer,
    },
    /// Each link gets a node, and so a socket.
    Far {
        target: Addr,
        exits: BTreeMap<usize, NodeId>,
    },
}

/// The leg that faces whoever comes.
const ENTRANCE: usize = 0;

impl Tunnel {
    fn near(args: &NearArgs) -> anyhow::Result<Self> {
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
        let role = Role::Near {
            links,
            client: client.into(),
            tickets,
        };
        Ok(Self::new(driver, 2, role))
    }

    fn far(args: &FarArgs) -> anyhow::Result<Self> {
        let mut driver = new_driver()?;
        let target: SocketAddr = address::resolve(&args.target, 0)?;
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
        let target = target.into();
        let exits = BTreeMap::new();
        Ok(Self::new(driver, 1, Role::Far { target, exits }))
    }

    fn new(driver: Driver, legs: usize, role: Role) -> Self {
        Self {
            driver,
            legs: (0..legs).map(|_| Leg::default()).collect(),
            role,
            routes: BTreeMap::new(),
            streams: BTreeMap::new(),
        }
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        let mut sessions: Vec<_> = self
            .legs
            .iter_mut()
            .map(|leg| leg as &mut dyn Session)
            .collect();
        let until = self.driver.now() + Duration::from_secs(1);
        self.driver
            .turn(until, &mut sessions)
            .context("waiting for sockets failed")?;
        for leg in 0..self.legs.len() {
            while let Some(news) = self.legs[leg].poll_news() {
                self.pass_on(leg, news)?;
            }
        }
        self.forget_idle();
        Ok(())
    }

    fn pass_on(&mut self, leg: usize, news: News) -> anyhow::Result<()> {
        match news {
            News::Datagram { from, bytes } => {
                if let Some((other, to)) = self.route((leg, from))? {
                    self.legs[other].send_datagram(to, bytes);
                }
            }
            News::Accepted { on, peer } => match self.route((leg, peer))? {
                None => self.legs[leg].abort(on),
                Some((other, to)) => {
                    let entered = (leg, peer);
                    let [here, there] = [(leg, on), (other, self.legs[other].dial(to))];
                    for (half, other) in [(here, there), (there, here)] {
                        let other = Other {
                            half: other,
                            entered,
                        };
                        self.streams.insert(half, other);
                    }
                }
            },
            News::Bytes { on, bytes } => {
                if let Some(&Other {
                    half: (other, to), ..
                }) = self.streams.get(&(leg, on))
                    && let Err(Overrun) = self.legs[other].send(to, &bytes)
                {
                    self.legs[leg].abort(on);
                    self.part(leg, on);
                }
            }
            News::Closed { on, why } => {
                if let Some((other, to)) = self.part(leg, on) {
                    match why {
                        Ended::Finished => self.legs[other].finish(to),
                        _ => self.legs[other].abort(to),
                    }
                }
            }
            News::LinkEnded { link } => self.forget((leg, link)),
        }
        Ok(())
    }

    /// Separates the two halves of a stream.
    fn part(&mut self, leg: usize, on: StreamId) -> Option<Half> {
        let Other { half, .. } = self.streams.remove(&(leg, on))?;
        self.streams.remove(&half);
        Some(half)
    }

    /// Where what comes from a place goes on; a newcomer at the entrance gets a way of its own.
    fn route(&mut self, from: Place) -> anyhow::Result<Option<Place>> {
        let now = self.driver.now();
        if let Some(route) = self.routes.get_mut(&from) {
            route.used = now;
            return Ok(Some(route.to));
        }
        if from.0 != ENTRANCE || self.routes.len() >= 2 * ROUTES {
            return Ok(None);
        }
        let to = match &mut self.role {
            Role::Near {
                links,
                client,
                tickets,
            } => {
                client.ticket = tickets.issue(TICKET)?;
                let link = self.driver.connect(*links, Client::clone(client))?;
                (links.index(), link)
            }
            Role::Far { target, exits } => {
                let node = self.driver.open();
                let exit = node.index();
                if self.legs.len() <= exit {
                    self.legs.resize_with(exit + 1, Leg::default);
                }
                self.legs[exit] = Leg::default();
                exits.insert(exit, node);
                (exit, *target)
            }
        };
        self.routes.insert(from, Route { to, used: now });
        self.routes.insert(
            to,
            Route {
                to: from,
                used: now,
            },
        );
        Ok(Some(to))
    }

    /// Ends a way, at both of its ends.
    fn forget(&mut self, place: Place) {
        let Some(Route { to, .. }) = self.routes.remove(&place) else {
            return;
        };
        self.routes.remove(&to);
        for (leg, addr) in [place, to] {
            self.legs[leg].unlink(addr);
        }
        if let Role::Far { exits, .. } = &mut self.role
            && let Some(node) = exits.remove(&place.0.max(to.0))
        {
            self.driver.close(node);
        }
    }

    fn forget_idle(&mut self) {
        let now = self.driver.now();
        let busy: BTreeSet<_> = self.streams.values().map(|other| other.entered).collect();
        let is_idle = |route: &Route| now.since(route.used) > IDLE;
        let is_over = |&(from, route): &(&Place, &Route)| {
            let back = self.routes.get(&route.to);
            from.0 == ENTRANCE
                && !busy.contains(from)
                && is_idle(route)
                && back.is_some_and(is_idle)
        };
        let over = self.routes.iter().filter(is_over);
        let over: Vec<_> = over.map(|(from, _)| *from).collect();
        over.into_iter().for_each(|place| self.forget(place));
    }
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
