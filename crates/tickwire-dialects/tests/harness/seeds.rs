//! A scenario on many seeds.
//!
//! In: what to do with a seed. Out: a test that fails with the command that replays the seed. A plain
//! `cargo test` runs a few seeds; the environment, which `cargo xtask sim` sets, any others:
//! `TICKWIRE_SIM_SEED` names one, `TICKWIRE_SIM_FIRST` and `TICKWIRE_SIM_SEEDS` a range.

use std::ops::Range;
use std::thread;

use tickwire_sim::{Scenario, TraceHash};

/// Seeds that a plain `cargo test` runs.
const FEW: u64 = 20;

/// How many of the seeds that are asked for a scenario runs: a long one can do with fewer.
pub(crate) struct OneIn(pub(crate) u64);

/// Runs a scenario. Its name is the dialect, and the test's path behind `sim::`; `reone::snapshots` is
/// what `cargo xtask sim` takes to run it again.
#[track_caller]
pub(crate) fn check(
    name: &'static str,
    OneIn(share): OneIn,
    run: impl FnMut(u64) -> Result<TraceHash, String>,
) {
    assert_replayable(name);
    let Range { start, end } = seeds();
    let seeds = start..start + (end - start).div_ceil(share);
    if let Err(failed) = Scenario::new(name).check(seeds, |failed| eprintln!("{failed}"), run) {
        panic!("{failed}");
    }
}

/// A name that the printed command does not find again would be found out when it is needed most.
#[track_caller]
fn assert_replayable(name: &str) {
    let thread = thread::current();
    // With one thread for all tests, it is not named after them.
    let test = thread.name().filter(|&thread| thread != "main");
    let replayed = name.strip_prefix(concat!(env!("CARGO_CRATE_NAME"), "::"));
    assert!(
        replayed.is_some_and(|replayed| {
            test.is_none_or(|test| test.strip_prefix("sim::") == Some(replayed))
        }),
        "{name} does not name the test {test:?}"
    );
}

fn seeds() -> Range<u64> {
    let number = |name| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse::<u64>().ok())
    };
    match number("TICKWIRE_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("TICKWIRE_SIM_FIRST").unwrap_or(0);
            first..first + number("TICKWIRE_SIM_SEEDS").unwrap_or(FEW)
        }
    }
}
