//! A server and a thousand clients, two drivers on loopback.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use tickwire_native::{
    Client, ClientConfig, ClientEvent, Phase, Role, Server, ServerConfig, ServerEvent,
};
use tickwire_net::{Carries, Driver, quic};
use tickwire_session::{Addr, Events as _, Instant, Session};

use super::{BODIES, Body, CLIENTS, Field, Stick, place};
use crate::suite::ANY_PORT;
use crate::suite::clock::timed;
use crate::suite::rounds::Spread;

/// As many as one host may do at once.
const AT_ONCE: usize = 48;

const TICK: Duration = Duration::from_millis(50);

/// What clients get of it.
const CLIENTS_TURN: Duration = Duration::from_millis(25);

/// And the server, at least.
const SERVER_TURN: Duration = Duration::from_millis(20);

/// Ticks that are one sample.
const SAMPLE: u32 = 20;

const SAMPLES: usize = 10;

const PATIENCE: Duration = Duration::from_secs(60);

const PROTOCOL: &str = "native";

/// What was measured.
pub(super) struct Played {
    /// Processor time of a second's ticks.
    pub(super) cores: Spread,
    /// Snapshots a second: fewer than there should be where the machine is too slow for all the clients.
    pub(super) rate: f64,
    pub(super) datagrams: f64,
    pub(super) bytes: f64,
}

/// How clients reach the server.
enum Way {
    Clear(Addr),
    Encrypted(quic::Client),
}

/// A server and its clients.
pub(super) struct Crowd {
    driver: Driver,
    server: Server<Field>,
    way: Way,
    clients: Driver,
    pilots: Vec<Client<Field>>,
    tick: u32,
}

impl Crowd {
    pub(super) fn clear() -> anyhow::Result<Self> {
        let mut driver = Driver::new()?;
        let node = driver.bind(ANY_PORT, Carries::Both)?;
        let to = driver.local_addr(node).context("it was just bound")?;
        Self::join(driver, Way::Clear(to.into()))
    }

    pub(super) fn encrypted() -> anyhow::Result<Self> {
        let mut driver = Driver::new()?;
        let node = driver.open();
        let identity = quic::Identity::generate()?;
        let trust = quic::Trust::Pinned(identity.fingerprint());
        let server = quic::Server::new(identity).protocol(PROTOCOL, node);
        let listener = driver.listen(ANY_PORT, server)?;
        let way = Way::Encrypted(quic::Client {
            to: driver.listener_addr(listener).context("it listens")?,
            name: "localhost".into(),
            protocol: PROTOCOL.into(),
            trust,
            ticket: Vec::new(),
        });
        Self::join(driver, way)
    }

    /// Everybody joins.
    fn join(driver: Driver, way: Way) -> anyhow::Result<Self> {
        let config = ServerConfig {
            players_a_host: CLIENTS,
            ..ServerConfig::default()
        };
        let mut server = Server::new(driver.now(), [7; 32], config);
        for number in 0..BODIES - u32::try_from(CLIENTS)? {
            let at = place(number);
            server.spawn(Body {
                at,
                ..Body::default()
            })?;
        }
        let mut crowd = Self {
            driver,
            server,
            way,
            clients: Driver::new()?,
            pilots: Vec::new(),
            tick: 0,
        };
        while crowd.pilots.len() < CLIENTS {
            for _ in 0..AT_ONCE.min(CLIENTS - crowd.pilots.len()) {
                crowd.connect()?;
            }
            // One host has so many joins a second.
            for _ in 0..20 {
                crowd.tick()?;
            }
            let deadline = crowd.driver.now() + PATIENCE;
            while !crowd.is_in() {
                let (came, of) = (crowd.server.players().count(), crowd.pilots.len());
                ensure!(crowd.driver.now() < deadline, "{came} of {of} came in");
                crowd.tick()?;
            }
        }
        Ok(crowd)
    }

    fn connect(&mut self) -> anyhow::Result<()> {
        let node = self.clients.open();
        let server = match &self.way {
            Way::Clear(addr) => *addr,
            Way::Encrypted(link) => self.clients.connect(node, link.clone())?,
        };
        let config = ClientConfig {
            server,
            name: "bot".into(),
            role: Role::Player,
        };
        self.pilots.push(Client::new(self.clients.now(), config));
        Ok(())
    }

    fn is_in(&self) -> bool {
        let is_in = |pilot: &Client<Field>| pilot.phase() == Phase::Playing;
        self.pilots.iter().all(is_in) && self.server.players().count() == self.pilots.len()
    }

    /// One tick of everybody. Returns the server's part of it.
    fn tick(&mut self) -> anyhow::Result<Duration> {
        let until = self.driver.now() + TICK;
        self.tick += 1;
        for (number, pilot) in self.pilots.iter_mut().enumerate() {
            let turn = (self.tick as usize / 7 + number) % 3;
            pilot.set_input(Stick {
                turn: i8::try_from(turn)? - 1,
            });
            while let Some(event) = pilot.poll_event() {
                let is_over = matches!(event, ClientEvent::Ended { .. });
                ensure!(!is_over, "client {number}: {event:?}");
            }
        }
        let pilots = self.pilots.iter_mut();
        let mut sessions: Vec<_> = pilots.map(|pilot| pilot as &mut dyn Session).collect();
        let until_clients = self.clients.now() + CLIENTS_TURN;
        self.clients.run_until(until_clients, &mut sessions)?;
        // On a busy machine ticks take longer, rather than being left out.
        let until = until.max(self.driver.now() + SERVER_TURN);
        let (time, stepped) = timed(|| self.step(until));
        stepped?;
        Ok(time)
    }

    fn step(&mut self, until: Instant) -> anyhow::Result<()> {
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Joined { player, .. } = event {
                let at = place(BODIES + player.0);
                self.server.spawn_own(
                    player,
                    Body {
                        at,
                        ..Body::default()
                    },
                )?;
            }
        }
        self.server.advance_all()?;
        self.server.end_tick(self.driver.now());
        Ok(self.driver.run_until(until, &mut [&mut self.server])?)
    }

    pub(super) fn play(&mut self) -> anyhow::Result<Played> {
        // Everybody is told of all that it sees.
        for _ in 0..4 * SAMPLE {
            self.tick()?;
        }
        let datagrams = self.driver.counters().datagrams_sent;
        let bytes = self.bytes_sent();
        let (mut samples, began) = (Vec::new(), self.driver.now());
        for _ in 0..SAMPLES {
            let mut spent = Duration::ZERO;
            for _ in 0..SAMPLE {
                spent += self.tick()?;
            }
            samples.push(spent.as_secs_f64());
        }
        let lasted = self.driver.now().since(began).as_secs_f64();
        let lost = CLIENTS - self.server.players().count();
        ensure!(lost == 0, "{lost} clients were lost");
        let snapshots = (CLIENTS * SAMPLES) as f64 * f64::from(SAMPLE);
        let sent = self.driver.counters().datagrams_sent - datagrams;
        Ok(Played {
            cores: Spread::of(samples),
            rate: SAMPLES as f64 * f64::from(SAMPLE) / lasted,
            datagrams: sent as f64 / snapshots,
            bytes: (self.bytes_sent() - bytes) as f64 / snapshots,
        })
    }

    fn bytes_sent(&self) -> u64 {
        let mut bytes = 0;
        self.server
            .visit_peers(&mut |peer| bytes += peer.traffic.bytes_out);
        bytes
    }
}
