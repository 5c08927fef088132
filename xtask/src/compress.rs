//! `cargo xtask compress`: how small a recorded world becomes, and how fast.
//!
//! In: a recording, and the prior that its records are coded with: the general one, or one that is
//! fitted here. Out: bytes a packet and microseconds, after every packet was decoded from its
//! baseline alone and found to be the frame. A frame is one record, all its blocks in one run. What the
//! headers of packet and record take is not counted.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tickwire_replica::BlockBuf;
use tickwire_replica::coder::{CodedDecoder, CodedEncoder, Prior, Scratch, Trainer, encode_packed};

use crate::cargo::Cargo;
use crate::recording::{Layout, Packet, Packets, Recording};

/// Codes a recorded world, checks every packet, and says how small and how fast.
///
/// A recording is headerless little-endian 32-bit integers: frame after frame, `--slots` entities a
/// frame. Each frame is coded against the one `--lag` frames before it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The recording
    file: PathBuf,
    /// Entities of a frame
    #[arg(long)]
    slots: usize,
    /// The integers of an entity: f a flag, i3 a vector of three, q9 a quaternion of 9 bits a component
    #[arg(long)]
    fields: String,
    /// How many frames old the baseline is
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=42))]
    lag: u8,
    /// Frames a second
    #[arg(long)]
    hz: u32,
    /// Fit a prior to this recording of the same kind, instead of the general one
    #[arg(long, value_name = "FILE", conflicts_with = "fold")]
    train: Option<PathBuf>,
    /// Code each half of the recording with a prior that is fitted to the other
    #[arg(long)]
    fold: bool,
    /// Write the fitted prior to this file, for `Prior::from_bytes`
    #[arg(long, value_name = "FILE", requires = "train")]
    save: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if cfg!(debug_assertions) {
        return rerun_optimised();
    }
    let layout = Layout::parse(&args.fields, args.slots)?;
    let recording = Recording::read(&args.file, &layout)?;
    let [first, second] = recording.packets(args.lag).halves();
    let [prior, other] = if args.fold {
        [fit(&layout, &second)?, fit(&layout, &first)?]
    } else if let Some(path) = &args.train {
        let example = Recording::read(path, &layout)?;
        let prior = fit(&layout, &example.packets(args.lag))?;
        [prior.clone(), prior]
    } else {
        let prior = Prior::general(&layout.schema());
        [prior.clone(), prior]
    };
    if let Some(path) = &args.save {
        std::fs::write(path, prior.to_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
    }
    let (mut sum, mut meter) = (Sum::default(), Meter::default());
    for (half, packets, prior) in [("first", first, prior), ("second", second, other)] {
        let measured = meter.measure(&packets, &prior)?;
        println!("{half} half: {:.1} bytes a packet", measured.bytes());
        sum.add(&measured);
    }
    sum.print(args.hz);
    Ok(ExitCode::SUCCESS)
}

/// What is timed runs in the release profile.
pub(crate) fn rerun_optimised() -> anyhow::Result<ExitCode> {
    let run = Cargo::new("run --quiet --release -p xtask --").args(std::env::args().skip(1));
    let code = run.run()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn fit(layout: &Layout, packets: &Packets<'_>) -> anyhow::Result<Prior> {
    let mut trainer = Trainer::new(&layout.schema());
    packets.visit(|packet| {
        trainer.observe(packet.run(0));
        Ok(())
    })?;
    Ok(trainer.fit())
}

/// Codes packets and keeps what that needs.
#[derive(Default)]
struct Meter {
    scratch: Scratch,
    bytes: Vec<u8>,
    block: BlockBuf,
}

impl Meter {
    fn measure(&mut self, packets: &Packets<'_>, prior: &Prior) -> anyhow::Result<Sum> {
        let mut sum = Sum::default();
        packets.visit(|packet| {
            sum.packets += 1;
            self.bytes.clear();
            for (known, now) in packet.blocks() {
                encode_packed(&known, &now.view(), &mut self.bytes);
            }
            sum.packed += self.bytes.len();
            sum.encoding += self.encode(packet, prior);
            sum.coded += self.bytes.len();
            sum.decoding += self.decode(packet, prior)?;
            Ok(())
        })?;
        Ok(sum)
    }

    fn encode(&mut self, packet: &Packet<'_>, prior: &Prior) -> Duration {
        self.bytes.clear();
        let start = Instant::now();
        let mut encoder = CodedEncoder::new(prior, &mut self.scratch, &mut self.bytes);
        for (known, now) in packet.blocks() {
            encoder.block(0, &known, &now.view());
        }
        encoder.finish();
        start.elapsed()
    }

    fn decode(&mut self, packet: &Packet<'_>, prior: &Prior) -> anyhow::Result<Duration> {
        let mut comparing = Duration::ZERO;
        let start = Instant::now();
        let mut decoder = CodedDecoder::new(prior, &mut self.scratch, &self.bytes);
        for (known, now) in packet.blocks() {
            decoder.block(0, &known, &mut self.block)?;
            let decoded = Instant::now();
            ensure!(self.block == *now, "decodes to another frame");
            comparing += decoded.elapsed();
        }
        let length = decoder.finish()?;
        ensure!(length == self.bytes.len(), "decodes as another length");
        Ok(start.elapsed() - comparing)
    }
}

/// What was measured.
#[derive(Default)]
struct Sum {
    packets: u32,
    coded: usize,
    packed: usize,
    encoding: Duration,
    decoding: Duration,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.coded += other.coded;
        self.packed += other.packed;
        self.encoding += other.encoding;
        self.decoding += other.decoding;
    }

    /// Bytes a packet, coded.
    fn bytes(&self) -> f64 {
        self.per_packet(self.coded)
    }

    fn per_packet(&self, sum: usize) -> f64 {
        sum as f64 / f64::from(self.packets.max(1))
    }

    fn print(&self, hz: u32) {
        let line = |form: &str, bytes: f64| {
            let rate = bytes * 8.0 * f64::from(hz) / 1000.0;
            println!("{form}: {bytes:.1} bytes a packet, {rate:.1} kbit/s");
        };
        line("packed", self.per_packet(self.packed));
        line("coded", self.bytes());
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(self.packets.max(1));
        println!(
            "coded: {:.1} µs to encode, {:.1} µs to decode; {} packets, every one decoded and compared",
            micros(self.encoding),
            micros(self.decoding),
            self.packets
        );
    }
}
