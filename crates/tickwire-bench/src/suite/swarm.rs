//! Five hundred C++evy bots in the server's process, everybody told of everybody.
//!
//! Counted is the processor's time for a second of play, sixty steps: the server's session and
//! gateway, the driver, and every client's session and what its gateway does with what it heard. The
//! arena's step, and each client's view and thought, are the application's: measured by themselves,
//! and not counted. A bot thinks twice a second and holds its controls in between, so that the
//! loop keeps its pace; a pace that is not kept counts against the figure, because a step then has
//! more to carry. The loop is a server's: what a long step loses, the next ones make up for.

use std::time::Duration;

use super::report::{Figure, Target};
use super::rounds::Spread;
use super::table::{Costs, Table, Way};

const BOTS: u64 = 500;
/// Two thoughts a second.
const THOUGHT_STEPS: usize = 30;

/// Until every bot plays, and the fight has spread.
const WARM_UP: Duration = Duration::from_secs(8);
/// How long is measured, so many times.
const SPAN: Duration = Duration::from_secs(1);
const SPANS: usize = 9;

/// Of one processor.
const TARGET: f64 = 1.0;
const STEPS_A_SECOND: f64 = 60.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut table = Table::new("cppevy")?
        .with_thought_every(THOUGHT_STEPS)
        .with_bots(BOTS, Way::Memory)?;
    table.play(WARM_UP)?;
    let costs: Vec<_> = (0..SPANS)
        .map(|_| table.play(SPAN))
        .collect::<anyhow::Result<_>>()?;
    table.check_playing()?;
    let spread = |part: fn(&Costs) -> Duration| {
        let in_a_second = |costs: &Costs| {
            part(costs).as_secs_f64() * STEPS_A_SECOND / f64::from(costs.steps.max(1))
        };
        Spread::of(costs.iter().map(in_a_second).collect())
    };
    let steps: u32 = costs.iter().map(|costs| costs.steps).sum();
    let lasted: Duration = costs.iter().map(|costs| costs.lasted).sum();
    let pace = f64::from(steps) / lasted.as_secs_f64();
    Ok(vec![
        Figure {
            target: Some(Target::AtMost(TARGET)),
            ..Figure::plain(
                "500 C++evy bots",
                spread(|costs| costs.carrying + costs.serving + costs.hearing),
                "cores",
            )
        },
        Figure::plain(
            "· sessions, driver",
            spread(|costs| costs.carrying),
            "cores",
        ),
        Figure::plain("· server's gateway", spread(|costs| costs.serving), "cores"),
        Figure::plain(
            "· clients' gateways",
            spread(|costs| costs.hearing),
            "cores",
        ),
        Figure::plain("their arena", spread(|costs| costs.stepping), "cores"),
        Figure::plain(
            "their views and thoughts",
            spread(|costs| costs.thinking),
            "cores",
        ),
        Figure::plain("their pace", Spread::exactly(pace), "steps/s"),
    ])
}
