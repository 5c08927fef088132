//! Which path is used between which routers, and how soon.

use std::time::Duration;

use tickwire_rendezvous::PathKind;
use tickwire_sim::{Conditions, NatKind};

use crate::world::{Behind, World};

const HOME: Behind = Behind::Nat(NatKind::FullCone);
const RESTRICTED: Behind = Behind::Nat(NatKind::PortRestricted);
const SYMMETRIC: Behind = Behind::Nat(NatKind::Symmetric);
const BLOCKED: Behind = Behind::Nat(NatKind::UdpBlocked);

/// A line at home without loss, 20 ms each way: the table is about routers.
const LINE: Conditions = Conditions {
    latency: Duration::from_millis(20),
    ..Conditions::IDEAL
};

/// The host's router, the joiner's, the path, and the milliseconds from "join" to the path at most.
///
/// 20 ms each way: STUN and the control stream take 40 ms, the code another 40, a probe and its answer 40.
/// `docs/BENCHMARKS.md` has the same table.
const TABLE: &[(Behind, Behind, PathKind, u128)] = &[
    (Behind::Nothing, Behind::Nothing, PathKind::Public, 150),
    (Behind::Nothing, HOME, PathKind::Public, 150),
    (Behind::Nothing, RESTRICTED, PathKind::Public, 150),
    (Behind::Nothing, SYMMETRIC, PathKind::Public, 150),
    (HOME, Behind::Nothing, PathKind::Punched, 150),
    (HOME, HOME, PathKind::Punched, 150),
    (HOME, RESTRICTED, PathKind::Punched, 150),
    (HOME, SYMMETRIC, PathKind::Punched, 150),
    (RESTRICTED, Behind::Nothing, PathKind::Punched, 200),
    (RESTRICTED, HOME, PathKind::Punched, 200),
    (RESTRICTED, RESTRICTED, PathKind::Punched, 200),
    (RESTRICTED, SYMMETRIC, PathKind::Relayed, 650),
    (SYMMETRIC, Behind::Nothing, PathKind::Punched, 200),
    (SYMMETRIC, HOME, PathKind::Punched, 200),
    (SYMMETRIC, RESTRICTED, PathKind::Relayed, 650),
    (SYMMETRIC, SYMMETRIC, PathKind::Relayed, 650),
    (RESTRICTED, Behind::HostsNat, PathKind::Local, 150),
    (SYMMETRIC, Behind::HostsNat, PathKind::Local, 150),
    // Over TCP, once nothing was heard for two seconds; a host knew that before.
    (Behind::Nothing, BLOCKED, PathKind::Relayed, 2_500),
    (RESTRICTED, BLOCKED, PathKind::Relayed, 2_500),
    (BLOCKED, Behind::Nothing, PathKind::Relayed, 650),
    (BLOCKED, SYMMETRIC, PathKind::Relayed, 650),
    (BLOCKED, BLOCKED, PathKind::Relayed, 2_500),
    (BLOCKED, Behind::HostsNat, PathKind::Local, 1_000),
];

#[test]
fn the_table_of_routers_holds() {
    let mut rows = Vec::new();
    for &(host, joiner, path, within) in TABLE {
        let mut world = World::new(1, LINE, host, joiner);
        world
            .until("a code", 5, |world| world.host.code().is_some())
            .unwrap();
        // A host is there for a while before somebody joins.
        world.run(Duration::from_secs(5));
        world.join().unwrap();
        let found = world.until("a path", 13, |world| world.joiner.path().is_some());
        let took = found.unwrap().as_millis();
        let kind = world.joiner.path().map(|(kind, _)| kind);
        rows.push(format!("{host:?} {joiner:?} {kind:?} {took} ms"));
        assert_eq!(kind, Some(path), "{}", rows.join("\n"));
        assert!(took <= within, "{}", rows.join("\n"));
        world.talk().unwrap();
    }
    println!("{}", rows.join("\n"));
}
