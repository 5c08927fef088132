//! `cargo xtask bench`: how fast everything is, by the program of crate `tickwire-bench`.
//!
//! Not a part of `cargo xtask test`: it takes a minute or two, wants the release profile, and a busy
//! machine can make it miss a target.

use std::process::ExitCode;

use crate::cargo::Cargo;

/// Measures how fast Tickwire is, and compares with the targets.
///
/// Figures with a target are ratios of what is measured by turns in one run. Exits with 1 if a target
/// is missed by more than the noise of the run, and with 2 if there is no benchmark of that name.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these benchmarks; all of them if left out
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Report as a JSON array
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if is_chosen(args, "peers") && !Cargo::new(BUILD_PEERS).run()?.success() {
        anyhow::bail!(
            "the libraries to compare with could not be built: name the benchmarks without `peers`"
        );
    }
    if is_chosen(args, "lag") && !Cargo::new(BUILD_COMMAND).run()?.success() {
        anyhow::bail!("the command could not be built: name the benchmarks without `lag`");
    }
    let status = build_command(args).run()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Other libraries, in a workspace of their own: built for whoever compares with them.
const BUILD_PEERS: &str = "build --release --manifest-path peers/Cargo.toml";

/// What that makes, for the benchmark to find.
const PEERS: &str = "peers/target/release/tickwire-peers";

/// The command itself, whose proxy is measured from outside.
const BUILD_COMMAND: &str = "build --release -p tickwire-cli";

/// What that makes, for the benchmark to find.
const COMMAND: &str = "target/release/tickwire";

fn is_chosen(args: &Args, benchmark: &str) -> bool {
    args.names.is_empty() || args.names.iter().any(|name| name == benchmark)
}

fn build_command(args: &Args) -> Cargo {
    let json = if args.json { "--json" } else { "" };
    let mut command = Cargo::new(&format!(
        "run --release -p tickwire-bench -- {json} {}",
        args.names.join(" ")
    ));
    if is_chosen(args, "peers") {
        command = command.var("TICKWIRE_PEERS", PEERS);
    }
    if is_chosen(args, "lag") {
        command = command.var("TICKWIRE_COMMAND", COMMAND);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_options_are_passed_on() {
        let args = Args {
            names: vec!["echo".to_owned(), "bots".to_owned()],
            json: true,
        };
        assert_eq!(
            build_command(&args).to_string(),
            "cargo run --release -p tickwire-bench -- --json echo bots"
        );
    }
}
