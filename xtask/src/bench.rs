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
    let status = build_command(args).run()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn build_command(args: &Args) -> Cargo {
    let json = if args.json { "--json" } else { "" };
    Cargo::new(&format!(
        "run --release -p tickwire-bench -- {json} {}",
        args.names.join(" ")
    ))
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
