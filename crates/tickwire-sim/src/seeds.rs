//! Running a scenario on many seeds, and saying which one failed.
//!
//! A scenario is a function from a seed to a [`TraceHash`]: it builds its network, its sessions and its
//! faults from the seed, and fails with a sentence or a panic. Here it is called for each seed, some
//! seeds twice to see that nothing but the seed decides. Where the seeds come from (a test's default,
//! an argument, the environment) and where the report goes is the caller's.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

use crate::TraceHash;

/// One run in so many is made twice and compared. More would cost more than it finds: what is not
/// a function of the seed tends to differ in every run.
pub const SEEDS_PER_COMPARISON: u64 = 20;

/// A scenario by name.
///
/// ```
/// use tickwire_sim::{Network, Scenario};
///
/// let outcome = Scenario::new("nothing-happens").check(
///     0..100,
///     |failed| eprintln!("{failed}"),
///     |seed| Ok(Network::new(seed).trace_hash()),
/// );
/// assert_eq!(outcome, Ok(()));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Scenario {
    name: &'static str,
}

/// A seed on which a scenario failed; it prints the command that runs it again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FailedSeed {
    /// Which scenario.
    pub scenario: &'static str,
    /// The seed that shows it.
    pub seed: u64,
    /// What went wrong.
    pub why: Failure,
}

/// How a scenario failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// It found something wrong.
    Wrong(String),
    /// It panicked; the panic's own message was printed before.
    Panicked,
    /// Two runs were not the same: something besides the seed decides.
    Diverged {
        /// Trace of the first run.
        first: TraceHash,
        /// Trace of the second.
        second: TraceHash,
    },
}

impl Scenario {
    /// The scenario of this name, which is what the command takes to run it again.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Runs each seed, up to the first that fails.
    ///
    /// The failure is handed to `report` and returned. A panic is reported while it passes through,
    /// and goes on.
    pub fn check(
        self,
        seeds: Range<u64>,
        report: impl Fn(&FailedSeed),
        mut run: impl FnMut(u64) -> Result<TraceHash, String>,
    ) -> Result<(), FailedSeed> {
        for seed in seeds {
            let failed = |why| FailedSeed {
                scenario: self.name,
                seed,
                why,
            };
            let watch = Watch(|| report(&failed(Failure::Panicked)));
            let outcome = run_seed(seed, &mut run);
            core::mem::forget(watch);
            if let Err(why) = outcome {
                let failed = failed(why);
                report(&failed);
                return Err(failed);
            }
        }
        Ok(())
    }
}

fn run_seed(
    seed: u64,
    run: &mut impl FnMut(u64) -> Result<TraceHash, String>,
) -> Result<(), Failure> {
    let first = run(seed).map_err(Failure::Wrong)?;
    // By the seed and not by the turn, so that running it alone does the same again.
    if seed.is_multiple_of(SEEDS_PER_COMPARISON) {
        let second = run(seed).map_err(Failure::Wrong)?;
        if second != first {
            return Err(Failure::Diverged { first, second });
        }
    }
    Ok(())
}

/// Calls its function when it is dropped, which only unwinding does: otherwise it is forgotten.
struct Watch<F: Fn()>(F);

impl<F: Fn()> Drop for Watch<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl fmt::Display for FailedSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scenario,
            seed,
            why,
        } = self;
        write!(
            f,
            "seed {seed} failed: {why}; replay with: cargo xtask sim --seed {seed} {scenario}"
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(what) => f.write_str(what),
            Self::Panicked => f.write_str("panicked"),
            Self::Diverged { first, second } => {
                write!(f, "two runs differ, with traces {first} and {second}")
            }
        }
    }
}

impl core::error::Error for FailedSeed {}

#[cfg(test)]
mod tests {
    extern crate std;

    use alloc::string::ToString;
    use alloc::vec::Vec;
    use core::cell::RefCell;

    use super::*;

    const SCENARIO: Scenario = Scenario::new("test");

    fn hash(number: u64) -> TraceHash {
        let mut hash = TraceHash::new();
        hash.write_u64(number);
        hash
    }

    #[test]
    fn the_first_failing_seed_is_reported_with_its_command() {
        let reports = RefCell::new(Vec::new());
        let outcome = SCENARIO.check(
            0..100,
            |failed| reports.borrow_mut().push(failed.to_string()),
            |seed| {
                if seed < 37 {
                    Ok(hash(seed))
                } else {
                    Err("a ship was lost".into())
                }
            },
        );
        assert_eq!(outcome.unwrap_err().seed, 37);
        assert_eq!(
            reports.into_inner(),
            ["seed 37 failed: a ship was lost; replay with: cargo xtask sim --seed 37 test"]
        );
    }

    #[test]
    fn a_panic_is_reported_on_its_way() {
        let reports = RefCell::new(Vec::new());
        let panicked = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            SCENARIO.check(
                5..9,
                |failed| reports.borrow_mut().push(failed.clone()),
                |seed| {
                    assert!(seed != 7, "seven");
                    Ok(hash(seed))
                },
            )
        }));
        assert!(panicked.is_err());
        let reports = reports.into_inner();
        assert_eq!((reports.len(), reports[0].seed), (1, 7));
        assert_eq!(reports[0].why, Failure::Panicked);
    }

    #[test]
    fn a_run_that_does_not_repeat_is_found_within_twenty_seeds() {
        let mut calls = 0;
        let outcome = SCENARIO.check(
            1..1 + SEEDS_PER_COMPARISON,
            |_| (),
            |_| {
                calls += 1;
                Ok(hash(calls))
            },
        );
        let failed = outcome.unwrap_err();
        assert_eq!(failed.seed, SEEDS_PER_COMPARISON);
        assert!(matches!(failed.why, Failure::Diverged { .. }), "{failed}");
    }
}
