//! `cargo xtask test`: everything that CI checks, in one order, until something fails.
//!
//! The simulation and the golden vectors are ordinary tests, so they need no step of their own:
//! the tests run once, with as many seeds as this command wants. Everything is built in the dev
//! profile, so that clippy, tests and the command that tidy asks for help share what can be shared.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::cargo::{Cargo, Tally};
use crate::{sim, tidy};

/// Checks everything that CI checks: formatting, lints, documentation, tests with the simulation
/// and the golden vectors, tidiness.
///
/// Stops at the first step that fails and says how to run that step alone. The last line is the
/// number of tests that passed and failed.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave out the documentation, and simulate 20 seeds a scenario instead of 1,000
    #[arg(long)]
    fast: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut lines = Vec::new();
    let mut tally = None;
    let mut failed = None;
    for step in steps(args.fast) {
        println!("\n── {} ── {}\n", step.name, step.again());
        let started = Instant::now();
        let outcome = step.work.run(&mut tally)?;
        lines.push(summary_line(step.name, outcome, started.elapsed()));
        if outcome == Outcome::Failed {
            failed = Some(step);
            break;
        }
    }

    println!("\n── summary ──\n");
    for line in lines {
        println!("{line}");
    }
    if let Some(step) = &failed {
        println!("\n{} failed. To see it alone: {}", step.name, step.again());
    }
    if let Some(tally) = tally {
        println!("\n{tally}");
    }
    Ok(failed.map_or(ExitCode::SUCCESS, |_| ExitCode::FAILURE))
}

/// The steps, cheap ones and those that fail often first; tidy last, because by then the command
/// that it asks for help is built.
fn steps(fast: bool) -> Vec<Step> {
    let mut steps = vec![
        Step {
            name: "formatting",
            work: Work::Cargo(Cargo::new("fmt --all --check")),
        },
        Step {
            name: "lints",
            work: Work::Cargo(Cargo::new(
                "clippy --workspace --all-targets -- -D warnings",
            )),
        },
    ];
    if !fast {
        steps.push(Step {
            name: "documentation",
            work: Work::Cargo(
                Cargo::new("doc --workspace --no-deps --document-private-items")
                    .var("RUSTDOCFLAGS", "-D warnings"),
            ),
        });
    }
    let seeds = if fast { FAST_SEEDS } else { sim::SEEDS };
    steps.push(Step {
        name: "tests",
        // Without stopping at the first binary that fails, so that the count is the whole count.
        work: Work::Tests(Cargo::new("test --workspace --no-fail-fast").var(sim::SEEDS_VAR, seeds)),
    });
    steps.push(Step {
        name: "tidy",
        work: Work::Tidy,
    });
    steps
}

/// Seeds a scenario with `--fast`: enough to meet a careless mistake, in seconds.
const FAST_SEEDS: u64 = 20;

struct Step {
    name: &'static str,
    work: Work,
}

impl Step {
    /// The command that runs this step alone.
    fn again(&self) -> String {
        match &self.work {
            Work::Cargo(cargo) | Work::Tests(cargo) => cargo.to_string(),
            Work::Tidy => "cargo xtask tidy".to_owned(),
        }
    }
}

enum Work {
    Cargo(Cargo),
    /// The same, but its tests are counted.
    Tests(Cargo),
    Tidy,
}

impl Work {
    fn run(&self, tally: &mut Option<Tally>) -> anyhow::Result<Outcome> {
        let passed = match self {
            Self::Cargo(cargo) => cargo.run()?.success(),
            Self::Tests(cargo) => {
                let (status, counted) = cargo.run_tests()?;
                *tally = Some(counted);
                status.success()
            }
            Self::Tidy => tidy::run()? == ExitCode::SUCCESS,
        };
        Ok(if passed {
            Outcome::Passed
        } else {
            Outcome::Failed
        })
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Passed,
    Failed,
}

fn summary_line(name: &str, outcome: Outcome, took: Duration) -> String {
    let outcome = match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "FAILED",
    };
    format!("{outcome}  {name:<14}{:>7.1} s", took.as_secs_f32())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(fast: bool) -> Vec<String> {
        steps(fast).iter().map(Step::again).collect()
    }

    #[test]
    fn the_full_run_is_what_the_documents_say() {
        assert_eq!(
            commands(false),
            [
                "cargo fmt --all --check",
                "cargo clippy --workspace --all-targets -- -D warnings",
                "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps --document-private-items",
                "TICKWIRE_SIM_SEEDS=1000 cargo test --workspace --no-fail-fast",
                "cargo xtask tidy",
            ]
        );
    }

    #[test]
    fn the_fast_run_leaves_out_documentation_and_most_seeds() {
        let fast = commands(true);
        assert!(!fast.iter().any(|command| command.contains("cargo doc")));
        assert!(
            fast.iter()
                .any(|command| command.starts_with("TICKWIRE_SIM_SEEDS=20 "))
        );
    }

    #[test]
    fn the_summary_lines_up() {
        assert_eq!(
            [
                summary_line("tests", Outcome::Passed, Duration::from_millis(123_460)),
                summary_line("documentation", Outcome::Failed, Duration::from_millis(960)),
            ],
            [
                "passed  tests           123.5 s",
                "FAILED  documentation     1.0 s",
            ]
        );
    }
}
