//! `cargo xtask prior`: fits the general prior, which is built in, to recorded worlds.
//!
//! All columns of a kind share one set of models here, whatever recording they are of. The result is source:
//! `crates/tickwire-replica/src/coder/prior/general.rs` is written anew. Only the first half of each
//! recording is looked at, so that the second can show what the prior is worth.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use tickwire_replica::Schema;
use tickwire_replica::coder::Trainer;

use crate::compress::rerun_optimised;
use crate::recording::{Layout, Recording};

/// Fits the general prior to recordings, and writes it into the sources.
///
/// This changes the wire: records that were coded with another prior cannot be read.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Recordings, each as FILE:SLOTS:FIELDS:LAG, see `compress`
    #[arg(required = true)]
    recordings: Vec<String>,
}

/// What is written.
const SOURCE: &str = "crates/tickwire-replica/src/coder/prior/general.rs";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if cfg!(debug_assertions) {
        return rerun_optimised();
    }
    let examples = args.recordings.iter().map(|text| Example::parse(text));
    let examples = examples.collect::<anyhow::Result<Vec<_>>>()?;
    let archetypes = examples.iter().map(|example| example.layout.archetype());
    let mut trainer = Trainer::by_kind(&Schema::new(archetypes.collect()));
    for (archetype, example) in examples.iter().enumerate() {
        let recording = Recording::read(&example.file, &example.layout)?;
        let [first, _] = recording.packets(example.lag).halves();
        first.visit(|packet| {
            trainer.observe(packet.run(archetype));
            Ok(())
        })?;
    }
    let source = source(&trainer.fit().to_bytes());
    std::fs::write(SOURCE, source).with_context(|| format!("writing {SOURCE}"))?;
    Ok(ExitCode::SUCCESS)
}

/// A recording to fit to.
struct Example {
    file: PathBuf,
    layout: Layout,
    lag: u8,
}

impl Example {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let parts = || -> anyhow::Result<Self> {
            let [lag, fields, slots, file] = text
                .rsplitn(4, ':')
                .collect::<Vec<_>>()
                .try_into()
                .ok()
                .context("three colons are missing")?;
            Ok(Self {
                file: file.into(),
                layout: Layout::parse(fields, slots.parse()?)?,
                lag: lag.parse()?,
            })
        };
        parts().with_context(|| format!("{text} is not FILE:SLOTS:FIELDS:LAG"))
    }
}

/// The source of a prior of one set a kind.
fn source(prior: &[u8]) -> String {
    let mut text = HEAD.to_owned();
    for set in prior.chunks(2 * 64) {
        text.push_str("    [\n");
        for line in set.chunks(2 * 8) {
            text.push_str("       ");
            for start in line.as_chunks().0 {
                write!(text, " 0x{:04x},", u16::from_le_bytes(*start))
                    .expect("a string takes everything");
            }
            text.push('\n');
        }
        text.push_str("    ],\n");
    }
    text.push_str("];\n");
    text
}

/// What stands above the table.
const HEAD: &str = "\
//! The general prior: where the models of each kind of column begin.
//!
//! `cargo xtask prior` writes this file, from the first halves of recordings of two kinds of motion:
//! rigid bodies that push one another about, and cars that people drive after a ball. Each was taken
//! with baselines of several ages.

use crate::coder::coded::model::Start;
use crate::coder::coded::residual::{SET, Set};
use crate::coder::prior::Column;

/// Where the models of a column of this kind begin.
pub(super) fn starts(column: Column) -> Set<Start> {
    let starts = STARTS.get(column as usize);
    starts.map_or([Start::UNKNOWN; SET], |starts| starts.map(Start))
}

/// In the order of [`Column::ALL`].
const STARTS: [[u16; SET]; Column::ALL.len()] = [
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_names_four_things() {
        let example = Example::parse("a:b.i32:901:q9,i3,f:6").unwrap();
        assert_eq!((example.file, example.lag), ("a:b.i32".into(), 6));
        for wrong in ["", "file", "file:9:f", "file:9:f:x", "file:x:f:2"] {
            assert!(Example::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_source_has_a_row_for_each_set() {
        let text = source(&[0x34; 2 * 2 * 64]);
        assert_eq!(text.matches("0x3434").count(), 2 * 64);
        assert!(text.ends_with("    ],\n];\n"));
    }
}
