//! The commands of this repository: `cargo xtask --help`.
//!
//! Each is a file. They run cargo and read the repository's files, and hold nothing that a game or
//! an operator would need: that is the `tickwire` command.

mod bench;
mod cargo;
mod compress;
mod fuzz;
mod nat;
mod prior;
mod recording;
mod sim;
mod test;
mod tidy;
mod vectors;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

/// Checks Tickwire: its tests, its simulation, its golden vectors, its files.
///
/// `cargo xtask test` is what CI runs, all of it; `cargo xtask test --fast` is for between two
/// edits. Exits with 0 if everything holds, 1 if something does not, 2 if it was called wrongly.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Test(test::Args),
    Sim(sim::Args),
    Fuzz(fuzz::Args),
    Vectors(vectors::Args),
    Bench(bench::Args),
    Nat(nat::Args),
    Compress(compress::Args),
    Prior(prior::Args),
    /// Builds the Bevy example, which is a workspace of its own because Bevy takes long to compile.
    Bevy,
    /// Checks what drifts unseen: who depends on whom, links, vectors nobody reads, stale commands
    /// in documents.
    ///
    /// Every complaint names a place and says what to do. Part of `cargo xtask test`.
    Tidy,
}

fn main() -> ExitCode {
    run(Args::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(args: Args) -> anyhow::Result<ExitCode> {
    // Everything below names files from the root of the repository.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::set_current_dir(&root).with_context(|| format!("entering {}", root.display()))?;
    match args.task {
        Task::Test(args) => test::run(&args),
        Task::Sim(args) => sim::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Vectors(args) => vectors::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Nat(args) => nat::run(&args),
        Task::Compress(args) => compress::run(&args),
        Task::Prior(args) => prior::run(&args),
        Task::Bevy => build_bevy(),
        Task::Tidy => tidy::run(),
    }
}

fn build_bevy() -> anyhow::Result<ExitCode> {
    let built = cargo::Cargo::new("build --manifest-path examples/bevy/Cargo.toml").run()?;
    Ok(match built.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_table_of_commands_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_has_help() {
        for task in Args::command().get_subcommands() {
            assert!(task.get_about().is_some(), "{}", task.get_name());
            for arg in task.get_arguments() {
                assert!(
                    arg.get_help().is_some(),
                    "{} {}",
                    task.get_name(),
                    arg.get_id()
                );
            }
        }
    }

    #[test]
    fn one_seed_is_not_combined_with_many() {
        for words in [
            "xtask sim --seed 7 --seeds 10",
            "xtask sim --seed 7 --first 3",
            "xtask sim --seed 7 --forever",
        ] {
            assert!(Args::try_parse_from(words.split(' ')).is_err(), "{words}");
        }
        assert!(Args::try_parse_from("xtask sim --seed 7 lossy".split(' ')).is_ok());
    }
}
