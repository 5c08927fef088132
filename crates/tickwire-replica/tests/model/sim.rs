//! The scenarios that `cargo xtask sim` runs, and whether they find what they should.

use tickwire_sim::TraceHash;

use crate::bugs::Bug;
use crate::history;
use crate::seeds::{self, OneIn};

/// Histories a seed: they are short, and 1,000 seeds are to be 10,000 of them.
const HISTORIES: u64 = 10;

#[test]
fn histories() {
    seeds::check("model::histories", OneIn(1), |seed| {
        let mut trace = TraceHash::new();
        for history in seed * HISTORIES..(seed + 1) * HISTORIES {
            let run = history::run(history, None);
            let run = run.map_err(|why| format!("history {history}: {why}"))?;
            trace.write_u64(run.as_u64());
        }
        Ok(trace)
    });
}

#[test]
fn planted_bugs_are_found() {
    for bug in Bug::ALL {
        let mut others = Vec::new();
        let is_found = (0..50).any(|seed| match history::run(seed, Some(bug)) {
            Err(why) if why.contains(bug.symptom()) => true,
            Err(why) => {
                others.push(why);
                false
            }
            Ok(_) => false,
        });
        assert!(
            is_found,
            "50 seeds do not show {bug:?}; they say: {others:#?}"
        );
    }
}
