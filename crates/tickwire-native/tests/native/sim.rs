//! Many seeds, each another network, another course of events, sixteen clients.
//!
//! In: a seed. Out: nothing, or what was wrong. Faults come first (`crowd::trouble`); then the network is good
//! again, and everybody must agree. What must be true at every step is in `seat`, planted bugs in `bugs`.

mod bugs;
mod crowd;
mod seat;

use tickwire_sim::TraceHash;

use crate::sabotage::assert_noticed;
use crate::seeds::{OneIn, check};
use bugs::Bug;
use crowd::{Crowd, Plan};

fn play(seed: u64, plan: Plan, bug: Option<Bug>) -> Result<TraceHash, String> {
    let mut crowd = Crowd::new(seed, plan, bug);
    crowd.trouble()?;
    crowd.settle()?;
    crowd.calm()?;
    if seed.is_multiple_of(8) {
        crowd.rest()?;
    }
    Ok(crowd.trace_hash())
}

/// Loss of up to 40 %, in bursts, jitter, reordering, copies, partitions; clients sleep, join and leave.
#[test]
fn bad_networks() {
    check("native::bad_networks", OneIn(1), |seed| {
        play(seed, Plan::Datagrams, None)
    });
}

/// The same, and connections break; some paths take no datagrams at all, or cease to.
#[test]
fn broken_connections() {
    check("native::broken_connections", OneIn(1), |seed| {
        play(seed, Plan::Streams, None)
    });
}

#[test]
fn planted_bugs_are_found() {
    for bug in Bug::ALL {
        let plan = match bug {
            Bug::EventTwice => Plan::Streams,
            Bug::StaleBaseline | Bug::InterestLeak | Bug::LostInput => Plan::Datagrams,
        };
        assert_noticed(bug, 50, |seed, bug| play(seed, plan, bug));
    }
}
