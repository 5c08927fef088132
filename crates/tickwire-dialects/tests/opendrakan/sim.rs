//! A world that moves, jumps, grows and shrinks, seen by clients on a bad network.
//!
//! First faults: loss to 40 %, copies, reordering, jitter. Whatever snapshot a client completes must be
//! the server's of that tick, to the bit; what it shows in between must be close to the truth, and what
//! jumped must be here or there. Then the network is good again, and everybody must have caught up
//! within a round trip and two snapshots.

mod sabotage;
mod slow;
mod world;

use std::time::Duration;

use tickwire_dialects::opendrakan::Phase;
use tickwire_sim::{Chance, Conditions, TraceHash};

use crate::sabotage::assert_noticed;
use crate::seeds::{OneIn, check};
use sabotage::Bug;
use world::World;

const WORST: Conditions = Conditions {
    latency: Duration::from_millis(80),
    jitter: Duration::from_millis(60),
    loss: Chance::percent(40),
    duplication: Chance::percent(20),
    reordering: Chance::percent(20),
    reordering_delay: Duration::from_millis(100),
    ..Conditions::IDEAL
};

/// The network after the faults.
const QUIET: Conditions = Conditions {
    latency: Duration::from_millis(40),
    ..Conditions::IDEAL
};

/// Between two snapshots.
const SNAPSHOT: Duration = Duration::from_millis(50);

#[test]
fn snapshots() {
    check("opendrakan::snapshots", OneIn(1), |seed| run(seed, None));
}

#[test]
fn a_delta_to_another_reference_is_noticed() {
    assert_noticed(Bug::OtherReference, 50, run);
}

#[test]
fn a_forgotten_jump_is_noticed() {
    assert_noticed(Bug::ForgottenJump, 50, run);
}

#[test]
fn an_object_that_is_not_destroyed_is_noticed() {
    assert_noticed(Bug::NotDestroyed, 50, run);
}

fn run(seed: u64, bug: Option<Bug>) -> Result<TraceHash, String> {
    let mut world = World::new(seed, bug);
    let conditions = Conditions::random(&mut world.rng, &WORST);
    // Dialling may fail on a bad network, and a player would dial again. All else must bear it.
    world.wait(10, "all streams are open", |world| {
        let is_open = |viewer: &world::Viewer| viewer.client.phase() != Phase::Connecting;
        world.viewers.iter().all(is_open)
    })?;
    world.net.set_conditions(conditions);
    // Streams lose time, not bytes; a handshake over a bad one takes a while.
    world.wait(60 * 20, "all clients play", |world| {
        world
            .viewers
            .iter()
            .all(|viewer| viewer.client.phase() == Phase::Playing)
    })?;
    world.run(120)?;
    world.move_somebody();
    world.run(300)?;

    world.net.set_conditions(QUIET);
    let healed = world.server.server.tick();
    // What was under way under the old conditions, then one way there; acknowledging is the way back.
    let round_trip = QUIET.latency * 2;
    let ticks = (round_trip + SNAPSHOT * 2).as_micros() * 60 / 1_000_000 + 1;
    world.run(u32::try_from(ticks).expect("a few"))?;
    for viewer in &world.viewers {
        let newest = viewer.client.newest().map(|snapshot| snapshot.tick());
        if newest.is_none_or(|newest| newest <= healed) {
            return Err(format!("healed at {healed}, and a client is at {newest:?}"));
        }
    }
    // Streams have waited longer and longer for each resend, and may do so for a while.
    world.is_silent = true;
    world.wait(60 * 30, "everything said is heard", World::is_all_heard)?;
    Ok(world.net.trace_hash())
}
