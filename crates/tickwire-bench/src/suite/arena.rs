//! A step of the arena, full of ships that fight.

use tickwire_demo::{Arena, Bot};

use super::clock::timed;
use super::report::Figure;
use super::rounds::Spread;

const SHIPS: u64 = 100;

/// Until the fight has spread over the plane.
const WARM_UP: usize = 600;

const STEPS: usize = 3_000;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut arena = Arena::new(1);
    let mut bots = Vec::new();
    for number in 0..SHIPS {
        let pilot = arena.join(&format!("bot-{number}"))?;
        let bot = Bot::new(number);
        arena.select(pilot, bot.loadout());
        bots.push((pilot, bot));
    }
    let mut steps = Vec::with_capacity(STEPS);
    let mut thoughts = Vec::with_capacity(STEPS);
    for step in 0..WARM_UP + STEPS {
        let (thinking, ()) = timed(|| {
            let mut view = arena.view();
            for (pilot, bot) in &mut bots {
                view.set_viewer(Some((*pilot).into()));
                arena.set_intent(*pilot, bot.think(&view));
            }
        });
        let (stepping, ()) = timed(|| arena.step());
        if step >= WARM_UP {
            thoughts.push(thinking.as_secs_f64() * 1e6);
            steps.push(stepping.as_secs_f64() * 1e6);
        }
    }
    Ok(vec![
        Figure::plain("arena step, 100 ships", Spread::of(steps), "µs"),
        Figure::plain("their bots' thoughts", Spread::of(thoughts), "µs"),
    ])
}
