//! `cargo xtask fuzz`: bytes that nobody thought of, for as long as one likes.
//!
//! What runs is `crates/tickwire-fuzz`, under libFuzzer, by way of cargo-fuzz. What a run learns goes
//! to the build folder, so that the inputs in `fuzz/corpus`, which every `cargo test` replays, change
//! only when somebody asks for it.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::cargo::Cargo;

/// Feeds a target with bytes that nobody thought of, until the time is up or something breaks.
///
/// Needs cargo-fuzz, and installs it if it is missing. An input that breaks something is written to
/// `fuzz/artifacts`; under a telling name in `fuzz/corpus/TARGET` every `cargo test` replays it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to fuzz
    #[arg(required_unless_present = "list")]
    target: Option<String>,
    /// How long
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Add the inputs that reach new code to the ones that `cargo test` replays
    #[arg(long)]
    keep: bool,
    /// Name the targets, and do nothing else
    #[arg(long, exclusive = true)]
    list: bool,
}

/// Where the fuzzer's programs are.
const FOLDER: &str = "fuzz";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let targets = targets(Path::new(FOLDER))?;
    let Some(target) = args.target.as_deref().filter(|_| !args.list) else {
        for target in targets {
            println!("{target}");
        }
        return Ok(ExitCode::SUCCESS);
    };
    if !targets.iter().any(|known| known == target) {
        bail!(
            "no target is called `{target}`; there is {}",
            targets.join(", ")
        );
    }
    install()?;
    let found = format!("{FOLDER}/target/corpus/{target}");
    fs::create_dir_all(&found).with_context(|| format!("making {found}"))?;
    if !build_run(target, args.seconds).run()?.success() {
        println!(
            "\nto keep the input: give it a telling name in {FOLDER}/corpus/{target}, \
             then `cargo test -p tickwire-fuzz` replays it"
        );
        return Ok(ExitCode::FAILURE);
    }
    if args.keep && !build_keep(target).run()?.success() {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The targets' names: one file each.
fn targets(folder: &Path) -> anyhow::Result<Vec<String>> {
    let folder = folder.join("fuzz_targets");
    let reading = || format!("reading {}", folder.display());
    let mut targets = Vec::new();
    for entry in fs::read_dir(&folder).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        targets.extend(
            path.file_stem()
                .map(|name| name.to_string_lossy().into_owned()),
        );
    }
    targets.sort();
    Ok(targets)
}

fn install() -> anyhow::Result<()> {
    let is_there = Cargo::new("fuzz --version").read()?.status.success();
    if is_there {
        return Ok(());
    }
    let install = Cargo::new("install cargo-fuzz --locked");
    println!("cargo-fuzz is missing; installing it once: {install}");
    if !install.run()?.success() {
        bail!("cargo-fuzz could not be installed; to see why: {install}");
    }
    Ok(())
}

/// Without a sanitizer: none of our code is unsafe, and so a stable compiler will do.
fn build_run(target: &str, seconds: u64) -> Cargo {
    // The first folder takes what is new, the second is only read.
    Cargo::new(&format!(
        "fuzz run {target} --fuzz-dir {FOLDER} --sanitizer none \
         {FOLDER}/target/corpus/{target} {FOLDER}/corpus/{target} \
         -- -max_total_time={seconds} -timeout=20"
    ))
}

/// Copies as few inputs as together reach all the code that was reached; counting how often would keep
/// hundreds more.
fn build_keep(target: &str) -> Cargo {
    Cargo::new(&format!(
        "fuzz run {target} --fuzz-dir {FOLDER} --sanitizer none \
         {FOLDER}/corpus/{target} {FOLDER}/target/corpus/{target} \
         -- -set_cover_merge=1 -use_counters=0"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_a_target() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(FOLDER);
        let targets = targets(&folder).unwrap();
        assert!(targets.iter().any(|target| target == "lwar_datagram"));
        assert!(targets.is_sorted());
    }

    #[test]
    fn a_run_leaves_the_kept_inputs_alone() {
        assert_eq!(
            build_run("bit_reader", 7).to_string(),
            "cargo fuzz run bit_reader --fuzz-dir fuzz --sanitizer none \
             fuzz/target/corpus/bit_reader fuzz/corpus/bit_reader \
             -- -max_total_time=7 -timeout=20"
        );
    }

    #[test]
    fn keeping_adds_to_the_kept_inputs() {
        let keep = build_keep("bit_reader").to_string();
        assert!(keep.contains(
            " fuzz/corpus/bit_reader fuzz/target/corpus/bit_reader -- -set_cover_merge=1"
        ));
    }
}
