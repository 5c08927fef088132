//! The driver on real sockets, on loopback.
//!
//! Nothing here sleeps or asks how long something took: a test turns the driver until what it waits
//! for has happened, and fails when that takes longer than anything should.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not what they call"
)]

mod binding;
mod bystander;
mod contract;
mod datagrams;
mod fairness;
mod lagged;
mod links;
mod probe;
mod quic;
mod relay;
mod streams;

use std::time::Duration;

use tickwire_net::{Driver, NodeId};
use tickwire_session::{Addr, Session};

/// Longer than anything takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long one turn may wait, in tests that also look at sockets the driver does not know.
const GLANCE: Duration = Duration::from_millis(5);

/// Turns until `done`, which is asked after every turn.
#[track_caller]
fn turn_until<S: Session, const N: usize>(
    driver: &mut Driver,
    sessions: &mut [S; N],
    mut done: impl FnMut(&mut [S; N]) -> bool,
) {
    let deadline = driver.now() + PATIENCE;
    while !done(sessions) {
        assert!(driver.now() < deadline, "this should have happened by now");
        turn(driver, sessions, GLANCE);
    }
}

/// Turns once, and waits at most that long.
fn turn<S: Session, const N: usize>(driver: &mut Driver, sessions: &mut [S; N], wait: Duration) {
    let until = driver.now() + wait;
    let mut sessions = sessions
        .each_mut()
        .map(|session| session as &mut dyn Session);
    driver.turn(until, &mut sessions).unwrap();
}

/// Where a node's peers find it.
fn addr_of(driver: &Driver, node: NodeId) -> Addr {
    driver.local_addr(node).unwrap().into()
}

/// Bytes that differ from place to place, so that a lost or doubled piece shows.
fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|n| (n ^ (n >> 8) ^ (n >> 16)).to_le_bytes()[0])
        .collect()
}
