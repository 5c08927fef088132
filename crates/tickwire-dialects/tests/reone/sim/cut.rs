//! Players who are cut off: for a moment, for a while, and for so long that they are taken out.

use std::time::Duration;

use tickwire_dialects::reone::server_limits::SILENCE;
use tickwire_dialects::reone::{Mode, Phase};
use tickwire_sim::{Chance, Conditions, TraceHash};

use super::game::Entry;
use super::world::World;
use super::{LONG, SECOND, check};

/// What the network is like before and after the cut.
const USUAL: Conditions = Conditions {
    latency: Duration::from_millis(60),
    jitter: Duration::from_millis(40),
    loss: Chance::percent(10),
    ..Conditions::IDEAL
};

#[test]
fn for_two_seconds() {
    check("reone::cut::for_two_seconds", LONG, |seed| {
        let (world, _) = cut_off(seed, 2 * SECOND, 2 * SECOND)?;
        check_was_not_removed(&world)?;
        Ok(world.net.trace_hash())
    });
}

#[test]
fn for_ten_seconds() {
    check("reone::cut::for_ten_seconds", LONG, |seed| {
        let (world, modes) = cut_off(seed, 10 * SECOND, 2 * SECOND)?;
        check_was_not_removed(&world)?;
        // Everything that could have been a baseline is long forgotten.
        match modes.first() {
            Some(Mode::Fallback) => Ok(world.net.trace_hash()),
            other => Err(format!("it came back with {other:?}")),
        }
    });
}

#[test]
fn for_seventy_seconds() {
    check("reone::cut::for_seventy_seconds", LONG, run_long);
}

fn run_long(seed: u64) -> Result<TraceHash, String> {
    let (world, modes) = cut_off(seed, 70 * SECOND, 5 * SECOND)?;
    let client = world.viewers[0].id.ok_or("it was never welcome")?;
    let begin = tickwire_session::Instant::ZERO;
    let removed = world.when(begin, Entry::Removed(client));
    let removed = removed.ok_or("it was never removed")?;
    let first = world
        .when(begin, Entry::Ready(client))
        .ok_or("it was never ready")?;
    if removed.since(first) < SILENCE {
        return Err(format!("removed {removed:?}, ready {first:?}"));
    }
    let joining = world.when(removed, Entry::Joining(client));
    let ready = world.when(removed, Entry::Ready(client));
    if joining.is_none() || ready.is_none() || modes.first() != Some(&Mode::Fallback) {
        return Err(format!(
            "it joined {joining:?}, was ready {ready:?}, {modes:?}"
        ));
    }
    // The others noticed nothing.
    let others = world.viewers.iter().skip(1).filter_map(|viewer| viewer.id);
    for other in others {
        if world.when(begin, Entry::Removed(other)).is_some() {
            return Err(format!("{other} was removed too"));
        }
    }
    Ok(world.net.trace_hash())
}

/// Cuts the first player off for so many ticks; returns, how the snapshots were made that it completed in
/// the time that it may take to be back.
fn cut_off(seed: u64, ticks: u32, back: u32) -> Result<(World, Vec<Mode>), String> {
    let mut world = World::new(seed, None);
    world.wait(5 * SECOND, "everybody plays", World::is_all_playing)?;
    world.net.set_conditions(USUAL);
    world.run(2 * SECOND)?;
    world.cut_off(0);
    world.run(ticks)?;
    world.mend();
    let healed = world.net.now();
    world.run(back)?;
    let viewer = &world.viewers[0];
    let modes: Vec<_> = viewer
        .modes
        .iter()
        .filter(|(at, _)| *at >= healed)
        .map(|(_, mode)| *mode)
        .collect();
    if viewer.client.phase() != Phase::Playing || modes.last() != Some(&Mode::Performant) {
        return Err(format!("{:?}, {modes:?}", viewer.client.phase()));
    }
    world.is_silent = true;
    world.wait(30 * SECOND, "everything is heard", World::is_all_heard)?;
    world.check_end()?;
    Ok((world, modes))
}

fn check_was_not_removed(world: &World) -> Result<(), String> {
    let is_removal = |entry: &Entry| matches!(entry, Entry::Removed(_) | Entry::Left(_));
    match world.game.diary.iter().find(|(_, entry)| is_removal(entry)) {
        Some(removal) => Err(format!("{removal:?}")),
        None if world.viewers[0].interruptions > 0 => Err("it was interrupted".to_owned()),
        None => Ok(()),
    }
}
