//! The dialects on a simulated network, many seeds each.
//!
//! `cargo test` runs a few; `cargo xtask sim` any number, or the one that failed:
//! `TICKWIRE_SIM_SEED` names it, `TICKWIRE_SIM_FIRST` and `TICKWIRE_SIM_SEEDS` a range.

mod lwar;
mod sabotage;

use std::ops::Range;

use tickwire_sim::{Scenario, TraceHash};

/// Seeds that a plain `cargo test` runs.
const FEW: u64 = 20;

/// Runs a scenario on the seeds that the environment asks for; its name is the test's path behind
/// `sim::`, which is what the printed command takes.
#[track_caller]
pub(crate) fn check(name: &'static str, run: impl FnMut(u64) -> Result<TraceHash, String>) {
    check_seeds(name, seeds(), run);
}

/// The same for a scenario that lasts minutes of its own time: on a tenth of these seeds.
#[track_caller]
pub(crate) fn check_long(name: &'static str, run: impl FnMut(u64) -> Result<TraceHash, String>) {
    let Range { start, end } = seeds();
    check_seeds(name, start..start + (end - start).div_ceil(10), run);
}

#[track_caller]
fn check_seeds(
    name: &'static str,
    seeds: Range<u64>,
    run: impl FnMut(u64) -> Result<TraceHash, String>,
) {
    let outcome = Scenario::new(name).check(seeds, |failed| eprintln!("{failed}"), run);
    if let Err(failed) = outcome {
        panic!("{failed}");
    }
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
