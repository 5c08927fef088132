//! What `serve` lets one choose of reone.
//!
//! In: options of the command line, and a folder of files. Out: the protocol's own settings, or a sentence that
//! says why they make no sense: an option that would change nothing is not taken in silence.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tickwire_demo::gateway::{Protocol, ReoneSettings};

use crate::misuse::Misuse;

/// Files of a folder that clients load: more than a manifest lists.
const FILES_MAX: usize = 4_096;

/// Bytes of them together. They are held in memory, and every client fetches them all.
const BYTES_MAX: u64 = 1 << 30;

/// Folders inside each other: links that lead in a circle end there.
const DEPTH_MAX: usize = 16;

/// Options that only reone has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of reone")]
pub(super) struct ReoneArgs {
    /// Compress snapshots with Huffman coding.
    #[arg(long)]
    huffman: bool,

    /// Begin a new round so often: everybody on reone loads the next module.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u16).range(1..))]
    round: Option<u16>,

    /// Snapshots a second, a divisor of 60; 20, unless told.
    #[arg(long, value_name = "N")]
    tick_rate: Option<NonZeroU16>,

    /// How long clients blend from one snapshot to the next, in milliseconds; 100, unless told.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u16).range(..=10_000))]
    lerp: Option<u16>,

    /// Ships for clients of reone: whoever comes later looks on until one is free.
    #[arg(long, value_name = "N")]
    ships: Option<usize>,

    /// A folder whose files every client of reone loads before it plays.
    #[arg(long, value_name = "DIR")]
    resources: Option<PathBuf>,

    /// What the module is called, before the number of its round; arena, unless told.
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
}

impl ReoneArgs {
    /// What was chosen, for a server of these protocols.
    pub(super) fn settings(&self, protocols: &[&Protocol]) -> anyhow::Result<ReoneSettings> {
        let chosen = [
            ("--huffman", self.huffman),
            ("--round", self.round.is_some()),
            ("--tick-rate", self.tick_rate.is_some()),
            ("--lerp", self.lerp.is_some()),
            ("--ships", self.ships.is_some()),
            ("--resources", self.resources.is_some()),
            ("--module", self.module.is_some()),
        ];
        let is_served = protocols.iter().any(|protocol| protocol.name == "reone");
        let idle = chosen
            .iter()
            .find(|(_, is_chosen)| *is_chosen && !is_served);
        if let Some((option, _)) = idle {
            anyhow::bail!(Misuse(format!(
                "{option} is an option of reone, which is not among the protocols that are served: add \
                 reone, or leave {option} out"
            )));
        }
        let minutes = |minutes: u16| Duration::from_secs(60 * u64::from(minutes));
        let resources = self.resources.as_deref();
        let settings = ReoneSettings {
            huffman: self.huffman,
            round: self.round.map(minutes),
            ships: self.ships,
            tick_rate: self.tick_rate,
            lerp: self.lerp.map(|millis| Duration::from_millis(millis.into())),
            module: self.module.clone(),
            resources: resources.map_or(Ok(BTreeMap::new()), read_folder)?,
        };
        settings.check().map_err(Misuse)?;
        Ok(settings)
    }
}

/// The files below a folder, by their path from it.
fn read_folder(folder: &Path) -> anyhow::Result<BTreeMap<String, Arc<[u8]>>> {
    let mut files = Files::default();
    files
        .add(folder, "", 0)
        .with_context(|| format!("cannot read the resources in {}", folder.display()))?;
    Ok(files.found)
}

#[derive(Default)]
struct Files {
    found: BTreeMap<String, Arc<[u8]>>,
    bytes: u64,
}

impl Files {
    fn add(&mut self, folder: &Path, prefix: &str, depth: usize) -> anyhow::Result<()> {
        anyhow::ensure!(
            depth < DEPTH_MAX,
            "more than {DEPTH_MAX} folders inside each other"
        );
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.with_context(|| format!("{} is no UTF-8", path.display()))?;
            let name = format!("{prefix}{name}");
            if path.is_dir() {
                self.add(&path, &format!("{name}/"), depth + 1)?;
                continue;
            }
            // A pipe or a device would be read for ever.
            let about = fs::metadata(&path).with_context(|| name.clone())?;
            anyhow::ensure!(about.is_file(), "{name} is no file");
            self.bytes += about.len();
            anyhow::ensure!(self.bytes <= BYTES_MAX, "more than {BYTES_MAX} bytes");
            anyhow::ensure!(self.found.len() < FILES_MAX, "more than {FILES_MAX} files");
            let bytes = fs::read(&path).with_context(|| name.clone())?;
            self.found.insert(name, bytes.into());
        }
        Ok(())
    }
}
