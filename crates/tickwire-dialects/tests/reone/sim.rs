//! A world server and its players on a bad network.
//!
//! Whatever snapshot a client completes must be the server's of that number as the server believes that
//! the client holds it, and what the game published, to the bit; what players carry and every variable
//! with it. Loss goes to 40 %, with copies,
//! reordering, jitter and a path that is cut one way; in the middle of it the module changes, and a player
//! looks on for a while. Events arrive once and in order, calls end once, commands come at most once and
//! never get lost with a snapshot that is whole. Then the network is good again, and everybody catches up.

mod cut;
mod game;
mod prediction;
mod sabotage;
mod truth;
mod viewer;
mod world;

use std::time::Duration;

use tickwire_dialects::reone::Phase;
use tickwire_sim::{Chance, Conditions, TraceHash};

use crate::sabotage::assert_noticed;
use crate::seeds::{OneIn, check};
use sabotage::Bug;
use world::World;

const WORST: Conditions = Conditions {
    latency: Duration::from_millis(100),
    jitter: Duration::from_millis(300),
    loss: Chance::percent(40),
    duplication: Chance::percent(20),
    reordering: Chance::percent(20),
    reordering_delay: Duration::from_millis(200),
    ..Conditions::IDEAL
};

/// The network after the faults.
const QUIET: Conditions = Conditions {
    latency: Duration::from_millis(40),
    ..Conditions::IDEAL
};

/// Scenarios that last minutes of their own time.
const LONG: OneIn = OneIn(10);

/// Ticks in a second.
const SECOND: u32 = 20;

#[test]
fn snapshots() {
    check("reone::snapshots", LONG, |seed| run(seed, None));
}

#[test]
fn a_difference_to_another_baseline_is_noticed() {
    assert_noticed(Bug::OtherBaseline, 10, run);
}

#[test]
fn an_acknowledgement_of_one_event_too_many_is_noticed() {
    assert_noticed(Bug::AckAhead, 10, run);
}

#[test]
fn an_object_that_is_not_kept_is_noticed() {
    assert_noticed(Bug::NotKept, 10, run);
}

#[test]
fn an_item_that_is_miscounted_is_noticed() {
    assert_noticed(Bug::ItemMiscounted, 10, run);
}

#[test]
fn a_coded_snapshot_that_does_not_decode_is_noticed() {
    assert_noticed(Bug::Miscoded, 10, run);
}

fn run(seed: u64, bug: Option<Bug>) -> Result<TraceHash, String> {
    let mut world = World::new(seed, bug);
    // Dialling may fail on a bad network, and a player would dial again. All else must bear it.
    world.wait(2 * SECOND, "everybody is welcome", |world| {
        world.viewers.iter().all(|viewer| viewer.id.is_some())
    })?;
    let conditions = Conditions::random(&mut world.rng, &WORST);
    world.net.set_conditions(conditions);
    // Streams lose time, not bytes; loading over a bad one takes a while.
    world.wait(60 * SECOND, "everybody plays", World::is_all_playing)?;
    world.run(5 * SECOND)?;
    world.change_module();
    world.run(SECOND)?;
    world.wait(60 * SECOND, "everybody plays again", World::is_all_playing)?;
    // Each time, answers to what was said before are under way.
    for _ in 0..4 {
        let what = "the server takes somebody for ready";
        world.wait(60 * SECOND, what, |world| world.is_ready(1))?;
        world.reseat(1);
    }
    world.wait(60 * SECOND, "somebody steers again", |world| {
        world.is_seated(1)
    })?;
    world.run(5 * SECOND)?;
    world.cut_somebody_one_way();
    world.run(SECOND)?;
    world.mend();
    world.run(2 * SECOND)?;

    world.net.set_conditions(QUIET);
    // What was under way under the old conditions overtakes nothing that is sent now, so it is late.
    world.run(SECOND)?;
    let healed = world.server.server.newest();
    world.run(SECOND)?;
    for viewer in &world.viewers {
        let newest = viewer.client.newest().map(|snapshot| snapshot.sequence);
        if viewer.client.phase() != Phase::Playing || newest.is_none_or(|newest| newest <= healed) {
            let phase = viewer.client.phase();
            return Err(format!("healed at {healed}, {phase:?} at {newest:?}"));
        }
    }
    world.is_silent = true;
    // Streams have waited longer and longer for each resend; a call gives up after ten seconds.
    world.wait(30 * SECOND, "everything is heard", World::is_all_heard)?;
    world.check_end()?;
    match world.is_seated(1) {
        true => Ok(world.net.trace_hash()),
        false => Err("somebody was told what it was before".to_owned()),
    }
}
