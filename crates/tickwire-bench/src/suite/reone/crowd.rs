//! A thousand clients in one world, each with some hundred creatures in range, all of which move.
//!
//! The sessions' work alone, without sockets: a snapshot is published, written for everybody and
//! acknowledged by everybody, some one and some six snapshots late.

use std::hint::black_box;
use std::time::Duration;

use anyhow::ensure;
use tickwire_dialects::reone::{
    AnyStatus, CreatureStatus, Module, Object, ObjectId, Server, ServerConfig, SightRange,
    SnapshotSeq, Vec3,
};
use tickwire_session::{Events as _, Instant, Session as _};

use super::super::clock::timed;
use super::super::report::{Figure, Target};
use super::super::rounds::Spread;
use super::guest::Guest;

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

/// Of one processor.
const CORES: f64 = 1.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut crowd = Crowd::new()?;
    for _ in 0..WARM_UP {
        crowd.turn()?;
    }
    let mut turns = Vec::new();
    for _ in 0..MEASURED {
        turns.push(crowd.turn()?);
    }
    let clients = f64::from(CLIENTS);
    let seen = crowd.seen()? as f64 / clients;
    ensure!(seen >= 100.0, "{seen} creatures in range are too few");
    let cores = turns
        .iter()
        .map(|turn| turn.spent.as_secs_f64() / TICK.as_secs_f64());
    let bytes = turns.iter().map(|turn| turn.bytes as f64 / clients);
    Ok(vec![
        Figure {
            target: Some(Target::AtMost(CORES)),
            ..Figure::plain("1,000 reone clients", Spread::of(cores.collect()), "cores")
        },
        Figure::plain("· creatures in range", Spread::exactly(seen), "each"),
        Figure::plain("· a snapshot of them", Spread::of(bytes.collect()), "bytes"),
    ])
}

struct Crowd {
    server: Server,
    guests: Vec<Guest>,
    now: Instant,
    tick: u32,
    out: Vec<u8>,
}

struct Turn {
    spent: Duration,
    bytes: usize,
}

impl Crowd {
    fn new() -> anyhow::Result<Self> {
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
        let now = Instant::from_millis(1);
        let guests = (1..=u32::from(CLIENTS)).map(|number| Guest::join(now, &mut server, number));
        let guests = guests.collect::<anyhow::Result<_>>()?;
        Ok(Self {
            server,
            guests,
            now,
            tick: 0,
            out: Vec::new(),
        })
    }

    /// One snapshot for everybody, and everybody's acknowledgement.
    fn turn(&mut self) -> anyhow::Result<Turn> {
        self.now += TICK;
        self.tick += 1;
        let (now, tick) = (self.now, self.tick);
        let world: Vec<_> = (0..CLIENTS).map(|number| creature(number, tick)).collect();
        let mut bytes = 0;
        let (spent, told) = timed(|| {
            let newest = self.server.publish(now, tick, world);
            loop {
                self.out.clear();
                if self.server.poll_transmit(now, &mut self.out).is_none() {
                    break;
                }
                bytes += black_box(&self.out).len();
            }
            let mut late = (1..=6).cycle();
            let told = self.guests.iter_mut().try_for_each(|guest| {
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

    /// How many creatures all clients have in range together.
    fn seen(&self) -> anyhow::Result<usize> {
        let newest = self.server.newest();
        let clients = (1..=u32::from(CLIENTS)).map(Guest::client);
        let views = clients.map(|client| self.server.view(client, newest));
        let seen = views.map(|view| view.map_or(0, |view| view.len()));
        Ok(seen.sum())
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
    Object {
        id: ObjectId(u32::from(number) + 1),
        status: AnyStatus::Creature(status),
    }
}
