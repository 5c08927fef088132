//! What encryption costs: QUIC links against UDP in the clear, handshakes, and a thousand clients.
//!
//! Server and clients are two drivers on loopback. Only the server's processor time counts, in the
//! program and in the kernel; both sides of a comparison have the same sessions and send the same.

mod talker;

use std::time::Duration;

use anyhow::{Context as _, bail};
use tickwire_net::quic::{Client, Fingerprint, Identity, Server, Trust};
use tickwire_net::{Carries, Driver};
use tickwire_session::{Addr, Session};

use super::ANY_PORT;
use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};
use talker::Talker;

const ROUNDS: usize = 30;

/// Steps of each side in a round.
const STEPS: u32 = 60;

/// What a snapshot is long.
const SNAPSHOT: usize = 300;

/// What an input is long.
const INPUT: usize = 40;

const CLIENTS: usize = 64;

/// Of the crowd.
const CROWD: usize = 1_000;

/// As many as one host may do at once.
const HANDSHAKES: usize = 100;

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let handshake = handshakes()?;
    let mut sides = (Table::clear(CLIENTS)?, Table::encrypted(CLIENTS)?);
    let rounds = Rounds::run(
        ROUNDS,
        &mut sides,
        |(_, encrypted)| encrypted.play(),
        |(clear, _)| clear.play(),
    )?;
    let sending = rounds.compare(|slice| slice.sending);
    let both = rounds.compare(|slice| slice.sending + slice.receiving);
    drop(sides);
    let before = resident_bytes()?;
    let mut crowd = Table::encrypted(CROWD)?;
    let memory = (resident_bytes()? - before) / CROWD as f64;
    let cores = crowd.cores()?;
    let against_clear = |spread| {
        Some(Ratio {
            spread,
            to: "UDP in the clear",
        })
    };
    Ok(vec![
        Figure {
            // 2,000 a second on one core.
            target: Some(Target::AtMost(500.0)),
            ..Figure::plain("QUIC handshake, server", handshake, "µs")
        },
        Figure {
            ratio: against_clear(sending.ratio),
            target: Some(Target::RatioAtMost(2.5)),
            ..Figure::plain("QUIC snapshot, server", sending.first, "ns/datagram")
        },
        Figure {
            ratio: against_clear(both.ratio),
            ..Figure::plain("· with an input", both.first, "ns/datagram")
        },
        Figure {
            target: Some(Target::AtMost(0.7)),
            ..Figure::plain("1,000 QUIC clients", Spread::exactly(cores), "cores")
        },
        Figure::plain(
            "· a snapshot",
            Spread::exactly(crowd.packets_a_snapshot()),
            "packets",
        ),
        Figure::plain("· heard", Spread::exactly(crowd.share_heard()), "of all"),
        Figure {
            // 64 KiB for the server's end; a client's has a socket's bookkeeping besides.
            target: Some(Target::AtMost(2.0 * 65_536.0)),
            ..Figure::plain(
                "· memory, both ends",
                Spread::exactly(memory),
                "bytes/connection",
            )
        },
    ])
}

/// What a datagram of each kind took the server, in nanoseconds.
struct Slice {
    sending: f64,
    receiving: f64,
}

/// A server and its clients.
struct Table {
    server: Driver,
    session: Talker,
    clients: Driver,
    pilots: Vec<Talker>,
    snapshots: u64,
    packets_before: u64,
}

impl Table {
    fn clear(count: usize) -> anyhow::Result<Self> {
        let mut server = Driver::new()?;
        let node = server.bind(ANY_PORT, Carries::Datagrams)?;
        let to = server.local_addr(node).context("it was just bound")?;
        let mut table = Self::new(server)?;
        for _ in 0..count {
            table.clients.open();
            table.pilots.push(Talker::to(to.into()));
        }
        table.settle()?;
        Ok(table)
    }

    fn encrypted(count: usize) -> anyhow::Result<Self> {
        let (server, client) = listen()?;
        let mut table = Self::new(server)?;
        while table.pilots.len() < count {
            // A server need not put up with more from one machine.
            for _ in 0..CLIENTS.min(count - table.pilots.len()) {
                let to = connect(&mut table.clients, &client)?;
                table.pilots.push(Talker::to(to));
            }
            table.settle()?;
        }
        Ok(table)
    }

    fn new(server: Driver) -> anyhow::Result<Self> {
        Ok(Self {
            server,
            session: Talker::default(),
            clients: Driver::new()?,
            pilots: Vec::new(),
            snapshots: 0,
            packets_before: 0,
        })
    }

    /// Goes on until the server has heard of everybody.
    fn settle(&mut self) -> anyhow::Result<()> {
        let deadline = self.server.now() + PATIENCE;
        while self.session.peers() < self.pilots.len() {
            if self.server.now() > deadline {
                bail!("{} of {} came", self.session.peers(), self.pilots.len());
            }
            let known = self.pilots.iter_mut().filter(|pilot| pilot.heard == 0);
            known.for_each(|pilot| pilot.say(INPUT));
            self.session.say(INPUT);
            self.turn_server(Duration::from_millis(2))?;
            self.turn_clients()?;
        }
        Ok(())
    }

    fn turn_server(&mut self, longest: Duration) -> anyhow::Result<()> {
        let until = self.server.now() + longest;
        Ok(self.server.run_until(until, &mut [&mut self.session])?)
    }

    fn turn_clients(&mut self) -> anyhow::Result<()> {
        let pilots = self.pilots.iter_mut();
        let mut sessions: Vec<_> = pilots.map(|pilot| pilot as &mut dyn Session).collect();
        let now = self.clients.now();
        Ok(self.clients.turn(now, &mut sessions)?)
    }

    /// A snapshot for everybody, and then an input of each, so many times.
    fn play(&mut self) -> anyhow::Result<Slice> {
        let (mut sending, mut receiving) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..STEPS {
            self.session.say(SNAPSHOT);
            let (time, turned) = timed(|| self.turn_server(Duration::ZERO));
            turned?;
            sending += time;
            self.turn_clients()?;
            self.pilots.iter_mut().for_each(|pilot| pilot.say(INPUT));
            self.turn_clients()?;
            let (time, turned) = timed(|| self.turn_server(Duration::ZERO));
            turned?;
            receiving += time;
        }
        let datagrams = f64::from(STEPS) * self.pilots.len() as f64;
        Ok(Slice {
            sending: sending.as_nanos() as f64 / datagrams,
            receiving: receiving.as_nanos() as f64 / datagrams,
        })
    }

    /// What part of a core the server takes, with 20 snapshots and 60 inputs a second for each.
    fn cores(&mut self) -> anyhow::Result<f64> {
        const SECONDS: u32 = 5;
        let mut spent = Duration::ZERO;
        self.packets_before = self.server.counters().datagrams_sent;
        self.pilots.iter_mut().for_each(|pilot| pilot.heard = 0);
        let began = self.server.now();
        for step in 0..60 * SECONDS {
            if step % 3 == 0 {
                self.session.say(SNAPSHOT);
                self.snapshots += self.session.peers() as u64;
            }
            self.pilots.iter_mut().for_each(|pilot| pilot.say(INPUT));
            self.turn_clients()?;
            let due = began + Duration::from_secs(1) * (step + 1) / 60;
            let left = due.since(self.server.now());
            let (time, turned) = timed(|| self.turn_server(left));
            turned?;
            spent += time;
        }
        let lasted = self.server.now().since(began);
        Ok(spent.as_secs_f64() / lasted.as_secs_f64())
    }

    fn share_heard(&self) -> f64 {
        let heard: u64 = self.pilots.iter().map(|pilot| pilot.heard).sum();
        heard as f64 / self.snapshots as f64
    }

    fn packets_a_snapshot(&self) -> f64 {
        let packets = self.server.counters().datagrams_sent - self.packets_before;
        packets as f64 / self.snapshots as f64
    }
}

/// What the server's part of a handshake takes, in microseconds.
fn handshakes() -> anyhow::Result<Spread> {
    let mut samples = Vec::new();
    for _ in 0..9 {
        let mut spent = Duration::ZERO;
        let (mut server, client) = listen()?;
        let mut session = Talker::default();
        let mut clients = Driver::new()?;
        let mut pilots = [(); HANDSHAKES].map(|()| Talker::default());
        for _ in 0..HANDSHAKES {
            connect(&mut clients, &client)?;
        }
        while server.counters().links_accepted < HANDSHAKES as u64 {
            let now = clients.now();
            let mut sessions = pilots.each_mut().map(|pilot| pilot as &mut dyn Session);
            clients.turn(now, &mut sessions)?;
            let until = server.now() + Duration::from_millis(1);
            let (time, turned) = timed(|| server.turn(until, &mut [&mut session]));
            turned?;
            spent += time;
        }
        samples.push(spent.as_secs_f64() * 1e6 / HANDSHAKES as f64);
    }
    Ok(Spread::of(samples))
}

/// Memory that this process has.
fn resident_bytes() -> anyhow::Result<f64> {
    const PAGE: f64 = 4_096.0;
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let resident = pages.split(' ').nth(1).context("the second figure")?;
    Ok(resident.parse::<f64>()? * PAGE)
}

/// A server, and what its clients need.
fn listen() -> anyhow::Result<(Driver, Client)> {
    let mut driver = Driver::new()?;
    let node = driver.open();
    let identity = Identity::generate()?;
    let fingerprint: Fingerprint = identity.fingerprint();
    let server = Server::new(identity).protocol(PROTOCOL, node);
    let listener = driver.listen(ANY_PORT, server)?;
    let to = driver.listener_addr(listener).context("it listens")?;
    let client = Client {
        to,
        name: "localhost".into(),
        protocol: PROTOCOL.into(),
        trust: Trust::Pinned(fingerprint),
        ticket: Vec::new(),
    };
    Ok((driver, client))
}

const PROTOCOL: &str = "bench";

fn connect(driver: &mut Driver, client: &Client) -> anyhow::Result<Addr> {
    let node = driver.open();
    Ok(driver.connect(node, client.clone())?)
}
