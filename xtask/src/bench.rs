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

/// A program that a benchmark runs, built for whoever asks for that.
struct Program {
    benchmark: &'static str,
    build: &'static str,
    /// What that makes, and how the benchmark is told where it is.
    path: &'static str,
    var: &'static str,
}

/// The command itself, measured from outside.
const COMMAND: Program = Program {
    benchmark: "",
    build: "build --release -p tickwire-cli",
    path: "target/release/tickwire",
    var: "TICKWIRE_COMMAND",
};

const PROGRAMS: &[Program] = &[
    // Other libraries, in a workspace of their own.
    Program {
        benchmark: "peers",
        build: "build --release --manifest-path peers/Cargo.toml",
        path: "peers/target/release/tickwire-peers",
        var: "TICKWIRE_PEERS",
    },
    Program {
        benchmark: "tunnel",
        ..COMMAND
    },
    Program {
        benchmark: "lag",
        ..COMMAND
    },
];

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    for Program {
        benchmark, build, ..
    } in needed(args)
    {
        if !Cargo::new(build).run()?.success() {
            anyhow::bail!(
                "`cargo {build}` failed: name the benchmarks that you want, without `{benchmark}`"
            );
        }
    }
    let status = build_command(args).run()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn needed(args: &Args) -> impl Iterator<Item = &'static Program> {
    let names = &args.names;
    let is_named = |program: &&Program| names.iter().any(|name| name == program.benchmark);
    PROGRAMS
        .iter()
        .filter(move |program| names.is_empty() || is_named(program))
}

fn build_command(args: &Args) -> Cargo {
    let json = if args.json { "--json" } else { "" };
    let command = Cargo::new(&format!(
        "run --release -p tickwire-bench -- {json} {}",
        args.names.join(" ")
    ));
    needed(args).fold(command, |command, program| {
        command.var(program.var, program.path)
    })
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
