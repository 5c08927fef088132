//! `tickwire rendezvous`: the server by which players find each other; and the options of those who use one.
//!
//! In: what was typed. Out: a lobby on a UDP port, for STUN and QUIC, with a port of its own for each relay, and a
//! TCP port for those whom UDP does not reach; or a [`Meeting`] for `serve`, `play` and `bots`.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{Fingerprint, Identity, Server, Trust};
use tickwire_net::rendezvous::{Meeting, PORT, PROTOCOL, Rendezvous};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_rendezvous::limits::{CLIENTS_MAX, RELAY_BYTES, RELAY_RATE};
use tickwire_rendezvous::{Budget, Carried, Code, Gate, Lobby, LobbyEvent, MemberEvent, Relay};
use tickwire_session::{Events, Host, Instant, Session};

use crate::log::Log;
use crate::misuse::Misuse;
use crate::stop::Stop;
use crate::{address, quic};

/// Let players find each other by a code, through their routers, and relay those who cannot.
///
/// Prints `ready rendezvous HOST:PORT quic FINGERPRINT`, then a line a minute. Others use it by `serve
/// --rendezvous` and `play --join CODE --rendezvous`; its port answers STUN, too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to listen, by UDP and by TCP; without a port, 27478. Players whom UDP does not reach come by TCP.
    #[arg(long, value_name = "HOST[:PORT]")]
    listen: String,

    /// Where this server's key is kept; made on the first start. Otherwise in the user's state folder.
    #[arg(long, value_name = "DIR")]
    identity: Option<PathBuf>,

    /// Ports for relays, one for each pair of players who have no other path.
    #[arg(long, value_name = "FIRST-LAST", default_value = "27500-27999", value_parser = Ports::parse)]
    relay_ports: Ports,

    /// Bytes a second that one relay carries, both ways together.
    #[arg(long, value_name = "BYTES", default_value_t = RELAY_RATE)]
    relay_rate: u32,

    /// Bytes that one relay carries in all.
    #[arg(long, value_name = "BYTES", default_value_t = RELAY_BYTES)]
    relay_bytes: u64,

    /// Relay nothing: who finds no path is told so.
    #[arg(long)]
    no_relay: bool,

    /// List the public sessions of the server at --listen instead of being one.
    #[arg(long)]
    list: bool,
}

/// A range of ports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Ports {
    first: u16,
    last: u16,
}

impl Ports {
    fn parse(typed: &str) -> Result<Self, String> {
        let wrong = || "write two ports, the lower first, as in 27500-27999".to_owned();
        let (first, last) = typed.split_once('-').ok_or_else(wrong)?;
        let [first, last] = [first, last].map(|port| port.parse::<u16>().ok());
        match (first, last) {
            (Some(first), Some(last)) if 0 < first && first <= last => Ok(Self { first, last }),
            _ => Err(wrong()),
        }
    }
}

/// Between two lines of what goes on.
const LINE: Duration = Duration::from_secs(60);

/// How long a server that ends waits for its clients to hear of it.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long a list is waited for.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        return list(args);
    }
    let stop = Stop::listen()?;
    let mut office = Office::open(args)?;
    let log = Log::new();
    log.line(office.ready.clone());
    let mut next_line = office.driver.now() + LINE;
    while !stop.is_asked() && log.is_read() {
        office.turn(next_line)?;
        if office.driver.now() >= next_line {
            next_line = office.driver.now() + LINE;
            log.line(office.line());
        }
    }
    office.close()?;
    Ok(ExitCode::SUCCESS)
}

/// The rendezvous server with its sockets.
struct Office {
    driver: Driver,
    lobby: Lobby,
    /// Where the lobby's datagrams arrive.
    node: NodeId,
    gate: Gate,
    /// By their nodes' positions, from 2: the lobby is 0, the gate 1. A closed one stays until its place is used again.
    relays: Vec<Option<Open>>,
    /// The node positions of relays, by pairing.
    places: BTreeMap<u32, usize>,
    ports: Ports,
    next_port: u16,
    ip: IpAddr,
    budget: Option<Budget>,
    ready: String,
    /// What ended relays have carried.
    carried: u64,
}

struct Open {
    node: NodeId,
    pairing: u32,
    port: u16,
    relay: Relay,
}

/// Nodes in front of the relays'.
const FIRST_RELAY: usize = 2;

impl Office {
    fn open(args: &Args) -> anyhow::Result<Self> {
        let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
        let addr = address::resolve(&args.listen, PORT)?;
        let folder = quic::folder(args.identity.as_ref(), "rendezvous")?;
        let identity = Identity::load_or_create(&folder).context("cannot serve QUIC")?;
        let (key, run) = (identity.derive("rendezvous codes"), tickwire_net::secret()?);
        let fingerprint = identity.fingerprint();
        let node = driver.bind(addr, Carries::Datagrams)?;
        let server = Server::new(identity)
            .protocol(PROTOCOL, node)
            .links(CLIENTS_MAX);
        driver
            .listen_on(node, server)
            .context("cannot serve QUIC")?;
        let bound = driver.local_addr(node).unwrap_or(addr);
        driver.bind(bound, Carries::Streams)?;
        let budget = Budget {
            rate: args.relay_rate,
            bytes: args.relay_bytes,
            ..Budget::default()
        };
        Ok(Self {
            lobby: Lobby::new(driver.now(), key, run),
            node,
            gate: Gate::default(),
            relays: Vec::new(),
            places: BTreeMap::new(),
            ports: args.relay_ports,
            next_port: args.relay_ports.first,
            ip: addr.ip(),
            budget: (!args.no_relay).then_some(budget),
            ready: format!("ready rendezvous {bound} quic {fingerprint}"),
            carried: 0,
            driver,
        })
    }

    fn turn(&mut self, until: Instant) -> anyhow::Result<()> {
        // Whatever stands at the place of a closed node is left alone.
        let mut idle: Vec<_> = self.relays.iter().map(|_| closed()).collect();
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.lobby, &mut self.gate];
        for (open, idle) in self.relays.iter_mut().zip(&mut idle) {
            sessions.push(match open {
                Some(open) => &mut open.relay,
                None => idle,
            });
        }
        let turned = self.driver.turn(until, &mut sessions);
        turned.context("waiting for sockets failed")?;
        let now = self.driver.now();
        while let Some((on, link)) = self.lobby.poll_unnamed() {
            let ip = self
                .driver
                .remote_addr(link)
                .and_then(|addr| match addr.host {
                    Host::Ip(ip) => Some(ip),
                    Host::Link(_) => None,
                });
            self.lobby.name(now, on, ip);
        }
        self.exchange_packets(now);
        while let Some(event) = self.lobby.poll_event() {
            match event {
                LobbyEvent::OpenRelay { pairing, key } => match self.open_relay(pairing, key) {
                    Some(port) => self.lobby.open_relay(pairing, port),
                    None => self.lobby.refuse_relay(pairing),
                },
                LobbyEvent::CloseRelay { pairing } => self.close_relay(pairing),
            }
        }
        let over = |open: &Option<Open>| {
            let open = open.as_ref()?;
            Some((open.pairing, open.relay.ended()?))
        };
        let over: Vec<_> = self.relays.iter().filter_map(over).collect();
        for (pairing, why) in over {
            self.close_relay(pairing);
            self.lobby.end_relay(pairing, why);
        }
        Ok(())
    }

    /// Moves datagrams between the streams of those who have only TCP, and the lobby's QUIC and relays. A stream
    /// reaches nobody else.
    fn exchange_packets(&mut self, now: Instant) {
        while let Some(Carried { from, port, bytes }) = self.gate.poll_carried() {
            if port == 0 {
                self.driver.divert(from);
                self.driver.inject(self.node, from, &bytes);
            } else if let Some(open) = self.relay_at(port) {
                open.relay.handle_carried(now, from, &bytes);
            }
        }
        while let Some((to, bytes)) = self.driver.poll_diverted() {
            self.gate.send(to, 0, &bytes);
        }
        for open in self.relays.iter_mut().flatten() {
            while let Some((to, bytes)) = open.relay.poll_carried() {
                self.gate.send(to, open.port, &bytes);
            }
        }
        while let Some(gone) = self.gate.poll_closed() {
            self.driver.end_diversion(gone);
        }
    }

    fn relay_at(&mut self, port: u16) -> Option<&mut Open> {
        let mut relays = self.relays.iter_mut().flatten();
        relays.find(|open| open.port == port)
    }

    /// Opens a relay on the next free port.
    fn open_relay(&mut self, pairing: u32, key: [u8; 16]) -> Option<u16> {
        let budget = self.budget?;
        let count = u32::from(self.ports.last - self.ports.first) + 1;
        for _ in 0..count {
            let port = self.next_port;
            self.next_port = match port == self.ports.last {
                true => self.ports.first,
                false => port + 1,
            };
            let Ok(node) = self.driver.bind((self.ip, port).into(), Carries::Datagrams) else {
                continue;
            };
            let relay = Relay::new(self.driver.now(), pairing, key, budget);
            let place = node.index() - FIRST_RELAY;
            if self.relays.len() <= place {
                self.relays.resize_with(place + 1, || None);
            }
            self.relays[place] = Some(Open {
                node,
                pairing,
                port,
                relay,
            });
            self.places.insert(pairing, place);
            return Some(port);
        }
        None
    }

    fn close_relay(&mut self, pairing: u32) {
        if let Some(place) = self.places.remove(&pairing)
            && let Some(open) = self.relays[place].take()
        {
            self.carried += open.relay.carried();
            self.driver.close(open.node);
        }
    }

    fn line(&self) -> String {
        let relays = self.relays.iter().flatten();
        let carried = self.carried + relays.map(|open| open.relay.carried()).sum::<u64>();
        let mut counters = Vec::new();
        self.lobby.visit_counters(&mut |name, count| {
            if count > 0 {
                counters.push(format!("{name} {count}"));
            }
        });
        format!(
            "{:>6} s  sessions {}  relays {}  relayed {carried} bytes  by TCP {}  {}",
            self.driver.now().as_millis() / 1_000,
            self.lobby.sessions(),
            self.places.len(),
            self.gate.streams(),
            counters.join("  "),
        )
    }

    /// Tells everybody that it is over. Direct paths live on.
    fn close(&mut self) -> anyhow::Result<()> {
        let now = self.driver.now();
        self.lobby.shut_down(now);
        let deadline = now + FAREWELL;
        let is_open =
            |office: &Self| !office.lobby.is_finished() || office.driver.closing_streams() > 0;
        while is_open(self) && self.driver.now() < deadline {
            self.turn(deadline)?;
        }
        Ok(())
    }
}

fn closed() -> Relay {
    Relay::new(Instant::ZERO, 0, [0; 16], Budget::default())
}

fn list(args: &Args) -> anyhow::Result<ExitCode> {
    let user = UserArgs {
        rendezvous: Some(args.listen.clone()),
        rendezvous_fingerprint: None,
    };
    let rendezvous = user.rendezvous()?.context("--list needs --listen")?;
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let mut meeting = Meeting::list(&mut driver, "", rendezvous)?;
    let deadline = driver.now() + LIST_PATIENCE;
    while driver.now() < deadline {
        driver.turn(deadline, &mut [meeting.session()])?;
        while let Some(event) = meeting.poll(&mut driver)? {
            match event {
                MemberEvent::Listed(sessions) => {
                    for session in sessions {
                        let (protocol, name) =
                            (printable(&session.protocol), printable(&session.name));
                        println!(
                            "{}  {:>3} players  {protocol}  {name}",
                            session.code, session.players
                        );
                    }
                    return Ok(ExitCode::SUCCESS);
                }
                MemberEvent::Refused(why) => anyhow::bail!("{why}"),
                _ => {}
            }
        }
    }
    anyhow::bail!("{}: no rendezvous server answered", args.listen)
}

/// A stranger's text, without what a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// What everybody takes who uses a rendezvous server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct UserArgs {
    /// A rendezvous server (`tickwire rendezvous`), by which players find each other; without a port, 27478.
    #[arg(long, value_name = "HOST[:PORT]")]
    rendezvous: Option<String>,

    /// The rendezvous server's fingerprint, as its `ready` line shows it. Otherwise whoever answers the first
    /// time is trusted from then on.
    #[arg(long, value_name = "HEX", requires = "rendezvous")]
    rendezvous_fingerprint: Option<Fingerprint>,
}

impl UserArgs {
    pub(crate) const fn is_wanted(&self) -> bool {
        self.rendezvous.is_some()
    }

    /// The server that was named.
    pub(crate) fn rendezvous(&self) -> anyhow::Result<Option<Rendezvous>> {
        let Some(typed) = &self.rendezvous else {
            return Ok(None);
        };
        let server: SocketAddr = address::resolve(typed, PORT)?;
        let trust = match self.rendezvous_fingerprint {
            Some(fingerprint) => Trust::Pinned(fingerprint),
            None => Trust::FirstUse {
                known_hosts: quic::folder(None, "known_hosts")?,
                host: server.to_string(),
            },
        };
        Ok(Some(Rendezvous { server, trust }))
    }
}

/// How long a path is waited for: longer than a member looks for one.
const PATIENCE: Duration = Duration::from_secs(20);

/// Finds a session and a path to it, with nobody else on the driver yet.
pub(crate) fn find(
    driver: &mut Driver,
    (code, is_relay_only): (Code, bool),
    rendezvous: Rendezvous,
    stop: &Stop,
) -> anyhow::Result<Meeting> {
    let server = rendezvous.server;
    let mut meeting = Meeting::join(driver, code, rendezvous)?;
    if is_relay_only {
        meeting.use_relay_only();
    }
    let deadline = driver.now() + PATIENCE;
    let mut is_admitted = false;
    while driver.now() < deadline && !stop.is_asked() {
        let until = meeting.wake().map_or(deadline, |wake| wake.min(deadline));
        driver.turn(until, &mut [meeting.session()])?;
        while let Some(event) = meeting.poll(driver)? {
            if let Some(line) = describe(&event) {
                eprintln!("tickwire: {line}");
            }
            match event {
                MemberEvent::Path { .. } => return Ok(meeting),
                MemberEvent::Admitted { .. } => is_admitted = true,
                MemberEvent::Refused(why) => anyhow::bail!("{code}: {why}"),
                MemberEvent::NoPath => {
                    anyhow::bail!("{code}: no path to the host was found, not even by a relay")
                }
                _ => {}
            }
        }
    }
    match is_admitted {
        true => anyhow::bail!("{code}: no path to the host was found in time"),
        false => anyhow::bail!("{server}: the rendezvous server did not answer"),
    }
}

/// One line for people, of what they want to know.
pub(crate) fn describe(event: &MemberEvent) -> Option<String> {
    Some(match event {
        MemberEvent::Registered { code } => format!("others join with --join {code}"),
        MemberEvent::Refused(why) => format!("{why}"),
        MemberEvent::Admitted { name, .. } => format!("found {:?}", printable(name)),
        MemberEvent::Path { kind, to } => format!("the path is {}, over {to}", kind.word()),
        MemberEvent::PathLost { relay } => {
            let why = relay.map_or_else(String::new, |why| format!(": {why}"));
            format!("the path is lost{why}; join again with the same code")
        }
        MemberEvent::NoPath => "no path was found".into(),
        MemberEvent::Unheard => {
            "the rendezvous server is not heard by UDP: going over TCP, which is slower".into()
        }
        MemberEvent::ControlLost { .. } => {
            "the rendezvous server is gone; those who play go on, and it is tried again".into()
        }
        MemberEvent::Knocked | MemberEvent::Listed(_) => return None,
    })
}

/// Refuses a code without a server, and a server without a code.
pub(crate) fn check_join(code: Option<Code>, user: &UserArgs) -> anyhow::Result<()> {
    match (code, user.is_wanted()) {
        (Some(_), false) => anyhow::bail!(Misuse(
            "--join needs --rendezvous HOST: the server that the host of the game uses".into()
        )),
        (None, true) => anyhow::bail!(Misuse(
            "--rendezvous needs --join CODE: what the host of the game was told".into()
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_a_range() {
        assert_eq!(Ports::parse("5-9"), Ok(Ports { first: 5, last: 9 }));
        assert_eq!(Ports::parse("7-7"), Ok(Ports { first: 7, last: 7 }));
        for wrong in ["", "5", "9-5", "0-5", "5-70000", "a-b"] {
            assert!(Ports::parse(wrong).is_err(), "{wrong}");
        }
    }
}
