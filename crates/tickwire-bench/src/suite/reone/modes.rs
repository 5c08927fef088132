//! Performant against fallback, and coded against plain.
//!
//! Five hundred creatures, none of them in the base and all in range, of which a tenth moves and turns
//! from each snapshot to the next. One server's client acknowledges every snapshot, the other's none.

use std::hint::black_box;
use std::num::NonZeroU16;
use std::time::Duration;

use anyhow::ensure;
use tickwire_dialects::reone::message::Compression;
use tickwire_dialects::reone::server_limits::SNAPSHOT_BYTES_MAX;
use tickwire_dialects::reone::{
    AnyStatus, CreatureStatus, Mode, Module, Object, ObjectId, Server, ServerConfig, SnapshotSeq,
    Vec3,
};
use tickwire_session::{Instant, Session as _};

use super::guest::Guest;
use crate::suite::clock::timed;
use crate::suite::report::{Figure, Ratio, Target};
use crate::suite::rounds::{Rounds, Spread};

const CREATURES: u16 = 500;
/// One in so many moves.
const MOVING: u16 = 10;
const ROUNDS: usize = 50;
/// Snapshots in one round.
const SNAPSHOTS: usize = 20;
const TICK: Duration = Duration::from_millis(50);

/// What the target says.
const BYTES_FEWER: f64 = 5.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut performant = Watched::new(Compression::None, true)?;
    let mut fallback = Watched::new(Compression::None, false)?;
    let (few, many) = (performant.bytes()?, fallback.bytes()?);
    let mut pair = (Watched::new(Compression::Huffman, true)?, performant);
    let coded = pair.0.bytes()?;
    let times = Rounds::run(
        ROUNDS,
        &mut pair,
        |(coded, _)| coded.micros(),
        |(_, plain)| plain.micros(),
    )?
    .compare(|n| *n);
    Ok(vec![
        Figure {
            ratio: Some(Ratio {
                spread: Spread::exactly(many / few),
                to: "performant",
            }),
            target: Some(Target::RatioAtLeast(BYTES_FEWER)),
            ..Figure::plain(
                "reone fallback, 50 of 500 move",
                Spread::exactly(many),
                "bytes",
            )
        },
        Figure::plain("· performant", Spread::exactly(few), "bytes"),
        Figure {
            ratio: Some(Ratio {
                spread: Spread::exactly(coded / few),
                to: "plain",
            }),
            ..Figure::plain("· performant, Huffman", Spread::exactly(coded), "bytes")
        },
        Figure::plain("reone snapshot, performant", times.second, "µs"),
        Figure {
            ratio: Some(Ratio {
                spread: times.ratio,
                to: "plain",
            }),
            ..Figure::plain("· Huffman", times.first, "µs")
        },
    ])
}

/// A world and its only client.
struct Watched {
    server: Server,
    guest: Guest,
    acknowledges: bool,
    now: Instant,
    tick: u32,
    out: Vec<u8>,
}

impl Watched {
    fn new(compression: Compression, acknowledges: bool) -> anyhow::Result<Self> {
        let config = ServerConfig {
            module: Module {
                name: "bench".into(),
                ..Module::default()
            },
            tick_rate: NonZeroU16::new(20).unwrap_or(NonZeroU16::MIN),
            snapshot_bytes: SNAPSHOT_BYTES_MAX,
            compression,
            ..ServerConfig::default()
        };
        let mut server = Server::new(config, [7; 32])?;
        let now = Instant::from_millis(1);
        let guest = Guest::join(now, &mut server, 1, Guest::nowhere(1))?;
        let mut watched = Self {
            server,
            guest,
            acknowledges,
            now,
            tick: 0,
            out: Vec::new(),
        };
        for _ in 0..3 {
            watched.send()?;
        }
        let mode = match acknowledges {
            true => Mode::Performant,
            false => Mode::Fallback,
        };
        ensure!(
            watched.server.mode(Guest::client(1)) == Some(mode),
            "{mode:?}"
        );
        Ok(watched)
    }

    /// Bytes of a snapshot, headers included.
    fn bytes(&mut self) -> anyhow::Result<f64> {
        self.send()?;
        Ok(self.out.len() as f64)
    }

    /// Microseconds of a snapshot, from the world to its datagrams.
    fn micros(&mut self) -> anyhow::Result<f64> {
        let mut spent = Duration::ZERO;
        for _ in 0..SNAPSHOTS {
            spent += self.send()?;
        }
        Ok(spent.as_secs_f64() * 1e6 / SNAPSHOTS as f64)
    }

    fn send(&mut self) -> anyhow::Result<Duration> {
        self.now += TICK;
        self.tick += 1;
        let creatures: Vec<_> = (0..CREATURES).map(|n| creature(n, self.tick)).collect();
        self.out.clear();
        let (time, newest) = timed(|| {
            let newest = self.server.publish(self.tick, creatures);
            while self.server.poll_transmit(self.now, &mut self.out).is_some() {}
            newest
        });
        black_box(&self.out);
        let held = match self.acknowledges {
            true => newest,
            false => SnapshotSeq::NONE,
        };
        self.guest.acknowledge(self.now, &mut self.server, held)?;
        Ok(time)
    }
}

/// A creature that wears something, somewhere.
fn creature(number: u16, tick: u32) -> Object {
    let at = f32::from(number);
    #[expect(clippy::cast_precision_loss, reason = "any number will do")]
    let moved = match number.is_multiple_of(MOVING) {
        true => tick as f32 * 0.37,
        false => 0.0,
    };
    let status = CreatureStatus {
        pos: Vec3 {
            x: at * 1.7 + moved,
            y: at * 0.3,
            z: 0.0,
        },
        heading: at * 0.01 + moved,
        anim: 3,
        faction: 2,
        equipment1: number,
        equipment2: 41,
        ..CreatureStatus::default()
    };
    let id = ObjectId(u32::from(number) + 1);
    Object::new(id, AnyStatus::Creature(status))
}
