//! A bot in the server's process against one over loopback.
//!
//! Seven bots play the arena for some seconds, sixty steps a second, as ordinary clients: once over
//! memory links, once through sockets of their own. What is compared is the processor's time within
//! the driver, less what a server without players takes there in the same round: the sessions of both
//! sides, the driver and the kernel. The arena's steps, what the bots see and what they think are the
//! same for both, and left out. Server and bots share one loop and one thread both times, so that
//! nothing else is different: bots in a program of their own also pay for being woken.

use std::time::Duration;

use super::report::{Figure, Ratio, Target};
use super::rounds::Rounds;
use super::table::{Table, Way};

/// Many short ones: being woken costs more or less from one second to the next.
const ROUNDS: usize = 21;
const BOTS: u64 = 7;

/// Until every bot plays.
const WARM_UP: Duration = Duration::from_secs(1);
/// Until what came during the others' turns is carried.
const RESUMING: Duration = Duration::from_millis(100);
/// How long is measured.
const SPAN: Duration = Duration::from_millis(600);

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

/// The same table three times, which play by turns.
struct Tables {
    empty: Table,
    memory: Table,
    loopback: Table,
}

fn compare(case: &Case) -> anyhow::Result<[Figure; 2]> {
    let open = || Table::new(case.protocol);
    let mut tables = Tables {
        empty: open()?,
        memory: open()?.with_bots(BOTS, Way::Memory)?,
        loopback: open()?.with_bots(BOTS, Way::Loopback)?,
    };
    tables.memory.play(WARM_UP)?;
    tables.loopback.play(WARM_UP)?;
    let rounds = Rounds::run(
        ROUNDS,
        &mut tables,
        |tables| bot_cost(&mut tables.memory, &mut tables.empty),
        |tables| bot_cost(&mut tables.loopback, &mut tables.empty),
    )?;
    tables.memory.check_playing()?;
    tables.loopback.check_playing()?;
    let cost = rounds.compare(|cost| *cost);
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

/// What one bot adds to an empty table: microseconds of processor for a second of its life.
fn bot_cost(with_bots: &mut Table, empty: &mut Table) -> anyhow::Result<f64> {
    let added = carrying(with_bots)? - carrying(empty)?;
    Ok(added * 1e6 / BOTS as f64)
}

/// What the driver takes of a second, once everything runs as before.
fn carrying(table: &mut Table) -> anyhow::Result<f64> {
    table.play(RESUMING)?;
    let costs = table.play(SPAN)?;
    Ok(costs.carrying.as_secs_f64() / costs.lasted.as_secs_f64())
}
