//! `cargo xtask vectors`: the golden vectors, checked or written anew.
//!
//! They are ordinary tests, in module `vectors` of the integration tests, which rewrite
//! their files when the environment tells them to.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

use crate::cargo::Cargo;

/// Checks the golden vectors: the bytes of every message, as text under `vectors/`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write what the code encodes now into the files, and show which changed
    ///
    /// A changed vector is a changed protocol: it needs a *Wire* entry in CHANGELOG.md.
    #[arg(long)]
    bless: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut cargo = Cargo::new(
        "test -p tickwire-dialects -p tickwire-native -p tickwire-replica --tests vectors",
    );
    if args.bless {
        cargo = cargo.var("TICKWIRE_BLESS", 1);
    }
    let (status, tally) = cargo.run_tests()?;
    if !status.success() {
        return Ok(ExitCode::FAILURE);
    }
    if tally.is_empty() {
        bail!("no test has `vectors` in its name: {cargo}");
    }
    if args.bless {
        show_changed()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show_changed() -> anyhow::Result<()> {
    let git = Command::new("git")
        .args(["status", "--short", "vectors"])
        .output()
        .context("starting `git status`")?;
    if !git.status.success() {
        bail!(
            "git status: {}",
            String::from_utf8_lossy(&git.stderr).trim()
        );
    }
    let changed = String::from_utf8_lossy(&git.stdout);
    print!("{changed}");
    if changed.is_empty() {
        println!("no vector changed");
    } else {
        println!("what changed on the wire needs a *Wire* entry in CHANGELOG.md");
    }
    Ok(())
}
