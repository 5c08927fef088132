//! A thousand clients in one world, each with some hundred creatures in range, all of which move.
//!
//! Once the session's work alone, without sockets: a snapshot is published, written for everybody and
//! acknowledged by everybody, some one and some six snapshots late. And once over loopback: the driver
//! carries the same snapshots to a socket for each client, and the acknowledgements back.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use tickwire_dialects::reone::{
    AnyStatus, CreatureStatus, Module, Object, ObjectId, Server, ServerConfig, SightRange,
    SnapshotSeq, Vec3,
};
use tickwire_net::{Carries, Driver};
use tickwire_session::{Addr, Events as _, Instant, Session as _};

use super::audience::Audience;
use super::guest::Guest;
use crate::suite::ANY_PORT;
use crate::suite::clock::timed;
use crate::suite::report::{Figure, Target};
use crate::suite::rounds::Spread;

const CLIENTS: u16 = 1_000;
/// Creatures stand in so many columns, this far apart.
const COLUMNS: u16 = 32;
const APART: f32 = 10.0;
/// Some hundred of them are as near as this on average; fewer at the border, more in the middle.
const RADIUS: f32 = 66.0;
/// Snapshots until everybody acknowledges, and those that are measured.
const WARM_UP: u32 = 20;
const MEASURED: u32 = 40;
const TICK: Duration = Duration::from_millis(50);
/// When everybody joins.
const JOINED: Instant = Instant::from_millis(1);

/// Of one processor.
const CORES: f64 = 1.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = run_alone()?;
    figures.extend(run_over_loopback()?);
    Ok(figures)
}

fn run_alone() -> anyhow::Result<Vec<Figure>> {
    let addrs = (1..=CLIENTS).map(|number| Guest::nowhere(number.into()));
    let (mut crowd, mut guests) = Crowd::new(addrs)?;
    let mut now = JOINED;
    let mut turn = || {
        now += TICK;
        crowd.turn(now, &mut guests)
    };
    for _ in 0..WARM_UP {
        turn()?;
    }
    let turns: Vec<_> = (0..MEASURED).map(|_| turn()).collect::<Result<_, _>>()?;
    let clients = f64::from(CLIENTS);
    let seen = crowd.seen() as f64 / clients;
    ensure!(seen >= 100.0, "{seen} creatures in range are too few");
    let bytes = turns.iter().map(|turn| turn.bytes as f64 / clients);
    Ok(vec![
        Figure {
            target: Some(Target::AtMost(CORES)),
            ..Figure::plain(
                "1,000 reone clients",
                cores(turns.iter().map(|turn| turn.spent)),
                "cores",
            )
        },
        Figure::plain("· creatures in range", Spread::exactly(seen), "each"),
        Figure::plain("· a snapshot of them", Spread::of(bytes.collect()), "bytes"),
    ])
}

fn run_over_loopback() -> anyhow::Result<Vec<Figure>> {
    let sockets = Audience::open(CLIENTS)?;
    let addrs: Vec<_> = sockets.addrs()?;
    let (mut crowd, guests) = Crowd::new(addrs)?;
    let mut driver = Driver::new()?;
    let node = driver.bind(ANY_PORT, Carries::Both)?;
    let server = driver.local_addr(node).context("a server has a socket")?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let audience = scope.spawn(|| sockets.listen(guests, server, &over));
        let turns = crowd.serve(&mut driver);
        // However that went, the audience shall end.
        over.store(true, Ordering::Relaxed);
        let heard = audience.join();
        let heard = heard.map_err(|_| anyhow!("the audience panicked"))??;
        let spent = turns?;
        let sent = f64::from(WARM_UP + MEASURED) * f64::from(CLIENTS);
        let snapshots = heard.snapshots as f64;
        Ok(vec![
            Figure {
                target: Some(Target::AtMost(CORES)),
                ..Figure::plain("· over loopback", cores(spent.into_iter()), "cores")
            },
            Figure::plain(
                "· snapshots heard",
                Spread::exactly(snapshots / sent),
                "of all",
            ),
            Figure::plain(
                "· one of them",
                Spread::exactly(heard.bytes as f64 / snapshots),
                "bytes",
            ),
        ])
    })
}

/// What the turns take of the time between two of them.
fn cores(spent: impl Iterator<Item = Duration>) -> Spread {
    let cores = spent.map(|spent| spent.as_secs_f64() / TICK.as_secs_f64());
    Spread::of(cores.collect())
}

/// The server, and the world it shows.
struct Crowd {
    server: Server,
    tick: u32,
    out: Vec<u8>,
}

struct Turn {
    spent: Duration,
    bytes: usize,
}

impl Crowd {
    /// A client at each address has joined.
    fn new(addrs: impl IntoIterator<Item = Addr>) -> anyhow::Result<(Self, Vec<Guest>)> {
        let config = ServerConfig {
            module: Module {
                name: "bench".into(),
                ..Module::default()
            },
            clients: CLIENTS.into(),
            sight: SightRange {
                radius: RADIUS,
                margin: 0.1,
            },
            ..ServerConfig::default()
        };
        let mut server = Server::new(config, [7; 32])?;
        let guests = (1..)
            .zip(addrs)
            .map(|(number, addr)| Guest::join(JOINED, &mut server, number, addr))
            .collect::<anyhow::Result<_>>()?;
        let crowd = Self {
            server,
            tick: 0,
            out: Vec::new(),
        };
        Ok((crowd, guests))
    }

    /// Where everybody is at the next tick: the game's work, and not measured.
    fn next_world(&mut self) -> Vec<Object> {
        self.tick += 1;
        (0..CLIENTS)
            .map(|number| creature(number, self.tick))
            .collect()
    }

    /// One snapshot for everybody, and everybody's acknowledgement.
    fn turn(&mut self, now: Instant, guests: &mut [Guest]) -> anyhow::Result<Turn> {
        let world = self.next_world();
        let mut bytes = 0;
        let (spent, told) = timed(|| {
            let newest = self.server.publish(self.tick, world);
            loop {
                self.out.clear();
                if self.server.poll_transmit(now, &mut self.out).is_none() {
                    break;
                }
                bytes += black_box(&self.out).len();
            }
            let mut late = (1..=6).cycle();
            let told = guests.iter_mut().try_for_each(|guest| {
                let behind = late.next().unwrap_or(1);
                let held = SnapshotSeq(newest.0.saturating_sub(behind));
                guest.acknowledge(now, &mut self.server, held)
            });
            while self.server.poll_event().is_some() {}
            told
        });
        told?;
        Ok(Turn { spent, bytes })
    }

    /// Snapshots twenty times a second by the clock; returns what each took in the measured part.
    fn serve(&mut self, driver: &mut Driver) -> anyhow::Result<Vec<Duration>> {
        let mut due = driver.now();
        let mut turns = Vec::new();
        for turn in 0..WARM_UP + MEASURED {
            due += TICK;
            let world = self.next_world();
            let (spent, carried) = timed(|| {
                self.server.publish(self.tick, world);
                let carried = driver.run_until(due, &mut [&mut self.server]);
                while self.server.poll_event().is_some() {}
                carried
            });
            carried?;
            if turn >= WARM_UP {
                turns.push(spent);
            }
        }
        Ok(turns)
    }

    /// How many creatures all clients have in range together.
    fn seen(&self) -> usize {
        let newest = self.server.newest();
        let clients = (1..=u32::from(CLIENTS)).map(Guest::client);
        let views = clients.map(|client| self.server.view(client, newest));
        views.map(|view| view.map_or(0, |view| view.len())).sum()
    }
}

/// A creature that circles around its place.
fn creature(number: u16, tick: u32) -> Object {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand at most")]
    let (sin, cos) = (tick as f32 * 0.3).sin_cos();
    let pos = Vec3 {
        x: f32::from(number % COLUMNS) * APART + sin,
        y: f32::from(number / COLUMNS) * APART + cos,
        z: 0.0,
    };
    let status = CreatureStatus {
        pos,
        heading: sin,
        ..CreatureStatus::default()
    };
    let id = ObjectId(u32::from(number) + 1);
    Object::new(id, AnyStatus::Creature(status))
}
