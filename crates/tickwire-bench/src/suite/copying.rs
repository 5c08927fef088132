//! What the engine's costs are compared with: copying the values of one entity, within the cache.
//!
//! Targets are given in nanoseconds of one kind of machine. What a bench asserts is their ratio to a copy that is
//! measured in the same run, so that a machine which is slower, shared or throttled is judged alike.

use std::hint::black_box;

use super::clock::timed;
use super::report::Target;

/// Lanes of an entity of the workload.
const LANES: usize = 10;

const ENTITIES: usize = 1_000;

const TIMES: usize = 100;

/// Nanoseconds that a copy takes on the machine on which the targets hold in nanoseconds, when it is idle
/// (docs/BENCHMARKS.md).
const NANOS: f64 = 0.22;

/// Nanoseconds to copy the lanes of one entity.
pub(super) fn copy() -> f64 {
    let from = vec![1_u32; ENTITIES * LANES];
    let mut to = vec![0_u32; ENTITIES * LANES];
    let (time, ()) = timed(|| {
        for _ in 0..TIMES {
            to.copy_from_slice(black_box(&from));
            black_box(&to);
        }
    });
    time.as_nanos() as f64 / (ENTITIES * TIMES) as f64
}

/// At most so many nanoseconds on that machine: as many copies on any.
pub(super) const fn at_most(nanos: f64) -> Target {
    Target::RatioAtMost(nanos / NANOS)
}
