//! OpenDrakan's snapshots: what a server pays to tell a client what changed.
//!
//! A world of which a tenth moves, and a client that has acknowledged the snapshot before. Measured is
//! the way that every server goes: the commit of a tick that is sent, and the drain that writes its
//! datagrams. Copying all states of the world once, packed as they are on the wire, is the least that
//! a server would do which kept its past snapshots; it makes machines comparable. Then the same number
//! of changes in worlds of different sizes: what does not change shall not cost.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{bail, ensure};
use tickwire_dialects::opendrakan::limits::{DATAGRAM_MAX, SEND_TICKS};
use tickwire_dialects::opendrakan::message::{Lifecycle, Message, Way};
use tickwire_dialects::opendrakan::{
    BASIC, ClassId, Field, Kind, Level, LevelObject, ObjectId, Quat, Reader, Registry, Schema,
    Server, ServerConfig, State, Vec3, Writer,
};
use tickwire_session::{Addr, Events as _, Instant, Path, Room, Session, StreamId};
use tickwire_sim::addr;

use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};

const ROUNDS: usize = 100;

/// Deltas in one round, and copies: both long enough that reading the clock costs nothing.
const DELTAS: usize = 20;
const COPIES: usize = 20;

/// The world of the first figures, and how many of its objects move.
const OBJECTS: u32 = 10_000;
const MOVING: u32 = OBJECTS / 10;

/// What moves in worlds of three sizes.
const FEW: u32 = 100;

/// What the targets say.
const OF_COPYING: f64 = 3.0;
const BYTES_FEWER: f64 = 8.0;
/// A hundred times the objects; what is above 1 is the memory's caches.
const OF_SMALL_WORLD: f64 = 2.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut bench = Bench::new(Size {
        objects: OBJECTS,
        moving: MOVING,
    })?;
    let delta = Rounds::run(ROUNDS, &mut bench, Bench::delta, Bench::copy)?.compare(|n| *n);
    let fewer = Spread::exactly(bench.full_bytes as f64 / bench.delta_bytes as f64);
    let mut figures = vec![
        Figure {
            ratio: Some(Ratio {
                spread: delta.ratio,
                to: "copying the states",
            }),
            target: Some(Target::RatioAtMost(OF_COPYING)),
            ..Figure::plain("OpenDrakan delta, 1,000 of 10,000", delta.first, "µs")
        },
        Figure {
            ratio: Some(Ratio {
                spread: fewer,
                to: "the delta",
            }),
            target: Some(Target::RatioAtLeast(BYTES_FEWER)),
            ..Figure::plain(
                "full snapshot of these",
                Spread::exactly(bench.full_bytes as f64),
                "bytes",
            )
        },
    ];
    figures.extend(sizes()?);
    Ok(figures)
}

/// The same number of changes in ever larger worlds, each compared with the smallest.
fn sizes() -> anyhow::Result<Vec<Figure>> {
    let world = |objects| {
        Bench::new(Size {
            objects,
            moving: FEW,
        })
    };
    let mut figures = Vec::new();
    for (name, objects, target) in [
        ("OpenDrakan delta, 100 of 1,000", 1_000, None),
        ("OpenDrakan delta, 100 of 10,000", 10_000, None),
        (
            "OpenDrakan delta, 100 of 100,000",
            100_000,
            Some(Target::RatioAtMost(OF_SMALL_WORLD)),
        ),
    ] {
        let mut pair = (world(objects)?, world(1_000)?);
        let compared = Rounds::run(
            ROUNDS,
            &mut pair,
            |(large, _)| large.delta(),
            |(_, small)| small.delta(),
        )?
        .compare(|n| *n);
        figures.push(Figure {
            ratio: Some(Ratio {
                spread: compared.ratio,
                to: "that of 1,000",
            }),
            target,
            ..Figure::plain(name, compared.first, "µs")
        });
    }
    Ok(figures)
}

#[derive(Clone, Copy)]
struct Size {
    objects: u32,
    moving: u32,
}

/// A server with one client that acknowledges everything.
struct Bench {
    size: Size,
    now: Instant,
    server: Server,
    moved: f32,
    out: Vec<u8>,
    full_bytes: usize,
    delta_bytes: usize,
    /// All states of the world, packed, and where they are copied to.
    states: Vec<u8>,
    copy: Vec<u8>,
}

const CLIENT: Addr = addr::loopback(2);
const STREAM: StreamId = StreamId::Accepted(0);
const CLASS: ClassId = ClassId(1);
/// The first object's number.
const FIRST: u32 = 1;
/// More than any of these worlds needs.
const BYTES_PER_SECOND: u32 = u32::MAX;
const TICK: Duration = Duration::from_micros(16_667);

impl Bench {
    fn new(size: Size) -> anyhow::Result<Self> {
        // The extra states of the arena.
        let field = |name, kind| Field { name, kind };
        let extra = [
            field("health", Kind::U8),
            field("owner", Kind::U32),
            field("armed", Kind::Bool),
        ];
        let mut registry = Registry::new();
        registry.register(CLASS, Schema::new(&extra)?);
        let objects = (FIRST..FIRST + size.objects).map(|id| LevelObject {
            id: ObjectId(id),
            class: CLASS,
            lifecycle: Lifecycle::Running,
            states: Vec::new(),
        });
        let config = ServerConfig {
            level: Level {
                path: "bench.lvl".into(),
                databases: Vec::new(),
                objects: objects.collect(),
            },
            registry,
            bytes_per_second: BYTES_PER_SECOND,
            ..ServerConfig::default()
        };
        let packed: usize = BASIC.iter().chain(&extra).map(|f| f.kind.size()).sum();
        let packed = packed * size.objects as usize;
        let mut bench = Self {
            size,
            now: Instant::ZERO,
            server: Server::new(config, [7; 32])?,
            moved: 0.0,
            out: Vec::new(),
            full_bytes: 0,
            delta_bytes: 0,
            states: vec![0x5a; packed],
            copy: vec![0; packed],
        };
        bench.attach()?;
        // The first snapshot is the full one.
        (_, bench.full_bytes) = bench.send()?;
        (_, bench.delta_bytes) = bench.send()?;
        ensure!(
            bench.delta_bytes < bench.full_bytes,
            "the second is a delta"
        );
        Ok(bench)
    }

    /// Opens the client's stream and shows the token that comes on it.
    fn attach(&mut self) -> anyhow::Result<()> {
        self.server.handle_opened(self.now, STREAM, CLIENT);
        let room = Room {
            bytes: u32::MAX,
            largest: 0,
        };
        self.server
            .handle_room(self.now, Path::Stream(STREAM), room);
        self.server.poll_transmit(self.now, &mut self.out);
        let greeting = Message::decode(&mut Reader::new(&self.out), Way::ServerStream)?;
        let Message::Attach { token } = greeting else {
            bail!("a token comes first");
        };
        self.out.clear();
        self.tell(&Message::Attach { token })
    }

    /// Tells the server something, as the client.
    fn tell(&mut self, message: &Message<'_>) -> anyhow::Result<()> {
        let mut datagram = Vec::new();
        let mut w = Writer::new(&mut datagram, DATAGRAM_MAX.into());
        ensure!(message.encode(&mut w).is_ok(), "it is short");
        self.server.handle_datagram(self.now, CLIENT, &datagram);
        while self.server.poll_event().is_some() {}
        Ok(())
    }

    /// Microseconds of a delta, from the commit to its datagrams.
    fn delta(&mut self) -> anyhow::Result<f64> {
        let mut spent = Duration::ZERO;
        for _ in 0..DELTAS {
            let (time, bytes) = self.send()?;
            spent += time;
            self.delta_bytes = bytes;
        }
        Ok(spent.as_secs_f64() * 1e6 / DELTAS as f64)
    }

    /// Lets the world move for as long as lies between two snapshots, and sends the second of them.
    /// Returns the time that takes and its bytes.
    fn send(&mut self) -> anyhow::Result<(Duration, usize)> {
        for _ in 1..SEND_TICKS {
            self.step()?;
            self.server.commit(self.now);
        }
        self.step()?;
        self.out.clear();
        let (time, tick) = timed(|| {
            let tick = self.server.commit(self.now);
            while self.server.poll_transmit(self.now, &mut self.out).is_some() {}
            tick
        });
        black_box(&self.out);
        self.tell(&Message::AcknowledgeSnapshot { tick })?;
        Ok((time, self.out.len()))
    }

    /// Moves and turns what moves, which is spread over the whole world.
    fn step(&mut self) -> anyhow::Result<()> {
        self.now += TICK;
        self.moved += 1.0;
        let Size { objects, moving } = self.size;
        let stride = usize::try_from(objects / moving)?;
        for id in (FIRST..FIRST + objects).step_by(stride) {
            let object = ObjectId(id);
            let translation = Vec3 {
                x: self.moved,
                ..Vec3::ZERO
            };
            let rotation = Quat {
                z: self.moved,
                ..Quat::IDENTITY
            };
            self.server.set(object, State::Translation(translation))?;
            self.server.set(object, State::Rotation(rotation))?;
        }
        Ok(())
    }

    /// Microseconds to copy all states of the world.
    fn copy(&mut self) -> anyhow::Result<f64> {
        let (time, ()) = timed(|| {
            for _ in 0..COPIES {
                self.copy.copy_from_slice(black_box(&self.states));
                black_box(&self.copy);
            }
        });
        Ok(time.as_secs_f64() * 1e6 / COPIES as f64)
    }
}
