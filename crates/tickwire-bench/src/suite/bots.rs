//! A bot in the server's process against one over loopback.
//!
//! Seven bots play the arena for some seconds, sixty steps a second, as ordinary clients: once over
//! memory links, once through sockets of their own. What is compared is the processor's time within
//! the driver, less what a server without players takes there: the sessions of both sides, the driver
//! and the kernel. The arena's steps, what the bots see and what they think are the same for both, and
//! left out. Server and bots share one loop and one thread both times, so that nothing else is
//! different: bots in a program of their own also pay for being woken.

use std::time::Duration;

use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};
use super::table::{Table, Way};

const ROUNDS: usize = 7;
const BOTS: u64 = 7;

/// Until every bot plays.
const WARM_UP: Duration = Duration::from_secs(1);
/// How long is measured.
const SPAN: Duration = Duration::from_secs(2);

/// A protocol, and what its figures are called.
struct Case {
    protocol: &'static str,
    loopback: &'static str,
    memory: &'static str,
}

const CASES: [Case; 2] = [
    Case {
        protocol: "lwar",
        loopback: "lwar bot over loopback",
        memory: "lwar bot in memory",
    },
    Case {
        protocol: "cppevy",
        loopback: "C++evy bot over loopback",
        memory: "C++evy bot in memory",
    },
];

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for case in &CASES {
        figures.extend(compare(case)?);
    }
    Ok(figures)
}

fn compare(case: &Case) -> anyhow::Result<[Figure; 2]> {
    let with_bots = |way| Table::new(case.protocol)?.with_bots(BOTS, way);
    // What a server without players takes, measured once a round.
    let mut alone = Vec::new();
    let rounds = Rounds::run(
        ROUNDS,
        &mut alone,
        |alone| {
            alone.push(carrying(Table::new(case.protocol)?)?.as_secs_f64());
            carrying(with_bots(Way::Memory)?)
        },
        |_| carrying(with_bots(Way::Loopback)?),
    )?;
    let alone = Spread::of(alone).median;
    let cost = rounds.compare(|carrying| {
        let added = carrying.as_secs_f64() - alone;
        added * 1e6 / SPAN.as_secs_f64() / BOTS as f64
    });
    Ok([
        Figure::plain(case.loopback, cost.second, "µs/s"),
        Figure {
            ratio: Some(Ratio {
                spread: cost.ratio,
                to: "loopback",
            }),
            target: Some(Target::RatioAtMost(0.2)),
            ..Figure::plain(case.memory, cost.first, "µs/s")
        },
    ])
}

/// What the driver takes once everybody plays.
fn carrying(mut table: Table) -> anyhow::Result<Duration> {
    table.play(WARM_UP)?;
    let costs = table.play(SPAN)?;
    table.check_playing()?;
    Ok(costs.carrying)
}
