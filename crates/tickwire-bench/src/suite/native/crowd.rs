//! A server and a thousand clients, a driver and a thread each, on loopback.
//!
//! The server keeps to the clock, twenty ticks a second, whatever its clients do: what they are too slow to read is
//! theirs to catch up with. Its own thread's processor time counts. What arrives is counted by the clients.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use tickwire_native::{
    Client, ClientConfig, ClientEvent, Phase, Role, Server, ServerConfig, ServerEvent,
};
use tickwire_net::{Carries, Driver, quic};
use tickwire_session::{Addr, Events as _, Instant, Session};

use super::{BODIES, Body, CLIENTS, Field, Stick};
use crate::suite::ANY_PORT;
use crate::suite::clock::timed;
use crate::suite::rounds::Spread;

const TICK: Duration = Duration::from_millis(50);

/// Clients that join in a tick: 40 a second, of the 64 that a server takes from one host.
const A_TICK: usize = 2;

/// Ticks in which everybody who has joined is told of all that it sees.
const SETTLING: u32 = 80;

/// Ticks that are one sample.
const SAMPLE: u32 = 20;

const SAMPLES: u32 = 10;

/// How long everybody has to join.
const PATIENCE: Duration = Duration::from_secs(120);

const PROTOCOL: &str = "native";

/// What was measured.
pub(super) struct Played {
    /// The server's processor time of a second's ticks.
    pub(super) cores: Spread,
    /// Snapshots that a client applied a second.
    pub(super) rate: f64,
    /// Datagrams that left for a client for each snapshot.
    pub(super) sent: f64,
    /// Datagrams with state that a client applied for each snapshot of the server.
    pub(super) applied: f64,
    /// Bytes of the protocol for a client and snapshot.
    pub(super) bytes: f64,
}

/// How clients reach the server.
#[derive(Clone)]
enum Way {
    Clear(Addr),
    Encrypted(Box<quic::Client>),
}

/// What the server's thread tells that of the clients: one of the three constants, which ascend.
type Stage = AtomicU8;

const JOINING: u8 = 0;
const MEASURING: u8 = 1;
const OVER: u8 = 2;

pub(super) fn clear() -> anyhow::Result<Played> {
    let mut driver = Driver::new()?;
    let node = driver.bind(ANY_PORT, Carries::Both)?;
    let to = driver.local_addr(node).context("it was just bound")?;
    play(driver, Way::Clear(to.into()))
}

pub(super) fn encrypted() -> anyhow::Result<Played> {
    let mut driver = Driver::new()?;
    let node = driver.open();
    let identity = quic::Identity::generate()?;
    let trust = quic::Trust::Pinned(identity.fingerprint());
    let server = quic::Server::new(identity).protocol(PROTOCOL, node);
    let listener = driver.listen(ANY_PORT, server)?;
    let way = Way::Encrypted(Box::new(quic::Client {
        to: driver.listener_addr(listener).context("it listens")?,
        name: "localhost".into(),
        protocol: PROTOCOL.into(),
        trust,
        ticket: Vec::new(),
    }));
    play(driver, way)
}

fn play(driver: Driver, way: Way) -> anyhow::Result<Played> {
    let mut host = Host::new(driver)?;
    let stage = Stage::new(JOINING);
    thread::scope(|scope| {
        let crowd = scope.spawn(|| Crowd::new(way)?.fly(&stage));
        let served = host.serve(&stage, || crowd.is_finished());
        // However that went, the clients shall end.
        stage.store(OVER, Ordering::Relaxed);
        let heard = crowd.join().map_err(|_| anyhow!("the clients panicked"))?;
        let (heard, served) = (heard?, served?);
        let clients = CLIENTS as f64;
        let snapshots = clients * f64::from(SAMPLES * SAMPLE);
        // Both threads look at the clock by themselves, so each count is divided by its own time.
        let rate = heard.updates as f64 / clients / heard.lasted.as_secs_f64();
        let pace = f64::from(SAMPLES * SAMPLE) / served.lasted.as_secs_f64();
        Ok(Played {
            cores: served.cores,
            rate,
            sent: served.datagrams as f64 / snapshots,
            applied: rate / pace,
            bytes: served.bytes as f64 / snapshots,
        })
    })
}

/// The server.
struct Host {
    driver: Driver,
    server: Server<Field>,
    due: Instant,
}

struct Served {
    cores: Spread,
    lasted: Duration,
    datagrams: u64,
    bytes: u64,
}

impl Host {
    fn new(driver: Driver) -> anyhow::Result<Self> {
        let config = ServerConfig {
            players_a_host: CLIENTS,
            ..ServerConfig::default()
        };
        let mut server = Server::new(driver.now(), [7; 32], config);
        for number in 0..BODIES - u32::try_from(CLIENTS)? {
            server.spawn(Body::lying(number))?;
        }
        Ok(Self {
            due: driver.now(),
            driver,
            server,
        })
    }

    /// Serves until everybody has joined, and then as long as is measured.
    fn serve(&mut self, stage: &Stage, is_abandoned: impl Fn() -> bool) -> anyhow::Result<Served> {
        let deadline = self.driver.now() + PATIENCE;
        while self.server.players().count() < CLIENTS {
            let came = self.server.players().count();
            let is_late = is_abandoned() || self.driver.now() > deadline;
            ensure!(!is_late, "{came} of {CLIENTS} came in");
            self.tick()?;
        }
        for _ in 0..SETTLING {
            self.tick()?;
        }
        stage.store(MEASURING, Ordering::Relaxed);
        let (datagrams, bytes) = (self.driver.counters().datagrams_sent, self.bytes_sent());
        let (mut samples, began) = (Vec::new(), self.driver.now());
        for _ in 0..SAMPLES {
            let mut spent = Duration::ZERO;
            for _ in 0..SAMPLE {
                spent += self.tick()?;
            }
            samples.push(spent.as_secs_f64() / (TICK * SAMPLE).as_secs_f64());
        }
        let lasted = self.driver.now().since(began);
        stage.store(OVER, Ordering::Relaxed);
        let lost = CLIENTS - self.server.players().count();
        ensure!(lost == 0, "{lost} clients were lost");
        Ok(Served {
            cores: Spread::of(samples),
            lasted,
            datagrams: self.driver.counters().datagrams_sent - datagrams,
            bytes: self.bytes_sent() - bytes,
        })
    }

    /// One tick, until the next is due. Returns the processor time that it took.
    fn tick(&mut self) -> anyhow::Result<Duration> {
        // A server that was held up goes on from here, rather than hurrying after the clock.
        self.due = (self.due + TICK).max(self.driver.now());
        let (time, stepped) = timed(|| self.step());
        stepped?;
        Ok(time)
    }

    fn step(&mut self) -> anyhow::Result<()> {
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Joined { player, .. } = event {
                let body = Body::lying(BODIES + player.0);
                self.server.spawn_own(player, body)?;
            }
        }
        self.server.advance_all()?;
        self.server.end_tick(self.driver.now());
        Ok(self.driver.run_until(self.due, &mut [&mut self.server])?)
    }

    fn bytes_sent(&self) -> u64 {
        let mut bytes = 0;
        self.server
            .visit_peers(&mut |peer| bytes += peer.traffic.bytes_out);
        bytes
    }
}

/// The clients.
struct Crowd {
    driver: Driver,
    way: Way,
    pilots: Vec<Client<Field>>,
    turns: usize,
}

/// What clients heard while it was measured.
struct Heard {
    updates: u64,
    lasted: Duration,
}

impl Crowd {
    fn new(way: Way) -> anyhow::Result<Self> {
        Ok(Self {
            driver: Driver::new()?,
            way,
            pilots: Vec::new(),
            turns: 0,
        })
    }

    /// Plays until the server has measured enough.
    fn fly(mut self, stage: &Stage) -> anyhow::Result<Heard> {
        while stage.load(Ordering::Relaxed) == JOINING {
            for _ in 0..A_TICK.min(CLIENTS - self.pilots.len()) {
                self.connect()?;
            }
            self.turn()?;
        }
        let is_in = |pilot: &&Client<Field>| pilot.phase() == Phase::Playing;
        let playing = self.pilots.iter().filter(is_in).count();
        ensure!(playing == CLIENTS, "{playing} of {CLIENTS} clients play");
        let (updates, began) = (self.updates(), self.driver.now());
        while stage.load(Ordering::Relaxed) == MEASURING {
            self.turn()?;
        }
        Ok(Heard {
            updates: self.updates() - updates,
            lasted: self.driver.now().since(began),
        })
    }

    fn connect(&mut self) -> anyhow::Result<()> {
        let node = self.driver.open();
        let server = match &self.way {
            Way::Clear(addr) => *addr,
            Way::Encrypted(link) => self.driver.connect(node, quic::Client::clone(link))?,
        };
        let config = ClientConfig {
            server,
            name: "bot".into(),
            role: Role::Player,
        };
        self.pilots.push(Client::new(self.driver.now(), config));
        Ok(())
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        let until = self.driver.now() + TICK;
        self.turns += 1;
        for (number, pilot) in self.pilots.iter_mut().enumerate() {
            let turn = (self.turns / 7 + number) % 3;
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
        Ok(self.driver.run_until(until, &mut sessions)?)
    }

    /// Datagrams with state that were applied so far.
    fn updates(&self) -> u64 {
        let mut updates = 0;
        for pilot in &self.pilots {
            pilot.visit_peers(&mut |peer| updates += peer.updates.count());
        }
        updates
    }
}
