//! `cargo xtask sim`: the simulation, with the seeds one wants.
//!
//! Scenarios are ordinary tests, in module `sim` of the tests of each dialect, of the native protocol
//! (`native`), and of the replication engine's model check (`model`). They read how many seeds to run, and
//! from which, from the environment; this command sets it. They run in the dev profile: it is optimised
//! enough, debug assertions are on, and the tests have built it already.

use std::path::{self, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use crate::cargo::Cargo;

/// Runs the simulation: sessions on a seeded network that delays, loses, reorders and cuts.
///
/// A seed that fails prints the command that replays it. The same seed gives the same run, byte for
/// byte.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A dialect, as `reone`, or `native`, or `model`, or one of its scenarios, as `reone::snapshots`; all of them if left out
    scenario: Option<String>,
    /// How many seeds each scenario runs
    #[arg(long, value_name = "N", default_value_t = SEEDS, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Exactly this seed: the replay of a failure
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "first", "forever"])]
    seed: Option<u64>,
    /// Record what the scenario's server sees to this file, for `tickwire inspect` and `tickwire replay`
    #[arg(long, value_name = "FILE", requires_all = ["seed", "scenario"])]
    record: Option<PathBuf>,
    /// Go on with the next seeds until one fails, or until Ctrl-C
    #[arg(long)]
    forever: bool,
}

/// Where scenarios are.
const PACKAGES: &str =
    "-p tickwire-dialects -p tickwire-native -p tickwire-rendezvous -p tickwire-replica";

/// Seeds a scenario runs unless told otherwise.
pub(crate) const SEEDS: u64 = 1_000;

/// The environment variable that says how many seeds each scenario runs.
pub(crate) const SEEDS_VAR: &str = "TICKWIRE_SIM_SEEDS";
/// The first of them.
const FIRST_VAR: &str = "TICKWIRE_SIM_FIRST";
/// One seed, and no other.
const SEED_VAR: &str = "TICKWIRE_SIM_SEED";
/// Where it is recorded.
const RECORD_VAR: &str = "TICKWIRE_SIM_RECORD";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut first = args.first;
    loop {
        let (status, tally) = build_round(args, first).run_tests()?;
        if !status.success() {
            return Ok(ExitCode::FAILURE);
        }
        if tally.is_empty() {
            bail!(
                "no scenario is called `{}`; for their names, which are what follows `sim::`: {}",
                args.scenario.as_deref().unwrap_or_default(),
                Cargo::new(&format!("test {PACKAGES} --tests sim:: -- --list")),
            );
        }
        if !args.forever {
            return Ok(ExitCode::SUCCESS);
        }
        let next = first.saturating_add(args.seeds);
        println!("── seeds {first} to {} passed ──", next - 1);
        first = next;
    }
}

fn build_round(args: &Args, first: u64) -> Cargo {
    let scenario = args.scenario.as_deref().unwrap_or_default();
    let (dialect, test) = scenario.split_once("::").unwrap_or((scenario, ""));
    let tests = match dialect {
        "" => "--tests".to_owned(),
        _ => format!("--test {dialect}"),
    };
    let cargo = Cargo::new(&format!(
        "test {PACKAGES} {tests} sim::{test} -- --nocapture"
    ));
    let cargo = match &args.record {
        // Tests run in the folder of their crate.
        Some(file) => {
            let file = path::absolute(file).unwrap_or_else(|_| file.clone());
            cargo.var(RECORD_VAR, file.display())
        }
        None => cargo,
    };
    match args.seed {
        Some(seed) => cargo.var(SEED_VAR, seed),
        None => cargo.var(FIRST_VAR, first).var(SEEDS_VAR, args.seeds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Args = Args {
        scenario: None,
        seeds: SEEDS,
        first: 0,
        seed: None,
        record: None,
        forever: false,
    };

    #[test]
    fn without_arguments_every_scenario_runs_a_thousand_seeds() {
        assert_eq!(
            build_round(&ALL, 0).to_string(),
            "TICKWIRE_SIM_FIRST=0 TICKWIRE_SIM_SEEDS=1000 \
             cargo test -p tickwire-dialects -p tickwire-native -p tickwire-rendezvous -p tickwire-replica --tests sim:: -- --nocapture"
        );
    }

    #[test]
    fn a_replay_runs_one_seed_of_one_scenario() {
        let args = Args {
            scenario: Some("reone::snapshots".to_owned()),
            seed: Some(77),
            ..ALL
        };
        assert_eq!(
            build_round(&args, 0).to_string(),
            "TICKWIRE_SIM_SEED=77 \
             cargo test -p tickwire-dialects -p tickwire-native -p tickwire-rendezvous -p tickwire-replica --test reone sim::snapshots -- --nocapture"
        );
    }

    #[test]
    fn a_replay_can_be_recorded() {
        let args = Args {
            scenario: Some("lwar::losses".to_owned()),
            seed: Some(7),
            record: Some("/tmp/lwar.rec".into()),
            ..ALL
        };
        let line = build_round(&args, 0).to_string();
        assert!(
            line.starts_with("TICKWIRE_SIM_RECORD=/tmp/lwar.rec TICKWIRE_SIM_SEED=7 cargo test "),
            "{line}"
        );
    }

    #[test]
    fn a_dialect_runs_all_its_scenarios() {
        let args = Args {
            scenario: Some("lwar".to_owned()),
            seeds: 5,
            ..ALL
        };
        assert_eq!(
            build_round(&args, 5).to_string(),
            "TICKWIRE_SIM_FIRST=5 TICKWIRE_SIM_SEEDS=5 \
             cargo test -p tickwire-dialects -p tickwire-native -p tickwire-rendezvous -p tickwire-replica --test lwar sim:: -- --nocapture"
        );
    }
}
