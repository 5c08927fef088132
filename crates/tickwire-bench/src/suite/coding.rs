//! The two forms of a record: nanoseconds and bytes for each changed entity.
//!
//! A thousand bodies, all moving, in one run; the baseline is two sends old. Encoding and decoding are
//! compared with copying an entity's values.

mod motion;

use std::hint::black_box;

use anyhow::ensure;
use tickwire_replica::coder::{
    Ages, CodedDecoder, CodedEncoder, Known, Prior, Scratch, decode_packed, encode_packed,
};
use tickwire_replica::{ArchetypeSchema, BlockBuf, Replicate as _, Schema};
use tickwire_wire::BitReader;

use super::clock::timed;
use super::copying::{at_most, copy};
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};
use motion::{Body, Motion};

const ROUNDS: usize = 100;

/// Bodies in the world.
const BODIES: usize = 1_000;

/// Sends whose records are measured, one after the other.
const SENDS: usize = 20;

/// The baseline is two sends old, and so the version before it three.
const AGES: Ages = Ages {
    baseline: 2,
    previous: 3,
};

// What the targets say, for each changed entity.
const NANOS_PACKED: f64 = 40.0;
const NANOS_ENCODE_CODED: f64 = 400.0;
const NANOS_DECODE_CODED: f64 = 450.0;
const BYTES_PACKED: f64 = 7.0;
const BYTES_CODED: f64 = 5.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut bench = Bench::new()?;
    let bytes = |name, bytes: &[Vec<u8>], changed: usize, most| {
        let sum: usize = bytes.iter().map(Vec::len).sum();
        Figure {
            target: Some(Target::AtMost(most)),
            ..Figure::plain(name, Spread::exactly(sum as f64 / changed as f64), "bytes")
        }
    };
    let mut figures = vec![
        bytes("packed", &bench.packed, bench.changed, BYTES_PACKED),
        bytes("coded", &bench.coded, bench.changed, BYTES_CODED),
    ];
    let timed: [(_, Measure, _); 4] = [
        ("packed encode", Bench::encode_packed, NANOS_PACKED),
        ("packed decode", Bench::decode_packed, NANOS_PACKED),
        ("coded encode", Bench::encode_coded, NANOS_ENCODE_CODED),
        ("coded decode", Bench::decode_coded, NANOS_DECODE_CODED),
    ];
    for (name, measure, most) in timed {
        let compared = Rounds::run(ROUNDS, &mut bench, measure, |_| Ok(copy()))?.compare(|n| *n);
        figures.push(Figure {
            ratio: Some(Ratio {
                spread: compared.ratio,
                to: "copying an entity",
            }),
            target: Some(at_most(most)),
            ..Figure::plain(name, compared.first, "ns/changed")
        });
    }
    Ok(figures)
}

/// One measurement: nanoseconds a changed entity.
type Measure = fn(&mut Bench) -> anyhow::Result<f64>;

/// The blocks of some sends, and their records.
struct Bench {
    prior: Prior,
    scratch: Scratch,
    /// Blocks, send by send.
    sends: Vec<Vec<BlockBuf>>,
    /// Entities that changed, over all records.
    changed: usize,
    packed: Vec<Vec<u8>>,
    coded: Vec<Vec<u8>>,
    out: Vec<u8>,
    block: BlockBuf,
}

impl Bench {
    fn new() -> anyhow::Result<Self> {
        let mut motion = Motion::new(BODIES);
        let sends = (0..SENDS + usize::from(AGES.previous)).map(|_| motion.send());
        let schema = Schema::new(vec![ArchetypeSchema::of::<Body>("Body")]);
        let mut bench = Self {
            prior: Prior::general(&schema),
            scratch: Scratch::default(),
            sends: sends.collect::<Result<_, _>>()?,
            changed: 0,
            packed: Vec::new(),
            coded: Vec::new(),
            out: Vec::new(),
            block: BlockBuf::default(),
        };
        for send in 0..SENDS {
            bench.write_packed(send);
            bench.packed.push(bench.out.clone());
            bench.write_coded(send);
            bench.coded.push(bench.out.clone());
            bench.changed += blocks(&bench.sends, send)
                .map(|(known, now)| changed(&known, now))
                .sum::<usize>();
            bench.check(send)?;
        }
        Ok(bench)
    }

    /// Both records are read as they were written.
    fn check(&mut self, send: usize) -> anyhow::Result<()> {
        let mut r = BitReader::new(&self.packed[send]);
        let mut decoder = CodedDecoder::new(&self.prior, &mut self.scratch, &self.coded[send]);
        for (known, now) in blocks(&self.sends, send) {
            decode_packed(&known, &mut r, &mut self.block)?;
            ensure!(self.block == *now, "packed as another block");
            decoder.block(0, &known, &mut self.block)?;
            ensure!(self.block == *now, "coded as another block");
        }
        Ok(())
    }

    fn write_packed(&mut self, send: usize) {
        self.out.clear();
        for (known, now) in blocks(&self.sends, send) {
            encode_packed(&known, &now.view(), &mut self.out);
        }
    }

    fn write_coded(&mut self, send: usize) {
        self.out.clear();
        let mut encoder = CodedEncoder::new(&self.prior, &mut self.scratch, &mut self.out);
        for (known, now) in blocks(&self.sends, send) {
            encoder.block(0, &known, &now.view());
        }
        encoder.finish();
    }

    fn encode_packed(&mut self) -> anyhow::Result<f64> {
        self.measure(|bench, send| {
            bench.write_packed(send);
            black_box(&bench.out);
            Ok(())
        })
    }

    fn encode_coded(&mut self) -> anyhow::Result<f64> {
        self.measure(|bench, send| {
            bench.write_coded(send);
            black_box(&bench.out);
            Ok(())
        })
    }

    fn decode_packed(&mut self) -> anyhow::Result<f64> {
        self.measure(|bench, send| {
            let mut r = BitReader::new(&bench.packed[send]);
            for (known, _) in blocks(&bench.sends, send) {
                decode_packed(&known, &mut r, &mut bench.block)?;
                black_box(&bench.block);
            }
            Ok(())
        })
    }

    fn decode_coded(&mut self) -> anyhow::Result<f64> {
        self.measure(|bench, send| {
            let bytes = &bench.coded[send];
            let mut decoder = CodedDecoder::new(&bench.prior, &mut bench.scratch, bytes);
            for (known, _) in blocks(&bench.sends, send) {
                decoder.block(0, &known, &mut bench.block)?;
                black_box(&bench.block);
            }
            decoder.finish()?;
            Ok(())
        })
    }

    /// Nanoseconds for each changed entity, over all sends.
    fn measure(
        &mut self,
        mut work: impl FnMut(&mut Self, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<f64> {
        let (time, done) = timed(|| (0..SENDS).try_for_each(|send| work(self, send)));
        done?;
        Ok(time.as_nanos() as f64 / self.changed as f64)
    }
}

/// The blocks of the n-th record, with what is known of them.
fn blocks(sends: &[Vec<BlockBuf>], record: usize) -> impl Iterator<Item = (Known<'_>, &BlockBuf)> {
    let send = record + usize::from(AGES.previous);
    let at = move |age: u8| &sends[send - usize::from(age)];
    let older = at(AGES.baseline).iter().zip(at(AGES.previous));
    at(0).iter().zip(older).map(|(now, (baseline, previous))| {
        let known = Known {
            fields: Body::FIELDS,
            baseline: Some(baseline.view()),
            previous: Some(previous.view()),
            ages: AGES,
        };
        (known, now)
    })
}

/// How many entities of a block have other values than at the baseline.
fn changed(known: &Known<'_>, now: &BlockBuf) -> usize {
    let baseline = known.baseline.map_or(&[][..], |block| block.lanes);
    let lanes = now.lanes.len() / tickwire_replica::SLOTS;
    let differs = |slot: usize| {
        (0..lanes).any(|lane| {
            let at = lane * tickwire_replica::SLOTS + slot;
            now.lanes.get(at) != baseline.get(at)
        })
    };
    (0..tickwire_replica::SLOTS)
        .filter(|&slot| differs(slot))
        .count()
}
