//! A server and its clients: two drivers on loopback, of which only the server's time counts.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tickwire_net::quic::{Client, Congestion, Identity, LinkFailure, Server, Trust};
use tickwire_net::{Carries, Driver};
use tickwire_session::{Addr, Session};

use super::talker::Talker;
use crate::suite::ANY_PORT;
use crate::suite::clock::timed;

/// Steps of each side in a round.
pub(in crate::suite) const STEPS: u32 = 60;

/// What a snapshot is long.
pub(in crate::suite) const SNAPSHOT: usize = 300;

/// What an input is long.
pub(in crate::suite) const INPUT: usize = 40;

/// Clients of everything but the crowd.
pub(in crate::suite) const CLIENTS: usize = 64;

const PATIENCE: Duration = Duration::from_secs(60);

/// What a datagram of each kind took the server, in nanoseconds.
pub(in crate::suite) struct Slice {
    pub(in crate::suite) sending: f64,
    pub(in crate::suite) receiving: f64,
}

/// A server and its clients.
pub(in crate::suite) struct Table {
    pub(super) server: Driver,
    pub(super) session: Talker,
    pub(super) clients: Driver,
    pub(super) pilots: Vec<Talker>,
    snapshots: u64,
    packets_before: u64,
}

impl Table {
    pub(in crate::suite) fn clear(count: usize) -> anyhow::Result<Self> {
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

    pub(in crate::suite) fn encrypted(count: usize) -> anyhow::Result<Self> {
        let (server, client) = listen(Congestion::default())?;
        Self::join(server, &client, count)
    }

    /// So many clients of a server that listens.
    pub(super) fn join(server: Driver, client: &Client, count: usize) -> anyhow::Result<Self> {
        let mut table = Self::new(server)?;
        while table.pilots.len() < count {
            // A server need not put up with more from one machine.
            for _ in 0..CLIENTS.min(count - table.pilots.len()) {
                let to = connect(&mut table.clients, client)?;
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
            if let Some(failure) = self.failure() {
                bail!("a client did not get in: {failure}");
            }
            let known = self.pilots.iter_mut().filter(|pilot| pilot.heard == 0);
            known.for_each(|pilot| pilot.say(INPUT));
            self.session.say(INPUT);
            self.turn_server(Duration::from_millis(2))?;
            self.turn_clients()?;
        }
        Ok(())
    }

    /// Why a client's link ended.
    fn failure(&self) -> Option<&LinkFailure> {
        let mut links = self.pilots.iter().flat_map(Talker::known);
        links.find_map(|&link| self.clients.link_failure(link))
    }

    fn turn_server(&mut self, longest: Duration) -> anyhow::Result<()> {
        let until = self.server.now() + longest;
        Ok(self.server.run_until(until, &mut [&mut self.session])?)
    }

    pub(in crate::suite) fn turn_clients(&mut self) -> anyhow::Result<()> {
        let pilots = self.pilots.iter_mut();
        let mut sessions: Vec<_> = pilots.map(|pilot| pilot as &mut dyn Session).collect();
        let now = self.clients.now();
        Ok(self.clients.turn(now, &mut sessions)?)
    }

    /// A snapshot for everybody, and then an input of each, so many times.
    pub(in crate::suite) fn play(&mut self) -> anyhow::Result<Slice> {
        let (mut sending, mut receiving) = (Duration::ZERO, Duration::ZERO);
        let before = self.session.heard;
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
        let heard = (self.session.heard - before) as f64;
        anyhow::ensure!(
            heard >= 0.9 * datagrams,
            "the server heard {heard} of {datagrams} inputs"
        );
        Ok(Slice {
            sending: sending.as_nanos() as f64 / datagrams,
            receiving: receiving.as_nanos() as f64 / datagrams,
        })
    }

    /// What part of a core the server takes, with 20 snapshots and 60 inputs a second for each: a machine that
    /// takes longer for these steps does not change it.
    pub(in crate::suite) fn cores(&mut self) -> anyhow::Result<f64> {
        const SECONDS: u32 = 5;
        let mut spent = Duration::ZERO;
        // What was said before arrives first.
        for _ in 0..20 {
            self.turn_server(Duration::from_millis(1))?;
            self.turn_clients()?;
        }
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
        Ok(spent.as_secs_f64() / f64::from(SECONDS))
    }

    pub(in crate::suite) fn share_heard(&self) -> f64 {
        let heard: u64 = self.pilots.iter().map(|pilot| pilot.heard).sum();
        heard as f64 / self.snapshots as f64
    }

    pub(in crate::suite) fn packets_a_snapshot(&self) -> f64 {
        let packets = self.server.counters().datagrams_sent - self.packets_before;
        packets as f64 / self.snapshots as f64
    }
}

/// A server, and what its clients need.
pub(super) fn listen(congestion: Congestion) -> anyhow::Result<(Driver, Client)> {
    let mut driver = Driver::new()?;
    let node = driver.open();
    let identity = Identity::generate()?;
    let fingerprint = identity.fingerprint();
    let server = Server::new(identity).protocol(PROTOCOL, node);
    let server = server.congestion(congestion);
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

pub(super) fn connect(driver: &mut Driver, client: &Client) -> anyhow::Result<Addr> {
    let node = driver.open();
    Ok(driver.connect(node, client.clone())?)
}
