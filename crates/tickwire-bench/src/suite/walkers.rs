//! A thousand pixmess walkers over loopback, each of whom sees about twenty others.
//!
//! The server has a thread and a driver of its own, and so have the walkers, all of them together: what
//! is counted is the processor's time of the server's thread, with what the kernel does on its behalf,
//! for each step that a walker takes.
//! Each walker takes twenty steps a second, which is as many as the protocol allows, and every step
//! goes to everybody who sees it. Meanwhile a hundred chunks a second are asked for that nobody has
//! asked for before. [`town`] is the server, [`crowd`] the walkers.
//!
//! A second case puts all of them on one plaza, where everybody sees everybody and everything that
//! happens would be twenty million packets a second. The server must keep its sixty steps a second, and
//! a pilot who flies in the arena of the same server must hear from it as before: [`pilot`].
//!
//! A third has nobody walk: 3,500 log in within nine seconds, and the server must keep its pace, too:
//! [`storm`].

mod crowd;
mod pilot;
mod storm;
mod town;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};

use super::report::{Figure, Ratio, Target};
use super::rounds::Spread;
use crowd::{Crowd, Seen};
use pilot::{Gaps, Pilot};
use town::{Costs, Town};

/// How many turns of the server are measured, so many times: eight seconds, if it keeps its pace.
const SPAN: usize = 60;
const SPANS: usize = 8;

/// As many as the protocol allows.
const STEPS_A_SECOND: f64 = 20.0;

/// Of one processor.
const CORES: f64 = 1.0;
/// A step's time that one in a hundred may exceed.
const STEP_MILLIS: f64 = 10.0;
/// Of sixty steps a second that the arena shall get to, whoever walks.
const PACE_KEPT: f64 = 0.98;
/// How long the pilot flies before the walkers come.
const QUIET: Duration = Duration::from_secs(4);
/// By how much the pilot's long pauses may become longer.
const PAUSES: f64 = 2.0;

/// Who walks where.
#[derive(Clone, Copy, Debug)]
struct Case {
    walkers: u16,
    /// Cells between the homes of two neighbours; `None` if all of them live on the plaza.
    spacing: Option<i32>,
    /// Chunks that are asked for in a hundredth of a second.
    chunks: usize,
}

/// A walker holds 9 chunks. With 43 cells from one to the next, 20 live in as many.
const SPREAD: Case = Case {
    walkers: 1_000,
    spacing: Some(43),
    chunks: 1,
};

const PLAZA: Case = Case {
    walkers: 1_000,
    spacing: None,
    chunks: 0,
};

/// What the threads tell each other.
#[derive(Debug, Default)]
struct Signals {
    /// The walkers come.
    invited: AtomicBool,
    /// Every walker is at home and holds what it wants to see.
    settled: AtomicBool,
    /// The server has measured enough.
    over: AtomicBool,
}

/// What was measured.
struct Outcome {
    costs: Vec<Costs>,
    seen: Seen,
    gaps: Gaps,
}

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let spread = measure(SPREAD)?;
    let plaza = measure(PLAZA)?;
    let mut figures = vec![
        Figure {
            target: Some(Target::AtMost(CORES)),
            ..Figure::plain(
                "1,000 pixmess walkers",
                spread.cores(SPREAD, Costs::total),
                "cores",
            )
        },
        Figure::plain(
            "· sessions, driver",
            spread.cores(SPREAD, |it| it.carrying),
            "cores",
        ),
        Figure::plain(
            "· gateway, game",
            spread.cores(SPREAD, |it| it.stepping()),
            "cores",
        ),
        Figure {
            target: Some(Target::AtMost(STEP_MILLIS)),
            ..Figure::plain("· a step, 99 of 100", spread.slow_step(), "ms")
        },
        Figure::plain("· chunks served", spread.chunks_a_second(), "chunks/s"),
    ];
    figures.extend(spread.pace(
        SPREAD,
        ["· steps each", "· others in sight", "· packets heard"],
    ));
    figures.push(Figure {
        target: Some(Target::AtMost(CORES)),
        ..Figure::plain(
            "1,000 on one plaza",
            plaza.cores(PLAZA, Costs::total),
            "cores",
        )
    });
    figures.push(Figure::plain(
        "· a step, 99 of 100",
        plaza.slow_step(),
        "ms",
    ));
    figures.push(Figure {
        ratio: Some(Ratio {
            spread: plaza.pace_kept(),
            to: "sixty",
        }),
        target: Some(Target::RatioAtLeast(PACE_KEPT)),
        ..Figure::plain("· pace", plaza.steps_a_second(), "steps/s")
    });
    figures.push(Figure {
        ratio: Some(Ratio {
            spread: plaza.gaps.ratio(),
            to: "before they came",
        }),
        target: Some(Target::RatioAtMost(PAUSES)),
        ..Figure::plain(
            "· pauses of an lwar pilot, 99 of 100",
            plaza.gaps.busy(),
            "ms",
        )
    });
    figures.extend(plaza.pace(
        PLAZA,
        ["· steps each", "· others in sight", "· packets heard"],
    ));
    figures.extend(measure_storm()?);
    Ok(figures)
}

/// The pace of the server while everybody wants to come in.
fn measure_storm() -> anyhow::Result<[Figure; 3]> {
    let mut town = Town::new(PLAZA)?;
    let [tiles, _] = town.addrs();
    let tiles = tiles.context("a server has a socket")?;
    let signals = Signals::default();
    let (costs, inside) = thread::scope(|scope| {
        let stormers = scope.spawn(|| storm::rage(tiles, &signals));
        let costs = town.measure_for(storm::SPAN);
        signals.over.store(true, Ordering::Relaxed);
        let inside = stormers.join().map_err(|_| anyhow!("the storm panicked"))?;
        anyhow::Ok((costs?, inside?))
    })?;
    let pace = |costs: &Costs| SPAN as f64 / costs.lasted.as_secs_f64();
    let kept = costs.iter().map(|costs| pace(costs) / 60.0).collect();
    let cores = |costs: &Costs| costs.total().as_secs_f64() / costs.lasted.as_secs_f64();
    Ok([
        Figure {
            ratio: Some(Ratio {
                spread: Spread::of(kept),
                to: "sixty",
            }),
            target: Some(Target::RatioAtLeast(PACE_KEPT)),
            ..Figure::plain(
                "3,500 logins in 9 s",
                Spread::of(costs.iter().map(pace).collect()),
                "steps/s",
            )
        },
        Figure::plain(
            "· server",
            Spread::of(costs.iter().map(cores).collect()),
            "cores",
        ),
        Figure::plain("· let in", Spread::exactly(inside as f64), "players"),
    ])
}

fn measure(case: Case) -> anyhow::Result<Outcome> {
    let mut town = Town::new(case)?;
    let [tiles, arena] = town.addrs();
    let tiles = tiles.context("a server has a socket")?;
    let arena = arena.context("a server has a socket")?;
    let signals = Signals::default();
    thread::scope(|scope| {
        let pilot = scope.spawn(|| Pilot::new(arena)?.fly(&signals));
        town.idle(QUIET)?;
        signals.invited.store(true, Ordering::Relaxed);
        let walkers = scope.spawn(|| Crowd::new(case, tiles)?.walk(&signals));
        let costs = town.measure(&signals);
        // However that went, the others shall end.
        signals.over.store(true, Ordering::Relaxed);
        let seen = walkers.join();
        let gaps = pilot.join();
        Ok(Outcome {
            costs: costs?,
            seen: seen.map_err(|_| anyhow!("the walkers panicked"))??,
            gaps: gaps.map_err(|_| anyhow!("the pilot panicked"))??,
        })
    })
}

impl Outcome {
    /// Processor seconds for as many steps as the walkers want to take in a second. If a busy machine
    /// lets them take fewer, that is no merit of the server's.
    fn cores(&self, case: Case, part: impl Fn(&Costs) -> Duration) -> Spread {
        let wanted = STEPS_A_SECOND * f64::from(case.walkers);
        let cores = |costs: &Costs| part(costs).as_secs_f64() * wanted / costs.walked.max(1) as f64;
        Spread::of(self.costs.iter().map(cores).collect())
    }

    /// The milliseconds of work in a sixtieth of a second that one in a hundred exceeds.
    fn slow_step(&self) -> Spread {
        let paces = self.costs.iter().flat_map(Costs::paces);
        let mut paces: Vec<_> = paces.map(|seconds| seconds * 1e3).collect();
        paces.sort_by(f64::total_cmp);
        let slow = paces.len().saturating_sub(1) * 99 / 100;
        Spread::exactly(paces.get(slow).copied().unwrap_or(0.0))
    }

    fn steps_a_second(&self) -> Spread {
        let pace = |costs: &Costs| SPAN as f64 / costs.lasted.as_secs_f64();
        Spread::of(self.costs.iter().map(pace).collect())
    }

    /// The share of the steps that the loop was to take.
    fn pace_kept(&self) -> Spread {
        let kept = |costs: &Costs| SPAN as f64 / costs.lasted.as_secs_f64() / 60.0;
        Spread::of(self.costs.iter().map(kept).collect())
    }

    fn chunks_a_second(&self) -> Spread {
        Spread::exactly(self.seen.chunks as f64 / self.seen.span.as_secs_f64())
    }

    /// Whether everybody gets to do what it wants.
    fn pace(&self, case: Case, names: [&'static str; 3]) -> [Figure; 3] {
        let [steps, others, packets] = names;
        let each = |count: u64| {
            let a_second = count as f64 / self.seen.span.as_secs_f64();
            Spread::exactly(a_second / f64::from(case.walkers))
        };
        [
            Figure::plain(steps, each(self.seen.steps), "steps/s"),
            Figure::plain(others, Spread::exactly(self.seen.others), "walkers"),
            Figure::plain(packets, each(self.seen.moves), "moves/s"),
        ]
    }
}
